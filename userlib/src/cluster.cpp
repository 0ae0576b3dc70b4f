// SPDX-License-Identifier: Apache-2.0
#include "ggas/cluster.hpp"

#include "ggas/detail/platform/layout.hpp"
#include "userlib/src/providers.hpp"
#ifdef GGAS_HAVE_SIM
#include "userlib/providers/sim/sim_cluster.hpp"
#endif

namespace ggas {
namespace {

constexpr int most_nodes = 65536;  // node ids have 16 bits
constexpr size_t page = 4096;

std::unexpected<error> bad(std::string text) { return std::unexpected(error{errc::bad_argument, std::move(text)}); }

result<> check_queues(const queue_config& q) {
  struct {
    const char* name;
    unsigned value, least, most;
  } const rules[] = {
      {"count", static_cast<unsigned>(q.count), 0, 128},
      {"host_count", static_cast<unsigned>(q.host_count), 0, 128},
      {"notify_log2", q.notify_log2, 4, 16},
      {"slots_log2", q.slots_log2, 4, 16},
      {"mailbox_log2", q.mailbox_log2, 2, 12},
  };
  for (const auto& r : rules) {
    if (r.value < r.least || r.value > r.most) {
      return bad(std::string("queues.") + r.name + " = " + std::to_string(static_cast<int>(r.value)) + ": must be " +
                 std::to_string(r.least) + " ... " + std::to_string(r.most));
    }
  }
  return {};
}

}  // namespace

result<> check_config(const cluster_config& cfg) {
  if (cfg.nodes < 1 || cfg.nodes > most_nodes) {
    return bad("nodes = " + std::to_string(cfg.nodes) + ": must be 1 ... " + std::to_string(most_nodes));
  }
  if (cfg.segment_bytes % page != 0) {
    return bad("segment_bytes = " + std::to_string(cfg.segment_bytes) + ": must be a multiple of " +
               std::to_string(page));
  }
  const size_t least = layout::smallest_segment(static_cast<uint64_t>(cfg.nodes));
  if (cfg.segment_bytes < least) {
    return bad("segment_bytes = " + std::to_string(cfg.segment_bytes) + ": " + std::to_string(cfg.nodes) +
               " nodes need at least " + std::to_string(least) + " (the library's reserved area and a page)");
  }
  if (cfg.host_bytes % page != 0) {
    return bad("host_bytes = " + std::to_string(cfg.host_bytes) + ": must be a multiple of " + std::to_string(page));
  }
  return check_queues(cfg.queues);
}

result<> check_program(const cluster_config& cfg, int node, const std::function<void(host&)>& program,
                       const std::string& name) {
  if (node < 0 || node >= cfg.nodes) {
    return bad("program '" + name + "' on node " + std::to_string(node) + ": nodes are 0 ... " +
               std::to_string(cfg.nodes - 1));
  }
  if (!program) return bad("program '" + name + "': no function");
  return {};
}

result<> check_launch(const cluster_config& cfg, int node, const simt::launch& l) {
  if (node < 0 || node >= cfg.nodes) {
    return bad("launch of '" + l.name + "' on node " + std::to_string(node) + ": nodes are 0 ... " +
               std::to_string(cfg.nodes - 1));
  }
  if (std::string why = simt::grid::check(l); !why.empty()) return bad(std::move(why));
  return {};
}

result<std::unique_ptr<cluster>> cluster::create(const cluster_config& cfg) {
  if (auto ok = check_config(cfg); !ok) return std::unexpected(ok.error());
  if (cfg.provider == "shm") return create_shm(cfg);
#ifdef GGAS_HAVE_SIM
  if (cfg.provider == "sim") return userlib::make_sim_cluster(cfg);
  return bad("provider '" + cfg.provider + "': must be sim or shm");
#else
  return bad("provider '" + cfg.provider + "': must be shm (this build has no simulator)");
#endif
}

}  // namespace ggas
