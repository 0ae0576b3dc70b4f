// SPDX-License-Identifier: Apache-2.0
// Collectives of ranks, several on each node, in three modes, and the references of UPC.
#include "benchmarks/kernels/upc.cuh"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "benchmarks/benchmarks.hpp"
#include "benchmarks/outcomes.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned blocks = 8, threads = 64, slot_bytes = 64;

struct kind {
  relocated what;
  const char* name;
};
constexpr kind kinds[] = {{relocated::broadcast, "broadcast"}, {relocated::scatter, "scatter"},
                          {relocated::gather, "gather"},       {relocated::gather_all, "gather_all"},
                          {relocated::exchange, "exchange"},   {relocated::permute, "permute"}};
struct variant {
  relocated_by how;
  ggas_sync_mode mode;
  const char* name;
};
constexpr variant variants[] = {{relocated_by::ranks, ggas_in_all | ggas_out_all, "all"},
                                {relocated_by::ranks, ggas_in_mine | ggas_out_mine, "mine"},
                                {relocated_by::ranks, ggas_in_none | ggas_out_none, "none"},
                                {relocated_by::push, ggas_in_all | ggas_out_all, "push"},
                                {relocated_by::pull, ggas_in_all | ggas_out_all, "pull"}};

upc_args plan_upc(session& s, const kind& k, const variant& v, uint64_t elements) {
  layout_plan room(s.data_offset());
  const auto ranks = static_cast<uint64_t>(s.nodes()) * blocks;
  const uint64_t step = ranks * elements * sizeof(float);
  upc_args a{};
  a.what = k.what;
  a.how = v.how;
  a.mode = v.mode;
  a.ranks = {{0, 1, s.nodes(), 0}, blocks, 0, 0, slot_bytes, 1};
  a.ranks.place = room.place<std::byte>(detail::layout_of(a.ranks).bytes());
  a.input = {room.place<float>(ranks * elements * blocks), step};
  a.output = {room.place<float>(ranks * elements * blocks), step};
  a.elements = elements;
  a.rounds = s.opts().sized(2u, 5u, 10u);
  a.samples = room.place<uint64_t>(blocks * a.rounds);
  a.outcomes = room.place<outcome>(size_t{blocks} * threads);
  a.seed = s.opts().cluster.seed;
  a.timeout_ns = s.opts().timeout_ns / 4;
  for (int node = 0; node < s.nodes(); ++node)
    std::memset(at_offset<std::byte>(s, node, a.ranks.place), 0, detail::layout_of(a.ranks).bytes());
  return a;
}

result<> upc_point(session& s, const kind& k, const variant& v, uint64_t elements) {
  const std::string what = fmt::format("{} {} of {} floats", k.name, v.name, elements);
  const upc_args a = plan_upc(s, k, v, elements);
  GGAS_TRY(s.launch_all({blocks}, {threads}, [&](int) { return [a] { upc_loop(a); }; }));
  GGAS_TRY(s.run(what));
  // A round lasts until the last rank has returned.
  std::vector<double> slowest(a.rounds, 0);
  for (int node = 0; node < s.nodes(); ++node) {
    if (auto o = join_outcomes(s, node, a.outcomes, size_t{blocks} * threads, what); !o) return o.error();
    std::vector<double> mine;
    read_samples(s, node, a.samples, blocks * a.rounds, 1, mine);
    for (size_t i = 0; i < mine.size(); ++i) slowest[i % a.rounds] = std::max(slowest[i % a.rounds], mine[i]);
  }
  record r = s.begin(v.name, "time", "ns");
  r.params = {{"elements", elements}, {"bytes", elements * sizeof(float)}, {"threads", threads}, {"method", k.name}};
  summarise(r, slowest);
  s.emit(std::move(r));
  return {};
}

}  // namespace

result<> run_upc(session& s) {
  const uint64_t first = s.opts().quick ? 64 : 1, most = s.opts().sized(64u, 64u, 1024u);
  const uint64_t step = s.opts().sized(64u, 64u, 4u);
  const size_t ranks = static_cast<size_t>(s.nodes()) * blocks;
  GGAS_TRY(s.start(2 * ranks * most * sizeof(float) * blocks + blocks * ranks * 512 + (1u << 20)));
  for (const kind& k : kinds)
    for (uint64_t n = first; n <= most; n *= step)
      for (const variant& v : variants) GGAS_TRY(upc_point(s, k, v, n));
  return {};
}

}  // namespace ggas::bench
