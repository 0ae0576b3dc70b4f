// SPDX-License-Identifier: Apache-2.0
// Takes the times of the NIC's model (sim/nic/model_times.hpp) from the RTL. Two NICs are driven at their pins, one
// operation after the other; beside each runs a reference model that gets the same inputs and tells what of them each
// output is the answer to. The cycles between the two are a sample.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "benchmarks/nic_rig.hpp"
#include "sim/nic/model_times.hpp"
#include "sim/nic/reference_model.hpp"

namespace ggas::bench {

class nic_times {
 public:
  // Of one link, or of several: those have collectives, and only these are measured.
  explicit nic_times(unsigned width, unsigned links = 1);
  bool ready() const { return rig_.ready(); }
  // Runs every operation; a row for each cause and effect that was seen.
  std::vector<nic::time_row> measure();
  // Of the samples behind the rows: cycles that a row is off, in the mean, and outputs that no model foresaw.
  double mean_error() const { return mean_error_; }
  unsigned unexplained() const { return unexplained_; }

 private:
  struct reason {
    nic::cause why;
    bool answer;
    unsigned beats;
    uint64_t at;  // cycle
    nic::effect what = nic::effect::packet;
    uint16_t tag = 0;  // of the model's read
  };
  struct side {
    side(unsigned width, bool several_links)
        : model(width, {.mps = 256, .mrrs = 512, .bus_id = 1}, around(several_links)), decoder(width) {
      model.link_up(true);
    }
    // With several links LINK_PEER does not name the only neighbour: there is a route to both nodes of the rig.
    static nic::nic_surroundings around(bool several_links) {
      nic::nic_surroundings s;
      s.collectives = several_links;
      if (several_links)
        s.route = [](uint16_t node) { return node < 2 ? nic::net_status::ok : nic::net_status::unreachable; };
      return s;
    }
    nic::reference_model model;
    nic::flit_decoder decoder;  // of what leaves
    std::deque<reason> writes, reads, completions;  // expected
    std::array<std::deque<reason>, 4> packets;      // likewise, by virtual channel
    std::map<uint16_t, reason> reading;             // by the RTL's tag
    uint64_t requests_free = 0, completions_free = 0, first_flit = 0;
  };
  using key = std::tuple<nic::cause, bool, nic::effect>;
  struct sample {
    unsigned beats;
    double cycles;
  };

  static bool of_collectives(const key& k);
  static double further_beats(const sample& s);
  static std::pair<float, float> fit(const std::vector<sample>& all);
  unsigned beats(const pcie::tlp& t) const;
  void request(unsigned n, const pcie::tlp& t);
  void completion(unsigned n, const pcie::tlp& t);
  void left(unsigned n, const pcie::tlp& t);
  void flit(unsigned n, const nic::flit& f);
  void collect(unsigned n, reason r);
  reason note(std::deque<reason>& expected, uint64_t at, unsigned beats_out);
  void settle();
  void window_operations(bool own);
  void one_sided_operations(uint16_t node);
  void collectives();
  std::vector<nic::time_row> rows();
  void post(const nic::descriptor& d);

  unsigned width_, links_;
  nic_rig rig_;
  std::array<std::unique_ptr<side>, 2> sides_;
  std::map<key, std::vector<sample>> samples_;
  unsigned posted_ = 0, unexplained_ = 0;
  double mean_error_ = 0;
};

}  // namespace ggas::bench
