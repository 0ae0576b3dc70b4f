// SPDX-License-Identifier: Apache-2.0
// The typed test suite: every test runs at DATA_W = 64 and 256, in long tests and coverage at 512, too. GGAS_SEED sets
// the seed.
#pragma once

#include "Vrequester_256.h"
#include "Vrequester_64.h"
#ifdef GGAS_WIDTH_512
#include "Vrequester_512.h"
#endif
#include "tests/rtl/rma/requester/checker.hpp"

namespace ggas::test::requester {

template <class V, unsigned W>
struct of_width {
  using top = V;
  static constexpr unsigned width = W;
};
#ifdef GGAS_WIDTH_512
using widths =
    testing::Types<of_width<Vrequester_64, 64>, of_width<Vrequester_256, 256>, of_width<Vrequester_512, 512>>;
#else
using widths = testing::Types<of_width<Vrequester_64, 64>, of_width<Vrequester_256, 256>>;
#endif

template <class T>
class suite : public testing::Test {
 protected:
  checker check;
  bench<typename T::top, T::width> b{base_seed(), check};
  rng& random = b.random;

  descriptor imm(uint64_t to, unsigned bytes = 8) {
    descriptor d{.op = desc_op::imm,
                 .dvpid = 7,
                 .node = peer_node,
                 .size = bytes,
                 .w1 = random.next(),
                 .w2 = to,
                 .cookie = random.next()};
    for (unsigned i = 0; i < bytes; ++i) d.data.push_back(uint8_t(d.w1 >> 8 * i));
    return d;
  }
  descriptor put(uint64_t from, uint64_t to, uint32_t bytes) {
    return {.op = desc_op::put,
            .dvpid = 7,
            .node = peer_node,
            .size = bytes,
            .w1 = from,
            .w2 = to,
            .cookie = random.next()};
  }
  descriptor get(uint64_t from, uint64_t to, uint32_t bytes) {
    return {.op = desc_op::get,
            .dvpid = 7,
            .node = peer_node,
            .size = bytes,
            .w1 = from,
            .w2 = to,
            .cookie = random.next()};
  }
  descriptor notify() {
    return {.op = desc_op::notify, .notify_completer = true, .dvpid = 7, .node = peer_node, .cookie = random.next()};
  }
  descriptor with_data(desc_op op, uint64_t to, unsigned bytes) {
    descriptor d{.op = op, .dvpid = 7, .node = peer_node, .size = bytes, .w2 = to, .cookie = random.next()};
    for (unsigned i = 0; i < bytes; ++i) d.data.push_back(uint8_t(random.next()));
    return d;
  }
  descriptor atomic(uint64_t to, unsigned bytes = 8) {
    descriptor d{.op = desc_op::atomic,
                 .dvpid = 7,
                 .node = peer_node,
                 .size = bytes,
                 .w1 = random.next(),
                 .w2 = to,
                 .cookie = random.next()};
    d.second = {random.next(), random.next() & ~15ull, random.below(8) | (random.below(2) << 4), 0};
    return d;
  }
  // Answers to everything that is answered; `status` decides, `lose` loses some.
  void serve(
      std::function<net_status(const packet&)> status = [](const packet&) { return net_status::ok; },
      std::function<bool(const packet&)> lose = [](const packet&) { return false; }) {
    b.policy.target = [this, status, lose](const packet& p) -> std::optional<answer> {
      if (!(p.flags() & nic::rma_last)) return std::nullopt;
      const bool asked = p.flags() & nic::rma_wants_ack;
      const net_status s = status(p);
      if (!asked && s == net_status::ok) return std::nullopt;
      check.outcome(p, s);
      if (lose(p)) return std::nullopt;
      answer a = answer_to(p, s);
      a.asked = asked;
      if (a.op == nic::op::rma_atomic_rsp) a.addr = ~(p.data[6] | uint64_t{p.data[7]} << 32);
      return a;
    };
  }
};

}  // namespace ggas::test::requester
