// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/messages/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ggas::bench {

namespace {

constexpr unsigned most_gets = 32;  // each has a notification, of which the ring must hold all

// The cookie of a message of VELO: kind, tag, and bytes of the whole message; of `done` the sender's operation.
constexpr uint64_t cookie_of(uint64_t kind, uint16_t tag, uint32_t bytes) {
  return kind << 62 | uint64_t{tag} << 32 | bytes;
}

struct announcement {
  uint64_t source, sender;
};

}  // namespace

messages::messages(cluster& c, host& h, size_t queue, const message_settings& set)
    : host_(h), queue_(h.queue(queue)), set_(set), pinned_(c.host_memory(h.node())) {
  const nic_place* const places = c.device_context(h.node()).places;
  for (int node = 0; node < c.nodes(); ++node) {
    const auto nic = static_cast<uint16_t>(places ? places[node].nic : node);
    peers_.push_back({nic, static_cast<uint8_t>(c.host_queues(node)[queue].vpid)});
    node_of_[{nic, peers_.back().vpid}] = node;
  }
}

messages::handle messages::begin() {
  host_.library_call();
  if (free_.empty()) {
    free_.push_back(operations_.size());
    operations_.emplace_back();
  }
  const handle h = free_.back();
  free_.pop_back();
  operations_[h] = {.in_use = true};
  return h;
}

// ------------------------------------------------------------------------------------------------ sending

void messages::say(int to, kind k, uint16_t tag, uint32_t bytes, std::span<const std::byte> data,
                   std::optional<handle> ends) {
  out_.push_back(
      {ggas_rma_send(peers_[size_t(to)], data.data(), uint32_t(data.size()), 0, cookie_of(uint64_t(k), tag, bytes)),
       ends});
}

messages::handle messages::send(int to, uint16_t tag, const void* data, size_t bytes) {
  const handle h = begin();
  if (bytes > most_bytes) fail(fmt::format("a message of {} bytes: at most {}", bytes, most_bytes));
  if (!fault_.empty()) return h;
  const auto size = uint32_t(bytes);
  if (size > set_.eager_bytes) {
    const auto offset = uint64_t(static_cast<const std::byte*>(data) - pinned_.base);
    const announcement a{pinned_.nla + offset, h};
    say(to, kind::request, tag, size, std::as_bytes(std::span(&a, 1)), {});
    progress();
    return h;
  }
  for (uint32_t at = 0;; at += GGAS_RMA_INLINE_MAX) {
    std::byte part[GGAS_RMA_INLINE_MAX];
    const uint32_t n = std::min<uint32_t>(size - at, sizeof part);
    if (n) host_.read(part, static_cast<const std::byte*>(data) + at, n);
    const bool last = at + n == size;
    say(to, at == 0 ? kind::first : kind::more, tag, size, {part, n}, last ? std::optional(h) : std::nullopt);
    if (last) break;
  }
  progress();
  return h;
}

void messages::post() {
  while (!out_.empty() && ggas_rma_post(&queue_, &out_.front().what)) {
    if (out_.front().ends) end(*out_.front().ends);
    out_.pop_front();
  }
}

// ------------------------------------------------------------------------------------------------ receiving

messages::handle messages::receive(int from, uint16_t tag, void* data, size_t bytes) {
  const handle h = begin();
  operations_[h].data = static_cast<std::byte*>(data);
  operations_[h].room = bytes;
  const posted p{h, from, tag};
  const auto m = std::ranges::find_if(arrived_, [&](const incoming& i) { return !i.taker && fits(i, p); });
  if (m == arrived_.end()) {
    receives_.push_back(p);
  } else {
    m->taker = h;
    deliver(m);
  }
  progress();
  return h;
}

void messages::take_messages() {
  ggas_rma_message m;
  while (fault_.empty() && ggas_rma_next_message(&queue_, &m)) {
    const auto from = node_of_.find({m.note.peer.node, m.note.peer.vpid});
    if (from == node_of_.end()) return fail(fmt::format("a message of NIC {}, unknown", m.note.peer.node));
    arrived(from->second, kind(m.note.cookie >> 62), m.note.cookie,
            std::as_bytes(std::span(m.data)).first(m.note.size));
  }
}

