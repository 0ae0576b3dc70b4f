// SPDX-License-Identifier: Apache-2.0
// One-sided communication in the reference model (docs/rma.md): contexts, descriptors, puts, gets, notifications,
// atomics, mailboxes and translations, without cycles. Each unit of the RTL that may wait is a coroutine here.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "ggas_regs.h"
#include "sim/nic/packet.hpp"
#include "sim/nic/reference/task.hpp"
#include "sim/nic/rma_format.hpp"
#include "sim/pcie/tlp.hpp"

namespace ggas::nic {

// What the RMA uses of the rest of the NIC.
class rma_services {
 public:
  virtual uint64_t rma_register(uint16_t offset) const = 0;
  virtual void rma_event(uint8_t code, uint16_t node, uint64_t info) = 0;
  virtual void rma_count(uint16_t counter) = 0;
  virtual void rma_fire(uint8_t vpid, uint8_t vector, bool list) = 0;
  virtual void rma_send(packet&& p) = 0;        // from this node, by the link or the loop
  virtual void rma_request(pcie::tlp&& t) = 0;  // to the local host
  virtual net_status rma_route(uint16_t node) const = 0;
  virtual unsigned rma_nodes() const = 0;                // numbers from here on do not exist
  virtual bool rma_takes_status() const = 0;             // else they wait for run()
  virtual bool rma_takes_packets(vc channel) const = 0;  // of puts and gets; rma_model::room() follows if not

 protected:
  ~rma_services() = default;
};

// How the RTL hands the new value of a word on to the next atomic on it, in cycles.
struct hand_on_times {
  unsigned after_answer = 0,
           after_packet = 0;  // from the answer to its read, or its packet, to the end of an operation
  double apart = 0;           // least, of the ends of two operations
  unsigned kept = 0;          // from an end to the packet that still finds the value; 0: none does
  unsigned gap = 0;           // least, between two operations that are admitted
};

// As in nic_surroundings.
struct rma_limits {
  unsigned fetches, get_fetches, queue_reads, atomics;
  hand_on_times hand_on;
};

class rma_model {
 public:
  rma_model(rma_services& nic, const host_config& cfg, const rma_limits& limits);

  // Whole DWs of the part of a page that can be written.
  static bool takes(const pcie::tlp& page_write);

  // ---- inputs; work begins with the next run()
  void page_write(const pcie::tlp& t);       // BAR4
  bool host_completion(const pcie::tlp& t);  // false: no read of the RMA has this tag
  void host_timeout(uint16_t tag);
  void packet_in(const packet& p);  // VC_RMA and VC_RSP
  void write_context(unsigned vpid, unsigned word, uint64_t value);
  std::optional<uint16_t> domain_of(uint64_t vpid) const;  // of a context that is enabled
  void invalidate(uint64_t request);                       // ATU_INVALIDATE
  void advance(uint64_t time);                             // core cycles, never backwards
  void link_died();
  void room();
  void data_written();  // by another unit of the NIC
  void run();

  // ---- state
  std::optional<uint64_t> wakes_at() const;   // something goes on at that time
  bool context_stopped(unsigned vpid) const;  // off, and nothing of it is under way
  bool reads_host() const { return !reads_.empty(); }
  size_t atomics_waiting() const { return atomics_.size(); }  // for an entry of the unit
  bool reads_queue(uint16_t tag) const;                       // that read is of a work queue
  uint64_t atu_status() const { return invalidations_; }
  bool waits() const;  // something ends by time only, or waits for the host or the network

  // Tags of reads of the RMA, as in ggas_pkg.
  static constexpr uint16_t first_tag = 128, last_tag = 511;

 private:
  struct slot {
    std::array<uint32_t, 8> dws{};
    uint8_t written = 0;
  };
  // An answer under way to the initiator.
  struct expectation {
    uint16_t node;
    op kind;
    uint8_t what;  // low bits of the epoch: operation of a descriptor that did not wait, or 0
    bool counts;   // remote completion
    bool held() const { return what == 0; }
  };
  struct outcome {
    net_status status = net_status::ok;
    uint64_t w0 = 0;  // address of a failure, old value of an atomic
    bool found_here = false;
  };
  struct payload;
  struct placed {  // in slots from that number on
    uint32_t at;
    descriptor d;
  };
  struct context {
    explicit context(scheduler& s) : changed(s) {}
    std::array<uint64_t, 5> words{};
    bool enabled = false, started = false, executing = false;
    std::array<slot, rma_slots> slots;
    uint32_t at = 0;                                     // of the descriptor that is executed: its first slot
    std::map<uint32_t, std::shared_ptr<payload>> ahead;  // of puts, by the number of their first slot
    std::deque<placed> freed;                            // puts to be executed whose slots are free again
    uint32_t consumed = 0, local = 0, remote = 0, errors = 0, last_error = 0;
    uint32_t produced = 0, fetched = 0;  // work queue
    uint32_t notes = 0, notes_read = 0, notes_lost = 0;
    uint32_t mails = 0, mails_read = 0;
    bool notes_armed = false, mails_armed = false;
    uint8_t epoch = 0;   // 5 bits: times it was started or gave up
    uint16_t owner = 0;  // domain it was started with
    std::deque<expectation> expected;
    std::optional<outcome> held;
    uint64_t waiting_since = 0;
    bool writing = false;  // an answer of its own is being translated: nothing is given up
    signal changed;

