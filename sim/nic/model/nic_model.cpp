// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/model/nic_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "ggas_regs.h"
#include "sim/nic/nic_core.hpp"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

namespace {

// As nic_bridge and the RTL have them.
constexpr unsigned np_credits = 32;  // non-posted requests of the host that wait inside the NIC
constexpr double usual_cycles = 10;  // of what time alone brings

}  // namespace

nic_model::nic_model(sc_core::sc_module_name name, const model_config& cfg, fabric::packet_network& net)
    : sc_module(name),
      cfg_(cfg),
      edges_{cfg.hertz},
      beat_dws_(cfg.data_width / 32),
      times_(*model_times::of(cfg.data_width)),
      net_(net),
      model_(cfg.data_width, cfg.host,
             {.route = [this](uint16_t node) { return way_to(node); },
              .set_route = [this](uint64_t line) { set_route(line); },
              .retrain = [this] { retrain(); },
              .live_register = [this](uint16_t offset) { return live_register(offset); },
              .takes_packets = [this](vc channel) { return takes_packets(channel); },
              .fetches = times_.limits().fetches,
              .get_fetches = times_.limits().get_fetches,
              .queue_reads = times_.limits().queue_reads,
              .atomics = times_.limits().atomics,
              .hand_on = times_.hand_on(net.shape().ports() == 1),
              .takes_status = [this] { return takes_status(); },
              .nodes = std::max(max_nodes, std::bit_ceil(net.shape().nodes())),
              .collectives = net.shape().nodes() > 2,
              .groups = net.shape().ports() > 1 && net.shape().nodes() <= max_nodes ? fabric::groups : 0,
              .group_line = [this](uint64_t line) { set_group_line(line); }}),
      interrupts_([this](uint16_t offset) { return model_.counter(offset); },
                  [this](uint8_t code) { model_.count_event(code); }, cfg.host.bus_id),
      port_("port", cfg.bridge.port),
      requests_in_("requests_in",
                   [this](pcie::tlp&& t) {
                     hold(std::move(t));
                     take_requests();
                   }),
      completions_in_("completions_in",
                      [this](pcie::tlp&& t) {
                        take(t);
                        host_took();
                        take_requests();
                      }),
      places_taken_(times_.limits().loads),
      requests_out_("requests_out", [this](pcie::tlp&& t) { port_.send(std::move(t)); }),
      completions_out_("completions_out", [this](pcie::tlp&& t) { port_.send(std::move(t)); }) {
  port_.on_receive = [this](pcie::tlp& t) { return receive(t); };
  port_.on_sent = [this](pcie::fc) { host_took(); };
  net.attach(cfg.node, *this);
}

// ---------------------------------------------------------------------------------------------- from the host

bool nic_model::has_room(const pcie::tlp& t) const {
  const unsigned inside = inside_[unsigned(pcie::fc_of(t))];
  if (t.posted()) return inside < cfg_.bridge.posted_buffer + times_.limits().stores_held;
  if (t.non_posted()) return inside < np_credits;
  return true;
}

bool nic_model::receive(pcie::tlp& t) {
  if (!has_room(t)) {
    refused_host_ = true;
    return false;
  }
  const uint64_t due = pcie::now_ps() + cfg_.bridge.rx_latency_ps;
  if (!t.completion() && !bars_.decode(t)) {
    ++unmapped_;
    if (t.non_posted())
      completions_out_.push_at(due + cfg_.bridge.tx_latency_ps,
                               pcie::error_completion(t, pcie::cpl_status::ur, cfg_.bridge.id));
    return true;
  }
  ++inside_[unsigned(pcie::fc_of(t))];
  const uint64_t longer = writes_descriptor(t) ? cfg_.bridge.descriptor_ps : 0;
  enter(t.completion() ? completions_in_ : requests_in_, due + longer, std::move(t));
  return true;
}

void nic_model::enter(inlet& i, uint64_t due_ps, pcie::tlp&& t) {
  const uint64_t at = std::max(edges_.from(due_ps), i.free);
  i.free = at + std::max(beats(t.has_data() ? t.len_dw : 0), 1u);
  i.queue.push_at(edges_.at_ps(at), std::move(t));
}

void nic_model::hold(pcie::tlp&& t) {
  if (t.posted()) {
    ++posted_held_;
    held_posted_.push_back(std::move(t));
  } else {
    (t.bar == bar_registers ? held_reads_ : held_loads_).push_back({std::move(t), posted_held_});
  }
}

