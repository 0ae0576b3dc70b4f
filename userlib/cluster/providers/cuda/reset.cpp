// SPDX-License-Identifier: Apache-2.0
// After a failure: who waited for what, the end of waits, and a new start of barriers and collectives.
#include "ggas/detail/platform/layout.hpp"
#include "userlib/cluster/providers/cuda/parts.hpp"

namespace ggas {

using userlib::attempt;
using userlib::reported;

// By the copy engine: kernels that wait may hold every multiprocessor.
result<> cuda_cluster::abort() {
  static constexpr uint64_t raised = 1;
  attempt<> ok = GGAS_RUNTIME("GPU", cudaSetDevice, parts_->gpus[0]);
  const cudaStream_t aside = parts_->aside[static_cast<size_t>(local_[0])];
  for (size_t node = 0; ok && node < contexts_.size(); ++node)
    ok = GGAS_RUNTIME("abort of node " + std::to_string(node), cudaMemcpyAsync, contexts_[node].local + layout::aborted,
                      &raised, sizeof raised, cudaMemcpyHostToDevice, aside);
  return reported(ok);
}

// Other processes' nodes are looked at, too: who of them waits itself is not late.
result<hang_report> cuda_cluster::report() {
  hang_report own, others;
  std::vector<std::byte> area(layout::wait_bytes);
  for (const context& c : contexts_) {
    const uint64_t at = layout::of(static_cast<uint64_t>(c.nodes), c.reserved).failed_waits();
    const auto ok = parts_->look(c.node, area.data(), at, area.size());
    if (!ok && local(c.node)) return reported(ok).error();
    if (ok) add_waits(c, area, local(c.node) ? own : others);
  }
  find_suspects(own, others.waits, contexts_[0], [this](int node, uint64_t offset) -> std::optional<uint64_t> {
    uint64_t v = 0;
    if (offset > contexts_[0].segment_bytes - sizeof v || !parts_->look(node, &v, offset, sizeof v)) return {};
    return v;
  });
  return own;
}

// Every segment is memory of this process, too.
attempt<> cuda_cluster::parts::look(int node, void* to, uint64_t offset, size_t bytes) const {
  return copy(self.local(node) ? node : self.local_[0], to, self.contexts_[static_cast<size_t>(node)].local + offset,
              bytes, cudaMemcpyDeviceToHost, "report of node " + std::to_string(node));
}

void cuda_cluster::parts::watch_signals() {
  on_signal.emplace(userlib::report_on_signal::asked{
      others ? "rank " + std::to_string(others->rank()) + ": " : "",
      [this] { static_cast<void>(self.abort()); },
      [this] {
        auto all = self.report();
        return all ? std::move(*all) : hang_report{};
      },
  });
}

result<> cuda_cluster::reset(uint64_t timeout_ns) {
  attempt<> ok;
  if (const auto ran = run(timeout_ns, host_sync::stream); !ran)
    ok = std::unexpected("reset: the streams must be idle: " + ran.error().text);
  ok = parts_->agree("reset", ok);  // now no process stores any more
  attempt<> clear;
  if (ok) clear = parts_->make_zero(0, contexts_[0].reserved);
  for (const auto& [begin, end] : of_teams())
    if (ok && clear) clear = parts_->make_zero(begin, end - begin);
  if (ok) ok = parts_->agree("reset", clear);
  return reported(ok);
}

}  // namespace ggas
