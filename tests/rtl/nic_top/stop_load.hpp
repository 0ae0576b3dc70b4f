// SPDX-License-Identifier: Apache-2.0
// Contexts, windows and the event ring of NIC 0 are stopped and set up again all the time, while both nodes send to
// them as fast as they can. Each is set up in memory that nothing else uses; from the cycle in which software reads
// that it is stopped until it is set up again, no write may go there.
#pragma once

#include <map>
#include <vector>

#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test {

// Memory that belongs to someone, or to no one: pages of either host.
class ownership {
 public:
  explicit ownership(rig& r) : rig_(r) {}
  void give(unsigned side, uint64_t page, const char* whose) { pages_[key(side, page)] = whose; }
  void take(unsigned side, uint64_t page) { pages_[key(side, page)] = nullptr; }
  // A request of the NIC of a side: writes, and reads of a segment, of pages that are no one's.
  void see(unsigned side, const pcie::tlp& t) {
    if (t.completion()) return;
    if (nic_stopped && side == 0 && t.posted()) rig_.fail.add("write to {:#x} after the stop of the NIC", t.addr);
    const auto it = pages_.find(key(side, t.addr));
    if (it == pages_.end()) return;
    ++seen_;
    if (!it->second)
      rig_.fail.add("side {}: {} {:#x} after the stop", side, t.posted() ? "write to" : "read of", t.addr);
  }
  uint64_t seen() const { return seen_; }
  bool nic_stopped = false;

 private:
  static uint64_t key(unsigned side, uint64_t addr) { return addr >> 12 << 1 | side; }
  rig& rig_;
  std::map<uint64_t, const char*> pages_;
  uint64_t seen_ = 0;
};

// Something that is on for a while, is stopped, and starts again somewhere else.
class stoppable {
 public:
  virtual ~stoppable() = default;
  virtual void start() = 0;
  virtual void work() {}                                     // once in a while as long as it is on
  virtual void stop() = 0;                                   // software writes
  virtual void ask(std::function<void(bool)> reported) = 0;  // is it stopped?
  virtual void forget() = 0;                                 // its memory is no one's from now on

  enum class state { off, on, stopping, asking } now = state::off;
  uint64_t until = 0, asked = 0;
};

// One context of NIC 0: its rings, status block and the page that its gets and results go to.
class stopped_context : public stoppable {
 public:
  static constexpr uint64_t areas = 0xC'0000'0000, area_bytes = 0x8000;
  static constexpr unsigned area_pages = 5;
  static constexpr uint16_t domain = 1;
  stopped_context(rma_world& w, ownership& o, uint8_t vpid, uint64_t seed) : w_(w), o_(o), vpid_(vpid), rng_(seed) {}

  void start() override;
  void work() override;
  void stop() override { reg(GGAS_REG_CONTEXT_CTRL(vpid_), 0); }
  void ask(std::function<void(bool)> reported) override {
    w_.r.s[0].host->read(make_read(bar_registers, GGAS_REG_CONTEXT_STATE(vpid_), 2),
                         [reported](const read_result& r) { reported(r.value() & 1); });
  }
  void forget() override {
    for (unsigned p = 0; p < area_pages; ++p) o_.take(0, area() + 0x1000 * p);
  }
  // Where gets and results of the area go; mapped for good.
  static uint64_t data(unsigned area) { return nla(0, area, 0); }
  uint64_t area() const { return areas + area_ * area_bytes; }
  uint64_t page() const { return vpid_ * nic::rma_context_bytes; }

 private:
  void reg(uint32_t offset, uint64_t v) { w_.r.write_register(0, uint16_t(offset), v); }
  nic::descriptor something();
  rma_world& w_;
  ownership& o_;
  uint8_t vpid_;
  rng rng_;
  unsigned area_ = 0, slots_ = 0;
  bool queue_ = false, second_ = false;
};

