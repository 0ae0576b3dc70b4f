// SPDX-License-Identifier: Apache-2.0
// The Verilated NIC as a nic_core: a module for each data width and number of links, GGAS_NIC_WIDTH and GGAS_NIC_LINKS
// of the Verilated class GGAS_NIC.
#include <verilated.h>
#if VM_COVERAGE
#include <unistd.h>
#include <verilated_cov.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <string>
#include <type_traits>

#include "sim/nic/nic_core.hpp"
#include "sim/nic/rtl/tlp_pins.hpp"
#include "sim/trace/toggle_count.hpp"
#include "sim/trace/wave_file.hpp"

#include GGAS_NIC_HEADER

namespace ggas::nic {
namespace {

using pcie::tlp;
using pins::get_word;
using pins::pack;
using pins::put_words;
using pins::unpack;

constexpr unsigned np_credit_count = 32;  // NP_CREDITS of nic_top
constexpr int all_levels = 99;            // of the model's hierarchy, for waves

// TLPs on their way into one stream of the NIC, a beat a step.
template <unsigned W>
class feeder {
 public:
  bool active() const { return active_; }
  const tlp& current() const { return tlp_; }
  bool sop() const { return sent_ == 0; }
  bool eop() const { return (sent_ + 1) * (W / 32) >= tlp_.data.size(); }

  void start(tlp&& t) {
    tlp_ = std::move(t);
    sent_ = 0;
    active_ = true;
  }
  template <class Port>
  void drive(Port& port) const {
    const size_t at = sent_ * (W / 32);
    if (at < tlp_.data.size()) put_words<W>(port, tlp_.data.data() + at, tlp_.data.size() - at);
  }
  // The beat was taken: true if it was the last one.
  bool advance() {
    active_ = !eop();
    ++sent_;
    return !active_;
  }

 private:
  tlp tlp_;
  size_t sent_ = 0;
  bool active_ = false;
};

// TLPs on their way out of one stream.
template <unsigned W>
class collector {
 public:
  bool inside() const { return inside_; }
  template <class Hdr, class Port>
  void beat(bool sop, bool eop, const Hdr& hdr, const Port& port, std::deque<tlp>& out) {
    if (sop) tlp_ = unpack(hdr);
    if (tlp_.has_data()) {
      const size_t n = std::min<size_t>(W / 32, tlp_.len_dw - std::min<size_t>(tlp_.len_dw, tlp_.data.size()));
      for (size_t i = 0; i < n; ++i) tlp_.data.push_back(get_word<W>(port, i));
    }
    inside_ = !eop;
    if (eop) out.push_back(std::move(tlp_));
  }

 private:
  tlp tlp_;
  bool inside_ = false;
};

// L: its links.
template <class V, unsigned W, unsigned L>
class nic_rtl final : public nic_core {
 public:
  nic_rtl(const host_config& cfg, const char* name) {
    context_ = std::make_unique<VerilatedContext>();
    context_->traceEverOn(true);  // before the first evaluation, or waves can never be switched on
    top_ = std::make_unique<V>(context_.get(), name);
    top_->cfg_mps_i = cfg.mps;
    top_->cfg_mrrs_i = cfg.mrrs;
    top_->cfg_bus_id_i = cfg.bus_id;
    top_->cfg_clock_khz_i = cfg.clock_khz;
    top_->cfg_serial_i = cfg.serial;
    top_->cfg_msix_enable_i = 1;
    top_->cfg_bus_master_i = 1;
    top_->tx_np_ok_i = 1;
    top_->link_tx_ready_i = (1u << L) - 1;
    reset();
  }
  ~nic_rtl() override {
    waves_.reset();
    toggles_.reset();
    top_->final();
    write_coverage();
    Verilated::threadContextp(context_.get());  // the model's scopes leave the context of this thread: it must be ours
  }

  unsigned data_width() const override { return W; }
  unsigned np_credits() const override { return np_credit_count; }

  void push(const tlp& t) override {
    if (t.completion()) {
      completions_.push_back(t);
    } else if (t.non_posted()) {
      non_posted_.push_back({t, posted_pushed_});
    } else {
      posted_.push_back(t);
      ++posted_pushed_;
    }
  }
  unsigned posted_pending() const override {
    return static_cast<unsigned>(posted_.size()) + (req_.active() && !req_.current().non_posted());
  }
  unsigned non_posted_pending() const override {
    return static_cast<unsigned>(non_posted_.size()) + np_credit_count - credits_;
  }
  unsigned completions_pending() const override { return static_cast<unsigned>(completions_.size()) + cpl_.active(); }

  std::optional<tlp> pop() override {
    if (out_.empty()) return std::nullopt;
    std::optional<tlp> t(std::move(out_.front()));
    out_.pop_front();
    return t;
  }
  void gate(bool posted, bool non_posted, bool completions) override {
    gate_posted_ = posted;
    gate_non_posted_ = non_posted;
    gate_completions_ = completions;
  }

