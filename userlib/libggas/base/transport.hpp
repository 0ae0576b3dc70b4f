// SPDX-License-Identifier: Apache-2.0
// Interface of a transport to other ranks: one table of functions. The core has checked ranks, ids, queues and groups;
// a transport checks the rest: whether a segment exists, its bounds, whether a rank is alive. Every function may be
// called by any thread, unless its comment says otherwise.
#pragma once

#include <memory>
#include <vector>

#include "ggas/ggas.h"
#include "ggas/job.hpp"
#include "userlib/libggas/base/limit.hpp"
#include "userlib/start/blobs.hpp"

namespace ggas::library {

struct place {
  unsigned rank, segment;
  uint64_t offset;
};

// Exchange of small parts between the members of a group, in rounds. The core makes every collective of rounds. One
// thread at a time uses it.
class exchange {
 public:
  static constexpr size_t part_most = GGAS_ELEMENT_MOST + 64;  // bytes of a part
  static constexpr size_t block_bytes = 64 << 10;
  enum class block { input, result };

  virtual ~exchange() = default;
  // Finds the other members. GGAS_TIMEOUT: call it again.
  virtual ggas_rc commit(limit until) = 0;
  // Begins the next round with a part of this member, or without.
  virtual void arrive(const void* part, size_t bytes) = 0;
  // Until all members have arrived. GGAS_ERR_PEER: one has ended before it did. GGAS_TIMEOUT: call it again.
  virtual ggas_rc await(limit until) = 0;
  // The part of a member in the round that was awaited last; until the next arrive().
  virtual const std::byte* part(size_t member) const = 0;
  // This member's block, which all may read, two of each kind in turn. Data written before arrive() are visible to
  // others after await(), and stay until their writer has begun two more rounds.
  virtual std::byte* mine(block kind, unsigned turn) = 0;
  // Bytes of a member's block, to be read until the next call of this object.
  virtual ggas_rc look(size_t member, block kind, unsigned turn, size_t offset, size_t bytes, const std::byte*& at) = 0;
};

class gpus;  // gpu/gpus.hpp

// Memory of a descriptor, which this process has mapped.
struct buffer {
  int fd;
  uint64_t offset, bytes;
  void* at;  // of the byte at the offset
};

class transport {
 public:
  virtual ~transport() = default;
  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;
  // Time of this rank since its program began, or its simulation. Goes on even if it is asked for again and again.
  virtual uint64_t time_ns() = 0;

  // Looked at now.
  virtual ggas_state state(unsigned rank) = 0;
  virtual ggas_rc kill(unsigned rank) = 0;

  // Segments of this rank. bound: memory of the user; null: new memory.
  virtual ggas_rc segment_open(unsigned segment, uint64_t bytes, void* bound) = 0;
  // It stays mapped until the segment is closed.
  virtual ggas_rc segment_open(unsigned segment, const buffer& b) = 0;
  virtual ggas_rc segment_close(unsigned segment) = 0;
  virtual ggas_rc segment_permit(unsigned segment, unsigned rank) = 0;
  // Start of a segment of this rank, of which bytes offset ... offset + bytes - 1 are wanted.
  virtual ggas_rc segment_here(unsigned segment, uint64_t offset, uint64_t bytes, std::byte*& start) = 0;
  virtual ggas_rc segment_bytes(unsigned segment, unsigned rank, uint64_t& bytes) = 0;

  // In order for a target and a queue. Memory of this rank must stay as it is until flush().
  virtual ggas_rc write(const place& to, const void* from, uint64_t bytes, unsigned queue, limit until) = 0;
  // The same for an unchecked part as the caller passed it, if it needs only a copy. Returns false if nothing was done;
  // then the calls above do it or return the error.
  virtual bool write_at_once(const ggas_part&, unsigned /*rank*/, unsigned /*queue*/) { return false; }
  virtual ggas_rc read(const place& from, void* to, uint64_t bytes, unsigned queue, limit until) = 0;
  virtual ggas_rc notify(const place& slot, uint32_t value, unsigned queue, limit until) = 0;  // offset: number of it
  // GGAS_ERR_PEER, repeatedly until forget(): a request posted since the last successful flush has failed, or was for a
  // lost rank. Data that a rank got before it left count as delivered.
  virtual ggas_rc flush(unsigned queue, limit until) = 0;
  virtual void forget(unsigned queue) = 0;

  virtual ggas_rc fetch_add(const place& at, uint64_t add, uint64_t& old, limit until) = 0;
  virtual ggas_rc compare_swap(const place& at, uint64_t expected, uint64_t desired, uint64_t& old, limit until) = 0;

  virtual ggas_rc waitsome(unsigned segment, unsigned first, unsigned count, unsigned& found, limit until) = 0;
  virtual ggas_rc reset(unsigned segment, unsigned slot, uint32_t& old) = 0;

  virtual ggas_rc send(unsigned rank, const void* from, uint64_t bytes, limit until) = 0;
  virtual ggas_rc receive(void* to, uint64_t room, unsigned& rank, limit until) = 0;

  // Null: it has no segments of GPUs.
  virtual gpus* of_gpus() { return nullptr; }

  // members: ranks, ascending, this one among them. Null, with a text: no group is left.
  virtual std::unique_ptr<exchange> group(const std::vector<unsigned>& members) = 0;
};

// Processes of one computer.
ggas_rc make_shm(const job& j, std::unique_ptr<transport>& made);
// The one that the environment asks for (GGAS_TRANSPORT). met: start/meet.hpp.
ggas_rc make_transport(const job& j, std::unique_ptr<start::blobs> met, std::unique_ptr<transport>& made);

}  // namespace ggas::library
