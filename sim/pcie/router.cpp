// SPDX-License-Identifier: Apache-2.0
#include "sim/pcie/router.hpp"

#include <algorithm>
#include <utility>

namespace ggas::pcie {

router::router(sc_core::sc_module_name name, const router_config& cfg) : sc_module(name), cfg_(cfg) {}

unsigned router::add_port(const std::string& name, const port_config& cfg) {
  const auto index = unsigned(lanes_.size());
  auto l = std::make_unique<lane>();
  lane* raw = l.get();
  l->link = std::make_unique<port>(name.c_str(), cfg);
  l->pipe = std::make_unique<timed_queue<routed>>(
      (name + "_pipe").c_str(), [this](routed&& r) { lanes_[r.to]->link->send(std::move(r.packet)); });
  l->link->on_receive = [this, index](tlp& t) { return receive(index, t); };
  l->link->on_sent = [this, raw](fc c) {
    --raw->inside[unsigned(c)];
    wake(cfg_.order == arbitration::in_turn ? raw->turn : 0);
  };
  lanes_.push_back(std::move(l));
  return index;
}

void router::map(unsigned port, uint64_t base, uint64_t size) { ranges_.push_back({base, size, uint8_t(port)}); }

const path_rule& router::rule_of(unsigned from, unsigned to) const {
  const auto r = rules_.find({from, to});
  return r == rules_.end() ? cfg_.rule : r->second;
}

bool router::room(unsigned to, fc c) const { return lanes_[to]->inside[unsigned(c)] < cfg_.queue_limit; }

void router::wake(unsigned first) {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lane& l = *lanes_[(first + i) % lanes_.size()];
    if (std::exchange(l.waiting, false)) l.link->resume();
  }
}

void router::wake_at(uint64_t at_ps) {
  wake_event_.notify(sc_core::sc_time::from_value(at_ps > now_ps() ? at_ps - now_ps() : 0));
}

bool router::receive(unsigned from, tlp& t) {
  std::optional<unsigned> to;
  if (t.completion()) {
    const auto id = ids_.find(t.requester);
    if (id != ids_.end()) to = id->second;
  } else {
    for (const auto& r : ranges_)
      if (t.addr - r.base < r.size) to = r.bar;
    if (!to && local_request(from, t)) return true;
  }
  if (!to) to = upstream_;
  if (to && *to != from) {
    if (forward(from, *to, t)) return true;
    lanes_[from]->waiting = true;
    return false;
  }
  if (t.completion()) {
    ++stats_.lost_cpl;
  } else {
    ++stats_.unmapped;
    reject(from, t);
  }
  return true;
}

void router::emit(unsigned from, unsigned to, uint64_t latency_ps, tlp&& t) {
  ++lanes_[to]->inside[unsigned(fc_of(t))];
  lanes_[from]->pipe->push_at(now_ps() + latency_ps, {to, std::move(t)});
}

void router::answer(unsigned to, tlp&& t) {
  ++lanes_[to]->inside[unsigned(fc_of(t))];
  lanes_[to]->link->send(std::move(t));
}

bool router::local_request(unsigned, tlp&) { return false; }

void router::reject(unsigned from, const tlp& t) {
  if (t.posted()) return;
  emit(from, from, cfg_.rule.latency_ps, error_completion(t, cpl_status::ur, cfg_.id));
}

bool router::forward(unsigned from, unsigned to, tlp& t) {
  const path_rule& r = t.completion() ? rule_of(to, from) : rule_of(from, to);
  if ((t.posted() && !r.posted) || (t.non_posted() && !r.non_posted)) {
    ++stats_.forbidden;
    reject(from, t);
    return true;
  }
  const fc c = fc_of(t);
  if (!room(to, c)) return false;
  if (t.non_posted() && !admit_read(from, to, r, t)) return false;
  if (t.completion()) release_read(t, from, to);
  lanes_[to]->turn = from + 1;
  emit(from, to, r.latency_ps, std::move(t));
  return true;
}

bool router::admit_read(unsigned from, unsigned to, const path_rule& r, const tlp& t) {
  if (r.np_outstanding == 0 && r.np_bytes_per_second == 0) return true;
  path_state& s = paths_[{from, to}];
  const uint64_t now = now_ps();
  if (s.next_read_ps > now) {
    wake_at(s.next_read_ps);
    return false;
  }
  if (r.np_outstanding) {
    if (s.reads.size() >= r.np_outstanding) {
      std::erase_if(s.reads, [now](const auto& e) { return e.second <= now; });
      if (s.reads.size() >= r.np_outstanding) {
        uint64_t first = s.reads.begin()->second;
        for (const auto& [key, end] : s.reads) first = std::min(first, end);
        wake_at(first);
        return false;
      }
    }
    s.reads[uint32_t(t.requester) << 16 | t.tag] = now + r.np_timeout_ps;
  }
  if (r.np_bytes_per_second > 0) s.next_read_ps = now + uint64_t(4e12 * t.len_dw / r.np_bytes_per_second);
  return true;
}

// The last completion of a read frees its place: fewer bytes left than this packet carries.
void router::release_read(const tlp& c, unsigned from, unsigned to) {
  const auto p = paths_.find({to, from});
  if (p == paths_.end()) return;
  const unsigned carried = 4u * c.len_dw - (c.lower_addr & 3);
  if (c.kind == tlp_kind::cpld && c.byte_count > carried) return;
  if (p->second.reads.erase(uint32_t(c.requester) << 16 | c.tag)) wake_at(now_ps());
}

}  // namespace ggas::pcie
