// SPDX-License-Identifier: Apache-2.0
// Each rule of messages separately, between ranks 2k and 2k + 1, which differ by one thread, warp or block: threads of
// a warp send and receive on both sides of an if. One source for the host engine, the simulator and GPUs.
#pragma once

#include "tests/gpu_api/messages.cuh"

namespace ggas::calls {

constexpr uint32_t rules_scratch = 4096, long_bytes = 300;  // more than one piece, not a multiple of 8 words

template <class G>
class message_rules {
 public:
  GGAS_DEVICE message_rules(const message_args& a, uint8_t* shared, found& f)
      : a_(a), f_(f), shared_(shared), me_(ggas_message_rank(a.world)), other_(me_ ^ 1) {
    const auto index = static_cast<uint64_t>(me_ % detail::ranks_of_node(a.world));
    own_ = bench::own<uint8_t>(a.scratch + index * a.scratch_bytes);
    const int node = other_ / detail::ranks_of_node(a.world);
    const auto its = static_cast<uint64_t>(other_ % detail::ranks_of_node(a.world));
    its_flag_ = ggas_pointer_of_node<uint64_t>(node, a.scratch + its * a.scratch_bytes);
  }
  GGAS_DEVICE void run() {
    if (me_ % 2 == 0) {
      order_of_tags_sent();
      probe_sent();
      too_long_sent();
      requests_sent();
      full_ring_sent();
      given_up_sent();
      given_up_in_pieces_sent();
      beside_a_request_sent();
    } else {
      order_of_tags_received();
      probe_received();
      too_long_received();
      requests_received();
      full_ring_received();
      given_up_received();
      given_up_in_pieces_received();
      beside_a_request_received();
    }
    variables_of_both();
    long_ones_of_both();
    shifts();
    nothing_comes();
    refused();
  }

 private:
  GGAS_DEVICE void send(uint64_t v, int tag, uint32_t info = 0) {
    f_.status(ggas_send(g_, a_.world, &v, 1, other_, tag, a_.timeout_ns, info), ggas_ok, __LINE__);
  }
  GGAS_DEVICE uint64_t* cell() const { return reinterpret_cast<uint64_t*>(own_ + 64); }
  GGAS_DEVICE uint64_t received(int from, int tag, ggas_message& m, int line) {
    f_.status(ggas_recv(g_, a_.world, cell(), 1, from, tag, &m, a_.timeout_ns), ggas_ok, line);
    g_.sync();
    const uint64_t v = *cell();
    g_.sync();
    return v;
  }
  GGAS_DEVICE void want(uint64_t v, int from, int tag, int tag_found, int line) {
    ggas_message m{};
    f_.want(received(from, tag, m, line) == v, line);
    f_.want(m.source == other_ && m.tag == tag_found && m.bytes == 8, line);
  }

  // Tags select; of one tag, and of any, the first comes first.
  GGAS_DEVICE void order_of_tags_sent() {
    for (int tag = 1; tag <= 3; ++tag) send(static_cast<uint64_t>(tag), tag);
    for (uint64_t v = 4; v <= 7; ++v) send(v, static_cast<int>(v % 2), static_cast<uint32_t>(v));
    f_.status(ggas_send(g_, a_.world, static_cast<const char*>(nullptr), 0, other_, 9, a_.timeout_ns), ggas_ok,
              __LINE__);
  }
  GGAS_DEVICE void order_of_tags_received() {
    want(3, other_, 3, 3, __LINE__);
    want(1, ggas_any_source, 1, 1, __LINE__);
    want(2, other_, ggas_any_tag, 2, __LINE__);
    want(5, ggas_any_source, 1, 1, __LINE__);
    want(4, ggas_any_source, ggas_any_tag, 0, __LINE__);
    want(6, other_, ggas_any_tag, 0, __LINE__);
    ggas_message m{};
    f_.want(received(other_, 1, m, __LINE__) == 7 && m.info == 7, __LINE__);
    f_.status(ggas_recv(g_, a_.world, static_cast<char*>(nullptr), 0, other_, 9, &m, a_.timeout_ns), ggas_ok, __LINE__);
    f_.want(m.source == other_ && m.tag == 9 && m.bytes == 0, __LINE__);
  }

