// SPDX-License-Identifier: Apache-2.0
#include "sim/ranks/lockstep.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace ggas::sim {

namespace {

struct state {
  uint64_t now_ps, next_send_ps;  // where a rank stands, and when it may send the next flit
  bool done, broken;
};

// What happens at the end of a link.
struct arrival {
  enum class kind : uint8_t { flit, up, down };
  kind what;
  uint32_t node, port;
  uint64_t at_ps;
  nic::flit flit;
};

// Ranks are the same program.
template <class T>
void append(std::string& to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T take(const std::string& from, size_t& at) {
  T value;
  std::memcpy(&value, from.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

}  // namespace

struct lockstep::far_end final : fabric::flit_sink {
  far_end(std::string& box, unsigned node_, unsigned port_) : outbox(box), node(node_), port(port_) {}
  void deliver(const nic::flit& f, uint64_t at_ps) override {
    append(outbox, arrival{arrival::kind::flit, node, port, at_ps, f});
  }
  void carrier(bool up, uint64_t at_ps) override {
    append(outbox, arrival{up ? arrival::kind::up : arrival::kind::down, node, port, at_ps, {}});
  }
  std::string& outbox;
  uint32_t node, port;
};

lockstep::lockstep(ranks& all, kernel& k, config cfg) : ranks_(all), kernel_(k), cfg_(std::move(cfg)) {}
lockstep::~lockstep() = default;

fabric::flit_sink& lockstep::remote(unsigned node, unsigned port) {
  return *ends_.emplace_back(std::make_unique<far_end>(outbox_, node, port));
}

// All ranks report where they stand and hand over what they have sent.
lockstep::meeting lockstep::meet(bool done, bool broken) {
  kernel_.enter();
  std::string mine;
  append(mine, state{kernel_.now_ps(), cfg_.next_send_ps(), done, broken});
  mine += std::exchange(outbox_, {});
  meeting m{.first = ~uint64_t{0}};
  for (const std::string& text : ranks_.gather(mine)) {
    size_t at = 0;
    const auto s = take<state>(text, at);
    m.all_done = m.all_done && s.done;
    m.any_broken = m.any_broken || s.broken;
    m.first = std::min(m.first, s.now_ps);
    m.last = std::max(m.last, s.now_ps);
    m.next_send = std::min(m.next_send, s.next_send_ps);
    while (at < text.size()) {
      const auto a = take<arrival>(text, at);
      m.next_send = std::min(m.next_send, a.at_ps);
      fabric::flit_sink* const end = cfg_.find(a.node, a.port);
      if (!end) continue;
      if (a.what == arrival::kind::flit)
        end->deliver(a.flit, a.at_ps);
      else
        end->carrier(a.what == arrival::kind::up, a.at_ps);
    }
  }
  return m;
}

void lockstep::advance(uint64_t to_ps) {
  kernel_.run_until([] { return false; }, to_ps - kernel_.now_ps());
}

bool lockstep::run_until(const std::function<bool()>& done, const std::function<bool()>& broken, uint64_t timeout_ps) {
  const uint64_t end = kernel_.end_of(timeout_ps);
  bool mine = done(), broke = mine && broken();
  for (;;) {
    const meeting m = meet(mine, broke);
    // Who was done before the end of the window has waited there: the last one's time may be the end of it all.
    advance(m.last);
    if (m.all_done) kernel_.finish_instant();
    if (m.all_done || (m.any_broken && m.first == m.last)) return true;
    if (m.first != m.last) continue;
    if (m.last >= end) return false;
    const uint64_t begin = std::max(m.last, m.next_send);
    const uint64_t window_end = begin < end - std::min(end, cfg_.flight_ps) ? begin + cfg_.flight_ps : end;
    if (mine) continue;
    mine = kernel_.run_until(done, window_end - m.last);
    broke = mine && broken();
  }
}

}  // namespace ggas::sim
