// SPDX-License-Identifier: Apache-2.0
#include "sim/gpu/config.hpp"

#include <utility>

#include "sim/platform/reader.hpp"

namespace ggas::gpu {

namespace {

void read_sm(sim::table_reader& r, gpu_config& c) {
  r.text("name", c.name);
  r.text("model", c.model);
  r.whole("sms", c.sms, 1, 1024);
  r.whole("schedulers", c.schedulers, 1, 16);
  r.whole("threads_per_block", c.threads_per_block, 32, 4096);
  r.whole("threads_per_sm", c.threads_per_sm, 32, 65536);
  r.whole("warps_per_sm", c.warps_per_sm, 1, 2048);
  r.whole("blocks_per_sm", c.blocks_per_sm, 1, 2048);
  r.whole("registers_per_sm", c.registers_per_sm, 1024, 1 << 24);
  r.whole("registers_per_thread", c.registers_per_thread, 1, 1024);
  r.real("clock_mhz", c.clock_mhz, 1, 1e5);
  r.whole("op_cycles", c.op_cycles, 1, 10000);
  r.whole("issue_cycles", c.issue_cycles, 1, 1000);
  r.whole("lockstep_ns", c.lockstep_ns, 0, 1'000'000'000);
  r.real("flops_per_cycle_sm", c.flops_per_cycle_sm, 1, 1e9);
  r.real("flops_per_cycle_warp", c.flops_per_cycle_warp, 1, 1e9);
}

void read_memory(sim::table_reader& r, gpu_config& c) {
  r.whole("memory_bytes", c.memory_bytes, 1 << 20, 1ull << 50);
  r.real("memory_bytes_per_second", c.memory_bytes_per_second, 1e6, 1e18);
  r.whole("l2_latency_ns", c.l2_latency_ns, 1, 1'000'000);
  r.whole("atomic_latency_ns", c.atomic_latency_ns, 1, 1'000'000);
  r.whole("system_fence_ns", c.system_fence_ns, 0, 1'000'000);
  r.real("l2_bytes_per_second", c.l2_bytes_per_second, 1e6, 1e18);
  r.one_of("sector_bytes", c.sector_bytes, {4, 8, 16, 32, 64, 128});
}

void read_pcie(sim::table_reader& r, gpu_config& c) {
  r.one_of("coalesce_bytes", c.coalesce_bytes, {4, 8, 16, 32, 64, 128});
  r.whole("outstanding_reads", c.outstanding_reads, 1, 1024);
  r.whole("store_queue", c.store_queue, 1, 1'000'000);
  r.whole("egress_ns", c.egress_ns, 0, 1'000'000);
  r.whole("ingress_ns", c.ingress_ns, 0, 1'000'000);
  r.whole("read_timeout_us", c.read_timeout_us, 1, 1'000'000'000);
  r.whole("bar_ns", c.bar_ns, 0, 1'000'000);
  r.real("bar_read_bytes_per_second", c.bar_read_bytes_per_second, 0, 1e18);
  r.one_of("bar_completion_bytes", c.bar_completion_bytes, {64, 128, 256});
  r.whole("bar_reads", c.bar_reads, 1, 1024);
}

void read_host(sim::table_reader& r, gpu_config& c) {
  r.whole("launch_ns", c.launch_ns, 0, 1'000'000'000);
  r.whole("launch_call_ns", c.launch_call_ns, 0, 1'000'000'000);
  r.whole("kernel_gap_ns", c.kernel_gap_ns, 0, 1'000'000'000);
  r.whole("launch_skew_ns", c.launch_skew_ns, 0, 1'000'000'000);
  r.whole("sync_stream_ns", c.sync_stream_ns, 0, 1'000'000'000);
  r.whole("sync_device_ns", c.sync_device_ns, 0, 1'000'000'000);
  r.whole("sync_event_ns", c.sync_event_ns, 0, 1'000'000'000);
  r.whole("sync_event_blocking_ns", c.sync_event_blocking_ns, 0, 1'000'000'000);
  if (c.launch_ns < c.launch_call_ns) r.wrong("launch_ns", "contains the call, so it is not less than launch_call_ns");
  const std::pair<const char*, unsigned> ends[] = {{"sync_stream_ns", c.sync_stream_ns},
                                                   {"sync_device_ns", c.sync_device_ns},
                                                   {"sync_event_ns", c.sync_event_ns},
                                                   {"sync_event_blocking_ns", c.sync_event_blocking_ns}};
  for (const auto& [key, ns] : ends)
    if (ns < c.launch_ns) r.wrong(key, "contains the launch, so it is not less than launch_ns");
}

}  // namespace

std::expected<gpu_config, std::string> parse_gpu(const toml::table& gpu, std::string_view file) {
  gpu_config c;
  std::vector<std::string> errors;
  sim::table_reader r(&gpu, std::string(file), "gpu", errors);
  read_sm(r, c);
  read_memory(r, c);
  read_pcie(r, c);
  read_host(r, c);
  if (c.resident_warps() == 0) r.wrong("registers_per_thread", "a warp does not fit into registers_per_sm");
  if (c.threads_per_block > c.threads_per_sm) r.wrong("threads_per_block", "must not exceed threads_per_sm");
  r.finish();
  if (!errors.empty()) return std::unexpected(errors.front());
  return c;
}

}  // namespace ggas::gpu
