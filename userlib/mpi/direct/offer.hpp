// SPDX-License-Identifier: Apache-2.0
// A message that its receiver fetches out of the sender's GPU: what the MPI below carries is a ticket.
#pragma once

#include <memory>
#include <string>

#include "userlib/mpi/direct/table.hpp"

namespace ggas::mpi::direct {

// Where and how much: the sender's items, kept until the message is settled.
class offer {
 public:
  // Null: the message goes through the host. `to`: rank in MPI_COMM_WORLD.
  static std::unique_ptr<offer> make(memory& gpu, const items& data, int to, int tag);

  const void* wire() const { return &wire_; }
  uint64_t wire_bytes() const { return ticket_bytes + wire_.plain.slot; }

  // After this call the items may be written: they were fetched, or are packed in memory of the library. The call waits
  // for the receiver at most timeout_ns(), because the receiver may be waiting for this process. `meanwhile` is called
  // repeatedly.
  std::string settle(void (*meanwhile)());
  // The ticket was not sent, or it was cancelled.
  void withdraw();

 private:
  offer(memory& gpu, const items& data) : gpu_(gpu), data_(data) {}
  slot& place() const;
  std::string pack();

  struct padded {
    ticket plain;
    unsigned char more[slots_of_process];
  };
  memory& gpu_;
  items data_;
  padded wire_{};
  bool settled_ = false;
};

// The process uses this GPU: others may try to reach it, and it tries to reach theirs. Once for each of them.
void meet(memory& gpu);
// This process has begun a receive that does not know tickets: it gets no more of them.
void close_to_offers();
// The GPU whose memory is shared; null: none yet.
memory* own_gpu();

// All messages on offer are fetched, or their receivers are gone.
void end_offers();

}  // namespace ggas::mpi::direct
