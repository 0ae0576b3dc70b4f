// SPDX-License-Identifier: Apache-2.0
// Transfers between two layouts, shared by calls with strides and calls with datatypes. Each side computes the address
// of unit i by its own method (strided.cuh, type/type_sides.cuh). Included by those.
#pragma once

#include "ggas/detail/one_sided/put.cuh"

namespace ggas::detail {

// Where a unit lies, if it lies anywhere: what an image says that was overwritten may be nowhere.
template <class T>
struct unit_place {
  T* at;
  bool there;
};

// Moves units i < n from from(i) to to(i); a thread has `Units` of them in flight. Returns false if a unit has no valid
// address; then this thread has moved neither that unit nor later ones.
template <unsigned Units, origin From, class T, class By, class To, class Source>
GGAS_DEVICE bool move_units_between(uint64_t n, const By& by, To to, Source from) {
  bool good = true;
  move_each<Units>(
      n, by,
      [from, &good](uint64_t i) {
        const unit_place<T> p = from(i);
        if (!p.there) return good = false, T{};
        return load_from<From>(p.at);
      },
      [to, &good](uint64_t i, const T& v) {
        const unit_place<T> p = to(i);
        good = good && p.there;
        if (good) store_relaxed(p.at, v);
      });
  return good;
}

// ---- through a NIC: elements of up to 8 bytes, each a slot of its own

// What a post carries.
template <class G>
GGAS_DEVICE constexpr unsigned batch_of(const G&) {
  return is_same<G, thread_group> ? 1 : 8;
}

// Posts a slot for each of n elements; word(e, i) is word i of the slot of element e.
template <class G, class W>
GGAS_DEVICE ggas_status post_elements(const G& g, const ggas_queue& q, uint64_t n, const deadline& end, W word) {
  g.sync();
  for (uint64_t done = 0; done < n;) {
    const uint64_t left = n - done;
    const unsigned k = left < batch_of(g) ? static_cast<unsigned>(left) : batch_of(g);
    const ggas_status s = post(
        g, q, k, k, [&](unsigned i) { return word(done + i / slot_words, i % slot_words); }, end);
    if (s != ggas_ok) return s;
    done += k;
  }
  return ggas_ok;
}

// Elements of `bytes` each between `node` and this one: there(e) is an offset in its segment, here(e) an address.
struct elements_of_node {
  int node;
  unsigned bytes;
  uint64_t count;
};
template <class G, class There, class Here>
GGAS_DEVICE ggas_status post_element_puts(const G& g, const ggas_queue& q, const elements_of_node& all,
                                          const deadline& end, There there, Here here) {
  return post_elements(g, q, all.count, end, [&](uint64_t e, unsigned i) {
    const slot d{first_word(desc_imm | want_ack, all.node, all.bytes), 0, nla(all.node, there(e)), 0};
    return i == 1 ? load_bytes(reinterpret_cast<const char*>(here(e)), all.bytes) : d.word(i);
  });
}
template <class G, class There, class Here>
GGAS_DEVICE ggas_status post_element_gets(const G& g, const ggas_queue& q, const elements_of_node& all,
                                          const deadline& end, There there, Here here) {
  return post_elements(g, q, all.count, end, [&](uint64_t e, unsigned i) {
    return slot{first_word(desc_get, all.node, all.bytes), nla(all.node, there(e)), local_nla(here(e)), 0}.word(i);
  });
}

// ---- a call, its arguments checked

// By the group itself, by move(), or by what it posts.
template <class Move, class Post>
GGAS_DEVICE ggas_status transfer_between(Move move, Post post_all) {
  if (!posts_descriptors()) [[likely]]
    return move();
  if constexpr (nic_possible) {
    return post_all();
  } else {
    return ggas_no_queue;  // not reached
  }
}

}  // namespace ggas::detail
