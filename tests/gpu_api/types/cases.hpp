// SPDX-License-Identifier: Apache-2.0
// Datatypes at random, laid out in an area of memory: what packs, puts and gets are tried with, on every provider.
#pragma once

#include "ggas/detail/type/type_handle.hpp"
#include "tests/gpu_api/types/oracle.hpp"

namespace ggas::types_test {

using list = std::vector<int64_t>;
constexpr int64_t area_bytes = 64 << 10;

// Who makes a call.
enum class form { thread, warp, block, grid };
constexpr form forms[] = {form::thread, form::warp, form::block, form::grid};

// One call in one of its forms.
#define GGAS_CALL_OF(name, f, ...)                         \
  ((f) == form::thread  ? ggas_##name(__VA_ARGS__)         \
   : (f) == form::warp  ? ggas_##name##_warp(__VA_ARGS__)  \
   : (f) == form::block ? ggas_##name##_block(__VA_ARGS__) \
                        : ggas_##name##_grid(__VA_ARGS__))

// Items somewhere in the middle of an area.
struct laid_out {
  both items;
  uint64_t count;
  int64_t middle;
  type_form how;

  std::vector<int64_t> places() const {
    std::vector<int64_t> all = items.list.places(count);
    for (int64_t& p : all) p += middle;
    return all;
  }
};

class cases {
 public:
  cases(uint64_t seed, size_t most) : make(seed), most_(most) {}

  laid_out any() {
    for (;;) {
      const laid_out l{make.usable(static_cast<int>(make.below(4)), most_), 1 + make.below(4), middle(),
                       make.below(3) == 0 ? type_form::records : type_form::automatic};
      if (fits(l)) return l;
    }
  }
  // The same primitives in another layout: a struct of them, at other distances and in another order of places.
  laid_out other(const laid_out& l) {
    if (make.below(4) == 0) return l;
    const bool together = make.below(2) == 0;
    flat f;
    list lengths, places;
    std::vector<datatype> children;
    const int64_t sign = make.below(2) == 0 ? 1 : -1;
    int64_t at = make.between(-50, 50);
    const bool aligned = make.below(2) == 0;
    for (uint64_t c = 0; c < (together ? l.count : 1); ++c) {
      for (const flat::entry& e : l.items.list.entries) {
        const auto bytes = static_cast<int64_t>(size_of(e.of));
        if (aligned) at = at / 16 * 16;
        lengths.push_back(1);
        places.push_back(at);
        children.push_back(e.of);
        f.add(flat(e.of), at);
        at +=
            sign * (16 + make.between(0, make.below(2) ? 0 : 9)) + (make.below(3) == 0 && !aligned ? sign * bytes : 0);
      }
    }
    const laid_out o{{datatype::structure(lengths, places, children), f}, together ? 1 : l.count, middle(), l.how};
    return fits(o) ? o : l;
  }

  random_types make;

 private:
  int64_t middle() { return area_bytes / 2 + make.between(0, 40) * (make.below(2) ? 16 : 1); }
  bool fits(const laid_out& l) {
    const std::vector<int64_t> all = l.places();
    return *std::min_element(all.begin(), all.end()) >= 0 && *std::max_element(all.begin(), all.end()) < area_bytes &&
           !random_types::overlaps(l.items.list, l.count);
  }
  size_t most_;
};

}  // namespace ggas::types_test
