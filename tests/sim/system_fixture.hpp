// SPDX-License-Identifier: Apache-2.0
// Whole systems for tests: a platform by name, the segment in a plain endpoint, and which NIC is inside.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sim/system.hpp"
#include "tests/sim/model_core.hpp"

namespace ggas::test {

// An endpoint with plain memory that can read and write the window.
class memory_endpoint : public sim::endpoint {
 public:
  explicit memory_endpoint(const sim::endpoint_slot& s)
      : slot(s),
        link(sc_core::sc_gen_unique_name("gpu_port"), s.plat.pcie.gpu.device),
        requester(sc_core::sc_gen_unique_name("gpu_requester"), link,
                  {.id = s.id, .tags = 32, .timeout_ps = 40'000'000'000}) {
    link.on_receive = [this](pcie::tlp& t) { return receive(t); };
  }
  pcie::port& port() override { return link; }
  std::map<std::string, uint64_t> counters() const override { return {{"gpu.writes", writes}, {"gpu.reads", reads}}; }

  void store(uint64_t addr, std::span<const std::byte> bytes) { link.send(pcie::memory_write(addr, bytes, slot.id)); }
  uint64_t window(unsigned node, uint64_t offset) const { return slot.window_base + node * slot.stride + offset; }

  const sim::endpoint_slot slot;
  pcie::port link;
  pcie::requester requester;
  mem::sparse_memory memory;
  uint64_t writes = 0, reads = 0, last_write_ps = 0;

 private:
  bool receive(pcie::tlp& t) {
    if (t.completion()) {
      requester.complete(t);
      return true;
    }
    const uint64_t at = t.addr - slot.bar_base;
    if (t.kind == pcie::tlp_kind::mwr) {
      ++writes;
      last_write_ps = pcie::now_ps();
      pcie::for_each_byte(t, [&](uint64_t a, std::byte b) { memory.write(a - slot.bar_base, {&b, 1}); });
    } else if (t.kind == pcie::tlp_kind::mrd) {
      ++reads;
      std::vector<uint32_t> dws(t.len_dw);
      memory.read(at, std::as_writable_bytes(std::span(dws)));
      for (auto& c : pcie::read_completions(t, dws, slot.mps, 64, slot.id)) link.send(std::move(c));
    }
    return true;
  }
};

inline sim::system_config config(const char* platform, bool rtl, std::vector<std::string> overrides = {}) {
  auto p = sim::load_platform(platform, overrides);
  EXPECT_TRUE(p) << p.error();
  sim::system_config c;
  if (p) c.plat = std::move(*p);
  c.gpu = [](const sim::endpoint_slot& s) { return std::make_unique<memory_endpoint>(s); };
  if (!rtl)
    c.make_nic = [](unsigned width, const nic::host_config& h, const char*) {
      return std::make_unique<model_core>(width, h);
    };
  return c;
}

inline memory_endpoint& gpu(sim::system& s, unsigned node) { return static_cast<memory_endpoint&>(*s.gpu(node)); }

// Reads through the window of `node`, running the simulation until the answer is there.
inline pcie::read_result read(sim::system& s, unsigned node, uint64_t addr, unsigned bytes) {
  pcie::read_result result;
  bool done = false;
  s.sim().enter();
  gpu(s, node).requester.read(pcie::memory_read(addr, bytes, 0, 0), [&](pcie::read_result&& r) {
    result = std::move(r);
    done = true;
    s.sim().stop();
  });
  EXPECT_TRUE(s.run_until([&] { return done; }, 200'000'000'000));
  return result;
}

}  // namespace ggas::test
