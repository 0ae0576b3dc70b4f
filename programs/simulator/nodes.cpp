// SPDX-License-Identifier: Apache-2.0
#include "programs/simulator/nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "programs/simulator/gpu.hpp"
#include "sim/platform/platform.hpp"
#include "userlib/cluster/providers/sim/rma_driver.hpp"
#include "userlib/libggas/nic/access.hpp"

namespace ggas::simulator {

namespace {

constexpr unsigned page_class = 2;  // 2 MB
constexpr uint64_t page = userlib::page_bytes_of_class(page_class);
constexpr uint64_t gpu_most = uint64_t{1} << 30;

std::expected<sim::platform, std::string> platform_of(const node_options& o) {
  return sim::load_platform(o.platform, o.settings);
}

userlib::context_plan context(unsigned c) {
  using part = userlib::context_plan::part;
  constexpr auto host = queue_config::place::host;
  const bool messages = c == library::nic::answer_context;
  return {.vpid = c,
          .notifications = {host, library::sim::notifications_at(c)},
          .status = {host, library::sim::status_at(c)},
          .work_queue = {},
          .mailbox = messages ? part{host, library::sim::mailbox_at} : part{},
          .words = {}};
}

std::expected<void, std::string> program(sim::system& s, unsigned node, const memory_sizes& bytes) {
  userlib::rma_driver driver(s, node);
  if (driver.map(sim::pinned_base, bytes.host, page_class) != address_of_memory() ||
      driver.map(sim::endpoint_base, bytes.gpu, page_class) != address_of_memory() + bytes.host)
    return std::unexpected("memory of ranks is not at the reported place");
  driver.set_tables();
  const queue_config q{.notify_log2 = library::sim::notify_log2, .mailbox_log2 = library::sim::mailbox_log2};
  for (unsigned c = 0; c < library::nic::contexts; ++c)
    driver.enable(context(c), c, q, {.gpu = 0, .host = sim::pinned_base});
  return driver.finish();
}

}  // namespace

uint64_t address_of_memory() { return uint64_t{page_class} << 46; }

std::expected<memory_sizes, std::string> memory_of_a_rank(const node_options& o) {
  if (o.nic != "model" && o.nic != "rtl")
    return std::unexpected(fmt::format("--nic {}: must be 'model' or 'rtl'", o.nic));
  const auto plat = platform_of(o);
  if (!plat) return std::unexpected(plat.error());
  const uint64_t end = std::min(plat->host.memory_bytes, sim::bar0_base);
  if (end < sim::pinned_base + 32 * page)
    return std::unexpected(fmt::format("host.memory_bytes = {}: ranks need 96 MB", plat->host.memory_bytes));
  const auto gpu = gpu::parse_gpu(plat->gpu, plat->file);
  if (!gpu) return std::unexpected(gpu.error());
  return memory_sizes{(end - sim::pinned_base) / page * page, std::min(gpu->memory_bytes, gpu_most) / page * page};
}

std::expected<std::unique_ptr<sim::system>, std::string> build(const node_options& o,
                                                               const std::vector<std::span<std::byte>>& memories) {
  auto plat = platform_of(o);
  if (!plat) return std::unexpected(plat.error());
  const auto sizes = memory_of_a_rank(o);
  if (!sizes) return std::unexpected(sizes.error());
  const auto gpu = gpu::parse_gpu(plat->gpu, plat->file);
  if (!gpu) return std::unexpected(gpu.error());
  sim::system_config cfg;
  cfg.plat = std::move(*plat);
  cfg.nodes = int(memories.size());
  cfg.model_nics = o.nic == "model";
  cfg.topology = o.topology;
  for (const auto& m : memories) cfg.pinned.push_back(m.first(sizes->host));
  cfg.segment_bytes = sizes->gpu;
  cfg.gpu = [&](const sim::endpoint_slot& slot) {
    const std::span<std::byte> all = memories[slot.node];
    return node_gpu::make(slot, *gpu, all.subspan(sizes->host), all.first(sizes->host));
  };
  cfg.seed = o.seed;
  cfg.faults = fmt::format("{}", fmt::join(o.faults, "\n"));
  auto made = sim::system::create(std::move(cfg));
  if (!made) return made;
  for (unsigned n = 0; n < memories.size(); ++n)
    if (const auto ok = program(**made, n, *sizes); !ok)
      return std::unexpected(fmt::format("node {}: {}", n, ok.error()));
  return made;
}

}  // namespace ggas::simulator
