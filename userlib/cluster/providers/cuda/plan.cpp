// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/providers/cuda/plan.hpp"

#include "ggas/detail/platform/layout.hpp"

namespace ggas::userlib {

namespace {

std::unexpected<std::string> wrong(const std::string& text) { return std::unexpected(text); }

}  // namespace

attempt<> check_segment(uint64_t bytes, uint64_t nodes) {
  const uint64_t least = layout::smallest_segment(nodes);
  if (bytes >= least) return {};
  return wrong("segment_bytes = " + std::to_string(bytes) + ": " + std::to_string(nodes) + " nodes need at least " +
               std::to_string(least) + " (the library's reserved area and a page)");
}

attempt<> check_growth(uint64_t bytes, uint64_t now, uint64_t most) {
  const std::string asked = "grow(" + std::to_string(bytes) + "): ";
  if (most == 0) return wrong(asked + "the cluster was made with most_segment_bytes = 0: its segments do not grow");
  if (bytes % 4096 == 0 && bytes >= now && bytes <= most) return {};
  return wrong(asked + "must be a multiple of 4096 from " + std::to_string(now) + " (segments now) to " +
               std::to_string(most) + " (most_segment_bytes)");
}

attempt<> check(const cluster_config& cfg) {
  if (cfg.nodes < 0) return wrong("nodes = " + std::to_string(cfg.nodes) + ": must be 0 (all GPUs) or more");
  constexpr uint64_t most = uint64_t{1} << 44;  // what addresses could be kept free for
  if (cfg.segment_bytes % 4096 != 0 || cfg.segment_bytes > most)
    return wrong("segment_bytes = " + std::to_string(cfg.segment_bytes) + ": must be a multiple of 4096, at most " +
                 std::to_string(most));
  if (cfg.most_segment_bytes && (cfg.most_segment_bytes < cfg.segment_bytes || cfg.most_segment_bytes > most))
    return wrong("most_segment_bytes = " + std::to_string(cfg.most_segment_bytes) +
                 ": must be 0 or from segment_bytes = " + std::to_string(cfg.segment_bytes) + " to " +
                 std::to_string(most));
  if (cfg.host_bytes % 4096 != 0)
    return wrong("host_bytes = " + std::to_string(cfg.host_bytes) + ": must be a multiple of 4096");
  if (cfg.processes.alone()) return {};
  if (cfg.nodes && cfg.nodes != cfg.processes.size)
    return wrong("nodes = " + std::to_string(cfg.nodes) +
                 ": with a process for each node it must be 0 or their number, " + std::to_string(cfg.processes.size));
  return check_segment(cfg.segment_bytes, static_cast<uint64_t>(cfg.processes.size));
}

attempt<> check(std::span<const claim> claims) {
  const auto same = [&](const char* what, auto claim::*field) -> attempt<> {
    for (size_t r = 1; r < claims.size(); ++r) {
      if (claims[r].*field != claims[0].*field)
        return wrong(std::string(what) + " must be the same in all processes: rank 0 says " +
                     std::to_string(claims[0].*field) + ", rank " + std::to_string(r) + " says " +
                     std::to_string(claims[r].*field));
    }
    return {};
  };
  if (auto ok = same("segment_bytes", &claim::segment_bytes); !ok) return ok;
  if (auto ok = same("most_segment_bytes", &claim::most_segment_bytes); !ok) return ok;
  if (auto ok = same("the reserved area of segments (the library's version)", &claim::reserved); !ok) return ok;
  if (auto ok = same("the way GPUs pass memory on", &claim::passing); !ok) return ok;
  for (size_t r = 1; r < claims.size(); ++r) {
    if (claims[r].tuning != claims[0].tuning)
      return wrong("the tuning of collectives (variable GGAS_TUNING) must be the same in all processes: that of rank " +
                   std::to_string(r) + " differs from that of rank 0");
  }
  return {};
}

}  // namespace ggas::userlib
