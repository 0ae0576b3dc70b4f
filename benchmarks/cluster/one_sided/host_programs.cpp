// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cluster/one_sided/host_programs.hpp"

#include <fmt/format.h>

namespace ggas::bench {

void host_port::use(host& h, size_t index) {
  queue = &h.queue(index);
  samples.clear();
  fault.clear();
}

namespace {

// A call of the communication library that posts.
bool post(host& h, host_port& p, const ggas_rma_desc& d, uint64_t timeout_ns) {
  h.library_call();
  if (h.wait_until([&] { return ggas_rma_post(p.queue, &d) != 0; }, timeout_ns)) return true;
  p.fault = "no room in the queue in time";
  return false;
}

bool look(host_port& p, const ggas_rma_note& n) {
  if (n.status != 0 || n.kind >= GGAS_RMA_NOTE_ERROR)
    p.fault = fmt::format("notification of kind {}, status {}", n.kind, n.status);
  return p.fault.empty();
}

// A call that takes notifications until one of a kind is among them.
bool take(host& h, host_port& p, unsigned kind, uint64_t timeout_ns) {
  ggas_rma_note note{};
  const auto found = [&] {
    while (p.fault.empty() && ggas_rma_next_note(p.queue, &note)) {
      if (look(p, note) && note.kind == kind) return true;
    }
    return !p.fault.empty();
  };
  if (!h.wait_until(found, timeout_ns)) p.fault = "no notification in time";
  h.library_call();
  return p.fault.empty();
}

class round_clock {
 public:
  round_clock(host& h, host_port& p) : host_(h), port_(p), before_(h.now_ns()) { p.begin_ns = before_; }
  void lap(uint64_t round) {
    const uint64_t now = host_.now_ns();
    if (round == 0) port_.begin_ns = now;
    if (round > 0) port_.samples.push_back(static_cast<double>(now - before_));
    before_ = port_.end_ns = now;
  }

