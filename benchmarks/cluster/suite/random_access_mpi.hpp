// SPDX-License-Identifier: Apache-2.0
// RandomAccess as an MPI program: the processors make the stream and send each number to its owner's processor; the
// tables are in GPU memory.
#pragma once

#include <algorithm>
#include <vector>

#include "benchmarks/kernels/random_access/given.cuh"
#include "benchmarks/messages/process.hpp"
#include "ggas/launch.hpp"

namespace ggas::bench {

// Pinned memory: numbers for each owner, and those to be applied here.
inline size_t updates_pinned(int nodes) { return 2 * static_cast<size_t>(nodes) * look_ahead * sizeof(uint64_t); }

class mpi_updates {
 public:
  // `numbers`: offset of look_ahead words for each node in the segments.
  mpi_updates(mpi_process& p, const update_args& a, uint64_t numbers)
      : p_(p), a_(a), numbers_(numbers), nodes_(a.split.nodes), me_(static_cast<uint64_t>(p.node())), counts_(nodes_) {}

  // False: it failed.
  bool run(uint64_t& begin_ns, uint64_t& end_ns) {
    if (!p_.barrier()) return false;
    begin_ns = p_.processor.now_ns();
    uint64_t left = updates_per_word * a_.split.words(me_);
    uint64_t number = hpcc_stream::at(a_.origin + updates_per_word * a_.split.first(me_));
    const uint64_t most = updates_per_word * (a_.split.size() / nodes_ + 1);
    for (uint64_t round = 0; round < (most + look_ahead - 1) / look_ahead; ++round) {
      const uint64_t n = std::min(left, look_ahead);
      left -= n;
      make(number, n);
      const uint64_t here = exchange();
      if (!p_.fault().empty() || !apply(here)) return false;
    }
    end_ns = p_.processor.now_ns();
    return true;
  }

 private:
  uint64_t* bucket(uint64_t owner) const { return reinterpret_cast<uint64_t*>(p_.pinned()) + owner * look_ahead; }
  uint64_t* area() const { return bucket(nodes_); }

  void make(uint64_t& number, uint64_t n) {
    std::ranges::fill(counts_, 0);
    for (uint64_t i = 0; i < n; ++i) {
      number = hpcc_stream::next(number);
      const uint64_t owner = a_.split.owner_of(number);
      uint64_t* const to = owner == me_ ? area() : bucket(owner);
      p_.processor.store(to + counts_[owner]++, number);
    }
  }
  // Returns how many numbers lie in the area.
  uint64_t exchange() {
    std::vector<messages::handle> sent;
    uint64_t here = counts_[me_];
    const auto node = [this](uint64_t distance) { return (me_ + distance) % nodes_; };
    for (uint64_t d = 1; d < nodes_; ++d)
      sent.push_back(p_.net.send(int(node(d)), 1, bucket(node(d)), counts_[node(d)] * sizeof(uint64_t)));
    for (uint64_t d = 1; d < nodes_; ++d) {
      const auto got =
          p_.net.wait(p_.net.receive(int(node(nodes_ - d)), 1, area() + here, look_ahead * sizeof(uint64_t)));
      if (!got) return 0;
      here += got->bytes / sizeof(uint64_t);
    }
    return p_.net.wait_all(sent) ? here : 0;
  }
  bool apply(uint64_t count) {
    if (count == 0) return true;
    const auto blocks = static_cast<unsigned>((count + given_threads - 1) / given_threads);
    cluster& c = p_.machine;
    return p_.queued(c.copy_on_stream(p_.node(), c.segment(p_.node()) + numbers_, area(), count * sizeof(uint64_t))) &&
           p_.queued(launch(c, p_.node(), blocks, given_threads, given_updates, a_, numbers_, count)) &&
           p_.synchronise();
  }

  mpi_process& p_;
  update_args a_;
  uint64_t numbers_, nodes_, me_;
  std::vector<uint64_t> counts_;  // by owner
};

}  // namespace ggas::bench
