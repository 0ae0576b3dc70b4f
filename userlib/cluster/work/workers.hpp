// SPDX-License-Identifier: Apache-2.0
// The workers of a node as its host sees them: the ring of orders in pinned memory, and a word for each order under way
// that they write when it is done.
#pragma once

#include <optional>

#include "ggas/status.hpp"
#include "userlib/cluster/work/pools.hpp"

namespace ggas::detail {

class node_workers {
 public:
  // Takes the memory, for at most `in_flight` orders of the host, and clears it. `pool` outlives the object.
  static result<std::unique_ptr<node_workers>> make(cluster& c, int node, const workers_config& cfg, int in_flight,
                                                    const std::shared_ptr<pools>& pool);
  ~node_workers();
  node_workers(const node_workers&) = delete;
  node_workers& operator=(const node_workers&) = delete;

  const worker_shape& shape() const { return shape_; }
  // Queues the resident kernel, with empty rings. Not while it runs.
  result<> launch(cluster& c);
  bool running() const { return running_; }
  void lost() { running_ = false; }  // the cluster has stopped it
  // Whether the kernel has ended, by a stop or a fault.
  result<bool> ended(cluster& c);
  void stop();

  // Gives an order, and sets its `done` and `ticket` to those of place `place` of the orders in progress. Returns false
  // if the ring has no room now.
  bool send(size_t place, work_order o, std::span<const uint64_t> rest);
  struct order_end {
    ggas_status status;
    bool late;  // blocks of the group still run it
  };
  // The end of that place's last order; empty while it is in progress.
  std::optional<order_end> end_of(size_t place) const;

 private:
  node_workers(int node, const workers_config& cfg, std::shared_ptr<pools> pool);
  bool has_room(uint64_t lines) const;
  void put(uint64_t word);

  const int node_;
  const workers_config cfg_;
  const std::shared_ptr<pools> pool_;
  worker_shape shape_{};
  std::byte* state_ = nullptr;  // in the segment
  worker_mailbox* mailbox_ = nullptr;
  uint64_t* done_ = nullptr;  // by place
  std::vector<uint64_t> tickets_;
  uint64_t position_ = 0;  // lines sent
  stream stream_;
  event end_{0, 0};
  bool running_ = false;
};

}  // namespace ggas::detail
