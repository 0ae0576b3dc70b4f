// SPDX-License-Identifier: Apache-2.0
// The shm provider: every node in one process, the window plain memory (docs/decisions/0002-shm-in-one-process.md).
// Kernels run on the native scheduler.
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "ggas/detail/platform/layout.hpp"
#include "gpu_api/simt/native.hpp"
#include "userlib/providers/shm/programs.hpp"
#include "userlib/src/providers.hpp"
#include "userlib/src/report/call_trace.hpp"
#include "userlib/src/report/on_signal.hpp"

namespace ggas {
namespace {

// The segments of all nodes side by side, zeroed.
class window {
 public:
  explicit window(size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    void* m = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m != MAP_FAILED)
      base_ = static_cast<std::byte*>(m);
    else
      error_ = errno;
  }
  ~window() {
    if (base_) munmap(base_, bytes_);
  }
  window(const window&) = delete;
  window& operator=(const window&) = delete;
  std::byte* base() const { return base_; }
  int error() const { return error_; }  // 0, or why there is none

 private:
  std::byte* base_ = nullptr;
  int error_ = 0;
  size_t bytes_;
};

class shm_cluster final : public cluster {
 public:
  shm_cluster(const cluster_config& cfg, const simt::native_config& native)
      : cfg_(cfg),
        window_(cfg.segment_bytes * static_cast<size_t>(cfg.nodes)),
        host_(cfg.host_bytes * static_cast<size_t>(cfg.nodes)),
        contexts_(static_cast<size_t>(cfg.nodes)),
        scheduler_(native, static_cast<unsigned>(cfg.nodes)) {
    char* base = reinterpret_cast<char*>(window_.base());
    for (int n = 0; base && n < cfg.nodes; ++n) {
      contexts_[static_cast<size_t>(n)] = {
          .node = n,
          .nodes = cfg.nodes,
          .window = base,
          .stride = cfg.segment_bytes,
          .local = base + static_cast<size_t>(n) * cfg.segment_bytes,
          .segment_bytes = cfg.segment_bytes,
          .reserved = layout::reserved_bytes(static_cast<uint64_t>(cfg.nodes), cfg.segment_bytes),
          .quiet = nullptr,
          .queues = nullptr,
          .queue_count = 0,
          .segment_nla = 0,
          .tuned = tuning::usual(),
          .no_peer_atomics = false,
          .trace = nullptr,
          .collectives = {},
      };
    }
    trace_file_ = userlib::next_trace_file(-1);
    if (!trace_file_.empty()) start_trace();
  }
  ~shm_cluster() override {
    if (trace_file_.empty()) return;
    std::vector<userlib::traced_node> all;
    for (int n = 0; n < cfg_.nodes; ++n)
      all.push_back({n, traces_[static_cast<size_t>(n)].events, std::move(events_[static_cast<size_t>(n)])});
    const std::string why = userlib::write_call_trace(trace_file_, all);
    if (!why.empty()) std::fprintf(stderr, "%s\n", why.c_str());
  }

  // What could not be mapped; empty: all was.
  std::string missing() const {
    const std::string nodes = std::to_string(cfg_.nodes);
    if (window_.error())
      return "cannot map " + nodes + " segments of " + std::to_string(cfg_.segment_bytes) +
             " bytes: " + std::strerror(window_.error());
    if (host_.error())
      return "cannot map host memory of " + nodes + " nodes, " + std::to_string(cfg_.host_bytes) +
             " bytes each: " + std::strerror(host_.error());
    return {};
  }

  const cluster_config& config() const override { return cfg_; }
  std::byte* segment(int node) override {
    return valid(node) ? window_.base() + static_cast<size_t>(node) * cfg_.segment_bytes : nullptr;
  }
  const context& device_context(int node) const override { return contexts_.at(static_cast<size_t>(node)); }
  host_region host_memory(int node) override {
    if (!valid(node)) return {};
    return {host_.base() + static_cast<size_t>(node) * cfg_.host_bytes, cfg_.host_bytes, 0};
  }
  std::span<const rma_queue> host_queues(int) const override { return {}; }

  result<> launch(int node, simt::dim3 grid, simt::dim3 block, std::function<void()> kernel,
                  std::string name) override {
    simt::launch l{grid, block, std::move(kernel), std::move(name)};
    if (auto ok = check_launch(cfg_, node, l); !ok) return ok;
    scheduler_.enqueue(static_cast<unsigned>(node), std::move(l), &device_context(node));
    return {};
  }

