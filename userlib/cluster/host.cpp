// SPDX-License-Identifier: Apache-2.0
#include "ggas/host.hpp"

#include <stdexcept>
#include <string>

namespace ggas {
namespace {

void io_write(void* self, volatile void* to, const void* from, uint32_t bytes) {
  static_cast<host*>(self)->write(const_cast<void*>(to), from, bytes);
}
uint64_t io_read(void* self, const volatile void* from) {
  return static_cast<host*>(self)->load(static_cast<const uint64_t*>(const_cast<const void*>(from)));
}

}  // namespace

host::host(std::span<ggas_rma_context> queues)
    : io_{.self = this, .write = io_write, .read = io_read}, queues_(queues) {}

void host::start() { throw std::logic_error("host::start: programs drive their GPU with provider sim alone"); }
bool host::synchronise(const event&, host_sync, uint64_t) {
  throw std::logic_error("host::synchronise: programs drive their GPU with provider sim alone");
}

ggas_rma_context& host::queue(size_t index) {
  if (index >= queues_.size())
    throw std::out_of_range("queue " + std::to_string(index) + ": the node has " + std::to_string(queues_.size()) +
                            " contexts of the NIC for host programs");
  queues_[index].io = io();
  return queues_[index];
}

}  // namespace ggas
