// SPDX-License-Identifier: Apache-2.0
// After a failure: the end of waits, and a new start of barriers and collectives.
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

std::string cuda_cluster::reset() {
  attempt<> ok;
  if (std::string busy = run(0); !busy.empty()) ok = std::unexpected("reset: the streams must be idle: " + busy);
  ok = parts_->agree("reset", ok);  // now nobody stores any more
  if (ok) ok = parts_->agree("reset", parts_->make_zero(0, contexts_[0].reserved));
  return ok ? "" : ok.error();
}

}  // namespace ggas
