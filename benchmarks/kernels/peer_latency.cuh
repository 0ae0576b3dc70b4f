// SPDX-License-Identifier: Apache-2.0
// Latencies between GPUs that access each other's memory directly: one transfer at a time, without overhead, as a user
// would write it. A sample is a window of many rounds, so that the timer's resolution does not matter; a round before
// each window synchronises both sides. Nodes work in pairs: 0 and 1, 2 and 3, ...; a node without a partner is idle.
#pragma once

#include "benchmarks/kernels/claimed_notes.cuh"

namespace ggas::bench {

struct peer_args {
  uint64_t slots;     // offset of a word for each thread: flags, signals, words to load or to add to; zero at first
  uint64_t data;      // offset of what is put, in 6 x pingpong_room(bytes), zero at first: what arrives comes after it
  uint64_t bytes;     // of a put, a multiple of 8
  uint64_t outcomes;  // offset of an outcome for each thread
  uint64_t samples;   // offset of `windows` durations in ns, of the first thread
  uint64_t windows, rounds;
  uint64_t seed, timeout_ns;
};

// Runs round(number) over all windows, numbers counting up from 1; stops at a bad status.
template <class Prepare, class Round, class Check>
GGAS_DEVICE ggas_status run_windows(const peer_args& a, Prepare prepare, Round round, Check check) {
  uint64_t number = 0;
  ggas_status s = ggas_ok;
  for (uint64_t w = 0; w < a.windows && s == ggas_ok; ++w) {
    prepare(w);
    s = round(++number);
    const uint64_t begin = time_ns();
    for (uint64_t r = 0; r < a.rounds && s == ggas_ok; ++r) s = round(++number);
    if (global_thread() == 0) own<uint64_t>(a.samples)[w] = time_ns() - begin;
    if (s == ggas_ok) check(w);
  }
  return s;
}

GGAS_DEVICE void report(const peer_args& a, ggas_status s, uint64_t errors) {
  own<outcome>(a.outcomes)[global_thread()] = {0, 0, errors, static_cast<uint64_t>(s)};
}

// Every thread stores a number into its partner's slot and waits for the answer. Numbers grow, so nothing is cleared,
// and the loop consists of the two calls.
__global__ void store_count(peer_args a) {
  const int me = ggas_node(), peer = me ^ 1;
  if (peer >= ggas_nodes()) return;
  const unsigned t = global_thread();
  const uint64_t* const mine = own<uint64_t>(a.slots) + t;
  uint64_t* const theirs = ggas_pointer_of_node<uint64_t>(peer, a.slots) + t;
  const uint64_t last = a.windows * a.rounds + 2;
  ggas_status s = ggas_ok;
  uint64_t begin = 0, until_sample = 1, window = 0;
  if (me < peer) ggas_store(theirs, uint64_t{1});
  for (uint64_t number = 1;; ++number) {
    s = ggas_wait_until(mine, ggas_eq, number, a.timeout_ns);
    if (s != ggas_ok || number == last) break;
    ggas_store(theirs, me < peer ? number + 1 : number);
    if (--until_sample != 0) continue;
    const uint64_t now = time_ns();
    if (t == 0 && begin != 0) own<uint64_t>(a.samples)[window++] = now - begin;
    begin = now;
    until_sample = a.rounds;
  }
  if (s == ggas_ok && me > peer) ggas_store(theirs, last);
  report(a, s, 0);
}

// Loads in sequence: where the next one goes depends on the value.
__global__ void load_chain(peer_args a) {
  if (!leads_pair()) return;
  const unsigned t = global_thread();
  const uint64_t* const theirs = ggas_pointer_of_node<uint64_t>(ggas_node() + 1, a.slots) + t;
  uint64_t at = 0;
  const auto round = [&](uint64_t) {
    at = ggas_load(theirs + at);
    return ggas_ok;
  };
  const ggas_status s = run_windows(
      a, [](uint64_t) {}, round, [](uint64_t) {});
  report(a, s, at != 0);  // the words are zero
}

// A block sends data, and the partner's block answers in the same way: send(place, number) puts the data at a.data to
// `place` words after it at the partner; wait(place, number) returns when the partner's have arrived. Data are checked
// between windows. Windows use two places in turn, because one may begin while the partner still checks the last. No
// received data share a line with sent data.
GGAS_HOST_DEVICE constexpr uint64_t pingpong_room(uint64_t bytes) { return bytes < 256 ? 256 : bytes; }
template <class Send, class Wait>
GGAS_DEVICE void data_pingpong(const peer_args& a, Send send, Wait wait) {
  const bool first = ggas_node() % 2 == 0;
  const uint64_t words = a.bytes / 8;
  uint64_t* const source = own<uint64_t>(a.data);
  uint64_t place = 0, errors = 0;
  const auto each = [&](auto f) {
    for (uint64_t i = detail::thread_rank(); i < words; i += detail::thread_count()) f(i);
  };
  const auto prepare = [&](uint64_t w) {
    place = (1 + w % 2) * pingpong_room(a.bytes) / 8;
    each([&](uint64_t i) { source[i] = pattern(a.seed + ggas_node(), w, i); });
  };
  const auto round = [&](uint64_t number) {
    ggas_status s = first ? send(place, number) : ggas_ok;
    if (s == ggas_ok) s = wait(place, number);
    return s == ggas_ok && !first ? send(place, number) : s;
  };
  const auto check = [&](uint64_t w) {
    each([&](uint64_t i) { errors += ggas_load(source + place + i) != pattern(a.seed + (ggas_node() ^ 1), w, i); });
    __syncthreads();
  };
  report(a, run_windows(a, prepare, round, check), errors);
}

// With a signal after the data.
__global__ void GGAS_LAUNCH_BOUNDS(512) put_signal_pingpong(peer_args a) {
  const int peer = ggas_node() ^ 1;
  if (peer >= ggas_nodes()) return;
  const auto* const source = own<uint64_t>(a.data);
  auto* const buffer = ggas_pointer_of_node<uint64_t>(peer, a.data);
  const auto* const mine = own<uint64_t>(a.slots);
  auto* const theirs = ggas_pointer_of_node<uint64_t>(peer, a.slots);
  data_pingpong(
      a,
      [&](uint64_t place, uint64_t number) {
        return ggas_put_signal_nbi_block(buffer + place, source, a.bytes / 8, theirs, number, ggas_signal_set,
                                         a.timeout_ns);
      },
      [&](uint64_t, uint64_t number) { return ggas_wait_until_block(mine, ggas_eq, number, a.timeout_ns); });
}

// With a tag next to every word of the data: they come to lines, from where the partner takes them.
__global__ void GGAS_LAUNCH_BOUNDS(512) put_tagged_pingpong(peer_args a) {
  const int peer = ggas_node() ^ 1;
  if (peer >= ggas_nodes()) return;
  auto* const data = own<uint64_t>(a.data);
  const auto* const mine = own<ggas_tagged>(a.data + 4 * pingpong_room(a.bytes));
  auto* const theirs = ggas_pointer_of_node<ggas_tagged>(peer, a.data + 4 * pingpong_room(a.bytes));
  data_pingpong(
      a,
      [&](uint64_t, uint64_t number) {
        return ggas_put_tagged_block(theirs, data, a.bytes / 8, static_cast<uint32_t>(number));
      },
      [&](uint64_t place, uint64_t number) {
        return ggas_take_tagged_block(data + place, mine, a.bytes / 8, static_cast<uint32_t>(number), a.timeout_ns);
      });
}

// A thread notifies the partner, which answers. take(cookie) waits for the next notification.
template <class Send, class Take>
GGAS_DEVICE void note_pingpong(const peer_args& a, Send send, Take take) {
  const bool first = ggas_node() % 2 == 0;
  uint64_t errors = 0;
  const auto round = [&](uint64_t number) {
    const uint64_t sent = pattern(a.seed + ggas_node(), number, 0);
    ggas_status s = first ? send(sent) : ggas_ok;
    uint64_t cookie = 0;
    if (s == ggas_ok) s = take(cookie);
    errors += cookie != pattern(a.seed + (ggas_node() ^ 1), number, 0);
    return s == ggas_ok && !first ? send(sent) : s;
  };
  report(a,
         run_windows(
             a, [](uint64_t) {}, round, [](uint64_t) {}),
         errors);
}

__global__ void notify_pingpong(peer_args a) {
  const int peer = ggas_node() ^ 1;
  if (peer >= ggas_nodes()) return;
  const ggas_queue q = ggas_queue_of(0, ggas_exclusive);
  note_pingpong(
      a, [&](uint64_t cookie) { return ggas_notify(peer, cookie, 0, a.timeout_ns, q); },
      [&](uint64_t& cookie) {
        ggas_notification note{};
        const ggas_status s = ggas_notification_wait(&note, a.timeout_ns, q);
        cookie = note.cookie;
        return s;
      });
}
__global__ void claimed_pingpong(peer_args a) {
  const int peer = ggas_node() ^ 1;
  if (peer >= ggas_nodes()) return;
  const claimed_notes ring{a.data};
  uint64_t taken = 0;
  note_pingpong(
      a, [&](uint64_t cookie) { return send_claimed(ring, peer, cookie, a.timeout_ns); },
      [&](uint64_t& cookie) { return take_claimed(ring, taken++, cookie, a.timeout_ns); });
}

// Fetching adds on a word of the partner, in sequence; old values count up.
__global__ void add_chain(peer_args a) {
  if (!leads_pair()) return;
  uint64_t* const word = ggas_pointer_of_node<uint64_t>(ggas_node() + 1, a.slots) + global_thread();
  uint64_t errors = 0;
  const auto round = [&](uint64_t number) {
    uint64_t old = 0;
    const ggas_status s = ggas_fetch_add(word, uint64_t{1}, &old, a.timeout_ns);
    errors += old != number - 1;
    return s;
  };
  const ggas_status s = run_windows(
      a, [](uint64_t) {}, round, [](uint64_t) {});
  report(a, s, errors);
}

}  // namespace ggas::bench
