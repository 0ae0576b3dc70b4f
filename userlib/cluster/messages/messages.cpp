// SPDX-License-Identifier: Apache-2.0
#include "ggas/messages.hpp"

#include <bit>

#include "ggas/cluster.hpp"
#include "userlib/cluster/teams/zeroed.hpp"

namespace ggas {

namespace {

constexpr unsigned most_lines = 1u << 20, most_threads = 1024, most_stage = 1u << 20;

rank_shape shape_of(const message_config& c) {
  return {.blocks = c.blocks, .first = c.first, .slot_bytes = 16, .credits = 1};
}
ggas_messages messages_of(const message_config& c, const ggas_ranks& blocks, uint64_t place) {
  return {blocks,        c.kind,    c.threads,  place,        static_cast<unsigned>(std::countr_zero(c.lines)),
          c.short_bytes, c.waiting, c.requests, c.stage_bytes};
}
constexpr ggas_messages no_messages{{{0, 1, 0, 0}, 0, 0, 0, 0, 0}, ggas_rank_is_thread, 0, 0, 0, 0, 0, 0, 0};

// Before the place of ranks, for the handle itself: what use() shows to kernels.
constexpr uint64_t handle_bytes = 256;
static_assert(sizeof(ggas_messages) <= handle_bytes);

uint64_t bytes_of(const ggas_messages& m) { return handle_bytes + detail::bytes_of(m); }

// What is wrong with a number that is to be a power of two.
std::string check_power(const char* what, unsigned v, uint64_t most) {
  if (std::has_single_bit(v) && v >= 4 && v <= most) return {};
  return std::to_string(v) + " " + what + ": must be a power of two, 4 ... " + std::to_string(most);
}
std::string check(const message_config& c, int nodes) {
  const auto number = [](auto v) { return std::to_string(v); };
  if (c.kind > ggas_rank_is_block)
    return "kind " + number(static_cast<unsigned>(c.kind)) +
           ": must be ggas_rank_is_thread, ggas_rank_is_warp or ggas_rank_is_block";
  if (c.blocks < 1 || c.blocks > rank_layout::most_blocks)
    return number(c.blocks) + " blocks of a node: must be 1 ... " + number(rank_layout::most_blocks);
  if (c.threads < 1 || c.threads > most_threads)
    return number(c.threads) + " threads of a block: must be 1 ... " + number(most_threads);
  if (c.kind == ggas_rank_is_warp && c.threads % 32 != 0)
    return number(c.threads) + " threads of a block: must be a multiple of 32 where warps are ranks";
  if (auto why = check_power("lines of a ring", c.lines, most_lines); !why.empty()) return why;
  if (auto why = check_power("waiting messages", c.waiting, message_layout::most_waiting); !why.empty()) return why;
  if (c.requests < 1 || c.requests > message_layout::most_requests)
    return number(c.requests) + " requests: must be 1 ... " + number(message_layout::most_requests);
  const uint64_t most_short =
      (ring_shape{0, 1, static_cast<uint32_t>(std::countr_zero(c.lines))}.largest_record() - 8) / 16 * 16;
  if (c.short_bytes < 16 || c.short_bytes % 16 != 0 || c.short_bytes > most_short)
    return number(c.short_bytes) + " bytes of a short message: must be a multiple of 16, at most " +
           number(most_short) + " in a ring of " + number(c.lines) + " lines";
  if (c.stage_bytes < 64 || c.stage_bytes % 64 != 0 || c.stage_bytes > most_stage)
    return number(c.stage_bytes) + " bytes of a stage: must be a multiple of 64, at most " + number(most_stage);
  const ggas_ranks blocks{{0, 1, nodes, 0}, c.blocks, 0, 0, 16, 1};
  if (const int all = detail::rank_count(messages_of(c, blocks, 0));
      static_cast<unsigned>(all) > rank_layout::most_ranks)
    return number(all) + " ranks: there are at most " + number(rank_layout::most_ranks);
  return {};
}

}  // namespace

message_space::message_space(cluster& c, heap& memory) : cluster_(c), memory_(memory), ranks_(c, memory) {}

message_space::~message_space() {
  if (kept_.contains(used_)) point_kernels_at(0);
  for (const auto& [place, kept] : kept_) memory_.free(place - handle_bytes);
}

uint64_t message_space::bytes(const message_config& config) const {
  const ggas_ranks blocks{{0, 1, cluster_.nodes(), 0}, config.blocks, config.first, 0, 16, 1};
  return bytes_of(messages_of(config, blocks, 0)) + ranks_.bytes(shape_of(config));
}

ggas_messages message_space::make(const message_config& config, std::string& why) {
  const std::string call = "messages";
  why = check(config, cluster_.nodes());
  if (!why.empty()) {
    why = call + ": " + why;
    return no_messages;
  }
  const ggas_ranks blocks = ranks_.make(shape_of(config), why);
  if (!why.empty()) return no_messages;
  ggas_messages m = messages_of(config, blocks, 0);
  auto at = userlib::allocate_zeroed(cluster_, memory_, bytes_of(m), call, why);
  if (!at) {
    ranks_.free(blocks);
    return no_messages;
  }
  m.place = at->offset + handle_bytes;
  kept_[m.place] = {blocks, std::move(at->kept)};
  return m;
}

std::string message_space::free(const ggas_messages& m) {
  const auto at = kept_.find(m.place);
  if (at == kept_.end())
    return "free of messages at offset " + std::to_string(m.place) + ": not made here, or freed before";
  if (used_ == m.place)
    if (std::string why = point_kernels_at(0); !why.empty()) return why;
  ranks_.free(at->second.blocks);
  kept_.erase(at);
  return memory_.free(m.place - handle_bytes);
}

std::string message_space::use(const ggas_messages& m) {
  if (!kept_.contains(m.place))
    return "use of messages at offset " + std::to_string(m.place) + ": not made here, or freed before";
  for (const int node : cluster_.local_nodes()) {
    if (auto ok = cluster_.write(node, m.place - handle_bytes, &m, sizeof m); !ok) return ok.error().text;
  }
  return point_kernels_at(m.place);
}

// On all nodes, or, if a write fails, as before on all of them.
std::string message_space::point_kernels_at(uint64_t place) {
  const auto write = [&](int node, uint64_t to) {
    const uint64_t at = to == 0 ? 0 : to - handle_bytes;
    return cluster_.write(node, layout::messages, &at, sizeof at);
  };
  for (const int node : cluster_.local_nodes()) {
    auto ok = write(node, place);
    if (ok) continue;
    for (const int written : cluster_.local_nodes()) {  // a write that failed may have written, too
      static_cast<void>(write(written, used_));
      if (written == node) break;
    }
    return ok.error().text;
  }
  used_ = place;
  return {};
}

}  // namespace ggas
