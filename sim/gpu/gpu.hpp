// SPDX-License-Identifier: Apache-2.0
// A GPU as a PCIe endpoint. Kernels are queued in streams; their blocks are placed on multiprocessors by occupancy and
// stay to their end; warps run on the host SIMT engine and every operation they wait for passes through the model here:
// issue slots, coalescer, L2, and the path over PCIe (host_interface.hpp). docs/gpu-model.md explains the whole.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "gpu_api/simt/engine.hpp"
#include "sim/gpu/address_map.hpp"
#include "sim/gpu/config.hpp"
#include "sim/gpu/copy_engine.hpp"
#include "sim/gpu/device.hpp"
#include "sim/gpu/host_interface.hpp"
#include "sim/gpu/work.hpp"
#include "sim/power/held_time.hpp"

namespace ggas::gpu {

class gpu : public sc_core::sc_module, public device, public simt::environment {
 public:
  gpu(sc_core::sc_module_name name, const gpu_config& cfg, uint16_t bus_id, const pcie::port_config& port = {});
  ~gpu() override;

  host_interface host;
  address_map addresses;
  const void* context = nullptr;  // what kernels see of their node
  std::function<void()> on_idle;

  const gpu_config& config() const { return cfg_; }
  // Sets the negotiated sizes for the copy engine.
  void packets(unsigned mps, unsigned mrrs) { copies_.packets(mps, mrrs); }

  // ---- device
  pcie::port& port() override { return host.link; }
  std::optional<std::string> check(simt::dim3 grid, simt::dim3 block) const override;
  room room_for(simt::dim3 block) const override;
  void launch(simt::launch l, unsigned stream = 0) override;
  bool copy(void* to, const void* from, uint64_t bytes, unsigned stream = 0) override;
  void record(std::shared_ptr<mark> m, unsigned stream = 0) override;
  void wait(std::shared_ptr<mark> m, unsigned stream = 0) override;
  void set_priority(unsigned stream, int priority) override { priorities_[stream] = priority; }
  // One call of the host for each kernel and each copy, back to back.
  unsigned start(uint64_t delay_ps) override;
  bool idle() const override { return running_ == 0; }
  const std::string& kernel_fault() const override { return kernel_fault_; }
  std::string blockage() const override;
  void reset() override;
  fault take_fault() override;
  std::map<std::string, uint64_t> counters() const override;

  // ---- simt::environment
  uint64_t now_ns() const override { return pcie::now_ps() / 1000; }
  const void* device_context() const override { return context; }

 private:
  friend struct group;
  friend struct warp_state;
  struct stream;
  struct starter final : task {
    gpu* owner = nullptr;
    stream* of = nullptr;
    void run() override { owner->activate(*of); }
  };
  struct stream {
    std::deque<queued> queue;  // the first one runs if busy
    bool busy = false;
    starter start;
  };
  struct totals {
    uint64_t kernels = 0, copies = 0, blocks = 0, instructions = 0, local_loads = 0, local_stores = 0, remote_loads = 0,
             remote_stores = 0, atomics = 0, fences = 0, system_fences = 0, store_stalls = 0, faults = 0, flops = 0,
             memory_bytes = 0;
  };

  // gpu.cpp: streams, kernels, blocks
  unsigned make_calls(uint64_t at_ps);
  void activate(stream& s);
  void go_on(stream& s, uint64_t gap_ps);
  void dispatch();
  std::optional<unsigned> place(unsigned threads, unsigned warps) const;
  void start_block(kernel& k, unsigned sm_index);
  void maybe_end(warp_state& w);
  void end_block(resident_block& b);
  void end_kernel(kernel& k);
  void end_copy(stream& s);
  std::optional<copy_engine::side> side_of(const void* at);
  void bury();

  // issue.cpp: from pending operations to groups
  using lanes = std::array<simt::access*, simt::warp_size>;  // by lane; null: not waiting for an operation
  void wake(warp_state& w, uint64_t at_ps);
  void step(warp_state& w);
  void issue(warp_state& w);
  void remember(warp_state& w, const group& g);
  uint64_t take_slot(warp_state& w, unsigned transactions);
  group& new_group(warp_state& w, const simt::access& first, region where);
  void recycle(group& g);

  // convergence.cpp: lanes that leave a polling loop wait for the others
  uint32_t ready_lanes(warp_state& w, const lanes& waiting);

  // operations.cpp: what each group does, step by step
  void run(group& g);
  void begin(group& g);
  void run_issued(group& g);
  void perform(group& g);
  void add_late_writes(group& g);
  void finish(group& g);
  void run_fence(group& g);
  void fail(group& g);
  uint64_t l2_latency_ps() const { return cfg_.l2_latency_ns * 1000ull; }
  uint64_t reserve_l2(uint64_t at_ps, unsigned sectors, unsigned latency_ns);
  uint64_t compute_end(const group& g, uint64_t at_ps);
  void record_fault(std::string_view what, uint64_t addr);

  // remote.cpp: loads and stores that go over PCIe
  void send_loads(group& g);
  void load_answered(group& g, unsigned request, unsigned offset, const pcie::read_result& r);
  void deliver(group& g);
  void pack_stores(group& g);
  void send_stores(group& g);
  bool push_stores(group& g);
  void resume_stalled();

  gpu_config cfg_;
  agenda agenda_;
  copy_engine copies_;
  std::map<unsigned, stream> streams_;
  std::map<unsigned, int> priorities_;
  std::vector<sm> sms_;
  std::vector<std::unique_ptr<resident_block>> blocks_, ended_blocks_;
  std::vector<std::unique_ptr<kernel>> ended_kernels_;
  std::vector<kernel*> active_;  // in order of activation
  unsigned running_ = 0;         // streams with something to do
  unsigned commands_ = 0;        // given so far
  std::vector<std::unique_ptr<group>> groups_;
  std::vector<group*> free_groups_;
  std::deque<group*> stalled_;  // stores that found the queue full, oldest first
  uint64_t memory_free_ps_ = 0;
  uint32_t cohorts_ = 0;
  uint64_t epoch_ = 0;  // of reset(): answers from before it find no reader
  fault fault_;
  std::string kernel_fault_;
  power::held_time busy_sms_, computing_;  // multiprocessors with blocks; warps at declared work
  totals totals_;
};

}  // namespace ggas::gpu
