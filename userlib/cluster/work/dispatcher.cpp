// SPDX-License-Identifier: Apache-2.0
// The life of requests: taken in, waiting, ready, under way, ended. How one is queued on a stream: carry_out.cpp.
#include "userlib/cluster/work/dispatcher.hpp"

#include <algorithm>
#include <chrono>

#include "userlib/cluster/providers.hpp"

namespace ggas {

using detail::request_state;
using phase = request_state::phase;
using clock = std::chrono::steady_clock;
using userlib::bad;

result<> dispatcher::parts::open() {
  const std::lock_guard lock(rt.cluster_mutex());
  cluster& c = rt.cluster();
  if (auto ok = check_merging(c); !ok) return ok;
  if (auto ok = by_workers() ? check_workers(c) : result<>(); !ok) return ok;
  auto made = detail::pools::make(c, cfg.by_hand, cfg.pinned_by_hand);
  if (!made) return std::move(made.error());
  memory = std::move(*made);
  engine_ = c.device(c.local_nodes()[0]) < 0;
  if (by_workers()) return make_workers(c);
  const int more = in_turn() ? rt.processors() : cfg.in_flight;
  for (const int n : c.local_nodes()) {
    for (int i = 0; i <= more; ++i) {
      const auto s = i == 0 ? result<stream>(stream(n)) : c.make_stream(n);
      if (!s) return s.error();
      lane& l = lanes_[n].emplace_back(lane{*s});
      for (int k = 0; k <= (goes_ahead() ? cfg.ahead : 0); ++k) {
        const auto e = c.make_event(n);
        if (!e) return e.error();
        l.events.push_back(*e);
      }
    }
  }
  return {};
}

// ---- taken in

result<> dispatcher::parts::check(const request_state& r) {
  const std::string name = "request '" + r.name + "'";
  if (!lanes_.contains(r.node)) return userlib::check_node(rt.cluster(), r.node, name);
  if (!r.launch) return bad(name + ": nothing to launch");
  for (size_t i = 0; i < r.buffers.size(); ++i) {
    const detail::request_buffer& b = r.buffers[i];
    const std::string which = name + ", buffer " + std::to_string(i) + ": ";
    if ((b.copied_in || b.copied_out) && b.bytes != 0 && !b.host)
      return bad(which + "null, of " + std::to_string(b.bytes) + " bytes");
    if (!b.kept) continue;
    if (!b.kept->of || b.kept->freed) return bad(which + "its memory of the GPU was freed, or never allocated");
    if (b.kept->of != memory) return bad(which + "its memory is of another dispatcher");
    if (b.kept->node != r.node)
      return bad(which + "its memory is of node " + std::to_string(b.kept->node) + ", the request of node " +
                 std::to_string(r.node));
    if (b.bytes > b.kept->bytes)
      return bad(which + std::to_string(b.bytes) + " bytes in memory of " + std::to_string(b.kept->bytes));
  }
  return by_workers() ? check_form(r) : result<>();
}

result<> dispatcher::parts::accept(const request_pointer& r, std::span<const request> after) {
  const std::lock_guard lock(inbox_mutex_);
  if (stopped_) return bad("request '" + r->name + "': the dispatcher was stopped");
  auto idle = phase::idle;
  if (!r->now.compare_exchange_strong(idle, phase::waiting))
    return bad("request '" + r->name + "': it is under way; enqueue it again when it has ended");
  r->owner = std::max(rt.here(), 0);
  r->after_always = r->after.size();
  for (const request& before : after) r->after.push_back(before.state());
  rt.begin_work();
  ++left_;
  ++enqueued;
  inbox_.push_back(r);
  return {};
}

void dispatcher::parts::take_inbox() {
  std::vector<request_pointer> fresh;
  {
    const std::lock_guard lock(inbox_mutex_);
    fresh.swap(inbox_);
  }
  for (const request_pointer& r : fresh) link(r);
  if (!goes_ahead()) return;
  for (const request_pointer& r : fresh) try_ahead(r);
}

namespace {

// Whether one that it waits for waits for it.
bool in_circle(const request_pointer& r) {
  std::vector<const request_state*> to_see = {r.get()};
  std::unordered_set<const request_state*> seen = {r.get()};
  while (!to_see.empty()) {
    const request_state* const at = to_see.back();
    to_see.pop_back();
    if (std::ranges::any_of(r->after, [&](const auto& before) { return before.get() == at; })) return true;
    for (const auto& f : at->followers)
      if (seen.insert(f.get()).second) to_see.push_back(f.get());
  }
  return false;
}

}  // namespace

void dispatcher::parts::link(const request_pointer& r) {
  if (!r->after.empty() && in_circle(r)) {
    r->after.clear();
    r->after_always = 0;
    return finish(r, bad("the requests that it waits for wait for it"));
  }
  hold(r);
  waiting_.insert(r);
  if (r->missing == 0) make_ready(r);
}

// Until those before it have ended.
void dispatcher::parts::hold(const request_pointer& r) {
  r->missing = 0;
  for (const auto& before : r->after) {
    if (!before->holds_up()) continue;
    before->followers.push_back(r);
    ++r->missing;
  }
}

void dispatcher::parts::unlink(const request_pointer& r) {
  for (const auto& before : r->after) std::erase(before->followers, r);
}

// What was before it has ended.
void dispatcher::parts::make_ready(request_pointer r) {
  waiting_.erase(r);
  for (const auto& before : r->after)
    if (!before->failure.empty())
      return finish(r, error{errc::cancelled, "not run, as one before it failed: " + before->failure});
  if (!r->events.empty() || !r->signals.empty())
    watching_.push_back(std::move(r));
  else
    ready_[queue_of(*r)].push(r);
}

result<bool> dispatcher::parts::signalled(const request_state& r) {
  for (const auto& [word, least] : r.signals)
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) < least) return false;
  for (const event& e : r.events)
    if (const auto there = rt.cluster().reached(e); !there || !*there) return there;
  return true;
}

