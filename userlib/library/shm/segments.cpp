// SPDX-License-Identifier: Apache-2.0
#include "userlib/library/shm/shm.hpp"

namespace ggas::library::shm {

namespace {
constexpr uint64_t slots_bytes = GGAS_NOTIFICATIONS * sizeof(slot);
}

ggas_rc shm_transport::segment_open(unsigned segment, uint64_t bytes, void* bound) {
  const std::lock_guard held(segments_);
  const arena& here = peers_[rank_].memory;
  segment_entry& e = here.head().segments[segment];
  if (e.generation.load() % 2 == 1) return fail(GGAS_ERR_STATE, "segment ", segment, " is there already");
  const uint64_t memory = bound ? 0 : own_.take(bytes);
  const uint64_t slots = bound || memory ? own_.take(slots_bytes) : 0;
  if (slots == 0) {
    if (memory) own_.give(memory, bytes);
    return fail(GGAS_ERR_MEMORY, "segment ", segment, ": there is no room for ", bytes, " bytes");
  }
  if (bound && !helper_.joinable()) helper_ = std::thread([this] { help(); });
  for (auto& word : e.permitted) word.store(0);
  e.offset.store(memory);
  e.address.store(reinterpret_cast<uint64_t>(bound ? bound : here.at(memory)));
  e.bytes.store(bytes);
  e.slots.store(slots);
  e.generation.fetch_add(1);
  return GGAS_OK;
}

ggas_rc shm_transport::segment_close(unsigned segment) {
  const std::lock_guard held(segments_);
  segment_entry& e = peers_[rank_].head().segments[segment];
  if (e.generation.load() % 2 == 0) return fail(GGAS_ERR_SEGMENT, "segment ", segment, ": is not there");
  e.generation.fetch_add(1);
  if (e.offset.load()) own_.give(e.offset.load(), e.bytes.load());
  own_.give(e.slots.load(), slots_bytes);
  return GGAS_OK;
}

ggas_rc shm_transport::segment_permit(unsigned segment, unsigned rank) {
  view v;
  if (ggas_rc rc = look(rank_, segment, v); rc != GGAS_OK) return rc;
  insert(peers_[rank_].head().segments[segment].permitted, rank);
  return GGAS_OK;
}

ggas_rc shm_transport::look(unsigned rank, unsigned segment, view& v) {
  const peer& p = peers_[rank];
  const segment_entry& e = p.head().segments[segment];
  const uint64_t generation = e.generation.load();
  const uint64_t offset = e.offset.load();
  v = {nullptr, e.address.load(), e.bytes.load(), e.slots.load()};
  const bool mine = rank == rank_;
  if (generation % 2 == 0 || e.generation.load() != generation)
    return fail(GGAS_ERR_SEGMENT, "segment ", segment, " of rank ", rank, ": is not there");
  if (!mine && !has(e.permitted, rank_))
    return fail(GGAS_ERR_SEGMENT, "segment ", segment, " of rank ", rank, ": rank ", rank_, " may not reach it");
  const uint64_t end = p.memory.bytes();
  if (offset > end || (offset && v.bytes > end - offset) || v.slots > end - slots_bytes)
    return fail(GGAS_ERR_SEGMENT, "segment ", segment, " of rank ", rank, ": its entry is damaged");
  if (offset)
    v.start = p.memory.at(offset);
  else if (mine)
    v.start = reinterpret_cast<std::byte*>(v.address);
  return GGAS_OK;
}

ggas_rc shm_transport::look(const place& p, uint64_t bytes, view& v) {
  if (ggas_rc rc = look(p.rank, p.segment, v); rc != GGAS_OK) return rc;
  if (p.offset <= v.bytes && bytes <= v.bytes - p.offset) return GGAS_OK;
  return fail(GGAS_ERR_RANGE, "segment ", p.segment, " of rank ", p.rank, ": offset ", p.offset, " + ", bytes,
              " is behind its ", v.bytes, " bytes");
}

ggas_rc shm_transport::segment_here(unsigned segment, uint64_t offset, uint64_t bytes, std::byte*& start) {
  view v;
  if (ggas_rc rc = look({rank_, segment, offset}, bytes, v); rc != GGAS_OK) return rc;
  start = v.start + offset;
  return GGAS_OK;
}

ggas_rc shm_transport::segment_bytes(unsigned segment, unsigned rank, uint64_t& bytes) {
  view v;
  if (ggas_rc rc = look(rank, segment, v); rc != GGAS_OK) return rc;
  bytes = v.bytes;
  return GGAS_OK;
}

}  // namespace ggas::library::shm