void messages::arrived(int from, kind k, uint64_t cookie, std::span<const std::byte> data) {
  const auto bytes = uint32_t(cookie);
  if (k == kind::done) return end(bytes);
  if (k == kind::more) {
    const auto m = unfinished_.at(from);
    m->data.insert(m->data.end(), data.begin(), data.end());
    if (m->data.size() == m->bytes) unfinished_.erase(from);
    return deliver(m);
  }
  const auto m = arrived_.insert(arrived_.end(), {from, uint16_t(cookie >> 32), bytes});
  if (k == kind::request) {
    announcement a;
    std::memcpy(&a, data.data(), sizeof a);
    m->rendezvous = true;
    m->source = a.source;
    m->sender = handle(a.sender);
  } else {
    m->data.assign(data.begin(), data.end());
    if (data.size() < bytes) unfinished_[from] = m;
  }
  match(m);
}

void messages::match(std::list<incoming>::iterator m) {
  const auto p = std::ranges::find_if(receives_, [&](const posted& r) { return fits(*m, r); });
  if (p == receives_.end()) return;
  m->taker = p->what;
  receives_.erase(p);
  deliver(m);
}

// Delivers the part that has arrived and has been asked for.
void messages::deliver(std::list<incoming>::iterator m) {
  if (!m->taker) return;
  operation& o = operations_[*m->taker];
  if (m->bytes > o.room)
    return fail(
        fmt::format("a message of {} bytes from node {}: its receive has room for {}", m->bytes, m->from, o.room));
  o.got = {m->from, m->bytes};
  if (m->rendezvous) return to_get_.push_back(m);
  if (m->data.size() < m->bytes) return;
  if (m->bytes) host_.write(o.data, m->data.data(), m->bytes);
  end(*m->taker);
  arrived_.erase(m);
}

// A get's cookie has the operation here and the sender's one; the sender learns the end by a message.
void messages::take_notes() {
  for (; !to_get_.empty() && gets_ < most_gets; to_get_.pop_front(), ++gets_) {
    const incoming& m = *to_get_.front();
    const auto offset = uint64_t(operations_[*m.taker].data - pinned_.base);
    const ggas_rma_desc get = ggas_rma_get(peers_[size_t(m.from)], m.source, pinned_.nla + offset, m.bytes,
                                           GGAS_RMA_NOTIFY_COMPLETER, uint64_t{*m.taker} << 32 | m.sender);
    out_.push_back({get, {}});
    arrived_.erase(to_get_.front());
  }
  ggas_rma_note n;
  while (fault_.empty() && ggas_rma_next_note(&queue_, &n)) {
    if (n.status != 0 || n.kind != GGAS_RMA_NOTE_COMPLETER)
      return fail(fmt::format("notification of kind {}, status {}", n.kind, n.status));
    --gets_;
    const handle taker = n.cookie >> 32;
    say(operations_[taker].got.from, kind::done, 0, uint32_t(n.cookie), {}, taker);
  }
}

// ------------------------------------------------------------------------------------------------ waiting

void messages::progress() {
  take_messages();
  take_notes();
  post();
}

bool messages::test(handle what) {
  progress();
  return operations_[what].ended;
}

std::optional<messages::arrival> messages::wait(handle what) {
  host_.library_call();
  const auto ended = [&] {
    progress();
    return !fault_.empty() || operations_[what].ended;
  };
  if (fault_.empty() && !host_.wait_until(ended, set_.timeout_ns))
    fail(fmt::format("no end of an operation within {} ns", set_.timeout_ns));
  if (!fault_.empty()) return {};
  const arrival got = operations_[what].got;
  operations_[what].in_use = false;
  free_.push_back(what);
  return got;
}

bool messages::wait_all(std::span<const handle> all) {
  return std::ranges::all_of(all, [this](handle h) { return wait(h).has_value(); });
}

}  // namespace ggas::bench
