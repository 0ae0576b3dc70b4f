// SPDX-License-Identifier: Apache-2.0
// reduce and allreduce along a binomial tree, in lines: a member combines its subtree's lines with its own, sends the
// sum to its parent, and passes the result on to its children. One exchange: each member has a slot at every other one,
// and between two members one line goes up and one down. A member that has a result has received, through others, from
// every member. Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/allreduce_lines.cuh"

namespace ggas::detail {

// A member's place in the tree of ranks counted from the root. Its children are me + 1, me + 2, me + 4 ..., up to the
// lowest bit of me, and their subtrees contain the ranks between. So a sum is always one of neighbouring ranks.
struct tree_place {
  int root, size, me;
  GGAS_DEVICE tree_place(const channel& c, int of_root) : root(of_root), size(c.team.size), me(c.rank - of_root) {
    if (me < 0) me += size;
  }
  GGAS_DEVICE int member(int place) const { return place + root < size ? place + root : place + root - size; }
  GGAS_DEVICE bool is_root() const { return me == 0; }
  GGAS_DEVICE int parent() const { return member(me & (me - 1)); }
  GGAS_DEVICE bool is_child(int bit) const { return (me & bit) == 0 && me + bit < size; }
  GGAS_DEVICE int child(int bit) const { return member(me + bit); }
};

template <class T>
class tree_exchange {
 public:
  GGAS_DEVICE tree_exchange(const channel& c, const piece<T>& p)
      : c_(c),
        p_(p),
        at_(c, p.root == everybody ? 0 : p.root),
        lines_(static_cast<unsigned>(lines_of<T>(p.n))),
        down_(p.root == everybody ? lines_ : 1) {}

  GGAS_DEVICE ggas_status run(poll_deadline& end) {
    send_empty_lines();
    for (unsigned i = thread_rank(); i < lines_; i += thread_count()) {
      if (const ggas_status s = up(i, end); s != ggas_ok) return s;
    }
    refresh_slots(c_, [&](int to) { return sent_to(to) == 0 ? 1 : sent_to(to); });
    if (at_.is_root()) return ggas_ok;
    for (unsigned i = thread_rank(); i < down_; i += thread_count()) {
      if (const ggas_status s = down(i, end); s != ggas_ok) return s;
    }
    return ggas_ok;
  }

 private:
  // Members that are not neighbours also get a line, as the rule of channels requires: a broadcast that follows checks
  // for these lines. No thread waits for them here.
  GGAS_DEVICE void send_empty_lines() const {
    for (int to = static_cast<int>(thread_rank()); to < c_.team.size; to += static_cast<int>(thread_count()))
      if (to != c_.rank && sent_to(to) == 0) send_line(c_, c_.outbox(to), 0);
  }
  GGAS_DEVICE ggas_status up(unsigned i, poll_deadline& end) {
    uint64_t sum = load_elements(p_.src, i, p_.n);
    GGAS_NO_UNROLL
    for (int bit = 1; at_.is_child(bit); bit *= 2) {
      uint64_t data;
      const channel_line* const from = c_.inbox(at_.child(bit)) + i;
      if (!take_line(c_, from, data, end)) return no_line(c_, from);
      sum = combine_data<T>(p_.op, sum, data);
    }
    if (!at_.is_root()) {
      send_line(c_, c_.outbox(at_.parent()) + i, sum);
      return ggas_ok;
    }
    store_elements(p_.dst, i, p_.n, sum);
    pass_on(i, sum);
    return ggas_ok;
  }
  GGAS_DEVICE ggas_status down(unsigned i, poll_deadline& end) {
    uint64_t data;
    const channel_line* const from = c_.inbox(at_.parent()) + i;
    if (!take_line(c_, from, data, end)) return no_line(c_, from);
    pass_on(i, data);
    if (p_.goes_to(c_.rank)) store_elements(p_.dst, i, p_.n, data);
    return ggas_ok;
  }
  // In a reduce one line says that every member has arrived.
  GGAS_DEVICE void pass_on(unsigned i, uint64_t data) {
    GGAS_NO_UNROLL
    for (int bit = 1; i < down_ && at_.is_child(bit); bit *= 2) send_line(c_, c_.outbox(at_.child(bit)) + i, data);
  }
  GGAS_DEVICE unsigned sent_to(int member) const {
    if (!at_.is_root() && member == at_.parent()) return lines_;
    for (int bit = 1; at_.is_child(bit); bit *= 2) {
      if (member == at_.child(bit)) return down_;
    }
    return 0;
  }

  const channel& c_;
  const piece<T>& p_;
  const tree_place at_;
  const unsigned lines_, down_;  // that go up, and down
};

template <class T>
GGAS_DEVICE ggas_status tree(channel& c, const piece<T>& p, poll_deadline& end) {
  return by_slots(c, p, [&](const piece<T>& chunk) { return tree_exchange<T>(c, chunk).run(end); });
}

}  // namespace ggas::detail
