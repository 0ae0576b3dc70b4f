// SPDX-License-Identifier: Apache-2.0
// reduce, allreduce and reducescatter by a single block in one exchange over a bundle of channels: data that do not fit
// the slot of its channel use the slots of further channels of its team, and also take one hop. On each channel the
// exchange looks like a short one. Included by long.cuh.
#pragma once

#include "ggas/detail/collective/allreduce.cuh"

namespace ggas::detail {

// By the thread that has the first line of a slot: now and then, the rest of it.
template <class T>
GGAS_DEVICE_FUNCTION void refresh_bundled(channel c, piece<T> p, unsigned number, unsigned lines) {
  const channel at = c.sibling(number);
  for (int hop = 1; hop < c.team.size; ++hop) {
    const int to = member_behind(c, hop);
    refresh_end(at, at.outbox(to), p.goes_to(to) ? lines : 1);
  }
}

// An exchange over a bundle. A thread has some lines of each row (line_plan); its lines of one row are in flight at the
// same time. It sends its lines of all rows before it waits for the first line. `Parts`: every member gets a different
// part, and combines its own.
template <class T, bool Parts>
class bundle_exchange {
 public:
  GGAS_DEVICE bundle_exchange(const channel& c, const piece<T>& p)
      : c_(c), p_(p), plan_(lines_of<T>(p.n)), slots_(c, 0) {}

  GGAS_DEVICE unsigned channels() const { return plan_.channels; }
  // `Lines` lines of up to `Members` members are polled at once.
  template <int Members, int Lines>
  GGAS_DEVICE ggas_status run(poll_deadline& end) const {
    const unsigned all = 1u << plan_.rows_log2 << lanes_log2, threads = thread_count();
    row_lines r{};
    GGAS_NO_UNROLL
    for (unsigned i = thread_rank(); i < all; i += threads) {
      if (first_of(i) >= plan_.lines) continue;
      r = find(first_of(i));
      send(r);
    }
    GGAS_NO_UNROLL
    for (unsigned i = thread_rank(); i < all; i += threads) {
      if (first_of(i) >= plan_.lines) continue;
      if (r.first != first_of(i)) r = find(first_of(i));
      if (const ggas_status s = receive<Members, Lines>(r, end); s != ggas_ok) return s;
    }
    return ggas_ok;
  }

 private:
  // Lines after the end are replaced by the first one, which is sent and stored twice: that costs less than a test for
  // each.
  struct row_lines {
    unsigned first, behind[lines_at_once];
    bool whole, begins_slot;      // all elements of all lines are there; the first line is that of a slot
    uint64_t seq;                 // of the slot's channel
    uint32_t offset;              // of the first line after that of the bundle
    uint64_t own[lines_at_once];  // what this member combines with what comes
    GGAS_DEVICE uint32_t number() const { return static_cast<uint32_t>(seq); }
    template <class Line>
    GGAS_DEVICE Line* at(Line* slots) const {
      return reinterpret_cast<Line*>(reinterpret_cast<uint64_t>(slots) + offset);
    }
  };
  GGAS_DEVICE static unsigned first_of(unsigned i) {
    return (i >> lanes_log2 << row_log2) + (i & ((1u << lanes_log2) - 1));
  }
  GGAS_DEVICE static bool in_pairs(const row_lines& r, const T* v) {
    return r.whole && reinterpret_cast<uintptr_t>(v) % 8 == 0;
  }

  GGAS_DEVICE row_lines find(unsigned first) const {
    row_lines r;
    r.first = first;
    GGAS_UNROLL
    for (unsigned j = 0; j < lines_at_once; ++j)
      r.behind[j] = first + (j << lanes_log2) < plan_.lines ? j << lanes_log2 : 0;
    const unsigned last = r.behind[lines_at_once - 1];
    r.whole = last != 0 && (size_t{first} + last + 1) * elements<T>::count <= p_.n;
    load(r, Parts ? p_.source(c_.rank) : p_.src, r.own);
    const unsigned number = first >> plan_.slot_log2, in_slot = first & ((1u << plan_.slot_log2) - 1);
    r.begins_slot = in_slot == 0;
    r.seq = (load_own(c_.word + number) & ~channel_failed) + 1;
    const auto turn =
        number * static_cast<uint32_t>(layout::channel_depth) + static_cast<uint32_t>(r.seq % layout::channel_depth);
    r.offset =
        turn * static_cast<uint32_t>(own_layout().turn_bytes()) + in_slot * static_cast<uint32_t>(sizeof(channel_line));
    return r;
  }
  GGAS_DEVICE void load(const row_lines& r, const T* part, uint64_t (&data)[lines_at_once]) const {
    if (in_pairs(r, part)) {
      const auto* const from = reinterpret_cast<const uint64_t*>(part) + r.first;
      GGAS_UNROLL
      for (unsigned j = 0; j < lines_at_once; ++j) data[j] = load_own(from + r.behind[j]);
    } else {
      GGAS_UNROLL
      for (unsigned j = 0; j < lines_at_once; ++j) data[j] = load_elements(part, r.first + r.behind[j], p_.n);
    }
  }

