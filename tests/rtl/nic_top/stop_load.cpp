// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/nic_top/stop_load.hpp"

namespace ggas::test {

using nic::desc_op;
using nic::descriptor;

namespace {
constexpr unsigned ring_log2 = 4, mailbox_log2 = 4, queue_log2 = 4, areas_of_a_context = 4;
constexpr unsigned first_sender = 200, senders = 12;
constexpr uint8_t first_export = 20;
constexpr unsigned scratch_page = 400;  // of either node: what gets read and puts write
}  // namespace

// ---------------------------------------------------------------------------------------------- a context

void stopped_context::start() {
  area_ = vpid_ * areas_of_a_context + (area_ + 1 + unsigned(rng_.below(areas_of_a_context - 1))) % areas_of_a_context;
  slots_ = 0;
  queue_ = rng_.chance(0.3);
  for (unsigned p = 0; p < area_pages; ++p) o_.give(0, area() + 0x1000 * p, "context");
  driver::set_context(w_.r.registers_of(0), vpid_,
                      {.notifications = area(),
                       .status = area() + 0x2000,
                       .mailbox = area() + 0x1000,
                       .queue = area() + 0x4000,
                       .notify_log2 = ring_log2,
                       .mailbox_log2 = mailbox_log2,
                       .queue_log2 = queue_log2,
                       .domain = domain,
                       .queued = queue_});
}

descriptor stopped_context::something() {
  constexpr desc_op ops[] = {desc_op::get, desc_op::get, desc_op::put, desc_op::imm, desc_op::nop, desc_op::atomic};
  descriptor d{.op = ops[rng_.below(6)]};
  d.notify_requester = rng_.chance(0.4);
  d.notify_completer = d.op == desc_op::get && rng_.chance(0.4);
  d.ack = rng_.chance(0.3);
  d.node = w_.r.cfg.id[rng_.below(2)];
  d.size = d.op == desc_op::atomic || d.op == desc_op::imm ? 8 : unsigned(rng_.range(1, 900));
  d.w1 = nla(0, scratch_page, 8 * rng_.below(256));
  d.w2 = nla(0, scratch_page, 8 * rng_.below(256));
  if (d.op == desc_op::get) d.w2 = data(area_) + 4 * rng_.below(512);
  if (d.op == desc_op::atomic) d.second[1] = data(area_) + 16 * rng_.below(256);
  d.cookie = rng_.below(1u << 30);
  return d;
}

// Descriptors for its slots, as many as it has: no need to know when they are consumed.
void stopped_context::work() {
  const auto slots = something().encode();
  if (slots_ + slots.size() > nic::rma_slots) return;
  for (const auto& s : slots) {
    if (queue_) {
      for (unsigned i = 0; i < 8; ++i) w_.r.s[0].host->mem.store32(area() + 0x4000 + 32 * slots_ + 4 * i, s[i], 15);
    } else {
      w_.r.write(0, make_write(bar_pages, page() + nic::rma_slots_offset + 32 * slots_, {s.begin(), s.end()}));
    }
    ++slots_;
  }
  if (queue_) w_.r.write(0, make_write(bar_pages, page() + nic::rma_doorbell_queue, {slots_}));
}

// ---------------------------------------------------------------------------------------------- all of them

stop_load::stop_load(rma_world& w, unsigned contexts, unsigned intervals, unsigned exports, uint64_t seed)
    : w_(w), owners_(w.r), rng_(seed), ingress_(w.r, owners_), events_(w.r, owners_) {
  for (unsigned a = 0; a < contexts * areas_of_a_context; ++a)
    w.driver.map(0, stopped_context::data(a), stopped_context::areas + a * stopped_context::area_bytes + 0x3000,
                 stopped_context::domain);
  for (unsigned n = 0; n < 2; ++n) w.driver.map(n, nla(0, scratch_page), rma_data, stopped_context::domain);
  for (unsigned i = 0; i < contexts; ++i)
    contexts_.push_back(std::make_unique<stopped_context>(w, owners_, uint8_t(i), seed + i));
  for (unsigned i = 0; i < intervals; ++i) {
    intervals_.push_back(std::make_unique<stopped_interval>(w.r, owners_, 8 + i, seed + i));
    intervals_.back()->set_up();
  }
  for (unsigned i = 0; i < exports; ++i)
    exports_.push_back(std::make_unique<stopped_export>(w.r, owners_, uint8_t(first_export + i)));
  for (unsigned i = 0; i < senders; ++i)
    w.user({.side = 1,
            .vpid = uint8_t(first_sender + i),
            .pd = stopped_context::domain,
            .backpressure = false,
            .notify_log2 = 8});
  w.r.write_register(0, GGAS_REG_EVQ_CTRL, 0);
  w.r.on_tlp_out = [this](unsigned at, const pcie::tlp& t) { owners_.see(at, t); };
}

// Traffic of node 1 to node 0: messages, notifications and puts to contexts, stores and loads to the segment and the
// exports.
void stop_load::send() {
  for (auto& u : w_.users) {
    if (!u->all_written() || !rng_.chance(0.05)) continue;
    descriptor d{.op = rng_.chance(0.4) ? desc_op::send : rng_.chance(0.5) ? desc_op::imm : desc_op::notify};
    d.notify_completer = d.op != desc_op::send;
    d.strong = d.notify_completer && rng_.chance(0.1);
    d.dvpid = uint8_t(rng_.below(contexts_.size()));
    d.node = w_.r.cfg.id[0];
    d.size = d.op == desc_op::send ? unsigned(rng_.below(65)) : d.op == desc_op::imm ? 8 : 0;
    d.w2 = nla(0, scratch_page, 8 * rng_.below(256));
    d.data.assign(d.op == desc_op::send ? d.size : 0, 0x5a);
    u->post(d);
  }
  host_model& h = *w_.r.s[1].host;
  if (h.queued() > 6) return;
  const bool segment = exports_.empty() || rng_.chance(0.2);
  const uint64_t at =
      segment ? w_.r.window(0, 4 * rng_.below(stopped_ingress::pages * 1024 - 64))
              : exports_[rng_.below(exports_.size())]->window(rng_.chance(0.9)) + 4 * rng_.below(2 * 1024 - 64);
  if (rng_.chance(0.05)) h.write(make_write(bar_window, at & ~uint64_t{255}, some_dws(unsigned(rng_.range(1, 64)), 3)));
  if (rng_.chance(0.02) && h.outstanding() < 8)
    h.read(make_read(bar_window, at & ~uint64_t{255}, unsigned(rng_.range(1, 64))), [](const read_result&) {});
}

bool stop_load::step(stoppable& s, uint64_t& count) {
  using state = stoppable::state;
  const uint64_t now = w_.r.now();
  switch (s.now) {
    case state::off:
      if (now < s.until) break;
      s.start();
      s.now = state::on;
      s.until = now + rng_.below(400);
      break;
    case state::on:
      if (now >= s.until) {
        s.stop();
        s.now = state::stopping;
        s.asked = now;
      } else if (w_.r.s[0].host->queued() < 8 && rng_.chance(0.05)) {
        s.work();
      }
      break;
    case state::stopping:
      s.now = state::asking;
      s.ask([this, &s, &count](bool yes) {
        s.now = yes ? state::off : state::stopping;
        if (!yes) return;
        s.forget();
        ++count;
        s.until = w_.r.now() + rng_.below(100);
      });
      break;
    case state::asking:
      if (now - s.asked < timeout) break;
      w_.r.fail.add("a stop is never acknowledged");
      return false;
  }
  return true;
}

bool stop_load::run(uint64_t stops) {
  while (stopped_.all() < stops && w_.r.fail.none()) {
    w_.r.step();
    w_.pump();
    send();
    for (auto& c : contexts_)
      if (!step(*c, stopped_.contexts)) return false;
    for (auto& i : intervals_)
      if (!step(*i, stopped_.intervals)) return false;
    for (auto& e : exports_)
      if (!step(*e, stopped_.exports)) return false;
    if (!step(ingress_, stopped_.ingress) || !step(events_, stopped_.events)) return false;
  }
  const auto answered = [&] { return w_.r.s[0].host->outstanding() + w_.r.s[0].host->queued() == 0; };
  w_.r.run_until(answered, timeout, "the last answers");
  return w_.r.fail.none();
}

bool stop_load::stop_now(stoppable& s) {
  if (s.now == stoppable::state::off) return true;
  bool stopped = false, answered = false;
  s.stop();
  for (const uint64_t begin = w_.r.now(); !stopped && w_.r.now() < begin + timeout; answered = false) {
    s.ask([&](bool yes) { stopped = yes, answered = true; });
    if (!w_.r.run_until([&] { return answered; }, timeout, "an answer")) return false;
  }
  s.forget();
  s.now = stoppable::state::off;
  return stopped;
}

bool stop_load::stop_nic() {
  rig& r = w_.r;
  r.on_step = [this] {
    w_.pump();
    send();
  };
  r.write_register(0, GGAS_REG_STOP, GGAS_STOP_NIC_MASK);
  const uint64_t begin = r.now();
  while (!(r.read_register(0, GGAS_REG_STOPPED) & GGAS_STOPPED_NIC_MASK) && r.now() < begin + timeout) continue;
  owners_.nic_stopped = true;
  r.run(3'000);
  bool all = r.read_register(0, GGAS_REG_STOPPED) & GGAS_STOPPED_NIC_MASK;
  for (auto& c : contexts_) all = all && stop_now(*c);
  for (auto& e : exports_) all = all && stop_now(*e);
  all = all && stop_now(ingress_) && stop_now(events_);
  owners_.nic_stopped = false;
  r.write_register(0, GGAS_REG_STOP, 0);
  for (auto& i : intervals_) all = all && stop_now(*i);
  r.on_step = nullptr;
  return all && r.fail.none();
}

}  // namespace ggas::test
