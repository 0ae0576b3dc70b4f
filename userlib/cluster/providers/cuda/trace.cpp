// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/providers/cuda/trace.hpp"

#include "userlib/cluster/providers/cuda/parts.hpp"

namespace ggas {
namespace userlib {

attempt<traced_memory> traced_memory::make() {
  void* memory = nullptr;
  const size_t bytes = (places + 1) * sizeof(call_record);
  if (auto ok = GGAS_RUNTIME("memory of the trace", cudaMalloc, &memory, bytes); !ok)
    return std::unexpected(ok.error());
  traced_memory made(static_cast<call_record*>(memory));
  auto ok = GGAS_RUNTIME("memory of the trace", cudaMemset, memory, 0, bytes);
  if (!ok) return std::unexpected(ok.error());
  return made;
}

traced_memory::~traced_memory() {
  if (records_) cudaFree(records_);
}

attempt<traced_node> traced_memory::read(int node) const {
  traced_node read{node, std::vector<call_record>(places)};
  auto ok = GGAS_RUNTIME("the trace", cudaMemcpy, read.records.data(), records_, places * sizeof(call_record),
                         cudaMemcpyDeviceToHost);
  if (!ok) return std::unexpected(ok.error());
  return read;
}

}  // namespace userlib

using userlib::attempt;

attempt<> cuda_cluster::parts::start_trace() {
  trace_file = userlib::next_trace_file(others ? others->rank() : -1);
  if (trace_file.empty()) return {};
  for (const int node : self.local_) {
    if (auto ok = GGAS_RUNTIME("GPU", cudaSetDevice, self.device(node)); !ok) return ok;
    auto memory = userlib::traced_memory::make();
    if (!memory) return std::unexpected(memory.error());
    self.contexts_[static_cast<size_t>(node)].trace = memory->trace();
    traces.push_back(std::move(*memory));
  }
  return {};
}

attempt<> cuda_cluster::parts::end_trace() {
  std::vector<userlib::traced_node> all;
  for (size_t i = 0; i < traces.size(); ++i) {
    auto node = traces[i].read(self.local_[i]);
    if (!node) return std::unexpected(node.error());
    all.push_back(std::move(*node));
  }
  traces.clear();
  const std::string why = all.empty() ? "" : userlib::write_call_trace(trace_file, all);
  return why.empty() ? attempt<>{} : std::unexpected(why);
}

}  // namespace ggas
