// SPDX-License-Identifier: Apache-2.0
// executor::workers: requests become orders to resident kernels.
#include <algorithm>

#include "userlib/cluster/providers.hpp"
#include "userlib/cluster/work/dispatcher.hpp"

namespace ggas {

using detail::request_buffer;
using detail::request_state;
using userlib::bad;

namespace {

std::string text_of(const extent& e) {
  return std::to_string(e.x) + " x " + std::to_string(e.y) + " x " + std::to_string(e.z);
}

uint64_t product(const extent& e) { return uint64_t{e.x} * e.y * e.z; }

}  // namespace

result<> dispatcher::parts::check_workers(const cluster& c) const {
  const workers_config& w = cfg.workers;
  if (!w.table) return bad("workers.table: the workers need a table of functions (GGAS_WORKERS)");
  if (!w.table->of(c))
    return error{errc::unsupported, std::string("workers '") + w.table->name + "': this program has them not for " +
                                        "provider '" + c.config().provider + "'"};
  if (w.groups == 0 || w.blocks == 0)
    return bad("workers: " + std::to_string(w.groups) + " groups of " + std::to_string(w.blocks) +
               " blocks: must be 1 or more");
  return {};
}

result<> dispatcher::parts::make_workers(cluster& c) {
  for (const int n : c.local_nodes()) {
    auto made = detail::node_workers::make(c, n, cfg.workers, cfg.in_flight, memory);
    if (!made) return std::move(made.error());
    workers[n] = std::move(*made);
    lanes_[n].push_back({n});  // the own stream, which workers do not use
    for (size_t i = 0; i < static_cast<size_t>(cfg.in_flight); ++i) lanes_[n].push_back({.s = n, .place = i});
  }
  return {};
}

// All of them: a ring has its state at both of its ends.
result<> dispatcher::parts::launch_workers() {
  cluster& c = rt.cluster();
  for (auto& [node, w] : workers) {
    if (auto ok = w->launch(c); !ok) return ok;
    ++launches;
  }
  return c.start();
}

result<> dispatcher::parts::start_workers() {
  if (!by_workers()) return {};
  const std::lock_guard lock(rt.cluster_mutex());
  if (auto ok = launch_workers(); !ok) return ok;
  return rt.cluster().meet("workers");
}

int dispatcher::parts::number_of(const void* kernel) const {
  const work_table* const table = by_workers() ? cfg.workers.table : cfg.merged;
  if (!table || !kernel) return -1;
  const auto all = table->of(rt.cluster())->functions;
  const auto at = std::ranges::find(all, kernel);
  return at == all.end() ? -1 : static_cast<int>(at - all.begin());
}

result<> dispatcher::parts::check_form(const request_state& r) const {
  const std::string name = "request '" + r.name + "': ";
  const block_shape& own = cfg.workers.threads;
  if (r.in_own_stream) return bad(name + "workers have no streams");
  if (!r.form.kernel) return bad(name + "workers run kernels of their table, no function that launches");
  if (number_of(r.form.kernel) < 0)
    return bad(name + "its kernel is not in the table '" + cfg.workers.table->name + "' of the workers");
  if (product(r.form.block) > product(own))
    return bad(name + "blocks of " + text_of(r.form.block) + " threads: those of the workers have " + text_of(own));
  if (r.form.block.shared_bytes > own.shared_bytes)
    return bad(name + std::to_string(r.form.block.shared_bytes) + " shared bytes: the workers have " +
               std::to_string(own.shared_bytes));
  if (product(r.form.grid) == 0) return bad(name + "a grid of " + text_of(r.form.grid) + " blocks");
  return {};
}

// ---- under way

namespace {

// Copies before and after the function, and its arguments.
std::vector<uint64_t> order_words(request_state& r, work_order& o) {
  std::vector<uint64_t> words;
  const auto add = [&](const void* to, const void* from, size_t bytes) {
    words.insert(words.end(), {reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(from), bytes});
  };
  const auto host = [&](size_t i) { return r.places[i].staged ? r.places[i].staged : r.buffers[i].host; };
  r.device.clear();
  for (size_t i = 0; i < r.buffers.size(); ++i) {
    const request_buffer& b = r.buffers[i];
    r.device.push_back(r.places[i].device);
    if (!b.copied_in || b.bytes == 0) continue;
    add(r.places[i].device, host(i), b.bytes);
    ++o.in;
  }
  for (size_t i = 0; i < r.buffers.size(); ++i) {
    const request_buffer& b = r.buffers[i];
    if (!b.copied_out || b.bytes == 0) continue;
    add(host(i), r.places[i].device, b.bytes);
    ++o.out;
  }
  r.form.arguments(r.device, words);
  return words;
}

}  // namespace

bool dispatcher::parts::begin_by_workers(const request_pointer& r, lane& l) {
  detail::node_workers& w = *workers.at(r->node);
  if (!w.running()) {
    if (auto ok = launch_workers(); !ok) {
      finish(r, ok);
      return true;
    }
  }
  const auto room = take_places(*r);
  if (!room) {
    finish(r, room.error());
    return true;
  }
  if (!*room) return false;
  work_order o{.done = 0,
               .ticket = 0,
               .function = static_cast<uint32_t>(number_of(r->form.kernel)),
               .node = -1,
               .x = r->form.grid.x,
               .y = r->form.grid.y,
               .z = r->form.grid.z,
               .in = 0,
               .out = 0};
  const std::vector<uint64_t> words = order_words(*r, o);
  constexpr uint64_t most = worker_shape::most_words - work_order::words;
  if (words.size() > most) {
    finish(r, bad(std::to_string(words.size()) + " words of arguments and copies: an order to workers has at most " +
                  std::to_string(most)));
    return true;
  }
  fill_staging(*r);
  if (!w.send(l.place, o, words)) {
    give_places(*r, false);
    return false;
  }
  r->now = request_state::phase::running;
  r->failure.clear();
  l.queue.push_back({r});
  return true;
}

result<bool> dispatcher::parts::reached(lane& l) {
  if (by_workers()) return order_reached(l);
  return rt.cluster().reached(l.queue.front().end);
}

bool dispatcher::parts::order_reached(lane& l) {
  const auto end = workers.at(l.s.node)->end_of(l.place);
  if (!end) return false;
  request_state& r = *l.queue.front().first;
  if (end->status != ggas_ok)
    r.failure = std::string(end->late ? "its group of workers did not come together: " : "its function returned: ") +
                ggas_status_text(end->status) + report();
  if (end->late) l.late = late_memory{r.buffers, std::exchange(r.places, {})};
  return true;
}

// Once the late blocks have come.
void dispatcher::parts::give_late(lane& l) {
  const detail::node_workers& w = *workers.at(l.s.node);
  if (w.running() && w.end_of(l.place)->late) return;
  for (size_t i = 0; i < l.late->places.size(); ++i) give_back(l.s.node, l.late->buffers[i], l.late->places[i]);
  l.late.reset();
}
void dispatcher::parts::give_all_late() {
  for (auto& [node, lanes] : lanes_)
    for (lane& l : lanes)
      if (l.late) give_late(l);
}

// A fault of the GPU shows at the end of the kernel, which takes longer to ask for than a word of memory.
void dispatcher::parts::look_at_workers() {
  const auto now = std::chrono::steady_clock::now();
  if (!stopping_ && now - looked_at_workers_ < std::chrono::milliseconds(1)) return;
  looked_at_workers_ = now;
  for (auto& [node, w] : workers)
    if (const auto there = w->ended(rt.cluster()); !there) return fault(there.error().text);
  see_workers_end();
}

// ---- the end

void dispatcher::parts::see_workers_end() {
  if (!stopping_ || std::ranges::any_of(workers, [](const auto& w) { return w.second->running(); })) return;
  stopping_ = false;
  --left_;
  give_all_late();
}

// False: none run.
bool dispatcher::parts::stop_workers() {
  const std::lock_guard lock(rt.cluster_mutex());
  bool any = false;
  for (auto& [node, w] : workers) {
    any |= w->running();
    if (w->running()) w->stop();
  }
  if (!any || stopping_) return any;
  stopping_ = true;
  ++left_;
  return true;
}

}  // namespace ggas
