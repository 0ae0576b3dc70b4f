// SPDX-License-Identifier: Apache-2.0
// Interface of the transport to a NIC: contexts for posting, memory that the NIC may access, states of other ranks.
// There is an implementation for NICs in a simulator (userlib/libggas/sim), and one for those through the driver
// (userlib/libggas/hw). One thread at a time uses an object. Permanent failures, such as a simulator that has ended or
// a NIC that is gone, are exceptions.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ggas/rma.h"
#include "userlib/libggas/base/transport.hpp"

namespace ggas::library::nic {

// The purposes of a rank's contexts. A descriptor with its own answer holds its context until the answer has arrived
// (docs/rma.md), so such descriptors use a separate context.
inline constexpr unsigned queue_contexts = 8;   // queue q has context q mod 8
inline constexpr unsigned control_context = 8;  // tables and groups
inline constexpr unsigned answer_context = 9;   // atomics, and messages: the one with the mailbox
inline constexpr unsigned contexts = 10;
inline constexpr uint64_t timeout_ns = 10'000'000'000;  // of waits for the NIC itself

struct memory {
  std::byte* start = nullptr;
  uint64_t nla = 0, bytes = 0;
};

struct watched {
  // The writer of a place: the own NIC with its progress, other ranks by puts, or senders of messages.
  enum class writer { nic, ranks, senders };
  const volatile void* at;
  uint64_t bytes;
  writer by = writer::nic;
};

// How a short put is posted that a rank may be asleep for.
struct aimed {
  ggas_rma_peer to;
  unsigned flags;
};

class access {
 public:
  virtual ~access() = default;
  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;
  virtual ggas_rma_context& context(unsigned i) = 0;
  // The node of a rank, and the context there that takes messages.
  virtual ggas_rma_peer peer(unsigned rank) const = 0;
  // For the next descriptor of a context: what wakes the rank if it sleeps.
  virtual aimed aim(unsigned rank, unsigned /*context*/) { return {peer(rank), 0}; }

  // Memory that is 0 and that NICs may read and write; bound: the caller's.
  virtual ggas_rc take(uint64_t bytes, void* bound, memory& m) = 0;
  // Memory of a descriptor. elsewhere: it may lie in another device than the host's memory.
  virtual ggas_rc take(const buffer& b, memory& m, bool& elsewhere) = 0;
  virtual void give(const memory& m) = 0;
  // Network logical address of bytes in registered memory.
  virtual uint64_t nla_of(const void* at, uint64_t bytes) const = 0;

  // ---- the GPU of the rank's node, if it has one
  struct gpu_memory {
    std::byte* window = nullptr;   // of all ranks; this process reaches its own part
    uint64_t stride = 0, nla = 0;  // nla: where the memory of the own GPU begins
    int number = 0;                // of the GPU, as this process counts
  };
  // Once. The first `kept` of the bytes are never given out.
  virtual ggas_rc open_gpu(const char* module, int number, uint64_t bytes, uint64_t kept, gpu_memory& m) = 0;
  virtual ggas_rc take_gpu(uint64_t bytes, memory& m) = 0;  // of zeros; given back as other memory
  virtual bool on_gpu(const void* at) const = 0;
  // Whether nla_of() knows the bytes.
  virtual bool reaches(const void* at, uint64_t bytes) const = 0;
  // Begins a copy by the GPU, of memory that was taken; one at a time. Until it is over neither side may be touched.
  virtual ggas_rc begin_copy(void* to, const void* from, uint64_t bytes) = 0;
  virtual void end_copy() = 0;

  // Gives a number to all ranks and gets theirs: the last step of the start.
  virtual ggas_rc tell_all(uint64_t mine, std::vector<uint64_t>& all) = 0;

  // The processor has worked for a call of the library.
  virtual void call() = 0;
  // Waits until a byte changes, a rank ends or the time is over; may return earlier. 0: polls once. round: the number
  // of earlier pauses of the same wait. A thread lets others have their turns after longest_pause_ns().
  virtual void pause(std::span<const watched> at, uint64_t ns, unsigned round) = 0;
  virtual uint64_t longest_pause_ns() const { return 1'000'000; }
  // A wait is over that has paused.
  virtual void awake() {}
  // Called by another thread, which waits for its turn: a pause ends.
  virtual void disturb() {}
  virtual uint64_t time_ns() = 0;
  // How many ranks are known to have ended: a change says that states are to be looked at.
  virtual unsigned ended() const = 0;
  virtual ggas_state state(unsigned rank) = 0;
  virtual ggas_rc kill(unsigned rank) = 0;
};

// NICs of a simulator that `ggas-run --sim` has started.
ggas_rc make_sim_access(const job& j, std::unique_ptr<access>& made);
// The NIC through the driver. met: how the ranks have found each other; null: by the launcher's Unix sockets.
ggas_rc make_hw_access(const job& j, std::unique_ptr<start::blobs> met, std::unique_ptr<access>& made);
ggas_rc make_nic(std::unique_ptr<access> to, std::unique_ptr<transport>& made);

}  // namespace ggas::library::nic
