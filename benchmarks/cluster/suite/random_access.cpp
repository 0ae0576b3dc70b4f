// SPDX-License-Identifier: Apache-2.0
// random_access by the rules of the HPC Challenge: 4 updates for each word of the table, look-ahead at most 1024,
// verification by running the updates again. The rules allow 1 % of the words to be wrong; here none may be.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/cluster/suite/random_access_mpi.hpp"
#include "benchmarks/messages/process.hpp"
#include "benchmarks/plans/random_access_plan.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned bucket_blocks = 1, many_blocks = 4, atomic_blocks = 2, atomic_threads = 64;
constexpr uint64_t log2_most_atomic = 12;  // simulated: a NIC takes its time for each

struct span_of_time {
  uint64_t begin_ns = ~0ull, end_ns = 0;
  void include(uint64_t begin, uint64_t end) {
    begin_ns = std::min(begin_ns, begin);
    end_ns = std::max(end_ns, end);
  }
};

// A run of one variant on a filled table: a kernel on every node, or a program of every processor.
struct job {
  std::string variant;
  unsigned blocks, threads;
  std::function<void()> kernel;
  zero_area zero = {};
  std::function<result<>(const std::string& what, span_of_time& took)> programs = {};
};

tables words_of(session& s, const update_args& a) {
  return [&s, &a](int node) { return at_offset<uint64_t>(s, node, a.table); };
}

// The links carry one 8-byte store for each remote update in flight, or whole lines of them.
std::optional<limit> link_bound(session& s, const std::string& variant) {
  if (!s.limits().known || s.nodes() == 1 || variant == "atomic" || variant == "mpi") return std::nullopt;
  const double nodes = s.nodes(), remote = (nodes - 1) / nodes;
  const auto all = static_cast<uint64_t>(s.nodes());
  const unsigned bucket_bytes = 8 * (all > most_bucket_nodes ? words_of_bucket(all) : bucket_words);
  const bool buckets = variant == "bucket" || variant == "put";
  const unsigned bytes = buckets ? std::min<unsigned>(s.limits().line_bytes, bucket_bytes) : 8;
  return limit{nodes * s.limits().packets_per_s(bytes) * (bytes / 8) / remote, true,
               fmt::format("links: {} flits for a store of {} remote updates", s.limits().flits(bytes), bytes / 8)};
}

result<> run_kernels(session& s, const update_args& a, const job& j, const std::string& what, span_of_time& took) {
  GGAS_TRY(s.launch_together(
      {j.blocks}, {j.threads}, [&](int) { return j.kernel; }, what));
  GGAS_TRY(s.run(what));
  for (int node = 0; node < s.nodes(); ++node) {
    const auto o = join_outcomes(s, node, a.outcomes, j.blocks * j.threads, what);
    if (!o) return o.error();
    took.include(o->begin_ns, o->end_ns);
  }
  return {};
}

result<> run_job(session& s, const update_args& a, const job& j) {
  const std::string what = fmt::format("{}, 2^{} words", j.variant, a.split.log2_size);
  for (int node = 0; node < s.nodes(); ++node)
    std::memset(at_offset<std::byte>(s, node, j.zero.offset), 0, j.zero.bytes);
  fill_tables(a.split, words_of(s, a));
  span_of_time took;
  GGAS_TRY(j.programs ? j.programs(what, took) : run_kernels(s, a, j, what, took));
  const uint64_t size = a.split.size(), wrong = wrong_words(a, words_of(s, a));
  if (wrong != 0)
    return failed(errc::device_fault, fmt::format("{}: verification failed, {} of {} words wrong", what, wrong, size));
  record r = s.begin(j.variant, "updates", "1/s");
  r.params = {{"elements", size}, {"bytes", size * sizeof(uint64_t)}, {"threads", j.threads * j.blocks}};
  r.n = updates_per_word * size;
  r.value = static_cast<double>(r.n) * 1e9 / static_cast<double>(std::max<uint64_t>(1, took.end_ns - took.begin_ns));
  r.limit = link_bound(s, j.variant);
  s.emit(std::move(r));
  return {};
}

std::function<result<>(const std::string&, span_of_time&)> by_messages(session& s, const update_args& a,
                                                                       uint64_t numbers) {
  return [&s, a, numbers](const std::string& what, span_of_time& took) {
    return run_processes(s, what, [&](mpi_process& p) {
      uint64_t begin = 0, end = 0;
      if (mpi_updates(p, a, numbers).run(begin, end)) took.include(begin, end);
    });
  };
}

// The variants for so many nodes.
std::vector<job> jobs_of(session& s, const layout_plan& room, const update_args& a) {
  std::vector<job> all;
  zero_area zero;
  if (s.nodes() > 1 && s.nodes() <= static_cast<int>(most_mailbox_nodes)) {
    const mailbox_args m = plan_mailboxes(room, a, zero);
    all.push_back({"mailbox", static_cast<unsigned>(s.nodes()), mailbox_threads, [m] { mailbox_updates(m); }, zero});
  }
  if (a.split.nodes <= most_bucket_nodes) {
    const bucket_args b = plan_buckets(room, a, bucket_blocks, bucket_depth(a.split.nodes), zero);
    all.push_back({"bucket", bucket_blocks, bucket_threads, [b] { bucket_updates(b); }, zero});
    if (s.nodes() > 1) all.push_back({"put", bucket_blocks, bucket_threads, [b] { put_bucket_updates(b); }, zero});
  } else if (a.split.nodes <= most_many_nodes) {
    const many_args b = plan_many_buckets(room, a, many_blocks, zero);
    all.push_back({"bucket", many_blocks, many_threads, [b] { many_bucket_updates(b); }, zero});
  }
  if (!s.simulated() || a.split.log2_size <= log2_most_atomic)
    all.push_back({"atomic", atomic_blocks, atomic_threads, [a] { atomic_updates(a); }});
  if (has_processes(s)) {
    layout_plan rest = room;
    const uint64_t numbers = rest.place<uint64_t>(a.split.nodes * look_ahead);
    all.push_back({.variant = "mpi",
                   .blocks = 1,
                   .threads = given_threads,
                   .kernel = {},
                   .programs = by_messages(s, a, numbers)});
  }
  return all;
}

}  // namespace

result<> run_random_access(session& s) {
  auto sizes = s.opts().sized<std::vector<unsigned>>({10, 12}, {10, 14}, {10, 12, 14, 16, 18});
  if (const auto given = s.opts().sizes.log2_table) sizes = {*given};
  const size_t table = (size_t{8} << sizes.back()) / static_cast<size_t>(s.nodes());
  GGAS_TRY(s.start(with_processes(s, {.bytes = table + (7u << 20)}, updates_pinned(s.nodes()))));
  const size_t threads = std::max<size_t>(mailbox_threads * static_cast<size_t>(s.nodes()), bucket_threads);
  for (const unsigned k : sizes) {
    layout_plan room(s.data_offset());
    const update_args a = plan_updates(room, k, s.nodes(), threads, s.opts().cluster.seed, s.opts().timeout_ns / 4);
    for (const job& j : jobs_of(s, room, a)) GGAS_TRY(run_job(s, a, j));
  }
  return {};
}

}  // namespace ggas::bench
