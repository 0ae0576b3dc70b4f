// SPDX-License-Identifier: Apache-2.0
// Segments on the GPU of the rank's node. Its NIC reads and writes their memory itself (direct); or the GPU copies
// chunks to memory of the host, from where the NIC reads them (staged).
#include <algorithm>
#include <cstring>

#include "userlib/libggas/nic/nic.hpp"

namespace ggas::library::nic {

namespace {

constexpr uint64_t stage_bytes = 1 << 20;  // of copies to memory that the NIC does not reach

ggas_rc not_open() { return fail(GGAS_ERR_STATE, "GPU: ggas_gpu_open() has not been called"); }

}  // namespace

ggas_rc nic_gpus::open(const job&, const char* module, int number, uint64_t bytes, uint64_t kept) {
  const turn mine(t_.threads());
  if (memory_.window) return fail(GGAS_ERR_STATE, "GPU: it is open already");
  if (ggas_rc rc = t_.device().open_gpu(module, number, bytes, kept, memory_); rc != GGAS_OK) return rc;
  bytes_ = bytes;
  kept_ = kept;
  return GGAS_OK;
}

bool nic_gpus::holds(const void* at) const { return memory_.window && t_.device().on_gpu(at); }

ggas_rc nic_gpus::segment_open(unsigned segment, uint64_t bytes, void* bound) {
  const turn mine(t_.threads());
  if (!memory_.window) return not_open();
  memory data{static_cast<std::byte*>(bound), 0, bytes};
  if (!bound) {
    if (ggas_rc rc = t_.device().take_gpu(bytes, data); rc != GGAS_OK) return rc;
  } else {
    if (!holds(bound) || !t_.device().reaches(bound, bytes))
      return fail(GGAS_ERR_ARGUMENT, "memory: is not of a GPU (ggas_segment_bind() is for memory of the host)");
    data.nla = t_.device().nla_of(bound, bytes);
  }
  const ggas_rc rc = t_.enter(segment, data, bound != nullptr);
  if (rc != GGAS_OK && !bound) t_.device().give(data);
  return rc;
}

ggas_rc nic_gpus::segment_place(unsigned segment, unsigned rank, uint64_t& offset) {
  const turn mine(t_.threads());
  nic_transport::view v;
  if (ggas_rc rc = t_.look(rank, segment, v); rc != GGAS_OK) return rc;
  if (!memory_.window || !v.on_gpu)
    return fail(GGAS_ERR_SEGMENT, "segment ", segment, " of rank ", rank, ": was not allocated on a GPU");
  offset = *v.on_gpu;
  return GGAS_OK;
}

ggas_rc nic_gpus::segment_slots(unsigned segment, unsigned rank, uint32_t*& slots) {
  const turn mine(t_.threads());
  if (!memory_.window) return not_open();
  nic_transport::view v;
  if (ggas_rc rc = t_.look(rank, segment, v); rc != GGAS_OK) return rc;
  if (rank != t_.rank())
    return fail(GGAS_ERR_SEGMENT, "segment ", segment, " of rank ", rank,
                ": its slots lie in memory of another node, which kernels here do not reach");
  slots = reinterpret_cast<uint32_t*>(t_.slots_of(segment));
  return GGAS_OK;
}

// Memory of the host for two pieces.
ggas_rc nic_gpus::stages(std::byte*& first, uint64_t each) {
  if (stages_.bytes < 2 * each) {
    if (stages_.start) t_.device().give(stages_);
    stages_ = {};
    if (ggas_rc rc = t_.device().take(2 * each, nullptr, stages_); rc != GGAS_OK) return rc;
  }
  first = stages_.start;
  return GGAS_OK;
}

// While the NIC sends a chunk the GPU copies the next one. One lies still before it is copied to again.
ggas_rc nic_gpus::write_staged(const place& to, const void* from, uint64_t bytes, unsigned queue, uint64_t chunk,
                               limit until) {
  if (!memory_.window) return not_open();
  if (to.rank == t_.rank() || !holds(from)) return t_.write(to, from, bytes, queue, until);
  const turn mine(t_.threads());
  access& device = t_.device();
  device.call();
  nic_transport::view v;
  std::byte* stage = nullptr;
  const auto* const source = static_cast<const std::byte*>(from);
  chunk = std::min(chunk, bytes);
  ggas_rc rc = t_.look(to, bytes, v);
  if (rc == GGAS_OK) rc = t_.begin_write(queue, to.rank);
  if (rc == GGAS_OK) rc = stages(stage, chunk);
  if (rc == GGAS_OK) rc = device.begin_copy(stage, source, chunk);
  for (uint64_t at = 0, turn = 0; rc == GGAS_OK && at < bytes; at += chunk, turn ^= 1) {
    const uint64_t n = std::min(chunk, bytes - at), next = at + n;
    device.end_copy();
    std::byte* const here = stage + turn * chunk;
    // What was sent from the other stage has left it when all before it has arrived.
    rc = t_.settle_queue(queue);
    if (rc == GGAS_OK && next < bytes)
      rc = device.begin_copy(stage + (turn ^ 1) * chunk, source + next, std::min(chunk, bytes - next));
    if (rc == GGAS_OK) t_.post_puts(to.rank, v.nla + to.offset + at, device.nla_of(here, n), n, queue);
  }
  return rc == GGAS_OK ? t_.settle_queue(queue) : rc;  // the stages are the next one's
}

// A flag in memory of the host does not wait for earlier data in flight to the GPU. A read by the same NIC does wait
// for them, because it passes no write.
ggas_rc nic_gpus::land() {
  if (!memory_.window) return GGAS_OK;
  t_.post(control_context, ggas_rma_get(t_.device().peer(t_.rank()), memory_.nla,
                                        t_.control_of(t_.rank()) + control_layout::landed(), 8, 0, t_.rank()));
  return t_.settle(control_context);
}

// ---------------------------------------------------------------------------------------------- copies

ggas_rc nic_gpus::one_copy(void* to, const void* from, uint64_t bytes) {
  const ggas_rc rc = t_.device().begin_copy(to, from, bytes);
  if (rc == GGAS_OK) t_.device().end_copy();
  return rc;
}

ggas_rc nic_gpus::move(void* to, const void* from, uint64_t bytes) {
  const bool to_gpu = holds(to), from_gpu = holds(from);
  access& device = t_.device();
  if (!to_gpu && !from_gpu) {
    std::memmove(to, from, bytes);
    return GGAS_OK;
  }
  if (device.reaches(to, bytes) && device.reaches(from, bytes)) return one_copy(to, from, bytes);
  std::byte* stage = nullptr;
  ggas_rc rc = stages(stage, std::min(bytes, stage_bytes));
  for (uint64_t at = 0; rc == GGAS_OK && at < bytes; at += stage_bytes) {
    const uint64_t n = std::min(bytes - at, stage_bytes);
    auto* const there = static_cast<std::byte*>(to) + at;
    const auto* const here = static_cast<const std::byte*>(from) + at;
    if (!from_gpu) std::memcpy(stage, here, n);
    rc = from_gpu ? one_copy(stage, here, n) : one_copy(there, stage, n);
    if (rc == GGAS_OK && from_gpu) std::memcpy(there, stage, n);
  }
  return rc;
}

gpu::own_gpu::text nic_gpus::copy(void* to, const void* from, uint64_t bytes) {
  const turn mine(t_.threads());
  return move(to, from, bytes) == GGAS_OK ? "" : last_text();
}

}  // namespace ggas::library::nic
