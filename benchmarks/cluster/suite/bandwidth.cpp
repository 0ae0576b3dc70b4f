// SPDX-License-Identifier: Apache-2.0
// store_bandwidth and load_bandwidth.
#include "benchmarks/kernels/bandwidth.cuh"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/messages/process.hpp"
#include "ggas/launch.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned copying_threads = 8192;
constexpr unsigned largest_packet = 256;  // bytes of a store or load between NICs

// Every second word goes alone: fewer sizes, which take long.
std::vector<size_t> strided_sizes(const options& o) {
  if (o.quick) return {1024, 16384};
  if (o.middle) return {32768};
  return {512, 4096, 32768, 262144};
}

std::vector<size_t> sizes(const options& o) {
  if (o.quick) return {1024, 4096, 16384, 65536, 262144, 1u << 20};
  if (o.middle) return {512, 32768, 2u << 20};
  std::vector<size_t> out;
  for (size_t bytes = 512; bytes <= (4u << 20); bytes *= 2) out.push_back(bytes);
  return out;
}

void fill(session& s, const copy_args& a, uint64_t round) {
  for (int node = 0; node < s.nodes(); ++node) {
    uint64_t* from = at_offset<uint64_t>(s, node, a.from);
    for (uint64_t i = 0; i < a.words * a.stride; ++i) from[i] = pattern(s.opts().cluster.seed, round, i);
    std::fill_n(at_offset<uint64_t>(s, node, a.to), a.words * a.stride, 0);
    *at_offset<unsigned>(s, node, a.arrived) = 0;
  }
}

result<> check(session& s, const copy_args& a, int node, uint64_t round, const std::string& what) {
  const uint64_t* to = at_offset<uint64_t>(s, node, a.to);
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < a.words * a.stride; ++i)
    wrong += to[i] != (i % a.stride == 0 ? pattern(s.opts().cluster.seed, round, i) : 0) ? 1 : 0;
  if (wrong == 0) return {};
  return failed(errc::device_fault,
                fmt::format("{}: node {}: verification failed, {} of {} words wrong", what, node, wrong, a.words));
}

struct direction {
  const char* variant;
  void (*kernel)(copy_args);
  int target;  // distance from the working node to the one that holds the copy
  uint64_t stride = 1;
};

// One copy; appends the bandwidth of each pair.
result<> copy_once(session& s, const copy_args& a, const direction& d, uint64_t round, const std::string& what,
                   std::vector<double>& out) {
  fill(s, a, round);
  const shape where = usual_shape(copying_threads);
  GGAS_TRY(s.launch_all(where.grid, where.block, [&](int) { return [a, kernel = d.kernel] { kernel(a); }; }));
  GGAS_TRY(s.run(what));
  for (int node = 0; node + 1 < s.nodes(); node += 2) {
    const auto o = join_outcomes(s, node, a.outcomes, where.grid.x, what);
    if (!o) return o.error();
    GGAS_TRY(check(s, a, node + d.target, round, what));
    out.push_back(static_cast<double>(a.words * sizeof(uint64_t)) * 1e9 /
                  static_cast<double>(std::max<uint64_t>(1, o->end_ns - o->begin_ns)));
  }
  return {};
}

result<> run_copies(session& s, const direction& d, double published, const std::optional<limit>& bound) {
  const std::vector<size_t> all = d.stride == 1 ? sizes(s.opts()) : strided_sizes(s.opts());
  const int repetitions = s.opts().sized(1, 2, 3);
  for (const size_t bytes : all) {
    layout_plan room(s.data_offset());
    copy_args a{};
    a.words = bytes / sizeof(uint64_t);
    a.stride = d.stride;
    a.from = room.place<uint64_t>(a.words * a.stride);
    a.to = room.place<uint64_t>(a.words * a.stride);
    a.arrived = room.place<unsigned>(1);
    a.outcomes = room.place<outcome>(copying_threads / usual_block);
    std::vector<double> values;
    for (int i = 0; i < repetitions; ++i) {
      GGAS_TRY(copy_once(s, a, d, static_cast<uint64_t>(i), human(static_cast<double>(bytes), "B"), values));
    }
    record r = s.begin(d.variant, "bandwidth", "B/s");
    r.params = {{"bytes", bytes}, {"threads", copying_threads}};
    summarise(r, values);
    if (values.size() == 1) r.p50 = r.p99 = std::nullopt;
    if (s.calibrated() && d.stride == 1 && bytes == all.back()) r.reference = reference{published, "C3"};
    r.limit = bound;
    s.emit(std::move(r));
  }
  return {};
}

