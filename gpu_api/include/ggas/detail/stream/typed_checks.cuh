// SPDX-License-Identifier: Apache-2.0
// Arguments of the calls with datatypes on a stream, checked before anything is queued. Included by
// typed_on_stream.cuh.
#pragma once

#include <string>

#include "ggas/detail/stream/typed_kernels.cuh"

namespace ggas::detail {

// A call as it is checked: its two sides, in bytes `first` ... `first` + `bytes` - 1 of the packed data.
struct typed_move {
  const char* call;
  side_items to, from;
  uint64_t first = 0, bytes = 0;
  signal_target signal = {};  // word null: none
  bool host = false;          // one of the sides lies in memory of the host
  bool whole = true;          // all items
  int target = -1;            // of a put: the node

  typed_move(const char* call, const side_items& to, const side_items& from, const packed_range& range = {0, 0})
      : call(call), to(to), from(from), first(range.first), bytes(range.bytes) {}
};

[[maybe_unused]] static error typed_error(const char* call, const stream& s, const std::string& why) {
  return {errc::bad_argument, std::string(call) + " on node " + std::to_string(s.node) + ": " + why};
}

// ---- memory

enum class memory_kind { none, gpu, host };

#ifdef __CUDACC__
[[maybe_unused]] static memory_kind kind_by_cuda(int gpu, const char* p) {
  cudaPointerAttributes a{};
  if (cudaPointerGetAttributes(&a, p) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return memory_kind::none;
  }
  if (a.type == cudaMemoryTypeHost) return memory_kind::host;
  const bool good = a.type == cudaMemoryTypeManaged || (a.type == cudaMemoryTypeDevice && a.device == gpu);
  return good ? memory_kind::gpu : memory_kind::none;
}
#endif

// What kind of the node's memory `bytes` bytes from p on are.
[[maybe_unused]] static memory_kind kind_of(cluster& c, const stream& s, const char* p, uint64_t bytes) {
  const context& own = c.device_context(s.node);
  const uint64_t in_segment = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(own.local);
  if (in_segment <= own.segment_bytes && bytes <= own.segment_bytes - in_segment) return memory_kind::gpu;
  const host_region host = c.host_memory(s.node);
  const uint64_t in_host = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(host.base);
  if (host.base && in_host <= host.bytes && bytes <= host.bytes - in_host) return memory_kind::host;
#ifdef __CUDACC__
  const memory_kind first = kind_by_cuda(c.device(s.node), p);
  if (first != memory_kind::none && kind_by_cuda(c.device(s.node), p + bytes - 1) == first) return first;
#endif
  return memory_kind::none;
}

// ---- checks: a text for what is wrong, or none

// Where the data of items lie, and that the datatype is good.
[[maybe_unused]] static std::string check_items(const cluster& c, const char* name, const ggas_type& t, uint64_t count,
                                                data_range& r) {
  if (std::string wrong = type_error(c, t); !wrong.empty()) return std::string(name) + ": " + wrong;
  r = range_of(t, count);
  return r.good ? "" : std::string(name) + ": " + std::to_string(count) + " items are more than 64 bits can address";
}

[[maybe_unused]] static std::string check_memory(cluster& c, const stream& s, const char* name, const char* p,
                                                 uint64_t bytes, bool& host) {
  const memory_kind kind = bytes == 0 ? memory_kind::gpu : kind_of(c, s, p, bytes);
  host = host || kind == memory_kind::host;
  return kind != memory_kind::none ? "" : std::string(name) + ": data outside the node's segment and pinned memory";
}

// Items in `items`, packed data in the other side; m.bytes gets its value.
[[maybe_unused]] static std::string check_packed(cluster& c, const stream& s, typed_move& m, const side_items& items,
                                                 const side_items& packed) {
  if (!c.local(s.node)) return "not a node of this process";
  data_range r{};
  if (std::string wrong = check_items(c, "type", *items.type, items.count, r); !wrong.empty()) return wrong;
  const uint64_t all = items.count * items.type->size;
  if (m.first > all || (m.bytes != ggas_all_bytes && m.bytes > all - m.first))
    return "range: it ends behind the " + std::to_string(all) + " bytes of data";
  if (m.bytes == ggas_all_bytes) m.bytes = all - m.first;
  m.whole = m.bytes == all;
  if (m.bytes == 0) return "";
  std::string wrong = check_memory(c, s, "items", items.at + r.low, r.bytes, m.host);
  return wrong.empty() ? check_memory(c, s, "packed data", packed.at, m.bytes, m.host) : wrong;
}

[[maybe_unused]] static char* segment_of(const context& own, int node) {
  return node == own.node ? own.local : own.window + static_cast<uint64_t>(node) * own.stride;
}

// Checks a put or get. `there` gets the address of the remote items.
[[maybe_unused]] static std::string check_pair(cluster& c, const stream& s, typed_move& m,
                                               const global_ptr<char>& remote, side_items& there,
                                               const side_items& here) {
  if (!c.local(s.node)) return "not a node of this process";
  const context& own = c.device_context(s.node);
  data_range r{}, l{};
  if (std::string wrong = check_items(c, "remote type", *there.type, there.count, r); !wrong.empty()) return wrong;
  if (std::string wrong = check_items(c, "local type", *here.type, here.count, l); !wrong.empty()) return wrong;
  const ggas_type &a = *there.type, &b = *here.type;
  m.bytes = there.count * a.size;
  const bool same = there.count * a.elements == here.count * b.elements &&
                    (m.bytes == 0 || (a.word == b.word && a.word_length == b.word_length));
  if (!same) return "remote type, local type: their signatures differ";
  if (remote.node() < 0 || remote.node() >= own.nodes)
    return "remote: node " + std::to_string(remote.node()) + " is none";
  const uint64_t offset = remote.offset() + r.low;
  if (offset > own.segment_bytes || r.bytes > own.segment_bytes - offset) return "remote: data outside the segment";
  there.at = segment_of(own, remote.node()) + remote.offset();
  const bool posts = own.queues != nullptr;
  std::string wrong = check_memory(c, s, "local", here.at + l.low, m.bytes == 0 ? 0 : l.bytes, m.host);
  return wrong.empty() && posts && m.host ? "local: data outside the segment, which a NIC needs" : wrong;
}

[[maybe_unused]] static std::string check_signal(const cluster& c, const stream& s, typed_move& m, int node,
                                                 const global_ptr<uint64_t>& signal, uint64_t value,
                                                 ggas_signal_op op) {
  const context& own = c.device_context(s.node);
  if (signal.node() != node) return "signal: not on the node of the data";
  const bool inside = own.segment_bytes >= 8 && signal.offset() <= own.segment_bytes - 8 && signal.offset() % 8 == 0;
  if (node < 0 || node >= own.nodes || !inside) return "signal: no word of a segment";
  if (static_cast<unsigned>(op) > ggas_signal_add) return "op: neither ggas_signal_set nor ggas_signal_add";
  m.signal = {reinterpret_cast<uint64_t*>(segment_of(own, node) + signal.offset()), value, op};
  return "";
}

}  // namespace ggas::detail