  void link_in(unsigned link, const flit& f) override {
    top_->link_rx_kind_i = uint16_t((top_->link_rx_kind_i & ~(3u << 2 * link)) | unsigned(f.kind) << 2 * link);
    if constexpr (W * L == 64) {
      top_->link_rx_data_i = f.data[0];
    } else {
      for (size_t i = 0; i < W / 64; ++i) {
        top_->link_rx_data_i[W / 32 * link + 2 * i] = static_cast<uint32_t>(f.data[i]);
        top_->link_rx_data_i[W / 32 * link + 2 * i + 1] = static_cast<uint32_t>(f.data[i] >> 32);
      }
    }
    top_->link_rx_valid_i |= 1u << link;
  }
  std::optional<flit> link_out(unsigned link) override {
    if (!(sent_flits_ >> link & 1)) return std::nullopt;
    flit f{.kind = flit_kind(sent_kinds_ >> 2 * link & 3)};
    if constexpr (W * L == 64) {
      f.data[0] = sent_data_;
    } else {
      for (size_t i = 0; i < W / 64; ++i)
        f.data[i] = sent_data_[W / 32 * link + 2 * i] | uint64_t{sent_data_[W / 32 * link + 2 * i + 1]} << 32;
    }
    return f;
  }
  void link_ready(unsigned link, bool ready) override { set(top_->link_tx_ready_i, link, ready); }
  void link_up(unsigned link, bool up) override {
    pins_changed_ |= bool(top_->link_rx_up_i >> link & 1) != up;
    set(top_->link_rx_up_i, link, up);
  }

  void msix(bool enable, bool mask) override {
    pins_changed_ = true;
    top_->cfg_msix_enable_i = enable;
    top_->cfg_msix_mask_i = mask;
  }

  void bus_master(bool on) override {
    pins_changed_ = true;
    top_->cfg_bus_master_i = on;
  }
  void sizes(uint16_t mps, uint16_t mrrs) override {
    pins_changed_ = true;
    top_->cfg_mps_i = mps;
    top_->cfg_mrrs_i = mrrs;
  }
  void reset_function() override {
    pins_changed_ = true;
    top_->cfg_flr_i = 1;
  }
  bool in_reset() const override { return top_->cfg_flr_i || top_->flr_done_o; }

  void step(uint64_t time) override {
    drive(time);
    entered_ = pins_changed_ || top_->rx_req_valid_i || top_->rx_cpl_valid_i || top_->link_rx_valid_i ||
               time % tick_cycles == 0;
    top_->clk_i = 1;
    top_->eval();
    if (waving_) waves_->dump(2 * time);
    if (toggles_) toggles_->sample(time);
    pins_changed_ = false;
    sample();
    top_->clk_i = 0;
    top_->link_rx_valid_i = 0;
    top_->eval();
    if (waving_) waves_->dump(2 * time + 1);
    ++steps_;
  }
  bool busy() const override {
    const bool reset_to_end = top_->flr_done_o && top_->cfg_flr_i;  // the shim's turn, and this is the shim
    return top_->busy_o || entered_ || top_->link_rx_valid_i || pins_changed_ || reset_to_end || req_.active() ||
           cpl_.active() || !posted_.empty() || !completions_.empty() || (!non_posted_.empty() && credits_ > 0);
  }
  bool timer() const override { return top_->timer_o; }
  uint64_t steps() const override { return steps_; }

  void open_waves(const std::string& path) override {
    waves_ = std::make_unique<trace::wave_file>(path, [this](VerilatedFstC& f) { top_->trace(&f, all_levels); });
  }
  void waves(bool on) override {
    waving_ = on && waves_;
    if (waving_) waves_->begin();
  }
  std::expected<void, std::string> close_waves() override {
    waving_ = false;
    return waves_ ? waves_->finish() : std::expected<void, std::string>();
  }

  std::expected<void, std::string> count_toggles() override {
    auto made = trace::toggle_count::of([this](VerilatedFstC& f) { top_->trace(&f, all_levels); });
    if (!made) return std::unexpected(made.error());
    toggles_ = std::move(*made);
    return {};
  }
  std::map<std::string, uint64_t> toggles() const override {
    return toggles_ ? toggles_->by_unit() : std::map<std::string, uint64_t>();
  }

 private:
  // In coverage builds each NIC leaves its counts in a file of its own; tests/rtl/coverage.py adds them up.
  void write_coverage() {
#if VM_COVERAGE
    static unsigned number = 0;
    if (const char* folder = std::getenv("GGAS_COVERAGE_DIR")) {
      const std::string path = std::string(folder) + "/" + std::to_string(getpid()) + "." + GGAS_NIC_HEADER +
                               std::to_string(number++) + ".dat";
      context_->coveragep()->write(path.c_str());
    }
#endif
  }

