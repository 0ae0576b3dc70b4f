// SPDX-License-Identifier: Apache-2.0
// The processes of an MPI program, one on each simulated node: the processor launches kernels, copies data of its GPU
// and sends messages. For the variants `mpi` of the benchmarks.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/cluster/runner.hpp"
#include "benchmarks/messages/collectives.hpp"
#include "benchmarks/messages/messages.hpp"

namespace ggas::bench {

class mpi_process {
 public:
  mpi_process(cluster& c, host& h, const event& done, uint64_t timeout_ns)
      : machine(c),
        processor(h),
        net(c, h, 0, {.timeout_ns = timeout_ns}),
        collectives(net, h, c.nodes()),
        done_(done),
        timeout_ns_(timeout_ns) {}

  int node() const { return processor.node(); }
  // The start of pinned memory is for barriers; the rest is the program's.
  static constexpr size_t own_bytes = 64;
  std::byte* pinned() const { return machine.host_memory(node()).base + own_bytes; }

  // The value of a call of the cluster's; false: it failed.
  bool queued(const result<>& ok) {
    if (!ok) fail(ok.error().text);
    return fault_.empty();
  }
  // cudaStreamSynchronize: launches what is queued, and waits for all of it.
  bool synchronise() {
    if (!queued(machine.record(done_, node()))) return false;
    processor.start();
    if (!processor.synchronise(done_, host_sync::stream, timeout_ns_)) fail("the GPU did not end in time");
    return fault_.empty();
  }
  // cudaMemcpy, after what is queued.
  bool copy(void* to, const void* from, size_t bytes) {
    return queued(machine.copy_on_stream(node(), to, from, bytes)) && synchronise();
  }
  bool barrier() { return collectives.barrier(machine.host_memory(node()).base); }

  void fail(const std::string& why) {
    if (fault_.empty()) fault_ = why;
  }
  std::string fault() const { return fault_.empty() ? net.fault() : fault_; }

  cluster& machine;
  host& processor;
  messages net;
  host_collectives collectives;

 private:
  event done_;
  uint64_t timeout_ns_;
  std::string fault_;
};

// Whether this run has such processes: at most 64 simulated nodes, and no --ranks, where processors run no programs.
bool has_processes(const session& s);
// Contexts and pinned memory for them, added to a wish.
session::wish with_processes(const session& s, session::wish w, size_t pinned_bytes);
// A process on every node; the run `what` ends when all have. The error is the first node's.
result<> run_processes(session& s, const std::string& what, const std::function<void(mpi_process&)>& body);

}  // namespace ggas::bench
