// SPDX-License-Identifier: Apache-2.0
// A simulated cluster runs, by this process or by several ranks, and what that came to.
#include <algorithm>
#include <span>
#include <stdexcept>

#include "userlib/cluster/providers/sim/simulated_cluster.hpp"

namespace ggas::userlib {

using clock = std::chrono::steady_clock;

// Waits of the nodes whose GPUs have work. They launch the kernels first.
class sim_cluster::kernel_waits {
 public:
  kernel_waits(sim_cluster& c, cpu::doing how) : cluster_(c), how_(how) {
    for (const int n : c.own_)
      if (!c.gpu_of(n).idle()) nodes_.push_back(n);
    for (const int n : nodes_) states(n).change({}, how_);
  }
  ~kernel_waits() {
    for (const int n : nodes_) {
      const uint64_t all = kernels(n), fresh = all - std::exchange(cluster_.kernels_launched_[size_t(n)], all);
      const uint64_t call_ns = cluster_.parts_of(cluster_.homes_.of(n).host).gpu.launch_call_ns;
      states(n).was_work(how_, fresh * call_ns * 1000);
      states(n).change(how_, {});
    }
  }
  kernel_waits(const kernel_waits&) = delete;
  kernel_waits& operator=(const kernel_waits&) = delete;

 private:
  // And copies that were ever queued; 0 if the GPU is another model, which does not count them.
  uint64_t kernels(int n) const {
    const auto counters = cluster_.gpu_of(n).counters();
    const auto of = [&](const char* name) {
      const auto i = counters.find(name);
      return i == counters.end() ? 0 : i->second;
    };
    return of("gpu.kernels") + of("gpu.copies");
  }
  cpu::thread_states& states(int n) const { return cluster_.system_->processor(cluster_.homes_.of(n).host).states(); }