// ---------------------------------------------------------------------------------------------- by the copy engine

__global__ void until_visible() { static_cast<void>(ggas_quiet()); }

// A copy of the node's processor, and after one to the window a kernel that waits until it is visible.
bool engine_copy(mpi_process& p, const copy_args& a, bool load) {
  const context& c = p.machine.device_context(p.node());
  char* const own = c.local + (load ? a.to : a.from);
  char* const other = c.window + uint64_t(p.node() + 1) * c.stride + (load ? a.from : a.to);
  const size_t bytes = a.words * sizeof(uint64_t);
  if (load) return p.copy(own, other, bytes);
  return p.queued(p.machine.copy_on_stream(p.node(), other, own, bytes)) &&
         p.queued(launch(p.machine, p.node(), 1, 1, until_visible)) && p.synchronise();
}

// The first node of each pair copies; ns until its processor knows the end.
result<> engine_copies(session& s, const copy_args& a, bool load, const std::string& what, std::vector<double>& ns) {
  return run_processes(s, what, [&](mpi_process& p) {
    if (p.node() % 2 != 0 || p.node() + 1 >= s.nodes()) return;
    const uint64_t begin = p.processor.now_ns();
    if (engine_copy(p, a, load)) ns.push_back(static_cast<double>(p.processor.now_ns() - begin));
  });
}

result<> run_engine(session& s, bool load, const std::optional<limit>& bound) {
  if (!has_processes(s)) return {};
  GGAS_TRY(s.start(with_processes(s, {.bytes = 2 * sizes(s.opts()).back() + (1u << 20), .part = "engine"}, 0)));
  for (const size_t bytes : sizes(s.opts())) {
    const std::string what = fmt::format("copy_engine {}", human(static_cast<double>(bytes), "B"));
    layout_plan room(s.data_offset());
    copy_args a{};
    a.words = bytes / sizeof(uint64_t);
    a.from = room.place<uint64_t>(a.words);
    a.to = room.place<uint64_t>(a.words);
    a.arrived = room.place<unsigned>(1);
    fill(s, a, 0);
    std::vector<double> values;
    GGAS_TRY(engine_copies(s, a, load, what, values));
    for (int node = 0; node + 1 < s.nodes(); node += 2) GGAS_TRY(check(s, a, load ? node : node + 1, 0, what));
    for (double& v : values) v = static_cast<double>(bytes) * 1e9 / v;
    record r = s.begin("copy_engine", "bandwidth", "B/s");
    r.params = {{"bytes", bytes}};
    summarise(r, values);
    r.p50 = r.p99 = std::nullopt;
    r.limit = bound;
    s.emit(std::move(r));
  }
  return {};
}

// What the link carries if every packet holds so many bytes in sequence.
std::optional<limit> link_bound(const link_limits& l, unsigned bytes) {
  if (!l.known) return std::nullopt;
  return limit{l.payload_bytes_per_s(bytes), true,
               fmt::format("link payload: {} flits for {} bytes", l.flits(bytes), bytes)};
}

result<> start(session& s) { return s.start(2 * sizes(s.opts()).back() + (1u << 20)); }

}  // namespace

result<> run_store_bandwidth(session& s) {
  GGAS_TRY(start(s));
  GGAS_TRY(run_copies(s, {"store", store_copy, 1}, 800e6, link_bound(s.limits(), s.limits().line_bytes)));
  GGAS_TRY(run_copies(s, {"strided_store", store_copy, 1, 2}, 0, link_bound(s.limits(), sizeof(uint64_t))));
  return run_engine(s, false, link_bound(s.limits(), largest_packet));
}

result<> run_load_bandwidth(session& s) {
  GGAS_TRY(start(s));
  std::optional<limit> bound = link_bound(s.limits(), s.limits().line_bytes);
  const double peer = s.limits().peer_read_bytes_per_s;
  if (bound && peer > 0 && peer < bound->value) {
    bound = limit{peer, true, "reads of the GPU's memory through the root complex"};
  }
  GGAS_TRY(run_copies(s, {"load", load_copy, 0}, 600e6, bound));
  std::optional<limit> of_engine = link_bound(s.limits(), largest_packet);
  if (of_engine && peer > 0 && peer < of_engine->value) of_engine = bound;
  if (bound) bound = limit{bound->value / 2, true, bound->source + ", half of each line is used"};
  GGAS_TRY(run_copies(s, {"strided_load", load_copy, 0, 2}, 0, bound));
  return run_engine(s, true, of_engine);
}

}  // namespace ggas::bench
