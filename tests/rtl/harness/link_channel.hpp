// SPDX-License-Identifier: Apache-2.0
// One direction of a link between two NICs: a fixed latency, one flit a cycle, and faults.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "sim/nic/packet.hpp"
#include "tests/rtl/harness/rng.hpp"

namespace ggas::test {

enum class fault : uint8_t { none, drop, corrupt, duplicate };

class link_channel {
 public:
  link_channel(unsigned width, unsigned latency, uint64_t seed) : width_(width), latency_(latency), rng_(seed) {}

  // Chance of each fault, per flit.
  double drop = 0, corrupt = 0, duplicate = 0;
  // Faults by flit index (since construction or restart_index).
  std::map<uint64_t, fault> at;
  // Flits lost by their content (seen in order, faults of other kinds excluded).
  std::function<bool(const nic::flit&)> drop_if;
  // Carries nothing while true.
  bool cut = false;
  // Sees every packet and may change it (the CRC is computed again), like a misbehaving node. Packets are then passed
  // on whole.
  std::function<void(nic::packet&)> forge;

  void restart_index() { index_ = 0; }
  uint64_t index() const { return index_; }
  uint64_t faults() const { return faults_; }
  bool empty() const { return queue_.empty(); }

  void send(const nic::flit& f, uint64_t now) {
    const fault what = choose();
    ++index_;
    if (cut) return;
    if (forge && f.kind != nic::flit_kind::ctrl) return pass_forged(f, now);
    const bool lost = what == fault::drop || (drop_if && drop_if(f));
    if (what != fault::none || lost) ++faults_;
    if (lost) return;
    queue_.push_back({now + latency_, f});
    if (what == fault::corrupt) flip(queue_.back().f);
    if (what == fault::duplicate) queue_.push_back({now + latency_, f});
  }
  // A flit of the tester's own, after those under way.
  void inject(const nic::flit& f, uint64_t now) { queue_.push_back({now + latency_, f}); }

  std::optional<nic::flit> receive(uint64_t now) {
    if (queue_.empty() || queue_.front().at > now) return std::nullopt;
    const nic::flit f = queue_.front().f;
    queue_.pop_front();
    return f;
  }

 private:
  struct entry {
    uint64_t at;
    nic::flit f;
  };
  fault choose() {
    if (const auto it = at.find(index_); it != at.end()) return it->second;
    if (drop + corrupt + duplicate == 0) return fault::none;
    if (rng_.chance(drop)) return fault::drop;
    if (rng_.chance(corrupt)) return fault::corrupt;
    return rng_.chance(duplicate) ? fault::duplicate : fault::none;
  }
  void pass_forged(const nic::flit& f, uint64_t now) {
    auto p = decoder_.push(f);
    if (!p) return;
    forge(*p);
    for (const auto& g : nic::to_flits(*p, width_)) queue_.push_back({now + latency_, g});
  }
  void flip(nic::flit& f) {
    const uint64_t bit = rng_.below(width_ + 2);
    if (bit < width_)
      f.data[bit / 64] ^= uint64_t{1} << bit % 64;
    else
      f.kind = nic::flit_kind(unsigned(f.kind) ^ (1u << (bit - width_)));
  }

  unsigned width_, latency_;
  nic::flit_decoder decoder_{width_};
  rng rng_;
  uint64_t index_ = 0, faults_ = 0;
  std::deque<entry> queue_;
};

}  // namespace ggas::test
