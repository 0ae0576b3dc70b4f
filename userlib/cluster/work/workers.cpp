// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/work/workers.hpp"

#include <cstring>

namespace ggas::detail {
namespace {

constexpr ring_shape host_ring{0, 1, worker_shape::lines_log2};

error named(int node, std::string why) {
  return {errc::out_of_memory, "workers on node " + std::to_string(node) + ": " + std::move(why)};
}

}  // namespace

node_workers::node_workers(int node, const workers_config& cfg, std::shared_ptr<pools> pool)
    : node_(node), cfg_(cfg), pool_(std::move(pool)), stream_(node) {}

result<std::unique_ptr<node_workers>> node_workers::make(cluster& c, int node, const workers_config& cfg, int in_flight,
                                                         const std::shared_ptr<pools>& pool) {
  std::unique_ptr<node_workers> w(new node_workers(node, cfg, pool));
  w->shape_ = {0, static_cast<uint32_t>(c.nodes()), cfg.groups};
  w->tickets_.resize(static_cast<size_t>(in_flight));
  std::string why;
  w->state_ = pool->take_gpu(node, w->shape_.bytes(), why);
  if (!w->state_) return named(node, std::move(why));
  w->shape_.at = static_cast<uint64_t>(w->state_ - c.segment(node));
  std::byte* const pinned = pool->take_staging(node, sizeof(worker_mailbox) + w->tickets_.size() * 8, why);
  if (!pinned) return named(node, std::move(why));
  w->mailbox_ = reinterpret_cast<worker_mailbox*>(pinned);
  w->done_ = reinterpret_cast<uint64_t*>(pinned + sizeof(worker_mailbox));
  const auto s = c.make_stream(node);
  if (!s) return s.error();
  const auto e = c.make_event(node);
  if (!e) return e.error();
  w->stream_ = *s;
  w->end_ = *e;
  return w;
}

node_workers::~node_workers() {
  if (running_) return;  // they did not end: the memory stays theirs
  if (mailbox_) pool_->give_staging(node_, reinterpret_cast<std::byte*>(mailbox_));
  if (state_) pool_->give_gpu(node_, state_);
}

result<> node_workers::launch(cluster& c) {
  const std::vector<std::byte> zero(shape_.bytes());
  if (auto ok = c.write(node_, shape_.at, zero.data(), zero.size()); !ok) return ok;
  std::memset(mailbox_, 0, sizeof *mailbox_ + tickets_.size() * 8);
  position_ = 0;
  const worker_launch l{shape_, mailbox_, cfg_.blocks, cfg_.longest_pause_ns, cfg_.timeout_ns};
  if (auto ok = cfg_.table->of(c)->launch(c, stream_, cfg_.threads, l); !ok) return ok;
  if (auto ok = c.record(end_, stream_); !ok) return ok;
  running_ = true;
  return {};
}

result<bool> node_workers::ended(cluster& c) {
  if (!running_) return true;
  const auto there = c.reached(end_);
  if (!there || *there) running_ = false;
  return there;
}

void node_workers::stop() { __atomic_store_n(&mailbox_->stop, uint64_t{1}, __ATOMIC_RELEASE); }

bool node_workers::has_room(uint64_t lines) const {
  constexpr uint32_t log2 = host_ring.lines_log2 - 2;
  for (uint64_t quarter = position_ >> log2; quarter <= (position_ + lines - 1) >> log2; ++quarter)
    if (__atomic_load_n(&mailbox_->released[quarter % 4], __ATOMIC_ACQUIRE) < quarter / 4) return false;
  return true;
}

// The next line: both halves with the number of its lap. Who reads them finds the buffers filled.
void node_workers::put(uint64_t word) {
  uint64_t* const line = mailbox_->lines + 2 * (position_ % host_ring.lines());
  const uint64_t tag = uint64_t{host_ring.tag(position_)} << 32;
  __atomic_store_n(line, (word & 0xffffffff) | tag, __ATOMIC_RELEASE);
  __atomic_store_n(line + 1, word >> 32 | tag, __ATOMIC_RELEASE);
  ++position_;
}

bool node_workers::send(size_t place, work_order o, std::span<const uint64_t> rest) {
  const uint64_t words = work_order::words + rest.size();
  if (!has_room(1 + words)) return false;
  o.done = reinterpret_cast<uintptr_t>(done_ + place);
  o.node = -1;
  o.ticket = ++tickets_[place];
  uint64_t head[work_order::words];
  std::memcpy(head, &o, sizeof o);
  put(8 * words);
  for (const uint64_t word : head) put(word);
  for (const uint64_t word : rest) put(word);
  return true;
}

std::optional<node_workers::order_end> node_workers::end_of(size_t place) const {
  const uint64_t found = __atomic_load_n(done_ + place, __ATOMIC_ACQUIRE);
  if (found >> 8 != tickets_[place]) return {};
  return order_end{static_cast<ggas_status>(found & 0xff & ~work_order::late), (found & work_order::late) != 0};
}

}  // namespace ggas::detail
