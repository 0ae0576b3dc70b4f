// SPDX-License-Identifier: Apache-2.0
// Messages between the programs of simulated processors (docs/host-messages.md): eager ones by VELO, larger ones by
// rendezvous over RMA. Data lies in pinned memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ggas/cluster.hpp"

namespace ggas::bench {

struct message_settings {
  uint32_t eager_bytes = 320;  // larger messages go by rendezvous
  uint64_t timeout_ns = 1'000'000'000;
};

class messages {
 public:
  static constexpr int any_node = -1;
  static constexpr uint32_t most_bytes = 8u << 20;

  // Opens messages for the program of node h.node(). They use context `queue` of its NIC, with the same number on every
  // node. The context is in use until the program ends.
  messages(cluster& c, host& h, size_t queue = 0, const message_settings& set = {});

  // What was begun; valid until wait().
  using handle = size_t;
  // The data must not change until wait() has returned.
  handle send(int to, uint16_t tag, const void* data, size_t bytes);
  // At most so many bytes.
  handle receive(int from, uint16_t tag, void* data, size_t bytes);

  struct arrival {
    int from = any_node;  // of a receive
    size_t bytes = 0;
  };
  // Empty after an error: see fault().
  std::optional<arrival> wait(handle what);
  bool wait_all(std::span<const handle> all);
  bool send_now(int to, uint16_t tag, const void* data, size_t bytes) {
    return wait(send(to, tag, data, bytes)).has_value();
  }
  bool receive_now(int from, uint16_t tag, void* data, size_t bytes) {
    return wait(receive(from, tag, data, bytes)).has_value();
  }
  // Whether it has ended; takes what has come.
  bool test(handle what);

  // Empty: all went well.
  const std::string& fault() const { return fault_; }

 private:
  enum class kind : uint64_t { first, more, request, done };  // of a message of VELO
  struct operation {
    bool in_use = false, ended = false;
    std::byte* data = nullptr;  // of a receive
    size_t room = 0;
    arrival got = {};
  };
  struct posted {
    handle what;
    int from;
    uint16_t tag;
  };
  struct incoming {
    int from;
    uint16_t tag;
    uint32_t bytes;
    std::vector<std::byte> data = {};  // as far as it has come
    uint64_t source = 0;               // rendezvous: network logical address, and the sender's operation
    handle sender = 0;
    bool rendezvous = false;
    std::optional<handle> taker = {};
  };
  struct outgoing {
    ggas_rma_desc what;
    std::optional<handle> ends;  // when it has been posted
  };

  handle begin();
  void end(handle what) { operations_[what].ended = true; }
  void fail(const std::string& why) {
    if (fault_.empty()) fault_ = why;
  }
  void say(int to, kind k, uint16_t tag, uint32_t bytes, std::span<const std::byte> data, std::optional<handle> ends);
  void progress();
  void post();
  void take_messages();
  void take_notes();
  void arrived(int from, kind k, uint64_t cookie, std::span<const std::byte> data);
  void match(std::list<incoming>::iterator m);
  void deliver(std::list<incoming>::iterator m);
  bool fits(const incoming& m, const posted& p) const {
    return (p.from == any_node || p.from == m.from) && p.tag == m.tag;
  }

  host& host_;
  ggas_rma_context& queue_;
  message_settings set_;
  host_region pinned_;
  std::vector<ggas_rma_peer> peers_;                     // by node
  std::map<std::pair<uint16_t, uint8_t>, int> node_of_;  // by NIC and context
  std::vector<operation> operations_;
  std::vector<handle> free_;
  std::deque<outgoing> out_;
  std::list<posted> receives_;                               // not matched, in their order
  std::list<incoming> arrived_;                              // not received, or not whole, in the order of arrival
  std::map<int, std::list<incoming>::iterator> unfinished_;  // eager, by sender
  unsigned gets_ = 0;                                        // in flight
  std::deque<std::list<incoming>::iterator> to_get_;
  std::string fault_;
};

}  // namespace ggas::bench