// One export of NIC 0, given to two domains in turn, each time at another place. Intervals of NIC 1 lead to it for both
// domains: packets that the former domain still sends reach the export of the next one.
class stopped_export : public stoppable {
 public:
  static constexpr uint64_t areas = 0xA'0000'0000;
  static constexpr unsigned pages = 2, places = 4;
  stopped_export(rig& r, ownership& o, uint8_t number) : r_(r), o_(o), number_(number) {
    for (unsigned d = 0; d < 2; ++d) {
      r.map(1, 2 * number + d,
            {.start = window_of(d),
             .end = window_of(d) + pages * 0x1000,
             .node = r.cfg.id[0],
             .number = number,
             .domain = uint16_t(domain(d))});
    }
  }
  void start() override {
    ++turn_;
    for (unsigned p = 0; p < pages; ++p) o_.give(0, base() + 0x1000 * p, "export");
    r_.give_out(0, number_, base(), pages * 0x1000, uint16_t(domain(turn_ % 2)));
  }
  void stop() override { r_.write_register(0, uint16_t(GGAS_REG_EXPORT_ACCESS(number_)), 0); }
  void ask(std::function<void(bool)> reported) override {
    r_.s[0].host->read(make_read(bar_registers, GGAS_REG_EXPORT_STATE(number_), 2),
                       [reported](const read_result& r) { reported(r.value() & GGAS_EXPORT_STATE_STOPPED_MASK); });
  }
  void forget() override {
    for (unsigned p = 0; p < pages; ++p) o_.take(0, base() + 0x1000 * p);
  }
  // Address in the window of NIC 1, for the domain that has the export, or for the former one.
  uint64_t window(bool owner) const { return window_of((turn_ + !owner) % 2); }

 private:
  uint64_t window_of(unsigned d) const { return 0x200'0000'0000 + (uint64_t{2 * number_ + d} << 24); }
  uint64_t domain(unsigned d) const { return 0x100 + 2 * number_ + d; }
  uint64_t base() const { return areas + (uint64_t{number_} << 24) + (turn_ % places << 16); }
  rig& r_;
  ownership& o_;
  uint8_t number_;
  unsigned turn_ = 0;
};

// The exported segment of NIC 0.
class stopped_ingress : public stoppable {
 public:
  static constexpr uint64_t bases[2] = {0x4000'0000, 0x5000'0000};
  static constexpr unsigned pages = 16;
  stopped_ingress(rig& r, ownership& o) : r_(r), o_(o) {}
  void start() override {
    turn_ ^= 1;
    for (unsigned p = 0; p < pages; ++p) o_.give(0, bases[turn_] + 0x1000 * p, "segment");
    r_.give_out(0, rig::segment_export, bases[turn_], r_.cfg.stride, rig::window_domain);
    r_.write_register(0, GGAS_REG_SMFU_CTRL, 3);
  }
  void stop() override { r_.write_register(0, GGAS_REG_SMFU_CTRL, GGAS_SMFU_CTRL_EGRESS_MASK); }
  void ask(std::function<void(bool)> reported) override {
    r_.s[0].host->read(make_read(bar_registers, GGAS_REG_STOPPED, 2),
                       [reported](const read_result& r) { reported(r.value() & GGAS_STOPPED_INGRESS_MASK); });
  }
  void forget() override {
    for (unsigned p = 0; p < pages; ++p) o_.take(0, bases[turn_] + 0x1000 * p);
  }

 private:
  rig& r_;
  ownership& o_;
  unsigned turn_ = 0;
};

