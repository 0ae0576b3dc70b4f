// SPDX-License-Identifier: Apache-2.0
// coalescing: how many requests enter the NIC, from its own counters.
#include "benchmarks/kernels/coalescing.cuh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"

namespace ggas::bench {

namespace {

constexpr std::array<unsigned, 6> value_counts{1, 16, 64, 256, 1024, 4096};

struct access_pattern {
  const char* variant;
  bool store;
  uint64_t stride;
  std::array<double, 6> published;  // C4
};

constexpr std::array<access_pattern, 4> patterns{{
    {"consecutive_store", true, 1, {1, 1, 4, 16, 64, 256}},
    {"consecutive_load", false, 1, {1, 1, 4, 16, 64, 256}},
    {"strided_store", true, 2, {1, 16, 64, 256, 1024, 4096}},
    {"strided_load", false, 2, {1, 2, 8, 32, 128, 512}},
}};

result<uint64_t> counter(session& s, const char* name) {
  const auto all = s.machine().counters(0);
  const auto found = all.find(name);
  if (found == all.end()) return failed(errc::unsupported, fmt::format("coalescing: the NIC has no counter {}", name));
  return found->second;
}

uint32_t expected(session& s, unsigned t) { return static_cast<uint32_t>(pattern(s.opts().cluster.seed, 0, t)); }

void prepare(session& s, const scatter_args& a, const access_pattern& p) {
  uint32_t* remote = at_offset<uint32_t>(s, 1, a.remote);
  std::fill_n(remote, a.values * a.stride, 0);
  std::fill_n(at_offset<uint32_t>(s, 0, a.copies), a.values, 0);
  for (unsigned t = 0; !p.store && t < a.values; ++t) remote[t * a.stride] = expected(s, t);
}

// Stores: at the partner, with nothing written between the values. Loads: in the local copies.
result<> check(session& s, const scatter_args& a, const access_pattern& p, const std::string& what) {
  if (auto o = join_outcomes(s, 0, a.outcomes, a.values, what); !o) return o.error();
  const uint32_t* found = p.store ? at_offset<uint32_t>(s, 1, a.remote) : at_offset<uint32_t>(s, 0, a.copies);
  const uint64_t stride = p.store ? a.stride : 1;
  for (uint64_t i = 0; i < a.values * stride; ++i) {
    const uint32_t right = i % stride == 0 ? expected(s, static_cast<unsigned>(i / stride)) : 0;
    if (found[i] != right)
      return failed(errc::device_fault, fmt::format("{}: verification failed at value {}", what, i / stride));
  }
  return {};
}

result<> run_point(session& s, const access_pattern& p, size_t index) {
  const unsigned values = value_counts[index];
  const std::string what = fmt::format("{} {}", p.variant, values);
  layout_plan room(s.data_offset());
  scatter_args a{};
  a.values = values;
  a.stride = p.stride;
  a.seed = s.opts().cluster.seed;
  a.remote = room.place<uint32_t>(values * p.stride);
  a.copies = room.place<uint32_t>(values);
  a.outcomes = room.place<outcome>(values);
  prepare(s, a, p);
  const char* name = p.store ? "SMFU_STORES_IN" : "SMFU_LOADS_IN";
  const auto before = counter(s, name);
  if (!before) return before.error();
  const shape where = usual_shape(values);
  GGAS_TRY(s.machine().launch(
      0, where.grid, where.block, [a, store = p.store] { store ? store_values(a) : load_values(a); }, p.variant));
  GGAS_TRY(s.run(what));
  const auto after = counter(s, name);
  if (!after) return after.error();
  GGAS_TRY(check(s, a, p, what));
  record r = s.begin(p.variant, "requests", "1");
  r.params = {{"values", values}};
  r.value = static_cast<double>(*after - *before);
  r.n = 1;
  if (s.calibrated()) r.reference = reference{p.published[index], "C4"};
  s.emit(std::move(r));
  return {};
}

}  // namespace

result<> run_coalescing(session& s) {
  GGAS_TRY(s.start(1u << 20));
  for (const access_pattern& p : patterns) {
    for (size_t i = 0; i < value_counts.size(); ++i) GGAS_TRY(run_point(s, p, i));
  }
  return {};
}

}  // namespace ggas::bench
