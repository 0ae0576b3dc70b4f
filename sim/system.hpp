// SPDX-License-Identifier: Apache-2.0
// A cluster as the simulator builds it: per node a root complex with host memory, a processor, a NIC and an endpoint
// (the GPU model plugs in by a factory), links between the NICs, everything programmed by the processors through MMIO
// as a driver would.
//
// Address map of a node:
//   0x00'0000'0000  host memory; event ring at 1 MB, translation tables at 2 MB, segment at 16 MB if no endpoint holds
//   it,
//                   pinned memory at 32 MB
//   0x00'e000'0000  NIC BAR0 (64 KB), BAR4 pages at 0x00'e010'0000 (1 MB)
//   0x00'fee0'0000  message-signalled interrupts
//   0x80'0000'0000  BAR of the endpoint; of several, one after the other
//   0x100'0000'0000 NIC BAR2, the window: the segments of all nodes, stride apart; a node with several endpoints has a
//   segment in each
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/cpu/cache.hpp"
#include "sim/cpu/core.hpp"
#include "sim/cpu/cpu.hpp"
#include "sim/fabric/network.hpp"
#include "sim/fabric/wire.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/mem/memory.hpp"
#include "sim/network_manager.hpp"
#include "sim/nic/model/nic_model.hpp"
#include "sim/nic/rtl/nic_bridge.hpp"
#include "sim/pcie/root_complex.hpp"
#include "sim/pcie/switch.hpp"
#include "sim/platform/platform.hpp"
#include "sim/ranks/lockstep.hpp"
#include "sim/trace/one_writer.hpp"

namespace ggas::trace {
class recorder;
}
namespace ggas::fabric {
class switch_network;
class switch_port;
}  // namespace ggas::fabric

namespace ggas::sim {

inline constexpr uint64_t bar0_base = 0xe0000000, bar0_bytes = 0x10000;
inline constexpr uint64_t bar4_base = 0xe0200000, bar4_page = 0x1000, bar4_bytes = 256 * 2 * bar4_page;
inline constexpr uint64_t window_base = 0x10000000000;
inline constexpr uint64_t endpoint_base = 0x8000000000;
inline constexpr uint64_t event_ring_base = 0x100000;
inline constexpr unsigned event_ring_log2 = 10;  // records
inline constexpr uint64_t translation_base = 0x200000;
inline constexpr uint64_t host_segment_base = 0x1000000;
inline constexpr uint64_t pinned_base = 0x2000000;
inline constexpr uint16_t cpu_id = 0x0001, nic_id = 0x0100, endpoint_id = 0x0200;

// What an endpoint learns of its place.
struct endpoint_slot {
  unsigned node;
  unsigned index;  // among the endpoints of its node
  const platform& plat;
  kernel& sim;
  uint16_t id;                   // its requester and completer id
  uint64_t bar_base, bar_bytes;  // requests to these bus addresses come to its port; its segment is at offset 0
  uint64_t window_base, window_bytes, stride;  // the NIC's window
  uint64_t pages_address, pages_bytes;         // the NIC's pages, 4 KB a context; a read at offset 0 is a quiet
  uint64_t host_address;                       // host memory that is not used: a read here flushes what was written
  unsigned mps, mrrs;                          // negotiated
};

// The device in the second slot. Its constructor makes SystemC modules.
class endpoint {
 public:
  virtual ~endpoint() = default;
  virtual pcie::port& port() = 0;
  virtual std::map<std::string, uint64_t> counters() const { return {}; }
};

using endpoint_factory = std::function<std::unique_ptr<endpoint>(const endpoint_slot&)>;

using nic_factory = std::function<nic::made_nic(unsigned data_width, const nic::host_config&, const char* name)>;

// What a node has in addition to its NIC.
struct node_config {
  platform plat;      // its NIC and links are those of system_config::plat
  unsigned gpus = 1;  // endpoints; several are below a PCIe switch
};

struct system_config {
  platform plat;
  int nodes = 2;                       // 1: no link; with the RTL at most 64
  bool model_nics = false;             // the NIC's model (docs/nic-model.md) and a network of any number of nodes
  std::string topology = "auto";       // who is joined to whom (sim/fabric/topology.hpp)
  uint64_t segment_bytes = 1u << 20;   // of each node or endpoint, exported, a multiple of 4 KB
  bool mask_mode = false;              // window by mask instead of intervals
  endpoint_factory gpu;                // empty: the segment lies in host memory
  std::vector<node_config> each = {};  // by node; empty: all of them have `plat` and one endpoint
  uint64_t endpoint_bar_bytes = 0;     // 0: the power of two that holds the segment
  std::vector<std::span<std::byte>> pinned = {};  // memory of the process at pinned_base of each node, whole pages
  uint64_t seed = 1;                              // of faults
  std::string faults;                             // script (sim/fabric/faults.hpp), empty: none
  std::string faults_name = "faults";             // in messages
  std::function<void(unsigned node)> on_death;    // what runs on a node that dies is to end
  // Observation, off when empty. Waves: one file a NIC, <stem>.node<n>.fst, in the window from ... to (0: no end).
  std::filesystem::path waves, trace, pcap;
  double waves_from_us = 0, waves_to_us = 0;
  bool toggles = false;  // of the NICs' signals are counted, instead of waves: nic_toggles()
  // Instead of the Verilated NIC: for tests and other models.
  nic_factory make_nic;
  // The ranks, each of which simulates its own nodes; nullptr: this process simulates all of them. Ranks build the same
  // system, make the same calls of it in the same order, and all get the same results.
  ranks* all_ranks = nullptr;
};

class system {
 public:
  // Builds, programs and waits until the links are up. The error names the input and the rule it broke.
  static std::expected<std::unique_ptr<system>, std::string> create(system_config cfg);
  ~system();

