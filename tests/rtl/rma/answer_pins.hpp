// SPDX-License-Identifier: Apache-2.0
// rma_pkg::rma_ans_t at the pins of a Verilated module, 117 bits.
#pragma once

#include <cstdint>

namespace ggas::test::pins {

struct rma_answer {
  uint8_t op = 0, vpid = 0, epoch = 0, status = 0, dvpid = 0;
  uint16_t node = 0;
  uint64_t addr = 0;
  bool asked = true;
};

template <class Pins>
void put_answer(Pins& at, const rma_answer& a) {
  at[0] = static_cast<uint32_t>(a.addr);
  at[1] = static_cast<uint32_t>(a.addr >> 32);
  at[2] = a.node | uint32_t{a.dvpid} << 16 | uint32_t{a.epoch} << 24;
  at[3] = a.vpid | uint32_t{a.op} << 8 | (a.status & 0xfu) << 16 | uint32_t{a.asked} << 20;
}
template <class Pins>
rma_answer get_answer(const Pins& at) {
  rma_answer a;
  a.addr = at[0] | uint64_t{at[1]} << 32;
  a.node = static_cast<uint16_t>(at[2]);
  a.dvpid = static_cast<uint8_t>(at[2] >> 16);
  a.epoch = static_cast<uint8_t>(at[2] >> 24);
  a.vpid = static_cast<uint8_t>(at[3]);
  a.op = static_cast<uint8_t>(at[3] >> 8);
  a.status = at[3] >> 16 & 0xf;
  a.asked = at[3] >> 20 & 1;
  return a;
}

}  // namespace ggas::test::pins
