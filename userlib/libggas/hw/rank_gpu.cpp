// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/hw/rank_gpu.hpp"

namespace ggas::library::hw {

// The NIC forgets the memory before the GPU frees it.
rank_gpu::~rank_gpu() {
  if (all_.start) nic_.give(all_);
}

ggas_rc rank_gpu::reported(const std::string& text) {
  return text.empty() ? GGAS_OK : fail(GGAS_ERR_SYSTEM, "GPU: ", text);
}

ggas_rc rank_gpu::open(who w, const char* module, int number, uint64_t bytes, uint64_t kept,
                       nic::access::gpu_memory& m) {
  std::string why;
  std::unique_ptr<gpu::device> made(gpu::load(module, number, int(w.rank), why));
  if (!made) return reported(why);
  userlib::file memory;
  if (why = made->map_own(w.rank, w.size, bytes, memory); !why.empty()) return reported(why);
  std::byte* const own = made->window() + w.rank * made->stride();
  bool elsewhere = false;
  if (ggas_rc rc = nic_.take({memory.fd(), 0, bytes, own}, all_, elsewhere); rc != GGAS_OK) return rc;
  room_.add(room_.up(kept), bytes);
  gpu_ = std::move(made);
  m = {gpu_->window(), gpu_->stride(), all_.nla, gpu_->number()};
  return GGAS_OK;
}

ggas_rc rank_gpu::take(uint64_t bytes, nic::memory& m) {
  const auto offset = room_.take(bytes);
  if (!offset) return fail(GGAS_ERR_MEMORY, "the GPU has no room for ", bytes, " bytes");
  m = {all_.start + *offset, all_.nla + *offset, bytes};
  const ggas_rc rc = reported(gpu_->zero(m.start, bytes));
  if (rc != GGAS_OK) room_.give(*offset, bytes);
  return rc;
}

bool rank_gpu::give(const nic::memory& m) {
  if (!holds(m.start)) return false;
  room_.give(uint64_t(m.start - all_.start), m.bytes);
  return true;
}

bool rank_gpu::holds(const void* at) const {
  const auto a = reinterpret_cast<uintptr_t>(at), begin = reinterpret_cast<uintptr_t>(all_.start);
  return gpu_ && a >= begin && a - begin < all_.bytes;
}

ggas_rc rank_gpu::copy(void* to, const void* from, uint64_t bytes) { return reported(gpu_->copy(to, from, bytes)); }

}  // namespace ggas::library::hw
