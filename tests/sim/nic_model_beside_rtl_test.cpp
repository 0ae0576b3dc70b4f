// SPDX-License-Identifier: Apache-2.0
// The model of the NIC next to the RTL, two nodes and more: the same results at the same times.
#include <random>

#include "tests/sim/nic_model_rig.hpp"

namespace ggas::test {
namespace {

// Random stores and loads: memory and counters of the RTL, and the last store arrives when it does there.
class beside_rtl : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(nic_model, beside_rtl, testing::Values("galibier-k20", "modern"));
TEST_P(beside_rtl, same_results_at_the_same_times) {
  struct outcome {
    std::vector<uint8_t> memory;
    std::map<std::string, uint64_t> counters;
    uint64_t last_ps;
  };
  const auto run = [&](bool models) {
    auto c = of_models(2, "auto", GetParam());
    c.model_nics = models;
    auto s = make(std::move(c));
    std::mt19937_64 random(3);
    s->sim().enter();
    const uint64_t begin = s->now_ps();
    for (unsigned i = 0; i < 400; ++i) {
      const uint64_t bytes = 4u << random() % 7, at = random() % 4096 / bytes * bytes;
      std::vector<std::byte> data(bytes);
      for (auto& b : data) b = std::byte(random());
      gpu(*s, 0).store(gpu(*s, 0).window(1, at), data);
    }
    s->run_for(400'000'000);
    outcome o{.memory = std::vector<uint8_t>(4096), .counters = {}, .last_ps = gpu(*s, 1).last_write_ps - begin};
    gpu(*s, 1).memory.read(0, std::as_writable_bytes(std::span(o.memory)));
    for (const auto& [name, value] : s->counters(1))
      if (name.starts_with("SMFU_")) o.counters[name] = value;
    return o;
  };
  const outcome rtl = run(false), model = run(true);
  EXPECT_EQ(model.memory, rtl.memory);
  EXPECT_EQ(model.counters, rtl.counters);
  EXPECT_NEAR(double(model.last_ps) / double(rtl.last_ps), 1, 0.01);
}

// Contexts of a node that reach the segments of all.
void enable_contexts(sim::system& s, unsigned node, unsigned contexts) {
  constexpr uint64_t table = 0x180000, domain = 3;
  s.memory(node).store<uint64_t>(table, sim::endpoint_base | 7);
  s.memory(node).store<uint64_t>(table + 8, domain);
  s.write_register(node, GGAS_REG_ATU_PIECE(0), table);
  s.write_register(node, GGAS_REG_ATU_TABLE2, 1);
  for (unsigned v = 0; v < contexts; ++v)
    s.write_register(node, GGAS_REG_CONTEXT_CTRL(v),
                     GGAS_CONTEXT_CTRL_ENABLE_MASK | domain << GGAS_CONTEXT_CTRL_PD_SHIFT);
}

// Its packets end at borders of its target, so its reads of the source cross borders of PCIe.
TEST_P(beside_rtl, a_put_to_another_place_in_the_line) {
  constexpr unsigned context = 5;
  constexpr uint32_t bytes = 128 << 10;
  const auto run = [&](bool models) {
    auto c = of_models(2, "auto", GetParam());
    c.model_nics = models;
    auto s = make(std::move(c));
    for (unsigned n = 0; n < 2; ++n) enable_contexts(*s, n, context + 1);
    for (uint64_t at = 0; at < bytes; at += 8) gpu(*s, 0).memory.store<uint64_t>(at, word(3, unsigned(at)));
    s->run_for(20'000'000);
    const uint64_t begin = s->now_ps(), to = 0x80000 + 64;
    const auto slot =
        nic::descriptor{.op = nic::desc_op::put, .node = 1, .size = bytes, .w1 = nla, .w2 = nla + to}.encode().front();
    for (unsigned i = 0; i < slot.size(); i += 2)
      s->store(0, sim::bar4_base + context * nic::rma_context_bytes + nic::rma_slots_offset + 4 * i,
               slot[i] | uint64_t{slot[i + 1]} << 32, 8);
    s->run_for(600'000'000);
    for (uint64_t at = 0; at < bytes; at += 8)
      EXPECT_EQ(gpu(*s, 1).memory.load<uint64_t>(to + at), word(3, unsigned(at))) << at;
    return double(gpu(*s, 1).last_write_ps - begin);
  };
  const double rtl = run(false), model = run(true);
  EXPECT_NEAR(model / rtl, 1, 0.05);
}

// Two nodes with a context each; their NICs are models, or the RTL.
auto two_nodes(const auto& nics, bool models) {
  auto c = of_models(2, "auto", nics);
  c.model_nics = models;
  auto s = make(std::move(c));
  for (unsigned n = 0; n < 2; ++n) enable_contexts(*s, n, 1);
  return s;
}

// A put writes its status three times: when it gives back its slots, because all of its payload has been requested;
// when it ends; and when it is acknowledged. So a processor that waits for the status block misses its cache three
// times.
TEST_P(beside_rtl, a_put_writes_its_status_as_often) {
  const auto slot =
      nic::descriptor{.op = nic::desc_op::put, .ack = true, .node = 1, .size = 32, .w1 = nla, .w2 = nla + 4096}
          .encode()
          .front();
  for (const bool models : {false, true}) {
    auto s = two_nodes(GetParam(), models);
    s->write_register(0, GGAS_REG_CONTEXT_STATUS(0), 0x1c0000);
    s->run_for(20'000'000);
    for (unsigned i = 0; i < slot.size(); i += 2)
      s->store(0, sim::bar4_base + nic::rma_slots_offset + 4 * i, slot[i] | uint64_t{slot[i + 1]} << 32, 8);
    s->run_for(50'000'000);
    EXPECT_EQ(s->counters(0)["RMA_STATUS_WRITES"], 3u) << models;
  }
}

// The payload of a put that holds its context is read once, however many descriptors come while it waits for its
// answer.
TEST_P(beside_rtl, a_put_that_holds_its_context_is_read_once) {
  constexpr unsigned puts = 8;
  const auto slot = nic::descriptor{.op = nic::desc_op::put,
                                    .notify_requester = true,
                                    .ack = true,
                                    .node = 1,
                                    .size = 64,
                                    .w1 = nla,
                                    .w2 = nla + 4096}
                        .encode()
                        .front();
  for (const bool models : {false, true}) {
    auto s = two_nodes(GetParam(), models);
    s->run_for(20'000'000);
    for (unsigned put = 0; put < puts; ++put) {
      for (unsigned i = 0; i < slot.size(); i += 2)
        s->store(0, sim::bar4_base + nic::rma_slots_offset + put * nic::rma_slot_bytes + 4 * i,
                 slot[i] | uint64_t{slot[i + 1]} << 32, 8);
      s->run_for(250'000);
    }
    s->run_for(100'000'000);
    EXPECT_EQ(gpu(*s, 0).reads, puts) << models;
    EXPECT_EQ(gpu(*s, 1).writes, puts) << models;
  }
}

// The notification of a put, and the one of a get, follow the data: both come as soon as with the RTL.
TEST_P(beside_rtl, a_notification_behind_its_data) {
  constexpr uint64_t ring = 0x140000, log2 = 4;
  const auto run = [&](const nic::descriptor& d, bool models) {
    auto c = of_models(2, "auto", GetParam());
    c.model_nics = models;
    auto s = make(std::move(c));
    const auto set = [&](unsigned node, uint16_t offset, uint64_t value) { s->write_register(node, offset, value); };
    for (unsigned n = 0; n < 2; ++n) {
      enable_contexts(*s, n, 1);
      const uint64_t ctrl = s->read_register(n, GGAS_REG_CONTEXT_CTRL(0)).value();
      set(n, GGAS_REG_CONTEXT_NOTIFY(0), sim::endpoint_base + ring);
      set(n, GGAS_REG_CONTEXT_CTRL(0), ctrl | log2 << GGAS_CONTEXT_CTRL_NOTIFY_LOG2_SHIFT);
    }
    const auto slot = d.encode().front();
    uint64_t begin = 0;
    for (unsigned time = 0; time < 2; ++time) {  // the first one walks for translations
      s->run_for(50'000'000);
      begin = s->now_ps();
      for (unsigned i = 0; i < slot.size(); i += 2)
        s->store(0, sim::bar4_base + nic::rma_slots_offset + time * nic::rma_slot_bytes + 4 * i,
                 slot[i] | uint64_t{slot[i + 1]} << 32, 8);
    }
    s->run_for(50'000'000);
    const unsigned to = d.op == nic::desc_op::put;
    EXPECT_EQ(s->counters(to)["RMA_NOTIFICATIONS"], 2u);
    return double(gpu(*s, to).last_write_ps - begin);
  };
  const double cycle_ps = 1e12 / double(config(GetParam(), true).plat.nic.hertz);
  for (const nic::desc_op op : {nic::desc_op::put, nic::desc_op::get})
    for (const uint32_t bytes : {8u, 256u, 1024u}) {
      const nic::descriptor d{
          .op = op, .notify_completer = true, .node = 1, .size = bytes, .w1 = nla, .w2 = nla + 0x80000};
      const double late = (run(d, true) - run(d, false)) / cycle_ps;
      std::printf("| %s | %u | %+.1f cycles |\n", op == nic::desc_op::put ? "put" : "get", bytes, late);
      EXPECT_NEAR(late, 0, 2) << unsigned(op) << ", " << bytes << " bytes";
    }
}

// All other nodes add to one word of node 0, from several contexts each, as fast as they can
// (docs/nic-model.md#how-far-off-it-is).
TEST_P(beside_rtl, atomics_on_one_word) {
  struct cell {
    std::string platform;
    unsigned nodes, contexts;
  };
  const auto slots = nic::descriptor{.op = nic::desc_op::atomic, .node = 0, .size = 8, .w1 = 1, .w2 = nla}.encode();
  const auto each = unsigned(nic::rma_slots / slots.size());
  const auto run = [&](const cell& at, bool models) {
    auto c = of_models(int(at.nodes), "auto", GetParam());
    c.model_nics = models;
    auto s = make(std::move(c));
    for (unsigned n = 0; n < at.nodes; ++n) enable_contexts(*s, n, at.contexts);
    s->run_for(20'000'000);
    const uint64_t begin = s->now_ps();
    s->sim().enter();
    for (unsigned n = 1; n < at.nodes; ++n)
      for (unsigned i = 0; i < at.contexts * each; ++i) {
        uint64_t to = i % at.contexts * nic::rma_context_bytes + nic::rma_slots_offset;
        to += i / at.contexts * slots.size() * nic::rma_slot_bytes;
        for (const auto& slot : slots) {
          gpu(*s, n).store(gpu(*s, n).slot.pages_address + to, std::as_bytes(std::span(slot)));
          to += nic::rma_slot_bytes;
        }
      }
    s->run_for(200'000'000);
    EXPECT_EQ(gpu(*s, 0).memory.load<uint64_t>(0), (at.nodes - 1) * at.contexts * each);
    for (unsigned n = 0; n < at.nodes && models; ++n) EXPECT_EQ(s->nic_fault(n), "");
    return double(gpu(*s, 0).last_write_ps - begin);
  };
  for (const unsigned nodes : {2u, 4u, 8u})
    for (const unsigned contexts : {4u, 16u}) {
      if (nodes > 2 && GetParam() == std::string("modern") && !GGAS_WIDE_LINKS) continue;
      const cell at{GetParam(), nodes, contexts};
      const double rtl = run(at, false), model = run(at, true);
      std::printf("| %u | %u | %.2f | %.2f | %+.1f %% |\n", nodes, contexts, rtl / 1e6, model / 1e6,
                  100 * (model / rtl - 1));
      EXPECT_NEAR(model / rtl, 1, 0.05) << nodes << " nodes, " << contexts << " contexts: " << rtl / 1e6 << " us";
    }
}

}  // namespace
}  // namespace ggas::test
