// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/shm/gpus.hpp"

#include <cstring>

#include "userlib/libggas/shm/shm.hpp"

namespace ggas::library::shm {

namespace {

ggas_rc reported(const std::string& text) { return text.empty() ? GGAS_OK : fail(GGAS_ERR_SYSTEM, "GPU: ", text); }

ggas_rc not_open() { return fail(GGAS_ERR_STATE, "GPU: ggas_gpu_open() has not been called"); }

}  // namespace

// While the arenas are still there.
shm_gpus::~shm_gpus() {
  for (const auto& [where, slots] : reached_) device()->forget(slots.host);
}

ggas_rc shm_gpus::open(const job& j, const char* module, int number, uint64_t bytes, uint64_t kept) {
  const std::lock_guard held(lock_);
  if (device()) return fail(GGAS_ERR_STATE, "GPU: it is open already");
  std::string why;
  std::unique_ptr<gpu::device> made(gpu::load(module, number, j.rank, why));
  if (!made) return reported(why);
  const limit until = limit::after(j.timeout_ns).begin();
  if (why = made->map(j, bytes); !why.empty()) return until.passed() ? fail(GGAS_TIMEOUT, "GPU: ", why) : reported(why);
  bytes_ = bytes;
  kept_ = kept;
  room_.add(room_.up(kept), bytes);
  owned_ = std::move(made);
  device_.store(owned_.get(), std::memory_order_release);
  return GGAS_OK;
}

std::byte* shm_gpus::at(unsigned rank, uint64_t offset, uint64_t bytes) const {
  const gpu::device* const d = device_.load(std::memory_order_acquire);
  if (!d || offset > bytes_ || bytes > bytes_ - offset) return nullptr;
  return d->window() + rank * d->stride() + offset;
}

ggas_rc shm_gpus::segment_open(unsigned segment, uint64_t bytes, void* bound) {
  if (!device()) return not_open();
  if (bound) {
    if (!device()->is_gpu_memory(bound))
      return fail(GGAS_ERR_ARGUMENT, "memory: is not of a GPU (ggas_segment_bind() is for memory of the host)");
    const ggas_rc rc = t_.enter(segment, {memory::user_on_gpu, 0, bound, bytes});
    if (rc != GGAS_OK) return rc;
    const std::lock_guard held(lock_);
    of_user_[reinterpret_cast<uint64_t>(bound)] = bytes;
    users_.store(of_user_.size());
    return rc;
  }
  const auto offset = room_.take(bytes);
  if (!offset) return fail(GGAS_ERR_MEMORY, "segment ", segment, ": the GPU has no room for ", bytes, " bytes");
  std::byte* const start = at(t_.rank(), *offset, bytes);
  ggas_rc rc = reported(device()->zero(start, bytes));
  if (rc == GGAS_OK) rc = t_.enter(segment, {memory::gpu, *offset, start, bytes});
  if (rc != GGAS_OK) room_.give(*offset, bytes);
  return rc;
}

void shm_gpus::segment_closed(bool of_user, uint64_t offset, uint64_t address, uint64_t bytes) {
  if (!of_user) return room_.give(offset, bytes);
  const std::lock_guard held(lock_);
  of_user_.erase(address);
  users_.store(of_user_.size());
}

ggas_rc shm_gpus::segment_place(unsigned segment, unsigned rank, uint64_t& offset) {
  shm_transport::view v;
  if (ggas_rc rc = t_.look(rank, segment, v); rc != GGAS_OK) return rc;
  if (v.made_of != memory::gpu)
    return fail(GGAS_ERR_SEGMENT, "segment ", segment, " of rank ", rank, ": was not allocated on a GPU");
  offset = v.offset;
  return GGAS_OK;
}

ggas_rc shm_gpus::segment_slots(unsigned segment, unsigned rank, uint32_t*& slots) {
  if (!device()) return not_open();
  shm_transport::view v;
  if (ggas_rc rc = t_.look(rank, segment, v); rc != GGAS_OK) return rc;
  const std::lock_guard held(lock_);
  const auto found = reached_.find({rank, segment});
  if (found != reached_.end() && found->second.generation != v.generation) {
    device()->forget(found->second.host);
    reached_.erase(found);
  }
  auto& r = reached_[{rank, segment}];
  if (!r.there) {
    r = {v.generation, t_.of(rank).memory.at(v.slots), nullptr};
    if (ggas_rc rc = reported(device()->reach(r.host, GGAS_NOTIFICATIONS * sizeof(slot), r.there)); rc != GGAS_OK) {
      reached_.erase({rank, segment});
      return rc;
    }
  }
  slots = static_cast<uint32_t*>(r.there);
  return GGAS_OK;
}

ggas_rc shm_gpus::write_staged(const place& to, const void* from, uint64_t bytes, unsigned queue, uint64_t chunk,
                               limit until) {
  if (!device()) return not_open();
  shm_transport::view v;
  if (ggas_rc rc = t_.look(to, bytes, v); rc != GGAS_OK) return rc;
  if (!v.start) return t_.write(to, from, bytes, queue, until);  // by the owner's helper, which stages anyhow
  return t_.posted(queue, to.rank, reported(device()->copy_staged(v.start + to.offset, from, bytes, chunk)));
}

bool shm_gpus::holds(const void* at) const {
  const gpu::device* const d = device_.load(std::memory_order_acquire);
  if (!d) return false;
  const auto a = reinterpret_cast<uint64_t>(at), begin = reinterpret_cast<uint64_t>(d->window());
  if (a >= begin && a - begin < t_.size() * d->stride()) return true;
  if (users_.load() == 0) return false;
  const std::lock_guard held(lock_);
  const auto behind = of_user_.upper_bound(a);
  return behind != of_user_.begin() && a - std::prev(behind)->first < std::prev(behind)->second;
}

ggas_rc shm_gpus::move(void* to, const void* from, uint64_t bytes) {
  if (device() && (holds(to) || holds(from))) return reported(device()->copy(to, from, bytes));
  copy_bytes(to, from, bytes);
  return GGAS_OK;
}

ggas_rc shm_gpus::fetch_add(void* word, uint64_t add, uint64_t& old) {
  if (holds(word)) return reported(device()->fetch_add(word, add, old));
  old = std::atomic_ref(*static_cast<uint64_t*>(word)).fetch_add(add);
  return GGAS_OK;
}

ggas_rc shm_gpus::compare_swap(void* word, uint64_t expected, uint64_t desired, uint64_t& old) {
  if (holds(word)) return reported(device()->compare_swap(word, expected, desired, old));
  old = expected;
  std::atomic_ref(*static_cast<uint64_t*>(word)).compare_exchange_strong(old, desired);
  return GGAS_OK;
}

}  // namespace ggas::library::shm