    bool queue_mode() const;
    bool backpressure() const;
    uint16_t pd() const;
    unsigned log2(unsigned shift) const { return unsigned(words[0] >> shift & 31); }
  };
  struct translation {
    net_status status = net_status::ok;
    uint64_t addr = 0;
    unsigned shift = 12;
  };
  struct read_result {
    net_status status = net_status::ok;
    std::vector<uint32_t> dws;
  };
  struct host_read {
    uint16_t tag;
    std::vector<uint32_t> dws;
    unsigned received = 0;
    bool done = false;
    net_status status = net_status::ok;
    signal finished;
    bool of_queue = false;
  };
  using host_reads = std::vector<std::shared_ptr<host_read>>;
  // A client of translations. Its translations follow each other, as far as a model reads ahead.
  struct client {
    bool busy = false;
    signal free;
  };
  struct fetched {
    net_status status = net_status::ok;
    std::vector<uint8_t> bytes;
  };
  // The payload of a put or get. It is read before its packets are made. Packets end at multiples of the MTU at the
  // receiver. A model with more than one fetch also reads the payload of the next operations.
  struct part {
    unsigned bytes;
    fetched data;
    bool done = false;
    signal ready;
  };
  struct payload {
    client& by;
    uint64_t from, to;
    uint32_t size;
    uint16_t pd;
    uint32_t asked = 0;
    std::deque<std::shared_ptr<part>> parts = {};
  };
  // A get to be served.
  struct served {
    packet request;
    std::shared_ptr<payload> data;
  };
  // An atomic with its bus address, and what is known of a word's value.
  struct atomic {
    packet request;
    uint64_t addr;
    unsigned bytes;
  };
  struct known_value {
    uint64_t addr, value;
    unsigned bytes;
    uint64_t written;  // data_writes_ when it was true
  };
  struct tlb_entry {
    uint64_t word0, word1;
  };
  using source_key = std::pair<uint16_t, uint8_t>;  // node and context of an initiator
  using get_key = std::pair<uint16_t, uint8_t>;     // node and place of a get there

  static constexpr uint64_t tick_cycles = 1024;  // unit of time-outs and pauses

  // ---- reference_rma.cpp: contexts, rings
  bool cut_off(unsigned v) const;  // it waits for a node that cannot be reached
  void start_context(unsigned v);
  void slot_write(unsigned v, unsigned dw, uint32_t value, bool& refused);
  void doorbell(unsigned v, unsigned offset, uint32_t value, bool& refused);
  void arm(unsigned v, bool& armed, uint32_t seen, uint32_t written);
  void recorded(unsigned v, bool& armed);
  task<> fill_from_queue(unsigned v);
  void status_changed(unsigned v);  // written at the end of run()
  void write_status(unsigned v);
  net_status notify(unsigned v, std::optional<uint16_t> pd, bool drop, uint64_t w0, note n);
  void write_note(unsigned v, uint64_t w0, note n);
  net_status deliver_message(unsigned v, uint16_t pd, const packet& p);

  // ---- reference_memory.cpp: the local host, translations
  void host_write(uint64_t addr, std::span<const uint32_t> dws, unsigned first_be = 15, unsigned last_be = 15);
  task<read_result> host_read_dws(uint64_t addr, unsigned dws, unsigned first_be = 15, unsigned last_be = 15);
  task<std::shared_ptr<host_read>> begin_read(uint64_t addr, unsigned dws, unsigned first_be, unsigned last_be);
  task<> begin_reads(host_reads& all, uint64_t addr, unsigned dws, unsigned first_be, unsigned last_be);
  task<read_result> end_reads(host_reads& all);
  void end_read(uint16_t tag);
  task<translation> translate(uint64_t nla, uint16_t pd, bool read, bool write);
  task<translation> translate_in_turn(client& by, uint64_t nla, uint16_t pd);
  task<fetched> fetch(client& by, uint64_t nla, uint16_t pd, unsigned bytes);
  task<net_status> store(uint64_t nla, uint16_t pd, const packet& p);

  // ---- reference_ahead.cpp: payload of puts and gets
  task<> read_part(std::shared_ptr<part> p, client& by, uint64_t nla, uint16_t pd);
  unsigned read_some(payload& all, unsigned window);
  void read_puts_ahead(unsigned v);
  void free_puts(unsigned v);
  void read_gets_ahead();
  task<fetched> next_part(payload& all, vc channel);

