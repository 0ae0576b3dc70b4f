// SPDX-License-Identifier: Apache-2.0
// The thirteen cases of the testbed of UPC's collectives: the calls, their scheme and mode, and the amount of computing
// between two of them; and one case whose last rank starts late.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "benchmarks/benchmarks.hpp"
#include "benchmarks/kernels/upc_case.cuh"
#include "benchmarks/outcomes.hpp"
#include "benchmarks/upc_plan.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned blocks = 8, threads = 64;
constexpr uint64_t static_bytes = 8192, late_ns = 5'000'000;
constexpr auto all = ggas_in_all | ggas_out_all, mine = ggas_in_mine | ggas_out_mine,
               none = ggas_in_none | ggas_out_none;

struct upc_case {
  const char* name;
  bool two;  // broadcast and exchange alone
  relocated_by how;
  ggas_scheme scheme;  // of buffers
  ggas_sync_mode mode;
  double computing;
  bool skewed, late;
};
constexpr auto straight = relocated_by::ranks, buffers = relocated_by::buffers;
constexpr upc_case cases[] = {
    {"case_0", true, straight, ggas_dynamic, all, 0.1, false, false},
    {"case_1", false, straight, ggas_dynamic, all, 2, false, false},
    {"case_2", false, buffers, ggas_dynamic, all, 2, false, false},
    {"case_3", true, straight, ggas_dynamic, all, 2, true, false},
    {"case_4", true, relocated_by::naive_pull, ggas_dynamic, all, 2, false, false},
    {"case_5", true, relocated_by::naive_push, ggas_dynamic, all, 2, false, false},
    {"case_6", false, buffers, ggas_static, all, 2, false, false},
    {"case_7", true, straight, ggas_dynamic, mine, 2, false, false},
    {"case_8", true, straight, ggas_dynamic, none, 2, false, false},
    {"case_9", true, buffers, ggas_dynamic, mine, 2, false, false},
    {"case_10", true, buffers, ggas_dynamic, none, 2, false, false},
    {"case_11", true, buffers, ggas_static, mine, 2, false, false},
    {"case_12", true, buffers, ggas_static, none, 2, false, false},
    {"late_start", true, straight, ggas_dynamic, all, 0, false, true},
};

const char* scheme_of(const upc_case& c) {
  if (c.how == relocated_by::naive_pull) return "naive_pull";
  if (c.how == relocated_by::naive_push) return "naive_push";
  return c.how == straight ? "direct" : c.scheme == ggas_static ? "static" : "dynamic";
}

upc_case_args plan_case(session& s, const upc_case& c, const upc_kind& k, uint64_t elements) {
  layout_plan room(s.data_offset());
  const int count = s.nodes() * static_cast<int>(blocks);
  const uint64_t whole = static_cast<uint64_t>(count) * elements * sizeof(float);
  const uint64_t buffer = c.how != buffers ? 0 : c.scheme == ggas_static ? static_bytes : whole;
  const ggas_ranks ranks = place_ranks(room, s.nodes(), blocks, c.scheme, buffer);
  upc_case_args a{};
  a.call = place_upc(room, ranks, k, {c.how, c.mode, c.name}, elements, s.opts().sized(3u, 3u, 50u), threads);
  a.call.samples = room.place<uint64_t>(blocks * upc_times);
  a.call.seed = s.opts().cluster.seed;
  a.call.timeout_ns = s.opts().timeout_ns / 4;
  a.warm_ups = 3;
  a.computing = c.computing;
  a.skewed = c.skewed ? 1 : -1;  // not the source
  a.late = c.late ? count - 1 : -1;
  a.late_ns = late_ns;
  for (int node = 0; node < s.nodes(); ++node)
    std::memset(at_offset<std::byte>(s, node, ranks.place), 0, detail::layout_of(ranks).bytes());
  return a;
}

// Of the slowest rank; its number is in the record.
void emit_slowest(session& s, const upc_case& c, const upc_kind& k, uint64_t elements, const char* metric,
                  const std::vector<double>& of_ranks) {
  size_t slowest = 0;
  for (size_t i = 1; i < of_ranks.size(); ++i)
    if (of_ranks[i] > of_ranks[slowest]) slowest = i;
  record r = s.begin(c.name, metric, "ns");
  r.params = {{"elements", elements},   {"bytes", elements * sizeof(float)},
              {"threads", threads},     {"method", k.name},
              {"scheme", scheme_of(c)}, {"slowest", slowest}};
  summarise(r, std::array{of_ranks[slowest]});
  s.emit(std::move(r));
}

result<> case_point(session& s, const upc_case& c, const upc_kind& k, uint64_t elements) {
  const std::string what = fmt::format("{} {} of {} floats", c.name, k.name, elements);
  const upc_case_args a = plan_case(s, c, k, elements);
  GGAS_TRY(s.launch_all({blocks}, {threads}, [&](int) { return [a] { upc_case_loop(a); }; }));
  GGAS_TRY(s.run(what));
  std::array<std::vector<double>, upc_times> times;
  for (int node = 0; node < s.nodes(); ++node) {
    if (auto o = join_outcomes(s, node, a.call.outcomes, size_t{blocks} * threads, what); !o) return o.error();
    std::vector<double> of_node;
    read_samples(s, node, a.call.samples, blocks * upc_times, 1, of_node);
    for (size_t i = 0; i < of_node.size(); ++i) times[i % upc_times].push_back(of_node[i]);
  }
  constexpr const char* metrics[] = {"collective", "computing", "overall"};
  for (size_t i = 0; i < upc_times; ++i) emit_slowest(s, c, k, elements, metrics[i], times[i]);
  return {};
}

// One element after the other takes long: few of them.
constexpr uint64_t most_naive = 32;
bool is_naive(const upc_case& c) { return c.how == relocated_by::naive_push || c.how == relocated_by::naive_pull; }
bool runs(const upc_case& c, const upc_kind& k, uint64_t elements, bool quick) {
  if (is_naive(c) && elements > most_naive) return false;
  if (quick) return k.what == relocated::broadcast && !c.late;
  return !c.two || k.what == relocated::broadcast || k.what == relocated::exchange;
}

}  // namespace

result<> run_upc_cases(session& s) {
  const uint64_t first = s.opts().sized(16u, 16u, 2u), most = s.opts().sized(16u, 256u, 1024u), step = 16;
  GGAS_TRY(s.start(upc_bytes(s.nodes(), blocks, most) +
                   blocks * (static_bytes + 64 + size_t{blocks} * 4 * most * static_cast<size_t>(s.nodes()))));
  for (const upc_case& c : cases)
    for (const upc_kind& k : upc_kinds)
      for (uint64_t n = first; n <= most && runs(c, k, n, s.opts().quick); n *= step) GGAS_TRY(case_point(s, c, k, n));
  return {};
}

}  // namespace ggas::bench