// Takes requests in the order of arrival, with three exceptions: a store for which the link has no room blocks all
// later posted requests; a load without a place for its answer blocks loads and quiets; and reads wait only for the
// posted requests before them.
void nic_model::take_requests() {
  const auto next = [](auto& q) {
    auto t = std::move(q.front());
    q.pop_front();
    return t;
  };
  const auto behind = [this](const auto& q) { return !q.empty() && q.front().behind <= posted_taken_; };
  for (;;) {
    if (behind(held_reads_)) {
      take(next(held_reads_).request);
    } else if (behind(held_loads_) && finds_place(held_loads_.front().request)) {
      take(next(held_loads_).request);
    } else if (!held_posted_.empty() && !store_waits(held_posted_.front())) {
      ++posted_taken_;
      take(next(held_posted_));
    } else {
      return;
    }
  }
}

// Entries for the answers of loads form a ring. While a load needs an entry the NIC checks one in each cycle
// (smfu_match). If nearly all are in use, it takes longer to find a free one.
bool nic_model::finds_place(const pcie::tlp& t) {
  if (cause_of(t) != cause::window_load) return true;
  const size_t places = places_taken_.size();
  if (!std::exchange(looking_, true)) look_from_ = edge();
  const size_t at = (next_place_ + (edge() - look_from_)) % places;
  size_t further = 0;
  while (further < places && places_taken_[(at + further) % places]) ++further;
  if (further == places) return false;
  if (further > 0) {
    place_event_.notify(sc_core::sc_time::from_value(edges_.at_ps(edge() + further) - pcie::now_ps()));
    return false;
  }
  looking_ = false;
  place_ = at;
  next_place_ = (at + 1) % places;
  return true;
}

// An answer has come, the last one of its load.
void nic_model::free_place(uint16_t tag) {
  const auto it = place_of_.find(tag);
  if (it == place_of_.end()) return;
  places_taken_[it->second] = false;
  place_of_.erase(it);
  take_requests();
}

bool nic_model::store_waits(const pcie::tlp& t) const {
  return cause_of(t) == cause::window_store && net_.waiting(cfg_.node, vc::p) >= times_.limits().stores_passed;
}

void nic_model::take(const pcie::tlp& t) {
  --inside_[unsigned(pcie::fc_of(t))];
  cause why = t.completion() ? cause::other : cause_of(t);
  if (t.completion())
    if (const auto read = reads_.find(t.tag); read != reads_.end()) why = read->second.why;
  advance();
  model_.from_host(t);
  leave(why, t.completion(), beats(t.has_data() ? t.len_dw : 0));
  if (why == cause::register_write) {
    look_at_ways();
    interrupt(interrupts_.registers_written(edge()), edge());
  }
  if (std::exchange(refused_host_, false)) port_.resume();
}

// ---------------------------------------------------------------------------------------------- from the network

bool nic_model::deliver(packet& p) {
  if (p.vc == uint8_t(vc::rma) && atomics_full()) {
    refused_atomic_ = true;
    return false;
  }
  const bool full = p.vc == uint8_t(vc::np) && model_.target_reads_waiting() >= times_.limits().loads_served;
  const uint64_t turn = turn_of(cause_of(p));
  if (full || backlog() >= outbound_limit || turn > edge()) {
    refused_network_ = true;
    if (turn > edge()) turn_event_.notify(sc_core::sc_time::from_value(edges_.at_ps(turn) - pcie::now_ps()));
    return false;
  }
  ++packets_in_;
  advance();
  const unsigned waiting = model_.responses_waiting();
  model_.from_link(p);
  leave(cause_of(p), false, beats(p.len_dw));
  if (model_.responses_waiting() < waiting) free_place(p.tag);
  return true;
}

// The edge at which a unit takes the next packet of a kind: what comes of it leaves as soon as its pace lets it.
uint64_t nic_model::turn_of(cause why) const {
  double turn = 0;
  for (const effect what : {effect::packet, effect::write, effect::read})
    if (const auto cycles = times_.cycles(why, false, what, 1))
      turn = std::max(turn, paced_[unsigned(why)][false][unsigned(what)] - *cycles);
  return uint64_t(std::ceil(turn));
}

void nic_model::left() {
  if (std::exchange(held_, false)) {
    model_.room();
    leave(cause::slot, true, 1);
  }
  take_requests();
}

