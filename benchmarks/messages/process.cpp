// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/messages/process.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "sim/ranks/ranks.hpp"

namespace ggas::bench {

bool has_processes(const session& s) {
  constexpr int most = 64;  // RandomAccess sends from each to each
  // A GPU of a model that is not ours may have no copy engine.
  const bool own_gpu =
      std::ranges::any_of(s.opts().cluster.overrides, [](const std::string& o) { return o.starts_with("gpu.model="); });
  return s.simulated() && !own_gpu && s.nodes() <= most && !s.opts().ranks && !sim::process_ranks();
}

session::wish with_processes(const session& s, session::wish w, size_t pinned_bytes) {
  if (!has_processes(s)) return w;
  constexpr size_t page = 4096;
  const size_t all = (pinned_bytes + mpi_process::own_bytes + page - 1) / page * page;
  w.host_bytes = std::max(w.host_bytes, all);
  w.queues.mailbox_log2 = 10;  // 64 KB of eager messages
  return w;
}

result<> run_processes(session& s, const std::string& what, const std::function<void(mpi_process&)>& body) {
  cluster& c = s.machine();
  std::vector<std::string> faults(size_t(s.nodes()), "it did not end");
  for (int node = 0; node < s.nodes(); ++node) {
    const auto done = c.make_event(node);
    if (!done) return done.error();
    GGAS_TRY(c.launch_host(node, [&, done = *done, node](host& h) {
      mpi_process p(c, h, done, s.opts().timeout_ns / 4);
      body(p);
      faults[size_t(node)] = p.fault();
    }));
  }
  GGAS_TRY(s.run(what));
  for (int node = 0; node < s.nodes(); ++node)
    if (const std::string& f = faults[size_t(node)]; !f.empty())
      return failed(errc::device_fault, fmt::format("{}: node {}: {}", what, node, f));
  return {};
}

}  // namespace ggas::bench