void dispatcher::parts::watch() {
  for (auto i = watching_.begin(); i != watching_.end();) {
    const auto there = signalled(**i);
    if (there && !*there) {
      ++i;
      continue;
    }
    const request_pointer r = *i;
    i = watching_.erase(i);
    if (there)
      ready_[queue_of(*r)].push(r);
    else
      finish(r, there.error());
  }
}

// ---- under way

bool dispatcher::parts::try_to_go_on(int processor) {
  if (left_.load(std::memory_order_relaxed) == 0) return false;
  const std::unique_lock lock(rt.cluster_mutex(), std::try_to_lock);
  if (lock) go_on(processor);
  return left_.load(std::memory_order_relaxed) != 0;
}

void dispatcher::parts::try_to_begin() {
  const std::unique_lock lock(rt.cluster_mutex(), std::try_to_lock);
  if (!lock) return;
  take_inbox();
  watch();
  begin_all(-1);
  if (std::ranges::any_of(ready_, [](const auto& queue) { return !queue.second.empty(); })) go_on(-1);
}

void dispatcher::parts::go_on(int processor) {
  take_inbox();
  run_engine();
  look_at_workers();
  look_at_lanes(processor);
  watch();
  begin_all(processor);
}

void dispatcher::parts::begin_all(int processor) {
  if (in_turn() && processor >= 0)
    begin_ready(ready_[processor]);
  else
    for (auto& [number, queue] : ready_) begin_ready(queue);
  if (!std::exchange(begun_, false) || by_workers()) return;  // workers run
  if (auto ok = rt.cluster().start(); !ok) fault(ok.error().text);
}

// Threads of kernels stay on the thread that began them: that of processor 0, or of the program's that polls.
bool dispatcher::parts::runs_engine() const { return engine_ && (cfg.how == executor::by_hand || rt.here() == 0); }

void dispatcher::parts::run_engine() {
  if (!runs_engine()) return;
  const bool any = std::ranges::any_of(lanes_, [this](const auto& n) { return anything_under_way(n.first); });
  if (!any && watching_.empty() && !stopping_) return;
  if (const auto ok = rt.cluster().poll(); !ok) fault(ok.error().text);
}

void dispatcher::parts::look_at_lanes(int processor) {
  const bool own_only = cfg.how == executor::fifo && processor >= 0;
  bool any = false;
  for (auto& [node, lanes] : lanes_) {
    for (lane& l : lanes) {
      if (l.late) give_late(l);
      close_run(l);
      while (!l.queue.empty() && (!own_only || l.queue.front().first->owner == processor)) {
        const auto there = reached(l);
        if (!there) return fault(there.error().text);
        if (!*there) break;
        any = true;
        end_first(l, {});
      }
    }
  }
  if (any) fill_places();
}

dispatcher::parts::lane* dispatcher::parts::free_lane(const request_state& r) {
  auto& lanes = lanes_.at(r.node);
  const auto unless_busy = [](lane& l) { return l.queue.empty() ? &l : nullptr; };
  if (in_turn()) {
    for (auto& [node, all] : lanes_)
      for (const lane& l : all)
        if (!l.queue.empty() && l.queue.front().first->owner == r.owner) return nullptr;
    return unless_busy(lanes[r.in_own_stream ? 0 : static_cast<size_t>(r.owner) + 1]);
  }
  if (r.in_own_stream) return unless_busy(lanes[0]);
  const auto found =
      std::ranges::find_if(lanes.begin() + 1, lanes.end(), [](const lane& l) { return l.queue.empty() && !l.late; });
  return found == lanes.end() ? shortest_run(r) : &*found;
}

