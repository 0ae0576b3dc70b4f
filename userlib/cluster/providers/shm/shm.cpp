// SPDX-License-Identifier: Apache-2.0
// The shm provider: every node in one process, the window plain memory (docs/decisions/0002-shm-in-one-process.md).
// Kernels run on the native scheduler.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "ggas/detail/platform/layout.hpp"
#include "gpu_api/simt/native.hpp"
#include "userlib/cluster/engine_cluster.hpp"
#include "userlib/cluster/programs/programs.hpp"
#include "userlib/cluster/report/call_trace.hpp"
#include "userlib/cluster/report/on_signal.hpp"

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

class shm_cluster final : public userlib::engine_cluster {
 public:
  shm_cluster(const cluster_config& cfg, const simt::native_config& native)
      : engine_cluster(cfg),
        window_(cfg.segment_bytes * static_cast<size_t>(cfg.nodes)),
        host_(cfg.host_bytes * static_cast<size_t>(cfg.nodes)),
        contexts_(static_cast<size_t>(cfg.nodes)),
        resident_blocks_(native.resident_blocks),
        stack_bytes_(native.stack_bytes),
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
          .places = nullptr,
          .tuned = tuning::usual(),
          .checked = userlib::checked_by_environment(),
          .no_peer_atomics = false,
          .trace = {},
          .collectives = {},
          .others = nullptr,
      };
    }
    trace_file_ = userlib::next_trace_file(-1);
    if (!trace_file_.empty()) start_trace();
  }
  ~shm_cluster() override {
    if (trace_file_.empty()) return;
    std::vector<userlib::traced_node> all;
    for (int n = 0; n < cfg_.nodes; ++n) all.push_back({n, std::move(traced_[static_cast<size_t>(n)])});
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

  std::byte* segment(int node) override {
    return valid(node) ? window_.base() + static_cast<size_t>(node) * cfg_.segment_bytes : nullptr;
  }
  const context& device_context(int node) const override { return contexts_.at(static_cast<size_t>(node)); }
  host_region host_memory(int node) override {
    if (!valid(node)) return {};
    return {host_.base() + static_cast<size_t>(node) * cfg_.host_bytes, cfg_.host_bytes, 0};
  }

  result<stream> make_stream(int node, int) override {
    if (auto ok = userlib::check_node(*this, node, "make_stream"); !ok) return std::move(ok.error());
    stream_nodes_.push_back(node);
    scheduler_.add_stream(static_cast<unsigned>(node));
    return stream(node, stream_nodes_.size());
  }
  result<event> make_event(int node) override {
    if (auto ok = userlib::check_node(*this, node, "make_event"); !ok) return std::move(ok.error());
    event_nodes_.push_back(node);
    events_.emplace_back();
    return event{node, event_nodes_.size()};
  }
  result<> record(const event& e, const stream& s) override {
    if (auto ok = check_event(e, s, "record"); !ok) return ok;
    auto& last = events_[e.id - 1] = std::make_shared<std::atomic<bool>>(false);
    scheduler_.enqueue_gate(number_of(s), [at = last] {
      at->store(true, std::memory_order_release);
      return true;
    });
    return {};
  }
  result<> wait(const stream& s, const event& e) override {
    if (auto ok = check_event(e, s, "wait"); !ok) return ok;
    if (const auto& last = events_[e.id - 1])
      scheduler_.enqueue_gate(number_of(s), [at = last] { return at->load(std::memory_order_acquire); });
    return {};
  }
  result<bool> reached(const event& e) override {
    if (auto ok = check_event(e, "reached"); !ok) return std::move(ok.error());
    const auto& last = events_[e.id - 1];
    return !last || last->load(std::memory_order_acquire);
  }

  result<> launch(const stream& s, extent grid, const block_shape& block, std::function<void()> kernel,
                  std::string name) override {
    simt::launch l{.grid = {grid.x, grid.y, grid.z},
                   .block = {block.x, block.y, block.z},
                   .kernel = std::move(kernel),
                   .name = std::move(name),
                   .stack_bytes = stack_bytes_,
                   .shared_bytes = block.shared_bytes};
    if (auto ok = check_launch(s, l); !ok) return ok;
    const auto queue = [this](const stream& to, simt::launch one) -> result<> {
      scheduler_.enqueue(number_of(to), std::move(one), &device_context(to.node));
      return {};
    };
    if (recording(s)) return keep([queue, l](const stream& to) { return queue(to, l); });
    return queue(s, std::move(l));
  }

  result<> copy_on_stream(const stream& s, void* to, const void* from, size_t bytes) override {
    if (auto ok = check_copies(s, to, from, bytes); !ok) return ok;
    if (recording(s)) return keep([=, this](const stream& later) { return copy_on_stream(later, to, from, bytes); });
    scheduler_.enqueue_gate(number_of(s), [=] {
      std::memcpy(to, from, bytes);
      return true;
    });
    return {};
  }

  result<block_room> room_for(const stream& s, extent block) const override {
    if (auto ok = check_block(s, block); !ok) return std::move(ok.error());
    if (resident_blocks_ == 0) return block_room{0x7fffffff, "2^31 - 1 blocks of a grid"};
    return block_room{resident_blocks_, "shm.resident_blocks = " + std::to_string(resident_blocks_)};
  }

  result<> launch_host(int node, std::function<void(host&)> program, std::string name) override {
    if (auto ok = userlib::check_program(*this, node, program, name); !ok) return ok;
    const host_region own = host_memory(node);
    const size_t all = cfg_.segment_bytes * static_cast<size_t>(cfg_.nodes);
    programs_.add(node, {.near = {{own.base, own.bytes}, {window_.base(), all}}}, std::move(program), std::move(name));
    return {};
  }

  result<> start() override {
    programs_.start();
    scheduler_.start();
    return {};
  }

  result<bool> poll() override {
    constexpr uint64_t slice_ns = 1'000'000;
    const auto ended = scheduler_.poll(slice_ns);
    if (!ended) return stopped(reported(ended.error()));
    if (cfg_.cancelled && cfg_.cancelled()) return stopped(cancelled());
    if (!*ended || !programs_.ended()) return false;
    if (auto ok = programs_.finish(now_ns(), [] { return true; }); !ok) return std::move(ok.error());
    return true;
  }

  result<run_stats> run(uint64_t timeout_ns, host_sync) override {
    const uint64_t begin = now_ns();
    const uint64_t deadline = host_programs::after(begin, timeout_ns);
    programs_.start();
    const auto r = scheduler_.run(timeout_ns, [this] { return go_on(); });
    if (!r && r.error().why == simt::native_error::kind::timed_out)
      return stopped({errc::timed_out, "run: " + std::to_string(timeout_ns) + " ns are over\n" + r.error().text});
    if (!r) return stopped(reported(r.error()));
    if (auto ok = programs_.finish(deadline, [this] { return go_on(); }); !ok) return std::move(ok.error());
    const uint64_t took = now_ns() - begin;
    return run_stats{.sim_ns = took, .nic_cycles = 0, .wall_s = static_cast<double>(took) * 1e-9};
  }

  uint64_t now_ns() const override { return host_programs::clock_ns(); }

 private:
  void start_trace() {
    traced_.assign(contexts_.size(), std::vector<call_record>(2 * userlib::traced_calls));
    claimed_.assign(contexts_.size(), {});
    for (size_t n = 0; n < contexts_.size(); ++n)
      contexts_[n].trace = {traced_[n].data(), claimed_[n].data(), userlib::traced_calls};
  }
  static error cancelled() { return {errc::cancelled, "cancelled"}; }
  static error reported(const simt::native_error& e) {
    if (e.why == simt::native_error::kind::cancelled) return cancelled();
    return {errc::device_fault, e.text};
  }
  // Stops everything that runs, and returns the error.
  error stopped(error why) {
    scheduler_.stop();
    for (auto& e : events_) e.reset();
    static_cast<void>(programs_.finish(0, [] { return true; }));
    return why;
  }
  bool go_on() {
    if (cfg_.on_progress) cfg_.on_progress(now_ns());
    return !(cfg_.cancelled && cfg_.cancelled());
  }
  unsigned number_of(const stream& s) const {
    return s.id ? static_cast<unsigned>(static_cast<size_t>(cfg_.nodes) + s.id - 1) : static_cast<unsigned>(s.node);
  }

  window window_, host_;
  std::vector<context> contexts_;
  const unsigned resident_blocks_;
  const size_t stack_bytes_;
  std::filesystem::path trace_file_;
  std::vector<std::vector<call_record>> traced_;  // of the nodes, as their contexts name them
  std::vector<std::array<uint32_t, 2>> claimed_;
  std::vector<std::shared_ptr<std::atomic<bool>>> events_;  // whether the last record was reached; null: there is none
  simt::native_scheduler scheduler_;
  host_programs programs_;
  userlib::report_on_signal on_signal_{
      {"", [this] { static_cast<void>(abort()); }, [this] { return *report(); }}};  // last: uses the rest
};

