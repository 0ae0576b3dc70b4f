// SPDX-License-Identifier: Apache-2.0
// A nic_core made of the reference model: tests of the platform that need a NIC but not its cycles. Packets cross the
// link without the link protocol; each TLP and flit takes a cycle.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "ggas_regs.h"
#include "sim/nic/nic_core.hpp"
#include "sim/nic/packet.hpp"
#include "sim/nic/reference/reference_model.hpp"
#include "sim/pcie/packet.hpp"

namespace ggas::test {

class model_core : public nic::nic_core {
 public:
  model_core(unsigned width, const nic::host_config& cfg)
      : width_(width), model_(width, cfg), decoder_(width), id_(cfg.bus_id) {}

  unsigned data_width() const override { return width_; }
  unsigned np_credits() const override { return 32; }
  void msix(bool, bool) override {}  // the model has no interrupts, its host no configuration space
  void bus_master(bool) override {}
  void sizes(uint16_t, uint16_t) override {}
  void reset_function() override {}
  bool in_reset() const override { return false; }
  void push(const pcie::tlp& t) override { in_.push_back(t); }
  unsigned posted_pending() const override { return unsigned(in_.size()); }
  unsigned non_posted_pending() const override { return 0; }
  unsigned completions_pending() const override { return 0; }
  std::optional<pcie::tlp> pop() override {
    if (out_.empty()) return std::nullopt;
    pcie::tlp t = std::move(out_.front());
    out_.pop_front();
    return t;
  }
  void gate(bool, bool, bool) override {}
  void link_in(unsigned, const nic::flit& f) override {
    if (auto p = decoder_.push(f)) model_.from_link(*p);
  }
  std::optional<nic::flit> link_out(unsigned) override { return std::exchange(sent_, std::nullopt); }
  void link_ready(unsigned, bool ready) override { ready_ = ready; }
  void link_up(unsigned, bool up) override {
    up_ = up;
    model_.link_up(up);
  }
  void step(uint64_t time) override {
    ++steps_;
    model_.advance(time);
    if (!in_.empty()) {
      if (!link_status(in_.front())) model_.from_host(in_.front());
      in_.pop_front();
    }
    while (auto r = model_.pop_request()) out_.push_back(std::move(r->tlp));
    while (auto c = model_.pop_completion()) out_.push_back(std::move(*c));
    while (auto p = model_.pop_packet())
      for (const auto& f : nic::to_flits(*p, width_)) flits_.push_back(f);
    while (model_.pop_event()) {
    }
    if (ready_ && !flits_.empty()) {
      sent_ = flits_.front();
      flits_.pop_front();
    }
  }
  bool busy() const override { return !in_.empty() || !flits_.empty(); }
  bool timer() const override { return model_.rma_waits(); }
  uint64_t steps() const override { return steps_; }

 private:
  // The model knows nothing of the link's state.
  bool link_status(const pcie::tlp& t) {
    if (t.kind != pcie::tlp_kind::mrd || t.bar != 0 || t.addr != GGAS_REG_LINK_STATUS) return false;
    const uint32_t dws[2] = {up_ ? uint32_t(GGAS_LINK_STATE_UP) : uint32_t(GGAS_LINK_STATE_DOWN), 0};
    for (auto& c : pcie::read_completions(t, std::span(dws, t.len_dw), 256, 128, id_)) out_.push_back(std::move(c));
    return true;
  }

  unsigned width_;
  nic::reference_model model_;
  nic::flit_decoder decoder_;
  uint16_t id_;
  std::deque<pcie::tlp> in_, out_;
  std::deque<nic::flit> flits_;
  std::optional<nic::flit> sent_;
  bool ready_ = false, up_ = false;
  uint64_t steps_ = 0;
};

}  // namespace ggas::test
