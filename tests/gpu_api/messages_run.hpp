// SPDX-License-Identifier: Apache-2.0
// Runs tests of messages on a machine of calls_found_run.hpp, which makes ggas_messages by messages_of(config).
#pragma once

#include <string>
#include <vector>

#include "tests/gpu_api/calls_found_run.hpp"
#include "tests/gpu_api/messages_rules.cuh"

namespace ggas::calls {

template <class T>
std::vector<uint8_t> raw_of(const std::vector<T>& v) {
  std::vector<uint8_t> raw(v.size() * sizeof(T));
  std::memcpy(raw.data(), v.data(), raw.size());
  return raw;
}

template <class Machine>
message_args message_args_of(Machine& m, const ggas_messages& world) {
  message_args a{};
  a.world = world;
  a.scratch = m.message_scratch();
  a.expected = m.message_counts();
  a.outcomes = m.outcomes();
  a.timeout_ns = m.timeout_ns();
  a.brief_ns = m.brief_ns();
  return a;
}

template <class Machine>
void run_messages_kernel(Machine& m, const message_args& a, void (*threads)(message_args), void (*warps)(message_args),
                         void (*blocks)(message_args), const std::string& what) {
  const ggas_messages& w = a.world;
  m.run_messages(w, w.kind == ggas_rank_is_thread ? threads : w.kind == ggas_rank_is_warp ? warps : blocks, a);
  check_found(m, w.blocks.blocks * w.threads, what);
}

// Random messages: `count` of each rank. Scratch is zero before.
template <class Machine>
void run_messages_random(Machine& m, const ggas_messages& world, uint32_t count, uint32_t most, uint64_t seed) {
  message_args a = message_args_of(m, world);
  const auto ranks = static_cast<size_t>(detail::rank_count(world)),
             here = static_cast<size_t>(detail::ranks_of_node(world));
  a.seed = seed;
  a.count = count;
  a.most = most;
  a.scratch_bytes = static_cast<uint32_t>(scratch_for(most, ranks));
  std::vector<uint32_t> expected(ranks);
  for (size_t source = 0; source < ranks; ++source)
    for (uint32_t i = 0; i < count; ++i)
      ++expected[static_cast<size_t>(planned(seed, static_cast<int>(source), i, static_cast<int>(ranks), most).to)];
  for (int k = 0; k < m.nodes(); ++k) {
    m.write(k, a.scratch, std::vector<uint8_t>(here * a.scratch_bytes));
    m.write(k, a.expected, raw_of(expected));
  }
  run_messages_kernel(m, a, messages_random<ggas::thread>, messages_random<ggas::warp>, messages_random<ggas::block>,
                      "random messages of " + std::to_string(ranks) + " ranks, seed " + std::to_string(seed));
}

// The ranks of all nodes are an even number.
template <class Machine>
void run_messages_by_rule(Machine& m, const ggas_messages& world) {
  message_args a = message_args_of(m, world);
  a.scratch_bytes = rules_scratch;
  for (int k = 0; k < m.nodes(); ++k)
    m.write(k, a.scratch, std::vector<uint8_t>(static_cast<size_t>(detail::ranks_of_node(world)) * rules_scratch));
  run_messages_kernel(m, a, messages_by_rule<ggas::thread>, messages_by_rule<ggas::warp>, messages_by_rule<ggas::block>,
                      "rules");
}

// Launches that leave something, each before one that begins clean.
template <class Machine>
void run_messages_after_others(Machine& m, const ggas_messages& world, unsigned times, uint32_t count) {
  for (unsigned i = 0; i < times; ++i) {
    run_messages_kernel(m, message_args_of(m, world), messages_left<ggas::thread>, messages_left<ggas::warp>,
                        messages_left<ggas::block>, "leaving");
    run_messages_random(m, world, count, 600, 100 + i);
  }
}

}  // namespace ggas::calls
