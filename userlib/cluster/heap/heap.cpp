// SPDX-License-Identifier: Apache-2.0
#include "ggas/heap.hpp"

#include <algorithm>
#include <iterator>

#include "ggas/cluster.hpp"

namespace ggas {

namespace {

constexpr uint64_t page = 4096;  // segments are a multiple of it

bool power_of_two(uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }
uint64_t round_up(uint64_t v, uint64_t to) { return (v + to - 1) / to * to; }
std::string number(uint64_t v) { return std::to_string(v); }

}  // namespace

heap::heap(heap_config cfg, std::shared_ptr<void> kept) : cfg_(std::move(cfg)), kept_(std::move(kept)) {
  if (cfg_.begin < cfg_.end) add_free(cfg_.begin, cfg_.end - cfg_.begin);
}

std::unique_ptr<heap> heap::create(heap_config cfg, std::string& why) {
  const std::string range = number(cfg.begin) + " ... " + number(cfg.end);
  why = cfg.same ? cfg.same("heap of " + range + ", at most to " + number(cfg.most_end)) : "";
  if (!why.empty()) return nullptr;
  constexpr uint64_t most = uint64_t{1} << 56;
  if (cfg.begin > most || cfg.end > most || cfg.most_end > most)
    why = "heap of " + range + ": must end at 2^56 or before";
  else if (round_up(cfg.begin, unit) >= cfg.end / unit * unit)
    why = "heap of " + range + ": has no " + number(unit) + " bytes at a multiple of " + number(unit);
  else if (cfg.most_end != 0 && (cfg.most_end < cfg.end || !cfg.grow))
    why =
        "heap that grows to " + number(cfg.most_end) + ": must be " + number(cfg.end) + " or more, with a way to grow";
  if (!why.empty()) return nullptr;
  cfg.begin = round_up(cfg.begin, unit);
  cfg.end = cfg.end / unit * unit;
  std::shared_ptr<void> kept;
  if (cfg.keep) {
    kept = cfg.keep(cfg.begin, std::max(cfg.end, cfg.most_end), why);
    if (!kept) return nullptr;
  }
  return std::unique_ptr<heap>(new heap(std::move(cfg), std::move(kept)));
}

std::string heap::agree(const std::string& call) {
  ++calls_;
  return cfg_.same ? cfg_.same("call " + number(calls_) + " of the heap, " + call) : "";
}

std::optional<uint64_t> heap::allocate(uint64_t bytes, std::string& why, uint64_t alignment) {
  const std::string call = "allocate(" + number(bytes) + " bytes, alignment " + number(alignment) + ")";
  why = agree(call);
  if (!why.empty()) return std::nullopt;
  if (bytes == 0) why = call + ": must be 1 byte or more";
  if (!power_of_two(alignment)) why = call + ": the alignment must be a power of two";
  if (!why.empty()) return std::nullopt;
  alignment = std::max(alignment, unit);
  const uint64_t rounded = bytes > ~uint64_t{0} - unit ? bytes / unit * unit : round_up(bytes, unit);
  auto at = take(rounded, alignment);
  if (!at) {
    why = extend(rounded, alignment);
    if (why.empty()) at = take(rounded, alignment);
    if (!at) why = exhausted(bytes, alignment) + (why.empty() ? "" : "; " + why);
  }
  return at;
}

std::string heap::exhausted(uint64_t bytes, uint64_t alignment) const {
  const heap_statistics s = statistics();
  std::string text = "heap: no room for " + number(bytes) + " bytes, alignment " + number(alignment) + ": of " +
                     number(s.bytes) + " bytes " + number(s.bytes - s.used) + " are free, at most " +
                     number(s.largest_free) + " in one piece; ends at " + number(cfg_.end);
  return text + (cfg_.most_end > cfg_.end ? ", may grow to " + number(cfg_.most_end) : ", does not grow");
}

// Longer segments, so that `bytes` fit after what is there. Free bytes at the end count.
std::string heap::extend(uint64_t bytes, uint64_t alignment) {
  if (cfg_.most_end <= cfg_.end) return {};
  uint64_t from = cfg_.end;
  if (!free_.empty() && std::prev(free_.end())->first + std::prev(free_.end())->second == cfg_.end)
    from = std::prev(free_.end())->first;
  const uint64_t start = round_up(from, alignment);
  if (start > cfg_.most_end || bytes > cfg_.most_end - start) return {};
  const uint64_t least = round_up(start + bytes, page);
  const uint64_t wanted = std::max(least, round_up(cfg_.end + (cfg_.end - cfg_.begin) / 4, page));
  const uint64_t end = std::max(std::min(wanted, cfg_.most_end / page * page), cfg_.end);
  if (end < start + bytes) return {};
  if (std::string wrong = cfg_.grow(end); !wrong.empty()) return wrong;
  const uint64_t old = std::exchange(cfg_.end, end);
  give_back(old, end - old);
  ++grown_;
  return {};
}

// The smallest free block that has room. Blocks begin at multiples of the unit: more alignment may not fit.
std::optional<uint64_t> heap::take(uint64_t bytes, uint64_t alignment) {
  for (auto i = free_by_size_.lower_bound({bytes, 0}); i != free_by_size_.end(); ++i) {
    const auto [size, offset] = *i;
    const uint64_t at = round_up(offset, alignment), skipped = at - offset;
    if (skipped > size || bytes > size - skipped) continue;
    drop_free(free_.find(offset));
    if (skipped != 0) add_free(offset, skipped);
    if (size - skipped != bytes) add_free(at + bytes, size - skipped - bytes);
    used_.emplace(at, bytes);
    used_bytes_ += bytes;
    peak_ = std::max(peak_, used_bytes_);
    return at;
  }
  return std::nullopt;
}

std::string heap::free(uint64_t offset) {
  const std::string call = "free(offset " + number(offset) + ")";
  if (std::string wrong = agree(call); !wrong.empty()) return wrong;
  const auto block = used_.find(offset);
  if (block == used_.end()) return "heap: " + call + ": no allocated block begins there";
  const uint64_t bytes = block->second;
  if (cfg_.freed) cfg_.freed(offset, bytes);
  used_.erase(block);
  used_bytes_ -= bytes;
  give_back(offset, bytes);
  return {};
}

// Becomes one with free neighbours.
void heap::give_back(uint64_t offset, uint64_t bytes) {
  const auto next = free_.lower_bound(offset);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      drop_free(before);
    }
  }
  if (next != free_.end() && offset + bytes == next->first) {
    bytes += next->second;
    drop_free(next);
  }
  add_free(offset, bytes);
}

