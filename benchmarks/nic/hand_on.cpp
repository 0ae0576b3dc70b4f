// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/nic/hand_on.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "benchmarks/nic/cycles.hpp"
#include "benchmarks/nic/rig.hpp"

namespace ggas::bench {

namespace {

using nic::cause;
using nic::effect;
using pcie::tlp;
using pcie::tlp_kind;

constexpr unsigned owner = 1, word_dws = 2, answer_dws = 4;

// Atomics on one word, at the pins of its owner. Times are cycles.
struct on_one_word {
  std::vector<uint64_t> packets, writes, answers, statuses;  // writes: of the word
  std::vector<tlp> reads;
  uint64_t read_answered = 0;
};

using condition = std::function<bool(const on_one_word&)>;

// Posts `count` atomics. Node `second` posts all but the first one, once the host has received the request for the
// word. The host answers when `answers` is true.
on_one_word run(nic_rig& rig, unsigned width, unsigned second, unsigned count, const condition& answers,
                const condition& over) {
  const nic::descriptor add{.op = nic::desc_op::atomic, .node = owner, .size = 8, .w1 = 1, .w2 = nic_rig::segment_nla};
  on_one_word seen;
  nic::flit_decoder decoder(width);
  rig.silence(owner, true);
  rig.on_tlp = [&](unsigned n, const tlp& t) {
    if (n != owner || t.completion()) return;
    if (t.non_posted())
      seen.reads.push_back(t);
    else
      (t.len_dw == word_dws ? seen.writes : seen.statuses).push_back(rig.now());
  };
  rig.on_flit = [&](unsigned n, const nic::flit& f) {
    if (n == owner && f.kind == nic::flit_kind::sop) seen.answers.push_back(rig.now());
    if (n != owner && decoder.push(f)) seen.packets.push_back(rig.now() + nic_cycles_wire);
  };
  rig.post(0, 0, add);
  rig.until([&] { return seen.reads.size() == 1; });
  for (unsigned v = 1; v < count; ++v) rig.post(second, v, add);
  rig.until([&] { return answers(seen); });
  seen.read_answered = rig.now() + 1;
  rig.silence(owner, false);
  rig.answer(owner, seen.reads.front());
  rig.until([&] { return over(seen); });
  rig.on_tlp = nullptr;
  rig.on_flit = nullptr;
  rig.drain();
  return seen;
}

// The first one's value is in progress when the second one comes, or the second one waits for it, or comes too late.
void come_soon(nic_rig& rig, unsigned width, hand_on& all) {
  constexpr unsigned longest = 100;  // cycles from the posting of the second one to the answer of the host
  constexpr uint64_t never = std::numeric_limits<uint64_t>::max();
  uint64_t kept = 0, write = never, answer = never;
  for (unsigned delay = 0; delay < longest; ++delay) {
    unsigned waited = 0;
    const on_one_word it = run(
        rig, width, 1 - owner, 2, [&](const on_one_word&) { return waited++ == delay; },
        [](const on_one_word& seen) { return seen.answers.size() == 2; });
    if (it.reads.size() > 1) continue;
    const uint64_t came = it.packets[1];
    kept = std::max(kept, came - std::min(came, it.writes[0]));
    write = std::min(write, it.writes[1] - came);
    answer = std::min(answer, it.answers[1] - came);
  }
  all.kept = unsigned(kept);
  all.times = {{cause::atomic, false, effect::packet, 1, float(answer)},
               {cause::atomic, false, effect::write, 1, float(write)}};
}

// The second one is of the owner itself: its status is written after the word.
void one_of_the_owner(nic_rig& rig, unsigned width, hand_on& all) {
  unsigned waited = 0;
  constexpr unsigned enough = 100;  // cycles
  const on_one_word it = run(
      rig, width, owner, 2, [&](const on_one_word&) { return waited++ == enough; },
      [](const on_one_word& seen) { return seen.writes.size() == 2 && seen.statuses.back() > seen.writes[1]; });
  const auto behind = float(it.statuses.back() - it.writes[1]), first = float(it.writes[0] - it.read_answered);
  all.times.push_back({cause::atomic, false, effect::write_behind, 1, all.times.back().cycles + behind});
  all.times.push_back({cause::atomic, true, effect::write_behind, 1, first + behind});
}

// More than the NIC holds wait for the first one.
on_one_word wait_in_line(nic_rig& rig, unsigned width) {
  constexpr unsigned count = nic_rig::contexts;
  return run(
      rig, width, 1 - owner, count, [&](const on_one_word& seen) { return seen.packets.size() == count; },
      [&](const on_one_word& seen) { return seen.answers.size() == count; });
}

// Those that the NIC holds end as closely as it executes them, if their answers have room in front of the link.
float least(const std::vector<uint64_t>& at) {
  uint64_t distance = at.back();
  for (size_t i = 1; i < at.size() / 2; ++i) distance = std::min(distance, at[i] - at[i - 1]);
  return float(distance);
}

// The others end as closely as it admits them.
unsigned admitted(const std::vector<uint64_t>& at) {
  const size_t half = at.size() / 2;
  return unsigned(std::lround(double(at.back() - at[half]) / double(at.size() - 1 - half)));
}

// One narrow link has no room for answers, but the queues in front of several links have.
on_one_word wait_with_room(unsigned width) {
  nic_rig rig(width, 1, {}, width == 64 ? 2 : 1);
  return wait_in_line(rig, width);
}

}  // namespace

hand_on measure_hand_on(unsigned width) {
  nic_rig rig(width, 1);
  const on_one_word line = wait_in_line(rig, width);  // after this the translations are there
  hand_on all{.gap = admitted(line.writes),
              .paces = {{cause::atomic, true, effect::packet, answer_dws, least(line.answers)},
                        {cause::atomic, true, effect::write, word_dws, least(wait_with_room(width).writes)}}};
  come_soon(rig, width, all);
  one_of_the_owner(rig, width, all);
  return all;
}

}  // namespace ggas::bench
