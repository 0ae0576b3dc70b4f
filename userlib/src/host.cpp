// SPDX-License-Identifier: Apache-2.0
#include "ggas/host.hpp"

namespace ggas {
namespace {

void io_write(void* self, volatile void* to, const void* from, uint32_t bytes) {
  static_cast<host*>(self)->write(const_cast<void*>(to), from, bytes);
}
uint64_t io_read(void* self, const volatile void* from) {
  return static_cast<host*>(self)->load(static_cast<const uint64_t*>(const_cast<const void*>(from)));
}

unsigned char* bytes(char* p) { return reinterpret_cast<unsigned char*>(p); }
const unsigned char* bytes(const char* p) { return reinterpret_cast<const unsigned char*>(p); }

}  // namespace

host::host() : io_{.self = this, .write = io_write, .read = io_read} {}

ggas_rma_context open_queue(const host& h, const rma_queue& q) {
  ggas_rma_context c{};
  c.io = h.io();
  c.page = bytes(q.page);
  c.status = bytes(q.status);
  c.notifications = bytes(q.notifications);
  c.mailbox = bytes(q.mailbox);
  c.work_queue = bytes(q.slots);
  c.notify_log2 = q.notify_log2;
  c.mailbox_log2 = q.mailbox_log2;
  c.queue_log2 = q.slots_log2;
  ggas_rma_start(&c);
  return c;
}

}  // namespace ggas
