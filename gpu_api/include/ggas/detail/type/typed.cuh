// SPDX-License-Identifier: Apache-2.0
// Calls with datatypes. Included by type.cuh.
#pragma once

#include "ggas/detail/one_sided/signal.cuh"
#include "ggas/detail/type/by_processor.cuh"

namespace ggas::detail {

// The threads that agree on a group's status. In a grid this is the block: its blocks are not synchronised.
template <class G>
GGAS_DEVICE const G& held_together(const G& g) {
  return g;
}
GGAS_DEVICE block_group held_together(const grid_group&) { return {}; }

GGAS_DEVICE ggas_status moved(bool good) { return good ? ggas_ok : ggas_bad_argument; }

// ---- in own memory

// A range of the packed data of items, checked; `bytes` gets its length.
GGAS_DEVICE_FUNCTION bool packed_good(const void* items, uint64_t count, const ggas_type& t, const void* packed,
                                      uint64_t first, uint64_t& bytes) {
  const data_range r = range_of(t, count);
  if (!is_committed(t) || !r.good) return false;
  const uint64_t all = count * t.size;
  if (first > all) return false;
  if (bytes == ggas_all_bytes) bytes = all - first;
  if (bytes > all - first) return false;
  return bytes == 0 || (is_local(static_cast<const char*>(items) + r.low, r.bytes) && is_local(packed, bytes));
}

template <class G>
GGAS_DEVICE ggas_status pack(const G& g, void* to, const void* from, uint64_t count, const ggas_type& t, uint64_t first,
                             uint64_t bytes) {
  if (!packed_good(from, count, t, to, first, bytes)) return ggas_bad_argument;
  const type_side items = items_at(from, count, t), packed = packed_at(to, first, bytes);
  if (ggas_status s = ggas_ok; walks<true>(g, items, count, first, bytes, to, s)) return s;
  g.sync();
  const bool good =
      move_sides<origin::own>(packed, items, first, bytes, bits_of(items, count) | bits_of(packed, 1), movers_of(g));
  g.sync();
  return g.join(moved(good));
}

template <class G>
GGAS_DEVICE ggas_status unpack(const G& g, void* to, uint64_t count, const ggas_type& t, const void* from,
                               uint64_t first, uint64_t bytes) {
  if (!packed_good(to, count, t, from, first, bytes)) return ggas_bad_argument;
  const type_side items = items_at(to, count, t), packed = packed_at(from, first, bytes);
  if (ggas_status s = ggas_ok; walks<false>(g, items, count, first, bytes, from, s)) return s;
  g.sync();
  const bool good =
      move_sides<origin::own>(items, packed, first, bytes, bits_of(items, count) | bits_of(packed, 1), movers_of(g));
  g.sync();
  return g.join(moved(good));
}

// ---- between nodes

struct typed_items {
  const void* at;
  uint64_t count;
  const ggas_type& type;
};

struct typed_transfer {
  place far;  // of the remote items' address; -1: there are no data
  uint64_t bytes;
  ggas_status status;
};

// Not inline, as packed_good(): a dozen calls have it.
GGAS_DEVICE_FUNCTION typed_transfer check_typed(const ggas_queue& q, const typed_items& remote,
                                                const typed_items& local) {
  constexpr typed_transfer bad{{-1, 0}, 0, ggas_bad_argument};
  const data_range there = range_of(remote.type, remote.count), here = range_of(local.type, local.count);
  posts_to(q);
  if (!q.good() || !there.good || !here.good || !is_committed(remote.type) || !is_committed(local.type)) return bad;
  const uint64_t bytes = remote.count * remote.type.size;
  if (remote.count * remote.type.elements != local.count * local.type.elements) return bad;
  if (bytes == 0) return {{-1, 0}, 0, ggas_ok};
  if (remote.type.word != local.type.word || remote.type.word_length != local.type.word_length) return bad;
  const place at = locate(static_cast<const char*>(remote.at) + there.low, there.bytes);
  const bool good = at.node >= 0 && is_local(static_cast<const char*>(local.at) + here.low, here.bytes);
  return good ? typed_transfer{{at.node, at.offset - there.low}, bytes, ggas_ok} : bad;
}

template <origin From, class G>
GGAS_DEVICE ggas_status move_typed(const G& g, const typed_items& to, const typed_items& from, uint64_t bytes) {
  const type_side target = items_at(to.at, to.count, to.type), source = items_at(from.at, from.count, from.type);
  g.sync();
  const bool good =
      move_sides<From>(target, source, 0, bytes, bits_of(target, to.count) | bits_of(source, from.count), movers_of(g));
  return g.join(moved(good));
}

// Both sides of a transfer by the NIC.
struct typed_pair {
  type_side there, here;
  typed_transfer of;