// An interval of NIC 0's window, onto a page of node 1's segment of its own: a quiet reports that it is stopped.
class stopped_interval : public stoppable {
 public:
  stopped_interval(rig& r, ownership& o, unsigned index, uint64_t seed) : r_(r), o_(o), index_(index), rng_(seed) {}
  void start() override {
    o_.give(1, page(), "page of an interval");
    r_.write_register(0, uint16_t(GGAS_REG_INTERVAL_TARGET(index_)), r_.cfg.id[1] | rig::to_segment);
  }
  void set_up() {
    r_.write_register(0, uint16_t(GGAS_REG_INTERVAL_START(index_)), window());
    r_.write_register(0, uint16_t(GGAS_REG_INTERVAL_END(index_)), window() + (uint64_t{index_ + 1} << 12));
  }
  void work() override {
    r_.write(0, make_write(bar_window, window() + (uint64_t{index_} << 12) + 4 * rng_.below(960),
                           some_dws(unsigned(rng_.range(1, 64)), 7)));
  }
  void stop() override { r_.write_register(0, uint16_t(GGAS_REG_INTERVAL_TARGET(index_)), 0); }
  void ask(std::function<void(bool)> reported) override {
    r_.s[0].host->read(make_read(bar_pages, index_ * nic::rma_context_bytes, 2),
                       [reported](const read_result& r) { reported(r.ok() && r.value() == 0); });
  }
  void forget() override { o_.take(1, page()); }
  uint64_t page() const { return r_.bus(1, uint64_t{index_} << 12); }

 private:
  uint64_t window() const { return 0x100'0000'0000 + (uint64_t{index_} << 24); }
  rig& r_;
  ownership& o_;
  unsigned index_;
  rng rng_;
};

// The event ring; events come from packets that the other stops refuse.
class stopped_events : public stoppable {
 public:
  static constexpr uint64_t rings = 0xB'0000'0000;
  stopped_events(rig& r, ownership& o) : r_(r), o_(o) {}
  void start() override {
    ++turn_;
    o_.give(0, ring(), "event ring");
    r_.write_register(0, GGAS_REG_EVQ_BASE, ring());
    r_.write_register(0, GGAS_REG_EVQ_TAIL, 0);
    r_.write_register(0, GGAS_REG_EVQ_CTRL, 1 | 6 << 8 | 3 << 16);
  }
  void stop() override { r_.write_register(0, GGAS_REG_EVQ_CTRL, 6 << 8); }
  void ask(std::function<void(bool)> reported) override {
    r_.s[0].host->read(make_read(bar_registers, GGAS_REG_STOPPED, 2),
                       [reported](const read_result& r) { reported(r.value() & GGAS_STOPPED_EVENTS_MASK); });
  }
  void forget() override { o_.take(0, ring()); }

 private:
  uint64_t ring() const { return rings + (turn_ % 4 << 12); }
  rig& r_;
  ownership& o_;
  unsigned turn_ = 0;
};

// Everything together: `contexts` contexts, intervals, exports, the ingress and the event ring of NIC 0; the senders
// are contexts of node 1.
class stop_load {
 public:
  stop_load(rma_world& w, unsigned contexts, unsigned intervals, unsigned exports, uint64_t seed);
  // Until so many stops were acknowledged; false if one never is.
  bool run(uint64_t stops);
  // The whole NIC, then everything it served; when it goes on all of that starts afresh.
  bool stop_nic();
  struct counts {
    uint64_t contexts = 0, intervals = 0, exports = 0, ingress = 0, events = 0;
    uint64_t all() const { return contexts + intervals + exports + ingress + events; }
  };
  const counts& stopped() const { return stopped_; }
  uint64_t writes_seen() const { return owners_.seen(); }

 private:
  static constexpr uint64_t timeout = 1'000'000;  // cycles that a stop may take
  bool step(stoppable& s, uint64_t& count);
  bool stop_now(stoppable& s);
  void send();
  rma_world& w_;
  ownership owners_;
  rng rng_;
  std::vector<std::unique_ptr<stopped_context>> contexts_;
  std::vector<std::unique_ptr<stopped_interval>> intervals_;
  std::vector<std::unique_ptr<stopped_export>> exports_;
  stopped_ingress ingress_;
  stopped_events events_;
  counts stopped_;
};

}  // namespace ggas::test
