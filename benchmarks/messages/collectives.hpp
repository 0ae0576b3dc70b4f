// SPDX-License-Identifier: Apache-2.0
// Collectives of hosts over messages, with the algorithms that Open MPI chooses (ompi/mca/coll/tuned, fixed decisions
// of 1.x): short vectors by recursive doubling, long ones by a ring, reductions to a root by a binomial tree. Vectors
// lie in pinned memory; the processor's accesses to them take time.
#pragma once

#include <algorithm>
#include <vector>

#include "benchmarks/messages/messages.hpp"

namespace ggas::bench {

class host_collectives {
 public:
  host_collectives(messages& m, host& h, int nodes) : messages_(m), host_(h), me_(h.node()), nodes_(nodes) {}

  // Every node has come.
  bool barrier(std::byte* word) {
    for (int distance = 1; distance < nodes_; distance *= 2) {
      const messages::handle both[] = {messages_.send((me_ + distance) % nodes_, tag, word, 1),
                                       messages_.receive((me_ + nodes_ - distance) % nodes_, tag, word + 1, 1)};
      if (!messages_.wait_all(both)) return false;
    }
    return true;
  }

  // Sums of all nodes to node 0, which has them in `data`; the others' data is spoiled. `scratch`: as long.
  template <class T>
  bool reduce(T* data, T* scratch, size_t n) {
    for (int bit = 1; bit < nodes_; bit *= 2) {
      if (me_ & bit) return messages_.send_now(me_ - bit, tag, data, n * sizeof(T));
      if (me_ + bit >= nodes_) continue;
      if (!messages_.receive_now(me_ + bit, tag, scratch, n * sizeof(T))) return false;
      add(data, scratch, n);
    }
    return true;
  }

  // Sums of all nodes to every node.
  template <class T>
  bool allreduce(T* data, T* scratch, size_t n) {
    constexpr size_t long_bytes = 10000;  // Open MPI's intermediate message
    const bool ring = n * sizeof(T) >= long_bytes && n >= size_t(nodes_);
    return ring ? around(data, scratch, n) : doubling(data, scratch, n);
  }

 private:
  static constexpr uint16_t tag = 0xffff;

  template <class T>
  void add(T* data, const T* more, size_t n) {
    std::vector<T> a(n), b(n);
    host_.read(a.data(), data, n * sizeof(T));
    host_.read(b.data(), more, n * sizeof(T));
    for (size_t i = 0; i < n; ++i) a[i] += b[i];
    host_.write(data, a.data(), n * sizeof(T));
  }

  bool exchange(int with, const void* data, void* to, size_t bytes) {
    const messages::handle both[] = {messages_.send(with, tag, data, bytes), messages_.receive(with, tag, to, bytes)};
    return messages_.wait_all(both);
  }

  // If the number of nodes is no power of two, the nodes beyond it give their vector to a partner and get the result.
  template <class T>
  bool doubling(T* data, T* scratch, size_t n) {
    int power = 1;
    while (2 * power <= nodes_) power *= 2;
    const int partner = me_ + power < nodes_ ? me_ + power : -1;
    const size_t bytes = n * sizeof(T);
    if (me_ >= power)
      return messages_.send_now(me_ - power, tag, data, bytes) && messages_.receive_now(me_ - power, tag, data, bytes);
    if (partner >= 0) {
      if (!messages_.receive_now(partner, tag, scratch, bytes)) return false;
      add(data, scratch, n);
    }
    for (int bit = 1; bit < power; bit *= 2) {
      if (!exchange(me_ ^ bit, data, scratch, bytes)) return false;
      add(data, scratch, n);
    }
    return partner < 0 || messages_.send_now(partner, tag, data, bytes);
  }

  // Parts go around twice: each is summed on its way, then given to all.
  template <class T>
  bool around(T* data, T* scratch, size_t n) {
    const int next = (me_ + 1) % nodes_, before = (me_ + nodes_ - 1) % nodes_;
    const auto number = [&](int part) { return size_t((part + 2 * nodes_) % nodes_); };
    const auto first = [&](int part) { return n * number(part) / size_t(nodes_); };
    const auto count = [&](int part) { return n * (number(part) + 1) / size_t(nodes_) - first(part); };
    for (int turn = 0; turn < 2 * (nodes_ - 1); ++turn) {
      const bool sums = turn < nodes_ - 1;
      const int gives = me_ - turn, takes = gives - 1;
      T* const to = sums ? scratch : data + first(takes);
      const messages::handle both[] = {messages_.send(next, tag, data + first(gives), count(gives) * sizeof(T)),
                                       messages_.receive(before, tag, to, count(takes) * sizeof(T))};
      if (!messages_.wait_all(both)) return false;
      if (sums) add(data + first(takes), scratch, count(takes));
    }
    return true;
  }

  messages& messages_;
  host& host_;
  int me_, nodes_;
};

}  // namespace ggas::bench
