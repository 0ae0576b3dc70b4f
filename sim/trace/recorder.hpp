// SPDX-License-Identifier: Apache-2.0
// Follows messages through a cluster: observes ports and wires, and writes a Chrome/Perfetto trace and a packet
// capture. Nothing in the simulation depends on it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <expected>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/nic/nic_core.hpp"
#include "sim/pcie/tlp.hpp"
#include "sim/trace/chrome.hpp"
#include "sim/trace/pcapng.hpp"
#include "sim/trace/power_track.hpp"

namespace ggas::trace {

// Where a TLP was seen: which wire of a node, in which direction.
enum class place : uint8_t { gpu_to_host, host_to_nic, nic_to_host, host_to_gpu };

struct recorder_config {
  std::filesystem::path trace, pcap;  // empty: not written
  unsigned data_width = 64;
};

struct node_map {
  uint64_t window_base, window_bytes, stride;
  uint64_t segment_base, segment_bytes;  // bus addresses of the exported segment
};

class recorder {
 public:
  static std::expected<std::unique_ptr<recorder>, std::string> open(const recorder_config& cfg);

  // Joules of a node until now, for the trace.
  void power(power_track::meter m);
  // Nodes in order of their number, before anything they do.
  void node(unsigned n, const node_map& map);
  void tlp(unsigned node, place where, const pcie::tlp& t, uint64_t start_ps, uint64_t end_ps);
  void flit(unsigned from, unsigned to, const nic::flit& f, uint64_t start_ps, uint64_t end_ps);
  // Ends the files. The error names each that is not whole.
  std::expected<void, std::string> finish();

 private:
  // One message on its way: a window access of a node.
  struct message {
    uint64_t id;
    uint64_t first, last;  // segment offsets at the target
    unsigned seen;         // how far it has come, in places
  };
  struct path_key {
    unsigned src, dst;
    bool load;
    auto operator<=>(const path_key&) const = default;
  };
  struct assembly {
    std::vector<uint32_t> dws;
    uint64_t start_ps = 0;
    bool open = false;
  };
  struct node_state {
    node_map map;
    unsigned link_tx = 0, link_rx = 0, host_tx = 0, host_rx = 0;  // interfaces of the capture
    assembly incoming;                                            // on the wire to this node
  };

  explicit recorder(const recorder_config& cfg) : cfg_(cfg) {}
  std::optional<std::pair<flow, uint64_t>> follow(unsigned node, place where, const pcie::tlp& t);
  std::optional<std::pair<flow, uint64_t>> follow_window(unsigned node, place where, const pcie::tlp& t);
  std::optional<std::pair<flow, uint64_t>> follow_segment(unsigned node, place where, const pcie::tlp& t);
  std::optional<std::pair<flow, uint64_t>> follow_completion(unsigned node, place where, const pcie::tlp& t);
  message* find(const path_key& path, uint64_t offset, unsigned seen_below);
  void packet(unsigned from, unsigned to, const assembly& a, uint64_t end_ps);

  recorder_config cfg_;
  std::unique_ptr<chrome_writer> trace_;
  std::unique_ptr<power_track> power_;  // of trace_
  std::unique_ptr<pcapng_writer> pcap_;
  std::vector<node_state> nodes_;
  std::map<path_key, std::deque<message>> messages_;
  std::map<std::array<uint32_t, 3>, uint64_t> reads_;  // node, requester, tag → message
  std::map<std::array<uint32_t, 2>, uint64_t> loads_;  // source node, network tag → message
  uint64_t next_id_ = 1;
};

}  // namespace ggas::trace
