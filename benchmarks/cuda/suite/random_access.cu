// SPDX-License-Identifier: Apache-2.0
// random_access on real GPUs, after the rules of the HPC Challenge; verified on the GPUs by making all updates again.
#include <algorithm>
#include <bit>

#include "benchmarks/cuda/energy.hpp"
#include "benchmarks/cuda/rigs/rig.cuh"
#include "benchmarks/plans/random_access_plan.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned block_threads = 128;
constexpr unsigned most_blocks_each = 16;   // of a multiprocessor
constexpr unsigned bucket_blocks_each = 6;  // measured, as the next line: docs/benchmarks.md
constexpr uint32_t depth = 2, ahead = 8;
// log2 of a GPU's words: for comparison with others; the largest with atomics and with mailboxes, which take long.
constexpr unsigned log2_usual = 27, log2_most_atomic = 30, log2_most_mailbox = 20;

// Where tables begin. Atomics on peers' memory go through four units, one for each 128 MiB of addresses: the exclusive
// or of the pairs of address bits from 27 on. A table of whole 512 MiB that begins at a multiple of them is spread
// evenly; one of 1 GiB that begins 128 MiB after takes 1.4 times as long (docs/benchmarks.md).
constexpr uint64_t table_alignment = 512u << 20;

// Everything for tables of one size.
struct tables_of_size {
  update_args all;
  bucket_args bucket;
  mailbox_args mailbox;
  zero_area bucket_zero, mailbox_zero;
};

struct run_of {
  const char* variant;
  unsigned blocks, threads;
  zero_area zero;
  std::function<void()> launch;
};

unsigned blocks(const gpu_session& s, unsigned each) {
  return each * static_cast<unsigned>(s.limits().multiprocessors);
}

// Warps of buckets must all be resident.
unsigned bucket_blocks(const gpu_session& s) {
  int fit = 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, bucket_updates, bucket_threads, 0) != cudaSuccess) fit = 1;
  return blocks(s, std::min(bucket_blocks_each, static_cast<unsigned>(fit)));
}

// log2 of the words of all tables, about 2^log2_words a GPU.
unsigned log2_of_all(const gpu_session& s, unsigned log2_words) {
  return log2_words + static_cast<unsigned>(std::bit_width(static_cast<unsigned>(s.nodes()))) - 1;
}

// By the rules a table takes about half of the memory: the largest power of two that does not take more.
unsigned log2_of_half_the_memory(const gpu_session& s) {
  size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) return log2_of_all(s, log2_usual);
  return static_cast<unsigned>(std::bit_width(total / 2 / sizeof(uint64_t) * static_cast<size_t>(s.nodes()))) - 1;
}

tables_of_size plan(gpu_session& s, layout_plan room, unsigned log2_size) {
  tables_of_size t{};
  room.align(table_alignment);
  const size_t threads = size_t{blocks(s, most_blocks_each)} * block_threads;
  t.all = plan_updates(room, log2_size, s.nodes(), threads, s.seed(), s.wait_ns());
  t.bucket =
      plan_buckets(room, t.all, bucket_blocks(s), std::min(depth, bucket_depth(t.all.split.nodes)), t.bucket_zero);
  t.bucket.ahead = ahead;
  if (s.nodes() > 1 && s.nodes() <= static_cast<int>(most_mailbox_nodes))
    t.mailbox = plan_mailboxes(room, t.all, t.mailbox_zero);
  return t;
}

// A cluster with room for tables of 2^log2_size words.
fault start_for(gpu_session& s, unsigned log2_size) {
  const tables_of_size t = plan(s, layout_plan(0), log2_size);
  const zero_area& b = t.bucket_zero;
  const zero_area& m = t.mailbox_zero;
  return start(s, std::max(b.offset + b.bytes, m.offset + m.bytes) + table_alignment);
}

// Every GPU on its own table: what the rates of the others are measured by.
run_of local_run(gpu_session& s, const tables_of_size& t) {
  const unsigned many = blocks(s, most_blocks_each / 2);
  return {
      "local", many, block_threads, {}, [&s, &t, many] { launch_all(s, many, block_threads, local_updates, t.all); }};
}

// The variants that suit the size, the fastest first.
std::vector<run_of> runs_for(gpu_session& s, const tables_of_size& t) {
  const unsigned many = blocks(s, most_blocks_each / 2), nodes = static_cast<unsigned>(s.nodes());
  const unsigned resident = bucket_blocks(s), log2_size = static_cast<unsigned>(t.all.split.log2_size);
  std::vector<run_of> all;
  if (nodes <= most_bucket_nodes)
    all.push_back({"bucket", resident, bucket_threads, t.bucket_zero,
                   [&s, &t, resident] { launch_all(s, resident, bucket_threads, bucket_updates, t.bucket); }});
  if (log2_size <= log2_of_all(s, log2_most_atomic))
    all.push_back({"atomic", many, block_threads, {}, [&s, &t, many] {
                     launch_all(s, many, block_threads, atomic_updates, t.all);
                   }});
  if (t.mailbox_zero.bytes != 0 && log2_size <= log2_of_all(s, log2_most_mailbox))
    all.push_back({"mailbox", nodes, mailbox_threads, t.mailbox_zero,
                   [&s, &t, nodes] { launch_all(s, nodes, mailbox_threads, mailbox_updates, t.mailbox); }});
  return all;
}