  GGAS_DEVICE typed_pair(const typed_items& remote, const typed_items& local, const typed_transfer& t)
      : there(items_at(remote.at, remote.count, remote.type)),
        here(items_at(local.at, local.count, local.type)),
        of(t) {}

  // Where all runs that they have in common are of one length, and that is 8 bytes or less: this length; else 0.
  GGAS_DEVICE unsigned element_bytes() const {
    if (!there.simple() || !here.simple()) return 0;
    const uint64_t a = there.dense ? of.bytes : there.type->run, b = here.dense ? of.bytes : here.type->run;
    const uint64_t shorter = a < b ? a : b, longer = a < b ? b : a;
    if (shorter == 0 || shorter > 8) return 0;
    return quotient(longer, shorter) * shorter == longer ? static_cast<unsigned>(shorter) : 0;
  }
  GGAS_DEVICE uint64_t offset_there(uint64_t at) const {
    return of.far.offset + static_cast<uint64_t>(there.find<true>(at).offset);
  }
  GGAS_DEVICE char* address_here(uint64_t at) const { return here.base + here.find<true>(at).offset; }
  // Runs in common: post_run(remote offset in its segment, local address, bytes) for each.
  template <class F>
  GGAS_DEVICE ggas_status for_runs(F post_run) const {
    for (uint64_t at = 0; at < of.bytes;) {
      const type_place a = there.find<false>(at), b = here.find<false>(at);
      uint64_t n = a.left < b.left ? a.left : b.left;
      n = n < of.bytes - at ? n : of.bytes - at;
      n = n < largest_put ? n : largest_put;
      if (n == 0) return ggas_bad_argument;
      const ggas_status s = post_run(of.far.offset + static_cast<uint64_t>(a.offset), here.base + b.offset, n);
      if (s != ggas_ok) return s;
      at += n;
    }
    return ggas_ok;
  }
};

template <class G>
GGAS_DEVICE ggas_status post_typed_put(const G& g, const ggas_queue& q, const typed_pair& p, const deadline& end) {
  if (const unsigned bytes = p.element_bytes())
    return post_element_puts(
        g, q, {p.of.far.node, bytes, p.of.bytes / bytes}, end, [&](uint64_t e) { return p.offset_there(e * bytes); },
        [&](uint64_t e) { return p.address_here(e * bytes); });
  expose_source(g, ~uint64_t{0});
  return p.for_runs([&](uint64_t offset, const char* from, uint64_t bytes) {
    const put_slots piece = make_put({p.of.far.node, offset}, from, bytes, {});
    return post(
        g, q, piece.slots, 1, [&](unsigned i) { return piece.word(i); }, end);
  });
}

template <class G>
GGAS_DEVICE ggas_status post_typed_get(const G& g, const ggas_queue& q, const typed_pair& p, const deadline& end) {
  if (const unsigned bytes = p.element_bytes())
    return post_element_gets(
        g, q, {p.of.far.node, bytes, p.of.bytes / bytes}, end, [&](uint64_t e) { return p.offset_there(e * bytes); },
        [&](uint64_t e) { return p.address_here(e * bytes); });
  g.sync();
  return p.for_runs([&](uint64_t offset, const char* to, uint64_t bytes) {
    const slot d{first_word(desc_get, p.of.far.node, bytes), nla(p.of.far.node, offset), local_nla(to), 0};
    return post(
        g, q, 1, 1, [&](unsigned i) { return d.word(i); }, end);
  });
}

// Apart, as put_by_queue(). post_all(group, queue, deadline): some threads of the group post.
template <class G, class Post>
GGAS_DEVICE_FUNCTION ggas_status post_typed_apart(const G& g, uint64_t timeout_ns, const ggas_queue& q, Post post_all) {
  const deadline end(timeout_ns);
  return by_queue(g, until::complete, q, end, [&](const poster_of<G>& some) { return post_all(some, q, end); });
}
template <class G, class Post>
GGAS_DEVICE ggas_status post_typed(const G& g, uint64_t timeout_ns, const ggas_queue& q, Post post_all) {
  return with_copy(q, [&](const ggas_queue& c) { return post_typed_apart(g, timeout_ns, c, post_all); });
}

template <class G>
GGAS_DEVICE ggas_status put_typed(const G& g, const typed_items& remote, const typed_items& local, uint64_t timeout_ns,
                                  const ggas_queue& q) {
  const typed_transfer t = check_typed(q, remote, local);
  if (t.status != ggas_ok || t.bytes == 0) return t.status;
  return transfer_between([&] { return settle(held_together(g), move_typed<origin::own>(g, remote, local, t.bytes)); },
                          [&] {
                            return post_typed(g, timeout_ns, q,
                                              [=](const poster_of<G>& some, const ggas_queue& c, const deadline& end) {
                                                return post_typed_put(some, c, typed_pair(remote, local, t), end);
                                              });
                          });
}

template <class G>
GGAS_DEVICE ggas_status get_typed(const G& g, const typed_items& local, const typed_items& remote, uint64_t timeout_ns,
                                  const ggas_queue& q) {
  const typed_transfer t = check_typed(q, remote, local);
  if (t.status != ggas_ok || t.bytes == 0) return t.status;
  return transfer_between([&] { return move_typed<origin::remote>(g, local, remote, t.bytes); },
                          [&] {
                            return post_typed(g, timeout_ns, q,
                                              [=](const poster_of<G>& some, const ggas_queue& c, const deadline& end) {
                                                return post_typed_get(some, c, typed_pair(remote, local, t), end);
                                              });
                          });
}

// ---- with a signal

GGAS_DEVICE void send_signal(const signal_target& to) {
  fence_acq_rel_system();
  if (to.op == ggas_signal_set) {
    store_relaxed(to.word, to.value);
  } else {
    red_add_system(to.word, to.value);
  }
}

// After what the group moved, by its leader.
template <class G>
GGAS_DEVICE ggas_status signal_behind(const G& g, const signal_target& to, ggas_status s) {
  if (s == ggas_ok && g.rank() == 0) send_signal(to);
  g.sync();
  return settle(g, s);
}

// Finished blocks are counted in the low half of a word, failed ones in the high half; the last block sends the signal
// and resets the word.
GGAS_DEVICE ggas_status signal_behind_grid(const signal_target& to, uint64_t* arrived, ggas_status s) {
  if (thread_rank() == 0) {
    constexpr uint64_t failed = uint64_t{1} << 32;
    fence_acq_rel_system();
    const uint64_t done = add_gpu(arrived, s == ggas_ok ? 1 : failed + 1) + (s == ggas_ok ? 1 : failed + 1);
    if (static_cast<uint32_t>(done) == grid_group::working(block_count())) {
      store_relaxed(arrived, uint64_t{0});
      if (done < failed) send_signal(to);
    }
  }
  return settle(block_group{}, s);
}

// after(status): the signal of the way without a NIC.
template <class G, class Behind>
GGAS_DEVICE ggas_status put_signal_typed(const G& g, const typed_items& remote, const typed_items& local,
                                         const signal_target& to, uint64_t timeout_ns, const ggas_queue& q,
                                         Behind behind) {
  const typed_transfer t = check_typed(q, remote, local);
  if (t.status != ggas_ok) return t.status;
  place at{};
  const place data = t.bytes == 0 ? locate(to.word, 8) : t.far;
  if (const ggas_status s = check_signal(to, data, at); s != ggas_ok) return s;
  return transfer_between(
      [&] { return behind(t.bytes == 0 ? g.join(ggas_ok) : move_typed<origin::own>(g, remote, local, t.bytes)); },
      [&] {
        return post_typed(g, timeout_ns, q, [=](const poster_of<G>& some, const ggas_queue& c, const deadline& end) {
          const ggas_status s = post_typed_put(some, c, typed_pair(remote, local, t), end);
          if (s != ggas_ok) return s;
          const signal_slots sig = make_signal(at, to.value, to.op);
          return post(
              some, c, sig.slots, 1, [&](unsigned i) { return sig.d.word(i); }, end);
        });
      });
}

}  // namespace ggas::detail