bool dispatcher::parts::anything_under_way(int node) {
  return std::ranges::any_of(lanes_.at(node), [](const lane& l) { return !l.queue.empty(); });
}

void dispatcher::parts::begin_ready(ready_requests& from) {
  while (!from.empty()) {
    lane* const l = free_lane(*from.front());
    if (!l) break;
    auto all = alike(from);
    if (all.size() > 1 && !begin_merged(all, *l)) all.resize(1);
    if (all.size() == 1 && !begin(from.front(), *l)) break;
    for (size_t i = 0; i < all.size(); ++i) from.pop();
    begun_ = true;
    queue_followers(all.front());
  }
}

// ---- ended

void dispatcher::parts::finish(request_pointer r, result<> how) {
  give_places(*r, how.has_value());
  r->failure.clear();
  r->in_order = false;
  r->after.resize(r->after_always);
  if (!how) {
    r->failure = "request '" + r->name + "' on node " + std::to_string(r->node) + ": " + how.error().text;
    how = error{how.error().code, r->failure};
  }
  r->ended = true;
  ++ended;
  failed += !how;
  const auto followers = std::exchange(r->followers, {});
  r->now = phase::idle;
  if (r->then) rt.post(r->owner, [then = r->then, how] { then(how); });
  for (const auto& f : followers)
    if (--f->missing == 0) make_ready(f);
  --left_;
  rt.end_work();
}

// A fault of the GPU ends all that it was given.
void dispatcher::parts::fail_running(const std::string& why) {
  const std::string text = why + report();
  for (auto& [node, lanes] : lanes_)
    for (lane& l : lanes)
      while (!l.queue.empty()) end_first(l, error{errc::device_fault, text});
}

void dispatcher::parts::fault(const std::string& why) {
  fail_running(why);
  for (auto& [node, w] : workers) w->lost();
  give_all_late();
}

std::string dispatcher::parts::report() {
  const auto all = rt.cluster().report();
  return !all || all->empty() ? std::string() : std::string("\n").append(all->text());
}

void dispatcher::parts::fail_waiting(const std::string& why) {
  const auto fail = [&](const request_pointer& r) {
    unlink(r);
    finish(r, error{errc::cancelled, why});
  };
  while (!waiting_.empty()) fail(waiting_.extract(waiting_.begin()).value());
  while (!watching_.empty()) {
    const request_pointer r = std::move(watching_.front());
    watching_.pop_front();
    fail(r);
  }
  for (auto& [number, queue] : ready_)
    while (!queue.empty()) fail(queue.pop());
}

result<> dispatcher::parts::wait_for(const request_pointer& r) {
  const auto end = clock::now() + std::chrono::nanoseconds(cfg.timeout_ns);
  nudge();
  while (r->now != phase::idle) {
    if (!try_to_go_on(-1) || (engine_ && !runs_engine())) std::this_thread::yield();
    if (clock::now() > end)
      return error{errc::timed_out, "request '" + r->name + "' has not ended after " + std::to_string(cfg.timeout_ns) +
                                        " ns; it goes on"};
  }
  return {};
}

// Processor 0 may sleep where others have something for it.
void dispatcher::parts::nudge() {
  const int here = rt.here();
  if (cfg.how != executor::by_hand && (here < 0 || (engine_ && here > 0))) rt.post(0, [] {});
}

// Whether nothing is under way any more, in that time.
bool dispatcher::parts::drain() {
  const auto end = clock::now() + std::chrono::nanoseconds(cfg.timeout_ns);
  nudge();
  while (left_ != 0 && clock::now() < end) {
    try_to_go_on(-1);
    std::this_thread::yield();
  }
  return left_ == 0;
}

// After a time-out waits of kernels are ended, and there is another one.
bool dispatcher::parts::drain_or_abort() {
  if (drain()) return true;
  static_cast<void>(rt.cluster().abort());
  return drain();
}

void dispatcher::parts::stop() {
  {
    const std::lock_guard lock(inbox_mutex_);
    stopped_ = true;
  }
  {
    const std::lock_guard lock(rt.cluster_mutex());
    take_inbox();
    fail_waiting("the dispatcher was stopped");
  }
  if (drain_or_abort() && (!stop_workers() || drain_or_abort())) return;
  const std::lock_guard lock(rt.cluster_mutex());
  fail_running("the dispatcher was stopped, and it had not ended after twice " + std::to_string(cfg.timeout_ns) +
               " ns");
}

