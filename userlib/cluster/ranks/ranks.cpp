// SPDX-License-Identifier: Apache-2.0
#include "ggas/ranks.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "ggas/cluster.hpp"
#include "ggas/detail/platform/layout.hpp"
#include "userlib/cluster/teams/zeroed.hpp"

namespace ggas {

namespace {

constexpr unsigned most_credits = 65536, most_slot = 1u << 24;
constexpr uint64_t least_static = 8 << 10, most_buffer = uint64_t{1} << 40;

// As a user's length is taken: one of a packet is raised, then capped.
uint64_t buffer_of(const rank_shape& s) {
  uint64_t bytes = s.buffer_bytes;
  if (s.scheme == ggas_static && bytes != 0)
    bytes = std::max(least_static, std::min(bytes, std::max(s.most_buffer, least_static)));
  return bytes > most_buffer ? bytes : (bytes + rank_layout::line - 1) / rank_layout::line * rank_layout::line;
}

ggas_ranks ranks_of(const cluster& c, const rank_shape& s, uint64_t place) {
  return {s.nodes.value_or(ggas_team{0, 1, c.nodes(), 0}),
          s.blocks,
          s.first,
          place,
          s.slot_bytes,
          s.credits,
          s.scheme,
          buffer_of(s),
          s.native_barrier};
}

// What is wrong with a shape.
std::string check(const cluster& c, const ggas_ranks& r) {
  const int nodes = c.nodes();
  const ggas_team& t = r.nodes;
  const auto number = [](auto v) { return std::to_string(v); };
  if (t.stride < 1 || t.size < 1 || t.first < 0 || t.first >= nodes || (nodes - 1 - t.first) / t.stride < t.size - 1)
    return "the team must be of nodes 0 ... " + number(nodes - 1);
  if (r.blocks < 1 || r.blocks > rank_layout::most_blocks)
    return number(r.blocks) + " blocks of a node: must be 1 ... " + number(rank_layout::most_blocks);
  if (static_cast<uint64_t>(t.size) * r.blocks > rank_layout::most_ranks)
    return number(t.size) + " nodes of " + number(r.blocks) + " blocks: there are at most " +
           number(rank_layout::most_ranks) + " ranks";
  if (r.slot_bytes < 16 || r.slot_bytes % 16 != 0 || r.slot_bytes > most_slot)
    return number(r.slot_bytes) + " bytes of a slot: must be a multiple of 16, at most " + number(most_slot);
  if (r.credits < 1 || r.credits > most_credits)
    return number(r.credits) + " credits: must be 1 ... " + number(most_credits);
  const uint64_t indices =
      layout::of(static_cast<uint64_t>(nodes), c.device_context(c.local_nodes()[0]).reserved).channels;
  if (r.native_barrier >= indices)
    return "native barrier " + number(r.native_barrier) + ": indices are 0 ... " + number(indices - 1);
  if (r.scheme > ggas_static) return "scheme " + number(+r.scheme) + " does not exist";
  if (r.scheme == ggas_static && r.buffer_bytes == 0) return "static buffers of 0 bytes: must have some";
  if (r.buffer_bytes > most_buffer)
    return number(r.buffer_bytes) + " bytes of a buffer: must be at most " + number(most_buffer);
  return {};
}

// A number of the environment; nothing: it is not set, or `why`.
std::optional<int64_t> read_number(const char* name, int64_t least, std::string& why) {
  const char* const text = std::getenv(name);
  if (!text || !*text) return std::nullopt;
  const char* const end = text + std::strlen(text);
  int64_t number = 0;
  const auto read = std::from_chars(text, end, number);
  if (read.ec == std::errc{} && read.ptr == end && number >= least && number <= int64_t{1} << 40) return number;
  why = std::string(name) + " = '" + text + "': must be a whole number from " + std::to_string(least) + " on";
  return std::nullopt;
}

constexpr ggas_ranks no_ranks{{0, 1, 0, 0}, 0, 0, 0, 0, 0, ggas_dynamic, 0};

}  // namespace

std::optional<rank_shape> settled(const rank_shape& shape, std::string& why) {
  why.clear();
  constexpr int64_t any = std::numeric_limits<int64_t>::min();
  const auto buffer = read_number("GGAS_RANK_BUFFER", any, why), most = read_number("GGAS_RANK_BUFFER_MOST", 1, why),
             native = read_number("GGAS_RANK_NATIVE_BARRIER", 0, why);
  if (!why.empty()) return std::nullopt;
  rank_shape s = shape;
  if (buffer) s.scheme = *buffer > 0 ? ggas_static : ggas_dynamic;
  if (buffer && *buffer > 0) s.buffer_bytes = static_cast<uint64_t>(*buffer);
  if (most) s.most_buffer = static_cast<uint64_t>(*most);
  if (native) s.native_barrier = static_cast<unsigned>(std::min<int64_t>(*native, std::numeric_limits<int>::max()));
  return s;
}

rank_space::rank_space(cluster& c, heap& memory) : cluster_(c), memory_(memory) {}

rank_space::~rank_space() {
  for (const auto& [place, kept] : kept_) memory_.free(place);
}

uint64_t rank_space::bytes(const rank_shape& shape) const {
  return detail::layout_of(ranks_of(cluster_, shape, 0)).bytes();
}

ggas_ranks rank_space::make(const rank_shape& shape, std::string& why) {
  ggas_ranks r = ranks_of(cluster_, shape, 0);
  const std::string call = "ranks";
  why = check(cluster_, r);
  if (!why.empty()) {
    why = call + ": " + why;
    return no_ranks;
  }
  auto at = userlib::allocate_zeroed(cluster_, memory_, bytes(shape), call, why);
  if (!at) return no_ranks;
  r.place = at->offset;
  kept_[r.place] = std::move(at->kept);
  return r;
}

std::string rank_space::free(const ggas_ranks& r) {
  if (kept_.erase(r.place) != 0) return memory_.free(r.place);
  return "free of ranks at offset " + std::to_string(r.place) + ": not made here, or freed before";
}

}  // namespace ggas