// ---------------------------------------------------------------------------------------------- calls

#define GGAS_TYPED_CALLS(suffix, group, works)                                                                         \
  GGAS_DEVICE ggas_status ggas_pack##suffix(void* to, const void* from, uint64_t count, const ggas_type& type,         \
                                            uint64_t first, uint64_t bytes) {                                          \
    return works ? ggas::detail::pack(ggas::detail::group{}, to, from, count, type, first, bytes) : ggas_ok;           \
  }                                                                                                                    \
  GGAS_DEVICE ggas_status ggas_unpack##suffix(void* to, uint64_t count, const ggas_type& type, const void* from,       \
                                              uint64_t first, uint64_t bytes) {                                        \
    return works ? ggas::detail::unpack(ggas::detail::group{}, to, count, type, from, first, bytes) : ggas_ok;         \
  }                                                                                                                    \
  GGAS_DEVICE ggas_status ggas_put_typed##suffix(void* remote, uint64_t remote_count, const ggas_type& remote_type,    \
                                                 const void* local, uint64_t local_count, const ggas_type& local_type, \
                                                 uint64_t timeout_ns, const ggas_queue& q) {                           \
    if (!works) return ggas_ok;                                                                                        \
    return ggas::detail::put_typed(ggas::detail::group{}, {remote, remote_count, remote_type},                         \
                                   {local, local_count, local_type}, timeout_ns, q);                                   \
  }                                                                                                                    \
  GGAS_DEVICE ggas_status ggas_get_typed##suffix(                                                                      \
      void* local, uint64_t local_count, const ggas_type& local_type, const void* remote, uint64_t remote_count,       \
      const ggas_type& remote_type, uint64_t timeout_ns, const ggas_queue& q) {                                        \
    if (!works) return ggas_ok;                                                                                        \
    return ggas::detail::get_typed(ggas::detail::group{}, {local, local_count, local_type},                            \
                                   {remote, remote_count, remote_type}, timeout_ns, q);                                \
  }