  result<> launch_host(int node, std::function<void(host&)> program, std::string name) override {
    if (auto ok = check_program(cfg_, node, program, name); !ok) return ok;
    const host_region own = host_memory(node);
    const size_t all = cfg_.segment_bytes * static_cast<size_t>(cfg_.nodes);
    programs_.add(node, {{own.base, own.bytes}, {window_.base(), all}}, std::move(program), std::move(name));
    return {};
  }

  result<run_stats> run(uint64_t timeout_ns, host_sync) override {
    const uint64_t start = now_ns();
    const uint64_t deadline = shm_programs::after(start, timeout_ns);
    const auto go_on = [this] {
      if (cfg_.on_progress) cfg_.on_progress(now_ns());
      return !(cfg_.cancelled && cfg_.cancelled());
    };
    programs_.start();
    auto r = scheduler_.run(timeout_ns, go_on);
    auto programs = programs_.finish(r ? deadline : start, go_on);
    if (!r) {
      using kind = simt::native_error::kind;
      if (r.error().why == kind::failed) return std::unexpected(error{errc::device_fault, r.error().text});
      if (r.error().why == kind::cancelled) return std::unexpected(error{errc::cancelled, r.error().text});
      return std::unexpected(
          error{errc::timed_out, "run: " + std::to_string(timeout_ns) + " ns are over\n" + r.error().text});
    }
    if (!programs) return std::unexpected(std::move(programs.error()));
    const uint64_t took = now_ns() - start;
    return run_stats{.sim_ns = took, .nic_cycles = 0, .wall_s = static_cast<double>(took) * 1e-9};
  }

  uint64_t now_ns() const override { return shm_programs::clock_ns(); }
  std::map<std::string, uint64_t> counters(int) const override { return {}; }
  std::vector<std::string> events(int) const override { return {}; }

 private:
  void start_trace() {
    events_.assign(contexts_.size(), std::vector<call_event>(userlib::traced_events));
    for (size_t n = 0; n < contexts_.size(); ++n)
      traces_.push_back({.events = 0, .room = events_[n].size(), .at = events_[n].data()});
    for (size_t n = 0; n < contexts_.size(); ++n) contexts_[n].trace = &traces_[n];
  }
  bool valid(int node) const { return node >= 0 && node < cfg_.nodes; }

  const cluster_config cfg_;
  window window_, host_;
  std::vector<context> contexts_;
  std::filesystem::path trace_file_;
  std::vector<call_trace> traces_;  // of the nodes, as their contexts name them
  std::vector<std::vector<call_event>> events_;
  simt::native_scheduler scheduler_;
  shm_programs programs_;
  userlib::report_on_signal on_signal_{{"", [this] { abort(); }, [this] { return report(); }}};  // last: uses the rest
};

std::unexpected<error> bad(std::string text) { return std::unexpected(error{errc::bad_argument, std::move(text)}); }

// shm.threads=0|1: a host thread for each node; shm.resident_blocks=N: blocks a GPU holds at a time, 0 for no limit.
result<simt::native_config> parse_overrides(const std::vector<std::string>& overrides) {
  simt::native_config native;
  for (const std::string& o : overrides) {
    const size_t eq = o.find('=');
    const std::string key = o.substr(0, eq);
    const std::string value = eq == std::string::npos ? "" : o.substr(eq + 1);
    unsigned v = 0;
    const auto [end, ec] = std::from_chars(value.data(), value.data() + value.size(), v);
    if (ec != std::errc() || end != value.data() + value.size()) return bad("override '" + o + "': must be key=number");
    if (key == "shm.threads" && v <= 1) {
      native.thread_per_stream = v == 1;
    } else if (key == "shm.resident_blocks") {
      native.resident_blocks = v;
    } else {
      return bad("override '" + o + "': the shm provider knows shm.threads=0|1 and shm.resident_blocks=N");
    }
  }
  return native;
}

}  // namespace

result<std::unique_ptr<cluster>> create_shm(const cluster_config& cfg) {
  auto native = parse_overrides(cfg.overrides);
  if (!native) return std::unexpected(native.error());
  if (std::max(cfg.segment_bytes, cfg.host_bytes) > SIZE_MAX / static_cast<size_t>(cfg.nodes)) {
    return bad("segment_bytes = " + std::to_string(cfg.segment_bytes) + ", host_bytes = " +
               std::to_string(cfg.host_bytes) + ": " + std::to_string(cfg.nodes) + " of them overflow");
  }
  auto c = std::make_unique<shm_cluster>(cfg, *native);
  if (std::string text = c->missing(); !text.empty())
    return std::unexpected(error{errc::out_of_memory, std::move(text)});
  return c;
}

}  // namespace ggas
