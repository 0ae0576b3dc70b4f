// SPDX-License-Identifier: Apache-2.0
// Tables of calls.cuh, made at random.
#pragma once

#include <algorithm>
#include <random>

#include "tests/gpu_api/calls.cuh"

namespace ggas::calls {

// How the arguments of a call are meant. `to` a peer, `from` a peer.
enum class kind { access_to, access_from, value, strided_to, strided_from, bytes_to, bytes_from, signal, atomic };

inline bool comes_from(kind k) { return k == kind::access_from || k == kind::strided_from || k == kind::bytes_from; }

struct description {
  call what;
  const char* name;
  form by;
  kind of;
};
inline constexpr description element_calls[] = {
    {call::store, "store", form::thread, kind::access_to},
    {call::store_warp, "store_warp", form::warp, kind::access_to},
    {call::store_block, "store_block", form::block, kind::access_to},
    {call::load, "load", form::thread, kind::access_from},
    {call::load_warp, "load_warp", form::warp, kind::access_from},
    {call::load_block, "load_block", form::block, kind::access_from},
    {call::put_value, "put_value", form::thread, kind::value},
    {call::put_value_nbi, "put_value_nbi", form::thread, kind::value},
    {call::put_value_nbi_warp, "put_value_nbi_warp", form::warp, kind::value},
    {call::put_value_nbi_block, "put_value_nbi_block", form::block, kind::value},
    {call::put_value_warp, "put_value_warp", form::warp, kind::value},
    {call::put_value_block, "put_value_block", form::block, kind::value},
    {call::iput, "iput", form::thread, kind::strided_to},
    {call::iput_warp, "iput_warp", form::warp, kind::strided_to},
    {call::iput_block, "iput_block", form::block, kind::strided_to},
    {call::iput_nbi, "iput_nbi", form::thread, kind::strided_to},
    {call::iput_nbi_warp, "iput_nbi_warp", form::warp, kind::strided_to},
    {call::iput_nbi_block, "iput_nbi_block", form::block, kind::strided_to},
    {call::iget, "iget", form::thread, kind::strided_from},
    {call::iget_warp, "iget_warp", form::warp, kind::strided_from},
    {call::iget_block, "iget_block", form::block, kind::strided_from},
    {call::iget_nbi, "iget_nbi", form::thread, kind::strided_from},
    {call::iget_nbi_warp, "iget_nbi_warp", form::warp, kind::strided_from},
    {call::iget_nbi_block, "iget_nbi_block", form::block, kind::strided_from},
};
inline constexpr description transfer_calls[] = {
    {call::put, "put", form::thread, kind::bytes_to},
    {call::put_warp, "put_warp", form::warp, kind::bytes_to},
    {call::put_block, "put_block", form::block, kind::bytes_to},
    {call::put_nbi, "put_nbi", form::thread, kind::bytes_to},
    {call::put_nbi_warp, "put_nbi_warp", form::warp, kind::bytes_to},
    {call::put_nbi_block, "put_nbi_block", form::block, kind::bytes_to},
    {call::get, "get", form::thread, kind::bytes_from},
    {call::get_warp, "get_warp", form::warp, kind::bytes_from},
    {call::get_block, "get_block", form::block, kind::bytes_from},
    {call::get_nbi, "get_nbi", form::thread, kind::bytes_from},
    {call::get_nbi_warp, "get_nbi_warp", form::warp, kind::bytes_from},
    {call::get_nbi_block, "get_nbi_block", form::block, kind::bytes_from},
    {call::put_signal, "put_signal", form::thread, kind::signal},
    {call::put_signal_warp, "put_signal_warp", form::warp, kind::signal},
    {call::put_signal_block, "put_signal_block", form::block, kind::signal},
    {call::put_signal_nbi, "put_signal_nbi", form::thread, kind::signal},
    {call::put_signal_nbi_warp, "put_signal_nbi_warp", form::warp, kind::signal},
    {call::put_signal_nbi_block, "put_signal_nbi_block", form::block, kind::signal},
};
inline constexpr description atomic_calls[] = {
    {call::fetch, "atomic_fetch", form::thread, kind::atomic},
    {call::fetch_warp, "atomic_fetch_warp", form::warp, kind::atomic},
    {call::fetch_add, "fetch_add", form::thread, kind::atomic},
    {call::fetch_swap, "fetch_swap", form::thread, kind::atomic},
    {call::compare_swap, "compare_swap", form::thread, kind::atomic},
    {call::post, "atomic_post", form::thread, kind::atomic},
    {call::add, "add", form::thread, kind::atomic},
};

// The part of a segment that steps use: read-only data, data that the node itself writes here, and a part for each
// node, which that node writes: signals, words of atomics, floats and doubles of atomics, data.
struct area {
  uint64_t begin;
  static constexpr uint64_t bytes = 16384, part_bytes = 8192, signals = 128, words = 256, floats = 288, doubles = 320;
  uint64_t source() const { return begin; }
  uint64_t brought() const { return begin + bytes; }
  uint64_t part(int node) const { return begin + 2 * bytes + static_cast<uint64_t>(node) * part_bytes; }
  static uint64_t size(int nodes) { return 2 * bytes + static_cast<uint64_t>(nodes) * part_bytes; }
};

class table_maker {
 public:
  table_maker(uint64_t seed, int me, int nodes, unsigned threads, uint64_t segment_bytes, area at)
      : random_(seed), me_(me), nodes_(nodes), threads_(threads), segment_(segment_bytes), at_(at) {}