// ---------------------------------------------------------------------------------------------- links that are cut

// With several links the NIC does not know which way is dead: some link is up, and there are ways at all.
net_status nic_model::way_to(uint16_t node) const {
  if (node >= net_.shape().nodes()) return net_status::unreachable;
  if (!net_.may_break() || node == cfg_.node) return net_status::ok;
  if (!(model_.counter(GGAS_REG_LINK_PEER) & GGAS_LINK_PEER_VALID_MASK)) return net_status::unreachable;
  return best_state() == uint64_t{GGAS_LINK_STATE_UP} ? net_status::ok : net_status::link_down;
}

// What waits for an answer ends as soon as no other node can be reached; collectives go on when one can.
void nic_model::look_at_ways() {
  if (!net_.may_break()) return;
  const uint16_t other = cfg_.node == 0;
  const bool had = std::exchange(had_ways_, way_to(other) == net_status::ok);
  if (had == had_ways_) return;
  advance();
  had_ways_ ? model_.way_found() : model_.way_lost();
  leave(cause::other, false, 0);
}

void nic_model::link_changed(unsigned port, bool up) {
  const bool one = net_.shape().ports() == 1;
  model_.network_event(up ? GGAS_EV_LINK_UP : GGAS_EV_LINK_DEAD,
                       uint16_t(one ? net_.shape().across(cfg_.node, 0)->node : 0), uint64_t{port} << 8);
  leave(cause::other, false, 0);
  look_at_ways();
}

void nic_model::lost(const packet& p, bool no_way) {
  if (no_way) model_.network_event(GGAS_EV_PACKET_LOST, p.dst, uint64_t{p.src} << 8 | p.op);
  lose_store(p);
  leave(cause::other, false, 0);
}

void nic_model::lose_store(const packet& p) {
  const bool one = net_.shape().ports() == 1;
  if (p.vc == uint8_t(vc::p)) model_.network_event(GGAS_EV_STORE_LOST, one ? p.dst : uint16_t{0xffff}, 0);
}

void nic_model::set_route(uint64_t line) {
  if (!net_.may_break()) return;
  const auto field = [line](uint64_t mask, unsigned shift) { return unsigned((line & mask) >> shift); };
  fabric::routes::line l;
  l.first = {field(GGAS_ROUTE_LINK_MASK, GGAS_ROUTE_LINK_SHIFT), field(GGAS_ROUTE_LANE_MASK, GGAS_ROUTE_LANE_SHIFT)};
  if (line & GGAS_ROUTE_SECOND_MASK)
    l.second = {field(GGAS_ROUTE_SECOND_LINK_MASK, GGAS_ROUTE_SECOND_LINK_SHIFT),
                field(GGAS_ROUTE_SECOND_LANE_MASK, GGAS_ROUTE_SECOND_LANE_SHIFT)};
  const bool valid = line & GGAS_ROUTE_VALID_MASK;
  net_.set_route(cfg_.node, field(GGAS_ROUTE_NODE_MASK, GGAS_ROUTE_NODE_SHIFT),
                 valid ? std::optional(l) : std::nullopt);
}

void nic_model::retrain() {
  if (net_.may_break()) net_.retrain(cfg_.node);
}

uint64_t nic_model::links() const {
  uint64_t states = 0;
  for (unsigned port = 0; port < net_.shape().ports(); ++port)
    states |= uint64_t(net_.state(cfg_.node, port)) << 2 * port;
  return states;
}

// LINK_STATUS.state: the best of all links. A whole network may have no link at all.
uint64_t nic_model::best_state() const {
  if (!net_.may_break()) return GGAS_LINK_STATE_UP;
  uint64_t best = GGAS_LINK_STATE_DOWN;
  for (uint64_t states = links(); states != 0; states >>= 2)
    if ((states & 3) == GGAS_LINK_STATE_UP || best == GGAS_LINK_STATE_DOWN) best = states & 3;
  return best;
}

