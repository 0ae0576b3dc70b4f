// SPDX-License-Identifier: Apache-2.0
// What memory must hold when kernels have gone through tables of calls.cuh.
#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

#include "tests/gpu_api/calls_table.hpp"

namespace ggas::calls {

// The areas of all nodes as they must be.
class memory {
 public:
  memory(uint64_t seed, int nodes, area at) : at_(at), bytes_(static_cast<size_t>(nodes)), writer_(bytes_.size()) {
    for (size_t k = 0; k < bytes_.size(); ++k) {
      bytes_[k].resize(area::size(nodes));
      writer_[k].resize(bytes_[k].size());
      for (size_t i = 0; i < bytes_[k].size(); ++i)
        bytes_[k][i] = static_cast<uint8_t>(bench::pattern(seed, k, i) >> 8);
      for (int part = 0; part < nodes; ++part) number_words(bytes_[k].data() + (at.part(part) - at.begin));
    }
  }
  const std::vector<uint8_t>& of(int node) const { return bytes_[static_cast<size_t>(node)]; }
  // Number of the step that wrote a byte last, from 1; 0: none.
  uint64_t writer(int node, size_t at) const { return writer_[static_cast<size_t>(node)][at]; }

  void apply(int me, const step& s, kind k, uint64_t number) {
    number_ = number;
    if (s.want != ggas_ok) return;
    const int from = comes_from(k) ? s.node : me, to = comes_from(k) ? me : s.node;
    const uint64_t source = comes_from(k) ? s.there : s.here, target = comes_from(k) ? s.here : s.there;
    const int64_t source_stride = comes_from(k) ? s.there_stride : s.here_stride;
    const int64_t target_stride = comes_from(k) ? s.here_stride : s.there_stride;
    const bool strided = k == kind::strided_to || k == kind::strided_from;
    if (k == kind::value) return write(to, target, &s.value, s.bytes);
    if (k == kind::atomic) return atomic(me, s);
    for (uint64_t i = 0; i < s.n; ++i) {
      const auto at = [&](uint64_t start, int64_t stride) {
        return start + static_cast<uint64_t>(static_cast<int64_t>(i) * (strided ? stride : 1)) * s.bytes;
      };
      uint64_t element[2];
      std::memcpy(element, byte(from, at(source, source_stride)), s.bytes);
      write(to, at(target, target_stride), element, s.bytes);
    }
    if (k == kind::signal) {
      uint64_t word = 0;
      std::memcpy(&word, byte(s.signal_node, s.signal), 8);
      word = s.operation == ggas_signal_set ? s.value : word + s.value;
      write(s.signal_node, s.signal, &word, 8);
    }
  }

 private:
  static void number_words(uint8_t* part) {
    float f = 1;
    double d = 1;
    for (uint64_t i = area::words; i < area::floats; i += sizeof f, ++f) std::memcpy(part + i, &f, sizeof f);
    for (uint64_t i = area::floats; i < area::doubles; i += sizeof d, ++d) std::memcpy(part + i, &d, sizeof d);
  }
  uint8_t* byte(int node, uint64_t offset) { return bytes_[static_cast<size_t>(node)].data() + (offset - at_.begin); }
  void write(int node, uint64_t offset, const void* from, size_t bytes) {
    std::memcpy(byte(node, offset), from, bytes);
    std::fill_n(writer_[static_cast<size_t>(node)].begin() + static_cast<ptrdiff_t>(offset - at_.begin), bytes,
                number_);
  }

  static ggas_atomic operation_of(const step& s) {
    if (s.what == call::fetch_add || s.what == call::add) return ggas_atomic_add;
    if (s.what == call::fetch_swap) return ggas_atomic_swap;
    if (s.what == call::compare_swap) return ggas_atomic_cas;
    return static_cast<ggas_atomic>(s.operation);
  }
  template <class T>
  requires(std::is_floating_point_v<T>) static T after(const step& s, T old) {
    const auto v = static_cast<T>(static_cast<int64_t>(s.value));
    switch (operation_of(s)) {
      case ggas_atomic_add:
        return old + v;
      case ggas_atomic_swap:
        return v;
      case ggas_atomic_cas:
        return old == static_cast<T>(static_cast<int64_t>(s.compare)) ? v : old;
      case ggas_atomic_min:
        return std::min(old, v);
      default:
        return std::max(old, v);
    }
  }
  template <class T>
  requires(std::is_integral_v<T>) static T after(const step& s, T old) {
    const auto v = static_cast<T>(s.value);
    using U = std::make_unsigned_t<T>;
    switch (operation_of(s)) {
      case ggas_atomic_add:
        return static_cast<T>(static_cast<U>(old) + static_cast<U>(v));
      case ggas_atomic_swap:
        return v;
      case ggas_atomic_cas:
        return old == static_cast<T>(s.compare) ? v : old;
      case ggas_atomic_and:
        return old & v;
      case ggas_atomic_or:
        return old | v;
      case ggas_atomic_xor:
        return old ^ v;
      case ggas_atomic_min:
        return std::min(old, v);
      case ggas_atomic_max:
        return std::max(old, v);
    }
    return old;
  }
  template <class T>
  void atomic_as(int me, const step& s) {
    T old{};
    std::memcpy(&old, byte(s.node, s.there), sizeof(T));
    const T now = after(s, old);
    write(s.node, s.there, &now, sizeof(T));
    if (s.what != call::post && s.what != call::add) write(me, s.here, &old, sizeof(T));
  }
  void atomic(int me, const step& s) {
    if (s.is_floating) return s.bytes == 4 ? atomic_as<float>(me, s) : atomic_as<double>(me, s);
    if (s.bytes == 4) return s.is_signed ? atomic_as<int32_t>(me, s) : atomic_as<uint32_t>(me, s);
    return s.is_signed ? atomic_as<int64_t>(me, s) : atomic_as<uint64_t>(me, s);
  }

  area at_;
  std::vector<std::vector<uint8_t>> bytes_;
  std::vector<std::vector<uint64_t>> writer_;
  uint64_t number_ = 0;
};

}  // namespace ggas::calls
