// SPDX-License-Identifier: Apache-2.0
// barrier, reduce and allreduce.
#include "benchmarks/kernels/collectives.cuh"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/messages/process.hpp"

namespace ggas::bench {

namespace {

// ---------------------------------------------------------------- barrier

struct barrier_point {
  const char* variant;
  unsigned blocks, threads;  // of a block
  bool kernels;              // a kernel for each barrier
  bool sync = false;
  bool team = false;
};

void run_barrier_loop(const barrier_point& p, const barrier_args& a) {
  if (p.team && p.sync) return barrier_loop<meeting::sync, by::team>(a);
  if (p.team) return barrier_loop<meeting::barrier, by::team>(a);
  p.sync ? barrier_loop<meeting::sync, by::grid>(a) : barrier_loop<meeting::barrier, by::grid>(a);
}

result<> run_barrier_point(session& s, const barrier_point& p) {
  const std::string what = fmt::format("{} {}x{}", p.variant, p.blocks, p.threads);
  const unsigned rounds = s.opts().rounds_of(50, 200, 1000);
  const unsigned total = p.blocks * p.threads;
  layout_plan room(s.data_offset());
  barrier_args a{};
  a.mark = room.place<uint64_t>(1);
  a.outcomes = room.place<outcome>(total);
  a.samples = room.place<uint64_t>(rounds);
  a.rounds = p.kernels ? 1 : rounds;
  a.checks = p.kernels ? 0 : 4;
  a.timeout_ns = s.opts().timeout_ns / 4;
  for (int node = 0; node < s.nodes(); ++node) *at_offset<uint64_t>(s, node, a.mark) = 0;
  const unsigned launches = p.kernels ? std::min(rounds, 200u) : 1;
  const uint64_t begin = s.machine().now_ns();
  for (unsigned i = 0; i < launches; ++i) {
    GGAS_TRY(s.launch_together(
        {p.blocks}, {p.threads}, [&](int) { return [=] { run_barrier_loop(p, a); }; }, what));
  }
  GGAS_TRY(s.run(what));
  const double elapsed = static_cast<double>(s.machine().now_ns() - begin);
  for (int node = 0; node < s.nodes(); ++node) {
    if (auto o = join_outcomes(s, node, a.outcomes, total, what); !o) return o.error();
  }
  record r = s.begin(p.variant, "latency", "ns");
  r.params = {{"threads", total}, {"method", p.sync ? "sync" : "barrier"}};
  if (p.kernels) {
    r.value = elapsed / launches;
    r.n = launches;
  } else {
    std::vector<double> samples;
    read_samples(s, 0, a.samples, rounds, 1, samples);
    summarise(r, samples);
  }
  s.emit(std::move(r));
  return {};
}

// ---------------------------------------------------------------- reductions

constexpr unsigned reduce_threads = 256;
constexpr uint64_t most_by_nic = 64;  // floats
// In every other method each node sends a line to each other one in each exchange: a million messages with 1,024 nodes.
constexpr int most_in_channels = 64;

// Small whole numbers, so that sums are exact whatever the order.
float input_of(uint64_t seed, int node, uint64_t i) {
  return static_cast<float>(pattern(seed, static_cast<uint64_t>(node), i) % 1024);
}

// A method of reducing a vector, and the nodes that get the result.
struct reduction {
  const char* variant;
  ggas_method method;
  bool to_root = false;
};

reduce_args plan_reduce(session& s, const reduction& how, uint64_t elements) {
  layout_plan room(s.data_offset());
  reduce_args a{};
  a.elements = elements;
  const uint64_t divided = elements + static_cast<uint64_t>(s.nodes());  // parts may be longer than needed
  a.input = room.place<float>(divided);
  a.output = room.place<float>(divided);
  a.part = room.place<float>(elements);
  a.expected = room.place<float>(elements);
  a.outcomes = room.place<outcome>(reduce_threads);
  a.rounds = s.opts().rounds_of(5, 5, 20);
  a.samples = room.place<uint64_t>(a.rounds);
  a.timeout_ns = s.opts().timeout_ns / 4;
  a.method = how.method;
  a.to_root = how.to_root;
  return a;
}

void fill_vectors(session& s, const reduce_args& a) {
  const uint64_t seed = s.opts().cluster.seed;
  for (uint64_t i = 0; i < a.elements; ++i) {
    float sum = 0;
    for (int node = 0; node < s.nodes(); ++node) sum += at_offset<float>(s, node, a.input)[i] = input_of(seed, node, i);
    for (int node = 0; node < s.nodes(); ++node) {
      at_offset<float>(s, node, a.expected)[i] = sum;
      at_offset<float>(s, node, a.output)[i] = -1;
    }
  }
}

result<> run_reduce_point(session& s, const reduction& how, uint64_t elements) {
  const std::string what = fmt::format("{} {} elements", how.variant, elements);
  const reduce_args a = plan_reduce(s, how, elements);
  fill_vectors(s, a);
  GGAS_TRY(s.launch_all({1}, {reduce_threads}, [&](int) { return [a] { reduce_loop(a); }; }));
  GGAS_TRY(s.run(what));
  // A round lasts until the last node has its result.
  std::vector<double> slowest(a.rounds, 0);
  for (int node = 0; node < s.nodes(); ++node) {
    if (auto o = join_outcomes(s, node, a.outcomes, reduce_threads, what); !o) return o.error();
    std::vector<double> mine;
    read_samples(s, node, a.samples, a.rounds, 1, mine);
    for (size_t i = 0; i < mine.size(); ++i) slowest[i] = std::max(slowest[i], mine[i]);
  }
  record r = s.begin(how.variant, "time", "ns");
  r.params = {{"elements", elements}, {"bytes", elements * sizeof(float)}, {"threads", reduce_threads}};
  summarise(r, slowest);
  s.emit(std::move(r));
  return {};
}

// Hosts reduce: copies from and to the GPUs, messages between; `on_host`: vectors of the hosts, without copies. The
// rounds begin with a barrier, which is not measured.
result<> run_mpi_point(session& s, bool to_root, bool on_host, uint64_t elements) {
  const char* const variant = on_host ? "mpi_host" : "mpi";
  const std::string what = fmt::format("{} {} elements", variant, elements);
  const reduce_args a = plan_reduce(s, {variant, ggas_auto, to_root}, elements);
  const size_t bytes = elements * sizeof(float);
  fill_vectors(s, a);
  std::vector<double> slowest(a.rounds, 0);
  GGAS_TRY(run_processes(s, what, [&](mpi_process& p) {
    auto* const data = reinterpret_cast<float*>(p.pinned());
    std::byte* const segment = p.machine.segment(p.node());
    for (double& longest : slowest) {
      if (on_host) std::copy_n(segment + a.input, bytes, p.pinned());
      if (!p.barrier()) return;
      const uint64_t begin = p.processor.now_ns();
      if (!on_host && !p.copy(data, segment + a.input, bytes)) return;
      if (to_root ? !p.collectives.reduce(data, data + elements, elements)
                  : !p.collectives.allreduce(data, data + elements, elements))
        return;
      if (!on_host && (p.node() == 0 || !to_root) && !p.copy(segment + a.output, data, bytes)) return;
      longest = std::max(longest, static_cast<double>(p.processor.now_ns() - begin));
      if (on_host) std::copy_n(p.pinned(), bytes, segment + a.output);
    }
  }));
  for (int node = 0; node < (to_root ? 1 : s.nodes()); ++node) {
    const float* const want = at_offset<float>(s, node, a.expected);
    if (!std::equal(want, want + elements, at_offset<float>(s, node, a.output)))
      return failed(errc::device_fault, fmt::format("{}: node {}: verification failed: wrong sums", what, node));
  }
  record r = s.begin(variant, "time", "ns");
  r.params = {{"elements", elements}, {"bytes", bytes}};
  summarise(r, slowest);
  s.emit(std::move(r));
  return {};
}

result<> run_mpi_points(session& s, bool to_root, uint64_t elements) {
  if (!has_processes(s)) return {};
  GGAS_TRY(run_mpi_point(s, to_root, false, elements));
  return run_mpi_point(s, to_root, true, elements);
}

std::vector<uint64_t> vector_lengths(const options& o) {
  if (o.quick) return {1, 64, 1024, 8192};
  if (o.middle) return {16, 16384};
  std::vector<uint64_t> out;
  for (uint64_t n = 1; n <= 65536; n *= 4) out.push_back(n);
  return out;
}

constexpr size_t vectors_room = 4u << 20;

result<> start_with_vectors(session& s) {
  return s.start(with_processes(s, {.bytes = vectors_room}, 2 * vector_lengths(s.opts()).back() * sizeof(float)));
}

}  // namespace

result<> run_barrier(session& s) {
  GGAS_TRY(s.start(1u << 20));
  for (const barrier_point& p :
       {barrier_point{"block", 1, 32, false}, barrier_point{"block", 1, 1024, false},
        barrier_point{"grid", 13, 256, false}, barrier_point{"kernel", 1, 32, true},
        barrier_point{"sync", 1, 32, false, true}, barrier_point{"team", 1, 32, false, false, true},
        barrier_point{"team", 1, 32, false, true, true}}) {
    GGAS_TRY(run_barrier_point(s, p));
  }
  return {};
}

result<> run_reduce(session& s) {
  GGAS_TRY(start_with_vectors(s));
  constexpr reduction all[] = {{"gather", ggas_by_gather, true},  {"one_shot", ggas_one_shot, true},
                               {"two_shot", ggas_two_shot, true}, {"read", ggas_read, true},
                               {"tree", ggas_tree, true},         {"auto", ggas_auto, true}};
  const bool many = s.nodes() > most_in_channels;
  for (const uint64_t n : vector_lengths(s.opts())) {
    for (const reduction& how : all)
      if (!many || how.method == ggas_by_gather) GGAS_TRY(run_reduce_point(s, how, n));
    GGAS_TRY(run_mpi_points(s, true, n));
  }
  return {};
}

result<> run_allreduce(session& s) {
  GGAS_TRY(start_with_vectors(s));
  constexpr reduction all[] = {{"gather", ggas_by_gather},  {"allgather", ggas_by_all_gather},
                               {"one_shot", ggas_one_shot}, {"two_shot", ggas_two_shot},
                               {"read", ggas_read},         {"tree", ggas_tree}};
  constexpr reduction best{"auto", ggas_auto}, by_nic{"by_nic", ggas_by_nic};
  const bool nic_helps = s.machine().device_context(0).collectives.block != nullptr;
  const bool many = s.nodes() > most_in_channels;
  for (const uint64_t n : vector_lengths(s.opts())) {
    if (many) {
      const bool soon = !s.opts().quick || n <= 1024;  // 1,024 nodes: two minutes
      if (nic_helps && soon) GGAS_TRY(run_reduce_point(s, best, n));
      continue;
    }
    for (const reduction& how : all) GGAS_TRY(run_reduce_point(s, how, n));
    GGAS_TRY(run_reduce_point(s, best, n));
    if (nic_helps && n <= most_by_nic) GGAS_TRY(run_reduce_point(s, by_nic, n));
    GGAS_TRY(run_mpi_points(s, false, n));
  }
  return {};
}

}  // namespace ggas::bench