  sim_cluster& cluster_;
  cpu::doing how_;
  std::vector<int> nodes_;
};

bool sim_cluster::gpus_idle() const {
  return std::ranges::all_of(own_, [this](int n) { return gpu_of(n).idle(); });
}

uint64_t sim_cluster::start_streams_ps(int node) {
  const unsigned calls = gpu_of(node).start(0);
  kernels_launched_[size_t(node)] += calls;  // paid by the program
  return calls * uint64_t{parts_of(homes_.of(node).host).gpu.launch_call_ns} * 1000;
}

std::shared_ptr<gpu::mark> sim_cluster::last_record(const event& e) const {
  if (auto ok = check_event(e, "synchronise"); !ok) throw std::invalid_argument(ok.error().text);
  return events_[e.id - 1];
}

sim_cluster::waiting sim_cluster::waiting_for(int node, host_sync how) const {
  const host_parts& p = parts_of(homes_.of(node).host);
  if (p.plat.cpu.sleep_ps) how = host_sync::event_blocking;
  const bool sleeps = how == host_sync::event_blocking;
  return {sleeps ? cpu::doing::asleep : cpu::doing::polling, uint64_t{sync_ns(p.gpu, how) - p.gpu.launch_ns} * 1000};
}

bool sim_cluster::faulty() const {
  return programs_.failed() || std::ranges::any_of(own_, [this](int n) {
           return !gpu_of(n).kernel_fault().empty() || !system_->nic_fault(homes_.of(n).host).empty();
         });
}

// Everything ended, or something failed.
bool sim_cluster::settled() const { return faulty() || (programs_.idle() && gpus_idle()); }

std::string sim_cluster::of_all(const std::string& mine) const {
  if (!sim::process_ranks()) return mine;
  std::string out;
  for (const std::string& text : sim::process_ranks()->gather(mine))
    if (!text.empty()) out += (out.empty() ? "" : "; ") + text;
  return out;
}

void sim_cluster::share_memory() {
  if (!sim::process_ranks()) return;
  for (int n = 0; n < cfg_.nodes; ++n) {
    const unsigned owner = system_->owner(homes_.of(n).host);
    const node_memory& it = nodes_[size_t(n)];
    sim::process_ranks()->copy({it.segment, cfg_.segment_bytes}, owner);
    sim::process_ranks()->copy({it.pinned, cfg_.host_bytes}, owner);
  }
}

void sim_cluster::report_progress() {
  if (!cfg_.on_progress || clock::now() < next_progress_) return;
  next_progress_ = clock::now() + std::chrono::milliseconds(150);
  cfg_.on_progress(now_ns());
}

result<> sim_cluster::start() {
  system_->sim().enter();
  for (int n = 0; n < cfg_.nodes; ++n) {
    const uint64_t most_ns = parts_of(homes_.of(n).host).gpu.launch_skew_ns;
    const uint64_t skew_ps = most_ns ? random_() % (most_ns * 1000ull) : 0;
    nodes_[size_t(n)].seen.others = window_of_others();  // links may have died, or come back
    if (owns(n)) gpu_of(n).start(skew_ps);
  }
  const bool started = programs_.start(
      *system_, [this](int node) -> host_view& { return nodes_[size_t(node)].host; },
      [this](int node) { return homes_.of(node).host; });
  if (started) return {};
  programs_.reset(*system_);
  return fail(errc::out_of_memory, "no memory for the stacks of host programs");
}

result<bool> sim_cluster::poll() {
  if (sim::process_ranks()) return fail(errc::unsupported, "poll: processes of ranks go on together, in run()");
  constexpr uint64_t slice_ps = 1'000'000;
  system_->sim().enter();
  report_progress();
  if (cfg_.cancelled && cfg_.cancelled()) return cancel();
  if (!settled() && !system_->run_until([&] { return settled(); }, slice_ps)) return false;
  if (auto ok = verdict(true, 0); !ok) return std::move(ok.error());
  return true;
}

result<run_stats> sim_cluster::run(uint64_t timeout_ns, host_sync how) {
  const auto wall = clock::now();
  const uint64_t begin_ps = system_->now_ps(), cycles = system_->nic_cycles();
  if (auto ok = start(); !ok) return std::move(ok.error());
  if (parts_[0].plat.cpu.sleep_ps) how = host_sync::event_blocking;
  const kernel_waits waits(*this, how == host_sync::event_blocking ? cpu::doing::asleep : cpu::doing::polling);
  const bool kernels = !of_all(gpus_idle() ? "" : "kernels").empty();
  bool cancelled = false;
  const bool in_time = system_->run_until(
      [&] {
        report_progress();
        cancelled = cfg_.cancelled && cfg_.cancelled();
        return cancelled || settled();
      },
      ps_of(timeout_ns), [&] { return cancelled || faulty(); });
  cancelled = !of_all(cancelled ? "cancelled" : "").empty();
  const auto ended = cancelled ? result<>(cancel()) : verdict(in_time, timeout_ns);
  if (!ended) {
    share_memory();
    return ended.error();
  }
  // The hosts learn of it.
  uint64_t reported_ns = 0;
  for (const host_parts& p : parts_)
    reported_ns = std::max(reported_ns, uint64_t{sync_ns(p.gpu, how) - p.gpu.launch_ns});
  if (kernels) system_->run_for(reported_ns * 1000);
  share_memory();  // with what was on its way when the last kernel ended
  return run_stats{.sim_ns = (system_->now_ps() - begin_ps) / 1000,
                   .nic_cycles = system_->nic_cycles() - cycles,
                   .wall_s = std::chrono::duration<double>(clock::now() - wall).count()};
}

// After new routes, where they are being changed.
result<> sim_cluster::reset(uint64_t timeout_ns) {
  const sim::network_manager* const m = system_->manager();
  if (m && !system_->run_until([m] { return m->idle(); }, ps_of(timeout_ns)))
    return fail(errc::timed_out, "reset: routes were not changed after {} ns", timeout_ns);
  return engine_cluster::reset(timeout_ns);
}

void sim_cluster::reset_gpus() {
  for (const int n : own_) gpu_of(n).reset();
  for (auto& e : events_) e.reset();
}

// A computer dies, and with it what runs on it.
void sim_cluster::end_all_of(unsigned host) {
  if (!system_) return;  // it is being made, nothing runs yet
  for (unsigned g = 0; g < homes_.gpus(host); ++g) gpu_of(homes_.node(host, g)).reset();
  programs_.end_on(host);
}

error sim_cluster::cancel() {
  programs_.reset(*system_);
  reset_gpus();
  return fail(errc::cancelled, "cancelled after {} ns", now_ns());
}

// What the run came to. After anything but success no kernel is left on any GPU.
result<> sim_cluster::verdict(bool in_time, uint64_t timeout_ns) {
  std::string stuck, broken, failed;
  const auto add = [](std::string& to, int node, const std::string& text) {
    to += fmt::format("{}node {}: {}", to.empty() ? "" : "; ", node, text);
  };
  for (int n = 0; n < cfg_.nodes; ++n) {
    const unsigned host = homes_.of(n).host;
    const auto log = homes_.of(n).gpu == 0 ? system_->events(host) : std::vector<std::string>{};
    if (owns(n) && homes_.of(n).gpu == 0 && !system_->nic_fault(host).empty()) add(broken, n, system_->nic_fault(host));
    if (!owns(n) || !alive(n)) continue;
    gpu::device& g = gpu_of(n);
    if (!g.idle()) add(stuck, n, g.blockage());
    if (!g.kernel_fault().empty()) add(broken, n, g.kernel_fault());
    if (const auto f = g.take_fault(); f.count)
      add(failed, n, fmt::format("{} failed accesses, the first: {}", f.count, f.first));
    // The GPU cannot know: the NIC answers loads that fail with all ones.
    if (homes_.of(n).gpu != 0) continue;  // one NIC reports for all
    const auto fresh = std::span(log).subspan(std::exchange(events_seen_[host], log.size()));
    const auto load = [](const std::string& e) { return e.find(": LOAD_") != e.npos; };
    if (const auto loads = std::ranges::count_if(fresh, load))
      add(failed, n, fmt::format("{} loads failed, the first: {}", loads, *std::ranges::find_if(fresh, load)));
  }
  if (!programs_.idle()) stuck += (stuck.empty() ? "" : "; ") + programs_.describe(false);
  if (programs_.failed()) broken += (broken.empty() ? "" : "; ") + programs_.describe(true);
  for (std::string* text : {&stuck, &broken, &failed}) *text = of_all(*text);
  programs_.reset(*system_);
  if (!in_time || !broken.empty()) reset_gpus();
  if (!broken.empty()) return fail(errc::device_fault, "{}", broken);
  if (!in_time)
    return fail(errc::timed_out, "not ended after {} ns: {}{}{}", timeout_ns, stuck, failed.empty() ? "" : "; ",
                failed);
  if (!failed.empty()) return fail(errc::device_fault, "{}", failed);
  return {};
}

}  // namespace ggas::userlib