// Updates a second of one run.
fault run_once(gpu_session& s, const tables_of_size& t, const run_of& r, const std::string& what, double& rate) {
  const size_t threads = size_t{r.blocks} * r.threads;
  for (int node = 0; node < s.nodes(); ++node) s.fill(node, r.zero.offset, r.zero.bytes, 0);
  clear_outcomes(s, t.all.outcomes, threads);
  GGAS_GPU_TRY(s.run(what));  // no bucket arrives before mailboxes are empty
  r.launch();
  GGAS_GPU_TRY(s.run(what));
  uint64_t longest = 1;
  for (int node = 0; node < s.nodes(); ++node) {
    outcome o{};
    GGAS_GPU_TRY(check_outcomes(s, node, t.all.outcomes, threads, what, &o));
    longest = std::max(longest, o.end_ns - o.begin_ns);
  }
  rate = 1e9 * static_cast<double>(updates_per_word * t.all.split.size()) / static_cast<double>(longest);
  return {};
}

fault fill(gpu_session& s, const tables_of_size& t, const std::string& what) {
  launch_all(s, blocks(s, most_blocks_each), block_threads, fill_table, t.all);
  return s.run(what);
}

// After an odd number of runs, whose updates are left once.
fault verify(gpu_session& s, const tables_of_size& t, const std::string& what) {
  const unsigned grid = blocks(s, most_blocks_each);
  launch_all(s, grid, block_threads, take_updates_back, t.all);
  GGAS_GPU_TRY(s.run(what));
  launch_all(s, grid, block_threads, count_wrong_words, t.all);
  GGAS_GPU_TRY(s.run(what));
  return check_all_outcomes(s, t.all.outcomes, size_t{grid} * block_threads, what);
}

// Measures a variant on a table that is as filled, which it is not afterwards. Returns the median by `rate`.
fault measure(gpu_session& s, const tables_of_size& t, const run_of& r, const limit& bound, double& rate) {
  const std::string what = std::string(r.variant) + ", 2^" + std::to_string(t.all.split.log2_size) + " words";
  const bool large = t.all.split.log2_size > log2_of_all(s, log2_usual);
  std::vector<double> samples(static_cast<size_t>(large ? 5 : s.runs()));
  for (double& sample : samples) GGAS_GPU_TRY(run_once(s, t, r, what, sample));
  s.emit({.variant = r.variant,
          .params = {{"elements", t.all.split.size()}, {"blocks", r.blocks}, {"threads", r.threads}},
          .metric = "updates",
          .unit = "1/s",
          .samples = samples,
          .limit = bound});
  std::sort(samples.begin(), samples.end());
  rate = samples[samples.size() / 2];
  return {};
}

fault size_point(gpu_session& s, unsigned log2_size) {
  const tables_of_size t = plan(s, layout_plan(s.data_offset()), log2_size);
  const std::string what = "2^" + std::to_string(log2_size) + " words";
  limit bound{s.nodes() * s.limits().memory_bytes_per_s / 64, true, "memory: a sector read and written for an update"};
  GGAS_GPU_TRY(measure(s, t, local_run(s, t), bound, bound.value));
  bound.source = "every GPU's updates all on its own table, measured beside it";
  GGAS_GPU_TRY(fill(s, t, what));
  for (const run_of& r : runs_for(s, t)) {
    double rate = 0;
    GGAS_GPU_TRY(measure(s, t, r, bound, rate));
    GGAS_GPU_TRY(verify(s, t, what + ", " + r.variant));
  }
  return {};
}

}  // namespace

fault run_random_access(gpu_session& s) {
  if (s.nodes() > static_cast<int>(most_bucket_nodes))
    s.note("random_access bucket: at most " + std::to_string(most_bucket_nodes) + " nodes keep the look-ahead");
  std::vector<unsigned> sizes{log2_of_all(s, 20), log2_of_all(s, log2_usual)};
  if (!s.opts().quick) sizes.insert(sizes.end(), {log2_of_all(s, log2_most_atomic), log2_of_half_the_memory(s)});
  GGAS_GPU_TRY(start_for(s, sizes.back()));
  for (const unsigned k : sizes) GGAS_GPU_TRY(size_point(s, k));
  return {};
}

fault random_access_load(gpu_session& s, work_meter& meter) {
  const unsigned log2_size = log2_of_all(s, log2_usual);
  GGAS_GPU_TRY(start_for(s, log2_size));
  const tables_of_size t = plan(s, layout_plan(s.data_offset()), log2_size);
  const run_of r = runs_for(s, t).front();
  while (meter.more()) {
    double rate = 0;
    GGAS_GPU_TRY(run_once(s, t, r, "energy", rate));
    meter.add(static_cast<double>(updates_per_word * t.all.split.size()));
  }
  return {};
}

}  // namespace ggas::bench
