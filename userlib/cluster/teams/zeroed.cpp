// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/teams/zeroed.hpp"

#include <cstddef>
#include <vector>

#include "ggas/cluster.hpp"

namespace ggas::userlib {
namespace {

// A member's flag may come as soon as its process goes on: not before all have cleared theirs.
std::string clear(cluster& c, uint64_t offset, uint64_t bytes) {
  const std::vector<std::byte> zeros(bytes);
  for (const int node : c.local_nodes()) {
    if (auto ok = c.write(node, offset, zeros.data(), zeros.size()); !ok) return ok.error().text;
  }
  if (static_cast<int>(c.local_nodes().size()) == c.nodes()) return {};
  auto ok = c.same("clear flags");
  return ok ? std::string{} : ok.error().text;
}

}  // namespace

std::optional<zeroed_place> allocate_zeroed(cluster& c, heap& memory, uint64_t bytes, const std::string& call,
                                            std::string& why) {
  const auto at = memory.allocate(bytes, why);
  if (at) why = clear(c, *at, bytes);
  if (at && why.empty()) return zeroed_place{*at, c.keep_for_team(*at, *at + bytes)};
  why = call + ": " + why;
  if (at) memory.free(*at);
  return std::nullopt;
}

}  // namespace ggas::userlib