GGAS_TYPED_CALLS(, thread_group, true)
GGAS_TYPED_CALLS(_warp, warp_group, true)
GGAS_TYPED_CALLS(_block, block_group, true)
GGAS_TYPED_CALLS(_grid, grid_group, ggas::detail::grid_group::works())
#undef GGAS_TYPED_CALLS

#define GGAS_PUT_SIGNAL_TYPED(suffix, group)                                                                          \
  GGAS_DEVICE ggas_status ggas_put_signal_typed##suffix(                                                              \
      void* remote, uint64_t remote_count, const ggas_type& remote_type, const void* local, uint64_t local_count,     \
      const ggas_type& local_type, uint64_t* signal, uint64_t value, ggas_signal_op op, uint64_t timeout_ns,          \
      const ggas_queue& q) {                                                                                          \
    using namespace ggas::detail;                                                                                     \
    const group g;                                                                                                    \
    const signal_target to{signal, value, op};                                                                        \
    return put_signal_typed(g, {remote, remote_count, remote_type}, {local, local_count, local_type}, to, timeout_ns, \
                            q, [&](ggas_status s) { return signal_behind(g, to, s); });                               \
  }
GGAS_PUT_SIGNAL_TYPED(, thread_group)
GGAS_PUT_SIGNAL_TYPED(_warp, warp_group)
GGAS_PUT_SIGNAL_TYPED(_block, block_group)
#undef GGAS_PUT_SIGNAL_TYPED

GGAS_DEVICE ggas_status ggas_put_signal_typed_grid(void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                                   const void* local, uint64_t local_count, const ggas_type& local_type,
                                                   uint64_t* signal, uint64_t value, ggas_signal_op op,
                                                   uint64_t* arrived, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  if (!grid_group::works()) return ggas_ok;
  if (!is_local(arrived, 8) || reinterpret_cast<uintptr_t>(arrived) % 8 != 0) return ggas_bad_argument;
  const signal_target to{signal, value, op};
  return put_signal_typed(grid_group{}, {remote, remote_count, remote_type}, {local, local_count, local_type}, to,
                          timeout_ns, q, [&](ggas_status s) { return signal_behind_grid(to, arrived, s); });
}
