// SPDX-License-Identifier: Apache-2.0
// Times of the RTL from an input to an output of the NIC, for the model of the NIC (docs/nic-model.md). The numbers are
// in model_times.inc; ggas-nic-times measures them on the RTL and writes that file, and a test compares it with the
// RTL.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/nic/packet.hpp"
#include "sim/nic/reference/reference_rma.hpp"
#include "sim/pcie/tlp.hpp"

namespace ggas::nic {

// What entered. A completion has the cause of the read that it answers.
enum class cause : uint8_t {
  window_store,
  window_load,
  quiet_read,
  register_write,
  register_read,
  slot,      // a write of descriptor slots
  doorbell,  // any other write of a page
  block,     // a write of a block for collectives
  fenced,    // one with a command that is fenced
  // packets, by op
  store,
  load,
  load_rsp,
  quiet,
  quiet_rsp,
  put,
  get,
  notify,
  atomic,
  message,
  ack,
  free_ack,  // of an operation that does not hold its context
  get_data,
  get_done,
  atomic_rsp,
  coll_up,
  coll_down,
  other,
};
inline constexpr unsigned causes = unsigned(cause::other) + 1;
// What left because of it. `write_behind` is a write that the same cause made after another one; `done` is a packet
// after the data of its operation, or with the result of a collective.
enum class effect : uint8_t { packet, write, read, completion, write_behind, done };
inline constexpr unsigned effects = 6;

cause cause_of(const pcie::tlp& request);  // of the host, on a BAR
cause cause_of(const packet& p);
cause cause_of_read(cause why, bool of_queue);     // the cause of its completion; of a work queue
effect effect_of(const pcie::tlp& t, bool wrote);  // wrote: the cause made a write before this one
effect effect_of(const packet& p, bool data);      // data: it comes after a packet of data with the same cause
bool has_data(const packet& p);                    // of a put or get
effect stage_of(effect e);                         // whose pace it has: all packets of a cause follow each other
const char* to_text(cause c);
const char* to_text(effect e);

// One row of the table, for one width. Cycles from the first beat of a TLP, or the last flit of a packet, to the last
// beat of a TLP of one beat, or the first flit of a packet.
struct time_row {
  cause from;
  bool answer;  // a completion entered
  effect to;
  unsigned beats;  // of payload in what entered
  float cycles;
};

// What the network of models is made of (docs/nic-model.md says where each comes from).
inline constexpr unsigned hop_cycles = 5;      // measured: rtl.links, docs/network.md
inline constexpr unsigned buffer_units = 256;  // VC_DEPTH of the link
// Flits that leave before the first beat of a packet is taken (link_tx): those of the header on a narrow link; on a
// wide one they share a flit.
constexpr unsigned flits_ahead(unsigned width) { return width == 64 ? 3 : 0; }

// The shortest distance of outputs, however close their inputs are: cycles from one to the next. There is a row if that
// distance is larger than the number of beats, or flits, of the output. It depends on the DWs of payload; for a read,
// on the requested DWs.
struct pace_row {
  cause from;
  bool answer;
  effect to;
  unsigned dws;
  float cycles;
};

// How much of something the NIC holds at a time, for one width. Taken from the RTL as the times are.
struct nic_limits {
  unsigned loads;          // window loads whose packets are in flight
  unsigned loads_served;   // loads of other nodes, from their packet to their answer
  unsigned fetches;        // packets of a context's puts whose payload is being read, or was, and that have not left
  unsigned get_fetches;    // likewise, of all gets that are served
  unsigned queue_reads;    // reads of work queues under way
  unsigned atomics;        // at their owner
  unsigned atomics_held;   // taken from the network while that many are in progress
  unsigned atomic_gap;     // cycles between two atomics that their unit admits
  unsigned atomic_kept;    // cycles after an atomic's write within which the next packet finds the value in progress
  unsigned stores_passed;  // stores of a word before the link after which other requests are still taken
  unsigned stores_held;    // stores of a line that wait after those
  unsigned packets_held;   // immediate puts before the link whose slots are free again
  unsigned control_gap;    // flits of packets between two of control, on a link that is busy both ways
};

class model_times {
 public:
  // The times of the RTL of that data width; nullptr: none.
  static const model_times* of(unsigned width);
  // Cycles; nullopt: no such row. Between rows a straight line.
  std::optional<double> cycles(cause from, bool answer, effect to, unsigned beats) const;
  // Least distance from an output of so many DWs to the next one of its kind; 0: no row. Between rows likewise.
  double pace(cause from, bool answer, effect to, unsigned dws) const;
  const nic_limits& limits() const { return limits_; }
  hand_on_times hand_on(bool one_link) const;  // where an atomic ends no sooner than its answer leaves

  model_times(const nic_limits& limits, std::initializer_list<time_row> rows, std::initializer_list<pace_row> paces);

 private:
  using points = std::vector<std::pair<unsigned, double>>;  // by size
  static double between(const points& all, unsigned size);

  nic_limits limits_;
  points times_[causes][2][effects], paces_[causes][2][effects];
};

}  // namespace ggas::nic