  // Not before it is sent, then again and again until it is received.
  GGAS_DEVICE void probe_sent() {
    ggas_message m{};
    f_.want(received(other_, 5, m, __LINE__) == 1, __LINE__);
    send(77, 6);
  }
  GGAS_DEVICE void probe_received() {
    ggas_message m{};
    f_.status(ggas_probe(g_, a_.world, other_, ggas_any_tag, &m, 0), ggas_timed_out, __LINE__);
    f_.want(m.source == ggas_any_source && m.bytes == 0, __LINE__);
    send(1, 5);
    f_.status(ggas_probe(g_, a_.world, ggas_any_source, 6, &m, a_.timeout_ns), ggas_ok, __LINE__);
    f_.want(m.source == other_ && m.tag == 6 && m.bytes == 8, __LINE__);
    f_.status(ggas_probe(g_, a_.world, other_, ggas_any_tag, &m, 0), ggas_ok, __LINE__);
    want(77, other_, 6, 6, __LINE__);
    f_.status(ggas_probe(g_, a_.world, other_, 6, &m, 0), ggas_timed_out, __LINE__);
  }

  // The buffer stays, the length is known, and the next one comes. Short ones, and long ones in both ways.
  GGAS_DEVICE uint8_t* long_buffer(bool in_segment) const { return in_segment ? own_ + 1024 : shared_; }
  GGAS_DEVICE void fill(uint8_t* at, uint64_t bytes, uint64_t number) const {
    for (uint64_t i = g_.rank(); i < bytes; i += g_.size()) at[i] = byte_of(7, number, i);
    g_.sync();
  }
  GGAS_DEVICE void too_long_sent() {
    send(8, 1);
    for (const bool in_segment : {true, false}) {
      uint8_t* const at = long_buffer(in_segment);
      fill(at, in_segment ? long_bytes : shared_long, 1);
      f_.status(ggas_send(g_, a_.world, at, in_segment ? long_bytes : shared_long, other_, 2, a_.timeout_ns), ggas_ok,
                __LINE__);
      f_.status(ggas_send(g_, a_.world, at, in_segment ? long_bytes : shared_long, other_, 3, a_.timeout_ns), ggas_ok,
                __LINE__);
    }
  }
  GGAS_DEVICE void too_long_received() {
    uint8_t* const to = own_ + 2048;
    const auto clear = [&] {
      for (uint64_t i = g_.rank(); i < 1024; i += g_.size()) to[i] = untouched;
      g_.sync();
    };
    const auto same = [&](uint64_t data) {
      bool good = true;
      for (uint64_t i = g_.rank(); i < 1024; i += g_.size()) good &= to[i] == (i < data ? byte_of(7, 1, i) : untouched);
      g_.sync();
      return good;
    };
    ggas_message m{};
    clear();
    f_.status(ggas_recv(g_, a_.world, to, 7, other_, 1, &m, a_.timeout_ns), ggas_bad_argument, __LINE__);
    f_.want(m.bytes == 8 && m.source == other_ && same(0), __LINE__);
    for (const uint64_t bytes : {uint64_t{long_bytes}, uint64_t{shared_long}}) {
      clear();
      f_.status(ggas_recv(g_, a_.world, to, bytes - 1, other_, 2, &m, a_.timeout_ns), ggas_bad_argument, __LINE__);
      f_.want(m.bytes == bytes && same(0), __LINE__);
      f_.status(ggas_recv(g_, a_.world, to, 1024, other_, 3, &m, a_.timeout_ns), ggas_ok, __LINE__);
      f_.want(m.bytes == bytes && same(bytes), __LINE__);
    }
  }

  GGAS_DEVICE void requests_sent() {
    ggas_message m{};
    f_.want(received(other_, 1, m, __LINE__) == 1, __LINE__);  // the receives are posted
    ggas_message_request r[3]{};
    auto* const v = reinterpret_cast<uint64_t*>(own_ + 128);
    for (uint64_t i = 0; i < 3; ++i) {
      if (g_.leads()) v[i] = 10 + i;
      f_.status(ggas_isend(g_, a_.world, v + i, 1, other_, 12 - static_cast<int>(i), r + i), ggas_ok, __LINE__);
    }
    f_.status(ggas_wait_all(g_, a_.world, r, 3, nullptr, a_.timeout_ns), ggas_ok, __LINE__);
    f_.want(r[0].number == 0 && r[2].number == 0, __LINE__);
  }
  GGAS_DEVICE void requests_received() {
    ggas_message_request r[4]{};
    auto* const v = reinterpret_cast<uint64_t*>(own_ + 128);
    for (int i = 0; i < 4; ++i) f_.status(ggas_irecv(g_, a_.world, v + i, 1, other_, 10 + i, r + i), ggas_ok, __LINE__);
    int which = 0;
    ggas_message m[4]{};
    f_.status(ggas_wait_any(g_, a_.world, r, 4, &which, m, 0), ggas_timed_out, __LINE__);
    f_.want(which == -1, __LINE__);
    send(1, 1);
    f_.status(ggas_wait_any(g_, a_.world, r + 1, 2, &which, m, a_.timeout_ns), ggas_ok, __LINE__);
    f_.want((which == 0 || which == 1) && m[0].tag == 11 + which && r[1 + which].number == 0, __LINE__);
    f_.status(ggas_wait_all(g_, a_.world, r, 3, m, a_.timeout_ns), ggas_ok, __LINE__);
    g_.sync();
    for (uint64_t i = 0; i < 3; ++i) f_.want(v[i] == 12 - i, __LINE__);
    f_.status(ggas_cancel(g_, a_.world, r + 3), ggas_timed_out, __LINE__);
    f_.status(ggas_wait(g_, a_.world, r + 3, m, 0), ggas_ok, __LINE__);  // none
    g_.sync();
  }

