// SPDX-License-Identifier: Apache-2.0
// A transpose of a matrix of doubles in memory of GPUs, distributed by rows over the ranks: by MPI_Alltoallw and by
// messages of memory of the GPU, which need libggas_mpi_types.so, and by hand: copies to and from the host, where the
// MPI below does the transpose. Lines "<method> <tab> ms", medians of the slowest rank; "by hand" needs no library.
//   transpose <library: 0 or 1> [edge, default 4096]
#include <cuda.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int ranks = 0, rank = 0;

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "transpose: rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Memory of the rank's GPU.
class gpu_doubles {
 public:
  explicit gpu_doubles(size_t n) : bytes_(n * sizeof(double)) {
    check(cuMemAlloc(&at_, bytes_) == CUDA_SUCCESS, "no memory of the GPU");
  }
  gpu_doubles(const gpu_doubles&) = delete;
  gpu_doubles& operator=(const gpu_doubles&) = delete;
  ~gpu_doubles() { cuMemFree(at_); }
  void* at() const { return reinterpret_cast<void*>(at_); }
  void write(const double* from) { copy(at_, reinterpret_cast<CUdeviceptr>(from)); }
  void read(double* to) const { copy(reinterpret_cast<CUdeviceptr>(to), at_); }

 private:
  void copy(CUdeviceptr to, CUdeviceptr from) const { check(cuMemcpy(to, from, bytes_) == CUDA_SUCCESS, "cuMemcpy"); }
  CUdeviceptr at_ = 0;
  size_t bytes_;
};

// What a rank sends to each other one and receives from it: a block of its rows, and a block of its columns.
class blocks {
 public:
  explicit blocks(int edge) : mine_(edge / ranks), ones_(all(), 1), zeros_(all(), 0) {
    MPI_Datatype item, column;
    MPI_Type_vector(mine_, 1, edge, MPI_DOUBLE, &item);
    MPI_Type_create_resized(item, 0, sizeof(double), &column);
    const int sizes[] = {mine_, edge}, part[] = {mine_, mine_};
    for (int p = 0; p < ranks; ++p) {
      const int starts[] = {0, mine_ * p};
      MPI_Datatype sent, received;
      MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_DOUBLE, &sent);
      MPI_Type_contiguous(mine_, column, &received);
      MPI_Type_commit(&sent);
      MPI_Type_commit(&received);
      rows_.push_back(sent);
      columns_.push_back(received);
      places_.push_back(p * mine_ * static_cast<int>(sizeof(double)));
    }
    MPI_Type_free(&item);
    MPI_Type_free(&column);
  }
  ~blocks() {
    for (auto* of : {&rows_, &columns_})
      for (MPI_Datatype& t : *of) MPI_Type_free(&t);
  }
  blocks(const blocks&) = delete;
  blocks& operator=(const blocks&) = delete;

  void alltoallw(const void* from, void* to) const {
    MPI_Alltoallw(from, ones_.data(), zeros_.data(), rows_.data(), to, ones_.data(), places_.data(), columns_.data(),
                  MPI_COMM_WORLD);
  }
  void messages(const void* from, void* to) const {
    std::vector<MPI_Request> requests(2 * all());
    for (size_t p = 0; p < all(); ++p) {
      const int peer = static_cast<int>(p);
      MPI_Irecv(static_cast<char*>(to) + places_[p], 1, columns_[p], peer, 0, MPI_COMM_WORLD, &requests[2 * p]);
      MPI_Isend(from, 1, rows_[p], peer, 0, MPI_COMM_WORLD, &requests[2 * p + 1]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

 private:
  static size_t all() { return static_cast<size_t>(ranks); }
  int mine_;
  std::vector<int> ones_, zeros_, places_;
  std::vector<MPI_Datatype> rows_, columns_;
};

// Milliseconds of the slowest rank, median of several.
template <class Work>
double time_of(Work work) {
  constexpr int times = 9;
  std::vector<double> all;
  for (int i = 0; i <= times; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    work();
    double mine = 1e3 * (MPI_Wtime() - begun), slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i > 0) all.push_back(slowest);  // the first one makes memory and connections
  }
  std::nth_element(all.begin(), all.begin() + times / 2, all.end());
  return all[times / 2];
}

void measure(int edge, bool library) {
  const size_t mine = static_cast<size_t>(edge / ranks), n = mine * static_cast<size_t>(edge);
  std::vector<double> host(n), turned(n);
  for (size_t i = 0; i < n; ++i) host[i] = static_cast<double>(static_cast<size_t>(rank) * n + i);
  gpu_doubles from(n), to(n);
  from.write(host.data());
  const blocks b(edge);
  const auto method = [&](const char* name, auto work) {
    std::fill(turned.begin(), turned.end(), -1);
    to.write(turned.data());
    const double ms = time_of(work);
    to.read(turned.data());
    for (size_t i = 0; i < n; ++i) {  // element (column, row) of the other matrix
      const size_t row = static_cast<size_t>(rank) * mine + i / static_cast<size_t>(edge),
                   column = i % static_cast<size_t>(edge);
      check(turned[i] == static_cast<double>(column * static_cast<size_t>(edge) + row), name);
    }
    if (rank == 0) std::printf("%s\t%.3f ms\n", name, ms);
  };
  std::vector<double> received(n);
  method("by hand", [&] {
    from.read(host.data());
    b.alltoallw(host.data(), received.data());
    to.write(received.data());
  });
  if (!library) return;
  method("MPI_Alltoallw", [&] { b.alltoallw(from.at(), to.at()); });
  method("MPI_Isend, MPI_Irecv", [&] { b.messages(from.at(), to.at()); });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int edge = argc > 2 ? std::atoi(argv[2]) : 4096;
  check(argc > 1 && edge > 0 && edge % ranks == 0, "usage: transpose <0 or 1> [edge, a multiple of the ranks]");
  int gpus = 0;
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&gpus) == CUDA_SUCCESS && gpus > 0, "no GPU");
  check(cuDeviceGet(&device, rank % gpus) == CUDA_SUCCESS &&
            cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS,
        "no context");
  measure(edge, argv[1][0] == '1');
  return MPI_Finalize();
}
