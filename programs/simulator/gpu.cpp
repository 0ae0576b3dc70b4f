// SPDX-License-Identifier: Apache-2.0
#include "programs/simulator/gpu.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ggas::simulator {

using pcie::now_ps;

copy_engine::copy_engine(gpu::host_interface& pcie, const gpu::gpu_config& cfg, std::span<std::byte> memory,
                         unsigned mps, unsigned mrrs)
    : pcie_(pcie), cfg_(cfg), memory_(memory), mps_(mps), mrrs_(mrrs) {
  pcie_.on_room = [this, others = std::move(pcie_.on_room)] {
    if (others) others();
    if (pushes_) push();
  };
}

bool copy_engine::start(sim::agenda& agenda, const side& to, const side& from, uint64_t bytes,
                        std::function<void()> done) {
  if (busy()) return false;
  agenda_ = &agenda;
  to_ = to;
  from_ = from;
  bytes_ = bytes;
  begun_ = 0;
  done_ = std::move(done);
  phase_ = phase::called;
  agenda.at(now_ps() + cfg_.launch_ns * 1000ull, *this);
  return true;
}

void copy_engine::run() {
  if (phase_ == phase::over) {
    phase_ = phase::idle;
    return done_();
  }
  const bool within = phase_ == phase::moving;
  phase_ = phase::moving;
  if (!from_.on_gpu) return fetch();
  if (!to_.on_gpu) {
    pushes_ = true;
    return push();
  }
  // Within its memory: each byte is read and written.
  if (within) {
    std::memmove(memory_.data() + to_.at, memory_.data() + from_.at, bytes_);
    return moved();
  }
  agenda_->at(now_ps() + uint64_t(2e12 * double(bytes_) / cfg_.memory_bytes_per_second), *this);
}

// Of what is left: up to the next multiple of a size on the bus.
uint64_t copy_engine::piece(uint64_t bus, uint64_t most) const { return std::min(bytes_ - begun_, most - bus % most); }

void copy_engine::push() {
  while (begun_ < bytes_ && pcie_.room()) {
    const uint64_t bus = to_.at + begun_, n = piece(bus, mps_);
    pcie_.store(bus, memory_.subspan(from_.at + begun_, n), nullptr);
    begun_ += n;
  }
  if (begun_ < bytes_) return;  // goes on where there is room
  pushes_ = false;
  pcie_.flush([this](bool) { moved(); });
}

void copy_engine::fetch() {
  while (begun_ < bytes_ && reads_ < cfg_.outstanding_reads) {
    const uint64_t bus = from_.at + begun_, at = to_.at + begun_, n = piece(bus, mrrs_);
    begun_ += n;
    ++reads_;
    pcie_.read(bus, uint32_t(n), [this, bus, at, n](pcie::read_result&& r) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(r.dws.data()) + bus % 4;
      if (r.ok()) std::copy_n(bytes, n, memory_.begin() + ptrdiff_t(at));
      --reads_;
      if (begun_ < bytes_) return fetch();
      if (reads_ == 0) moved();
    });
  }
}

void copy_engine::moved() {
  phase_ = phase::over;
  const uint64_t until_told_ns = cfg_.sync_stream_ns > cfg_.launch_ns ? cfg_.sync_stream_ns - cfg_.launch_ns : 0;
  agenda_->at(now_ps() + until_told_ns * 1000, *this);
}

std::unique_ptr<node_gpu> node_gpu::make(const sim::endpoint_slot& slot, const gpu::gpu_config& cfg,
                                         std::span<std::byte> memory) {
  const auto maker = gpu::find_model(cfg.model);
  if (!maker) return nullptr;
  const gpu::surroundings s{.node = slot.node,
                            .bus_id = slot.id,
                            .port = slot.plat.pcie.gpu.device,
                            .context = nullptr,
                            .own = {{memory.data(), memory.size(), slot.bar_base, memory.size()}},
                            .apertures = {},
                            .forbidden = {},
                            .flush_address = slot.host_address,
                            .host_memory_bytes = slot.plat.host.memory_bytes,
                            .on_idle = [&k = slot.sim] { k.stop(); }};
  auto made = std::make_unique<node_gpu>();
  made->gpu_ = (*maker)(cfg, s);
  if (auto* const ours = dynamic_cast<gpu::gpu*>(made->gpu_.get()))
    made->copies_.emplace(ours->host, cfg, memory, slot.mps, slot.mrrs);
  return made;
}

}  // namespace ggas::simulator