  // A ring takes what it has room for; when it is read, there is room again.
  GGAS_DEVICE void full_ring_sent() {
    uint64_t sent = 0;
    const auto try_send = [&] { return ggas_send(g_, a_.world, &sent, 1, other_, 20, 0); };
    ggas_status s = ggas_ok;
    while (sent < 4096 && (s = try_send()) == ggas_ok) ++sent;
    f_.status(s, ggas_timed_out, __LINE__);
    f_.want(sent > 2, __LINE__);
    if (g_.leads()) {
      ggas_fence();
      ggas_store(its_flag_, sent);
    }
    f_.status(ggas_send(g_, a_.world, &sent, 1, other_, 21, a_.timeout_ns), ggas_ok, __LINE__);
  }
  GGAS_DEVICE void full_ring_received() {
    auto* const flag = reinterpret_cast<uint64_t*>(own_);
    if (g_.leads()) f_.status(ggas_wait_until(flag, ggas_gt, uint64_t{0}, a_.timeout_ns), ggas_ok, __LINE__);
    g_.sync();
    const uint64_t sent = ggas_load(flag);
    for (uint64_t v = 0; v < sent; ++v) want(v, other_, 20, 20, __LINE__);
    want(sent, other_, 21, 21, __LINE__);
  }

  // A long message whose sender has given up is not received; the next one with its tag is.
  GGAS_DEVICE void given_up_sent() {
    f_.status(ggas_send(g_, a_.world, own_ + 1024, long_bytes, other_, 50, a_.brief_ns), ggas_timed_out, __LINE__);
    if (g_.leads()) {
      ggas_fence();
      ggas_store(its_flag_ + 1, uint64_t{1});
    }
    send(51, 50);
  }
  GGAS_DEVICE void given_up_received() {
    auto* const flag = reinterpret_cast<uint64_t*>(own_) + 1;
    if (g_.leads()) f_.status(ggas_wait_until(flag, ggas_eq, uint64_t{1}, a_.timeout_ns), ggas_ok, __LINE__);
    g_.sync();
    want(51, other_, 50, 50, __LINE__);
  }

