// SPDX-License-Identifier: Apache-2.0
// put_latency, get_latency and atomic_latency.
#include "benchmarks/kernels/one_sided/latency.cuh"

#include <fmt/format.h>

#include <numeric>

#include "benchmarks/cluster/one_sided/host_programs.hpp"
#include "benchmarks/cluster/one_sided/one_sided.hpp"
#include "benchmarks/cluster/suite/benchmarks.hpp"

namespace ggas::bench {

namespace {

using json = nlohmann::ordered_json;

struct series {
  const controller& c;
  size_t bytes;
  unsigned launches;
  uint64_t rounds;
  std::string what() const { return fmt::format("{} {}", c.name, human(static_cast<double>(bytes), "B")); }
};

// Host ports of two nodes.
using port_pair = std::array<host_port, 2>;

host_transfer transfer_of(session& s, const plan_of_buffers& p, int node, size_t bytes, uint64_t rounds) {
  const int peer = node ^ 1;
  const uint64_t nla = s.machine().device_context(node).segment_nla;
  const uint64_t far = s.machine().device_context(peer).segment_nla;
  const auto vpid = static_cast<uint8_t>(s.machine().host_queues(peer)[0].vpid);
  return {{nic_of(s, peer), vpid}, nla + p.args.source, far + p.args.target, static_cast<uint32_t>(bytes), rounds,
          s.opts().timeout_ns / 4};
}

result<> check_ports(const port_pair& ports, const std::string& what) {
  for (size_t node = 0; node < 2; ++node) {
    if (!ports[node].fault.empty())
      return failed(errc::device_fault, fmt::format("{}: node {}: {}", what, node, ports[node].fault));
  }
  return {};
}

// Nodes that take part, in pairs. Host programs serve the first pair alone.
int taking_part(session& s, const series& x) { return x.c.by_host ? 2 : s.nodes() - (s.nodes() % 2); }

std::function<std::function<void()>(int)> with_words(session& s, const series& x, const one_sided_args& args,
                                                     void (*kernel)(one_sided_args)) {
  return [&s, nodes = taking_part(s, x), args, kernel](int node) -> std::function<void()> {
    if (node >= nodes) return [] {};
    one_sided_args mine = args;
    if (s.machine().host_memory(node).base) mine.request = host_word(s, node);
    return [mine, kernel] { kernel(mine); };
  };
}

// ---------------------------------------------------------------------------------------------- put

result<> host_pingpong_once(session& s, const series& x, const plan_of_buffers& p, port_pair& ports) {
  for (int node = 0; node < 2; ++node) {
    GGAS_TRY(s.machine().launch_host(node, [&s, &x, &p, &ports, node](host& h) {
      host_port& mine = ports[static_cast<size_t>(node)];
      mine.use(h, 0);
      host_pingpong(h, mine, transfer_of(s, p, node, x.bytes, x.rounds), node == 0);
    }));
  }
  return {};
}

result<> assisted_once(session& s, const series& x, const plan_of_buffers& p, port_pair& ports) {
  for (int node = 0; node < 2; ++node) {
    *host_word(s, node) = 0;
    *at_offset<uint64_t>(s, node, p.args.flag) = 0;
    GGAS_TRY(s.machine().launch_host(node, [&s, &x, &p, &ports, node](host& h) {
      host_port& mine = ports[static_cast<size_t>(node)];
      mine.use(h, 0);
      host_assistant(h, mine, transfer_of(s, p, node, x.bytes, x.rounds),
                     {host_word(s, node), at_offset<uint64_t>(s, node, p.args.flag), 2 * p.args.first + 2, node == 0});
    }));
  }
  return {};
}

result<> pingpong_once(session& s, const series& x, const plan_of_buffers& p, std::vector<double>& halves) {
  port_pair ports;
  if (x.c.by_host) {
    GGAS_TRY(x.c.how == control::assisted ? assisted_once(s, x, p, ports) : host_pingpong_once(s, x, p, ports));
  }
  const bool kernels = !x.c.by_host || x.c.how == control::assisted;
  if (kernels) GGAS_TRY(s.launch_all({1}, {x.c.threads}, with_words(s, x, p.args, put_pingpong)));
  GGAS_TRY(s.run(x.what()));
  GGAS_TRY(check_ports(ports, x.what()));
  if (!kernels) {
    for (const double round : ports[0].samples) halves.push_back(round / 2);
    return {};
  }
  for (int node = 0; node < taking_part(s, x); ++node) {
    if (auto o = join_outcomes(s, node, p.args.outcomes, 1, x.what()); !o) return o.error();
  }
  for (int node = 0; node < taking_part(s, x); node += 2) read_samples(s, node, p.args.samples, x.rounds, 0.5, halves);
  return {};
}

result<> put_point(session& s, const series& x, uint64_t& first, bool costs) {
  plan_of_buffers p = plan_buffers(s, x.bytes, x.rounds, 1);
  p.args.bytes = x.bytes;
  p.args.rounds = x.rounds;
  p.args.how = x.c.how;
  std::vector<double> halves;
  pcie_meter meter(s);
  for (unsigned i = 0; i < x.launches; ++i) {
    fill_buffers(s, p, first);
    p.args.first = first;
    meter.begin();
    GGAS_TRY(pingpong_once(s, x, p, halves));
    meter.end(x.rounds + 1);
    if (x.c.how != control::poll) {
      for (int node = 0; node < taking_part(s, x); node += 2) {
        GGAS_TRY(check_target(s, node, p.args.target, x.bytes, first, x.what()));
        GGAS_TRY(check_target(s, node + 1, p.args.target, x.bytes, first, x.what()));
      }
    }
    first += x.rounds + 1;
  }
  record r = s.begin(x.c.name, "half_round_trip", "ns");
  r.params = with_clock(s, {{"bytes", x.bytes}});
  if (published_conditions(s) && std::string_view(x.c.name) == "host" && x.bytes <= 64)
    r.reference = reference{4900, "C6"};
  summarise(r, halves);
  const json params = r.params;
  s.emit(std::move(r));
  if (costs) meter.emit(x.c.name, params);
  return {};
}

// ---------------------------------------------------------------------------------------------- get, atomics

result<> host_rounds_once(session& s, const series& x, const plan_of_buffers& p, host_round what,
                          std::vector<double>& samples) {
  port_pair ports;
  GGAS_TRY(s.machine().launch_host(0, [&](host& h) {
    ports[0].use(h, 0);
    host_transfer t = transfer_of(s, p, 0, x.bytes, x.rounds);
    if (what == host_round::get) std::swap(t.source, t.target);  // from the partner's target to the source here
    host_rounds(h, ports[0], t, what);
  }));
  GGAS_TRY(s.run(x.what()));
  GGAS_TRY(check_ports(ports, x.what()));
  samples.insert(samples.end(), ports[0].samples.begin(), ports[0].samples.end());
  return {};
}

// The GPU asks, the processor does it. The record lies after the word.
result<> assisted_atomics_once(session& s, const series& x, const plan_of_buffers& p, std::vector<double>& samples) {
  host_port port;
  *host_word(s, 0) = 0;
  *at_offset<uint64_t>(s, 0, p.args.flag) = 0;
  GGAS_TRY(s.machine().launch_host(0, [&](host& h) {
    constexpr size_t record = 64;
    const host_region own = s.machine().host_memory(0);
    port.use(h, 0);
    host_forward_atomics(h, port, transfer_of(s, p, 0, x.bytes, x.rounds),
                         {host_word(s, 0), at_offset<uint64_t>(s, 0, p.args.flag), p.args.first + 1, true},
                         reinterpret_cast<const uint64_t*>(own.base + record), own.nla + record);
  }));
  GGAS_TRY(s.launch_all({1}, {x.c.threads}, with_words(s, x, p.args, atomic_rounds)));
  GGAS_TRY(s.run(x.what()));
  if (!port.fault.empty()) return failed(errc::device_fault, fmt::format("{}: {}", x.what(), port.fault));
  if (auto o = join_outcomes(s, 0, p.args.outcomes, 1, x.what()); !o) return o.error();
  read_samples(s, 0, p.args.samples, x.rounds, 1, samples);
  return {};
}

result<> kernel_rounds_once(session& s, const series& x, const plan_of_buffers& p, bool atomic,
                            std::vector<double>& samples) {
  if (atomic) {
    GGAS_TRY(s.launch_all({1}, {x.c.threads}, with_words(s, x, p.args, atomic_rounds)));
  } else {
    GGAS_TRY(s.launch_all({1}, {x.c.threads}, with_words(s, x, p.args, get_rounds)));
  }
  GGAS_TRY(s.run(x.what()));
  for (int node = 0; node < taking_part(s, x); node += 2) {
    if (auto o = join_outcomes(s, node, p.args.outcomes, 1, x.what()); !o) return o.error();
    read_samples(s, node, p.args.samples, x.rounds, 1, samples);
  }
  return {};
}

// The partner's `target` comes into `source` here.
void fill_for_get(session& s, const plan_of_buffers& p, uint64_t round) {
  fill_buffers(s, p, round);
  for (int node = 0; node < s.nodes(); ++node) {
    uint64_t* const from = at_offset<uint64_t>(s, node, p.args.source);
    std::copy_n(from, p.bytes / 8, at_offset<uint64_t>(s, node, p.args.target));
    std::fill_n(from, p.bytes / 8, 0);
  }
}

result<> rounds_point(session& s, const series& x, bool atomic, bool costs) {
  plan_of_buffers p = plan_buffers(s, x.bytes, x.rounds, 1);
  p.args.bytes = x.bytes;
  p.args.rounds = x.rounds;
  p.args.how = x.c.how;
  std::vector<double> samples;
  pcie_meter meter(s);
  uint64_t first = 0;
  if (atomic) fill_buffers(s, p, 0);
  for (unsigned i = 0; i < x.launches; ++i) {
    if (!atomic) fill_for_get(s, p, i);
    p.args.first = first;
    meter.begin();
    if (x.c.how == control::assisted) {
      GGAS_TRY(assisted_atomics_once(s, x, p, samples));
    } else if (x.c.by_host) {
      GGAS_TRY(host_rounds_once(s, x, p, atomic ? host_round::atomic : host_round::get, samples));
    } else {
      GGAS_TRY(kernel_rounds_once(s, x, p, atomic, samples));
    }
    meter.end(x.rounds + 1);
    first += x.rounds + 1;
    for (int node = 0; node < taking_part(s, x); node += 2) {
      if (!atomic) GGAS_TRY(check_target(s, node, p.args.source, x.bytes, i, x.what()));
      if (atomic && *at_offset<uint64_t>(s, node + 1, p.args.target) != first)
        return failed(errc::device_fault, fmt::format("{}: the word of node {} is wrong", x.what(), node + 1));
    }
  }
  record r = s.begin(x.c.name, "round", "ns");
  r.params = with_clock(s, {{"bytes", x.bytes}});
  summarise(r, samples);
  const json params = r.params;
  s.emit(std::move(r));
  if (costs) meter.emit(x.c.name, params);
  return {};
}

// ---------------------------------------------------------------------------------------------- every variant

std::vector<size_t> sizes(const options& o) {
  if (o.quick) return {8, 1024};
  if (o.middle) return {64, 8192};
  std::vector<size_t> out;
  for (size_t bytes = 8; bytes <= (32u << 10); bytes *= 4) out.push_back(bytes);
  return out;
}

using point = std::function<result<>(const series&, bool costs)>;

result<> run_variants(session& s, std::initializer_list<const char*> names, const std::vector<size_t>& all,
                      const point& run) {
  for (const char* name : names) {
    const controller& c = find_controller(name);
    if (c.needs_nic && !s.simulated()) continue;
    const uint64_t rounds = s.opts().sized(4u, 6u, 10u);
    const session::wish w{
        .bytes = room_for(all.back(), rounds, 1), .part = name, .queues = c.queues(), .overrides = measured_clock(s)};
    GGAS_TRY(s.start(w));
    for (const size_t bytes : all) {
      GGAS_TRY(run({c, bytes, s.opts().sized(3u, 4u, 5u), rounds}, bytes == all.front()));
    }
  }
  return {};
}

}  // namespace

result<> run_put_latency(session& s) {
  uint64_t first = 0;
  return run_variants(
      s, {"host", "host_assisted", "gpu_notify_host", "gpu_notify_gpu", "gpu_poll", "queue_host", "queue_gpu"},
      sizes(s.opts()), [&](const series& x, bool costs) { return put_point(s, x, first, costs); });
}

result<> run_get_latency(session& s) {
  // Without a NIC a get has no notification.
  if (!s.simulated())
    return run_variants(s, {"gpu_poll"}, sizes(s.opts()),
                        [&](const series& x, bool costs) { return rounds_point(s, x, false, costs); });
  return run_variants(s, {"host", "gpu_notify_host", "gpu_notify_gpu", "gpu_poll", "queue_host", "queue_gpu"},
                      sizes(s.opts()), [&](const series& x, bool costs) { return rounds_point(s, x, false, costs); });
}

result<> run_atomic_latency(session& s) {
  return run_variants(s, {"host", "host_assisted", "gpu_poll", "queue_host", "queue_gpu"}, {8},
                      [&](const series& x, bool costs) { return rounds_point(s, x, true, costs); });
}

}  // namespace ggas::bench
