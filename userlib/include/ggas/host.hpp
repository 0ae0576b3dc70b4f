// SPDX-License-Identifier: Apache-2.0
// A program of a node's processor (cluster::launch_host): the memory that it may access, and the cost. Addresses are
// those of the cluster: pinned host memory, pages of the NIC, and the node's GPU segment (through the GPU's BAR).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "ggas/detail/platform/context.hpp"
#include "ggas/rma.h"

namespace ggas {

struct event;
enum class host_sync;

// Pinned memory of a node's host: NIC and GPU reach it. Host and kernels of the node use the same address.
struct host_region {
  std::byte* base;
  size_t bytes;
  uint64_t nla;  // network logical address of the first byte, the same on every node
};

// Valid inside the program only. A call returns when the processor would continue: provider sim charges the times of
// the platform's [cpu], and runs the rest of the cluster in the meantime.
class host {
 public:
  virtual ~host() = default;
  virtual int node() const = 0;
  virtual uint64_t now_ns() const = 0;
  // The processor sleeps; no one polls meanwhile.
  virtual void sleep(uint64_t ns) = 0;

  // The work of a communication library in one call (post an operation, take its notification) in addition to its
  // accesses: checks, locks, bookkeeping. The C interface of ggas/rma.h alone does none of that.
  virtual void library_call() = 0;

  // Host memory: cached loads and stores, which see the writes of devices. A page of the NIC or the GPU's segment:
  // uncached accesses over the bus; a write leaves write-combined as the platform's processor emits it. Any size and
  // alignment; a device takes its writes in order. Provider cuda: only the segment of the own node, and each access is
  // a copy that is done when the call returns.
  virtual void read(void* to, const void* from, size_t bytes) = 0;
  virtual void write(void* to, const void* from, size_t bytes) = 0;
  template <class T>
  T load(const T* from) {
    T v;
    read(&v, from, sizeof(T));
    return v;
  }
  template <class T>
  void store(T* to, T v) {
    write(to, &v, sizeof(T));
  }

  // Polls: evaluates `done` (which makes its loads through this object) again and again until it holds. Returns false
  // if it did not hold within that time.
  virtual bool wait_until(const std::function<bool()>& done, uint64_t timeout_ns) = 0;

  // With provider sim the program drives its GPU, as a program of CUDA does. It queues work of its own node by the
  // cluster's launch, copy_on_stream, record and wait; start() makes the launching calls, and returns when the
  // processor has made them. With other providers the process itself is such a program, and in a thread of launch_host
  // both calls throw std::logic_error.
  virtual void start();
  // Waits until the event, as it was recorded last, is reached, and then for the time that this kind of synchronisation
  // costs the processor (gpu.sync_..._ns). Returns false if that took longer than `timeout_ns`.
  virtual bool synchronise(const event& e, host_sync how, uint64_t timeout_ns);

  // This host for the C interface of ggas/rma.h. Its functions leave by an exception when the program is stopped or an
  // address is wrong: C code between is compiled with -fexceptions.
  const ggas_rma_io* io() const { return &io_; }

  // Context `index` of the node's NIC (cluster::host_queues) for the C interface of ggas/rma.h. Like the NIC's counts
  // its counts continue from program to program as long as the cluster lives, so use a reference, not a copy. Only one
  // program at a time may use a context. Throws std::out_of_range if there is none.
  ggas_rma_context& queue(size_t index);

 protected:
  // `queues` live longer than the host.
  explicit host(std::span<ggas_rma_context> queues);

 private:
  ggas_rma_io io_;
  std::span<ggas_rma_context> queues_;
};

}  // namespace ggas