  // The same of messages in pieces: before the receiver has answered, and after the ring is full of pieces. The receive
  // goes on to wait, and gets the next message.
  GGAS_DEVICE void given_up_in_pieces_sent() {
    ggas_message_request r{};
    ggas_message m{};
    f_.status(ggas_isend(g_, a_.world, shared_, shared_long, other_, 53, &r), ggas_ok, __LINE__);
    f_.status(ggas_cancel(g_, a_.world, &r), ggas_timed_out, __LINE__);
    send(54, 54);
    f_.want(received(other_, 55, m, __LINE__) == 55, __LINE__);  // the answer came before
    send(56, 53);

    uint64_t variables[256]{};  // more than a ring has room for
    f_.status(ggas_isend(g_, a_.world, variables, 256, other_, 57, &r), ggas_ok, __LINE__);
    f_.want(received(other_, 58, m, __LINE__) == 58, __LINE__);
    for (int i = 0; i < 3; ++i) f_.status(ggas_wait(g_, a_.world, &r, &m, 0), ggas_timed_out, __LINE__);
    f_.status(ggas_cancel(g_, a_.world, &r), ggas_timed_out, __LINE__);
    if (g_.leads()) {
      ggas_fence();
      ggas_store(its_flag_ + 2, uint64_t{1});
    }
    send(59, 57);
    f_.want(received(other_, 55, m, __LINE__) == 55, __LINE__);
  }
  GGAS_DEVICE void given_up_in_pieces_received() {
    auto *const v = reinterpret_cast<uint64_t*>(own_ + 128), *const to = reinterpret_cast<uint64_t*>(own_ + 1024);
    auto* const flag = reinterpret_cast<uint64_t*>(own_) + 2;
    ggas_message_request r{};
    ggas_message m{};
    const auto begin = [&](uint64_t* at, uint64_t n, int tag) {
      f_.status(ggas_irecv(g_, a_.world, at, n, other_, tag, &r), ggas_ok, __LINE__);
      for (int i = 0; i < 3; ++i) f_.status(ggas_wait(g_, a_.world, &r, &m, 0), ggas_timed_out, __LINE__);
    };
    const auto want_next = [&](const uint64_t* at, uint64_t next, int tag) {
      f_.status(ggas_wait(g_, a_.world, &r, &m, a_.timeout_ns), ggas_ok, __LINE__);
      g_.sync();
      f_.want(*at == next && m.bytes == 8 && m.tag == tag, __LINE__);
      g_.sync();
    };
    want(54, other_, 54, 54, __LINE__);
    begin(v, 32, 53);
    send(55, 55);
    want_next(v, 56, 53);

    f_.status(ggas_probe(g_, a_.world, other_, 57, &m, a_.timeout_ns), ggas_ok, __LINE__);
    begin(to, 256, 57);
    send(58, 58);
    if (g_.leads()) f_.status(ggas_wait_until(flag, ggas_eq, uint64_t{1}, a_.timeout_ns), ggas_ok, __LINE__);
    g_.sync();
    want_next(to, 59, 57);
    send(55, 55);
  }

  // Calls that wait, while a receive is pending: the message of the request does not go to the call.
  GGAS_DEVICE void beside_a_request_sent() {
    send(60, 60);
    send(61, 61);
    ggas_message m{};
    f_.want(received(other_, 62, m, __LINE__) == 62, __LINE__);
    send(63, 60);
  }
  GGAS_DEVICE void beside_a_request_received() {
    auto* const v = reinterpret_cast<uint64_t*>(own_ + 128);
    ggas_message_request r[2]{};
    for (int i = 0; i < 2; ++i) f_.status(ggas_irecv(g_, a_.world, v + i, 1, other_, 60, r + i), ggas_ok, __LINE__);
    want(61, other_, ggas_any_tag, 61, __LINE__);
    send(62, 62);
    f_.status(ggas_wait_all(g_, a_.world, r, 2, static_cast<ggas_message*>(nullptr), a_.timeout_ns), ggas_ok, __LINE__);
    g_.sync();
    f_.want(v[0] == 60 && v[1] == 63, __LINE__);
    g_.sync();
  }

  // Both wait for each other to copy.
  GGAS_DEVICE void long_ones_of_both() {
    uint8_t *const out = own_ + 1024, *const in = own_ + 2048;
    fill(out, long_bytes, static_cast<uint64_t>(me_ % 251));
    ggas_message m{};
    f_.status(ggas_sendrecv(g_, a_.world, out, long_bytes, other_, 31, in, long_bytes, other_, 31, &m, a_.timeout_ns),
              ggas_ok, __LINE__);
    g_.sync();
    bool good = m.bytes == long_bytes;
    for (uint64_t i = g_.rank(); i < long_bytes; i += g_.size())
      good &= in[i] == byte_of(7, static_cast<uint64_t>(other_ % 251), i);
    f_.want(good, __LINE__);
    g_.sync();
  }

  // A variable of the first thread: not in memory that others reach.
  GGAS_DEVICE void variables_of_both() {
    uint64_t out[5], in[5]{};
    for (uint64_t i = 0; i < 5; ++i) out[i] = static_cast<uint64_t>(me_) * 100 + i;
    ggas_message m{};
    f_.status(ggas_sendrecv(g_, a_.world, out, 5, other_, 30, in, 5, other_, 30, &m, a_.timeout_ns), ggas_ok, __LINE__);
    f_.want(m.bytes == 40, __LINE__);
    for (uint64_t i = 0; i < 5 && g_.leads(); ++i) f_.want(in[i] == static_cast<uint64_t>(other_) * 100 + i, __LINE__);
  }