  struct waiting {
    tlp request;
    uint64_t behind;  // posted requests pushed before it
  };

  static constexpr int reset_cycles = 64;  // flag_ram clears a row a cycle
  void reset() {
    top_->rst_ni = 0;
    for (int i = 0; i < 2 * reset_cycles; ++i) {
      top_->clk_i = i & 1;
      top_->eval();
    }
    top_->clk_i = 0;
    top_->eval();
    top_->rst_ni = 1;  // taken at the rising edge of the first step
  }

  // The next request: a non-posted one that has a credit and no earlier posted one before it, else a posted one.
  void next_request() {
    if (!non_posted_.empty() && credits_ > 0 && non_posted_.front().behind <= posted_started_) {
      req_.start(std::move(non_posted_.front().request));
      non_posted_.pop_front();
      --credits_;
    } else if (!posted_.empty()) {
      req_.start(std::move(posted_.front()));
      posted_.pop_front();
      ++posted_started_;
    }
  }

  void drive(uint64_t time) {
    top_->time_i = time;
    if (!req_.active()) next_request();
    top_->rx_req_valid_i = req_.active();
    if (req_.active()) {
      top_->rx_req_sop_i = req_.sop();
      top_->rx_req_eop_i = req_.eop();
      if (req_.sop()) pack(req_.current(), top_->rx_req_hdr_i);
      req_.drive(top_->rx_req_data_i);
    }
    if (!cpl_.active() && !completions_.empty()) {
      cpl_.start(std::move(completions_.front()));
      completions_.pop_front();
    }
    top_->rx_cpl_valid_i = cpl_.active();
    if (cpl_.active()) {
      top_->rx_cpl_sop_i = cpl_.sop();
      top_->rx_cpl_eop_i = cpl_.eop();
      if (cpl_.sop()) pack(cpl_.current(), top_->rx_cpl_hdr_i);
      cpl_.drive(top_->rx_cpl_data_i);
    }
    top_->tx_req_ready_i = requests_.inside() || gate_posted_;
    top_->tx_read_ready_i = gate_non_posted_;
    top_->tx_cpl_ready_i = replies_.inside() || gate_completions_;
    top_->tx_np_ok_i = gate_non_posted_;
  }

  // Handshakes of the cycle.
  void sample() {
    if (req_.active() && top_->rx_req_ready_o) req_.advance();
    if (cpl_.active() && top_->rx_cpl_ready_o) cpl_.advance();
    if (top_->np_credit_o) ++credits_;
    if (top_->flr_done_o) {
      pins_changed_ |= top_->cfg_flr_i;
      top_->cfg_flr_i = 0;
      credits_ = np_credit_count;
    }
    if (top_->tx_req_taken_o)
      requests_.beat(top_->tx_req_sop_o, top_->tx_req_eop_o, top_->tx_req_hdr_o, top_->tx_req_data_o, out_);
    if (top_->tx_cpl_valid_o && top_->tx_cpl_ready_i)
      replies_.beat(top_->tx_cpl_sop_o, top_->tx_cpl_eop_o, top_->tx_cpl_hdr_o, top_->tx_cpl_data_o, out_);
    sent_flits_ = top_->link_tx_valid_o & top_->link_tx_ready_i;
    if (sent_flits_) {
      sent_kinds_ = top_->link_tx_kind_o;
      sent_data_ = top_->link_tx_data_o;
    }
  }
  template <class Port>
  static void set(Port& bits, unsigned link, bool on) {
    bits = Port((bits & ~(1u << link)) | unsigned(on) << link);
  }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<V> top_;
  std::unique_ptr<trace::wave_file> waves_;
  bool waving_ = false;
  std::unique_ptr<trace::toggle_count> toggles_;

  std::deque<tlp> posted_, completions_, out_;
  std::deque<waiting> non_posted_;
  uint64_t posted_pushed_ = 0, posted_started_ = 0;
  unsigned credits_ = np_credit_count;
  feeder<W> req_, cpl_;
  collector<W> requests_, replies_;
  bool gate_posted_ = true, gate_non_posted_ = true, gate_completions_ = true;
  bool pins_changed_ = false;  // next to those of streams: taken at the next step
  bool entered_ = false;  // something came with the last cycle, or a tick; its end is the rising edge of the next step
  // of the last step, bit or slice l of link l
  unsigned sent_flits_ = 0, sent_kinds_ = 0;
  std::remove_reference_t<decltype(V::link_tx_data_o)> sent_data_{};
  uint64_t steps_ = 0;
};

}  // namespace

}  // namespace ggas::nic

// What nic_modules.cpp looks for.
extern "C" ggas::nic::nic_core* GGAS_NIC_MAKER(const ggas::nic::host_config& cfg, const char* name) {
  return new ggas::nic::nic_rtl<GGAS_NIC, GGAS_NIC_WIDTH, GGAS_NIC_LINKS>(cfg, name);
}