// ---- the interface

dispatcher::dispatcher(std::unique_ptr<parts> p) : parts_(std::move(p)) {}

result<std::unique_ptr<dispatcher>> dispatcher::create(runtime& rt, const dispatcher_config& cfg) {
  if (!rt.has_cluster()) return bad("dispatcher: the runtime has no cluster");
  if (cfg.in_flight < 1 || cfg.in_flight > 64)
    return bad("in_flight = " + std::to_string(cfg.in_flight) + ": must be 1 ... 64");
  if (cfg.ahead < 0 || cfg.ahead > 64) return bad("ahead = " + std::to_string(cfg.ahead) + ": must be 0 ... 64");
  if (cfg.most_in_run < 1 || cfg.most_in_run > 256)
    return bad("most_in_run = " + std::to_string(cfg.most_in_run) + ": must be 1 ... 256");
  if (cfg.most_in_run > 1 && (cfg.how != executor::streams || cfg.merged))
    return bad("most_in_run: runs are made by executor::streams only, without merging");
  auto p = std::make_unique<parts>(rt, cfg);
  if (auto ok = p->open(); !ok) return std::move(ok.error());
  if (cfg.how != executor::by_hand && !rt.add(*p)) return bad("dispatcher: the runtime has one already");
  std::unique_ptr<dispatcher> made(new dispatcher(std::move(p)));
  if (auto ok = made->parts_->start_workers(); !ok) return std::move(ok.error());
  return made;
}

dispatcher::~dispatcher() {
  stop();
  parts_->rt.remove(*parts_);
  parts_->close();
}

result<gpu_memory> dispatcher::allocate(int node, size_t bytes) {
  const std::string what = "allocate(node " + std::to_string(node) + ", " + std::to_string(bytes) + " bytes)";
  if (auto ok = userlib::check_node(parts_->rt.cluster(), node, what); !ok) return std::move(ok.error());
  std::string why;
  std::byte* at = parts_->memory->take_gpu(node, bytes, why);
  if (!at && parts_->graph_bytes != 0) {
    const std::lock_guard lock(parts_->rt.cluster_mutex());
    parts_->drop_graphs(0);
    at = parts_->memory->take_gpu(node, bytes, why);
  }
  if (!at) return error{bytes ? errc::out_of_memory : errc::bad_argument, what + ": " + why};
  auto block = std::make_shared<detail::gpu_block>();
  block->of = parts_->memory;
  block->node = node;
  block->address = at;
  block->offset = static_cast<uint64_t>(at - parts_->rt.cluster().segment(node));
  block->bytes = bytes;
  return gpu_memory(std::move(block));
}

result<std::shared_ptr<std::byte>> dispatcher::allocate_pinned(int node, size_t bytes) {
  const std::string what = "allocate_pinned(node " + std::to_string(node) + ", " + std::to_string(bytes) + " bytes)";
  if (auto ok = userlib::check_node(parts_->rt.cluster(), node, what); !ok) return std::move(ok.error());
  std::string why;
  std::byte* const at = parts_->memory->take_staging(node, bytes, why);
  if (!at) return error{bytes ? errc::out_of_memory : errc::bad_argument, what + ": " + why};
  return std::shared_ptr<std::byte>(at, [node, from = parts_->memory](std::byte* p) { from->give_staging(node, p); });
}

runtime& dispatcher::of() const { return parts_->rt; }

result<> dispatcher::enqueue(const request& r, std::span<const request> after) {
  if (auto ok = parts_->check(*r.state()); !ok) return ok;
  if (auto ok = parts_->accept(r.state(), after); !ok) return ok;
  if (parts_->cfg.how == executor::blocking) return parts_->wait_for(r.state());
  if (parts_->begins_at_once()) parts_->try_to_begin();
  parts_->nudge();
  return {};
}

bool dispatcher::poll() { return parts_->try_to_go_on(-1); }
void dispatcher::stop() { parts_->stop(); }

int dispatcher::number_of(const void* kernel) const { return parts_->number_of(kernel); }

ggas_workers dispatcher::workers() const {
  if (parts_->workers.empty()) return {};
  return {parts_->workers.begin()->second->shape().ring()};
}

dispatcher_statistics dispatcher::statistics() const {
  return {.enqueued = parts_->enqueued,
          .ended = parts_->ended,
          .failed = parts_->failed,
          .launches = parts_->launches,
          .copies = parts_->copies,
          .allocations = parts_->memory->allocations(),
          .pool_bytes = parts_->memory->used(),
          .merged = parts_->merged,
          .graphs = parts_->graphs,
          .graph_bytes = parts_->graph_bytes};
}

}  // namespace ggas