  GGAS_DEVICE void shifts() {
    const int ranks = ggas_message_ranks(a_.world), right = (me_ + 1) % ranks, left = (me_ + ranks - 1) % ranks;
    auto *const out = reinterpret_cast<int*>(own_ + 256), *const in = out + 1;
    if (g_.leads()) *out = me_;
    for (int k = 1; k <= 3; ++k) {
      f_.status(ggas_sendrecv(g_, a_.world, out, 1, right, 40 + k, in, 1, left, 40 + k,
                              static_cast<ggas_message*>(nullptr), a_.timeout_ns),
                ggas_ok, __LINE__);
      g_.sync();
      f_.want(*in == (me_ + k * (ranks - 1)) % ranks, __LINE__);
      g_.sync();
      if (g_.leads()) *out = *in;
    }
  }

  GGAS_DEVICE void nothing_comes() {
    ggas_message m{};
    f_.status(ggas_recv(g_, a_.world, cell(), 1, other_, 4711, &m, a_.brief_ns), ggas_timed_out, __LINE__);
    f_.want(m.source == ggas_any_source, __LINE__);
  }

  GGAS_DEVICE void refused() {
    const int ranks = ggas_message_ranks(a_.world);
    ggas_message m{};
    ggas_message_request r{};
    int which = 0;
    const auto no_send = [&](int to, int tag) { return ggas_send(g_, a_.world, cell(), 1, to, tag, a_.timeout_ns); };
    const auto no_recv = [&](int from, int tag) {
      return ggas_recv(g_, a_.world, cell(), 1, from, tag, &m, a_.timeout_ns);
    };
    f_.status(no_send(ranks, 0), ggas_bad_argument, __LINE__);
    f_.status(no_send(-1, 0), ggas_bad_argument, __LINE__);
    f_.status(no_send(other_, -1), ggas_bad_argument, __LINE__);
    f_.status(no_recv(ranks, 0), ggas_bad_argument, __LINE__);
    f_.status(no_recv(-2, 0), ggas_bad_argument, __LINE__);
    f_.status(no_recv(other_, -2), ggas_bad_argument, __LINE__);
    f_.status(ggas_send(g_, a_.world, static_cast<int*>(nullptr), 1, other_, 0, a_.timeout_ns), ggas_bad_argument,
              __LINE__);
    r.number = 64 << 20;
    f_.status(ggas_wait(g_, a_.world, &r, &m, 0), ggas_bad_argument, __LINE__);
    f_.status(ggas_wait_any(g_, a_.world, &r, -1, &which, &m, 0), ggas_bad_argument, __LINE__);
    ggas_messages changed = a_.world;
    changed.kind = static_cast<ggas_rank_kind>((a_.world.kind + 1) % 3);
    f_.status(ggas_send(g_, changed, cell(), 1, other_, 0, a_.timeout_ns), ggas_bad_argument, __LINE__);
  }

  static constexpr unsigned shared_long = 2 * shared_room - 1;  // more than short_bytes
  const message_args& a_;
  found& f_;
  const G g_{};
  uint8_t *shared_, *own_;
  uint64_t* its_flag_;
  int me_, other_;
};

template <class G>
__global__ void messages_by_rule(message_args a) {
  GGAS_SHARED_OF_RANKS(shared);
  found f;
  f.status(ggas_messages_begin(a.world, a.timeout_ns), ggas_ok, __LINE__);
  message_rules<G>(a, shared, f).run();
  f.write(a.outcomes);
}

// What a launch may leave: messages that no one takes, receives that nothing fits, questions that no one answers.
template <class G>
__global__ void messages_left(message_args a) {
  GGAS_SHARED_OF_RANKS(shared);
  found f;
  const G g;
  f.status(ggas_messages_begin(a.world, a.timeout_ns), ggas_ok, __LINE__);
  const int me = ggas_message_rank(a.world), ranks = ggas_message_ranks(a.world);
  ggas_message_request r{};
  f.status(ggas_irecv(g, a.world, shared, 8, (me + 2) % ranks, 3, &r), ggas_ok, __LINE__);
  for (int i = 0; i < 3; ++i)
    f.status(ggas_isend(g, a.world, shared, i == 2 ? 2 * shared_room - 1 : 8, (me + i) % ranks, 1, &r), ggas_ok,
             __LINE__);
  if (me % 2)
    (void)ggas_recv(g, a.world, shared, 8, ggas_any_source, 2, static_cast<ggas_message*>(nullptr), a.brief_ns);
  f.write(a.outcomes);
}

}  // namespace ggas::calls