// shm.threads=0|1: a host thread for each node; shm.resident_blocks=N: blocks a GPU holds at a time, 0 for no limit;
// shm.stack_kb=N: stack of a thread, for kernels with large local arrays.
constexpr unsigned least_stack_kb = 32, most_stack_kb = 8192;
result<simt::native_config> parse_overrides(const std::vector<std::string>& overrides) {
  simt::native_config native;
  for (const std::string& o : overrides) {
    const size_t eq = o.find('=');
    const std::string key = o.substr(0, eq);
    const std::string value = eq == std::string::npos ? "" : o.substr(eq + 1);
    unsigned v = 0;
    const auto [end, ec] = std::from_chars(value.data(), value.data() + value.size(), v);
    if (ec != std::errc() || end != value.data() + value.size())
      return userlib::bad("override '" + o + "': must be key=number");
    if (key == "shm.threads" && v <= 1) {
      native.thread_per_stream = v == 1;
    } else if (key == "shm.resident_blocks") {
      native.resident_blocks = v;
    } else if (key == "shm.stack_kb" && v >= least_stack_kb && v <= most_stack_kb) {
      native.stack_bytes = size_t{v} * 1024;
    } else {
      return userlib::bad("override '" + o + "': the shm provider knows shm.threads=0|1, shm.resident_blocks=N and " +
                          "shm.stack_kb=" + std::to_string(least_stack_kb) + "..." + std::to_string(most_stack_kb));
    }
  }
  return native;
}

result<std::unique_ptr<cluster>> make(const cluster_config& cfg) {
  if (auto ok = userlib::check_config(cfg); !ok) return std::move(ok.error());
  auto native = parse_overrides(cfg.overrides);
  if (!native) return std::move(native.error());
  if (std::max(cfg.segment_bytes, cfg.host_bytes) > SIZE_MAX / static_cast<size_t>(cfg.nodes)) {
    return userlib::bad("segment_bytes = " + std::to_string(cfg.segment_bytes) + ", host_bytes = " +
                        std::to_string(cfg.host_bytes) + ": " + std::to_string(cfg.nodes) + " of them overflow");
  }
  auto c = std::make_unique<shm_cluster>(cfg, *native);
  if (std::string text = c->missing(); !text.empty()) return error{errc::out_of_memory, std::move(text)};
  return c;
}

}  // namespace
}  // namespace ggas

GGAS_PROVIDER(shm, ggas::make);
