// SPDX-License-Identifier: Apache-2.0
// Packs on `shm`, where the processor plays the GPU: the first thread of a group walks from run to run. The method of
// GPUs, where each thread computes its places itself, costs the processor a search and two steps of its engine for each
// 16 bytes. Included by typed.cuh.
#pragma once

#include "ggas/detail/type/type_sides.cuh"
#ifndef __CUDACC__
#include "ggas/detail/type/walk_items.hpp"
#endif

namespace ggas::detail {

#ifdef __CUDACC__
// Nothing: these are GPUs.
template <bool packs, class G>
GGAS_DEVICE bool walks(const G&, const type_side&, uint64_t, uint64_t, uint64_t, const void*, ggas_status&) {
  return false;
}
#else

struct image_words {
  const uint64_t* first;
  uint64_t operator()(uint64_t i) const { return __atomic_load_n(first + i, __ATOMIC_RELAXED); }
};

// A list of the image, whose words are not trusted: some are read and checked, then their runs are moved.
template <bool packs>
bool walk_list(const walked_items& i, const type_walk<image_words>& image, char* packed) {
  constexpr uint64_t together = 64;
  const ggas_type& t = i.type;
  const uint64_t runs = t.box[0].count, first = t.run != 0 ? 0 : runs + 1,
                 room = static_cast<uint64_t>(t.true_ub - t.true_lb);
  if (!image.has(first, runs)) return false;
  walking::walk<packs> walk(i, packed);
  for (uint64_t item = 0; item < i.count; ++item) {
    char* const at = walking::moved_by(i.at, item * static_cast<uint64_t>(t.extent));
    uint64_t left = t.size;
    for (uint64_t done = 0; done < runs;) {
      uint64_t bytes[together], places[together], n = 0;
      for (; n < together && done < runs; ++n, ++done) {
        bytes[n] = t.run != 0 ? t.run : image.look(done + 1) - image.look(done);
        places[n] = image.look(first + done);
        const uint64_t from_low = places[n] - static_cast<uint64_t>(t.true_lb);
        if (bytes[n] > left || bytes[n] > room || from_low > room - bytes[n]) return false;
        left -= bytes[n];
      }
      if (t.run != 0)
        walk.alike(at, places, n);
      else
        walk.mixed(
            at, n, [&](uint64_t r) { return bytes[r]; }, [&](uint64_t r) { return places[r]; });
    }
  }
  return true;
}

// Whether the group's first thread has moved all data of the items between them and `packed`; `s` gets the result.
// Parts of the data, images that are records, and the simulator, which counts each access, are left to all threads.
template <bool packs, class G>
bool walks(const G& g, const type_side& side, uint64_t count, uint64_t first, uint64_t bytes, const void* packed,
           ggas_status& s) {
  const ggas_type& t = *side.type;
  const bool list = t.records == 1 && t.box[0].count != 0;
  if (nic_page() || first != 0 || bytes != side.bytes || (t.records != 0 && !list)) return false;
  g.sync();
  bool good = true;
  if (g.rank() == 0) {
    const walked_items all{t, nullptr, side.base, count};
    auto* const dense = const_cast<char*>(static_cast<const char*>(packed));
    if (t.records == 0 || has_few_runs(t))
      walk_items<packs>(all, dense);
    else
      good = walk_list<packs>(all, {{side.image.first}, t.words, t.records}, dense);
  }
  g.sync();
  s = g.join(good ? ggas_ok : ggas_bad_argument);
  return true;
}
#endif

}  // namespace ggas::detail