  step make(const description& d) {
    step s{};
    s.what = d.what;
    s.by = d.by;
    s.actor = static_cast<uint32_t>(below(threads_));
    s.node = static_cast<int>(below(static_cast<uint64_t>(nodes_)));
    s.signal_node = s.node;
    s.queue = one_in(3) ? default_queue : static_cast<int>(below(4));
    s.through_window = one_in(2);
    s.value = random_();
    s.n = 1;
    // Stores are in no queue.
    s.behind = d.of == kind::access_to ? finish::everything : static_cast<finish>(below(finishes));
    arguments(s, d);
    if (d.of != kind::access_to && d.of != kind::access_from && one_in(6)) spoil(s, d.of);
    return s;
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  // 0 ... most, small ones often.
  uint64_t length(uint64_t most) { return below((most >> below(11)) + 1); }

  // A place for `bytes` in one of the three parts that calls of this kind use.
  uint64_t own_place(kind k, uint64_t bytes, uint64_t align) {
    return (comes_from(k) || k == kind::atomic ? at_.brought() : at_.source()) +
           below((area::bytes - bytes) / align) * align;
  }
  uint64_t far_place(kind k, uint64_t bytes, uint64_t align) {
    if (comes_from(k)) return at_.source() + below((area::bytes - bytes) / align) * align;
    return at_.part(me_) + area::doubles + below((area::part_bytes - area::doubles - bytes) / align) * align;
  }

  void arguments(step& s, const description& d) {
    s.bytes = 1;
    switch (d.of) {
      case kind::access_to:
      case kind::access_from:
        s.bytes = 1u << below(5);
        if (d.by != form::thread) s.n = length(4000 / s.bytes);
        return places_of(s, d.of, s.bytes * s.n, s.bytes);
      case kind::value:
        s.bytes = 1u << below(4);
        return places_of(s, d.of, s.bytes, s.bytes);
      case kind::strided_to:
      case kind::strided_from:
        return strided(s, d.of);
      case kind::bytes_to:
      case kind::bytes_from:
      case kind::signal:
        return bytes(s, d.of);
      case kind::atomic:
        return atomic(s);
    }
  }
  void places_of(step& s, kind k, uint64_t size, uint64_t align) {
    s.here = own_place(k, size, align);
    s.there = far_place(k, size, align);
  }
  // Any alignment of both ends; words, and ends that fit each other, as often.
  void bytes(step& s, kind k) {
    const uint64_t align = one_in(2) ? 1 : uint64_t{1} << below(5);
    const uint64_t unit = one_in(2) ? 1 : align;
    s.n = length(6000) / unit * unit;
    places_of(s, k, s.n, align);
    s.signal = at_.part(me_) + below(area::signals / 8) * 8;
    s.operation = static_cast<uint32_t>(below(2));
  }
  // A source may have stride 0: one element again and again.
  void strided(step& s, kind k) {
    s.bytes = 1u << below(4);
    s.n = length(150);
    s.here_stride = static_cast<int64_t>(below(11)) - 5;
    s.there_stride = static_cast<int64_t>(below(11)) - 5;
    int64_t& target = comes_from(k) ? s.here_stride : s.there_stride;
    if (target == 0) target = 1;
    const auto span = [&](int64_t stride) { return s.n * static_cast<uint64_t>(std::abs(stride)) * s.bytes + s.bytes; };
    const auto first = [&](int64_t stride) { return stride < 0 ? span(stride) - s.bytes : 0; };
    s.here = own_place(k, span(s.here_stride), s.bytes) + first(s.here_stride);
    s.there = far_place(k, span(s.there_stride), s.bytes) + first(s.there_stride);
  }
  static bool bits_only(uint32_t operation) {
    return operation == ggas_atomic_and || operation == ggas_atomic_or || operation == ggas_atomic_xor;
  }
  void atomic(step& s) {
    s.bytes = one_in(2) ? 4 : 8;
    s.is_signed = one_in(2);
    s.is_floating = one_in(3);
    do {
      s.operation = static_cast<uint32_t>(below(8));
    } while (s.is_floating && bits_only(s.operation));
    s.here = own_place(kind::atomic, 8, 8);
    s.there = at_.part(me_) + area::signals + below((area::words - area::signals) / s.bytes) * s.bytes;
    if (one_in(2)) s.value = static_cast<uint64_t>(static_cast<int64_t>(below(7)) - 3);
    s.compare = one_in(3) ? random_() : static_cast<uint64_t>(static_cast<int64_t>(below(7)) - 3);
    if (!s.is_floating) return;
    // Whole numbers, whose sums are exact.
    const uint64_t begin = s.bytes == 4 ? area::words : area::floats, end = s.bytes == 4 ? area::floats : area::doubles;
    s.there = at_.part(me_) + begin + below((end - begin) / s.bytes) * s.bytes;
    s.value = static_cast<uint64_t>(static_cast<int64_t>(below(one_in(2) ? 7 : 2001)) - 3);
    s.compare = static_cast<uint64_t>(static_cast<int64_t>(below(7)) - 3);
  }

  // One argument that cannot work: nothing may happen.
  void spoil(step& s, kind k) {
    s.want = ggas_bad_argument;
    const bool moves_bytes = k == kind::bytes_to || k == kind::bytes_from || k == kind::signal;
    const bool strided = k == kind::strided_to || k == kind::strided_from;
    s.n = std::max<uint64_t>(s.n, 2);
    switch (below(k == kind::signal ? 8 : 5)) {
      case 0:
        s.there = nowhere;
        break;
      case 1:
        s.node = one_in(2) ? -1 : nodes_;
        break;
      case 2:
        s.queue = one_in(2) ? -1 : 1 << 20;
        break;
      case 3:  // across the end
        s.there = segment_ - (moves_bytes ? s.n - 1 : strided ? s.bytes : 0);
        s.there_stride = 1;
        break;
      case 4:
        spoil_by_kind(s, k);
        break;
      case 5:
        s.signal += 1 + below(7);
        break;
      case 6:
        s.signal = one_in(2) ? nowhere : segment_ - 4;
        break;
      case 7:
        if (nodes_ == 1)
          s.operation = 2 + static_cast<uint32_t>(below(100));
        else
          s.signal_node = (s.node + 1) % nodes_;
        break;
    }
  }
  void spoil_by_kind(step& s, kind k) {
    const bool names_operation = s.what == call::fetch || s.what == call::fetch_warp || s.what == call::post;
    if (k == kind::bytes_to || k == kind::bytes_from || k == kind::signal) {
      one_in(2) ? s.here = nowhere : s.n = ~uint64_t{0} >> below(20);
    } else if (names_operation && one_in(2)) {
      s.operation = s.is_floating ? static_cast<uint32_t>(ggas_atomic_xor) : 8 + static_cast<uint32_t>(below(100));
    } else if (k != kind::value && k != kind::atomic && one_in(2)) {
      spoil_strides(s);
    } else if (s.bytes > 1) {
      s.there += 1 + below(s.bytes - 1);
    } else {
      s.queue = -1;
    }
  }
  void spoil_strides(step& s) {
    switch (below(4)) {
      case 0:
        s.here = nowhere;
        break;
      case 1:  // the last element lies far away, or its place wraps around to one that is good
        (one_in(2) ? s.here_stride : s.there_stride) = int64_t{1} << (62 - below(20));
        break;
      case 2:
        s.n = uint64_t{1} << (41 + below(20));
        break;
      case 3:
        s.bytes > 1 ? s.here += 1 : s.there = nowhere;
        break;
    }
  }

  std::mt19937_64 random_;
  int me_, nodes_;
  unsigned threads_;
  uint64_t segment_;
  area at_;
};

}  // namespace ggas::calls
