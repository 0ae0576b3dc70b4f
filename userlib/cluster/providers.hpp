// SPDX-License-Identifier: Apache-2.0
// The providers that a program is linked with, and what they share.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "ggas/cluster.hpp"

namespace ggas::userlib {

// A provider registers before main(), by an object of this type in its library. The library's users link with -u
// GGAS_PROVIDER(name), so that the linker takes that object from the archive.
struct provider {
  using maker = result<std::unique_ptr<cluster>> (*)(const cluster_config&);
  provider(const char* name, maker make);
  const char* name;
  maker make;
  const provider* next;
};
#define GGAS_PROVIDER(name, maker)                                 \
  extern "C" const ::ggas::userlib::provider ggas_provider_##name; \
  const ::ggas::userlib::provider ggas_provider_##name(#name, maker)

// An argument that is refused; the text names it and the rule.
inline error bad(std::string text) { return {errc::bad_argument, std::move(text)}; }

inline size_t round_up(size_t v, size_t to) { return (v + to - 1) / to * to; }

// Nodes, memory and queues: in range, and enough room for the reserved area. Of providers with one process.
result<> check_config(const cluster_config& cfg);
// Fails if there is no such node in this process.
result<> check_node(const cluster& c, int node, const std::string& what);
// `bytes` bytes at an offset lie in a segment of that node.
result<> check_copy(const cluster& c, int node, uint64_t offset, size_t bytes, const std::string& what);
// `bytes` bytes of memory lie in the segment or the pinned memory of a local node.
result<> check_reach(cluster& c, int node, const void* p, size_t bytes, const std::string& what);
result<> check_program(const cluster& c, int node, const std::function<void(host&)>& program, const std::string& name);

// GGAS_CHECKED: whether members of collectives compare their calls.
bool checked_by_environment();

}  // namespace ggas::userlib
