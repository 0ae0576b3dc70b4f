// SPDX-License-Identifier: Apache-2.0
// Device API: pack, unpack, put, get and put with signal of datatypes at random, in every form, against the plain list.
#include "tests/gpu_api/types/typed_rig.hpp"

namespace ggas::types_test {
namespace {

GGAS_TYPED_SUITE(TypedCalls);

// How many datatypes, of how many primitives at most.
uint64_t rounds_of(const test::target& t) { return t.provider == "sim" ? (t.reference ? 12 : 4) : rounds(60); }
size_t most_of(const test::target& t) { return t.provider == "sim" ? 12 : 200; }

TEST_P(TypedCalls, PackAndUnpackAnyRange) {
  cases make(seed() + 20, most_of(GetParam()));
  std::mt19937_64 bytes_of(seed());
  for (uint64_t i = 0, n = rounds_of(GetParam()); i < n; ++i) {
    const laid_out l = make.any();
    const ggas_type t = commit(l.items.type, l.how);
    const std::vector<int64_t> places = l.places();
    const uint64_t all = places.size(), first = make.make.below(2) ? make.make.below(all + 1) : 0;
    const bool rest = make.make.below(2) == 0;
    const uint64_t bytes = rest ? all - first : make.make.below(all - first + 1);
    const uint64_t asked = rest ? ggas_all_bytes : bytes, count = l.count, skew = make.make.below(3) ? 64 : 61;
    const uint64_t from = items_ + static_cast<uint64_t>(l.middle), to = target_ + static_cast<uint64_t>(l.middle);
    const uint64_t packed = packed_ + skew;
    const form f = forms[make.make.below(4)];
    const std::string what = "seed " + std::to_string(seed()) + ", datatype " + std::to_string(i);
    fill(bytes_of);
    everywhere(f, ggas_ok, what, [=] {
      char* const own = ggas_pointer_of_node(ggas_node());
      return GGAS_CALL_OF(pack, f, own + packed, own + from, count, t, first, asked);
    });
    for (int node = 0; node < nodes(); ++node)
      for (uint64_t b = 0; b < bytes; ++b)
        was(node, 2)[skew + b] = was(node, 0)[static_cast<size_t>(places[first + b])];
    ASSERT_NO_FATAL_FAILURE(expect_areas(what + ", pack"));
    everywhere(f, ggas_ok, what, [=] {
      char* const own = ggas_pointer_of_node(ggas_node());
      return GGAS_CALL_OF(unpack, f, own + to, count, t, own + packed, first, asked);
    });
    for (int node = 0; node < nodes(); ++node)
      for (uint64_t b = 0; b < bytes; ++b)
        was(node, 1)[static_cast<size_t>(places[first + b])] = was(node, 2)[skew + b];
    ASSERT_NO_FATAL_FAILURE(expect_areas(what + ", unpack"));
    ASSERT_EQ(types_->free(t), "");
  }
}

TEST_P(TypedCalls, PutGetAndSignalFromLayoutToLayout) {
  cases make(seed() + 21, most_of(GetParam()));
  std::mt19937_64 bytes_of(seed());
  for (int n = 0; n < nodes(); ++n) word(n, signal_) = word(n, signal_ + 8) = 0;
  uint64_t signals = 0;
  for (uint64_t i = 0, n = rounds_of(GetParam()); i < n; ++i) {
    const laid_out a = make.any(), b = make.other(a);
    const ggas_type ta = commit(a.items.type, a.how), tb = commit(b.items.type, b.how);
    const uint64_t from = items_ + static_cast<uint64_t>(a.middle), to = target_ + static_cast<uint64_t>(b.middle);
    const uint64_t ca = a.count, cb = b.count, signal = signal_, limit = enough();
    const form f = forms[make.make.below(4)];
    const int kind = static_cast<int>(make.make.below(3));
    const std::string what =
        "seed " + std::to_string(seed()) + ", datatype " + std::to_string(i) + ", kind " + std::to_string(kind);
    fill(bytes_of);
    everywhere(f, ggas_ok, what, [=] {
      const int me = ggas_node(), next = (me + 1) % ggas_nodes();
      char* const own = ggas_pointer_of_node(me);
      char* const far = ggas_pointer_of_node(next);
      if (kind == 0) return GGAS_CALL_OF(put_typed, f, far + to, cb, tb, own + from, ca, ta, limit);
      if (kind == 1) return GGAS_CALL_OF(get_typed, f, own + to, cb, tb, far + from, ca, ta, limit);
      auto* const word = reinterpret_cast<uint64_t*>(far + signal);
      auto* const arrived = reinterpret_cast<uint64_t*>(own + signal + 8);
      if (f == form::grid)
        return ggas_put_signal_typed_grid(far + to, cb, tb, own + from, ca, ta, word, 1, ggas_signal_add, arrived,
                                          limit);
      return f == form::thread
                 ? ggas_put_signal_typed(far + to, cb, tb, own + from, ca, ta, word, 1, ggas_signal_add, limit)
             : f == form::warp
                 ? ggas_put_signal_typed_warp(far + to, cb, tb, own + from, ca, ta, word, 1, ggas_signal_add, limit)
                 : ggas_put_signal_typed_block(far + to, cb, tb, own + from, ca, ta, word, 1, ggas_signal_add, limit);
    });
    const std::vector<int64_t> sources = a.places(), targets = b.places();
    ASSERT_EQ(sources.size(), targets.size());
    for (int node = 0; node < nodes(); ++node) {
      const int source = kind == 1 ? right(node) : left(node);
      for (size_t k = 0; k < sources.size(); ++k)
        was(node, 1)[static_cast<size_t>(targets[k])] = was(source, 0)[static_cast<size_t>(sources[k])];
    }
    signals += kind == 2;
    ASSERT_NO_FATAL_FAILURE(expect_areas(what));
    for (int node = 0; node < nodes(); ++node) {
      ASSERT_EQ(word(node, signal_), signals) << what;
      ASSERT_EQ(word(node, signal_ + 8), 0u) << what;
    }
    ASSERT_EQ(types_->free(ta), "");
    ASSERT_EQ(types_->free(tb), "");
  }
}

// Through a NIC each run takes a slot, and several of them are posted together. Tests runs of 1 to 8 bytes, to dense
// data and to runs of three times the length, and back.
TEST_P(TypedCalls, ShortBlocksOfBoxes) {
  constexpr int64_t blocks = 21;
  std::mt19937_64 bytes_of(seed());
  for (const int64_t bytes : {1, 3, 4, 8}) {
    const ggas_type narrow = commit(datatype::vector(blocks, bytes, 2 * bytes + 1, primitive::byte)),
                    wide = commit(datatype::vector(blocks / 3, 3 * bytes, 5 * bytes, primitive::byte)),
                    dense = commit(datatype::contiguous(blocks * bytes, primitive::byte));
    const auto place = [=](int side, int64_t i) {  // of byte i of the data
      const int64_t block = i / bytes;
      return side == 0   ? block * (2 * bytes + 1) + i % bytes
             : side == 1 ? i / (3 * bytes) * 5 * bytes + i % (3 * bytes)
                         : i;
    };
    const ggas_type all[] = {narrow, wide, dense};
    for (int k = 0; k < 8; ++k) {
      const int other = 1 + k / 2 % 2, source = k % 2 ? other : 0, target = k % 2 ? 0 : other;
      const form f = forms[static_cast<size_t>(k + bytes) % 4];
      const bool gets = k >= 4;
      const ggas_type from_type = all[source], to_type = all[target];
      const uint64_t from = items_, to = target_, limit = enough();
      const std::string what = "blocks of " + std::to_string(bytes) + ", " + std::to_string(k);
      fill(bytes_of);
      everywhere(f, ggas_ok, what, [=] {
        const int me = ggas_node(), next = (me + 1) % ggas_nodes();
        char *const own = ggas_pointer_of_node(me), *const far = ggas_pointer_of_node(next);
        if (gets) return GGAS_CALL_OF(get_typed, f, own + to, 1, to_type, far + from, 1, from_type, limit);
        return GGAS_CALL_OF(put_typed, f, far + to, 1, to_type, own + from, 1, from_type, limit);
      });
      for (int node = 0; node < nodes(); ++node)
        for (int64_t i = 0; i < blocks * bytes; ++i)
          was(node, 1)[static_cast<size_t>(place(target, i))] =
              was(gets ? right(node) : left(node), 0)[static_cast<size_t>(place(source, i))];
      ASSERT_NO_FATAL_FAILURE(expect_areas(what));
    }
  }
}

// A thousand packs of one datatype read what one commit has written; chunks make up the whole.
TEST_P(TypedCalls, ChunksMakeUpTheWhole) {
  const list lengths{3, 1, 2}, places{0, 5, 11};
  const both cell{datatype::indexed(lengths, places, primitive::float32), {}};
  const ggas_type t = commit(cell.type);
  const uint64_t count = simulated() ? 4 : 200, all = count * 24, chunk = simulated() ? 32 : 24;
  const uint64_t from = items_, to = packed_;
  std::mt19937_64 bytes_of(seed());
  fill(bytes_of);
  everywhere(form::warp, ggas_ok, "chunks", [=] {
    char* const own = ggas_pointer_of_node(ggas_node());
    ggas_status s = ggas_ok;
    for (uint64_t at = 0; at < all && s == ggas_ok; at += chunk)
      s = ggas_pack_warp(own + to + at, own + from, count, t, at, chunk);
    return s;
  });
  const int64_t words[] = {0, 1, 2, 5, 11, 12};
  for (int node = 0; node < nodes(); ++node)
    for (uint64_t w = 0; w < count * 6; ++w)
      std::memcpy(&was(node, 2)[4 * w], &was(node, 0)[4 * (static_cast<size_t>(words[w % 6]) + w / 6 * 13)], 4);
  expect_areas("chunks");
  EXPECT_EQ(types_->uploads(), 1u);
}

}  // namespace
}  // namespace ggas::types_test
