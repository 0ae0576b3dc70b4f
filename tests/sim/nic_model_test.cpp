// SPDX-License-Identifier: Apache-2.0
// The model of the NIC in whole systems: any number of nodes, errors and events in registers and rings.
#include <array>

#include "tests/sim/nic_model_rig.hpp"

namespace ggas::test {
namespace {

uint64_t word(unsigned from, unsigned to) { return 0x1000001ull * from + to; }

struct shape {
  int nodes;
  const char* topology;
  bool models = true;
};
class shapes : public testing::TestWithParam<shape> {};
INSTANTIATE_TEST_SUITE_P(nic_model, shapes,
                         testing::Values(shape{1, "full"}, shape{2, "full"}, shape{5, "ring"}, shape{9, "mesh:3x3"},
                                         shape{12, "torus:3x2x2"}, shape{70, "auto"}));
INSTANTIATE_TEST_SUITE_P(nic_rtl, shapes,
                         testing::Values(shape{2, "ring", false}, shape{3, "full", false}, shape{5, "ring", false},
                                         shape{8, "torus:2x2x2", false}));
TEST_P(shapes, every_node_reaches_every_other) {
  const auto [nodes, topology, models] = GetParam();
  auto c = of_models(nodes, topology);
  c.model_nics = models;
  auto s = make(std::move(c));
  ASSERT_TRUE(s);
  const auto n = unsigned(nodes);
  for (unsigned from = 0; from < n; ++from)
    for (unsigned to = 0; to < n; ++to) {
      const uint64_t value = word(from, to);
      s->sim().enter();
      gpu(*s, from).store(gpu(*s, from).window(to, 8 * from), std::as_bytes(std::span(&value, 1)));
    }
  s->run_for(100'000'000);
  for (unsigned to = 0; to < n; ++to)
    for (unsigned from = 0; from < n; ++from)
      EXPECT_EQ(gpu(*s, to).memory.load<uint64_t>(8 * from), word(from, to)) << from << " to " << to;
  for (unsigned from = 0; from < n; from += 7) {
    const auto r = read(*s, from, gpu(*s, from).window((from + 1) % n, 8 * from), 8);
    ASSERT_TRUE(r.ok());
    EXPECT_EQ(r.dws[0] | uint64_t{r.dws[1]} << 32, word(from, (from + 1) % n));
  }
  for (unsigned i = 0; i < n; ++i) {
    EXPECT_TRUE(s->events(i).empty()) << s->events(i).front();
    EXPECT_EQ(s->nic_fault(i), "");
  }
}

// Window address at which a store goes to all other nodes.
uint64_t to_all(sim::system& s, unsigned from, uint64_t offset) {
  return gpu(s, from).slot.window_base + s.multicast_offset().value() + offset;
}

class groups : public testing::TestWithParam<shape> {};
INSTANTIATE_TEST_SUITE_P(nic_model, groups,
                         testing::Values(shape{4, "full"}, shape{5, "ring"}, shape{9, "mesh:3x3"},
                                         shape{12, "torus:3x2x2"}, shape{27, "torus:3x3x3"}));
INSTANTIATE_TEST_SUITE_P(nic_rtl, groups,
                         testing::Values(shape{3, "full", false}, shape{5, "ring", false},
                                         shape{8, "torus:2x2x2", false}));

// Every node stores data to all others, makes a quiet, and stores a flag to all others: when the quiet is answered the
// data are on all of them, and nowhere else; and a flag arrives after its data.
TEST_P(groups, data_then_quiet_then_flag) {
  const auto [nodes, topology, models] = GetParam();
  auto c = of_models(nodes, topology);
  c.model_nics = models;
  auto s = make(std::move(c));
  ASSERT_TRUE(s);
  const auto n = unsigned(nodes);
  constexpr unsigned bytes = 4096, part = 128, flags = 0x40000;
  for (unsigned from = 0; from < n; ++from) {
    std::vector<uint64_t> data(bytes / 8);
    for (unsigned i = 0; i < data.size(); ++i) data[i] = word(from, i);
    s->sim().enter();
    for (unsigned at = 0; at < bytes; at += part)
      gpu(*s, from).store(to_all(*s, from, from * bytes + at), std::as_bytes(std::span(data)).subspan(at, part));
    const auto q = read(*s, from, gpu(*s, from).slot.pages_address, 8);
    ASSERT_TRUE(q.ok());
    EXPECT_EQ(q.dws[0], 0u);
    for (unsigned to = 0; to < n; ++to) {
      std::vector<uint64_t> there(data.size());
      gpu(*s, to).memory.read(from * bytes, std::as_writable_bytes(std::span(there)));
      EXPECT_EQ(there == data, to != from) << "node " << to << " when the quiet of " << from << " was answered";
    }
    const uint64_t flag = from + 1;
    s->sim().enter();
    gpu(*s, from).store(to_all(*s, from, flags + 8 * from), std::as_bytes(std::span(&flag, 1)));
  }
  s->run_for(100'000'000);
  for (unsigned to = 0; to < n; ++to)
    for (unsigned from = 0; from < n; ++from)
      EXPECT_EQ(gpu(*s, to).memory.load<uint64_t>(flags + 8 * from), from == to ? 0 : from + 1);
  for (unsigned i = 0; i < n; ++i) {
    EXPECT_TRUE(s->events(i).empty()) << s->events(i).front();
    EXPECT_EQ(s->nic_fault(i), "");
    EXPECT_EQ(s->counters(i)["SMFU_STORE_PACKETS"], bytes / part + 1);
    EXPECT_EQ(s->counters(i)["SMFU_TARGET_STORES"], (n - 1) * (bytes / part + 1));
  }
}

// A load from all is refused. A member whose export does not permit the store refuses only its copy, and quiet reports
// it.
TEST_P(groups, what_is_refused_is_reported) {
  const auto [nodes, topology, models] = GetParam();
  auto c = of_models(nodes, topology);
  c.model_nics = models;
  auto s = make(std::move(c));
  ASSERT_TRUE(s);
  const auto n = unsigned(nodes);
  const auto r = read(*s, 0, to_all(*s, 0, 64), 8);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.dws[0], ~0u);
  EXPECT_EQ(s->counters(0)["EVENT_LOAD_UNMAPPED"], 1u);
  s->write_register(1, uint16_t(GGAS_REG_EXPORT_ACCESS(0)), 0);
  const uint64_t value = 77;
  s->sim().enter();
  gpu(*s, 0).store(to_all(*s, 0, 64), std::as_bytes(std::span(&value, 1)));
  const auto q = read(*s, 0, gpu(*s, 0).slot.pages_address, 8);
  ASSERT_TRUE(q.ok());
  EXPECT_EQ(q.dws[0], unsigned(nic::net_status::range));
  for (unsigned to = 0; to < n; ++to) {
    EXPECT_EQ(gpu(*s, to).memory.load<uint64_t>(64), to > 1 ? value : 0) << to;
    EXPECT_EQ(s->counters(to)["EVENT_TARGET_RANGE"], to == 1) << to;
  }
  // The line of the root is taken out of the table.
  s->write_register(0, GGAS_REG_MULTICAST,
                    uint64_t{fabric::own_units} << GGAS_MULTICAST_LINK_SHIFT | GGAS_MULTICAST_SET_MASK);
  s->sim().enter();
  gpu(*s, 0).store(to_all(*s, 0, 128), std::as_bytes(std::span(&value, 1)));
  s->run_for(100'000'000);
  EXPECT_EQ(s->counters(0)["EVENT_PACKET_LOST"], 1u);
  EXPECT_EQ(s->counters(0)["EVENT_STORE_LOST"], 1u);
  for (unsigned to = 0; to < n; ++to) EXPECT_EQ(gpu(*s, to).memory.load<uint64_t>(128), 0u);
}

// Until the last byte is at all other nodes: stored to all at once, or to one after the other.
TEST(nic_rtl, stores_to_all_take_less_time_than_stores_to_each) {
  constexpr unsigned nodes = 8, part = 128;
  for (const unsigned bytes : {128u, 16384u}) {
    std::array<uint64_t, 2> took{};
    for (const bool at_once : {false, true}) {
      auto c = of_models(nodes, "torus:2x2x2");
      c.model_nics = false;
      auto s = make(std::move(c));
      ASSERT_TRUE(s);
      const std::vector<std::byte> data(part, std::byte{1});
      const uint64_t from = s->now_ps();
      s->sim().enter();
      for (unsigned at = 0; at < bytes; at += part) {
        if (at_once) gpu(*s, 0).store(to_all(*s, 0, at), data);
        for (unsigned to = 1; !at_once && to < nodes; ++to) gpu(*s, 0).store(gpu(*s, 0).window(to, at), data);
      }
      s->run_for(bytes == part ? 20'000'000 : 600'000'000);
      for (unsigned to = 1; to < nodes; ++to) {
        EXPECT_EQ(gpu(*s, to).writes, bytes / part);
        took[at_once] = std::max(took[at_once], gpu(*s, to).last_write_ps - from);
      }
    }
    std::cout << bytes << " bytes to 7 nodes: " << double(took[0]) / 1e6 << " us one by one, " << double(took[1]) / 1e6
              << " us by a group\n";
    EXPECT_LT(took[1], took[0]);
    EXPECT_TRUE(bytes == part || double(took[1]) < 0.6 * double(took[0]));
  }
}

// A NIC with one link has no groups: such an interval is bad.
TEST(nic_rtl, one_link_has_no_groups) {
  for (const bool models : {false, true}) {
    auto c = of_models(2);
    c.model_nics = models;
    auto s = make(std::move(c));
    ASSERT_TRUE(s);
    EXPECT_FALSE(s->multicast_offset());
    EXPECT_EQ(s->read_register(0, GGAS_REG_BUILD).value() & GGAS_BUILD_GROUPS_MASK, 0u);
    s->write_register(0, uint16_t(GGAS_REG_INTERVAL_TARGET(1)),
                      1 | GGAS_INTERVAL_TARGET_VALID_MASK | GGAS_INTERVAL_TARGET_GROUP_MASK);
    const uint64_t target = s->read_register(0, uint16_t(GGAS_REG_INTERVAL_TARGET(1))).value();
    EXPECT_EQ(target & (GGAS_INTERVAL_TARGET_VALID_MASK | GGAS_INTERVAL_TARGET_GROUP_MASK), 0u);
    EXPECT_EQ(s->counters(0)["EVENT_BAD_INTERVAL"], 1u);
  }
}

// A cable of a ring of RTL is cut. The NICs at its ends report this, and packets towards it are reported where they are
// discarded. When software has written new routes, every node reaches every other one.
TEST(nic_rtl, a_cut_link_is_rerouted_around) {
  auto c = of_models(4, "ring");
  c.model_nics = false;
  c.faults = "0->1 cut from 400\n1->0 cut from 400\n";
  auto s = make(std::move(c));
  ASSERT_TRUE(s);
  s->run_for(402'000'000 - s->now_ps());  // no report yet
  const auto send = [&](unsigned from, unsigned to, uint64_t value) {
    s->sim().enter();
    gpu(*s, from).store(gpu(*s, from).window(to, 8 * from), std::as_bytes(std::span(&value, 1)));
    s->run_for(20'000'000);
  };
  send(0, 1, 7);
  send(2, 1, 8);
  EXPECT_EQ(gpu(*s, 1).memory.load<uint64_t>(16), 8u);
  EXPECT_EQ(s->manager()->changes(), 0u);
  s->run_for(2'000'000'000);  // the ring is a line now
  EXPECT_EQ(s->manager()->changes(), 1u);
  for (const unsigned n : {0u, 1u}) EXPECT_EQ(s->counters(n)["EVENT_LINK_DEAD"], 1u) << n;
  EXPECT_EQ(s->counters(0)["EVENT_PACKET_LOST"], 1u);
  EXPECT_EQ(s->counters(0)["EVENT_STORE_LOST"], 1u);
  for (unsigned from = 0; from < 4; ++from)
    for (unsigned to = 0; to < 4; ++to) {
      send(from, to, word(from, to));
      EXPECT_EQ(gpu(*s, to).memory.load<uint64_t>(8 * from), word(from, to)) << from << " to " << to;
    }
  EXPECT_EQ(s->counters(0)["EVENT_PACKET_LOST"], 1u);
}

// What the target refuses is reported there, in the ring of events, by interrupt.
TEST(nic_model, a_store_out_of_range_is_an_event) {
  auto c = of_models(3);
  c.segment_bytes = 12288;  // a stride of 16 KB: the mask leads past the segment
  c.mask_mode = true;
  auto s = make(std::move(c));
  ASSERT_TRUE(s);
  const uint64_t value = 1;
  s->sim().enter();
  gpu(*s, 0).store(gpu(*s, 0).window(2, 12288), std::as_bytes(std::span(&value, 1)));
  s->run_for(50'000'000);
  ASSERT_EQ(s->events(2).size(), 1u);
  EXPECT_NE(s->events(2)[0].find("TARGET_RANGE (remote node 0"), std::string::npos) << s->events(2)[0];
  EXPECT_EQ(s->counters(2)["EVENT_TARGET_RANGE"], 1u);
  EXPECT_EQ(gpu(*s, 2).writes, 0u);
}

TEST(nic_model, a_load_that_nobody_answers_ends_in_ones) {
  auto s = make(of_models(3));
  ASSERT_TRUE(s);
  gpu(*s, 1).link.on_receive = [](pcie::tlp&) { return true; };  // swallows the read
  const auto r = read(*s, 0, gpu(*s, 0).window(1, 0), 8);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.dws[0], ~0u);
  EXPECT_EQ(s->counters(1)["EVENT_TARGET_TIMEOUT"], 1u);
  EXPECT_EQ(s->counters(0)["SMFU_LOAD_ERRORS"], 1u);
}

TEST(nic_model, what_it_cannot_do_is_said) {
  const auto error = [](auto change) {
    auto c = of_models(4);
    change(c);
    const auto s = sim::system::create(std::move(c));
    return s ? std::string("none") : s.error();
  };
  EXPECT_EQ(error([](auto& c) { c.faults = "* drop at 3\n"; }),
            "faults:1: the model of the NIC sends no flits: drop, corrupt and duplicate need the RTL");
  EXPECT_EQ(error([](auto& c) { c.pcap = "x"; }),
            "the model of the NIC sends no flits: waves, trace and pcap need the RTL");
  EXPECT_EQ(error([](auto& c) { c.faults = "\nnode 4 dead from 3\n"; }), "faults:2: there is no node 4: 0 to 3");
  EXPECT_EQ(error([](auto& c) { c.topology = "torus:3x3"; }), "topology 'torus:3x3' of 4 nodes: it has 9 nodes");
  EXPECT_EQ(error([](auto& c) { c.nodes = 0; }), "nodes = 0: 1 to 65536 are possible with the model of the NIC");
}

// A descriptor that waited for RMA_CTRL.requester begins with the next write of its page. The time for this was not
// measured.
TEST(nic_model, a_step_without_a_time_is_a_fault) {
  auto s = make(of_models(3));
  ASSERT_TRUE(s);
  const uint64_t ctrl = s->read_register(1, GGAS_REG_RMA_CTRL).value();
  s->write_register(1, GGAS_REG_RMA_CTRL, ctrl & ~uint64_t{GGAS_RMA_CTRL_REQUESTER_MASK});
  s->write_register(1, GGAS_REG_CONTEXT_CTRL(0),
                    GGAS_CONTEXT_CTRL_ENABLE_MASK | uint64_t{3} << GGAS_CONTEXT_CTRL_PD_SHIFT);
  const auto slot = nic::descriptor{.op = nic::desc_op::imm, .node = 2, .size = 8, .w1 = 7, .w2 = nla}.encode().front();
  for (unsigned i = 0; i < slot.size(); i += 2)
    s->store(1, sim::bar4_base + nic::rma_slots_offset + 4 * i, slot[i] | uint64_t{slot[i + 1]} << 32, 8);
  s->run_for(20'000'000);
  EXPECT_EQ(s->nic_fault(1), "");
  s->write_register(1, GGAS_REG_RMA_CTRL, ctrl | GGAS_RMA_CTRL_REQUESTER_MASK);
  s->store(1, sim::bar4_base + nic::rma_doorbell_notes, 0, 4);
  s->run_for(20'000'000);
  EXPECT_EQ(s->nic_fault(1), "the model of the 64-bit NIC has no time from doorbell to packet (docs/nic-model.md)");
  EXPECT_EQ(s->nic_fault(0) + s->nic_fault(2), "");
}

}  // namespace
}  // namespace ggas::test
