// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/harness/machine.hpp"

namespace ggas::test {

bool machine::run_until(const std::function<bool()>& done, uint64_t limit, const char* what) {
  for (uint64_t i = 0; i < limit; ++i) {
    if (done()) return true;
    step();
  }
  if (done()) return true;
  fail.add("{}: not within {} cycles", what, limit);
  return false;
}

void machine::write_register(unsigned n, uint16_t offset, uint64_t value) {
  write(n, make_write(bar_registers, offset, {uint32_t(value), uint32_t(value >> 32)}));
}

uint64_t machine::read_register(unsigned n, uint16_t offset) {
  const read_result r = read(n, make_read(bar_registers, offset, 2));
  if (!r.ok()) fail.add("register {:#x} answered status {}", offset, unsigned(r.status));
  return r.value();
}

read_result machine::read(unsigned n, const pcie::tlp& t, uint64_t limit) {
  read_result result;
  result.status = pcie::cpl_status(7);
  bool finished = false;
  host(n).read(t, [&](const read_result& r) {
    result = r;
    finished = true;
  });
  if (!run_until([&] { return finished; }, limit, "a read by the host")) host(n).forget_reads();
  return result;
}

void machine::give_out(unsigned n, unsigned number, uint64_t base, uint64_t size, uint16_t domain, unsigned rights) {
  driver::set_export(registers_of(n), number, {.base = base, .bytes = size, .domain = domain, .rights = rights});
}
void machine::map(unsigned n, unsigned index, const driver::interval& i) {
  driver::set_interval(registers_of(n), index, i);
}

}  // namespace ggas::test
