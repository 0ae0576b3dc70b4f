// SPDX-License-Identifier: Apache-2.0
// The original's methods of reduce and allreduce, over slots in the reserved area, with flags after the data. Vectors
// longer than a slot go in chunks, with growing numbers. The comment of each method says why two slots of each kind are
// enough. Included by ggas.cuh.
#pragma once

#include "ggas/detail/collective/reduction.cuh"

namespace ggas::detail {

// The part of a vector that fits a slot.
template <class T>
struct chunk {
  T* dst;
  const T* src;
  size_t n;
  ggas_op op;
  uint64_t seq;
  uint64_t* counted;  // the word that counts the chunks of this way that have ended
};

template <class T>
GGAS_DEVICE T* slot_of(int node, uint64_t offset) {
  return reinterpret_cast<T*>(ggas_pointer_of_node<char>(node, offset));
}

// After data the block pushed before a barrier: the fence orders them for the flag.
GGAS_DEVICE void raise_flag(int node, uint64_t offset, uint64_t seq) {
  ggas_fence();
  store_relaxed(word_of(node, offset), seq);
}

// Element i of every member's chunk, combined in the order of nodes. `slot` gives the offset of a node's slot here.
template <class T, class Slot>
GGAS_DEVICE T combine_all(const chunk<T>& c, size_t i, Slot slot) {
  const int nodes = ggas_nodes(), me = ggas_node();
  T sum{};
  for (int k = 0; k < nodes; ++k) {
    const T v = load_relaxed((k == me ? c.src : slot_of<T>(me, slot(static_cast<uint64_t>(k)))) + i);
    sum = k == 0 ? v : combine(c.op, sum, v);
  }
  return sum;
}

// Waits for a flag of this node that `writer` raises.
GGAS_DEVICE ggas_status await_part(uint64_t flag, uint64_t seq, int writer, const deadline& end) {
  return wait_until(own_word(flag), ggas_ge, seq, end) == ggas_ok ? ggas_ok : timed_out_for(writer);
}
// What the threads of the block found in the waits for a chunk.
template <class T>
GGAS_DEVICE ggas_status end_of_waits(const chunk<T>& c, ggas_status mine) {
  return block_status(mine, waited_for::parts, c.counted, c.seq);
}
GGAS_DEVICE ggas_status wait_for_all(uint64_t first_flag, uint64_t seq, const deadline& end) {
  ggas_status s = ggas_ok;
  for (int k = static_cast<int>(thread_rank()); k < ggas_nodes() && s == ggas_ok;
       k += static_cast<int>(thread_count())) {
    if (k != ggas_node()) s = await_part(first_flag + static_cast<uint64_t>(k) * layout::word, seq, k, end);
  }
  return s;
}

// All-gather: every member pushes its chunk to every member. A node sends flag s+1 when all its threads have read the
// slots of s, and pushes s+2 only after it has seen every member's flag s+1: with two slots in turn none is overwritten
// too early.
template <class T>
GGAS_DEVICE ggas_status all_gather_chunk(const layout& l, const chunk<T>& c, const deadline& end) {
  const int nodes = ggas_nodes(), me = ggas_node();
  const unsigned rank = thread_rank(), threads = thread_count(), mask = lane_mask();
  const uint64_t mine = l.gather_all_slot(static_cast<uint64_t>(me), c.seq);
  for (size_t base = 0; base < c.n; base += threads) {
    const size_t i = base + rank;
    T v{};
    if (i < c.n) v = load_relaxed(c.src + i);
    for (int hop = 1; hop < nodes; ++hop) {
      __syncwarp(mask);
      if (i < c.n) store_relaxed(slot_of<T>((me + hop) % nodes, mine) + i, v);
    }
  }
  __syncthreads();
  for (unsigned hop = rank + 1; hop < static_cast<unsigned>(nodes); hop += threads) {
    raise_flag(static_cast<int>((static_cast<unsigned>(me) + hop) % nodes),
               l.gather_all_flag(static_cast<uint64_t>(me)), c.seq);
  }
  const ggas_status s = end_of_waits(c, wait_for_all(l.gather_all_flag(0), c.seq, end));
  if (s != ggas_ok) return s;
  for (size_t i = rank; i < c.n; i += threads) {
    store_relaxed(c.dst + i, combine_all(c, i, [&](uint64_t k) { return l.gather_all_slot(k, c.seq); }));
  }
  return ggas_ok;
}

// Root of a gather: reduces, and with `to_all` pushes the result to every member. Its flag to a leaf (result or
// acknowledgement) means that the leaf's slot has been read. The one result slot of a leaf is free when the leaf's next
// chunk has arrived, because the leaf sent it after reading the result.
template <class T>
GGAS_DEVICE ggas_status gather_root(const layout& l, const chunk<T>& c, bool to_all, const deadline& end) {
  const int nodes = ggas_nodes(), me = ggas_node();
  const unsigned rank = thread_rank(), threads = thread_count(), mask = lane_mask();
  const ggas_status s = end_of_waits(c, wait_for_all(l.gather_flag(0), c.seq, end));
  if (s != ggas_ok) return s;
  for (size_t base = 0; base < c.n; base += threads) {
    const size_t i = base + rank;
    T v{};
    if (i < c.n) {
      v = combine_all(c, i, [&](uint64_t k) { return l.gather_slot(k, c.seq); });
      store_relaxed(c.dst + i, v);
    }
    for (int hop = 1; to_all && hop < nodes; ++hop) {
      __syncwarp(mask);
      if (i < c.n) store_relaxed(slot_of<T>((me + hop) % nodes, l.result_slot()) + i, v);
    }
  }
  __syncthreads();
  const uint64_t flag = to_all ? layout::result_flag : l.gather_ack(static_cast<uint64_t>(me));
  for (unsigned hop = rank + 1; hop < static_cast<unsigned>(nodes); hop += threads) {
    raise_flag(static_cast<int>((static_cast<unsigned>(me) + hop) % nodes), flag, c.seq);
  }
  return ggas_ok;
}

// Leaf of a gather. Its slot of two chunks ago must have been read: the root reports this by a result or by an
// acknowledgement.
template <class T>
GGAS_DEVICE ggas_status gather_leaf(const layout& l, const chunk<T>& c, int root, bool to_all, const deadline& end) {
  const uint64_t me = static_cast<uint64_t>(ggas_node()), to = static_cast<uint64_t>(root);
  const unsigned rank = thread_rank();
  ggas_status s = ggas_ok;
  if (rank == 0 && c.seq > 2 && load_relaxed(own_word(l.gather_done(to))) < c.seq - 2) {
    s = await_part(l.gather_ack(to), c.seq - 2, root, end);
  }
  s = end_of_waits(c, s);
  if (s != ggas_ok) return s;
  ggas_store_block(slot_of<T>(root, l.gather_slot(me, c.seq)), c.src, c.n);
  if (rank == 0) raise_flag(root, l.gather_flag(me), c.seq);
  if (!to_all) return ggas_ok;
  if (rank == 0) s = await_part(layout::result_flag, c.seq, root, end);
  s = end_of_waits(c, s);
  if (s != ggas_ok) return s;
  ggas_load_block(c.dst, slot_of<T>(ggas_node(), l.result_slot()), c.n);
  if (rank == 0) store_relaxed(own_word(l.gather_done(to)), c.seq);
  return ggas_ok;
}

// Runs `step` for every chunk, numbered from the sequence kept at `counted`.
template <class T, class Step>
GGAS_DEVICE ggas_status for_chunks(T* dst, const T* src, size_t n, ggas_op op, uint64_t* counted, Step step) {
  const layout l = own_layout();
  const size_t per_chunk = l.slot_bytes / sizeof(T);
  GGAS_SHARED(uint64_t, first);
  __syncthreads();
  ggas_status s = ggas_ok;
  if (thread_rank() == 0) {
    first = load_relaxed(counted) + 1;
    if (load_relaxed(own_word(layout::broken)) != 0) s = ggas_broken;
  }
  s = block_status(s);
  if (s != ggas_ok) return s;
  uint64_t seq = first;
  for (size_t done = 0; done < n && s == ggas_ok; done += per_chunk, ++seq) {
    const size_t m = n - done < per_chunk ? n - done : per_chunk;
    s = step(l, chunk<T>{dst ? dst + done : nullptr, src + done, m, op, seq, counted});
  }
  if (thread_rank() == 0) {
    if (s == ggas_ok) {
      store_relaxed(counted, seq - 1);
    } else {  // peers may have used part of it: nothing that follows could be right
      break_node();
    }
  }
  __syncthreads();
  return s;
}

template <class T>
GGAS_DEVICE ggas_status gather(T* dst, const T* src, size_t n, ggas_op op, int root, bool to_all, const deadline& end) {
  return for_chunks(dst, src, n, op, own_word(own_layout().gather_seq(static_cast<uint64_t>(root))),
                    [&](const layout& l, const chunk<T>& c) {
                      return ggas_node() == root ? gather_root(l, c, to_all, end)
                                                 : gather_leaf(l, c, root, to_all, end);
                    });
}

template <class T>
GGAS_DEVICE ggas_status by_flags(const piece<T>& p, ggas_method method, uint64_t timeout_ns) {
  const deadline end(timeout_ns);
  const bool to_all = p.root == everybody;
  if (method == ggas_by_gather) return gather(p.dst, p.src, p.n, p.op, to_all ? 0 : p.root, to_all, end);
  return for_chunks(p.dst, p.src, p.n, p.op, own_word(layout::gather_all_seq),
                    [&](const layout& l, const chunk<T>& c) { return all_gather_chunk(l, c, end); });
}

}  // namespace ggas::detail
