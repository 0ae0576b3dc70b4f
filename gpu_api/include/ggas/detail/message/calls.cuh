// SPDX-License-Identifier: Apache-2.0
// The calls of message.cuh, which includes this.
#pragma once

#include "ggas/detail/message/progress.cuh"

namespace ggas::detail {

// ---- arguments

GGAS_DEVICE bool messages_good(const ggas_messages& m) {
  const bool shape = m.threads == thread_count() && m.blocks.nodes.size == ggas_nodes() &&
                     (m.kind != ggas_rank_is_warp || m.threads % 32 == 0) && m.kind <= ggas_rank_is_block;
  const bool state = m.waiting != 0 && m.requests != 0 && m.place % message_layout::line == 0 &&
                     m.place >= device_context().reserved && fits_segment(m.place, bytes_of(m));
  return shape && state && ranks_good(m.blocks);
}
template <class G>
GGAS_DEVICE bool caller_good(const G&, const ggas_messages& m) {
  return m.kind == rank_kind_of<G> && m.threads == thread_count() && m.blocks.nodes.size == ggas_nodes() &&
         block_rank() - m.blocks.first < m.blocks.blocks;
}
GGAS_LAYOUT_FN bool rank_exists(const ggas_messages& m, int rank) { return rank >= 0 && rank < rank_count(m); }
GGAS_LAYOUT_FN bool target_good(const ggas_messages& m, int to, int tag) {
  return rank_exists(m, to) && (tag >= 0 || is_of_context(tag));
}
GGAS_LAYOUT_FN bool source_good(const ggas_messages& m, int from, int tag) {
  return (from == any_source || rank_exists(m, from)) && (tag >= any_tag || is_of_context(tag));
}
GGAS_LAYOUT_FN bool buffer_good(const void* data, uint64_t bytes) { return data || bytes == 0; }

// A message may still be refused where the launch was not begun.
GGAS_DEVICE bool is_begun(message_rank r) { return r.matching().launch != 0; }

// ---- results

GGAS_DEVICE void no_message(ggas_message* got) {
  if (got) *got = {any_source, any_tag, 0, 0};
}
// Copies the result that the ended call has left in the desk.
GGAS_DEVICE void copy_result(message_rank r, ggas_message* got) {
  const matching_state& d = r.matching();
  if (got) *got = {d.source, d.tag, d.info, d.bytes};
}

// A wait that failed, for the report.
GGAS_DEVICE_FUNCTION void record_missing_message(waited_for kind, call_id call, ggas_status s, int me, int whom,
                                                 int tag) {
  wait_record* const at = begin_record(kind, s);
  if (!at) return;
  store_relaxed(&at->expected, static_cast<uint64_t>(static_cast<int64_t>(tag)));
  store_relaxed(&at->seen, static_cast<uint64_t>(me));
  if (whom >= 0) {
    store_relaxed(&at->missing[0], wait_record::missing_one(whom));
    store_relaxed(&at->missing_count, 1u);
  }
  store_relaxed(&at->call, static_cast<uint32_t>(call));
  end_record(at);
}
template <class G>
GGAS_DEVICE void record_message(const G& g, const ggas_messages& m, waited_for kind, call_id call, ggas_status s,
                                uint64_t timeout_ns, int whom, int tag) {
  if (g.leads() && timeout_ns != 0)
    record_missing_message(kind, call, s, ggas_node() * ranks_of_node(m) + static_cast<int>(index_of_caller(m)), whom,
                           tag);
}

// ---- begin

GGAS_DEVICE void write_facts(const ggas_messages& m) {
  const message_layout l = layout_of(m);
  auto& f = *reinterpret_cast<message_facts*>(own_word(m.place));
  f = {{m.place, l.bytes(), static_cast<uint32_t>(l.nodes), m.lines_log2, m.short_bytes, ranks_of_node(m)},
       l.chain(0),
       l.message(0),
       l.request(0),
       l.data(0),
       m.waiting,
       m.requests};
}
// Resets what a launch may have left of the `ranks` neighbouring ranks whose first part is `part`. By a warp, whose
// lanes load and store neighbouring pieces of a part: that takes less than half of the time in which each lane would
// reset a rank of its own. Lists that a launch has not used are not stored.
struct alignas(16) piece_of_rank {
  uint64_t a, b;
};
GGAS_DEVICE void begin_matching(char* part, uint64_t distance, unsigned ranks, int me) {
  constexpr unsigned pieces = sizeof(matching_words) / sizeof(piece_of_rank);  // and as many of the lists
  static_assert(sizeof(matching_lists) == 2 * sizeof(matching_words));
  const unsigned lanes = lane_count(), lane = lane_rank();
  const auto rank_in = [&](unsigned turn) { return (turn * lanes + lane) / pieces; };
  const auto piece_in = [&](unsigned turn) { return (turn * lanes + lane) % pieces; };
  const auto words = [&](unsigned turn) {
    return reinterpret_cast<piece_of_rank*>(part + rank_in(turn) * distance) + piece_in(turn);
  };
  piece_of_rank lists[pieces];  // one in each turn of a lane
  const uint64_t launches =
      load_own(reinterpret_cast<const uint64_t*>(part + (lane < ranks ? lane * distance : 0) + offset_of_launch));
  GGAS_UNROLL
  for (unsigned turn = 0; turn < pieces; ++turn)
    if (rank_in(turn) < ranks) lists[turn] = load_own(words(turn) + pieces);
  GGAS_UNROLL
  for (unsigned turn = 0; turn < pieces; ++turn) {
    const unsigned rank = rank_in(turn), piece = piece_in(turn);
    const uint64_t launch = __shfl_sync(lane_mask(), launches, static_cast<int>(rank < ranks ? rank : 0)) + 1;
    piece_of_rank now{0, 0};
    if (piece == offset_of_launch / sizeof now) now.a = launch;  // chains carry it
    if (piece == offset_of_me / sizeof now) now.a = sent_to_none | uint64_t{static_cast<unsigned>(me) + rank} << 32;
    if (rank < ranks) store_own(words(turn), now);
  }
  GGAS_UNROLL
  for (unsigned turn = 0; turn < pieces; ++turn) {
    if (rank_in(turn) >= ranks) continue;
    const bool has_requests = piece_in(turn) + pieces == offset_of_requests / sizeof(piece_of_rank);
    const piece_of_rank now{0, has_requests ? lists[turn].b : 0};  // each use of a request has a number of its own
    if (lists[turn].a != 0 || lists[turn].b != now.b) store_own(words(turn) + pieces, now);
  }
}
// The ring of a node to itself is one of its own, and a barrier follows: if all of it was taken, it stays as it is.
GGAS_DEVICE void begin_ring_alone(ring_words& ring, unsigned lines_log2) {
  if (load_own(&ring.claimed) == load_own(&ring.taken)) return;
  const uint64_t lap = (ring.claimed >> lines_log2) + ring_laps_ahead, line = lap << lines_log2;
  ring = {line, line, {}, {lap, lap, lap, lap}};
}
// Those that the warp begins: its own rank, or, where threads are ranks, those of its lanes.
GGAS_DEVICE ggas_status begin_ranks(const ggas_messages& m, uint64_t timeout_ns) {
  const bool threads = m.kind == ggas_rank_is_thread;
  if (m.kind == ggas_rank_is_block && thread_rank() >= 32) return ggas_ok;
  const unsigned first = index_of_caller(m) - (threads ? lane_rank() : 0), ranks = threads ? lane_count() : 1;
  const uint64_t distance = layout_of(m).bytes(), at = m.place + message_layout::first() + first * distance,
                 mine = at + (threads ? lane_rank() * distance : 0);
  begin_matching(reinterpret_cast<char*>(own_word(at)), distance, ranks,
                 ggas_node() * ranks_of_node(m) + static_cast<int>(first));
  if (m.blocks.nodes.size == 1) {
    if (threads || lane_rank() == 0)
      begin_ring_alone(*reinterpret_cast<ring_words*>(own_word(mine + message_layout::ring())), m.lines_log2);
    return ggas_ok;
  }
  sync_lanes();
  const auto launch = static_cast<uint32_t>(message_rank(m).matching().launch);
  const ring_shape ring{mine + message_layout::ring(), static_cast<uint32_t>(m.blocks.nodes.size), m.lines_log2};
  const deadline end(timeout_ns);
  return threads ? ring_begin(thread_group{}, ring, launch, end) : ring_begin(warp_group{}, ring, launch, end);
}

// A rank resets the rings that lead to it, together with the ranks of the same number on the other nodes. No thread
// sends before all ranks of the node have done so.
GGAS_DEVICE ggas_status begin_messages(const ggas_messages& m, uint64_t timeout_ns) {
  if (!messages_good(m)) return ggas_bad_argument;
  if (block_rank() == m.blocks.first && is_first_thread()) write_facts(m);
  const ggas_status s = block_status(begin_ranks(m, timeout_ns));
  return s == ggas_ok ? meet_ranks<meeting::barrier>(m.blocks, timeout_ns) : s;
}

// ---- send, receive

template <class G>
GGAS_DEVICE ggas_status send_message(const G& g, const ggas_messages& m, const void* data, uint64_t bytes, int to,
                                     int tag, uint32_t info, uint64_t timeout_ns) {
  if (!caller_good(g, m) || !target_good(m, to, tag) || !buffer_good(data, bytes)) return ggas_bad_argument;
  const message_rank r(m);
  const auto* const from = static_cast<const char*>(data);
  if constexpr (is_same<G, block_group>) {
    if (bytes > bytes_of_warp_words && bytes <= m.short_bytes && !is_private(data))
      return send_long_record<G>(r, from, bytes, to, tag, info, timeout_ns);
  }
  return send_now<G>(r, from, bytes, to, tag, info, timeout_ns);
}

template <class G>
GGAS_DEVICE ggas_status receive_message(const G& g, const ggas_messages& m, void* data, uint64_t most, int from,
                                        int tag, ggas_message* got, uint64_t timeout_ns, uint32_t info = 0) {
  no_message(got);
  if (!caller_good(g, m) || !source_good(m, from, tag) || !buffer_good(data, most)) return ggas_bad_argument;
  const received_message v =
      receive_now<G>(message_rank(m), static_cast<char*>(data), most, from, tag, info, timeout_ns);
  if (got) *got = {v.source, v.tag, v.info, v.bytes};
  return v.status;
}

template <class G>
GGAS_DEVICE ggas_status probe_message(const G& g, const ggas_messages& m, int from, int tag, ggas_message* got,
                                      uint64_t timeout_ns) {
  no_message(got);
  if (!caller_good(g, m) || !source_good(m, from, tag)) return ggas_bad_argument;
  const message_rank r(m);
  if (!is_begun(r)) return ggas_bad_argument;
  const ggas_status s = wait_for_message<G>(r, from, tag, timeout_ns);
  copy_result(r, got);
  return s;
}

// ---- requests

template <class G>
GGAS_DEVICE ggas_status make_request(const G&, const ggas_messages& m, message_request::stage first, void* data,
                                     uint64_t bytes, int peer, int tag, uint32_t info, ggas_message_request* request) {
  const message_rank r(m);
  if (!is_begun(r)) return ggas_bad_argument;
  const ggas_status s = begin_request<G>(r, first, data, bytes, peer, tag, info);
  request->number = r.matching().number;
  return s;
}
template <class G>
GGAS_DEVICE ggas_status begin_send(const G& g, const ggas_messages& m, const void* data, uint64_t bytes, int to,
                                   int tag, uint32_t info, ggas_message_request* request) {
  if (!request) return ggas_bad_argument;
  request->number = 0;
  if (!caller_good(g, m) || !target_good(m, to, tag) || !buffer_good(data, bytes)) return ggas_bad_argument;
  return make_request(g, m, message_request::queued, const_cast<void*>(data), bytes, to, tag, info, request);
}
template <class G>
GGAS_DEVICE ggas_status begin_receive(const G& g, const ggas_messages& m, void* data, uint64_t most, int from, int tag,
                                      ggas_message_request* request, uint32_t info = 0) {
  if (!request) return ggas_bad_argument;
  request->number = 0;
  if (!caller_good(g, m) || !source_good(m, from, tag) || !buffer_good(data, most)) return ggas_bad_argument;
  return make_request(g, m, message_request::unmatched, data, most, from, tag, info, request);
}

// Those of n requests as a set; false: one does not exist.
GGAS_DEVICE bool set_of_requests(message_rank r, const ggas_message_request* requests, int n, uint64_t& set) {
  set = 0;
  for (int i = 0; i < n; ++i) {
    const uint64_t number = requests[i].number;
    if (number == 0) continue;
    const auto slot = static_cast<int>(number & 63);
    if (static_cast<unsigned>(slot) >= r.facts->requests || r.request(slot).number != number) return false;
    set |= uint64_t{1} << slot;
  }
  return (set & ~r.matching().used) == 0;
}

template <class G>
GGAS_DEVICE ggas_status wait_for_any(const G& g, const ggas_messages& m, ggas_message_request* requests, int n,
                                     int* which, ggas_message* got, uint64_t timeout_ns, bool ends = false) {
  no_message(got);
  if (which) *which = -1;
  if (!caller_good(g, m) || n < 0 || (n > 0 && !requests) || !which) return ggas_bad_argument;
  const message_rank r(m);
  g.sync();  // what the first thread wrote for all
  uint64_t set = 0;
  if (!is_begun(r) || !set_of_requests(r, requests, n, set)) return ggas_bad_argument;
  if (set == 0) return ggas_ok;
  const ggas_status s = wait_for_requests<G>(r, set, ends, timeout_ns);
  const uint64_t ended = r.matching().number;
  copy_result(r, got);
  for (int i = 0; i < n && *which < 0; ++i)
    if (ended != 0 && requests[i].number == ended) *which = i;
  g.sync();
  if (*which >= 0) requests[*which].number = 0;
  return s;
}

template <class G>
GGAS_DEVICE ggas_status wait_for_all(const G& g, const ggas_messages& m, ggas_message_request* requests, int n,
                                     ggas_message* got, uint64_t timeout_ns) {
  const deadline end(timeout_ns);
  ggas_status all = ggas_ok;
  for (int i = 0; i < n; ++i) {
    const uint64_t now = timeout_ns == 0 || timeout_ns == ~0ull ? 0 : clock_ns();
    const uint64_t left = end.at > now ? end.at - now : 0;
    int which;
    const ggas_status s = wait_for_any(g, m, requests + i, 1, &which, got ? got + i : nullptr, left);
    if (all == ggas_ok) all = s;
  }
  return all;
}

template <class G>
GGAS_DEVICE ggas_status cancel_request(const G& g, const ggas_messages& m, ggas_message_request* request) {
  int which;
  const ggas_status s = wait_for_any(g, m, request, 1, &which, nullptr, 0, true);
  g.sync();
  if (request && s != ggas_bad_argument) request->number = 0;
  return s;
}

template <class G>
GGAS_DEVICE ggas_status exchange_messages(const G& g, const ggas_messages& m, const void* data, uint64_t bytes, int to,
                                          int tag, uint32_t info, void* received, uint64_t most, int from,
                                          int received_tag, ggas_message* got, uint64_t timeout_ns) {
  no_message(got);
  if (!caller_good(g, m) || !target_good(m, to, tag) || !buffer_good(data, bytes)) return ggas_bad_argument;
  if (!source_good(m, from, received_tag) || !buffer_good(received, most)) return ggas_bad_argument;
  const deadline end(timeout_ns);
  ggas_status s = bytes <= m.short_bytes ? send_message(g, m, data, bytes, to, tag, info, 0) : ggas_timed_out;
  if (s == ggas_ok) return receive_message(g, m, received, most, from, received_tag, got, timeout_ns);
  if (s != ggas_timed_out) return s;
  ggas_message_request sent{};
  s = make_request(g, m, message_request::queued, const_cast<void*>(data), bytes, to, tag, info, &sent);
  if (s != ggas_ok) return s;
  s = receive_message(g, m, received, most, from, received_tag, got, timeout_ns);
  const uint64_t now = timeout_ns == 0 || timeout_ns == ~0ull ? 0 : clock_ns();
  int which;
  const ggas_status other =
      wait_for_any(g, m, &sent, 1, &which, nullptr, end.at > now && !wait_failed(s) ? end.at - now : 0);
  if (wait_failed(other)) (void)cancel_request(g, m, &sent);
  return s == ggas_ok ? other : s;
}

}  // namespace ggas::detail
