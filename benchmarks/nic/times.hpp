// SPDX-License-Identifier: Apache-2.0
// Measures the times of the NIC's model (sim/nic/model/model_times.hpp) on the RTL. Two NICs are driven at their pins,
// one operation after the other. A reference model next to each gets the same inputs and names the input that each
// output answers. The cycles between the two are a sample.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "benchmarks/nic/rig.hpp"
#include "sim/nic/model/model_times.hpp"
#include "sim/nic/reference/reference_model.hpp"

namespace ggas::bench {

class nic_times {
 public:
  // For a NIC with one link, or with several. With several links there are collectives, and only they are measured.
  nic_times(unsigned width, const nic::nic_limits& limits, unsigned links = 1);
  const std::string& wrong() const { return rig_.wrong().empty() ? wrong_ : rig_.wrong(); }
  // Runs every operation; a row for each cause and effect that was seen.
  std::vector<nic::time_row> measure();
  // The same for rare operations: walks for translations, puts and gets of work queues, quiets after quiets, and fences
  // that ask. They are measured in a separate object, because the model may lose count where the RTL merges outputs.
  std::vector<nic::time_row> measure_seldom();
  // Likewise for puts of several sizes with an acknowledgement, which waits for the data in front of it.
  std::vector<nic::time_row> measure_acknowledged();
  // Likewise for requests that wait for a unit while it walks for the translation of an operation. Node 0 makes this
  // operation, of the given kind, on `node`. Each kind needs an object of its own.
  static constexpr unsigned waiting_kinds = 10;
  std::vector<nic::time_row> measure_waiting(unsigned first, uint16_t node);
  // To be called after measure(). Posts every operation as often and as closely together as the NIC accepts it. Returns
  // a row for each operation whose outputs are further apart than its inputs or sizes require.
  std::vector<nic::pace_row> paces();
  // For the samples of the rows: their mean wait in cycles, and the number of outputs that no model foresaw.
  double mean_wait() const { return mean_wait_; }
  unsigned unexplained() const { return unexplained_; }

 private:
  struct reason {
    nic::cause why;
    bool answer;
    unsigned beats;
    uint64_t at;  // cycle
    nic::effect what = nic::effect::packet;
    uint16_t tag = 0;   // of the model's read, load or quiet
    uint64_t addr = 0;  // of a read or write, and its DWs
    unsigned dws = 0;
  };
  struct side {
    side(unsigned width, nic::nic_surroundings around)
        : model(width, {.mps = 256, .mrrs = 512, .bus_id = 1}, std::move(around)), decoder(width) {
      model.link_up(true);
    }
    nic::reference_model model;
    nic::flit_decoder decoder;                      // of what leaves
    std::deque<reason> writes, reads, completions;  // expected
    std::array<std::deque<reason>, 4> packets;      // likewise, by virtual channel
    std::map<uint16_t, reason> reading;             // by the RTL's tag
    std::map<uint16_t, uint16_t> asking;            // other nodes: the model's tag by the RTL's
    uint64_t requests_free = 0, completions_free = 0, first_flit = 0;
  };
  struct output {
    uint64_t at;                         // its first beat or flit
    unsigned last, dws;                  // cycles from there to its last beat; of its payload
    const pcie::tlp* request = nullptr;  // if it is a read or write
  };
  using key = std::tuple<nic::cause, bool, nic::effect>;
  struct sample {
    unsigned beats;
    double cycles;
  };
  // An output in a flow: its NIC, the time when it left, its payload, and the cycles that it left later than its row.
  struct passing {
    unsigned side;
    uint64_t at;
    unsigned dws;
    double late;
  };
  // A stage of the NIC in a flow, as far as it is what holds it up.
  struct stage {
    uint64_t first;  // when its first output left
    unsigned dws;
    double distance, late;
  };
  struct pace {
    double distance, bound;  // what it is, and what beats or flits explain
  };

  unsigned beats(const pcie::tlp& t) const;
  void request(unsigned n, const pcie::tlp& t);
  void completion(unsigned n, const pcie::tlp& t);
  void left(unsigned n, const pcie::tlp& t);
  void flit(unsigned n, const nic::flit& f);
  void collect(unsigned n, reason r);
  std::optional<reason> note(unsigned n, std::deque<reason>& expected, const output& o);
  void drain();
  void settle();
  void window_operations(bool own);
  void further_quiets();
  void one_sided_operations(uint16_t node);
  void queued_operations();
  void every_notification(uint16_t node);
  void what_waits_for_answers(uint16_t node);
  void what_waits_for_walks(unsigned first, uint16_t node);
  void forget_translations();
  void full_ring();
  void what_is_refused();
  void collectives();
  void asking_fences();
  void inner_node();
  void flow(const std::function<bool(unsigned n)>& operation);  // false: there is no room for it yet
  static std::optional<stage> middle_of(const std::vector<passing>& all);
  std::vector<nic::time_row> rows();
  void post(const nic::descriptor& d);
  void fill_queues(const nic::descriptor& d);
  void flow_of_contexts(const nic::descriptor& d, bool queues);
  static bool distinguished(const key& k, unsigned n);
  void note_pace(const key& k, const stage& s);
  std::vector<nic::pace_row> pace_rows() const;

  unsigned width_, links_;
  nic_rig rig_;
  std::array<std::unique_ptr<side>, 2> sides_;
  std::map<key, std::vector<sample>> samples_;
  std::map<key, std::map<unsigned, double>> least_;  // cycles, by beats
  std::map<key, std::vector<passing>> passed_;       // in a flow
  std::map<key, std::map<unsigned, pace>> paces_;    // by DWs of payload
  unsigned post_dws_ = 8;                            // of the writes that a descriptor comes in
  bool cold_ = false;                                // no translation is there when an operation begins
  bool flowing_ = false, left_ = false;              // something left, since that was asked last
  unsigned posted_ = 0, unexplained_ = 0;
  double mean_wait_ = 0;
  std::string wrong_;
};

}  // namespace ggas::bench
