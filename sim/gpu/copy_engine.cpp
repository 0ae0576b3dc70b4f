// SPDX-License-Identifier: Apache-2.0
#include "sim/gpu/copy_engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ggas::gpu {

using pcie::now_ps;

void copy_engine::push(job j) {
  jobs_.push_back(std::move(j));
  if (jobs_.size() == 1) begin();
}

void copy_engine::begin() {
  const job& j = jobs_.front();
  begun_ = 0;
  if (j.from.own && j.to.own) {  // each byte is read and written
    const double ps = 2e12 * double(j.bytes) / cfg_.memory_bytes_per_second;
    return agenda_.at(now_ps() + uint64_t(ps), *this);
  }
  if (j.from.own || j.bytes == 0) return send(j.from.own);
  if (!j.to.own) between_.resize(j.bytes);
  fetch(j.to.own ? j.to.own : between_.data());
}

void copy_engine::run() {
  const job& j = jobs_.front();
  std::memmove(j.to.own, j.from.own, j.bytes);
  end();
}

// The part of the remaining bytes up to the next multiple of a size on the bus.
uint64_t copy_engine::piece(uint64_t bus, uint64_t most) const {
  return std::min(jobs_.front().bytes - begun_, most - bus % most);
}

void copy_engine::send(const std::byte* from) {
  const job& j = jobs_.front();
  sending_ = from;
  while (begun_ < j.bytes && host_.room()) {
    const uint64_t bus = j.to.bus + begun_, n = piece(bus, mps_);
    host_.store(bus, {from + begun_, n}, nullptr);
    begun_ += n;
  }
  if (begun_ < j.bytes) return;  // resume() continues
  sending_ = nullptr;
  host_.flush([this, epoch = epoch_](bool) {
    if (epoch == epoch_) end();
  });
}

void copy_engine::resume() {
  if (sending_) send(sending_);
}

void copy_engine::fetch(std::byte* to) {
  const job& j = jobs_.front();
  while (begun_ < j.bytes && reads_ < cfg_.outstanding_reads) {
    const uint64_t bus = j.from.bus + begun_, at = begun_, n = piece(bus, mrrs_);
    begun_ += n;
    ++reads_;
    host_.read(bus, uint32_t(n), [this, epoch = epoch_, to, bus, at, n](pcie::read_result&& r) {
      if (epoch != epoch_) return;
      const auto* const bytes = reinterpret_cast<const std::byte*>(r.dws.data()) + bus % 4;
      if (r.ok()) std::copy_n(bytes, n, to + at);
      if (!r.ok() && jobs_.front().refused) jobs_.front().refused(bus);
      --reads_;
      if (begun_ < jobs_.front().bytes) return fetch(to);
      if (reads_ == 0) fetched();
    });
  }
}

void copy_engine::fetched() {
  if (jobs_.front().to.own) return end();
  begun_ = 0;
  send(between_.data());
}

// The next copy is begun first: what waits for this one may push another.
void copy_engine::end() {
  const job done = std::move(jobs_.front());
  jobs_.pop_front();
  if (!jobs_.empty()) begin();
  if (done.moved) done.moved();
}

void copy_engine::forget() {
  ++epoch_;
  jobs_.clear();
  sending_ = nullptr;
  reads_ = 0;
}

}  // namespace ggas::gpu