void heap::add_free(uint64_t offset, uint64_t bytes) {
  free_.emplace(offset, bytes);
  free_by_size_.emplace(bytes, offset);
}
void heap::drop_free(std::map<uint64_t, uint64_t>::iterator block) {
  free_by_size_.erase({block->second, block->first});
  free_.erase(block);
}

heap_statistics heap::statistics() const {
  return {.bytes = cfg_.end - cfg_.begin,
          .used = used_bytes_,
          .peak = peak_,
          .largest_free = free_by_size_.empty() ? 0 : free_by_size_.rbegin()->first,
          .allocations = used_.size(),
          .free_blocks = free_.size(),
          .calls = calls_,
          .grown = grown_};
}

heap_config heap_of(cluster& c, uint64_t by_hand) {
  const context& seen = c.device_context(c.local_nodes()[0]);
  heap_config cfg{seen.reserved + by_hand, seen.segment_bytes, c.config().most_segment_bytes};
  cfg.keep = [&c](uint64_t begin, uint64_t end, std::string& why) { return c.keep_for_heap(begin, end, why); };
  cfg.freed = [&c](uint64_t offset, uint64_t bytes) {
    for (const int node : c.local_nodes()) c.tell_freed(node, c.segment(node) + offset, bytes);
  };
  if (cfg.most_end) cfg.grow = [&c](uint64_t end) { return text_of(c.grow(end)); };
  if (c.local_nodes().size() < static_cast<size_t>(c.nodes()))
    cfg.same = [&c](const std::string& call) { return text_of(c.same(call)); };
  return cfg;
}

heap_config host_heap_of(cluster& c, int node, uint64_t by_hand) {
  heap_config cfg{by_hand, c.host_memory(node).bytes};
  cfg.keep = [&c, node](uint64_t begin, uint64_t end, std::string& why) {
    return c.keep_for_host_heap(node, begin, end, why);
  };
  cfg.freed = [&c, node](uint64_t offset, uint64_t bytes) {
    c.tell_freed(node, c.host_memory(node).base + offset, bytes);
  };
  return cfg;
}

}  // namespace ggas
