// SPDX-License-Identifier: Apache-2.0
// NICs and their hosts, stepped together: what software on them needs, whatever network is between them.
#pragma once

#include <functional>

#include "ggas_regs.h"
#include "sim/driver/set_up.hpp"
#include "tests/rtl/harness/host_model.hpp"

namespace ggas::test {

inline constexpr uint8_t bar_registers = 0, bar_window = 2, bar_pages = 4;

class machine {
 public:
  virtual ~machine() = default;
  virtual unsigned nodes() const = 0;
  virtual host_model& host(unsigned n) = 0;
  virtual void step() = 0;  // one cycle of everything

  failures fail;

  uint64_t now() const { return now_; }
  void run(uint64_t cycles) {
    for (uint64_t i = 0; i < cycles; ++i) step();
  }
  // Steps until `done`; false (and a failure) after `limit` cycles.
  bool run_until(const std::function<bool()>& done, uint64_t limit, const char* what);

  // ---- accesses by the host of node n
  void write_register(unsigned n, uint16_t offset, uint64_t value);
  uint64_t read_register(unsigned n, uint16_t offset);
  read_result read(unsigned n, const pcie::tlp& t, uint64_t limit = 300'000);
  void write(unsigned n, pcie::tlp t) { host(n).write(std::move(t)); }
  read_result quiet(unsigned n, uint64_t limit = 300'000) { return read(n, make_read(bar_pages, 0, 1), limit); }
  uint64_t events(unsigned n, unsigned code) { return read_register(n, uint16_t(GGAS_REG_EVENT_COUNT(code))); }
  // Writes registers of a NIC, for sim/driver.
  auto registers_of(unsigned n) {
    return [this, n](uint16_t offset, uint64_t value) { write_register(n, offset, value); };
  }
  // Interval `index` of the window of NIC n.
  void map(unsigned n, unsigned index, const driver::interval& i);
  // An export of its memory. Rights: bit 0 loads, bit 1 stores.
  void give_out(unsigned n, unsigned number, uint64_t base, uint64_t size, uint16_t domain, unsigned rights = 3);

 protected:
  uint64_t now_ = 0;
};

}  // namespace ggas::test