  GGAS_DEVICE static void send_row(const row_lines& r, channel_line* there, const uint64_t (&data)[lines_at_once]) {
    GGAS_UNROLL
    for (unsigned j = 0; j < lines_at_once; ++j) store_relaxed(there + r.behind[j], line_of(r.seq, data[j]));
  }
  // A member that is not the root gets the first line of every slot, so that every member receives from every member.
  GGAS_DEVICE void send(const row_lines& r) const {
    GGAS_NO_UNROLL
    for (int hop = 1; hop < c_.team.size; ++hop) {
      const int to = member_behind(c_, hop);
      channel_line* const there = r.at(slots_.to(to));
      if constexpr (Parts) {
        uint64_t theirs[lines_at_once];
        load(r, p_.source(to), theirs);
        send_row(r, there, theirs);
      } else if (p_.goes_to(to)) {
        send_row(r, there, r.own);
      } else if (r.begins_slot) {
        store_relaxed(there, line_of(r.seq, r.own[0]));
      }
    }
    if (r.begins_slot && slot_is_due(r.seq))
      refresh_bundled(c_, p_, r.first >> plan_.slot_log2, plan_.lines_from(r.first));
  }

  template <int Members, int Lines>
  GGAS_DEVICE ggas_status receive(const row_lines& r, poll_deadline& end) const {
    const bool target = p_.goes_to(c_.rank);
    if (!target && !r.begins_slot) return ggas_ok;
    GGAS_UNROLL
    for (unsigned j = 0; j < lines_at_once; j += Lines) {
      uint64_t sum[Lines];
      GGAS_NO_UNROLL
      for (int first = 0; first < c_.team.size; first += Members) {
        channel_line l[Members][Lines];
        if (!take(r, j, first, target, l, end)) return no_row(r, target);
        combine(first, l, sum);
      }
      if (!target) break;
      store(r, j, sum);
    }
    return ggas_ok;
  }
  // Lines j, j + 1 ... of the members first, first + 1 ... . The own lines are used in place of those of members that
  // do not exist. A member that gets no result receives only the first line of a slot.
  template <int Members, int Lines>
  GGAS_DEVICE bool take(const row_lines& r, unsigned line, int first, bool target, channel_line (&l)[Members][Lines],
                        poll_deadline& end) const {
    GGAS_UNROLL
    for (int k = 0; k < Members; ++k) {
      GGAS_UNROLL
      for (unsigned j = 0; j < Lines; ++j) l[k][j] = line_of(r.seq, r.own[line + j]);
    }
    for (;;) {
      GGAS_UNROLL
      for (int k = 0; k < Members; ++k) {
        if (first + k >= c_.team.size || first + k == c_.rank) continue;
        const channel_line* const here = r.at(slots_.from(first + k));
        GGAS_UNROLL
        for (unsigned j = 0; j < Lines; ++j) l[k][j] = load_spin(here + (target ? r.behind[line + j] : 0));
      }
      uint32_t different = 0;
      GGAS_UNROLL
      for (int k = 0; k < Members; ++k) {
        GGAS_UNROLL
        for (unsigned j = 0; j < Lines; ++j)
          different |= (l[k][j].low_tag ^ r.number()) | (l[k][j].high_tag ^ r.number());
      }
      if (different == 0) return true;
      if (c_.broken != 0 || end.over()) return false;
    }
  }
  // The status of a wait for lines of a row.
  GGAS_DEVICE ggas_status no_row(const row_lines& r, bool target) const {
    ggas_status s = ggas_timed_out;
    const unsigned lines = target ? lines_at_once : 1;
    GGAS_NO_UNROLL
    for (unsigned j = 0; j < lines && r.first + (j << lanes_log2) < plan_.lines && s == ggas_timed_out; ++j) {
      const auto line = reinterpret_cast<uint64_t>(r.at(slots_.from(0)) + (j << lanes_log2));
      s = no_line(line, slots_.in_step, c_.team.size, c_.team.id, r.number());
    }
    return s;
  }
  // After those of the members before `first`.
  template <int Members, int Lines>
  GGAS_DEVICE void combine(int first, const channel_line (&l)[Members][Lines], uint64_t (&sum)[Lines]) const {
    with_operation<T>(p_.op, [&](operation<T> combined) GGAS_INLINED {
      GGAS_UNROLL
      for (int k = 0; k < Members; ++k) {
        if (first + k >= c_.team.size) break;
        GGAS_UNROLL
        for (unsigned j = 0; j < Lines; ++j) {
          const uint64_t v = tagged_data(l[k][j]);
          sum[j] = first + k == 0 ? v : combine_lines<T>(combined, sum[j], v);
        }
      }
    });
  }
  template <int Lines>
  GGAS_DEVICE void store(const row_lines& r, unsigned line, const uint64_t (&sum)[Lines]) const {
    if (in_pairs(r, p_.dst)) {
      auto* const to = reinterpret_cast<uint64_t*>(p_.dst) + r.first;
      GGAS_UNROLL
      for (unsigned j = 0; j < Lines; ++j) store_own(to + r.behind[line + j], sum[j]);
    } else {
      GGAS_UNROLL
      for (unsigned j = 0; j < Lines; ++j) store_elements(p_.dst, r.first + r.behind[line + j], p_.n, sum[j]);
    }
  }

  const channel& c_;
  const piece<T>& p_;
  line_plan plan_;
  line_places slots_;  // the first line of the bundle, in the first turn
};

template <bool Parts, class T>
GGAS_DEVICE ggas_status one_shot_bundled(channel& c, const piece<T>& p, poll_deadline& end) {
  const bundle_exchange<T, Parts> exchange(c, p);
  c.bundled = exchange.channels();
  return c.team.size <= 2 ? exchange.template run<2, 4>(end) : exchange.template run<4, 2>(end);
}

}  // namespace ggas::detail
