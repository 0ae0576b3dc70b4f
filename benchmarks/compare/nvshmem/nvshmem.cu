// SPDX-License-Identifier: Apache-2.0
// NVSHMEM's device functions, measured as those of GGAS are: one process a GPU, NVLink multicast off. Prints a record a
// line, variant `nvshmem`.
//
//   compare_nvshmem [GPUs [GROUP]]      GPUs 0 or nothing: all of them; no group: all groups of rows
//
// Each group is measured in processes of its own: one that fails or does not end leaves the others alone.
#include "benchmarks/compare/nvshmem/nvshmem.cuh"

#include <cstring>

namespace ggas::compare {

namespace {

struct group {
  const char* name;
  void (*measure)(processing_element& pe);
  unsigned timeout_s = 150;
};

void make_teams(processing_element& pe);
void measure_in_teams(processing_element& pe) {
  if (pe.count() == 1) return;
  make_teams(pe);
  measure_grid_collectives(pe);
}

// The names that compare.py uses (quantities.py).
constexpr group groups[] = {
    {"latencies", measure_latencies},
    {"block_collectives", measure_block_collectives},
    {"rates", measure_rates},
    {"on_stream", measure_on_stream},
    {"jacobi", measure_jacobi},
    {"ring", measure_ring},
    {"grid_collectives", measure_in_teams, 45},
    {"energy", measure_energy},
};

// The processes are on one computer: they find each other over the loop-back interface and need no network.
void set_up_nvshmem() {
  set_environment();
  setenv("NVSHMEM_BOOTSTRAP", "UID", 1);
  setenv("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "lo", 0);
  setenv("NVSHMEM_REMOTE_TRANSPORT", "none", 0);
  setenv("NVSHMEM_SYMMETRIC_SIZE", "8G", 0);
  setenv("NVSHMEM_MAX_TEAMS", "160", 0);             // one for each block of the largest grid
  setenv("NVSHMEM_REDUCE_SCRATCH_SIZE", "256M", 0);  // 512 KB are too little for a reducescatter of 64 Ki floats
}

int work(crew& all, const group& g) {
  processing_element pe = join(all);
  g.measure(pe);
  all.meet();
  return 0;
}

// Blocks that work at the same time need a team each; fewer where NVSHMEM makes no more.
void make_teams(processing_element& pe) {
  while (pe.teams.size() < most_blocks) {
    nvshmem_team_t team = NVSHMEM_TEAM_INVALID;
    if (nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, pe.count(), nullptr, 0, &team) != 0 ||
        team == NVSHMEM_TEAM_INVALID)
      break;
    pe.teams.push_back(team);
  }
  if (pe.me() == 0 && pe.teams.size() < most_blocks)
    std::fprintf(stderr, "NVSHMEM: grids of at most %zu blocks, as it makes no more teams\n", pe.teams.size());
}

int run(int argc, char** argv, const group& g) {
  const int status = run_on_gpus(std::min(argc, 2), argv, g.timeout_s, [&g](crew& all) { return work(all, g); });
  if (status == 1) std::fprintf(stderr, "NVSHMEM: %s failed\n", g.name);
  return status;
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
  int major = 0, minor = 0, patch = 0;
  nvshmemx_vendor_get_version_info(&major, &minor, &patch);
  processing_element pe{.all = all, .from = origin_of(all.size(), library_text("NVSHMEM", major, minor, patch))};
  pe.teams = {NVSHMEM_TEAM_WORLD};
  COMPARE_CUDA(cudaStreamCreateWithFlags(&pe.stream, cudaStreamNonBlocking));
  COMPARE_CUDA(cudaMallocHost(&pe.found, most_blocks * sizeof(outcome)));
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

void launch(const processing_element& pe, const job::step& step, uint64_t run) {
  if (step) step(run);
  COMPARE_CUDA(cudaGetLastError());
  COMPARE_CUDA(cudaStreamSynchronize(pe.stream));
}

void require_right(const processing_element& pe, const figure& f) {
  uint64_t failed = 0;
  for (unsigned b = 0; b < most_blocks; ++b) failed += pe.found[b].failed;
  if (failed == 0) return;
  std::fprintf(stderr, "%s: GPU %d found %llu wrong\n", f.benchmark.c_str(), pe.me(),
               static_cast<unsigned long long>(failed));
  std::exit(1);
}

// A run of a job; `once` measures it and returns its time in ns at the slowest GPU.
double run_once(processing_element& pe, const figure& f, const job& j, uint64_t run,
                const std::function<double()>& once) {
  std::fill_n(pe.found, most_blocks, outcome{0, 0});
  launch(pe, j.prepare, run);
  pe.all.meet();
  const double longest = once();
  require_right(pe, f);
  launch(pe, j.check, run);
  require_right(pe, f);
  return longest;
}

void measure(processing_element& pe, figure f, const job& j, const std::function<double(double ns)>& value,
             const std::function<double(uint64_t run)>& once) {
  for (uint64_t run = 0; run <= repetitions; ++run) {
    const double longest = run_once(pe, f, j, run, [&] { return once(run); });
    if (run > 0) f.samples.push_back(value(longest));
  }
  if (pe.me() == 0) print(pe.from, f);
}

double run_rounds(processing_element& pe, int used, const job& j, uint64_t run) {
  launch(pe, pe.me() < used ? j.start : job::step{}, run);
  uint64_t longest = 0;
  for (unsigned b = 0; b < most_blocks; ++b) longest = std::max(longest, pe.found[b].ns);
  return pe.all.largest(static_cast<double>(longest));  // the root of a broadcast is done early
}

}  // namespace

void check_rounds(processing_element& pe, const figure& f, int used, const job& j) {
  run_once(pe, f, j, 0, [&] { return run_rounds(pe, used, j, 0); });
}

void measure_rounds(processing_element& pe, figure f, int used, double parts, const job& j) {
  measure(
      pe, std::move(f), j, [&](double ns) { return ns / parts; },
      [&](uint64_t run) { return run_rounds(pe, used, j, run); });
}

void measure_events(processing_element& pe, figure f, int used, const std::function<double(double ns)>& value,
                    const job& j) {
  cudaEvent_t begin = nullptr, end = nullptr;
  COMPARE_CUDA(cudaEventCreate(&begin));
  COMPARE_CUDA(cudaEventCreate(&end));
  measure(pe, std::move(f), j, value, [&](uint64_t run) {
    if (j.lead) j.lead(run);
    COMPARE_CUDA(cudaEventRecord(begin, pe.stream));
    if (pe.me() < used) j.start(run);
    COMPARE_CUDA(cudaEventRecord(end, pe.stream));
    launch(pe, {}, run);
    float ms = 0;
    COMPARE_CUDA(cudaEventElapsedTime(&ms, begin, end));
    return 1e6 * pe.all.largest(ms);
  });
  COMPARE_CUDA(cudaEventDestroy(begin));
  COMPARE_CUDA(cudaEventDestroy(end));
}

}  // namespace ggas::compare

int main(int argc, char** argv) {
  using namespace ggas::compare;
  set_up_nvshmem();
  int status = 0;
  bool known = argc < 3;
  for (const group& g : groups) {
    if (argc > 2 && std::strcmp(argv[2], g.name) != 0) continue;
    known = true;
    status = std::max(status, run(argc, argv, g));
  }
  if (known && argc < 4) return status;
  std::fprintf(stderr, "usage: %s [GPUs [GROUP]]; groups:", argv[0]);
  for (const group& g : groups) std::fprintf(stderr, " %s", g.name);
  std::fprintf(stderr, "\n");
  return 2;
}