// As the register MULTICAST has it.
void nic_model::set_group_line(uint64_t line) {
  const auto field = [&](uint64_t mask, unsigned shift) { return unsigned((line & mask) >> shift); };
  const fabric::group_line l{.node = cfg_.node,
                             .lane = field(GGAS_MULTICAST_LANE_MASK, GGAS_MULTICAST_LANE_SHIFT),
                             .port = field(GGAS_MULTICAST_LINK_MASK, GGAS_MULTICAST_LINK_SHIFT),
                             .member = bool(line & GGAS_MULTICAST_MEMBER_MASK),
                             .branches = uint16_t(field(GGAS_MULTICAST_BRANCHES_MASK, GGAS_MULTICAST_BRANCHES_SHIFT))};
  net_.set_group_line(field(GGAS_MULTICAST_GROUP_MASK, GGAS_MULTICAST_GROUP_SHIFT), l,
                      line & GGAS_MULTICAST_VALID_MASK);
}

bool nic_model::takes_packets(vc channel) {
  const bool takes = net_.waiting(cfg_.node, channel) < times_.limits().packets_held;
  held_ |= !takes;
  return takes;
}

// ---------------------------------------------------------------------------------------------- out

size_t nic_model::backlog() const {
  return requests_out_.size() + completions_out_.size() + port_.tx_pending(pcie::fc::p);
}

// What the model has for the host counts, too: it is about to leave.
bool nic_model::takes_status() {
  const bool takes = backlog() + model_.requests_left() < outbound_limit;
  status_held_ |= !takes;
  return takes;
}

void nic_model::host_took() {
  if (backlog() >= outbound_limit) return;
  if (std::exchange(refused_network_, false)) net_.resume(cfg_.node);
  if (!std::exchange(status_held_, false)) return;
  model_.advance(edge());
  leave(cause::ack, false, 1);
}

void nic_model::leave(cause why, bool answer, unsigned beats_in) {
  bool wrote = false;
  while (auto r = model_.pop_request()) {
    const effect what = effect_of(r->tlp, wrote);
    wrote |= r->tlp.posted();
    if (what == effect::read)
      reads_[r->tlp.tag] = {cause_of_read(why, model_.reads_queue(r->tlp.tag)), edge() / nic_core::tick_cycles};
    const unsigned dws = r->tlp.len_dw;
    send_request(std::move(r->tlp), after(why, answer, what, beats_in, dws));
  }
  while (auto c = model_.pop_completion()) {
    const unsigned dws = c->has_data() ? c->len_dw : 0;
    const uint64_t at = put_out(*c, after(why, answer, effect::completion, beats_in, dws));
    completions_out_.push_at(std::max(edges_.at_ps(at) + cfg_.bridge.tx_latency_ps, last_write_ps_), std::move(*c));
  }
  bool data = false;
  while (auto p = model_.pop_packet()) {
    const effect what = effect_of(*p, std::exchange(data, has_data(*p)));
    if (net_.may_break() && way_to(p->dst) != net_status::ok) {
      lose_store(*p);
      continue;
    }
    if (p->is(op::load) || p->is(op::quiet)) responses_[p->tag] = edge() / nic_core::tick_cycles;
    if (p->is(op::load)) {
      place_of_[p->tag] = place_;
      places_taken_[place_] = true;
    }
    ++packets_out_;
    p->set_unordered(net_.shape().ports() > 1 && p->may_pass());
    const uint64_t at = after(why, answer, what, beats_in, p->len_dw);
    net_.send(cfg_.node, std::move(*p), edges_.at_ps(at));
  }
  if (refused_atomic_ && !atomics_full()) {
    refused_atomic_ = false;
    turn_event_.notify(sc_core::SC_ZERO_TIME);
  }
  const uint64_t reported = edge() + uint64_t(usual_cycles);
  while (const auto e = model_.pop_event()) interrupt(interrupts_.raise(*e, edge()), reported);
  while (const auto f = model_.pop_fired()) interrupt(interrupts_.fire(*f, edge()), reported);
  wait_for_tick();
}

// Never closer to the one before it than the RTL's.
uint64_t nic_model::after(cause why, bool answer, effect what, unsigned beats_in, unsigned dws_out) {
  const auto cycles = times_.cycles(why, answer, what, beats_in);
  if (!cycles && why != cause::other && fault_.empty())  // what time alone brings comes with a tick
    fault_ = fmt::format("the model of the {}-bit NIC has no time from {}{} to {} (docs/nic-model.md)", cfg_.data_width,
                         answer ? "the completion of a read by " : "", to_text(why), to_text(what));
  const effect stage = stage_of(what);
  double& free = paced_[unsigned(why)][answer][unsigned(stage)];
  const double at = std::max(double(edge()) + cycles.value_or(usual_cycles), free);
  free = at + times_.pace(why, answer, stage, dws_out);
  return uint64_t(std::llround(at));
}

