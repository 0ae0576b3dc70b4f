// SPDX-License-Identifier: Apache-2.0
// post_and_poll: what it takes a GPU to post a request, and to poll a completion that is there, each alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "benchmarks/cluster/one_sided/one_sided.hpp"
#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/kernels/one_sided/verbs.cuh"
#include "sim/gpu/config.hpp"
#include "sim/platform/platform.hpp"

namespace ggas::bench {

namespace {

using kernel = void (*)(post_and_poll_args);

struct step {
  const char* variant;
  kernel posts, polls, bad_post;
  bool swaps, stamps, checks;
};
template <verbs_step S>
constexpr step step_of(const char* variant) {
  return {variant,
          verbs_posts<S>,
          verbs_polls<S>,
          verbs_bad_post<S>,
          S < verbs_step::swapped,
          S < verbs_step::unstamped,
          S < verbs_step::unchecked};
}
constexpr std::array steps = {step_of<verbs_step::whole>("verbs"), step_of<verbs_step::copied>("copied"),
                              step_of<verbs_step::swapped>("swapped"), step_of<verbs_step::unstamped>("unstamped"),
                              step_of<verbs_step::unchecked>("unchecked")};

constexpr uint32_t number = 0x4711, message_bytes = 1024, our_calls = 32;

struct counted {
  const char* metric;
  const char* counter;
};
constexpr counted counters[] = {{"host_reads", "gpu.host_reads"},
                                {"host_writes", "gpu.host_writes"},
                                {"device_reads", "gpu.local_loads"},
                                {"device_writes", "gpu.local_stores"}};

class post_and_poll {
 public:
  explicit post_and_poll(session& s) : s_(s) {
    layout_plan room(s.data_offset());
    segment_rings_ = room.place<verbs_rings>(1);
    a_.results = room.place<verbs_result>(verbs_places);
    a_.outcomes = room.place<outcome>(1);
    a_.samples = room.place<uint64_t>(verbs_places);
    a_.source = room.place<uint64_t>(our_calls * message_bytes / sizeof(uint64_t));
    a_.target = room.place<uint64_t>(our_calls * message_bytes / sizeof(uint64_t));
    a_.arithmetic = room.place<verbs_arithmetic>(1);
    a_.doorbell = reinterpret_cast<uint32_t*>(s.machine().host_memory(0).base);
    a_.timeout_ns = s.opts().timeout_ns / 4;
  }

  // The platform's op_cycles are those of issue_cycles instructions, each of which needs the result of the one before.
  result<> find_instruction() {
    const cluster_config& c = s_.opts().cluster;
    const auto p = sim::load_platform(c.platform, c.overrides);
    if (!p) return failed(errc::bad_platform, p.error());
    const auto g = gpu::parse_gpu(p->gpu, p->file);
    if (!g) return failed(errc::bad_platform, g.error());
    around_access_ = g->issue_cycles;
    a_.instruction_ps = uint32_t(g->cycles(double(g->op_cycles) / g->issue_cycles));
    return {};
  }

  result<> verbs(const step& x, bool on_host) {
    a_.calls = s_.opts().sized(8u, 16u, 100u);
    a_.rings = on_host ? reinterpret_cast<verbs_rings*>(s_.machine().host_memory(0).base + 64)
                       : at_offset<verbs_rings>(s_, 0, segment_rings_);
    const point here{x.variant, on_host ? "host" : "gpu"};
    GGAS_TRY(refuse(x, here));
    clear(x);
    GGAS_TRY(measure(here, "post", x.posts, 0));
    GGAS_TRY(check_entries(x, here));
    complete();
    GGAS_TRY(measure(here, "poll", x.polls, 0));
    return check_results(here);
  }

  // Posts by the first node, polls by the second one, when all data have arrived.
  result<> ours(const char* memory) {
    a_.calls = s_.opts().sized(8u, 16u, our_calls);
    a_.request = {.id = 1, .near = 0, .far = 0, .bytes = message_bytes, .pieces = 1, .near_key = 0, .far_key = 0};
    const point here{"ours", memory};
    const uint64_t words = a_.calls * message_bytes / sizeof(uint64_t);
    for (uint64_t i = 0; i < words; ++i) at_offset<uint64_t>(s_, 0, a_.source)[i] = pattern(seed(), 0, i);
    GGAS_TRY(measure(here, "post", our_posts, 0));
    GGAS_TRY(measure(here, "poll", our_polls, 1));
    return check_target(s_, 1, a_.target, words * sizeof(uint64_t), 0, here.text());
  }

 private:
  struct point {
    const char* variant;
    const char* memory;
    std::string text() const { return fmt::format("{}, rings in {} memory", variant, memory); }
  };

  uint64_t seed() const { return s_.opts().cluster.seed; }

  result<> run(kernel k, int at, const std::string& what) {
    GGAS_TRY(s_.launch_all({1}, {32}, [&](int node) -> std::function<void()> {
      if (node != at) return [] {};
      return [a = a_, k] { k(a); };
    }));
    return s_.run(what);
  }

