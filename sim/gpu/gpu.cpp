// SPDX-License-Identifier: Apache-2.0
// Streams, kernels, and blocks on multiprocessors.
#include "sim/gpu/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu_api/simt/shared_stacks.hpp"

namespace ggas::gpu {

using pcie::now_ps;

namespace {

// Shared by all GPUs: simulated nodes take turns, so their threads never run at the same time.
const std::shared_ptr<simt::shared_stacks>& common_stacks() {
  static const auto stacks = std::make_shared<simt::shared_stacks>();
  return stacks;
}

}  // namespace

gpu::gpu(sc_core::sc_module_name name, const gpu_config& cfg, uint16_t bus_id, const pcie::port_config& port)
    : sc_module(name),
      host("host", cfg, bus_id, port),
      cfg_(cfg),
      agenda_("agenda"),
      copies_(host, cfg, agenda_),
      sms_(cfg.sms) {
  for (sm& s : sms_) s.scheduler_free_ps.assign(cfg.schedulers, 0);
  host.on_room = [this] {
    resume_stalled();
    copies_.resume();
  };
}

gpu::~gpu() { reset(); }

std::optional<std::string> gpu::check(simt::dim3 grid, simt::dim3 block) const {
  const auto text = [](simt::dim3 d) { return fmt::format("{} x {} x {}", d.x, d.y, d.z); };
  if (grid.count() == 0) return fmt::format("a grid of {} blocks is empty", text(grid));
  if (block.count() == 0) return fmt::format("a block of {} threads is empty", text(block));
  const unsigned most =
      std::min({cfg_.threads_per_block, cfg_.resident_warps() * simt::warp_size, simt::max_block_threads});
  if (block.count() > most)
    return fmt::format("a block of {} threads is too large: {} allows {}", text(block), cfg_.name, most);
  return std::nullopt;
}

gpu::room gpu::room_for(simt::dim3 block) const {
  const unsigned warps = (block.count() + simt::warp_size - 1) / simt::warp_size;
  const std::pair<unsigned, std::string> limits[] = {
      {cfg_.blocks_per_sm, fmt::format("gpu.blocks_per_sm = {}", cfg_.blocks_per_sm)},
      {cfg_.warps_per_sm / warps, fmt::format("gpu.warps_per_sm = {}", cfg_.warps_per_sm)},
      {cfg_.resident_warps() / warps, fmt::format("gpu.registers_per_thread = {}", cfg_.registers_per_thread)},
      {cfg_.threads_per_sm / (warps * simt::warp_size), fmt::format("gpu.threads_per_sm = {}", cfg_.threads_per_sm)},
  };
  const auto& [each, limit] = *std::ranges::min_element(limits);
  return {cfg_.sms * each, fmt::format("gpu.sms = {}, {}", cfg_.sms, limit)};
}

// ------------------------------------------------------------------------------------------------ streams

void gpu::launch(simt::launch l, unsigned stream) {
  auto k = std::make_unique<kernel>(std::move(l), *this, ++commands_);
  ++totals_.kernels;
  k->priority = priorities_[stream];
  streams_[stream].queue.push_back({.work = std::move(k)});
}

// Nothing: memory that is not the GPU's and that it does not reach over PCIe.
std::optional<copy_engine::side> gpu::side_of(const void* at) {
  const address_map::place p = addresses.find(reinterpret_cast<uint64_t>(at), 1);
  if (p.where == region::remote) return copy_engine::side{.bus = p.bus};
  if (p.where == region::local) return copy_engine::side{.own = static_cast<std::byte*>(const_cast<void*>(at))};
  record_fault("copy of memory that the GPU does not reach,", reinterpret_cast<uint64_t>(at));
  return {};
}

bool gpu::copy(void* to, const void* from, uint64_t bytes, unsigned stream) {
  static std::byte nothing;  // where no byte is copied, any place will do
  const auto target = side_of(bytes ? to : &nothing), source = side_of(bytes ? from : &nothing);
  if (!target || !source) return true;
  struct stream& s = streams_[stream];
  copy_engine::job j{.to = *target,
                     .from = *source,
                     .bytes = bytes,
                     .moved = [this, &s] { end_copy(s); },
                     .refused = [this](uint64_t bus) { record_fault("read of a copy", bus); }};
  ++totals_.copies;
  s.queue.push_back({.copy = std::make_unique<transfer>(std::move(j), ++commands_)});
  return true;
}

void gpu::record(std::shared_ptr<mark> m, unsigned stream) {
  streams_[stream].queue.push_back({.work = nullptr, .reaches = std::move(m)});
}

void gpu::wait(std::shared_ptr<mark> m, unsigned stream) {
  streams_[stream].queue.push_back({.work = nullptr, .waits = std::move(m)});
}

unsigned gpu::make_calls(uint64_t at_ps) {
  std::vector<command*> calls;
  for (auto& [number, s] : streams_)
    for (auto& what : s.queue)
      if (command* const c = what.call(); c && !c->called) calls.push_back(c);
  std::ranges::sort(calls, {}, &command::number);
  for (command* c : calls) {
    c->called = true;
    c->ready_ps = at_ps + cfg_.launch_ns * 1000ull;
    at_ps += cfg_.launch_call_ns * 1000ull;
  }
  return unsigned(calls.size());
}

unsigned gpu::start(uint64_t delay_ps) {
  const unsigned calls = make_calls(now_ps() + delay_ps);
  for (auto& [number, s] : streams_) {
    if (s.busy || s.queue.empty()) continue;
    s.busy = true;
    ++running_;
    s.start.owner = this;
    s.start.of = &s;
    const command* const first = s.queue.front().call();
    agenda_.at(first ? first->ready_ps : now_ps() + delay_ps, s.start);
  }
  return calls;
}

void gpu::activate(stream& s) {
  if (transfer* const t = s.queue.front().copy.get()) return copies_.push(t->job);
  kernel* const k = s.queue.front().work.get();
  if (!k) return go_on(s, 0);
  const auto behind = std::ranges::find_if(active_, [&](const kernel* other) { return other->priority < k->priority; });
  active_.insert(behind, k);
  dispatch();
}

// What is first in a stream: marks are done with at once, a kernel or a copy starts at its time.
void gpu::go_on(stream& s, uint64_t gap_ps) {
  for (; !s.queue.empty(); s.queue.pop_front()) {
    const queued& first = s.queue.front();
    if (const command* const c = first.call()) return agenda_.at(std::max(now_ps() + gap_ps, c->ready_ps), s.start);
    if (first.waits && !first.waits->reached) {
      first.waits->waiters.push_back([this, &s, epoch = epoch_] {
        if (epoch == epoch_) go_on(s, 0);
      });
      return;
    }
    if (!first.reaches) continue;
    first.reaches->reached = true;
    for (const auto& wake : std::exchange(first.reaches->waiters, {})) wake();
  }
  s.busy = false;
  --running_;
  if (running_ == 0 && on_idle) on_idle();
}

void gpu::end_kernel(kernel& k) {
  std::erase(active_, &k);
  const auto i = std::ranges::find_if(
      streams_, [&](auto& s) { return !s.second.queue.empty() && s.second.queue.front().work.get() == &k; });
  stream& s = i->second;
  ended_kernels_.push_back(std::move(s.queue.front().work));
  s.queue.pop_front();
  go_on(s, uint64_t{cfg_.kernel_gap_ns} * 1000);
}

void gpu::end_copy(stream& s) {
  s.queue.pop_front();
  go_on(s, uint64_t{cfg_.kernel_gap_ns} * 1000);
}

// ------------------------------------------------------------------------------------------------ blocks

// Blocks go to the emptiest multiprocessor with room for them, kernels in their order.
void gpu::dispatch() {
  for (kernel* k : active_) {
    const unsigned threads = k->grid.config().block.count();
    const unsigned warps = (threads + simt::warp_size - 1) / simt::warp_size;
    while (k->started < k->grid.blocks()) {
      const auto where = place(warps * simt::warp_size, warps);
      if (!where) return;
      start_block(*k, *where);
    }
  }
}

std::optional<unsigned> gpu::place(unsigned threads, unsigned warps) const {
  std::optional<unsigned> best;
  for (unsigned i = 0; i < sms_.size(); ++i) {
    const sm& s = sms_[i];
    const bool fits = s.threads + threads <= cfg_.threads_per_sm && s.warps + warps <= cfg_.resident_warps() &&
                      s.blocks < cfg_.blocks_per_sm;
    if (fits && (!best || s.threads < sms_[*best].threads)) best = i;
  }
  return best;
}

void gpu::start_block(kernel& k, unsigned index) {
  auto b = std::make_unique<resident_block>();
  b->of = &k;
  b->sm = index;
  b->code = k.grid.make_block(k.started++);
  simt::share_stacks(*b->code, common_stacks());
  const auto warps = b->code->warps();
  b->warps = std::vector<warp_state>(warps.size());
  b->live = unsigned(warps.size());
  sm& s = sms_[index];
  for (size_t i = 0; i < warps.size(); ++i) {
    warp_state& w = b->warps[i];
    w.owner = this;
    w.code = warps[i].get();
    w.block = b.get();
    w.scheduler = s.next_scheduler++ % cfg_.schedulers;
  }
  b->code->on_runnable = [this, p = b.get()](simt::warp& w) { wake(p->warps[w.index()], now_ps()); };
  s.threads += unsigned(warps.size()) * simt::warp_size;
  s.warps += unsigned(warps.size());
  if (s.blocks++ == 0) busy_sms_.change(1, now_ps());
  ++totals_.blocks;
  for (warp_state& w : b->warps) wake(w, now_ps());
  blocks_.push_back(std::move(b));
}

// A warp has ended when its code and its stores have: what a kernel wrote is out when it ends.
void gpu::maybe_end(warp_state& w) {
  if (w.ended || w.woken || w.remote_stores || !w.code->finished()) return;
  if (now_ps() < w.stores_done_ps) return wake(w, w.stores_done_ps);
  w.ended = true;
  if (--w.block->live == 0) end_block(*w.block);
}

void gpu::end_block(resident_block& b) {
  sm& s = sms_[b.sm];
  s.threads -= unsigned(b.warps.size()) * simt::warp_size;
  s.warps -= unsigned(b.warps.size());
  if (--s.blocks == 0) busy_sms_.change(-1, now_ps());
  kernel& k = *b.of;
  // The caller still stands in one of its warps: it is destroyed later.
  const auto i = std::ranges::find(blocks_, &b, &std::unique_ptr<resident_block>::get);
  ended_blocks_.push_back(std::move(*i));
  *i = std::move(blocks_.back());
  blocks_.pop_back();
  if (++k.ended == k.grid.blocks()) end_kernel(k);
  dispatch();
}

void gpu::bury() {
  ended_blocks_.clear();
  ended_kernels_.clear();
}

// ------------------------------------------------------------------------------------------------ observation

std::string gpu::blockage() const {
  std::string out;
  for (const auto& [number, s] : streams_) {
    if (!s.busy) continue;
    if (!out.empty()) out += "; ";
    if (s.queue.front().copy) {
      out += fmt::format("a copy of {} bytes, {} behind it", s.queue.front().copy->job.bytes, s.queue.size() - 1);
      continue;
    }
    if (!s.queue.front().work) {
      out += fmt::format("a stream waits for an event, {} behind it", s.queue.size() - 1);
      continue;
    }
    const kernel& k = *s.queue.front().work;
    const unsigned all = k.grid.blocks(), resident = k.started - k.ended, waiting = all - k.started;
    out += fmt::format("kernel {}: {} of {} blocks ended, {} resident", k.number, k.ended, all, resident);
    if (waiting)
      out += fmt::format(
          ", {} have no room beside them (blocks are not preempted: if the resident ones wait for them, that is a "
          "deadlock)",
          waiting);
    if (s.queue.size() > 1) out += fmt::format(", {} kernels behind it", s.queue.size() - 1);
  }
  return out;
}

void gpu::reset() {
  ++epoch_;
  agenda_.clear();
  copies_.forget();
  host.forget();
  stalled_.clear();
  active_.clear();
  kernel_fault_.clear();
  blocks_.clear();
  bury();
  free_groups_.clear();
  for (const auto& g : groups_) recycle(*g);
  streams_.clear();
  running_ = 0;
  busy_sms_.clear(now_ps());
  computing_.clear(now_ps());
  for (sm& s : sms_) {
    s = {};
    s.scheduler_free_ps.assign(cfg_.schedulers, 0);
  }
}

gpu::fault gpu::take_fault() { return std::exchange(fault_, {}); }

void gpu::record_fault(std::string_view what, uint64_t addr) {
  ++totals_.faults;
  if (fault_.count++ == 0) fault_.first = fmt::format("{} at {:#x}", what, addr);
}

std::map<std::string, uint64_t> gpu::counters() const {
  const host_interface_stats& h = host.stats();
  return {
      {"gpu.kernels", totals_.kernels},
      {"gpu.copies", totals_.copies},
      {"gpu.blocks", totals_.blocks},
      {"gpu.instructions", totals_.instructions},
      {"gpu.local_loads", totals_.local_loads},
      {"gpu.local_stores", totals_.local_stores},
      {"gpu.remote_loads", totals_.remote_loads},
      {"gpu.remote_stores", totals_.remote_stores},
      {"gpu.atomics", totals_.atomics},
      {"gpu.fences", totals_.fences},
      {"gpu.system_fences", totals_.system_fences},
      {"gpu.store_stalls", totals_.store_stalls},
      {"gpu.faults", totals_.faults},
      {"gpu.flops", totals_.flops},
      {"gpu.memory_bytes", totals_.memory_bytes},
      {"gpu.l2_bytes", host.l2.bytes()},
      {"gpu.resident_ps", busy_sms_.any_ps(now_ps())},
      {"gpu.sm_ps", busy_sms_.sum_ps(now_ps())},
      {"gpu.computing_ps", computing_.any_ps(now_ps())},
      {"gpu.pcie_writes", h.stores},
      {"gpu.pcie_reads", h.reads},
      {"gpu.host_writes", h.host_stores},
      {"gpu.host_reads", h.host_reads},
      {"gpu.pcie_flushes", h.flushes},
      {"gpu.pcie_reads_outstanding_max", h.most_reads},
      {"gpu.bar_writes", h.bar_writes},
      {"gpu.bar_reads", h.bar_reads},
      {"gpu.bar_unmapped", h.unmapped},
      {"gpu.bar_poisoned", h.poisoned},
  };
}

}  // namespace ggas::gpu
