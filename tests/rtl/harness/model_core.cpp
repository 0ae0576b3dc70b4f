// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/harness/model_core.hpp"

#include <array>
#include <deque>

#include "ggas_regs.h"
#include "sim/nic/reference/reference_model.hpp"

namespace ggas::test {

namespace {

class model_core : public nic::nic_core {
 public:
  model_core(unsigned width, const nic::host_config& cfg) : width_(width), model_(width, cfg), decoder_(width) {
    model_.link_up(true);
  }
  unsigned data_width() const override { return width_; }
  unsigned np_credits() const override { return 32; }
  void msix(bool, bool) override {}  // the model has no interrupts, its host no configuration space
  void bus_master(bool) override {}
  void sizes(uint16_t, uint16_t) override {}
  void reset_function() override {}
  bool in_reset() const override { return false; }

  void push(const pcie::tlp& t) override {
    // What only a NIC with a link and a clock can say.
    if (t.kind == pcie::tlp_kind::mrd && t.bar == 0 && t.addr == GGAS_REG_LINK_STATUS && t.len_dw == 2) {
      pcie::tlp c{.kind = pcie::tlp_kind::cpld, .len_dw = 2, .tag = t.tag, .requester = t.requester};
      c.completer = completer_;
      c.byte_count = 8;
      c.lower_addr = uint8_t(t.addr & 0x7f);
      c.data = {2, 0};
      out_[1].push_back(c);
      return;
    }
    model_.from_host(t);
    drain();
  }
  unsigned posted_pending() const override { return 0; }
  unsigned non_posted_pending() const override { return 0; }
  unsigned completions_pending() const override { return 0; }

  std::optional<pcie::tlp> pop() override {
    for (unsigned i = 0; i < 2; ++i) {
      if (out_[i].empty()) continue;
      const bool ok = i == 1 ? completions_ : out_[i].front().posted() ? posted_ : non_posted_;
      if (!ok && i == 0) return std::nullopt;  // completions stay after requests
      if (!ok) continue;
      pcie::tlp t = std::move(out_[i].front());
      out_[i].pop_front();
      return t;
    }
    return std::nullopt;
  }
  void gate(bool posted, bool non_posted, bool completions) override {
    posted_ = posted;
    non_posted_ = non_posted;
    completions_ = completions;
  }

  void link_in(unsigned, const nic::flit& f) override {
    if (const auto p = decoder_.push(f)) model_.from_link(*p);
    drain();
  }
  std::optional<nic::flit> link_out(unsigned) override {
    if (flits_.empty() || !ready_) return std::nullopt;
    const nic::flit f = flits_.front();
    flits_.pop_front();
    return f;
  }
  void link_ready(unsigned, bool ready) override { ready_ = ready; }
  void link_up(unsigned, bool up) override { model_.link_up(up); }
  void step(uint64_t time) override {
    ++steps_;
    model_.advance(time);
    drain();
  }
  bool busy() const override { return !flits_.empty() || !out_[0].empty() || !out_[1].empty(); }
  bool timer() const override { return model_.responses_waiting() != 0 || model_.rma_waits(); }
  uint64_t steps() const override { return steps_; }
  void set_completer(uint16_t id) { completer_ = id; }

 private:
  void drain() {
    while (auto r = model_.pop_request()) out_[0].push_back(std::move(r->tlp));
    while (auto c = model_.pop_completion()) out_[1].push_back(std::move(*c));
    while (auto p = model_.pop_packet()) {
      p->seq = seq_++;
      p->version = nic::packet_version;
      for (const auto& f : nic::to_flits(*p, width_)) flits_.push_back(f);
    }
    while (model_.pop_event()) {
    }
  }

  unsigned width_;
  nic::reference_model model_;
  nic::flit_decoder decoder_;
  std::array<std::deque<pcie::tlp>, 2> out_;  // requests, completions
  std::deque<nic::flit> flits_;
  uint8_t seq_ = 0;
  uint16_t completer_ = 0;
  uint64_t steps_ = 0;
  bool posted_ = true, non_posted_ = true, completions_ = true, ready_ = true;
};

}  // namespace

std::unique_ptr<nic::nic_core> make_model_core(unsigned data_width, const nic::host_config& cfg) {
  auto core = std::make_unique<model_core>(data_width, cfg);
  core->set_completer(cfg.bus_id);
  return core;
}

}  // namespace ggas::test