  // ---- reference_requester.cpp: initiator, descriptors
  task<> requester(unsigned v);
  std::optional<descriptor> descriptor_at(unsigned v, uint32_t slot) const;
  std::optional<placed> next_descriptor(unsigned v);
  void consume(unsigned v, unsigned slots);
  net_status admit(unsigned v, const descriptor& d);
  task<> execute(unsigned v, descriptor d);
  task<net_status> send_put(unsigned v, descriptor d);
  packet request_packet(unsigned v, const descriptor& d, op o) const;
  packet notify_packet(unsigned v, const descriptor& d, net_status s) const;
  packet only_packet(unsigned v, const descriptor& d) const;
  packet get_packet(unsigned v, const descriptor& d) const;
  packet atomic_packet(unsigned v, const descriptor& d) const;
  packet message_packet(unsigned v, const descriptor& d) const;
  void send_request(packet&& p);
  void expect(unsigned v, const descriptor& d, bool counts);
  task<outcome> answer_of(unsigned v, const descriptor d, packet again);
  task<> notify_self(unsigned v, const descriptor d, note_kind kind, uint64_t w0);
  void fail(unsigned v, const descriptor& d, net_status s, uint64_t w0);

  // ---- reference_answers.cpp: initiator, what comes back
  task<> answers();
  task<> one_answer(packet p);
  task<> get_data(packet p);
  task<net_status> write_record(packet p);
  void answered(const packet& p, outcome o);
  void error(unsigned v, net_status s, uint64_t w0, note n);
  void give_up(unsigned v, net_status s);

  // ---- reference_completer.cpp: target
  task<> requests();
  task<> one_request(packet p);
  task<> put(packet p, net_status s);
  void message(const packet& p);
  static source_key source(const packet& p) { return {p.src, p.svpid()}; }
  task<> notification(packet p);
  task<> responder();
  task<> one_get(served get);
  task<> atomics();
  task<std::optional<atomic>> admitted(packet p);
  task<> chain(uint64_t word);
  task<std::optional<known_value>> read_value(const atomic& a);
  task<> turn();
  double turn_begins() const;
  task<> entry();
  known_value execute(const atomic& a, known_value v);
  bool still_true(const std::optional<known_value>& v, const atomic& a) const;
  void respond(const packet& request, op o, net_status s, uint64_t addr);

  uint64_t reg(uint16_t offset) const { return nic_.rma_register(offset); }
  bool stopped() const { return reg(GGAS_REG_STOP) & GGAS_STOP_NIC_MASK; }
  unsigned mtu() const;
  note note_of(const packet& p, note_kind kind, net_status s) const;

  rma_services& nic_;
  host_config cfg_;
  rma_limits limits_;
  unsigned queue_slots_;  // of a work queue, that are read at once
  unsigned queue_reading_ = 0;
  std::map<uint64_t, std::deque<atomic>> chains_;  // by word: of the operations on it one is under way, the others wait
  unsigned atomics_live_ = 0, turns_ = 0;          // in chains; those that wait for their turn
  std::optional<known_value> in_hand_;             // of the operation that ended last
  double atomic_end_ = 0;                          // when it ends in the RTL
  bool entering_ = false;                          // an atomic waits until the unit admits the next one
  uint64_t next_entry_ = 0;                        // time from which it does
  uint64_t data_writes_ = 0;                       // other than of atomics
  scheduler scheduler_;
  std::array<std::unique_ptr<context>, rma_contexts> contexts_;
  std::deque<packet> requests_, answers_, atomics_;
  std::deque<served> gets_;  // the front is under way
  client put_fetches_{.free = signal(scheduler_)}, get_fetches_{.free = signal(scheduler_)};
  signal request_arrived_{scheduler_}, answer_arrived_{scheduler_}, get_arrived_{scheduler_},
      atomic_arrived_{scheduler_}, tag_free_{scheduler_}, tick_{scheduler_}, room_{scheduler_}, queue_read_{scheduler_},
      atomic_done_{scheduler_}, turn_{scheduler_};
  std::map<uint16_t, std::shared_ptr<host_read>> reads_;  // by tag
  uint16_t next_tag_ = first_tag;
  std::map<uint64_t, tlb_entry> tlb_;          // by NLA of the page
  std::set<source_key> refused_;               // puts whose last packet has not come
  std::map<get_key, net_status> gets_failed_;  // first failure at the data of a get under way
  std::deque<unsigned> status_due_;
  uint32_t invalidations_ = 0;
  uint64_t invalidation_round_ = 0;
  uint64_t time_ = 0;
  unsigned sleeping_ = 0;
  size_t expected_ = 0;  // of all contexts
};

}  // namespace ggas::nic
