// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/wire.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ggas::fabric {

wire::wire(std::string name, const wire_config& cfg, flit_sink& to)
    : name_(std::move(name)),
      cfg_(cfg),
      to_(to),
      flit_ps_(uint64_t(std::llround(cfg.flit_bits * 1e12 / cfg.bits_per_second))) {}

void wire::faults(std::unique_ptr<fault_injector> f) {
  faults_ = std::move(f);
  for (const auto& cut : faults_->cuts()) {
    to_.carrier(false, cut.from_ps + cfg_.latency_ps);
    if (cut.to_ps != fault_rule::never) to_.carrier(true, cut.to_ps + cfg_.latency_ps);
  }
}

void wire::plug(bool in, uint64_t now_ps) {
  plugged_ = in;
  to_.carrier(in, now_ps + cfg_.latency_ps);
}

void wire::send(const nic::flit& f, uint64_t now_ps) {
  // One flit waits in a register while the line is still busy with the one before, so the average is the line rate
  // although flits are sent at clock edges only.
  const uint64_t start = std::max(now_ps, line_ps_);
  const uint64_t end = start + flit_ps_;
  line_ps_ = end;
  free_ps_ = start;

  ++stats_.flits;
  const fault what = faults_ ? faults_->next(index_, now_ps) : fault{};
  ++index_;
  if (!plugged_ || what.kind == fault_kind::cut || what.kind == fault_kind::drop) {
    ++stats_.dropped;
    return;
  }
  nic::flit out = f;
  if (what.kind == fault_kind::corrupt) {
    const unsigned bit = what.bit % cfg_.flit_bits;
    out.data[bit / 64] ^= 1ull << bit % 64;
    ++stats_.corrupted;
  }
  if (on_flit) on_flit(out, start, end);
  to_.deliver(out, end + cfg_.latency_ps);
  if (what.kind == fault_kind::duplicate) {
    line_ps_ += flit_ps_;
    free_ps_ = line_ps_;
    ++stats_.duplicated;
    if (on_flit) on_flit(out, end, end + flit_ps_);
    to_.deliver(out, end + flit_ps_ + cfg_.latency_ps);
  }
}

}  // namespace ggas::fabric