 private:
  host& host_;
  host_port& port_;
  uint64_t before_;
};

ggas_rma_desc put_of(const host_transfer& t, uint64_t cookie) {
  return ggas_rma_put(t.peer, t.source, t.target, t.bytes, GGAS_RMA_NOTIFY_REQUESTER | GGAS_RMA_NOTIFY_COMPLETER,
                      cookie);
}

}  // namespace

void host_pingpong(host& h, host_port& p, const host_transfer& t, bool first) {
  round_clock clock(h, p);
  for (uint64_t round = 0; round <= t.rounds; ++round) {
    if (first && !post(h, p, put_of(t, round), t.timeout_ns)) return;
    if (!take(h, p, GGAS_RMA_NOTE_COMPLETER, t.timeout_ns)) return;
    if (!first && !post(h, p, put_of(t, round), t.timeout_ns)) return;
    clock.lap(round);
  }
}

void host_assistant(host& h, host_port& p, const host_transfer& t, const gpu_words& w) {
  const auto forward = [&](uint64_t number) {
    if (!h.wait_until([&] { return h.load(w.request) == number; }, t.timeout_ns)) p.fault = "no request in time";
    return p.fault.empty() && post(h, p, put_of(t, number), t.timeout_ns);
  };
  const auto deliver = [&](uint64_t number) {
    if (!take(h, p, GGAS_RMA_NOTE_COMPLETER, t.timeout_ns)) return false;
    h.store(w.flag, number);
    return true;
  };
  for (uint64_t round = 0; round <= t.rounds; ++round) {
    const uint64_t number = w.number + 2 * round;
    if (w.first && !forward(number)) return;
    if (!deliver(w.first ? number + 1 : number)) return;
    if (!w.first && !forward(number + 1)) return;
  }
}

void host_forward_puts(host& h, std::vector<host_port>& ports, const host_transfer& t, const stream_words& w) {
  std::vector<uint64_t> posted(ports.size(), 0), reported(ports.size(), 0);
  const auto arrived = [](const host_port& p) {
    return static_cast<uint32_t>(p.queue->io->read(p.queue->io->self, p.queue->status + 8)) == p.queue->issued;
  };
  const auto serve = [&](size_t i) {
    host_port& p = ports[i];
    const uint64_t shift = i * t.bytes;
    if (posted[i] == reported[i] && reported[i] < t.rounds && h.load(w.request + i) > posted[i]) {
      const ggas_rma_desc d =
          ggas_rma_put(t.peer, t.source + shift, t.target + shift, t.bytes, GGAS_RMA_ACK, posted[i]);
      if (post(h, p, d, t.timeout_ns)) ++posted[i];
    } else if (posted[i] > reported[i] && arrived(p)) {
      h.store(w.flag + i, ++reported[i]);
    }
    return reported[i] == t.rounds;
  };
  const auto all_served = [&] {
    size_t ended = 0;
    for (size_t i = 0; i < ports.size(); ++i) ended += serve(i) ? 1 : 0;
    return ended == ports.size();
  };
  if (!h.wait_until(all_served, t.timeout_ns)) ports[0].fault = "no requests in time";
  for (const host_port& p : ports)
    if (ggas_rma_read_status(p.queue).errors != 0) ports[0].fault = "a put failed";
}

void host_forward_atomics(host& h, host_port& p, const host_transfer& t, const gpu_words& w, const uint64_t* record,
                          uint64_t record_nla) {
  for (uint64_t round = 0; round <= t.rounds; ++round) {
    const uint64_t number = w.number + round;
    if (!h.wait_until([&] { return h.load(w.request) == number; }, t.timeout_ns)) {
      p.fault = "no request in time";
      return;
    }
    const ggas_rma_desc d =
        ggas_rma_atomic(t.peer, GGAS_RMA_ADD, t.target, 8, 1, 0, record_nla, GGAS_RMA_NOTIFY_REQUESTER, round);
    if (!post(h, p, d, t.timeout_ns) || !take(h, p, GGAS_RMA_NOTE_REQUESTER, t.timeout_ns)) return;
    h.store(w.flag, h.load(record) + 1);
  }
}

void host_rounds(host& h, host_port& p, const host_transfer& t, host_round what) {
  round_clock clock(h, p);
  for (uint64_t round = 0; round <= t.rounds; ++round) {
    const bool get = what == host_round::get;
    const ggas_rma_desc d =
        get ? ggas_rma_get(t.peer, t.source, t.target, t.bytes, GGAS_RMA_NOTIFY_COMPLETER, round)
            : ggas_rma_atomic(t.peer, GGAS_RMA_ADD, t.target, 8, 1, 0, t.source, GGAS_RMA_NOTIFY_REQUESTER, round);
    if (!post(h, p, d, t.timeout_ns)) return;
    if (!take(h, p, get ? GGAS_RMA_NOTE_COMPLETER : GGAS_RMA_NOTE_REQUESTER, t.timeout_ns)) return;
    clock.lap(round);
  }
}

void host_stream(host& h, std::vector<host_port>& ports, const host_transfer& t, bool get, unsigned window) {
  host_port& first = ports.front();
  first.begin_ns = h.now_ns();
  const auto done = [](const host_port& p) {
    return static_cast<uint32_t>(p.queue->io->read(p.queue->io->self, p.queue->status + 8));
  };
  for (uint64_t round = 0; round < t.rounds; ++round) {
    for (size_t i = 0; i < ports.size(); ++i) {
      host_port& p = ports[i];
      const uint64_t shift = i * t.bytes;
      const auto room = [&] { return p.queue->issued - done(p) < window; };
      if (!h.wait_until(room, t.timeout_ns)) first.fault = "no progress in time";
      const ggas_rma_desc d =
          get ? ggas_rma_get(t.peer, t.source + shift, t.target + shift, t.bytes, 0, round)
              : ggas_rma_put(t.peer, t.source + shift, t.target + shift, t.bytes, GGAS_RMA_ACK, round);
      if (!first.fault.empty() || !post(h, p, d, t.timeout_ns)) return;
    }
  }
  for (host_port& p : ports) {
    if (!h.wait_until([&] { return done(p) == p.queue->issued; }, t.timeout_ns)) first.fault = "not complete in time";
    if (ggas_rma_read_status(p.queue).errors != 0) first.fault = "an operation failed";
  }
  first.end_ns = h.now_ns();
}

}  // namespace ggas::bench
