// SPDX-License-Identifier: Apache-2.0
// Memory of the segments: made on the GPUs of this process, taken over from others, mapped at the nodes' intervals.
#include <string_view>

#include "userlib/cluster/providers/cuda/parts.hpp"

namespace ggas {

using userlib::attempt;
using userlib::gpu_memory;
using userlib::mapping;

// How something went, without what came of it.
template <class T>
static attempt<> only_error(const attempt<T>& a) {
  return a ? attempt<>{} : std::unexpected(a.error());
}

attempt<> cuda_cluster::parts::add_memory(size_t bytes) {
  bytes = (bytes + granularity - 1) / granularity * granularity;
  const size_t from = mapped;
  drop_unused();
  auto mine = make_pieces(bytes);
  auto ok = agree("memory", only_error(mine));
  if (!ok) return ok;
  auto all = exchange_pieces(std::move(*mine));
  ok = all ? map_pieces(std::move(*all), bytes) : only_error(all);
  if (ok) ok = make_zero(from, bytes);
  ok = agree("mapping", ok);
  if (!ok) {
    // If others have kept the GPU busy, it may still be clearing the memory: then the memory is released by the next
    // attempt, which begins when the streams are idle, or by the end of the cluster.
    if (self.run(0, host_sync::stream)) drop_unused();
    return ok;
  }
  mapped += bytes;
  used = segments.size();
  return ok;
}

// What an attempt that failed has left.
void cuda_cluster::parts::drop_unused() {
  while (segments.size() > used) segments.pop_back();
}

attempt<cuda_cluster::parts::pieces> cuda_cluster::parts::make_pieces(size_t bytes) const {
  pieces made;
  for (int node : self.local_) {
    auto memory = gpu_memory::make(self.device(node), bytes, passing);
    if (!memory) return std::unexpected(memory.error());
    made.push_back(std::move(*memory));
  }
  return made;
}

// With a process for each node: every process passes its piece on to all. All of them take part in the exchange, even
// after an error.
attempt<cuda_cluster::parts::pieces> cuda_cluster::parts::exchange_pieces(pieces mine) const {
  if (!others) return mine;
  attempt<gpu_memory::ticket> ticket = gpu_memory::ticket{};
  if (others->size() > 1) ticket = mine[0].pass_on(passing);
  auto tickets = others->gather("handles of memory", ticket ? std::string_view(ticket->bytes) : "",
                                ticket ? ticket->handle.fd() : -1);
  if (!tickets) return std::unexpected(tickets.error());
  if (!ticket) return std::unexpected(ticket.error());
  pieces all;
  for (int node = 0; node < others->size(); ++node) {
    auto& t = (*tickets)[static_cast<size_t>(node)];
    if (node == others->rank()) {
      all.push_back(std::move(mine[0]));
      continue;
    }
    auto memory = gpu_memory::take_over({std::move(t.handle), std::move(t.bytes)}, passing);
    if (!memory) return std::unexpected("segment of node " + std::to_string(node) + ": " + memory.error());
    all.push_back(std::move(*memory));
  }
  return all;
}

attempt<> cuda_cluster::parts::map_pieces(pieces all, size_t bytes) {
  for (size_t node = 0; node < all.size(); ++node) {
    auto m = mapping::map(std::move(all[node]), window->base() + stride * node + mapped, bytes, gpus);
    if (!m) return std::unexpected("segment of node " + std::to_string(node) + ": " + m.error());
    segments.push_back(std::move(*m));
  }
  return {};
}

attempt<> cuda_cluster::parts::make_zero(size_t from, size_t bytes) const {
  for (int node : self.local_) {
    const CUdeviceptr at = window->base() + stride * static_cast<size_t>(node) + from;
    if (auto ok = GGAS_RUNTIME("GPU", cudaSetDevice, self.device(node)); !ok) return ok;
    if (auto ok =
            GGAS_RUNTIME("a segment", cudaMemsetAsync, reinterpret_cast<void*>(at), 0, bytes, self.cuda_stream(node));
        !ok)
      return ok;
  }
  // Before the others give up waiting for this process: then they learn why.
  if (const auto ran = self.run(cfg.processes.timeout_ns / 2, host_sync::stream); !ran)
    return std::unexpected("making segments zero: " + ran.error().text);
  return {};
}

}  // namespace ggas
