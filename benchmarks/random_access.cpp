// SPDX-License-Identifier: Apache-2.0
// random_access after the rules of the HPC Challenge: 4 updates for each word of the table, look-ahead at most 1024,
// verification by running the updates again, less than 1 % of the words wrong.
#include "benchmarks/kernels/random_access.cuh"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/benchmarks.hpp"
#include "benchmarks/outcomes.hpp"

namespace ggas::bench {

namespace {

// Elements 64, 1000 and 2^40 of the published stream.
static_assert(hpcc_stream::at(64) == 7 && hpcc_stream::at(1000) == 0xb6b6db0000000103 &&
              hpcc_stream::at(1ull << 40) == 0x100000116);

constexpr unsigned lanes = 128;  // threads of a block
constexpr uint64_t look_ahead = 1024;
constexpr double most_wrong = 0.01;

// Seed 1 is the stream as published; others begin far away from it.
uint64_t origin_of(uint64_t seed) { return pattern(0, 0, seed) % hpcc_stream::period * (seed == 1 ? 0 : 1); }

mailbox_args plan(session& s, unsigned log2_size) {
  const auto nodes = static_cast<uint64_t>(s.nodes());
  const table_split split{1ull << log2_size, nodes};
  layout_plan room(s.data_offset());
  mailbox_args a{};
  a.log2_size = log2_size;
  a.depth = look_ahead / (lanes * (nodes - 1));
  a.origin = origin_of(s.opts().cluster.seed);
  a.timeout_ns = s.opts().timeout_ns / 4;
  a.table = room.place<uint64_t>(split.size / nodes + 1);
  a.mailboxes = room.place<uint64_t>(nodes * a.depth * lanes);
  a.credits = room.place<uint64_t>(nodes * lanes);
  a.outcomes = room.place<outcome>(nodes * lanes);
  return a;
}

uint64_t& word(session& s, const mailbox_args& a, const table_split& split, uint64_t index) {
  const uint64_t node = split.owner(index);
  return at_offset<uint64_t>(s, static_cast<int>(node), a.table)[index - split.first(node)];
}

void clear(session& s, const mailbox_args& a, const table_split& split) {
  for (uint64_t i = 0; i < split.size; ++i) word(s, a, split, i) = i;
  for (int node = 0; node < s.nodes(); ++node) {
    std::fill_n(at_offset<uint64_t>(s, node, a.mailboxes), split.nodes * a.depth * lanes, 0);
    std::fill_n(at_offset<uint64_t>(s, node, a.credits), split.nodes * lanes, 0);
  }
}

// Runs the updates again, one after the other: xor takes them back. Returns the words that are not as at the start.
uint64_t count_wrong(session& s, const mailbox_args& a, const table_split& split) {
  uint64_t number = hpcc_stream::at(a.origin);
  for (uint64_t i = 0; i < 4 * split.size; ++i) {
    number = hpcc_stream::next(number);
    word(s, a, split, split.index(number)) ^= number;
  }
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < split.size; ++i) wrong += word(s, a, split, i) != i ? 1 : 0;
  return wrong;
}

result<> check(session& s, const mailbox_args& a, const table_split& split, const std::string& what) {
  const uint64_t wrong = count_wrong(s, a, split);
  if (static_cast<double>(wrong) < most_wrong * static_cast<double>(split.size)) return {};
  return failed(errc::device_fault, fmt::format("{}: verification failed, {} of {} words wrong (less than 1 % may be)",
                                                what, wrong, split.size));
}

// A node's link carries the numbers it sends to others, one 8-byte store each.
std::optional<limit> link_bound(session& s) {
  if (!s.limits().known) return std::nullopt;
  const double nodes = s.nodes();
  return limit{nodes * s.limits().packets_per_s(8) * nodes / (nodes - 1), true,
               fmt::format("links: {} flits for the 8-byte store of each remote update", s.limits().flits(8))};
}

result<> run_table(session& s, unsigned log2_size) {
  const std::string what = fmt::format("2^{} words", log2_size);
  const mailbox_args a = plan(s, log2_size);
  const table_split split{1ull << log2_size, static_cast<uint64_t>(s.nodes())};
  const auto blocks = static_cast<unsigned>(s.nodes());
  clear(s, a, split);
  GGAS_TRY(s.launch_all({blocks}, {lanes}, [&](int) { return [a] { mailbox_updates(a); }; }));
  GGAS_TRY(s.run(what));
  uint64_t begin = ~0ull, end = 0;
  for (int node = 0; node < s.nodes(); ++node) {
    const auto o = join_outcomes(s, node, a.outcomes, blocks * lanes, what);
    if (!o) return std::unexpected(o.error());
    begin = std::min(begin, o->begin_ns);
    end = std::max(end, o->end_ns);
  }
  GGAS_TRY(check(s, a, split, what));
  record r = s.begin("mailbox", "updates", "1/s");
  r.params = {{"elements", split.size}, {"bytes", split.size * sizeof(uint64_t)}, {"threads", lanes * blocks}};
  r.value = static_cast<double>(4 * split.size) * 1e9 / static_cast<double>(std::max<uint64_t>(1, end - begin));
  r.n = 4 * split.size;
  r.limit = link_bound(s);
  s.emit(std::move(r));
  return {};
}

}  // namespace

result<> run_random_access(session& s) {
  const uint64_t most = std::min<uint64_t>(max_mailbox_nodes, look_ahead / lanes + 1);
  if (static_cast<uint64_t>(s.nodes()) > most) {
    return failed(errc::bad_argument, fmt::format("random_access: --nodes {}: at most {} keep the look-ahead of {}",
                                                  s.nodes(), most, look_ahead));
  }
  GGAS_TRY(s.start(8u << 20));
  const std::vector<unsigned> sizes =
      s.opts().quick ? std::vector<unsigned>{10, 12} : std::vector<unsigned>{10, 12, 14, 16, 18};
  for (const unsigned k : sizes) GGAS_TRY(run_table(s, k));
  return {};
}

}  // namespace ggas::bench