// The edge at which its last beat is out, if its only one could be at `at`.
uint64_t nic_model::put_out(const pcie::tlp& t, uint64_t at) {
  const unsigned n = std::max(beats(t.has_data() ? t.len_dw : 0), 1u);
  out_free_ = std::max(at, out_free_) + n;
  return out_free_ - 1;
}

void nic_model::send_request(pcie::tlp&& t, uint64_t at) {
  const uint64_t ps = edges_.at_ps(put_out(t, at)) + cfg_.bridge.tx_latency_ps;
  if (t.posted()) last_write_ps_ = std::max(last_write_ps_, ps);
  requests_out_.push_at(ps, std::move(t));
}

void nic_model::interrupt(std::vector<pcie::tlp>&& writes, uint64_t at) {
  for (pcie::tlp& t : writes) send_request(std::move(t), at);
}

// ---------------------------------------------------------------------------------------------- time

// What time alone brings: an atomic takes over the value of the one before it, or something has waited too long.
void nic_model::advance() {
  const auto turn = model_.wakes_at();
  model_.advance(edge());
  leave(turn && *turn <= edge() ? cause::atomic : cause::other, false, 1);
}

void nic_model::wait_for_tick() {
  if (const auto at = model_.wakes_at())
    hand_on_event_.notify(sc_core::sc_time::from_value(edges_.at_ps(std::max(*at, edge() + 1)) - pcie::now_ps()));
  if (ticking_) return;
  ticking_ = model_.responses_waiting() || model_.target_reads_waiting() || model_.rma_waits() || interrupts_.waits();
  if (!ticking_) return;
  const uint64_t next = (edge() / nic_core::tick_cycles + 1) * nic_core::tick_cycles;
  tick_event_.notify(sc_core::sc_time::from_value(edges_.at_ps(next) - pcie::now_ps()));
}

void nic_model::tick() {
  ticking_ = false;
  const uint64_t tick = edge() / nic_core::tick_cycles;
  const auto ticks = [&](uint16_t offset, unsigned shift) { return model_.counter(offset) >> shift & 0xffff; };
  const uint64_t load = ticks(GGAS_REG_SMFU_TIMEOUT, GGAS_SMFU_TIMEOUT_LOAD_SHIFT);
  const uint64_t smfu_host = ticks(GGAS_REG_SMFU_TIMEOUT, GGAS_SMFU_TIMEOUT_HOST_SHIFT);
  const uint64_t rma_host = ticks(GGAS_REG_RMA_TIMEOUT, GGAS_RMA_TIMEOUT_HOST_SHIFT);
  if (!model_.responses_waiting()) responses_.clear();
  // A tag that is not in use any more is no news to the model.
  std::vector<uint16_t> given_up;
  std::erase_if(responses_, [&](const auto& r) {
    const bool late = tick - r.second > load;
    if (late) given_up.push_back(r.first);
    return late;
  });
  for (const uint16_t tag : given_up) {
    model_.load_timeout(tag);
    free_place(tag);
  }
  std::erase_if(reads_, [&](const auto& r) {
    const bool of_rma = r.first >= rma_model::first_tag && r.first <= rma_model::last_tag;
    const bool late = tick - r.second.tick > (of_rma ? rma_host : smfu_host);
    if (late) model_.target_timeout(r.first);
    return late;
  });
  interrupt(interrupts_.tick(edge()), edge());
  advance();
  take_requests();
}

uint64_t nic_model::live_register(uint16_t offset) const {
  switch (offset) {
    case GGAS_REG_TIME:
      return edge();
    case GGAS_REG_LINK_STATUS:
      return best_state() << GGAS_LINK_STATUS_STATE_SHIFT;
    case GGAS_REG_LINKS:
      return net_.shape().ports() | links() << GGAS_LINKS_STATES_SHIFT;
    case GGAS_REG_EVQ_HEAD:
      return interrupts_.head();
    case GGAS_REG_FIRED_HEAD:
      return interrupts_.fired_head();
    case GGAS_REG_MSIX_PBA:
      return interrupts_.pending();
    default:
      return 0;
  }
}

std::map<std::string, uint64_t> nic_model::counters() const {
  return {{"nic.unmapped", unmapped_}, {"nic.packets_in", packets_in_}, {"nic.packets_out", packets_out_}};
}

}  // namespace ggas::nic
