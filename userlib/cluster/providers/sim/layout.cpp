// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/providers/sim/layout.hpp"

#include <algorithm>
#include <bit>

#include "userlib/cluster/providers.hpp"

namespace ggas::userlib {

namespace {

constexpr size_t page = 4096, line = 64;
constexpr size_t record_bytes = 16, slot_bytes = 32, message_bytes = 128, words_bytes = 64;
using place = queue_config::place;

// 2 MB pages for what fills one, else 64 KB.
unsigned class_for(size_t bytes) { return bytes >= page_bytes_of_class(2) ? 2 : 1; }

// Hands out places, in sequence.
class area {
 public:
  size_t take(size_t bytes, size_t align) {
    const size_t at = round_up(used_, align);
    used_ = at + bytes;
    return at;
  }
  size_t bytes() const { return std::max(round_up(used_, page), page); }

 private:
  size_t used_ = 0;
};

struct areas {
  area gpu, host;
  context_plan::part take(place where, size_t bytes, size_t align) {
    if (where == place::none) return {};
    return {where, (where == place::gpu ? gpu : host).take(bytes, align)};
  }
};

struct wishes {
  place notifications, status, work_queue, mailbox, words;
};

context_plan plan(areas& a, const queue_config& q, const wishes& w, unsigned vpid) {
  return {
      .vpid = vpid,
      .notifications = a.take(w.notifications, record_bytes << q.notify_log2, page),
      .status = a.take(w.status, record_bytes, line),
      .work_queue = a.take(w.work_queue, slot_bytes << q.slots_log2, page),
      .mailbox = a.take(w.mailbox, message_bytes << q.mailbox_log2, page),
      .words = a.take(w.words, words_bytes, line),
  };
}

}  // namespace

memory_plan::memory_plan(const cluster_config& cfg) {
  const queue_config& q = cfg.queues;
  segment_class = class_for(cfg.segment_bytes);
  host_class = class_for(cfg.host_bytes);
  segment_bytes = round_up(cfg.segment_bytes, page_bytes_of_class(segment_class));
  host_bytes = round_up(cfg.host_bytes, page_bytes_of_class(host_class));
  areas a;
  const wishes kernel{q.notifications, q.status, q.work_queue, q.mailbox, place::gpu};
  for (int i = 0; i < q.count; ++i) kernels.push_back(plan(a, q, kernel, unsigned(i)));
  const wishes program{place::host, place::host, q.host_work_queue ? place::host : place::none, place::host,
                       place::host};
  for (int i = 0; i < q.host_count; ++i) programs.push_back(plan(a, q, program, first_program_vpid + unsigned(i)));
  collectives_at = a.gpu.take(collectives_bytes, collectives_bytes);
  gpu_rings_bytes = a.gpu.bytes();
  host_rings_bytes = a.host.bytes();
}

size_t memory_plan::bar_bytes() const { return 2 * std::bit_ceil(std::max(segment_bytes, gpu_rings_bytes)); }

}  // namespace ggas::userlib
