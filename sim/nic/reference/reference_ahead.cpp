// SPDX-License-Identifier: Apache-2.0
// The payload of puts and gets in the reference model. The golden model reads for one packet at a time. As a NIC it
// reads ahead as the RTL does: up to a limit of packets of a context, also those of the next operations.
#include <algorithm>
#include <utility>

#include "sim/nic/reference/reference_rma.hpp"

namespace ggas::nic {

task<> rma_model::read_part(std::shared_ptr<part> p, client& by, uint64_t nla, uint16_t pd) {
  p->data = co_await fetch(by, nla, pd, p->bytes);
  p->done = true;
  p->ready.notify();
}

// As far as `window` packets; how many are under way or have not been sent.
unsigned rma_model::read_some(payload& all, unsigned window) {
  const unsigned limit = mtu();
  while (all.asked < all.size && all.parts.size() < window) {
    const auto n = unsigned(std::min<uint64_t>(all.size - all.asked, limit - (all.to + all.asked) % limit));
    all.parts.push_back(std::make_shared<part>(n, fetched{}, false, signal(scheduler_)));
    scheduler_.start(read_part(all.parts.back(), all.by, all.from + all.asked, all.pd));
    all.asked += n;
  }
  return unsigned(all.parts.size());
}

// A descriptor that holds its context is the last one that is looked at.
void rma_model::read_puts_ahead(unsigned v) {
  context& c = *contexts_[v];
  unsigned open = 0;
  for (const auto& [at, of_put] : c.ahead)
    if (int32_t(at - c.consumed) < 0) open += unsigned(of_put->parts.size());
  for (uint32_t at = c.consumed; limits_.fetches > 1 && open < limits_.fetches;) {
    const auto d = descriptor_at(v, at);
    if (!d) break;
    if (d->op == desc_op::put && d->good()) {
      auto& p = c.ahead[at];
      if (!p) p = std::make_shared<payload>(put_fetches_, d->w1, d->w2, d->size, c.owner);
      open += read_some(*p, limits_.fetches - open);
    }
    if (d->holds()) break;
    at += d->slots();
  }
  free_puts(v);
}

// A put that does not hold its context gives its slots back as soon as all of its payload has been asked for.
void rma_model::free_puts(unsigned v) {
  context& c = *contexts_[v];
  for (;;) {
    const uint32_t at = c.consumed;
    const auto of_put = c.ahead.find(at);
    if (of_put == c.ahead.end() || of_put->second->asked < of_put->second->size) return;
    const auto d = descriptor_at(v, at);
    if (!d || d->holds()) return;
    if (!c.executing || c.at != at) c.freed.push_back({at, *d});
    consume(v, d->slots());
  }
}

void rma_model::read_gets_ahead() {
  unsigned open = 0;
  for (served& s : gets_) {
    if (limits_.get_fetches == 1 || open >= limits_.get_fetches) return;
    if (s.data->size <= rma_max_bytes) open += read_some(*s.data, limits_.get_fetches - open);
  }
}

// The bytes of the next packet.
task<rma_model::fetched> rma_model::next_part(payload& all, vc channel) {
  while (!nic_.rma_takes_packets(channel)) co_await room_;
  if (all.parts.empty()) read_some(all, 1);
  const auto first = std::move(all.parts.front());
  all.parts.pop_front();
  while (!first->done) co_await first->ready;
  co_return std::move(first->data);
}

}  // namespace ggas::nic
