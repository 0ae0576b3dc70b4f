// SPDX-License-Identifier: Apache-2.0
// Building and parsing memory TLPs: byte enables, completions cut at the read completion boundary, BAR decoding, and a
// requester that owns tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <systemc>
#include <vector>

#include "sim/pcie/port.hpp"
#include "sim/pcie/tlp.hpp"

namespace ggas::pcie {

// Requests for `bytes` from any byte address; they must not cross 4 KB nor exceed 1024 DW.
tlp memory_write(uint64_t addr, std::span<const std::byte> bytes, uint16_t requester);
tlp memory_read(uint64_t addr, uint32_t bytes, uint16_t requester, uint16_t tag);

// Calls f(byte address, value) for every enabled byte of a write.
template <class F>
void for_each_byte(const tlp& w, F&& f) {
  for (unsigned i = 0; i < w.len_dw; ++i) {
    const unsigned be = i == 0 ? w.first_be : i + 1u == w.len_dw ? w.last_be : 0xf;
    for (unsigned b = 0; b < 4; ++b)
      if (be >> b & 1) f(w.addr + 4 * i + b, std::byte(w.data[i] >> 8 * b));
  }
}

// Bytes from the first to the last enabled one (holes included; 1 for a zero-length read), and where they begin.
uint32_t enabled_bytes(const tlp& request);
uint64_t first_byte_address(const tlp& request);

// Completions of a read whose DWs (all len_dw of them) are `dws`, each at most `mps` bytes, cut at multiples of `rcb`.
std::vector<tlp> read_completions(const tlp& request, std::span<const uint32_t> dws, unsigned mps, unsigned rcb,
                                  uint16_t completer);
tlp error_completion(const tlp& request, cpl_status status, uint16_t completer);

// Address ranges of an endpoint (or below a bridge port).
class bar_map {
 public:
  struct hit {
    uint8_t bar;
    uint64_t offset;
  };
  void add(uint8_t bar, uint64_t base, uint64_t size) { ranges_.push_back({base, size, bar}); }
  std::optional<hit> decode(uint64_t addr) const;
  // Fills bar and turns the bus address into a BAR offset; false (bar = bar_none) if nothing is hit.
  bool decode(tlp& request) const;

  struct range {
    uint64_t base, size;
    uint8_t bar;
  };
  const std::vector<range>& ranges() const { return ranges_; }

 private:
  std::vector<range> ranges_;
};

struct requester_config {
  uint16_t id = 0;                       // bus, device, function
  unsigned tags = 32;                    // outstanding reads; further ones wait
  uint64_t timeout_ps = 50'000'000'000;  // completion time-out
};

struct read_result {
  cpl_status status = cpl_status::sc;
  bool timed_out = false;
  bool poisoned = false;
  std::vector<uint32_t> dws;  // all len_dw of the request; bytes not enabled are undefined
  bool ok() const { return status == cpl_status::sc && !timed_out && !poisoned; }
};

// Reads through a port: allocates tags, collects split completions, times out. The owner passes it every received
// completion.
class requester : public sc_core::sc_module {
 public:
  using done = std::function<void(read_result&&)>;

  requester(sc_core::sc_module_name name, port& p, const requester_config& cfg);

  // `request` is a TLP_MRD (see memory_read); requester id and tag are filled in here.
  void read(tlp request, done d);
  // false: no read of ours waits for it (unexpected or late completion; counted).
  bool complete(tlp& completion);

  unsigned outstanding() const { return outstanding_; }
  unsigned waiting() const { return unsigned(queue_.size()); }
  uint64_t timeouts() const { return timeouts_; }
  uint64_t unexpected() const { return unexpected_; }
  const requester_config& config() const { return cfg_; }

 private:
  struct slot {
    bool busy = false;
    uint64_t deadline_ps = 0;
    unsigned received = 0;  // DWs
    tlp request;
    read_result result;
    done d;
  };
  using deadline = std::pair<uint64_t, uint16_t>;  // time, tag
  void issue(tlp&& request, done&& d);
  bool waits(const deadline& d) const;
  void finish(unsigned tag);
  void on_deadline();

  port& port_;
  requester_config cfg_;
  std::vector<slot> slots_;
  std::vector<uint16_t> free_;
  std::deque<std::pair<tlp, done>> queue_;
  std::deque<deadline> deadlines_;  // in order of issue, so of time
  unsigned outstanding_ = 0;
  uint64_t timeouts_ = 0, unexpected_ = 0;
  timer deadline_event_{[this] { on_deadline(); }};
};

}  // namespace ggas::pcie
