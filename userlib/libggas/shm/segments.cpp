// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/shm/shm.hpp"

namespace ggas::library::shm {

namespace {
constexpr uint64_t slots_bytes = GGAS_NOTIFICATIONS * sizeof(slot);
}

ggas_rc shm_transport::segment_open(unsigned segment, uint64_t bytes, void* bound) {
  if (bound) return enter(segment, {memory::user, 0, bound, bytes});
  const uint64_t offset = own_.take(bytes);
  if (offset == 0)
    return fail(GGAS_ERR_MEMORY, "segment ", segment, ": there is not enough room for ", bytes, " bytes");
  const ggas_rc rc = enter(segment, {memory::arena, offset, peers_[rank_].memory.at(offset), bytes});
  if (rc != GGAS_OK) own_.give(offset, bytes);
  return rc;
}

ggas_rc shm_transport::segment_open(unsigned segment, const buffer& b) {
  return enter(segment, {memory::mapped, 0, b.at, b.bytes});
}

ggas_rc shm_transport::enter(unsigned segment, const source& from) {
  const std::lock_guard held(segments_);
  segment_entry& e = peers_[rank_].head().segments[segment];
  if (e.generation.load() % 2 == 1) return fail(GGAS_ERR_STATE, "segment ", segment, " is there already");
  const uint64_t slots = own_.take(slots_bytes);
  if (slots == 0) return fail(GGAS_ERR_MEMORY, "segment ", segment, ": there is no room for its notifications");
  if (of_user(from.made_of) && !helper_.joinable()) helper_ = std::thread([this] { help(); });
  for (auto& word : e.permitted) word.store(0);
  e.made_of.store(from.made_of);
  e.offset.store(from.offset);
  e.address.store(reinterpret_cast<uint64_t>(from.address));
  e.bytes.store(from.bytes);
  e.slots.store(slots);
  e.generation.fetch_add(1);
  return GGAS_OK;
}

ggas_rc shm_transport::segment_close(unsigned segment) {
  const std::lock_guard held(segments_);
  segment_entry& e = peers_[rank_].head().segments[segment];
  if (e.generation.load() % 2 == 0) return fail(GGAS_ERR_SEGMENT, "segment ", segment, ": does not exist");
  e.generation.fetch_add(1);
  const memory was = e.made_of.load();
  if (was == memory::arena) own_.give(e.offset.load(), e.bytes.load());
  if (on_gpu(was)) gpus_.segment_closed(of_user(was), e.offset.load(), e.address.load(), e.bytes.load());
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
  v = {e.made_of.load(), nullptr, e.offset.load(), e.address.load(), e.bytes.load(), e.slots.load(), generation};
  const bool mine = rank == rank_;
  if (generation % 2 == 0 || e.generation.load() != generation)
    return state(rank) == GGAS_STATE_LEFT
               ? expect(rank)
               : fail(GGAS_ERR_SEGMENT, "segment ", segment, " of rank ", rank, ": does not exist");
  if (!mine && !has(e.permitted, rank_))
    return fail(GGAS_ERR_SEGMENT, "segment ", segment, " of rank ", rank, ": rank ", rank_, " may not reach it");
  const uint64_t end = p.memory.bytes();
  const auto in_room = [&](uint64_t offset) { return offset >= room_begins_ && offset % page == 0; };
  bool whole = in_room(v.slots) && v.slots <= end - slots_bytes && v.offset % page == 0;
  if (v.made_of == memory::arena &&
      (whole = whole && in_room(v.offset) && v.offset <= end && v.bytes <= end - v.offset))
    v.start = p.memory.at(v.offset);
  else if (v.made_of == memory::gpu)
    whole = (v.start = gpus_.at(rank, v.offset, v.bytes)) != nullptr && whole;
  else if (of_user(v.made_of) && mine)
    v.start = reinterpret_cast<std::byte*>(v.address);
  if (whole && v.made_of <= memory::mapped) return GGAS_OK;
  return fail(GGAS_ERR_SEGMENT, "segment ", segment, " of rank ", rank, ": its entry is damaged");
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
