// SPDX-License-Identifier: Apache-2.0
// rma_pkg::tr_req_t (82 bits: valid, write, pd, nla) and tr_rsp_t (69 bits: valid, status, addr) at the pins of a
// Verilated module.
#pragma once

#include <cstdint>

namespace ggas::test::rma::tr {

template <class Request>
uint64_t nla(const Request& r) {
  return r[0] | uint64_t{r[1]} << 32;
}
template <class Request>
uint16_t pd(const Request& r) {
  return static_cast<uint16_t>(r[2]);
}
template <class Request>
bool write(const Request& r) {
  return r[2] >> 16 & 1;
}
template <class Request>
bool valid(const Request& r) {
  return r[2] >> 17 & 1;
}

template <class Answer>
void put(Answer& at, bool valid, uint64_t addr, uint8_t status) {
  at[0] = static_cast<uint32_t>(addr);
  at[1] = static_cast<uint32_t>(addr >> 32);
  at[2] = uint32_t{valid} << 4 | status;
}
template <class Answer>
bool answers(const Answer& at) {
  return at[2] >> 4 & 1;
}
template <class Answer>
uint8_t status(const Answer& at) {
  return at[2] & 15;
}

}  // namespace ggas::test::rma::tr