  unsigned nodes() const { return unsigned(nodes_.size()); }
  // Whether this rank simulates the node. A node of another rank has no parts in this process. All ranks make a call
  // for it together, but only its owner makes the stores.
  bool owns(unsigned node) const { return owner(node) == number(); }
  unsigned owner(unsigned node) const { return cfg_.all_ranks ? cfg_.all_ranks->owner(node, nodes()) : 0; }
  const system_config& config() const { return cfg_; }
  const platform& plat(unsigned node) const { return cfg_.each.empty() ? cfg_.plat : cfg_.each[node].plat; }
  unsigned gpus(unsigned node) const { return cfg_.each.empty() ? 1 : cfg_.each[node].gpus; }
  unsigned segments() const;  // of all nodes: how many the window holds
  uint64_t stride() const { return stride_; }
  uint64_t window_bytes() const { return window_bytes_; }
  // Offset in the window at which a store goes to that offset of the segments of all other nodes; nullopt: the system
  // has no multicast. It needs NICs with several links, intervals, at most 63 nodes, and one segment on each.
  std::optional<uint64_t> multicast_offset() const;
  // Stores there go to all of them now: the network is whole, as far as its manager knows.
  bool groups_work() const { return multicast_offset() && (!manager_ || manager_->whole()); }

  // ---- running
  kernel& sim() { return kernel_; }
  uint64_t now_ps() { return kernel_.now_ps(); }
  // Runs until done() is true. Returns false if it timed out in simulated time. See kernel::run_until. With ranks each
  // one checks its own nodes, and all run until done() is true for all. If broken() is true at that time, the run ends
  // for all.
  bool run_until(
      const std::function<bool()>& done, uint64_t timeout_ps,
      const std::function<bool()>& broken = [] { return false; });
  void run_for(uint64_t ps) {
    run_until([] { return false; }, ps);
  }

  // ---- a node's processor: blocking for the caller, real TLPs in the simulation
  std::expected<uint64_t, std::string> load(unsigned node, uint64_t addr, unsigned bytes);
  void store(unsigned node, uint64_t addr, uint64_t value, unsigned bytes);
  std::expected<uint64_t, std::string> read_register(unsigned node, uint16_t offset) {
    return load(node, bar0_base + offset, 8);
  }
  // Writes registers of a node's NIC, for sim/driver.
  auto registers_of(unsigned node) {
    return [this, node](uint16_t offset, uint64_t value) { write_register(node, offset, value); };
  }
  void write_register(unsigned node, uint16_t offset, uint64_t value) { store(node, bar0_base + offset, value, 8); }

  // A program of the processor, not started. Destroy it before the system.
  std::unique_ptr<cpu::core> make_program(unsigned node, std::function<void(cpu::core&)> body);

  // ---- results
  // NIC counters by register name (read by MMIO; time passes), events by "EVENT_" name, bridge, PCIe and endpoint
  // counters by dotted name. If a node has several endpoints, only those of `endpoint`.
  std::map<std::string, uint64_t> counters(unsigned node, unsigned endpoint = 0);
  std::vector<std::string> events(unsigned node);
  // Why the results of an own node's NIC are not to be used; empty: they are.
  const std::string& nic_fault(unsigned node) const;
  uint64_t nic_cycles();  // active, all NICs
  // Joules of all nodes until now, by part (sim/power/power.hpp). All ranks call it; no time passes.
  std::vector<power::part> energy();
  // Changed bits of the signals of all NICs until now, by unit. All ranks call it; no time passes.
  std::map<std::string, uint64_t> nic_toggles();
  // Closes waves, trace and capture; nothing is recorded after that. The error has a line for each incomplete file.
  // Without this call the destructor closes them and reports on standard error.
  std::expected<void, std::string> end_observation();

  // ---- parts
  mem::sparse_memory& memory(unsigned node) { return nodes_[node]->memory; }
  pcie::root_complex& root_complex(unsigned node) { return *nodes_[node]->root; }
  cpu::processor& processor(unsigned node) { return *nodes_[node]->cpu; }
  nic::nic_device& nic(unsigned node) { return *nodes_[node]->nic; }
  fabric::packet_network* network() { return network_.get(); }  // nullptr: NICs of RTL, and wires
  endpoint* gpu(unsigned node, unsigned index = 0) {
    return index < nodes_[node]->gpus.size() ? nodes_[node]->gpus[index].get() : nullptr;
  }
  pcie::packet_switch* pcie_switch(unsigned node) { return nodes_[node]->between.get(); }  // nullptr: one endpoint
  fabric::wire* wire(unsigned from, unsigned port = 0) { return nodes_[from]->out[port].get(); }
  const fabric::topology& topology() const { return *shape_; }
  // A node dies by a fault. Its parts can still be looked at.
  bool alive(unsigned n) const { return !nodes_[n] || !nodes_[n]->dead; }
  const network_manager* manager() const { return manager_.get(); }  // nullptr: no routes to write

