// SPDX-License-Identifier: Apache-2.0
// Requests of messages are moved on, and waited for: part of each program, or of libggas_device. docs/messages.md.
// Included by message.cuh.
#pragma once

#include "ggas/detail/message/one_word.cuh"
#include "ggas/detail/message/progress.cuh"
#include "ggas/detail/message/records.cuh"

namespace ggas::detail {

// ---- steps of a request. By a thread, or a warp, which is the rank or the first one of it. Whether it moved.

// From memory that only this rank uses to a buffer.
struct copy_of_waiting {
  char* to;
  const uint64_t* from;
  uint64_t bytes;
  template <class By>
  GGAS_DEVICE int operator()(const By& by) const {
    const bool whole = are_whole(to, bytes);
    for (uint64_t i = by.rank(); i < (bytes + 7) / 8; i += by.size()) {
      if (whole)
        whole_words<uint64_t>{reinterpret_cast<uint64_t*>(to)}.store(i, from[i]);
      else
        misaligned_words<uint8_t>{reinterpret_cast<uint8_t*>(to), bytes}.store(i, from[i]);
    }
    return 0;
  }
};

// A receive looks at the messages that wait, or is one that waits itself.
template <class G>
GGAS_DEVICE bool match_waiting(const G& g, message_rank r, int slot) {
  message_request& q = r.request(slot);
  const uint32_t place = find_waiting(r, q.peer, q.tag);
  const waiting_message w = place == 0 ? waiting_message{} : r.waiting(place);
  if (place != 0 && !w.asked && accepts(q, w.bytes, w.info))
    by_movers(g, is_leaders(g, q), copy_of_waiting{buffer_of(q), r.data(place), w.bytes});
  g.sync();
  if (g.leads()) {
    if (place == 0) {
      set_stage(r, slot, message_request::posted);
    } else {
      note_match(q, w.source, w.tag, w.info, w.bytes);
      remove_waiting(r, place);
      if (w.asked)
        match_long(r, slot, w.other, w.address);
      else
        end_request(r, slot, status_of_match(q));
    }
  }
  return true;
}

template <class G>
GGAS_DEVICE bool see_handshake(const G& g, message_rank r, int slot) {
  message_request& q = r.request(slot);
  if (q.address == 0) return false;
  int is_done = 0;
  if (g.leads()) {
    is_done = load_poll(&q.handshake) == q.number * 4 + message_request::done;
    if (is_done) end_request(r, slot, ggas_ok);
  }
  return g.of_leader(is_done) != 0;
}

template <class G>
GGAS_DEVICE bool send_piece(const G& g, message_rank r, int slot) {
  message_request& q = r.request(slot);
  const uint64_t left = q.bytes - q.moved, most = r.matching().all.short_bytes, bytes = left < most ? left : most;
  if (!try_send_data(g, r, q, record_piece, q.other, buffer_of(q) + q.moved, bytes)) return false;
  g.sync();
  if (g.leads()) {
    q.moved += bytes;
    if (bytes == left) end_request(r, slot, ggas_ok);
  }
  return true;
}

template <class G>
GGAS_DEVICE bool send_answer(const G& g, message_rank r, int slot) {
  message_request& q = r.request(slot);
  const uint64_t other = q.other, own = is_accepted(q) ? q.number : 0;
  if (!try_send(g, true, r, q.source, record_answers, 16, [=](uint64_t i) { return i == 0 ? other : own; }))
    return false;
  if (g.leads()) {
    if (own == 0)
      end_request(r, slot, ggas_bad_argument);
    else
      set_stage(r, slot, message_request::filling);
  }
  return true;
}

template <class G>
GGAS_DEVICE bool move_on(const G& g, message_rank r, int slot) {
  bool moved = false;
  const uint32_t state = r.request(slot).state;
  g.sync();  // the first thread writes it
  switch (state) {
    case message_request::unmatched:
      moved = match_waiting(g, r, slot);
      break;
    case message_request::queued:
      moved = send_first(g, r, slot);
      break;
    case message_request::asked:
      moved = see_handshake(g, r, slot);
      break;
    case message_request::sending:
      moved = send_piece(g, r, slot);
      break;
    case message_request::answering:
      moved = send_answer(g, r, slot);
      break;
    default:
      break;
  }
  g.sync();
  return moved;
}

// All that can be done at once, except copies of long messages. Whether anything was.
template <class G>
GGAS_APART bool move_messages(message_rank r) {
  const G g;
  bool moved = false;
  for_requests(r.matching().moving, [&](int slot) { moved |= move_on(g, r, slot); });
  GGAS_NO_UNROLL
  for (int node = 0; node < static_cast<int>(r.matching().ring.nodes); ++node) moved |= take_of_node(g, r, node);
  return moved;
}

// ---- long messages from memory to memory

// The sender's word, if it still waits: the message is received.
GGAS_DEVICE bool close_handshake(message_rank r, const message_request& q) {
  const uint64_t at = r.part_of(q.source) + r.matching().slots + (q.other & 63) * 2 * message_layout::line;
  const uint64_t expected = q.other * 4 + message_request::active;
  fence_acq_rel_system();
  return cas_system(word_of(r.node_of(q.source), at), expected, q.other * 4 + message_request::done) == expected;
}

// By all of the rank.
template <class G>
GGAS_DEVICE void copy_long(const G& g, message_rank r) {
  for_requests(r.matching().copying, [&](int slot) {
    message_request& q = r.request(slot);
    char* const to = buffer_of(q);
    const char* const from = ggas_pointer_of_node<char>(r.node_of(q.source), q.address - 1);
    if (is_accepted(q)) {
      if (!is_leaders(g, q))
        move_bytes<origin::remote>(to, from, q.found_bytes, movers_of(g));
      else if (g.leads())
        for (uint64_t i = 0; i < q.found_bytes; ++i) to[i] = load_relaxed(from + i);
    }
    g.sync();
    if (g.leads()) {
      if (close_handshake(r, q))
        end_request(r, slot, status_of_match(q));
      else
        set_stage(r, slot, message_request::unmatched);
    }
  });
  g.sync();
}

// ---- waiting

// The threads that make progress: all of a rank, or of a block its first warp.
template <class G>
using progress_group = either_t<is_same<G, block_group>, warp_group, G>;

// What the threads that make progress found.
enum class message_turn { copy, ready, late };

template <class G, class Ready>
GGAS_DEVICE message_turn make_progress(const G& g, message_rank r, poll_deadline& end, Ready ready) {
  for (;;) {
    const bool moved = move_messages<G>(r);
    if (r.matching().copying != 0) return message_turn::copy;
    if (ready()) return message_turn::ready;
    if (moved) continue;
    if (g.of_leader(static_cast<int>(g.leads() && end.over()))) return message_turn::late;
  }
}

// f(group) by the threads that make progress; what it gives, for all of the rank.
template <class G, class F>
GGAS_DEVICE message_turn by_progress(const G& g, F f) {
  g.sync();
  if constexpr (is_same<G, block_group>) {
    message_turn t = message_turn::copy;
    if (thread_rank() < 32) t = f(warp_group{});
    if (__syncthreads_or(t == message_turn::ready)) return message_turn::ready;
    return __syncthreads_or(t == message_turn::late) ? message_turn::late : message_turn::copy;
  } else {
    return f(g);
  }
}

// Called by all threads of the rank. The threads that make progress first call start(group). When ready() is true, or
// the time is over, they call finish(group, late); its first thread stores the result of the call in the desk.
template <class G, class Start, class Ready, class Finish>
GGAS_DEVICE ggas_status run_messages(const G& g, message_rank r, poll_deadline end, Start start, Ready ready,
                                     Finish finish) {
  for (bool first = true;; first = false) {
    const message_turn t = by_progress(g, [&](const progress_group<G>& by) {
      if (first) start(by);
      by.sync();
      const message_turn found = make_progress(by, r, end, ready);
      by.sync();  // all have seen that it is ready
      if (found != message_turn::copy && by.leads()) finish(found == message_turn::late);
      by.sync();
      return found;
    });
    if (t != message_turn::copy) return static_cast<ggas_status>(r.matching().status);
    copy_long(g, r);
  }
}

// What a call gives of a request that has ended, which is then free. By the first thread.
GGAS_DEVICE void give_result(message_rank r, int slot) {
  const message_request& q = r.request(slot);
  matching_state& d = r.matching();
  d.status = q.status;
  d.source = q.source;
  d.tag = q.found_tag;
  d.info = q.found_info;
  d.bytes = q.found_bytes;
  set_stage(r, slot, message_request::unused);
}
GGAS_DEVICE void give_status(message_rank r, ggas_status s) {
  matching_state& d = r.matching();
  d.status = s;
  d.source = d.tag = any_source;
  d.info = 0;
  d.bytes = 0;
}
// The first thread withdraws a request that has not ended, unless the receiver was faster.
GGAS_DEVICE void withdraw(message_rank r, int slot, ggas_status s) {
  message_request& q = r.request(slot);
  const uint64_t active = q.number * 4 + message_request::active;
  const bool asked = q.state == message_request::asked && q.address != 0;
  if (asked && cas_system(&q.handshake, active, q.number * 4 + message_request::given_up) != active)
    end_request(r, slot, ggas_ok);
  else
    end_request(r, slot, s);
  give_result(r, slot);
}

// ---- calls

template <class G>
GGAS_DEVICE_FUNCTION ggas_status run_with_request(message_rank r, message_request::stage first, void* buffer,
                                                  uint64_t bytes, int peer, int tag, uint32_t info, poll_deadline end) {
  int slot = no_request;
  return run_messages(
      G{}, r, end,
      [&](const progress_group<G>& by) {
        if (by.leads()) slot = make_request(r, first, buffer, bytes, peer, tag, info);
        slot = by.of_leader(slot);
      },
      [&] { return slot == no_request || r.request(slot).state == message_request::ended; },
      [&](bool late) {
        if (slot == no_request)
          give_status(r, ggas_bad_argument);
        else if (late)
          withdraw(r, slot, end_of_wait());
        else
          give_result(r, slot);
      });
}
template <class G>
GGAS_APART ggas_status run_request(message_rank r, message_request::stage first, void* buffer, uint64_t bytes, int peer,
                                   int tag, uint32_t info, uint64_t timeout_ns) {
  const G g;
  poll_deadline end(timeout_ns);
  if (first == message_request::queued) {
    if (bytes <= most_of_one_word && send_one_word(g, r, buffer, bytes, peer, tag, info)) return ggas_ok;
  } else if (receive_one_word(g, r, buffer, bytes, peer, tag, info, end)) {
    return ggas_ok;
  }
  return run_with_request<G>(r, first, buffer, bytes, peer, tag, info, end);
}

template <class G>
GGAS_APART ggas_status begin_request(message_rank r, message_request::stage first, void* buffer, uint64_t bytes,
                                     int peer, int tag, uint32_t info) {
  return run_messages(
      G{}, r, poll_deadline(0),
      [&](const progress_group<G>& by) {
        if (!by.leads()) return;
        const int slot = make_request(r, first, buffer, bytes, peer, tag, info);
        r.matching().number = slot == no_request ? 0 : r.request(slot).number;
      },
      [] { return true; }, [&](bool) { give_status(r, r.matching().number == 0 ? ggas_bad_argument : ggas_ok); });
}

GGAS_DEVICE int find_ended(message_rank r, uint64_t set) {
  int found = no_request;
  for_requests(set, [&](int slot) {
    if (found == no_request && r.request(slot).state == message_request::ended) found = slot;
  });
  return found;
}
template <class G>
GGAS_APART ggas_status wait_for_requests(message_rank r, uint64_t set, bool ends, uint64_t timeout_ns) {
  return run_messages(
      G{}, r, poll_deadline(timeout_ns), [](const progress_group<G>&) {},
      [&] { return find_ended(r, set) != no_request; },
      [&](bool) {
        const int slot = find_ended(r, set);
        r.matching().number = slot == no_request ? 0 : r.request(slot).number;
        if (slot != no_request)
          give_result(r, slot);
        else if (ends)
          withdraw(r, lowest_bit(set), ggas_timed_out);
        else
          give_status(r, end_of_wait());
      });
}

template <class G>
GGAS_APART ggas_status wait_for_message(message_rank r, int from, int tag, uint64_t timeout_ns) {
  return run_messages(
      G{}, r, poll_deadline(timeout_ns), [](const progress_group<G>&) {},
      [&] { return find_waiting(r, from, tag) != 0; },
      [&](bool late) {
        give_status(r, late ? end_of_wait() : ggas_ok);
        if (late) return;
        const waiting_message& w = r.waiting(find_waiting(r, from, tag));
        matching_state& d = r.matching();
        d.source = w.source;
        d.tag = w.tag;
        d.info = w.info;
        d.bytes = w.bytes;
      });
}

}  // namespace ggas::detail
