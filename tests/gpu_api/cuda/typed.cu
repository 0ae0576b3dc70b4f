// SPDX-License-Identifier: Apache-2.0
// Datatypes on real GPUs: pack, unpack, put, get and put with signal of random ones, in every form, against the plain
// list (tests/gpu_api/types).
#include "ggas/type.cuh"
#include "typed_rig.hpp"

namespace ggas::gpu_test {
namespace {

unsigned blocks_of(form f) { return f == form::grid ? 3 : 1; }
unsigned threads_of(form f) { return f == form::thread ? 1 : f == form::warp ? 32 : 96; }

// Offsets of items here and there, or of packed data there.
struct typed_args {
  places at;
  form by;
  ggas_type here, there;
  uint64_t count_here, count_there, from, to, first, bytes;
};

GGAS_DEVICE void tell(const typed_args& a, ggas_status s) {
  own<outcome>(a.at.outcomes)[detail::block_rank() * detail::thread_count() + detail::thread_rank()] = {
      0, 0, 0, static_cast<uint64_t>(s)};
}
GGAS_DEVICE char* of_next(uint64_t offset) {
  return ggas_pointer_of_node<char>((ggas_node() + 1) % ggas_nodes(), offset);
}

__global__ void pack(typed_args a) {
  tell(a, GGAS_CALL_OF(pack, a.by, own<char>(a.to), own<char>(a.from), a.count_here, a.here, a.first, a.bytes));
}
__global__ void unpack(typed_args a) {
  tell(a, GGAS_CALL_OF(unpack, a.by, own<char>(a.to), a.count_here, a.here, own<char>(a.from), a.first, a.bytes));
}
__global__ void put_typed(typed_args a) {
  tell(a, GGAS_CALL_OF(put_typed, a.by, of_next(a.to), a.count_there, a.there, own<char>(a.from), a.count_here, a.here,
                       timeout_ns));
}
__global__ void get_typed(typed_args a) {
  tell(a, GGAS_CALL_OF(get_typed, a.by, own<char>(a.to), a.count_there, a.there, of_next(a.from), a.count_here, a.here,
                       timeout_ns));
}
// The word is at `base`; how many blocks of a grid are done next to it.
GGAS_DEVICE ggas_status put_and_signal(const typed_args& a) {
  auto* const word = reinterpret_cast<uint64_t*>(of_next(a.at.base));
  char* const to = of_next(a.to);
  const char* const from = own<char>(a.from);
  switch (a.by) {
    case form::thread:
      return ggas_put_signal_typed(to, a.count_there, a.there, from, a.count_here, a.here, word, 1, ggas_signal_add,
                                   timeout_ns);
    case form::warp:
      return ggas_put_signal_typed_warp(to, a.count_there, a.there, from, a.count_here, a.here, word, 1,
                                        ggas_signal_add, timeout_ns);
    case form::block:
      return ggas_put_signal_typed_block(to, a.count_there, a.there, from, a.count_here, a.here, word, 1,
                                         ggas_signal_add, timeout_ns);
    case form::grid:
      return ggas_put_signal_typed_grid(to, a.count_there, a.there, from, a.count_here, a.here, word, 1,
                                        ggas_signal_add, own<uint64_t>(a.at.base) + 1, timeout_ns);
  }
  return ggas_bad_argument;
}
__global__ void put_signal_typed(typed_args a) { tell(a, put_and_signal(a)); }

class typed : public typed_rig {
 protected:
  void everywhere(void (*kernel)(typed_args), const typed_args& a, const std::string& what) {
    start_all(blocks_of(a.by), threads_of(a.by), kernel, a);
    run(what);
    check_all_outcomes(size_t{blocks_of(a.by)} * threads_of(a.by), what);
  }
};

TEST_F(typed, packs_and_unpacks_any_range) {
  cases make(seed, most_primitives);
  for (unsigned i = 0, n = rounds_of(2500); i < n; ++i) {
    const laid_out l = make.any();
    const ggas_type t = commit(l);
    const std::vector<int64_t> where = l.places();
    const uint64_t all = where.size(), first = make.make.below(2) ? make.make.below(all + 1) : 0;
    const bool rest = make.make.below(2) == 0;
    const uint64_t bytes = rest ? all - first : make.make.below(all - first + 1);
    const int64_t skew = make.make.below(3) ? 64 : 61;
    typed_args a{
        at,    forms[make.make.below(4)],    t, t, l.count, l.count, place(items, l.middle), place(packed, skew),
        first, rest ? ggas_all_bytes : bytes};
    const std::string what = "datatype " + std::to_string(i) + ", form " + std::to_string(static_cast<int>(a.by));
    fill();
    ASSERT_NO_FATAL_FAILURE(everywhere(pack, a, what));
    a.from = place(packed, skew);
    a.to = place(target, l.middle);
    ASSERT_NO_FATAL_FAILURE(everywhere(unpack, a, what));
    for (int node = 0; node < nodes(); ++node) {
      for (uint64_t b = 0; b < bytes; ++b) {
        const auto from = static_cast<size_t>(where[first + b]);
        was(node, packed)[static_cast<size_t>(skew) + b] = was(node, target)[from] = was(node, items)[from];
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_areas(what));
    ASSERT_EQ(types_->free(t), "");
  }
}

TEST_F(typed, puts_gets_and_signals_from_layout_to_layout) {
  cases make(seed + 1, most_primitives);
  uint64_t signals = 0;
  for (unsigned i = 0, n = rounds_of(2500); i < n; ++i) {
    const laid_out here = make.any(), there = make.other(here);
    const ggas_type th = commit(here), tt = commit(there);
    const typed_args a{at,
                       forms[make.make.below(4)],
                       th,
                       tt,
                       here.count,
                       there.count,
                       place(items, here.middle),
                       place(target, there.middle),
                       0,
                       0};
    const auto kind = make.make.below(3);
    const std::string what = "datatype " + std::to_string(i) + ", kind " + std::to_string(kind) + ", form " +
                             std::to_string(static_cast<int>(a.by));
    fill();
    ASSERT_NO_FATAL_FAILURE(everywhere(kind == 0 ? put_typed : kind == 1 ? get_typed : put_signal_typed, a, what));
    const std::vector<int64_t> sources = here.places(), targets = there.places();
    ASSERT_EQ(sources.size(), targets.size());
    for (int node = 0; node < nodes(); ++node) {
      const int source = (node + (kind == 1 ? 1 : nodes() - 1)) % nodes();
      for (size_t k = 0; k < sources.size(); ++k)
        was(node, target)[static_cast<size_t>(targets[k])] = was(source, items)[static_cast<size_t>(sources[k])];
    }
    ASSERT_NO_FATAL_FAILURE(expect_areas(what));
    signals += kind == 2;
    for (int node = 0; node < nodes(); ++node)
      ASSERT_EQ(read<uint64_t>(node, at.base, 2), (std::vector<uint64_t>{signals, 0})) << what;
    ASSERT_EQ(types_->free(th), "");
    ASSERT_EQ(types_->free(tt), "");
  }
}

// What is wrong is refused by every thread, and nothing has moved.
TEST_F(typed, what_is_wrong_is_refused) {
  const laid_out l{{datatype::vector(5, 2, 3, primitive::float64), {}}, 4, 4096, type_form::automatic};
  const laid_out other{{datatype::vector(5, 2, 3, primitive::float32), {}}, 8, 4096, type_form::automatic};
  const ggas_type good = commit(l), freed = commit(l), floats = commit(other);
  ASSERT_EQ(types_->free(freed), "");
  fill();
  const uint64_t outside = machine().segment_bytes() - 64;
  for (const form by : forms) {
    const typed_args fine{at, by, good, good, 4, 4, place(items, 4096), place(target, 4096), 0, 0};
    typed_args wrong[] = {fine, fine, fine, fine, fine};
    wrong[0].here = freed;
    wrong[1].there = floats;
    wrong[2].count_here = 5;
    wrong[3].to = outside;
    wrong[4].here = {};
    for (const typed_args& a : wrong) {
      start_all(blocks_of(by), threads_of(by), put_typed, a);
      run("refused");
      for (int node = 0; node < nodes(); ++node)
        for (const outcome& o : read<outcome>(node, at.outcomes, size_t{blocks_of(by)} * threads_of(by)))
          ASSERT_EQ(o.status, ggas_bad_argument) << "case " << &a - wrong << ", form " << static_cast<int>(by);
    }
  }
  expect_areas("refused");
}

}  // namespace
}  // namespace ggas::gpu_test
