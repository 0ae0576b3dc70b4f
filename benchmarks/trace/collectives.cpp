// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/trace/collectives.hpp"

#include <algorithm>

namespace ggas::bench {

namespace {

// An allreduce whose pieces would be smaller goes up and down a tree: fewer steps, as libraries choose it.
constexpr uint64_t least_ring_piece = 1024;
constexpr uint64_t token_bytes = 8;  // of a barrier

// Writes the part of one rank. Each member function adds messages after operation `ready` and returns the operation
// after which their data have arrived.
class writer {
 public:
  explicit writer(const collective_part& part) : p_(part), size_(uint32_t(part.group.size())) {}

  // Steps around the ring: what came in one step goes on in the next.
  uint32_t ring(uint32_t steps, uint64_t piece, uint32_t ready) {
    for (uint32_t step = 0; step < steps; ++step) {
      send(p_.me + 1, piece, ready);
      ready = receive(p_.me + size_ - 1, piece, ready);
    }
    return ready;
  }
  // Binomial trees from and to the first of the group.
  uint32_t down(uint64_t bytes, uint32_t ready) {
    uint32_t mask = 1;
    for (; mask < size_ && !(p_.me & mask); mask <<= 1) continue;
    if (p_.me != 0) ready = receive(p_.me - mask, bytes, ready);
    for (mask >>= 1; mask != 0; mask >>= 1)
      if (p_.me + mask < size_) send(p_.me + mask, bytes, ready);
    return ready;
  }
  uint32_t up(uint64_t bytes, uint32_t ready) {
    for (uint32_t mask = 1; mask < size_; mask <<= 1) {
      if (p_.me & mask) {
        send(p_.me - mask, bytes, ready);
        break;
      }
      if (p_.me + mask < size_) ready = receive(p_.me + mask, bytes, ready);
    }
    return ready;
  }
  // In each step to the rank twice as far away.
  void dissemination(uint32_t ready) {
    for (uint32_t far = 1; far < size_; far *= 2) {
      send(p_.me + far, token_bytes, ready);
      ready = receive(p_.me + size_ - far, token_bytes, ready);
    }
  }
  // One message after the other to each rank, beginning with the next.
  void to_each(uint64_t piece, uint32_t ready) {
    for (uint32_t far = 1; far < size_; ++far) ready = send(p_.me + far, piece, ready);
  }
  void to_first(uint64_t piece, uint32_t ready) { send(0, piece, ready); }
  void from_first(uint64_t piece, uint32_t ready) { receive(0, piece, ready); }
  void from_each(uint64_t piece, uint32_t ready) {
    for (uint32_t far = 1; far < size_; ++far) receive(p_.me + far, piece, ready);
  }

 private:
  uint32_t send(uint32_t to, uint64_t bytes, uint32_t ready) { return add(schedule_op::kind::send, to, bytes, ready); }
  uint32_t receive(uint32_t from, uint64_t bytes, uint32_t ready) {
    return add(schedule_op::kind::recv, from, bytes, ready);
  }
  uint32_t add(schedule_op::kind what, uint32_t peer, uint64_t bytes, uint32_t ready) {
    schedule_op op;
    op.what = what;
    op.amount = bytes;
    op.peer = p_.group[peer % size_];
    op.tag = p_.tag;
    op.place = p_.place;
    p_.ops.push_back(std::move(op));
    const uint32_t i = uint32_t(p_.ops.size() - 1);
    after(p_.ops, ready, i);
    after(p_.ops, i, p_.end);
    return i;
  }

  collective_part p_;
  uint32_t size_;
};

}  // namespace

void after(std::vector<schedule_op>& ops, uint32_t first, uint32_t later) {
  ops[first].at_end.push_back(later);
  ++ops[later].waits;
}

void add_collective(const collective_part& part, chakra_collective what, uint64_t bytes) {
  writer w(part);
  const uint32_t size = uint32_t(part.group.size());
  const uint64_t piece = (bytes + size - 1) / size;
  const bool root = part.me == 0;
  after(part.ops, part.begin, part.end);
  if (size == 1) return;
  switch (what) {
    case chakra_collective::all_reduce:
      if (piece >= least_ring_piece)
        w.ring(2 * (size - 1), piece, part.begin);
      else
        w.down(bytes, w.up(bytes, part.begin));
      break;
    case chakra_collective::reduce:
      w.up(bytes, part.begin);
      break;
    case chakra_collective::all_gather:
      w.ring(size - 1, bytes, part.begin);
      break;
    case chakra_collective::gather:
      if (root)
        w.from_each(bytes, part.begin);
      else
        w.to_first(bytes, part.begin);
      break;
    case chakra_collective::scatter:
      if (root)
        w.to_each(piece, part.begin);
      else
        w.from_first(piece, part.begin);
      break;
    case chakra_collective::broadcast:
      w.down(bytes, part.begin);
      break;
    case chakra_collective::all_to_all:
      w.to_each(piece, part.begin);
      w.from_each(piece, part.begin);
      break;
    case chakra_collective::reduce_scatter:
    case chakra_collective::reduce_scatter_block:
      w.ring(size - 1, piece, part.begin);
      break;
    case chakra_collective::barrier:
      w.dissemination(part.begin);
      break;
  }
}

}  // namespace ggas::bench
