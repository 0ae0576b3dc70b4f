// SPDX-License-Identifier: Apache-2.0
// random_stores: stores of 8 bytes from every GPU to random others, until all are visible.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/kernels/random_stores.cuh"

namespace ggas::bench {

namespace {

constexpr unsigned store_threads = 32;
constexpr int many_nodes = 64;  // a few stores of each are no traffic

// On each node exactly the words that were stored there have a value, and it is the right one.
result<> check(session& s, const random_stores_args& a, const std::string& what) {
  const auto nodes = static_cast<uint64_t>(s.nodes());
  const uint64_t of_node = store_threads * a.each;
  for (uint64_t number = 0; number < nodes * of_node; ++number) {
    const uint64_t to = store_target(a.seed, number, number / of_node, nodes);
    uint64_t& word = at_offset<uint64_t>(s, static_cast<int>(to), a.words)[number];
    if (word != pattern(a.seed, 0, number))
      return failed(errc::device_fault, fmt::format("{}: store {} of node {} to node {} has not arrived", what,
                                                    number % of_node, number / of_node, to));
    word = 0;
  }
  for (int node = 0; node < s.nodes(); ++node) {
    const uint64_t* const words = at_offset<uint64_t>(s, node, a.words);
    if (!std::all_of(words, words + nodes * of_node, [](uint64_t w) { return w == 0; }))
      return failed(errc::device_fault, fmt::format("{}: node {} has a word that no node stored there", what, node));
  }
  return {};
}

result<> run_point(session& s, uint64_t total) {
  const auto nodes = static_cast<uint64_t>(s.nodes());
  random_stores_args a{};
  a.each = (total + nodes * store_threads - 1) / (nodes * store_threads);
  a.seed = s.opts().cluster.seed;
  const uint64_t stores = a.each * nodes * store_threads;
  const std::string what = fmt::format("{} stores", stores);
  layout_plan room(s.data_offset());
  a.outcomes = room.place<outcome>(store_threads);
  a.words = room.place<uint64_t>(stores);
  GGAS_TRY(s.launch_all({1}, {store_threads}, [&](int) { return [a] { random_stores(a); }; }));
  GGAS_TRY(s.run(what));
  uint64_t begin = ~0ull, end = 0;
  for (int node = 0; node < s.nodes(); ++node) {
    const auto o = join_outcomes(s, node, a.outcomes, store_threads, what);
    if (!o) return o.error();
    begin = std::min(begin, o->begin_ns);
    end = std::max(end, o->end_ns);
  }
  GGAS_TRY(check(s, a, what));
  record r = s.begin("store", "stores", "1/s");
  r.params = {{"elements", stores}, {"bytes", sizeof(uint64_t)}, {"threads", store_threads}};
  r.n = stores;
  r.value = static_cast<double>(stores) * 1e9 / static_cast<double>(std::max<uint64_t>(1, end - begin));
  s.emit(std::move(r));
  return {};
}

}  // namespace

result<> run_random_stores(session& s) {
  // Rounded up to the same share for every thread.
  const std::vector<uint64_t> quick{s.nodes() < many_nodes ? 4096u : 100'000u};
  const auto totals = s.opts().sized<std::vector<uint64_t>>(quick, {4096, 100'000}, {4096, 100'000, 400'000});
  const uint64_t most = totals.back() + static_cast<uint64_t>(s.nodes()) * store_threads;
  GGAS_TRY(s.start(most * sizeof(uint64_t) + (64u << 10)));
  for (const uint64_t n : totals) GGAS_TRY(run_point(s, n));
  return {};
}

}  // namespace ggas::bench
