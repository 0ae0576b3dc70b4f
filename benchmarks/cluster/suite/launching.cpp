// SPDX-License-Identifier: Apache-2.0
// launching: what it takes a processor to keep its GPU at work. Himeno on one GPU, two kernels a step that the
// processor launches, or one kernel that stays and makes all steps; and an empty kernel with each kind of
// synchronisation.
#include "benchmarks/kernels/launching.cuh"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/himeno_check.hpp"
#include "benchmarks/kernels/himeno/original.cuh"
#include "benchmarks/messages/process.hpp"

namespace ggas::bench {

namespace {

constexpr himeno_grid grid{32, 18, 12};  // of each GPU
constexpr unsigned launching_blocks = 10;

struct kind {
  host_sync how;
  const char* name;
  double published_ns;  // C7
};
constexpr kind kinds[] = {{host_sync::stream, "stream", 12250},
                          {host_sync::device, "device", 15240},
                          {host_sync::event, "event", 11980},
                          {host_sync::event_blocking, "event_blocking", 65710}};

// Of the first node's processor, in ns.
struct spent {
  uint64_t calls = 0;  // until the last launching call has returned
  uint64_t all = 0;    // until it knows that the kernels have ended
};

// Queues work on every node's GPU, launches it and waits for it.
result<spent> time_of(session& s, const std::string& what, const kind& k,
                      const std::function<result<>(int node)>& queue) {
  spent found;
  std::vector<event> ended;
  for (int node = 0; node < s.nodes(); ++node) {
    const auto made = s.machine().make_event(node);
    if (!made) return made.error();
    ended.push_back(*made);
  }
  GGAS_TRY(run_processes(s, what, [&](mpi_process& p) {
    const event& end = ended[size_t(p.node())];
    if (!p.queued(queue(p.node())) || !p.queued(p.machine.record(end, p.node()))) return;
    const uint64_t begin = p.processor.now_ns();
    p.processor.start();
    const uint64_t called = p.processor.now_ns();
    if (!p.processor.synchronise(end, k.how, s.opts().timeout_ns / 4)) return p.fail("the GPU did not end in time");
    if (p.node() == 0) found = {called - begin, p.processor.now_ns() - begin};
  }));
  return found;
}

void emit(session& s, const char* variant, const kind& k, unsigned kernels, const spent& t) {
  for (const auto& [metric, ns] : {std::pair{"time", t.all}, {"calls", t.calls}}) {
    record r = s.begin(variant, metric, "ns");
    r.params = {{"kernels", kernels}, {"method", k.name}};
    r.value = static_cast<double>(ns);
    r.n = 1;
    if (metric == std::string_view("time") && variant == std::string_view("empty") && s.calibrated())
      r.reference = reference{k.published_ns, "C7"};
    s.emit(std::move(r));
  }
}

// ---------------------------------------------------------------------------------------------- an empty kernel

result<> empty_point(session& s, const kind& k) {
  const std::string what = fmt::format("empty {}", k.name);
  const uint64_t times = s.data_offset();
  const auto t = time_of(s, what, k, [&](int node) -> result<> {
    std::fill_n(at_offset<uint64_t>(s, node, times), clock_blocks, 0);
    return launch(s.machine(), node, clock_blocks, clock_threads, read_clock, times);
  });
  if (!t) return t.error();
  for (int node = 0; node < s.nodes(); ++node) {
    const uint64_t* const read = at_offset<uint64_t>(s, node, times);
    if (std::count(read, read + clock_blocks, 0) > 0)
      return failed(errc::device_fault, fmt::format("{}: node {}: a block did not run", what, node));
  }
  emit(s, "empty", k, 1, *t);
  return {};
}

// ---------------------------------------------------------------------------------------------- steps of Himeno

class himeno_launches {
 public:
  explicit himeno_launches(session& s) : s_(s) {
    const himeno_args a = plan_himeno(grid, s.opts().cluster.seed, s.data_offset(), 0, 1, s.opts().timeout_ns / 4);
    for (int n = 0; n < s.nodes(); ++n) nodes_.emplace_back(s.machine(), n, a);  // each alone with its grid
  }
  result<> prepare() {
    for (himeno_original& n : nodes_) GGAS_TRY(n.prepare(0));
    return {};
  }

  result<> point(bool resident, uint32_t steps, const kind& k) {
    const char* const variant = resident ? "resident" : "stream";
    const std::string what = fmt::format("{} {} steps {}", variant, steps, k.name);
    if (resident) GGAS_TRY(s_.check_room(launching_blocks, himeno_warps * 32, what));
    for (himeno_original& n : nodes_) GGAS_TRY(n.fill(2));
    GGAS_TRY(s_.run(what));
    const auto t = time_of(s_, what, k, [&](int node) -> result<> {
      himeno_original& n = nodes_[size_t(node)];
      if (resident) return n.run(himeno_way::device, steps, launching_blocks);
      for (uint32_t step = 1; step <= steps; ++step)
        for (const bool up : {false, true}) GGAS_TRY(n.half(up, step));
      return {};
    });
    if (!t) return t.error();
    const himeno_solution want = himeno_reference(grid, s_.opts().cluster.seed, steps);
    for (int node = 0; node < s_.nodes(); ++node)
      if (!same_pressure(s_, node, nodes_[size_t(node)].args(), want, steps))
        return failed(errc::device_fault, fmt::format("{}: node {}: verification failed", what, node));
    emit(s_, variant, k, 2 * steps, *t);
    return {};
  }

 private:
  session& s_;
  std::vector<himeno_original> nodes_;
};

}  // namespace

result<> run_launching(session& s) {
  if (!has_processes(s)) return {};
  GGAS_TRY(s.start(with_processes(s, {.bytes = himeno_room(grid, 1) + (1u << 20)}, 0)));
  for (const kind& k : kinds) GGAS_TRY(empty_point(s, k));
  himeno_launches work(s);
  GGAS_TRY(work.prepare());
  for (const uint32_t steps : s.opts().sized<std::vector<uint32_t>>({2, 16}, {50}, {10, 100, 1000}))
    for (const bool resident : {false, true})
      for (const kind& k : {kinds[0], kinds[3]}) GGAS_TRY(work.point(resident, steps, k));
  return {};
}

}  // namespace ggas::bench
