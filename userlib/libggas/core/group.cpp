// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/core/group.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

namespace ggas::library {

namespace {

// Held for the time of a call. Threads that come meanwhile wait, as long as their call may.
class turn {
 public:
  turn(std::atomic<bool>& busy, limit until) : busy_(busy), mine_(!busy.exchange(true)) {
    for (unsigned round = 0; !mine_ && !until.passed(); ++round) {
      if (round < yields)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(nap);
      mine_ = !busy.exchange(true);
    }
  }
  ~turn() {
    if (mine_) busy_.store(false, std::memory_order_release);
  }
  explicit operator bool() const { return mine_; }

 private:
  static constexpr unsigned yields = 100;
  static constexpr std::chrono::microseconds nap{50};
  std::atomic<bool>& busy_;
  bool mine_;
};

}  // namespace

ggas_rc group::add(unsigned rank) {
  const turn mine(busy_, limit::after(0));
  if (!mine) return fail(GGAS_ERR_STATE, "another thread commits this group");
  if (exchange_) return fail(GGAS_ERR_STATE, "rank ", rank, ": the group's commit has begun");
  const auto at = std::lower_bound(members_.begin(), members_.end(), rank);
  if (at != members_.end() && *at == rank) return fail(GGAS_ERR_RANK, "rank ", rank, " is in the group already");
  members_.insert(at, rank);
  return GGAS_OK;
}

ggas_rc group::commit(transport& t, limit until) {
  const turn mine(busy_, until);
  if (!mine) return GGAS_TIMEOUT;
  if (committed_) return fail(GGAS_ERR_STATE, "the group is committed");
  const auto at = std::find(members_.begin(), members_.end(), t.rank());
  if (at == members_.end()) return fail(GGAS_ERR_GROUP, "rank ", t.rank(), " is not in the group it commits");
  me_ = static_cast<size_t>(at - members_.begin());
  if (!exchange_) exchange_ = t.group(members_);
  if (!exchange_) return GGAS_ERR_GROUP;
  const ggas_rc rc = exchange_->commit(until);
  committed_ = rc == GGAS_OK;
  return rc;
}

ggas_rc group::barrier(limit until) {
  const turn mine(busy_, until);
  return mine ? run({}, until) : GGAS_TIMEOUT;
}

ggas_rc group::allreduce(const reduction& how, const void* from, void* to, gpus* g, limit until) {
  const turn mine(busy_, until);
  if (!mine) return GGAS_TIMEOUT;
  const call c{how, static_cast<const std::byte*>(from), static_cast<std::byte*>(to)};
  const bool on_gpu = g && g->device() && (g->holds(from) || g->holds(to));
  return on_gpu ? reduce_on_gpus(c, *g->device(), until) : run(c, until);
}

// In memory of the host, between two copies.
ggas_rc group::reduce_on_gpus(call c, gpu::own_gpu& d, limit until) {
  const size_t bytes = c.how.elements * c.how.element_bytes;
  const auto reported = [](const std::string& why) {
    return why.empty() ? GGAS_OK : fail(GGAS_ERR_SYSTEM, "GPU: ", why);
  };
  if (active_ && !(c == on_gpu_)) return run(c, until);  // which says that another one is under way
  if (!active_) {
    on_gpu_ = c;
    staged_.resize(bytes);
    if (ggas_rc rc = reported(d.copy(staged_.data(), c.from, bytes)); rc != GGAS_OK) return rc;
  }
  const ggas_rc rc = run({c.how, staged_.data(), staged_.data()}, until);
  return rc == GGAS_OK ? reported(d.copy(c.to, staged_.data(), bytes)) : rc;
}

ggas_rc group::run(const call& c, limit until) {
  if (!committed_) return fail(GGAS_ERR_GROUP, "the group is not committed");
  if (broken_ != GGAS_OK) return fail(broken_, "a collective of this group failed before; make a new one");
  if (active_ && !(c == call_))
    return fail(GGAS_ERR_STATE, "another collective of this group timed out and must be called to its end first");
  if (!active_) {
    active_ = true;
    call_ = c;
    round_ = 0;
    arrived_ = false;
  }
  const ggas_rc rc = go_on(until);
  if (rc == GGAS_TIMEOUT) return rc;
  active_ = false;
  broken_ = rc;
  return rc;
}

ggas_rc group::go_on(limit until) {
  if (rounds() > 1) until.begin();
  for (; round_ < rounds(); ++round_) {
    if (!arrived_) before();
    arrived_ = true;
    if (ggas_rc rc = exchange_->await(until); rc != GGAS_OK) return rc;
    if (ggas_rc rc = after(until); rc != GGAS_OK) return rc;
    arrived_ = false;
  }
  return GGAS_OK;
}

// Small ones take a round; others two for each block: all put in their elements, then all take what each has reduced.
size_t group::rounds() const {
  return small() ? 1 : 2 * ((call_.how.elements + block_elements() - 1) / block_elements());
}

size_t group::count() const { return std::min(block_elements(), call_.how.elements - first()); }

group::head group::reported() const {
  const reduction& r = call_.how;
  const uint64_t what = r.reducer ? 1000 : r.elements ? 100 + uint64_t(r.type) * 10 + uint64_t(r.operation) : 0;
  return {r.elements, r.element_bytes, what};
}

void group::before() {
  std::array<std::byte, exchange::part_most> part;
  const head mine = reported();
  std::memcpy(part.data(), &mine, sizeof mine);
  size_t bytes = sizeof mine;
  const size_t element = call_.how.element_bytes;
  if (small() && element) {
    std::memcpy(part.data() + bytes, call_.from, call_.how.elements * element);
    bytes += call_.how.elements * element;
  } else if (!small() && round_ % 2 == 0) {
    std::memcpy(exchange_->mine(exchange::block::input, unsigned(round_ / 2)), call_.from + first() * element,
                count() * element);
  }
  exchange_->arrive(part.data(), bytes);
}

ggas_rc group::after(limit until) {
  if (ggas_rc rc = compare(); rc != GGAS_OK) return rc;
  if (small()) return add_all(until);
  if (round_ % 2 == 0) return add_share(until);
  return take_shares();
}

ggas_rc group::compare() const {
  const head mine = reported();
  for (size_t m = 0; m < members_.size(); ++m) {
    if (std::memcmp(exchange_->part(m), &mine, sizeof mine) == 0) continue;
    return fail(GGAS_ERR_MISMATCH, "rank ", members_[m], " called another collective, or with other sizes");
  }
  return GGAS_OK;
}

ggas_rc group::add_all(limit until) {
  const reduction& r = call_.how;
  if (r.elements == 0) return GGAS_OK;
  std::memcpy(call_.to, exchange_->part(0) + sizeof(head), r.elements * r.element_bytes);
  for (size_t m = 1; m < members_.size(); ++m)
    if (ggas_rc rc = r.add(call_.to, exchange_->part(m) + sizeof(head), r.elements, until); rc != GGAS_OK) return rc;
  return GGAS_OK;
}

// This member reduces its share of the block for all.
ggas_rc group::add_share(limit until) {
  const reduction& r = call_.how;
  const auto turn = static_cast<unsigned>(round_ / 2);
  const size_t begin = share(me_) * r.element_bytes, n = share(me_ + 1) - share(me_);
  if (n == 0) return GGAS_OK;
  std::byte* const to = exchange_->mine(exchange::block::result, turn) + begin;
  for (size_t m = 0; m < members_.size(); ++m) {
    const std::byte* more = nullptr;
    ggas_rc rc = exchange_->look(m, exchange::block::input, turn, begin, n * r.element_bytes, more);
    if (rc == GGAS_OK && m == 0)
      std::memcpy(to, more, n * r.element_bytes);
    else if (rc == GGAS_OK)
      rc = r.add(to, more, n, until);
    if (rc != GGAS_OK) return rc;
  }
  return GGAS_OK;
}

ggas_rc group::take_shares() {
  const size_t element = call_.how.element_bytes;
  for (size_t m = 0; m < members_.size(); ++m) {
    const size_t begin = share(m) * element, bytes = share(m + 1) * element - begin;
    const std::byte* from = nullptr;
    if (bytes == 0) continue;
    const ggas_rc rc = exchange_->look(m, exchange::block::result, unsigned(round_ / 2), begin, bytes, from);
    if (rc != GGAS_OK) return rc;
    std::memcpy(call_.to + first() * element + begin, from, bytes);
  }
  return GGAS_OK;
}

}  // namespace ggas::library
