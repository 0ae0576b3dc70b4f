// SPDX-License-Identifier: Apache-2.0
#include "ggas/committed_types.hpp"

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include "ggas/cluster.hpp"
#include "gpu_api/types/encode.hpp"

namespace ggas {

namespace {

// Distinguishes spaces of a process, and is the same in all processes of a job: they make them in the same order.
uint64_t next_space() {
  static std::atomic<uint64_t> spaces{0};
  uint64_t v = (++spaces) * 0x9e3779b97f4a7c15;
  v = (v ^ (v >> 32)) * 0xd6e8feb86659fd93;
  return v | 1;
}

// What is committed in this process, for calls of the host: those have no image to look at.
struct live_types {
  struct space {
    const cluster* of;
    std::set<uint64_t> generations;
  };
  std::mutex guard;
  std::map<uint64_t, space> spaces;

  static live_types& all() {
    static live_types* const one = new live_types;  // outlives every space, static ones too
    return *one;
  }
};

constexpr uint64_t header_words = detail::image_header_bytes / 8;

}  // namespace

type_space::type_space(heap& memory, segment_writer write)
    : memory_(memory), write_(std::move(write)), space_(next_space()) {
  live_types& live = live_types::all();
  const std::lock_guard lock(live.guard);
  live.spaces[space_] = {write_.of, {}};
}

type_space::~type_space() {
  while (!images_.empty()) {
    ggas_type h;
    h.space = space_;
    h.generation = images_.begin()->first;
    if (!free(h).empty()) images_.erase(h.generation);
  }
  live_types& live = live_types::all();
  const std::lock_guard lock(live.guard);
  live.spaces.erase(space_);
}

ggas_type type_space::commit(const datatype& t, std::string& why, type_form form) {
  if (!t.good()) {
    why = "commit: " + t.error();
    return {};
  }
  type_image made = image_of(t, form);
  const auto at = memory_.allocate((header_words + made.words.size()) * 8, why);
  if (!at) {
    why = "commit: " + why;
    return {};
  }
  made.words.insert(made.words.begin(), {space_, generation_ + 1});
  why = write_.write(*at, made.words.data(), made.words.size() * 8);
  if (!why.empty()) {
    memory_.free(*at);
    return {};
  }
  ++uploads_;
  images_[++generation_] = *at;
  made.handle.space = space_;
  made.handle.generation = generation_;
  live_types& live = live_types::all();
  const std::lock_guard lock(live.guard);
  live.spaces[space_].generations.insert(generation_);
  made.handle.image = *at;
  return made.handle;
}

std::string type_space::free(const ggas_type& handle) {
  const auto image = images_.find(handle.generation);
  if (handle.space != space_ || image == images_.end())
    return handle.space == 0 ? "free: a datatype that was not committed"
                             : "free: a datatype that was freed before, or is another cluster's";
  const uint64_t nobody[header_words] = {}, at = image->second;
  if (std::string wrong = write_.write(at, nobody, sizeof nobody); !wrong.empty()) return wrong;
  images_.erase(image);
  {
    live_types& live = live_types::all();
    const std::lock_guard lock(live.guard);
    live.spaces[space_].generations.erase(handle.generation);
  }
  return memory_.free(at);
}

segment_writer writer_of(cluster& c) {
  const auto write = [&c](uint64_t offset, const void* from, size_t bytes) {
    std::string wrong;
    for (const int node : c.local_nodes())
      if (wrong.empty()) wrong = text_of(c.write(node, offset, from, bytes));
    return wrong;
  };
  return {write, &c};
}

std::string type_error(const cluster& c, const ggas_type& handle) {
  if (handle.generation == 0) return "a datatype that was not committed";
  live_types& live = live_types::all();
  const std::lock_guard lock(live.guard);
  const auto space = live.spaces.find(handle.space);
  if (space == live.spaces.end() || space->second.of != &c) return "a datatype that is another cluster's";
  return space->second.generations.contains(handle.generation) ? "" : "a datatype that was freed before";
}

}  // namespace ggas
