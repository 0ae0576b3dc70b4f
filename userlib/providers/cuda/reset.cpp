// SPDX-License-Identifier: Apache-2.0
// After a failure: who waited for what, the end of waits, and a new start of barriers and collectives.
#include "ggas/detail/platform/layout.hpp"
#include "userlib/providers/cuda/parts.hpp"

namespace ggas {

using userlib::attempt;

// By the copy engine: kernels that wait may hold every multiprocessor. Every segment is memory of this process, too.
std::string cuda_cluster::abort() {
  static constexpr uint64_t raised = 1;
  attempt<> ok = GGAS_RUNTIME("GPU", cudaSetDevice, parts_->gpus[0]);
  for (size_t node = 0; ok && node < contexts_.size(); ++node)
    ok = GGAS_RUNTIME("abort of node " + std::to_string(node), cudaMemcpyAsync, contexts_[node].local + layout::aborted,
                      &raised, sizeof raised, cudaMemcpyHostToDevice, parts_->aborts);
  return ok ? "" : ok.error();
}

// Beside kernels that run, as abort().
hang_report cuda_cluster::report(std::string& why) {
  hang_report all;
  std::vector<std::byte> area(layout::wait_bytes);
  attempt<> ok = GGAS_RUNTIME("GPU", cudaSetDevice, parts_->gpus[0]);
  for (const int node : local_) {
    const context& c = device_context(node);
    const uint64_t at = layout::of(static_cast<uint64_t>(c.nodes), c.reserved).waits_in_vain();
    const std::string name = "report of node " + std::to_string(node);
    if (ok)
      ok = GGAS_RUNTIME(name, cudaMemcpyAsync, area.data(), c.local + at, area.size(), cudaMemcpyDeviceToHost,
                        parts_->aborts);
    if (ok) ok = GGAS_RUNTIME(name, cudaStreamSynchronize, parts_->aborts);
    if (ok) add_waits(c, area, all);
  }
  find_missing(all);
  why = ok ? "" : ok.error();
  return all;
}

void cuda_cluster::parts::watch_signals() {
  on_signal.emplace(userlib::report_on_signal::asked{
      others ? "rank " + std::to_string(others->rank()) + ": " : "",
      [this] { static_cast<void>(self.abort()); },
      [this] {
        std::string why;
        return self.report(why);
      },
  });
}

std::string cuda_cluster::reset() {
  attempt<> ok;
  if (std::string busy = run(0); !busy.empty()) ok = std::unexpected("reset: the streams must be idle: " + busy);
  ok = parts_->agree("reset", ok);  // now nobody stores any more
  if (ok) ok = parts_->agree("reset", parts_->make_zero(0, contexts_[0].reserved));
  return ok ? "" : ok.error();
}

}  // namespace ggas
