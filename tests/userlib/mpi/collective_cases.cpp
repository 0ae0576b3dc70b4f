// SPDX-License-Identifier: Apache-2.0
// Collective calls with memory of GPUs: the same results as the MPI alone has in host memory.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "tests/userlib/mpi/gpu_area.hpp"

using namespace mpi_test;

namespace {

constexpr int n = 24;               // ints for each rank
size_t room = sizeof(int) * n * 8;  // of an area

bytes numbers(int first) {
  bytes all(room);
  for (int i = 0; i < static_cast<int>(room / sizeof(int)); ++i) {
    const int v = first + i % 50;
    std::memcpy(&all[4 * static_cast<size_t>(i)], &v, 4);
  }
  return all;
}

// call(out, in, request): in memory of the GPU by the library, in host memory by the MPI alone; `request` is null for a
// call that does not begin.
template <class Mine, class Theirs>
void compare(const char* name, Mine mine, Theirs theirs) {
  bytes out = numbers(10 * rank()), in = numbers(1000 + rank());
  gpu_area far_out(out), far_in(in);
  MPI_Request r = MPI_REQUEST_NULL;
  CHECK(mine(far_out.at(), far_in.at(), &r) == MPI_SUCCESS);
  CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(theirs(out.data(), in.data(), &r) == MPI_SUCCESS);
  CHECK(ALONE(Wait)(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  mpi_test::check(far_in.read() == in && far_out.read() == out, name, __FILE__, __LINE__);
}

// MPICH 4.0 cannot start a scatter for the second time.
int starts_of(const char* name) { return std::string(name).find("Scatter_init") == std::string::npos ? 2 : 1; }

template <class Init>
int started(int times, Init init, MPI_Request* r) {
  if (const int error = init(r); error != MPI_SUCCESS) return error;
  for (int i = 0; i < times; ++i) {
    CHECK(MPI_Start(r) == MPI_SUCCESS && MPI_Wait(r, MPI_STATUS_IGNORE) == MPI_SUCCESS && *r != MPI_REQUEST_NULL);
  }
  return MPI_Request_free(r);
}

const MPI_Comm world = MPI_COMM_WORLD;
const int counts[] = {3, 5, 0, 7}, places[] = {0, 8, 17, 24};

}  // namespace

// A call, its form that begins it and, where there is one, the request that persists, which is started again.
#define COMPARE(name, begun, ...)                                                                      \
  compare(                                                                                             \
      #name, [&](void* out, void* in, MPI_Request*) { return MPI_##name(__VA_ARGS__, world); },        \
      [&](void* out, void* in, MPI_Request*) { return ALONE(name)(__VA_ARGS__, world); });             \
  compare(                                                                                             \
      #begun, [&](void* out, void* in, MPI_Request* r) { return MPI_##begun(__VA_ARGS__, world, r); }, \
      [&](void* out, void* in, MPI_Request* r) { return ALONE(begun)(__VA_ARGS__, world, r); });       \
  COMPARE_PERSISTENT(name, ALONE(begun), __VA_ARGS__)
#if MPI_VERSION >= 4
#define COMPARE_PERSISTENT(name, begun, ...) COMPARE_STARTED(MPI_##name##_init, begun, __VA_ARGS__)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define COMPARE_PERSISTENT(name, begun, ...) COMPARE_STARTED(MPIX_##name##_init, begun, __VA_ARGS__)
#else
#define COMPARE_PERSISTENT(name, begun, ...)
#endif
#define COMPARE_STARTED(init, begun, ...)                                                             \
  compare(                                                                                            \
      #init,                                                                                          \
      [&](void* out, void* in, MPI_Request* r) {                                                      \
        const auto once = [&](MPI_Request* q) { return init(__VA_ARGS__, world, MPI_INFO_NULL, q); }; \
        return started(starts_of(#init), once, r);                                                    \
      },                                                                                              \
      [&](void* out, void* in, MPI_Request* r) {                                                      \
        for (int i = 1; i < starts_of(#init); ++i) {                                                  \
          begun(__VA_ARGS__, world, r);                                                               \
          ALONE(Wait)(r, MPI_STATUS_IGNORE);                                                          \
        }                                                                                             \
        return begun(__VA_ARGS__, world, r);                                                          \
      })

MPI_CASE(gpu_collectives, 3) {
  const typed column_type = column(4, 2);
  const int one = counts[rank()];
  COMPARE(Bcast, Ibcast, ((void)out, in), n, MPI_INT, 1);
  COMPARE(Bcast, Ibcast, ((void)out, in), 1, column_type.type, 2);
  COMPARE(Allreduce, Iallreduce, out, in, n, MPI_INT, MPI_SUM);
  COMPARE(Allreduce, Iallreduce, MPI_IN_PLACE, ((void)out, in), n, MPI_INT, MPI_MAX);
  COMPARE(Reduce, Ireduce, out, in, n, MPI_INT, MPI_SUM, 1);
  COMPARE(Scan, Iscan, out, in, n, MPI_INT, MPI_SUM);
  COMPARE(Exscan, Iexscan, out, in, n, MPI_INT, MPI_SUM);
  COMPARE(Reduce_scatter_block, Ireduce_scatter_block, out, in, n, MPI_INT, MPI_SUM);
  COMPARE(Reduce_scatter, Ireduce_scatter, out, in, counts, MPI_INT, MPI_SUM);
  COMPARE(Allgather, Iallgather, out, n, MPI_INT, in, n, MPI_INT);
  COMPARE(Allgather, Iallgather, out, 1, column_type.type, in, 4, MPI_DOUBLE);
  COMPARE(Alltoall, Ialltoall, out, n, MPI_INT, in, n, MPI_INT);
  COMPARE(Gather, Igather, out, n, MPI_INT, in, n, MPI_INT, 2);
  COMPARE(Scatter, Iscatter, out, n, MPI_INT, in, n, MPI_INT, 0);
  COMPARE(Allgatherv, Iallgatherv, out, one, MPI_INT, in, counts, places, MPI_INT);
  COMPARE(Gatherv, Igatherv, out, one, MPI_INT, in, counts, places, MPI_INT, 1);
  COMPARE(Scatterv, Iscatterv, out, counts, places, MPI_INT, in, one, MPI_INT, 1);
  const int same[] = {one, one, one};
  COMPARE(Alltoallv, Ialltoallv, out, counts, places, MPI_INT, in, same, places, MPI_INT);
}
MPI_CASE(gpu_transpose, 2) {
  // Subarrays of subarrays: what MPI_Alltoallw is for.
  const int sizes[] = {8, 8}, part[] = {4, 4};
  MPI_Datatype types[2];
  for (int p = 0; p < 2; ++p) {
    const int starts[] = {0, 4 * p};
    PMPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &types[p]);
    PMPI_Type_commit(&types[p]);
  }
  const int ones[] = {1, 1}, zeros[] = {0, 0}, half[] = {0, 128};
  const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
  const int sixteen[] = {16, 16};
  COMPARE(Alltoallw, Ialltoallw, out, ones, zeros, types, in, sixteen, half, ints);
  COMPARE(Alltoallw, Ialltoallw, out, sixteen, half, ints, in, ones, zeros, types);
  for (MPI_Datatype& t : types) PMPI_Type_free(&t);
}
// A matrix by rows becomes one by columns. Its blocks are long enough to be packed by the GPU; one rank, at the end,
// has none with gaps.
MPI_CASE(gpu_long_transpose, 2) {
  constexpr int edge = 128, half = edge / 2;
  const size_t before = std::exchange(room, sizeof(int) * edge * edge);
  MPI_Datatype columns[2], rows[2], item, column;
  PMPI_Type_vector(half, 1, edge, MPI_INT, &item);
  PMPI_Type_create_resized(item, 0, sizeof(int), &column);
  const int sizes[] = {half, edge}, part[] = {half, half};
  for (int p = 0; p < 2; ++p) {
    const int starts[] = {0, half * p};
    PMPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &rows[p]);
    PMPI_Type_contiguous(half, column, &columns[p]);
    PMPI_Type_commit(&rows[p]);
    PMPI_Type_commit(&columns[p]);
  }
  const int ones[] = {1, 1}, zeros[] = {0, 0}, apart[] = {0, sizeof(int) * half}, none[] = {1, 0},
            other[] = {rank() == 0, rank() == 0};
  COMPARE(Alltoallw, Ialltoallw, out, ones, zeros, rows, in, ones, apart, columns);
  COMPARE(Alltoallw, Ialltoallw, out, ones, apart, columns, in, ones, zeros, rows);
  COMPARE(Alltoallw, Ialltoallw, out, none, zeros, rows, in, other, apart, columns);
  const int block[] = {half * half, half * half}, blocks[] = {0, sizeof(int) * half * half};
  const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
  const bool first = rank() == 0;
  COMPARE(Alltoallw, Ialltoallw, out, first ? block : ones, first ? blocks : zeros, first ? ints : rows, in, ones,
          apart, columns);
  COMPARE(Alltoallw, Ialltoallw, MPI_IN_PLACE, nullptr, nullptr, ((void)out, nullptr), in, ones, apart, columns);
  room = before;
  for (MPI_Datatype t : {item, column, columns[0], columns[1], rows[0], rows[1]}) PMPI_Type_free(&t);
}
MPI_CASE(gpu_neighbours, 3) {
  const int dims[] = {3}, ring[] = {1};
  MPI_Comm world;
  PMPI_Cart_create(MPI_COMM_WORLD, 1, dims, ring, 0, &world);
  const MPI_Aint far[] = {0, 64};
  const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
  const int four[] = {4, 4}, at[] = {0, 20};
  COMPARE(Neighbor_allgather, Ineighbor_allgather, out, n, MPI_INT, in, n, MPI_INT);
  COMPARE(Neighbor_alltoall, Ineighbor_alltoall, out, n, MPI_INT, in, n, MPI_INT);
  COMPARE(Neighbor_allgatherv, Ineighbor_allgatherv, out, 4, MPI_INT, in, four, at, MPI_INT);
  COMPARE(Neighbor_alltoallv, Ineighbor_alltoallv, out, four, at, MPI_INT, in, four, at, MPI_INT);
  COMPARE(Neighbor_alltoallw, Ineighbor_alltoallw, out, four, far, ints, in, four, far, ints);
  PMPI_Comm_free(&world);
}
MPI_CASE(gpu_replaced, 3) {
  bytes mine = noise(static_cast<uint64_t>(rank()), 4096);
  gpu_area area(mine);
  const typed col = column(100, 3);
  const int right = (rank() + 1) % 3, left = (rank() + 2) % 3;
  CHECK(MPI_Sendrecv_replace(area.at(), 1, col.type, right, 0, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
  ALONE(Sendrecv_replace)(mine.data(), 1, col.type, right, 0, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(area.read() == mine);
}
MPI_CASE(gpu_gaps, 2) {
  // The program writes next to the data that a call in progress receives: what it has written stays.
  const typed col = column(100, 2);
  bytes mine = noise(static_cast<uint64_t>(rank()), 1600), fresh = noise(7, 1600);
  gpu_area area(mine);
  MPI_Request r;
  CHECK(MPI_Ibcast(area.at(), 1, col.type, 0, world, &r) == MPI_SUCCESS);
  bytes now = area.read();
  for (size_t i = 0; i < 1600; i += 16) std::copy_n(&fresh[i + 8], 8, &now[i + 8]);
  area.write(now);
  CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  const bytes of_root = noise(0, 1600), after = area.read();
  for (size_t i = 0; i < 1600; ++i) CHECK(after[i] == (i % 16 < 8 ? of_root[i] : fresh[i]));
}
MPI_CASE(gpu_pinned_memory, 2) {
  // As much as a message needs, an eighth more at most, and given back.
  const auto pinned = reinterpret_cast<size_t (*)()>(dlsym(RTLD_DEFAULT, "fake_driver_pinned"));
  if (!pinned) return;  // a real driver
  const size_t size = 150'000'000, before = pinned();
  gpu_area area{bytes(size)};
  MPI_Request r;
  if (rank() == 0) MPI_Isend(area.at(), static_cast<int>(size), MPI_BYTE, 1, 0, MPI_COMM_WORLD, &r);
  if (rank() == 1) MPI_Irecv(area.at(), static_cast<int>(size), MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r);
  CHECK(pinned() - before <= size / 5 * 6);
  CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(pinned() <= size_t{64} << 20);
}