 private:
  struct node {
    mem::sparse_memory memory;
    std::unique_ptr<pcie::root_complex> root;
    std::unique_ptr<cpu::processor> cpu;
    std::unique_ptr<cpu::cache> cache;  // of pinned memory
    std::unique_ptr<nic::nic_device> nic;
    nic::nic_bridge* bridge = nullptr;             // the same, if it is RTL
    std::unique_ptr<pcie::packet_switch> between;  // root complex and endpoints, where there are several
    std::vector<std::unique_ptr<endpoint>> gpus;
    std::array<std::unique_ptr<fabric::wire>, fabric::max_ports> out;  // by port
    uint64_t segment_bus = 0;                                          // where the exported segment lies
    bool dead = false;
    uint32_t events_read = 0;
    std::vector<std::string> events;
  };

  explicit system(system_config cfg);
  std::expected<void, std::string> check() const;
  std::expected<void, std::string> check_each() const;
  std::expected<void, std::string> check_memory(unsigned node) const;
  // sim/system_build.cpp
  std::expected<void, std::string> build();
  std::expected<void, std::string> read_faults();
  void schedule_deaths();
  void make_manager();
  std::expected<void, std::string> build_network();
  void cut_network(fabric::network& net);
  std::expected<void, std::string> build_node(unsigned n);
  std::expected<void, std::string> build_nic(unsigned n);
  std::expected<void, std::string> build_endpoints(unsigned n);
  void wire_links();
  std::unique_ptr<fabric::switch_network> make_switches() const;
  // sim/system_switches.cpp
  void wire_switches();
  void make_switch_port(unsigned n, unsigned port);
  fabric::wire_config cable(unsigned vertex, unsigned port) const;
  fabric::flit_sink* end_of_cable(unsigned end, unsigned port);
  void join_ranks(uint64_t flight_ps);
  std::expected<void, std::string> observe();
  std::expected<void, std::string> schedule_waves();
  std::expected<void, std::string> count_toggles();
  std::string waves_file(unsigned node) const;
  // sim/system_program.cpp
  std::expected<void, std::string> program();
  void program_node(unsigned n);
  void program_exports(unsigned n);
  void program_intervals(unsigned n);
  void enable_node(unsigned n);
  void program_routes(unsigned n);
  void program_groups(unsigned n);
  std::expected<void, std::string> wait_for_links();
  std::expected<void, std::string> route_around_dead_links();
  // The state of each link of a node.
  std::expected<std::vector<uint64_t>, std::string> link_states(unsigned n);
  bool may_break() const;  // a link or node dies by a fault
  uint64_t link_ctrl() const;

  void collect_events(unsigned n);
  std::map<std::string, uint64_t> counters_of_parts(const node& it, unsigned endpoint) const;
  // How long its processor's threads were in which state, and bytes of its memory.
  static std::map<std::string, uint64_t> states_of(const node& it);
  static std::unexpected<std::string> fail(std::string text) { return std::unexpected(std::move(text)); }
  power::activity activity_of_parts(unsigned n);
  power::activity activity(unsigned n);
  power::activity shared(unsigned n, const power::activity& own);
  // What the owner of a node gives, on all ranks.
  std::string share(unsigned node, const std::string& mine);
  unsigned number() const { return cfg_.all_ranks ? cfg_.all_ranks->number() : 0; }

  system_config cfg_;
  kernel kernel_;  // before everything SystemC
  uint64_t stride_ = 0, window_bytes_ = 0;
  std::unique_ptr<nic::nic_clock> clock_;
  std::optional<fabric::topology> shape_;
  std::vector<fabric::fault_rule> faults_, wire_faults_;
  std::vector<std::vector<fabric::group_line>> trees_;  // by root, of its group, which has all other nodes
  std::unique_ptr<fabric::packet_network> network_;
  std::unique_ptr<fabric::switch_network> switches_;                // between NICs of RTL
  std::vector<std::unique_ptr<fabric::switch_port>> switch_ports_;  // of this rank, by node and port
  std::vector<std::unique_ptr<fabric::wire>> from_switches_;        // to NICs
  std::unique_ptr<lockstep> lockstep_;                              // with ranks
  std::unique_ptr<trace::recorder> recorder_;
  std::vector<std::unique_ptr<node>> nodes_;  // nullptr: another rank's
  std::unique_ptr<pcie::timed_queue<bool>> waves_;
  std::vector<trace::one_writer> wave_files_;  // the NICs' models write them
  std::unique_ptr<pcie::timed_queue<unsigned>> deaths_;
  std::unique_ptr<network_manager> manager_;
};

}  // namespace ggas::sim
