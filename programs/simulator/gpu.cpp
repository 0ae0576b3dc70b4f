// SPDX-License-Identifier: Apache-2.0
#include "programs/simulator/gpu.hpp"

#include <utility>

namespace ggas::simulator {

std::unique_ptr<node_gpu> node_gpu::make(const sim::endpoint_slot& slot, const gpu::gpu_config& cfg,
                                         std::span<std::byte> memory, std::span<std::byte> host) {
  const auto maker = gpu::find_model(cfg.model);
  if (!maker) return nullptr;
  const gpu::surroundings s{.node = slot.node,
                            .bus_id = slot.id,
                            .port = slot.plat.pcie.gpu.device,
                            .context = nullptr,
                            .own = {{memory.data(), memory.size(), slot.bar_base, memory.size()}},
                            .apertures = {{host.data(), host.size(), sim::pinned_base}},
                            .forbidden = {},
                            .flush_address = slot.host_address,
                            .host_memory_bytes = slot.plat.host.memory_bytes,
                            .mps = slot.mps,
                            .mrrs = slot.mrrs,
                            .on_idle = [&k = slot.sim] { k.stop(); }};
  auto made = std::make_unique<node_gpu>();
  made->cfg_ = cfg;
  made->gpu_ = (*maker)(cfg, s);
  return made;
}

bool node_gpu::copy(void* to, const void* from, uint64_t bytes, std::shared_ptr<gpu::mark> done) {
  if (!gpu_->copy(to, from, bytes, 0)) return false;
  gpu_->record(std::move(done), 0);
  gpu_->start(0);
  return true;
}

}  // namespace ggas::simulator
