// SPDX-License-Identifier: Apache-2.0
// NVSHMEM's device functions, measured as those of GGAS are: one process a GPU, NVLink multicast off. Prints a record a
// line, variant `nvshmem`.
//
//   compare_nvshmem [GPUs]      0 or nothing: all of them
#include "benchmarks/compare/nvshmem.cuh"

namespace ggas::compare {

namespace {

constexpr unsigned timeout_s = 90;

// The processes are on one computer: they find each other over the loop-back interface and need no network.
void set_up_nvshmem() {
  set_environment();
  setenv("NVSHMEM_BOOTSTRAP", "UID", 1);
  setenv("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "lo", 0);
  setenv("NVSHMEM_REMOTE_TRANSPORT", "none", 0);
  setenv("NVSHMEM_SYMMETRIC_SIZE", "3G", 0);
}

int work(crew& all) {
  processing_element pe = join(all);
  int major = 0, minor = 0, patch = 0;
  nvshmemx_vendor_get_version_info(&major, &minor, &patch);
  if (all.rank() == 0) std::fprintf(stderr, "NVSHMEM %d.%d.%d\n", major, minor, patch);
  measure_latencies(pe);
  measure_collectives(pe);
  measure_rates(pe);
  measure_on_stream(pe);
  all.meet();
  return 0;
}

}  // namespace

processing_element join(crew& all) {
  COMPARE_CUDA(cudaSetDevice(all.rank()));
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  if (all.rank() == 0 && nvshmemx_get_uniqueid(&id) != 0) std::exit(1);
  all.share(&id, sizeof(id));
  if (nvshmemx_set_attr_uniqueid_args(all.rank(), all.size(), &id, &attributes) != 0 ||
      nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) != 0) {
    std::fprintf(stderr, "NVSHMEM did not start\n");
    std::exit(1);
  }
  processing_element pe{all, origin_of(all.size()), nullptr, nullptr, nullptr, nullptr};
  COMPARE_CUDA(cudaMallocHost(&pe.found, sizeof(outcome)));
  pe.source = static_cast<char*>(nvshmem_malloc(pe.data_bytes));
  pe.target = static_cast<char*>(nvshmem_malloc(pe.data_bytes));
  pe.flags = static_cast<uint64_t*>(nvshmem_malloc(pe.flag_bytes));
  if (!pe.source || !pe.target || !pe.flags) {
    std::fprintf(stderr, "nvshmem_malloc: no memory\n");
    std::exit(1);
  }
  COMPARE_CUDA(cudaMemset(pe.source, 0, pe.data_bytes));
  COMPARE_CUDA(cudaMemset(pe.target, 0, pe.data_bytes));
  COMPARE_CUDA(cudaMemset(pe.flags, 0, pe.flag_bytes));
  COMPARE_CUDA(cudaDeviceSynchronize());
  nvshmem_barrier_all();
  return pe;
}

namespace {

void launch(const job::step& step, uint64_t run) {
  if (step) step(run);
  COMPARE_CUDA(cudaGetLastError());
  COMPARE_CUDA(cudaDeviceSynchronize());
}

void require_right(const processing_element& pe, const figure& f) {
  if (pe.found->failed == 0) return;
  std::fprintf(stderr, "%s: GPU %d found %llu wrong\n", f.benchmark.c_str(), pe.me(),
               static_cast<unsigned long long>(pe.found->failed));
  std::exit(1);
}

// All runs of a job; `once` measures one and returns its time in ns at the slowest GPU.
void measure(processing_element& pe, figure f, const job& j, const std::function<double(double ns)>& value,
             const std::function<double(uint64_t run)>& once) {
  for (uint64_t run = 0; run <= repetitions; ++run) {
    *pe.found = {0, 0};
    launch(j.prepare, run);
    pe.all.meet();
    const double longest = once(run);
    require_right(pe, f);
    launch(j.check, run);
    require_right(pe, f);
    if (run > 0) f.samples.push_back(value(longest));
  }
  if (pe.me() == 0) print(pe.from, f);
}

}  // namespace

void measure_rounds(processing_element& pe, figure f, int used, double parts, const job& j) {
  measure(
      pe, std::move(f), j, [&](double ns) { return ns / parts; },
      [&](uint64_t run) {
        launch(pe.me() < used ? j.start : job::step{}, run);
        return pe.all.largest(static_cast<double>(pe.found->ns));  // the root of a broadcast is done early
      });
}

void measure_events(processing_element& pe, figure f, int used, const std::function<double(double ns)>& value,
                    const job& j) {
  cudaEvent_t begin = nullptr, end = nullptr;
  COMPARE_CUDA(cudaEventCreate(&begin));
  COMPARE_CUDA(cudaEventCreate(&end));
  measure(pe, std::move(f), j, value, [&](uint64_t run) {
    if (j.lead) j.lead(run);
    COMPARE_CUDA(cudaEventRecord(begin, nullptr));
    if (pe.me() < used) j.start(run);
    COMPARE_CUDA(cudaEventRecord(end, nullptr));
    launch({}, run);
    float ms = 0;
    COMPARE_CUDA(cudaEventElapsedTime(&ms, begin, end));
    return 1e6 * pe.all.largest(ms);
  });
  COMPARE_CUDA(cudaEventDestroy(begin));
  COMPARE_CUDA(cudaEventDestroy(end));
}

}  // namespace ggas::compare

int main(int argc, char** argv) {
  ggas::compare::set_up_nvshmem();
  return ggas::compare::run_on_gpus(argc, argv, ggas::compare::timeout_s, ggas::compare::work);
}
