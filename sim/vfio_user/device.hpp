// SPDX-License-Identifier: Apache-2.0
// One device of the server: configuration space, interrupts and memory of its client, and the client's commands.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "sim/vfio_user/config_space.hpp"
#include "sim/vfio_user/connection.hpp"
#include "sim/vfio_user/dma_map.hpp"
#include "sim/vfio_user/guest_port.hpp"
#include "sim/vfio_user/tlp_log.hpp"

namespace ggas::device {

using wall_clock = std::chrono::steady_clock;

class device : public guest {
 public:
  // A guest's access is answered within that time of the wall clock, by all ones if need be.
  static constexpr std::chrono::milliseconds answer_limit{900};

  device(unsigned mps_bytes, const bar_sizes& bars);

  // What carries accesses to the NIC; set once, before clients come.
  struct carrier {
    guest_port* port = nullptr;
    std::function<void()> reset;  // function-level reset of the NIC
    std::function<void(bool)> bus_master;
    std::function<void()> answered;  // a reply left: the simulation may pause
    tlp_log* log = nullptr;
    unsigned node = 0;
  };
  void attach(carrier c) { nic_ = std::move(c); }

  // ---- the client
  bool connected() const { return client_ != nullptr; }
  connection& client() { return *client_; }
  void connect(file socket);
  // Ends the connection: everything the client gave is given back, and the NIC is reset.
  void disconnect();
  // Takes messages that have arrived as long as the NIC keeps up; the error ends the connection, "" if the client left.
  std::expected<void, std::string> serve();
  // Messages wait for the NIC.
  bool held_back() const;
  // Reads that were not answered in time are, by all ones.
  void expire(wall_clock::time_point now);
  bool waits() const { return !reads_.empty(); }

  uint64_t expired() const { return expired_; }

  // ---- guest
  bool may_access() const override { return connected() && config_.bus_master(); }
  bool write(uint64_t address, std::span<const std::byte> bytes) override;
  void read(uint64_t address, uint32_t bytes, read_done done) override;
  void interrupt(unsigned vector) override;

 private:
  using result = std::expected<void, std::string>;
  struct pending_read {
    wire::header head;
    wire::region_access access;
    wall_clock::time_point deadline;
  };
  result handle(message m);
  result dispatch(message& m);
  result version(const message& m);
  result map(const message& m);
  result unmap(const message& m);
  result region_info(const message& m);
  result irq_info(const message& m);
  result set_irqs(message& m);
  result region_read(const message& m);
  result region_write(const message& m);
  result region_write_multi(const message& m);
  result device_reset(const message& m);
  result dma_reply(const message& m);
  result reply(const wire::header& to, std::span<const std::byte> body);
  result refuse(const wire::header& to, int error);

  uint64_t region_bytes(uint32_t region) const;
  bool reachable(const wire::region_access& a) const;
  bool store(const wire::region_access& a, std::span<const std::byte> data);
  void finish_read(uint64_t number, std::vector<std::byte> bytes);
  void reset_nic();
  void tell_bus_master();
  void abandon_reads();
  void program_vector(unsigned v);
  void signal(unsigned v);
  uint16_t ask(wire::command c, uint64_t address, uint64_t count, std::span<const std::byte> data);

  bar_sizes bars_;
  config_space config_;
  bool master_ = false;     // as the NIC was informed
  bool resetting_ = false;  // what the client would have to answer is refused: the NIC's reset waits for its reads
  carrier nic_;
  std::unique_ptr<connection> client_;
  bool greeted_ = false;
  dma_map memory_;
  std::array<file, msix_vectors> vectors_;
  std::map<uint64_t, pending_read> reads_;  // by number, so by deadline
  uint64_t reads_so_far_ = 0, expired_ = 0;
  // Commands of ours that the client has not answered, by id.
  std::map<uint16_t, read_done> dma_reads_;
  std::map<uint16_t, bool> dma_writes_;
  uint16_t next_id_ = 0;
  std::deque<unsigned> held_interrupts_;  // after writes that the client has not acknowledged
};

}  // namespace ggas::device
