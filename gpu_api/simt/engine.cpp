// SPDX-License-Identifier: Apache-2.0
#include "gpu_api/simt/engine.hpp"

#include <bit>
#include <exception>
#include <stdexcept>
#include <utility>

#include "gpu_api/simt/device.hpp"
#include "gpu_api/simt/lane.hpp"

namespace ggas::simt {
namespace {

constexpr size_t stack_reserve =
    1536 * sanitizer::stack_factor;  // less than this left at a suspension counts as an overflow

void body(void* arg) {
  lane& l = *static_cast<lane*>(arg);
  block::impl& b = *l.parent->parent;
  try {
    b.cfg->kernel();
  } catch (const std::exception& e) {
    b.set_fault(l, std::string("exception left the kernel: ") + e.what());
  } catch (...) {
    b.set_fault(l, "exception of unknown type left the kernel");
  }
}

bool start(lane& l) {
  block::impl& b = *l.parent->parent;
  const size_t bytes = b.cfg->stack_bytes * sanitizer::stack_factor;
  if (b.stacks) {
    shared_stack* const s = b.stacks->take(bytes);
    return s && l.fib.start(*s, l.linear, body, &l);
  }
  const stack s = take_stack(bytes);
  return s && l.fib.start(s, l.linear, body, &l);
}

// A lane accesses its own variable, which no other thread can find while the lane waits. So the access is done at once;
// it costs as much as any access.
void access_own(lane& l) {
  access& a = l.acc;
  apply(a);
  a.addr = a.kind == op::store ? l.sink.data() : l.variable.data();
  if (a.kind != op::store) l.variable = a.data;
}

// Suspends the running lane; its warp has noted what it waits for.
void suspend(lane& l) {
  if (l.fib.room() < stack_reserve) {
    l.parent->parent->set_fault(l, "stack overflow (raise launch::stack_bytes)");
  }
  l.fib.suspend();
}

uint64_t collect(lane& l) {
  warp::impl& w = *l.parent;
  w.wait_warp |= 1u << l.number;
  suspend(l);
  return l.out;
}

}  // namespace

// ---------------------------------------------------------------------------------------------- called by lanes

access& begin_access(op kind) {
  access& a = current->acc;
  a.kind = kind;
  a.lane = current->number;
  a.sc = scope::sys;
  a.is_volatile = a.poll = false;
  a.owner = 0;
  a.a = a.b = 0;
  return a;
}

bool is_own_variable(const void* p) { return current->fib.is_on_stack(p); }

void perform() {
  lane& l = *current;
  warp::impl& w = *l.parent;
  const bool memory = l.acc.kind == op::load || l.acc.kind == op::store || l.acc.kind == op::atomic;
  if (memory && l.fib.is_on_shared_stack(l.acc.addr)) access_own(l);
  w.op |= 1u << l.number;
  w.fresh |= 1u << l.number;
  suspend(l);
}

namespace {

unsigned arrive_at(unsigned id, bool vote) {
  lane& l = *current;
  auto& barrier = l.parent->parent->barriers[id];
  barrier.votes += vote;
  l.barrier = static_cast<uint8_t>(id);
  l.parent->wait_block |= 1u << l.number;
  return ++barrier.arrived;
}

}  // namespace

unsigned sync_block(bool vote) {
  block::impl& b = *current->parent->parent;
  arrive_at(0, vote);
  b.release_if_all_are_here();
  suspend(*current);
  return b.barriers[0].result;
}

unsigned sync_some(unsigned id, unsigned threads, bool vote) {
  block::impl& b = *current->parent->parent;
  if (id == 0 || id >= b.barriers.size())
    throw std::out_of_range("barrier " + std::to_string(id) + " of a block: the barriers of some warps are 1 ... " +
                            std::to_string(b.barriers.size() - 1));
  if (arrive_at(id, vote) == threads) b.release_barrier(id);
  suspend(*current);
  return b.barriers[id].result;
}

unsigned block_threads() { return current->parent->parent->cfg->block.count(); }

void sync_warp(uint32_t mask) {
  lane& l = *current;
  l.kind = collective::sync;
  l.mask = mask;
  collect(l);
}

uint64_t shuffle(uint32_t mask, uint64_t value, unsigned source) {
  lane& l = *current;
  l.kind = collective::shuffle;
  l.mask = mask;
  l.in = value;
  l.source = static_cast<uint8_t>(source);
  return collect(l);
}

uint32_t ballot(uint32_t mask, bool predicate) {
  lane& l = *current;
  l.kind = collective::ballot;
  l.mask = mask;
  l.in = predicate;
  return static_cast<uint32_t>(collect(l));
}

void* shared_memory(const void* key, size_t bytes, size_t align) {
  auto& slots = current->parent->parent->shared;
  for (auto& s : slots) {
    if (s.key == key) return s.data;
  }
  shared_slot s{key, std::make_unique<std::byte[]>(bytes + align), nullptr, bytes};
  for (size_t i = 0; i < bytes + align; ++i)
    s.bytes[i] = std::byte{0xa5};  // CUDA leaves it undefined: make that visible
  const auto at = (reinterpret_cast<uintptr_t>(s.bytes.get()) + align - 1) / align * align;
  s.data = reinterpret_cast<void*>(at);
  slots.push_back(std::move(s));
  return slots.back().data;
}

bool is_shared_memory(const void* p) {
  const auto* const at = static_cast<const std::byte*>(p);
  for (const auto& s : current->parent->parent->shared) {
    const auto* const begin = static_cast<const std::byte*>(s.data);
    if (at >= begin && at < begin + s.size) return true;
  }
  return false;
}

void* dynamic_shared_memory() {
  const auto& cfg = current->parent->parent->cfg;
  return shared_memory(cfg.get(), cfg->shared_bytes, 16);
}

dim3 thread_index() { return current->idx; }
dim3 block_index() { return current->parent->parent->idx; }
dim3 block_shape() { return current->parent->parent->cfg->block; }
dim3 grid_shape() { return current->parent->parent->cfg->grid; }
unsigned lane_number() { return current->number; }
unsigned thread_linear() { return current->linear; }
uint32_t warp_mask() { return current->parent->exist; }
uint64_t now_ns() { return current->parent->parent->env->now_ns(); }
const void* device_context() { return current->parent->parent->env->device_context(); }
bool in_kernel() { return current != nullptr; }

// ---------------------------------------------------------------------------------------------- block

block::impl::~impl() {
  give_places();
  for (auto& w : warps) {
    for (lane& l : w->get().lanes) {
      if (l.fib.started()) l.fib.release();
    }
  }
}

void block::impl::set_fault(const lane& l, const std::string& why) {
  if (!fault.empty()) return;
  fault =
      "kernel '" + cfg->name + "' block " + std::to_string(linear) + " thread " + std::to_string(l.linear) + ": " + why;
}

void block::impl::release_if_all_are_here() {
  if (barriers[0].arrived && barriers[0].arrived == live) release_barrier(0);
}

void block::impl::release_barrier(unsigned id) {
  barriers[id].arrived = 0;
  barriers[id].result = std::exchange(barriers[id].votes, 0);
  for (auto& p : warps) {
    warp::impl& w = p->get();
    uint32_t here = 0;
    for (uint32_t m = w.wait_block; m; m &= m - 1) {
      const int lane = std::countr_zero(m);
      if (w.lanes[static_cast<size_t>(lane)].barrier == id) here |= 1u << lane;
    }
    if (!here) continue;
    const bool wakes = !w.ready && !w.stepping;
    w.wait_block &= ~here;
    w.ready |= here;
    if (wakes && self->on_runnable) self->on_runnable(*p);
  }
}

block::block(std::unique_ptr<impl> i) : impl_(std::move(i)) { impl_->self = this; }
block::~block() = default;
std::span<const std::unique_ptr<warp>> block::warps() const { return impl_->warps; }
bool block::finished() const { return impl_->live == 0; }
unsigned block::linear_index() const { return impl_->linear; }
const std::string& block::fault() const { return impl_->fault; }

// ---------------------------------------------------------------------------------------------- warp

void warp::impl::run(lane& l) {
  if (!l.fib.started() && !start(l)) {
    parent->set_fault(l, "no memory for its stack");
    done |= 1u << l.number;
    --parent->live;
    return;
  }
  lane* outer = std::exchange(current, &l);
  l.fib.resume();
  current = outer;
  const uint32_t bit = 1u << l.number;
  if ((ready | op | wait_warp | wait_block) & bit) return;
  done |= bit;
  l.fib.release();
  block::impl& b = *parent;
  --b.live;
  b.release_if_all_are_here();
}

// A group is complete when every lane of its mask that still lives waits with the same mask and kind.
void warp::impl::release_groups() {
  uint32_t todo = wait_warp;
  while (todo) {
    const lane& first = lanes[std::countr_zero(todo)];
    uint32_t group = 0;
    for (uint32_t m = wait_warp; m; m &= m - 1) {
      const lane& l = lanes[std::countr_zero(m)];
      if (l.mask == first.mask && l.kind == first.kind) group |= 1u << l.number;
    }
    todo &= ~group;
    if ((first.mask & exist & ~done) != group) continue;
    uint32_t votes = 0;
    for (uint32_t m = group; m; m &= m - 1) votes |= (lanes[std::countr_zero(m)].in ? m & -m : 0);
    for (uint32_t m = group; m; m &= m - 1) {
      lane& l = lanes[std::countr_zero(m)];
      if (l.kind == collective::ballot) l.out = votes;
      if (l.kind == collective::shuffle) l.out = (group >> l.source & 1) ? lanes[l.source].in : l.in;
    }
    wait_warp &= ~group;
    ready |= group;
  }
}

void warp::impl::step() {
  compact();
  stepping = true;
  fresh = 0;
  while (ready) {
    for (uint32_t m = std::exchange(ready, 0); m; m &= m - 1) run(lanes[std::countr_zero(m)]);
    if (wait_warp) release_groups();
  }
  stepping = false;
  for (uint32_t m = fresh; m; m &= m - 1) list[listed++] = &lanes[std::countr_zero(m)].acc;
}

void warp::impl::compact() {
  unsigned n = 0;
  for (unsigned i = 0; i < listed; ++i) {
    if (op >> list[i]->lane & 1) list[n++] = list[i];
  }
  listed = n;
}

warp::warp(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
warp::~warp() = default;
void warp::step() { impl_->step(); }

std::span<access* const> warp::pending() const {
  impl_->compact();
  return {impl_->list.data(), impl_->listed};
}

void warp::complete(access& a) {
  const uint32_t bit = 1u << a.lane;
  if (!(impl_->op & bit)) return;
  impl_->op &= ~bit;
  impl_->ready |= bit;
}

bool warp::runnable() const { return impl_->ready != 0; }
bool warp::finished() const { return impl_->done == impl_->exist; }
block& warp::parent() const { return *impl_->parent->self; }
unsigned warp::index() const { return impl_->index; }
unsigned warp::lanes() const { return std::popcount(impl_->exist & ~impl_->done); }

// ---------------------------------------------------------------------------------------------- grid

grid::grid(launch l, environment& env) : launch_(std::make_shared<const launch>(std::move(l))), env_(env) {}

unsigned grid::blocks() const { return launch_->grid.count(); }
const launch& grid::config() const { return *launch_; }

std::string grid::check(const launch& l) {
  const uint64_t threads = uint64_t{l.block.x} * l.block.y * l.block.z;
  const uint64_t blocks = uint64_t{l.grid.x} * l.grid.y * l.grid.z;
  if (!l.kernel) return "launch of '" + l.name + "': no kernel";
  if (!threads || threads > max_block_threads) {
    return "launch of '" + l.name + "': " + std::to_string(threads) + " threads in a block; 1 ... " +
           std::to_string(max_block_threads) + " are allowed";
  }
  if (l.shared_bytes > max_shared_bytes) {
    return "launch of '" + l.name + "': " + std::to_string(l.shared_bytes) +
           " bytes of shared memory in a block; 0 ... " + std::to_string(max_shared_bytes) + " are allowed";
  }
  if (!blocks || blocks > 0x7fffffff) {
    return "launch of '" + l.name + "': " + std::to_string(blocks) + " blocks; 1 ... 2147483647 are allowed";
  }
  return {};
}

std::unique_ptr<block> grid::make_block(unsigned linear_index) {
  auto bi = std::make_unique<block::impl>();
  const dim3 g = launch_->grid, s = launch_->block;
  bi->cfg = launch_;
  bi->env = &env_;
  bi->linear = linear_index;
  bi->idx = {linear_index % g.x, linear_index / g.x % g.y, linear_index / g.x / g.y};
  bi->live = s.count();
  for (unsigned first = 0; first < s.count(); first += warp_size) {
    auto wi = std::make_unique<warp::impl>();
    wi->parent = bi.get();
    wi->index = first / warp_size;
    for (unsigned i = 0; i < warp_size && first + i < s.count(); ++i) {
      lane& l = wi->lanes[i];
      const unsigned t = first + i;
      l.idx = {t % s.x, t / s.x % s.y, t / s.x / s.y};
      l.linear = t;
      l.parent = wi.get();
      l.number = static_cast<uint8_t>(i);
      wi->exist |= 1u << i;
    }
    wi->ready = wi->exist;
    bi->warps.push_back(std::make_unique<warp>(std::move(wi)));
  }
  return std::make_unique<block>(std::move(bi));
}

}  // namespace ggas::simt