  result<> measure(const point& p, const char* method, kernel k, int node) {
    auto& arithmetic = *at_offset<verbs_arithmetic>(s_, node, a_.arithmetic);
    arithmetic = {};
    const auto before = s_.machine().counters(node);
    const std::string what = p.text() + ", " + method;
    GGAS_TRY(run(k, node, what));
    const auto after = s_.machine().counters(node);
    if (auto o = join_outcomes(s_, node, a_.outcomes, 1, what); !o) return o.error();
    std::vector<double> samples;
    read_samples(s_, node, a_.samples, a_.calls, 1, samples);
    const auto params = with_clock(s_, {{"memory", p.memory}, {"method", method}, {"calls", a_.calls}});
    record r = s_.begin(p.variant, "time", "ns");
    r.params = params;
    summarise(r, samples);
    s_.emit(std::move(r));
    const auto count = [&](const char* metric, uint64_t all) {
      record each = s_.begin(p.variant, metric, "1");
      each.params = params;
      each.value = static_cast<double>(all) / a_.calls;
      each.n = a_.calls;
      s_.emit(std::move(each));
    };
    const auto grown = [&](const char* counter) { return after.at(counter) - before.at(counter); };
    for (const counted& c : counters) count(c.metric, grown(c.counter));
    const uint64_t accesses = grown("gpu.instructions") - arithmetic.pieces;
    count("instructions", accesses * around_access_ + arithmetic.instructions);
    return {};
  }

  // An empty queue.
  void clear(const step& x) {
    *a_.rings = {};
    a_.rings->number = number;
    a_.rings->most_pieces = 4;
    a_.rings->most_bytes = 1u << 30;
    for (verbs_completion& c : a_.rings->completions) c.entry_and_opcode = network_order(verbs_owner);
    const auto key = [&](uint32_t v) { return x.swaps ? v : network_order(v); };
    a_.request = {.id = pattern(seed(), 1, 0),
                  .near = 0x1234'5678'9abc'0000,
                  .far = 0x0fed'cba9'8765'0000,
                  .bytes = message_bytes,
                  .pieces = 1,
                  .near_key = key(0x01020304),
                  .far_key = key(0xa1a2a3a4)};
  }

  // Steps with checks refuse a request of too many pieces.
  result<> refuse(const step& x, const point& p) {
    clear(x);
    GGAS_TRY(run(x.bad_post, 0, p.text()));
    const auto got = at_offset<outcome>(s_, 0, a_.outcomes)->status;
    if (got == (x.checks ? ggas_bad_argument : ggas_ok)) return {};
    return failed(errc::device_fault,
                  fmt::format("{}: a wrong request: {}", p.text(), ggas_status_text(static_cast<ggas_status>(got))));
  }

  result<> check_entries(const step& x, const point& p) {
    const auto wide = [](const uint32_t* at) { return uint64_t{network_order(at[0])} << 32 | network_order(at[1]); };
    unsigned wrong = network_order(*a_.doorbell) != number || a_.rings->head != a_.calls;
    for (uint32_t i = 0; i < a_.calls; ++i) {
      const verbs_request want = request_of(a_, i);
      const uint32_t* const e = a_.rings->entries[i].words;
      wrong += network_order(e[verbs_control]) != verbs_opcode || network_order(e[verbs_size]) != 3 ||
               wide(e + verbs_far) != want.far || wide(e + verbs_near) != want.near ||
               network_order(e[verbs_far_key]) != 0xa1a2a3a4 || network_order(e[verbs_key]) != 0x01020304 ||
               network_order(e[verbs_bytes]) != want.bytes || a_.rings->ids[i] != want.id ||
               (x.stamps && i > 0 && e[verbs_line] != ~0u);
    }
    if (wrong == 0) return {};
    return failed(errc::device_fault, fmt::format("{}: {} of {} entries are wrong", p.text(), wrong, a_.calls));
  }

  // As the NIC would report the entries.
  void complete() {
    for (uint32_t i = 0; i < a_.calls; ++i) {
      verbs_completion& c = a_.rings->completions[i];
      c.queue = network_order(number);
      c.bytes = network_order(message_bytes + i);
      c.entry_and_opcode = network_order(i << 16 | verbs_opcode);
    }
  }

  result<> check_results(const point& p) {
    unsigned wrong = network_order(a_.rings->taken_for_nic) != a_.calls || a_.rings->tail != a_.calls;
    for (uint32_t i = 0; i < a_.calls; ++i) {
      const verbs_result& r = at_offset<verbs_result>(s_, 0, a_.results)[i];
      wrong += r.id != request_of(a_, i).id || r.bytes != message_bytes + i || r.queue != number ||
               r.opcode != verbs_opcode || r.status != 0;
    }
    if (wrong == 0) return {};
    return failed(errc::device_fault, fmt::format("{}: {} of {} completions are wrong", p.text(), wrong, a_.calls));
  }

  session& s_;
  uint64_t segment_rings_;
  unsigned around_access_ = 0;  // instructions
  post_and_poll_args a_{};
};

session::wish wish_for(session& s, const char* part, queue_config queues) {
  return {.bytes = 1u << 20, .part = part, .queues = queues, .overrides = measured_clock(s)};
}

}  // namespace

result<> run_post_and_poll(session& s) {
  GGAS_TRY(s.start(wish_for(s, "verbs", {})));
  post_and_poll work(s);
  GGAS_TRY(work.find_instruction());
  for (const step& x : steps)
    for (const bool on_host : {true, false}) GGAS_TRY(work.verbs(x, on_host));
  for (const auto& [name, memory] : {std::pair{"queue_host", "host"}, {"queue_gpu", "gpu"}}) {
    GGAS_TRY(s.start(wish_for(s, name, find_controller(name).queues())));
    post_and_poll with_ours(s);
    GGAS_TRY(with_ours.find_instruction());
    GGAS_TRY(with_ours.ours(memory));
  }
  return {};
}

}  // namespace ggas::bench
