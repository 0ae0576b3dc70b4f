// SPDX-License-Identifier: Apache-2.0
// Messages that are one record with more words than a warp has threads: the first warp of the rank claims the lines, or
// finds the record, and then more threads move the data: those of a block, or of a launch of a stream.
// docs/messages.md. Included by progress_long.cuh.
#pragma once

#include "ggas/detail/message/without_request.cuh"

namespace ggas::detail {

// ---- sending

struct record_claim {
  call_turn now;  // lines: they are claimed, and the head is in its place
  ggas_status status;
  uint64_t position;
};
template <class G>
GGAS_DEVICE record_claim claim_record(const G& g, message_rank r, uint64_t bytes, int to, int tag, uint32_t info,
                                      poll_deadline& end) {
  const rank_view v(r);
  if (v.own.launch == 0) return {call_turn::ended, ggas_bad_argument, 0};
  if (v.own.moving != 0) return {call_turn::needs_request, ggas_ok, 0};
  const uint64_t lines = lines_of_record(bytes);
  for (;;) {
    line_claim c(v, to);
    if (c.claim_for(g, lines)) {
      if (g.leads()) {
        claimed_lines(c.ring, c.node, c.position).put_head(record_short, v.own.me, bytes, envelope(tag, info));
        c.keep(r, to);
      }
      return {call_turn::lines, ggas_ok, g.of_leader(c.position)};
    }
    if (v.own.used != 0) return {call_turn::needs_request, ggas_ok, 0};  // it may have to take messages
    if (!move_messages<G>(r) && is_over(g, end)) return {call_turn::ended, status_of_end(g), 0};
  }
}
GGAS_DEVICE void put_data(message_rank r, int to, uint64_t position, const message_data& data, const movers& by) {
  const claimed_lines at(r.ring_of(to), r.node_of(to), position);
  move_each<4>((data.bytes + 7) / 8, by, data, [&](uint64_t i, uint64_t v) { at.put(2 + i, v); });
}

// ---- receiving

struct found_record {
  call_turn now;
  ggas_status status;
  uint64_t position;  // lines: of the record, which is not received yet
  message_head found;
};
// A record of more than `most_of_warp` bytes that fits is only found, as soon as its head has come. Others are
// received.
template <class G>
GGAS_DEVICE found_record find_long_record(const G& g, message_rank r, const wanted_message& w, uint64_t most_of_warp,
                                          poll_deadline& end) {
  const auto is_found = [&](const record_here<G>& record) {
    return record.kind() == record_short && record.data_bytes() > most_of_warp && !w.leaders &&
           w.fits(record.source(), record.tag()) && w.accepts(record.message());
  };
  found_record t{call_turn::ended, ggas_ok, 0, {}};
  const receive_turn found = find_message(
      g, r, w, end, [&](record_here<G>& record) { return record.begins() && (is_found(record) || record.is_whole()); },
      [&](const record_here<G>& record, bool unseen) -> receive_turn {
        if (!is_found(record)) return receive_record(g, r, w, record, unseen);
        t.position = record.position();
        return {call_turn::lines, ggas_ok, record.message()};
      });
  t.now = found.now;
  t.status = found.status;
  t.found = found.found;
  return t;
}
// The lines of the data of a record that was found.
struct lines_of_data {
  ring_end ring;
  uint64_t first, end;
  GGAS_DEVICE lines_of_data(message_rank r, uint64_t position, const message_head& m)
      : ring(end_of_ring(r.ring(), r.node_of(m.source))),
        first(position + 2),
        end(position + lines_of_record(m.bytes)) {}
  GGAS_DEVICE bool load(uint64_t i, uint64_t& data) const {
    const ggas_tagged l = load_spin(ring.line(first + i));
    data = tagged_data(l);
    return has_tag(l, ring.tag(first + i));
  }
  GGAS_DEVICE uint64_t words() const { return end - first; }
  // By the first thread, after all have read them.
  GGAS_DEVICE void take(message_rank r) const {
    acquire_record(r);
    free_lines(ring, first - 2, end);
  }
};

// By a block. The buffer is not touched before all lines have come.
template <class G>
GGAS_APART ggas_status take_long_record(message_rank r, char* to, uint64_t position, int source, uint64_t bytes,
                                        poll_deadline end) {
  const G g;
  const lines_of_data lines(r, position, {source, any_tag, 0, 0, bytes, 0, 0});
  const auto word = [&](uint64_t i) {
    uint64_t data = 0;
    (void)lines.load(i, data);
    return data;
  };
  for (;;) {
    bool here = true;
    move_each<4>(
        lines.words(), movers_of(g),
        [&](uint64_t i) {
          uint64_t data;
          return lines.load(i, data);
        },
        [&](uint64_t, bool came) { here &= came; });
    if (__syncthreads_or(!here) == 0) break;
    if (__syncthreads_or(end.over()))
      return __syncthreads_or(end_of_wait() == ggas_aborted) ? ggas_aborted : ggas_timed_out;
  }
  store_words(movers_of(g), to, bytes, word);
  g.sync();
  if (g.leads()) lines.take(r);
  g.sync();
  return ggas_ok;
}

}  // namespace ggas::detail
