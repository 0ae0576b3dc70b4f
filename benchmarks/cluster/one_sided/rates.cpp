// SPDX-License-Identifier: Apache-2.0
// put_bandwidth, get_bandwidth, message_rate and transfer_path.
#include "benchmarks/kernels/one_sided/stream.cuh"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/cluster/one_sided/host_programs.hpp"
#include "benchmarks/cluster/one_sided/one_sided.hpp"
#include "benchmarks/cluster/suite/benchmarks.hpp"

namespace ggas::bench {

namespace {

using json = nlohmann::ordered_json;

// A stream of transfers: `count` of `bytes` on each of `connections`.
struct stream {
  const controller& c;
  size_t bytes;
  uint64_t count;
  unsigned connections = 1;
  bool get = false;
  std::string what() const {
    return fmt::format("{} {}, {} connections", c.name, human(static_cast<double>(bytes), "B"), connections);
  }
  double total_bytes() const { return static_cast<double>(bytes * count * connections); }
};

// How many transfers a processor keeps under way on a connection.
constexpr unsigned host_window = 4;

plan_of_buffers make_plan(session& s, const stream& x) {
  plan_of_buffers p = plan_buffers(s, x.bytes * x.connections, 1, x.connections);
  p.args.bytes = x.bytes;
  p.args.rounds = x.count;
  p.args.how = x.c.how;
  return p;
}

// Where data comes to, and on which node.
result<> check_arrival(session& s, const stream& x, const plan_of_buffers& p, int leader) {
  const int node = x.get ? leader : leader + 1;
  return check_target(s, node, x.get ? p.args.source : p.args.target, p.bytes, 0, x.what());
}

void fill(session& s, const stream& x, const plan_of_buffers& p) {
  fill_buffers(s, p, 0);
  if (!x.get) return;
  for (int node = 0; node < s.nodes(); ++node) {
    uint64_t* const from = at_offset<uint64_t>(s, node, p.args.source);
    std::copy_n(from, p.bytes / 8, at_offset<uint64_t>(s, node, p.args.target));
    std::fill_n(from, p.bytes / 8, 0);
  }
}

// Nodes that take part; host programs serve the first pair alone.
int pairs_of(session& s, const stream& x) { return x.c.by_host ? 2 : s.nodes(); }

// ns of a stream of each pair.
result<> kernel_stream(session& s, const stream& x, const plan_of_buffers& p, std::vector<double>& times) {
  const auto body = [&](int node) -> std::function<void()> {
    one_sided_args a = p.args;
    if (s.machine().host_memory(node).base) a.request = host_word(s, node);
    if (x.c.by_host && node > 1) return [] {};
    if (x.get) return [a] { get_stream(a); };
    return [a] { put_stream(a); };
  };
  GGAS_TRY(s.launch_all({x.connections}, {x.c.threads}, body));
  GGAS_TRY(s.run(x.what()));
  for (int node = 0; node + 1 < pairs_of(s, x); node += 2) {
    const auto o = join_outcomes(s, node, p.args.outcomes, x.connections, x.what());
    if (!o) return o.error();
    times.push_back(static_cast<double>(std::max<uint64_t>(1, o->end_ns - o->begin_ns)));
  }
  return {};
}

result<> program_stream(session& s, const stream& x, const host_transfer& t, std::vector<double>& times) {
  std::vector<host_port> ports(x.connections);
  GGAS_TRY(s.machine().launch_host(0, [&](host& h) {
    for (size_t i = 0; i < ports.size(); ++i) ports[i].use(h, i);
    host_stream(h, ports, t, x.get, host_window);
  }));
  GGAS_TRY(s.run(x.what()));
  if (!ports[0].fault.empty()) return failed(errc::device_fault, fmt::format("{}: {}", x.what(), ports[0].fault));
  times.push_back(static_cast<double>(std::max<uint64_t>(1, ports[0].end_ns - ports[0].begin_ns)));
  return {};
}

host_transfer transfer_of(session& s, const stream& x, const plan_of_buffers& p) {
  const uint64_t source = s.machine().device_context(0).segment_nla + p.args.source,
                 target = s.machine().device_context(1).segment_nla + p.args.target;
  const auto vpid = static_cast<uint8_t>(s.machine().host_queues(1)[0].vpid);
  return {
      {nic_of(s, 1), vpid},   x.get ? target : source, x.get ? source : target, static_cast<uint32_t>(x.bytes), x.count,
      s.opts().timeout_ns / 4};
}

// Kernels ask the first node's processor, which serves all of them.
result<> assisted_stream(session& s, const stream& x, const plan_of_buffers& p, std::vector<double>& times) {
  std::vector<host_port> ports(x.connections);
  uint64_t* const flags = at_offset<uint64_t>(s, 0, p.args.flag);
  std::fill_n(host_word(s, 0), x.connections, 0);
  std::fill_n(flags, x.connections, 0);
  GGAS_TRY(s.machine().launch_host(0, [&](host& h) {
    for (size_t i = 0; i < ports.size(); ++i) ports[i].use(h, i);
    host_forward_puts(h, ports, transfer_of(s, x, p), {host_word(s, 0), flags});
  }));
  GGAS_TRY(kernel_stream(s, x, p, times));
  if (ports[0].fault.empty()) return {};
  return failed(errc::device_fault, fmt::format("{}: {}", x.what(), ports[0].fault));
}

result<> run_by(session& s, const stream& x, const plan_of_buffers& p, std::vector<double>& times) {
  if (x.c.how == control::assisted) return assisted_stream(s, x, p, times);
  return x.c.by_host ? program_stream(s, x, transfer_of(s, x, p), times) : kernel_stream(s, x, p, times);
}

result<> run_stream(session& s, const stream& x, std::vector<double>& times, pcie_meter& meter) {
  const plan_of_buffers p = make_plan(s, x);
  fill(s, x, p);
  meter.begin();
  GGAS_TRY(run_by(s, x, p, times));
  meter.end(x.count * x.connections);
  for (int node = 0; node + 1 < pairs_of(s, x); node += 2) GGAS_TRY(check_arrival(s, x, p, node));
  return {};
}

// ---------------------------------------------------------------------------------------------- bandwidth

std::vector<size_t> bandwidth_sizes(const options& o) {
  if (o.quick) return {4096, 65536};
  if (o.middle) return {1024, 262144};
  return {256, 1024, 4096, 16384, 65536, 262144, 1u << 20, 4u << 20};
}

result<> run_bandwidth(session& s, bool get) {
  const std::vector<size_t> all = bandwidth_sizes(s.opts());
  for (const char* name : {"host", "host_assisted", "gpu_notify_host", "gpu_notify_gpu", "queue_host", "queue_gpu"}) {
    const controller& c = find_controller(name);
    if (get && c.how == control::assisted) continue;
    if (c.needs_nic && !s.simulated()) continue;
    const session::wish w{
        .bytes = room_for(all.back(), 1, 1), .part = name, .queues = c.queues(), .overrides = measured_clock(s)};
    GGAS_TRY(s.start(w));
    for (const size_t bytes : all) {
      // Two of the longest take more than a thousand times the latency of one: more of them show nothing new.
      const size_t volume = s.opts().sized(128u << 10, 512u << 10, 1u << 20);
      const stream x{c, bytes, std::clamp<size_t>(volume / bytes, 2, 256), 1, get};
      std::vector<double> times;
      pcie_meter meter(s);
      GGAS_TRY(run_stream(s, x, times, meter));
      record r = s.begin(name, "bandwidth", "B/s");
      r.params = with_clock(s, {{"bytes", bytes}});
      for (double& t : times) t = x.total_bytes() * 1e9 / t;
      summarise(r, times);
      if (times.size() == 1) r.p50 = r.p99 = std::nullopt;
      r.limit = payload_bound(s, bytes, true);
      if (published_conditions(s) && !get && c.how == control::notify && c.by_host && bytes >= (64u << 10))
        r.reference = reference{767e6, "C5"};
      const json params = r.params;
      s.emit(std::move(r));
      if (bytes == all.front()) meter.emit(name, params);
    }
  }
  return {};
}

// ---------------------------------------------------------------------------------------------- message rate

struct rate_point {
  unsigned connections;
  size_t bytes;
};

std::vector<rate_point> rate_points(const options& o) {
  if (o.quick) return {{1, 32}, {4, 32}, {32, 32}};
  if (o.middle) return {{1, 32}, {16, 32}, {1, 8}, {16, 128}};
  std::vector<rate_point> out;
  for (unsigned n = 1; n <= 32; n *= 2) out.push_back({n, 32});
  for (size_t bytes = 8; bytes <= 1024; bytes *= 4) {
    for (unsigned n : {1u, 16u}) out.push_back({n, bytes});
  }
  return out;
}

// ---------------------------------------------------------------------------------------------- directions

struct path {
  const char* name;
  bool from_gpu, to_gpu;
  double published;
};
constexpr path paths[] = {{"host_to_host", false, false, 892e6},
                          {"host_to_gpu", false, true, 892e6},
                          {"gpu_to_host", true, false, 769e6},
                          {"gpu_to_gpu", true, true, 767e6}};

result<> run_path(session& s, const path& way, size_t bytes, uint64_t count) {
  const controller& c = find_controller("host");
  const stream x{c, bytes, count};
  const plan_of_buffers p = make_plan(s, x);
  fill(s, x, p);
  host_transfer t = transfer_of(s, x, p);
  const host_region from = s.machine().host_memory(0), to = s.machine().host_memory(1);
  const size_t half = from.bytes / 2;
  const auto* source = at_offset<std::byte>(s, 0, p.args.source);
  if (!way.from_gpu) {
    std::copy_n(source, bytes, from.base);
    t.source = from.nla;
  }
  std::byte* const arrival = way.to_gpu ? at_offset<std::byte>(s, 1, p.args.target) : to.base + half;
  if (!way.to_gpu) {
    std::fill_n(arrival, bytes, std::byte{0});
    t.target = to.nla + half;
  }
  std::vector<double> times;
  GGAS_TRY(program_stream(s, x, t, times));
  if (!std::equal(arrival, arrival + bytes, source))
    return failed(errc::device_fault, fmt::format("{}: verification failed, the copy differs", way.name));
  record r = s.begin(way.name, "bandwidth", "B/s");
  r.params = with_clock(s, {{"bytes", bytes}});
  r.value = x.total_bytes() * 1e9 / times.front();
  r.n = count;
  r.limit = payload_bound(s, bytes, way.from_gpu);
  if (published_conditions(s) && bytes >= (64u << 10)) r.reference = reference{way.published, "C5"};
  s.emit(std::move(r));
  return {};
}

}  // namespace

result<> run_put_bandwidth(session& s) { return run_bandwidth(s, false); }
result<> run_get_bandwidth(session& s) { return run_bandwidth(s, true); }

result<> run_message_rate(session& s) {
  for (const char* name : {"host", "host_assisted", "gpu_notify_host", "gpu_notify_gpu", "queue_host", "queue_gpu"}) {
    const controller& c = find_controller(name);
    if (c.needs_nic && !s.simulated()) continue;
    const session::wish w{
        .bytes = room_for(32 * 1024, 1, 32), .part = name, .queues = c.queues(32), .overrides = measured_clock(s)};
    GGAS_TRY(s.start(w));
    for (const rate_point& point : rate_points(s.opts())) {
      if (!s.simulated() && point.connections > layout::direct_queues) continue;
      const stream x{c, point.bytes, s.opts().sized(16u, 32u, 64u), point.connections};
      std::vector<double> times;
      pcie_meter meter(s);
      GGAS_TRY(run_stream(s, x, times, meter));
      record r = s.begin(name, "messages", "1/s");
      r.params = with_clock(s, {{"connections", point.connections}, {"bytes", point.bytes}});
      for (double& t : times) t = static_cast<double>(x.count * x.connections) * 1e9 / t;
      summarise(r, times);
      if (times.size() == 1) r.p50 = r.p99 = std::nullopt;
      if (auto bound = payload_bound(s, point.bytes, false)) {
        bound->value /= static_cast<double>(point.bytes);
        r.limit = bound;
      }
      const json params = r.params;
      s.emit(std::move(r));
      if (point.connections == 1 && point.bytes == 32) meter.emit(name, params);
    }
  }
  return {};
}

result<> run_transfer_path(session& s) {
  const std::vector<size_t> all =
      s.opts().sized<std::vector<size_t>>({65536}, {1024, 262144}, {1024, 4096, 16384, 65536, 262144});
  for (const path& way : paths) {
    GGAS_TRY(s.start({.bytes = room_for(all.back(), 1, 1),
                      .part = way.name,
                      .queues = find_controller("host").queues(),
                      .overrides = measured_clock(s),
                      .host_bytes = 2 * all.back()}));
    for (const size_t bytes : all) GGAS_TRY(run_path(s, way, bytes, bytes >= 65536 ? 4 : 32));
  }
  return run_staged_path(s);
}

}  // namespace ggas::bench
