// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/harness/host_model.hpp"

#include <algorithm>

#include "sim/nic/tlp_rules.hpp"

namespace ggas::test {

using pcie::cpl_status;
using pcie::tlp;
using pcie::tlp_kind;

namespace {
constexpr unsigned nic_rcb = 128;  // read completion boundary of an endpoint
constexpr unsigned host_tags = 1024;
constexpr uint16_t host_id = 0x0008;
}  // namespace

tlp make_write(uint8_t bar, uint64_t addr, std::vector<uint32_t> dws, uint8_t first_be, uint8_t last_be) {
  tlp t;
  t.kind = tlp_kind::mwr;
  t.bar = bar;
  t.addr = addr;
  t.len_dw = uint16_t(dws.size());
  t.first_be = first_be;
  t.last_be = dws.size() > 1 ? last_be : 0;
  t.requester = host_id;
  t.data.assign(dws.begin(), dws.end());
  return t;
}

tlp make_read(uint8_t bar, uint64_t addr, unsigned dws, uint8_t first_be, uint8_t last_be) {
  tlp t;
  t.kind = tlp_kind::mrd;
  t.bar = bar;
  t.addr = addr;
  t.len_dw = uint16_t(dws);
  t.first_be = first_be;
  t.last_be = dws > 1 ? last_be : 0;
  t.requester = host_id;
  return t;
}

host_model::host_model(nic::nic_core& nic, const nic::host_config& cfg, const host_behaviour& how, uint64_t seed,
                       failures& f)
    : behaviour(how), nic_(nic), cfg_(cfg), rng_(seed), fail_(f) {}

void host_model::write(tlp t) { posted_.push_back({seq_++, std::move(t)}); }

void host_model::read(tlp t, done d) {
  callbacks_[seq_] = std::move(d);
  non_posted_.push_back({seq_++, std::move(t)});
}

void host_model::push(const tlp& t) {
  if (on_push) on_push(t);
  if (t.posted()) ++posted_pushed_;
  nic_.push(t);
}
void host_model::push_raw(const tlp& t) { push(t); }

uint16_t host_model::free_tag() {
  for (;;) {
    const auto tag = uint16_t(rng_.below(host_tags));
    if (!reads_.contains(tag)) return tag;
  }
}

// A non-posted request never passes an earlier posted one; posted ones pass what is stuck.
void host_model::push_requests() {
  while (!posted_.empty() || !non_posted_.empty()) {
    const bool np_first = !non_posted_.empty() && (posted_.empty() || non_posted_.front().seq < posted_.front().seq);
    const bool np_room = reads_.size() < behaviour.max_reads && nic_.non_posted_pending() < nic_.np_credits() + 2;
    if (np_first && np_room) {
      tlp t = std::move(non_posted_.front().t);
      const uint64_t seq = non_posted_.front().seq;
      non_posted_.pop_front();
      t.tag = free_tag();
      pending_read& r = reads_[t.tag];
      r.request = t;
      r.result.request = t;
      r.d = std::move(callbacks_[seq]);
      callbacks_.erase(seq);
      push(t);
      continue;
    }
    if (posted_.empty() || nic_.posted_pending() >= behaviour.max_posted_pending) return;
    const tlp t = std::move(posted_.front().t);
    posted_.pop_front();
    push(t);
  }
}

// Completions wait until the posted requests before them went into the NIC.
void host_model::push_answers(uint64_t now) {
  const uint64_t taken = posted_pushed_ - nic_.posted_pending();
  for (auto it = answers_.begin(); it != answers_.end();) {
    const bool behind = behaviour.completions_behind_posted && it->posted_before > taken;
    const bool chained = std::any_of(answers_.begin(), it, [&](const answer& a) { return a.chain == it->chain; });
    if (it->at > now || behind || chained || nic_.completions_pending() >= 2) {
      if (nic_.completions_pending() >= 2) return;
      ++it;
      continue;
    }
    push(it->t);
    it = answers_.erase(it);
  }
}

void host_model::choose_gates() {
  for (auto& s : stall_) {
    if (s)
      --s;
    else if (rng_.chance(behaviour.stall))
      s = unsigned(rng_.range(1, behaviour.stall_max));
  }
  const bool held = behaviour.posted_first && (!posted_.empty() || nic_.posted_pending());
  const bool takes = !behaviour.hold;
  nic_.gate(takes && !stall_[0], takes && !stall_[1] && !held, takes && !stall_[2] && !held);
}

void host_model::before_step(uint64_t now) {
  choose_gates();
  if (!answers_.empty()) push_answers(now);
  push_requests();
}

void host_model::after_step(uint64_t now) {
  while (auto t = nic_.pop()) arrive(*t, now);
  if (!inbound_.empty()) work_inbound(inbound_, now);
  if (!far_inbound_.empty()) work_inbound(far_inbound_, now);
}

void host_model::arrive(const tlp& t, uint64_t now) {
  if (on_pop) on_pop(t);
  if (t.completion()) {
    ++seen_.completions_in;
    return completion(t);
  }
  ++seen_.requests_in;
  check_request(t);
  const bool far = t.addr - behaviour.far_base < behaviour.far_bytes;
  const uint64_t at = now + rng_.below(behaviour.write_delay + 1) + (far ? behaviour.far_delay : 0);
  auto& queue = far ? far_inbound_ : inbound_;
  queue.push_back({queue.empty() ? at : std::max(at, queue.back().at), t});
}

void host_model::check_request(const tlp& t) {
  if (const char* rule = nic::broken_rule(t)) fail_.add("request to {:#x} breaks the rule: {}", t.addr, rule);
  if (t.kind == tlp_kind::mwr && 4u * t.len_dw > cfg_.mps)
    fail_.add("write of {} DW exceeds MPS {}", t.len_dw, cfg_.mps);
  if (t.kind == tlp_kind::mrd && 4u * t.len_dw > cfg_.mrrs)
    fail_.add("read of {} DW exceeds MRRS {}", t.len_dw, cfg_.mrrs);
  if (t.kind != tlp_kind::mwr && t.kind != tlp_kind::mrd)
    fail_.add("the NIC sent a request of kind {}", unsigned(t.kind));
  if (t.requester != cfg_.bus_id) fail_.add("request with requester id {:#x}", t.requester);
}

void host_model::completion(const tlp& t) {
  const auto it = reads_.find(t.tag);
  if (it == reads_.end()) return fail_.add("completion with tag {} that no request waits for", t.tag);
  pending_read& r = it->second;
  const unsigned left = nic::bytes_left(r.request, r.dw);
  const bool counted = t.status == cpl_status::sc || !nic::broken_rule(r.request);  // nonsense has no byte count
  if (counted && t.byte_count != left) fail_.add("tag {}: byte_count {} instead of {}", t.tag, t.byte_count, left);
  if (t.requester != r.request.requester) fail_.add("tag {}: requester id {:#x}", t.tag, t.requester);
  if (t.completer != cfg_.bus_id) fail_.add("tag {}: completer id {:#x}", t.tag, t.completer);
  if (t.poisoned) fail_.add("tag {}: poisoned completion", t.tag);
  const bool error = t.status != cpl_status::sc;
  if (!error && t.lower_addr != nic::lower_address(r.request, r.dw))
    fail_.add("tag {}: lower_addr {:#x} at DW {} of a read at {:#x}", t.tag, t.lower_addr, r.dw, r.request.addr);
  if (error != (t.kind == tlp_kind::cpl))
    fail_.add("tag {}: completion kind {} with status {}", t.tag, unsigned(t.kind), unsigned(t.status));
  if (!error) {
    const uint64_t end = r.request.addr + 4 * (r.dw + t.len_dw);
    const bool last = r.dw + t.len_dw == r.request.len_dw;
    if (t.len_dw == 0 || t.data.size() != t.len_dw || r.dw + t.len_dw > r.request.len_dw)
      return fail_.add("tag {}: completion of {} DW at DW {} of {}", t.tag, t.len_dw, r.dw, r.request.len_dw);
    if (!last && end % nic_rcb) fail_.add("tag {}: completion ends at {:#x}", t.tag, end);
    if (4u * t.len_dw > cfg_.mps) fail_.add("tag {}: completion of {} DW exceeds MPS {}", t.tag, t.len_dw, cfg_.mps);
  }
  if (on_completion) on_completion(t, r.dw);
  r.result.status = t.status;
  r.result.dws.insert(r.result.dws.end(), t.data.begin(), t.data.end());
  r.dw += t.len_dw;
  if (!error && r.dw < r.request.len_dw) return;
  const pending_read finished = std::move(r);
  reads_.erase(it);
  if (finished.d) finished.d(finished.result);
}

void host_model::work_inbound(std::deque<inbound>& queue, uint64_t now) {
  while (!queue.empty() && queue.front().at <= now) {
    const tlp t = std::move(queue.front().t);
    queue.pop_front();
    if (t.kind == tlp_kind::mrd) answer_read(t, now);
    if (t.kind != tlp_kind::mwr) continue;
    for (unsigned i = 0; i < t.len_dw && i < t.data.size(); ++i)
      mem.store32(t.addr + 4 * i, t.data[i], nic::byte_enables(t, i));
  }
}

void host_model::answer_read(const tlp& t, uint64_t now) {
  const read_fate f = fate ? fate(t) : read_fate::answer;
  if (f == read_fate::silent) return;
  const uint64_t chain = chains_++;
  uint64_t at = now;
  for (unsigned dw = 0; dw < t.len_dw;) {
    tlp c;
    c.kind = tlp_kind::cpld;
    c.tag = t.tag;
    c.requester = t.requester;
    c.completer = uint16_t(rng_.next());
    c.attr = uint8_t(rng_.below(8));
    c.byte_count = uint16_t(nic::bytes_left(t, dw));
    c.lower_addr = nic::lower_address(t, dw);
    const uint64_t addr = t.addr + 4 * dw;
    uint64_t end = (addr / behaviour.rcb + 1) * behaviour.rcb;
    while (end + behaviour.rcb - addr <= cfg_.mps && !rng_.chance(behaviour.cut)) end += behaviour.rcb;
    unsigned n = std::min<unsigned>(unsigned(end - addr) / 4, t.len_dw - dw);
    c.len_dw = uint16_t(n);
    for (unsigned i = 0; i < n; ++i) c.data.push_back(mem.load32(addr + 4 * i));
    if (f == read_fate::ur || f == read_fate::ca) {
      c.kind = tlp_kind::cpl;
      c.status = f == read_fate::ur ? cpl_status::ur : cpl_status::ca;
      c.len_dw = 0;
      c.data.clear();
      n = t.len_dw;
    }
    c.poisoned = f == read_fate::poison;
    at += rng_.range(behaviour.read_delay_min, behaviour.read_delay_max);
    answers_.push_back({at, seq_, posted_pushed_, std::move(c), chain});
    dw += n;
  }
}

}  // namespace ggas::test
