// SPDX-License-Identifier: Apache-2.0
// How a request is queued on a stream: memory for its buffers, copies, the launch.
#include <cstring>

#include "userlib/cluster/work/graphs.hpp"

namespace ggas {

using detail::request_buffer;
using detail::request_state;

// Empty, or why the pools have no room; then nothing is taken.
std::string dispatcher::parts::try_places(request_state& r) {
  r.places.assign(r.buffers.size(), {});
  std::string why;
  for (size_t i = 0; i < r.buffers.size() && why.empty(); ++i) {
    const request_buffer& b = r.buffers[i];
    auto& place = r.places[i];
    if (b.kept) place.device = b.kept->address;
    if (b.bytes == 0) continue;
    if (!b.kept) place.device = memory->take_gpu(r.node, b.bytes, why);
    const bool copied = b.copied_in || b.copied_out;
    if (why.empty() && copied && !memory->is_pinned(r.node, b.host, b.bytes))
      place.staged = memory->take_staging(r.node, b.bytes, why);
  }
  if (!why.empty()) give_places(r, false);
  return why;
}

// False: the pools have no room until others give some back. Idle graphs do so at once.
result<bool> dispatcher::parts::take_places(request_state& r) {
  std::string why = try_places(r);
  if (!why.empty() && graph_bytes != 0) {
    drop_graphs(0);
    why = try_places(r);
  }
  if (why.empty()) return true;
  if (anything_under_way(r.node)) return false;
  return error{errc::out_of_memory, why};
}

void dispatcher::parts::give_places(request_state& r, bool copy_out) {
  for (size_t i = 0; i < r.places.size(); ++i) {
    const request_buffer& b = r.buffers[i];
    const auto& place = r.places[i];
    if (place.staged && copy_out && b.copied_out) std::memcpy(b.host, place.staged, b.bytes);
    give_back(r.node, b, place);
  }
  r.places.clear();
}
void dispatcher::parts::give_back(int node, const request_buffer& b, const request_state::place& place) {
  if (place.staged) memory->give_staging(node, place.staged);
  if (!b.kept && place.device) memory->give_gpu(node, place.device);
}

void dispatcher::parts::fill_staging(const request_state& r) {
  for (size_t i = 0; i < r.places.size(); ++i)
    if (r.places[i].staged && r.buffers[i].copied_in)
      std::memcpy(r.places[i].staged, r.buffers[i].host, r.buffers[i].bytes);
}

result<> dispatcher::parts::queue(request_state& r, const stream& s) {
  cluster& c = rt.cluster();
  r.device.clear();
  for (size_t i = 0; i < r.buffers.size(); ++i) {
    const request_buffer& b = r.buffers[i];
    const auto& place = r.places[i];
    r.device.push_back(place.device);
    if (!b.copied_in || b.bytes == 0) continue;
    ++copies;
    if (auto ok = c.copy_on_stream(s, place.device, place.staged ? place.staged : b.host, b.bytes); !ok) return ok;
  }
  ++launches;
  if (auto ok = r.launch(c, s, r.device); !ok) return ok;
  for (size_t i = 0; i < r.buffers.size(); ++i) {
    const request_buffer& b = r.buffers[i];
    const auto& place = r.places[i];
    if (!b.copied_out || b.bytes == 0) continue;
    ++copies;
    if (auto ok = c.copy_on_stream(s, place.staged ? place.staged : b.host, place.device, b.bytes); !ok) return ok;
  }
  return {};
}

// False: there is no room now, try again later.
bool dispatcher::parts::begin(const request_pointer& r, lane& l) {
  if (by_workers()) return begin_by_workers(r, l);
  if (cfg.how != executor::graph || r->in_own_stream || r->followers.empty()) return begin_alone(r, l);
  auto chain = chain_of(r);
  return chain.size() == 1 ? begin_alone(r, l) : begin_graph(std::move(chain), l);
}

// Into the lane's queue; if its end cannot be recorded, all of it fails. That of an open run is recorded later.
result<> dispatcher::parts::record_end(piece_of_work w, lane& l) {
  w.end = l.next_event();
  if (w.open) {
    l.queue.push_back(std::move(w));
    return {};
  }
  const std::string why = w.first->failure;
  const auto ok = rt.cluster().record(w.end, l.s);
  if (!ok)
    end(w, why.empty() ? ok : error{errc::device_fault, why});
  else
    l.queue.push_back(std::move(w));
  return ok;
}

// If a part was refused, work queued before it still runs: the request ends when that has ended.
bool dispatcher::parts::begin_alone(const request_pointer& r, lane& l) {
  const auto room = take_places(*r);
  if (!room) {
    finish(r, room.error());
    return true;
  }
  if (!*room) return false;
  const bool opens = opens_run(*r, l), joins = r->missing == 0 && !l.queue.empty();
  if (!joins) close_run(l);
  r->now = request_state::phase::running;
  fill_staging(*r);
  auto queued = wait_for_others(*r, l.s);
  if (queued) queued = queue(*r, l.s);
  r->failure = text_of(queued);
  if (!joins && !record_end({.first = r, .open = opens}, l)) return true;
  r->on = l.s;
  r->recorded = l.queue.back().end;
  r->in_order = queued && keeps_order(*r);
  if (joins) join_run(r, l);
  return true;
}

void dispatcher::parts::end_first(lane& l, const result<>& how) {
  piece_of_work w = std::move(l.queue.front());
  l.queue.pop_front();
  end(w, how);
}

// A part that was refused is the failure of its own request.
void dispatcher::parts::end(piece_of_work& w, const result<>& how) {
  const auto end_of = [&](const request_state& r) -> result<> {
    return how && !r.failure.empty() ? error{errc::device_fault, r.failure} : how;
  };
  if (w.merged) return end_batch(w, end_of(*w.first));
  if (w.with && how) w.with->copy_out();
  w.with = nullptr;  // idle from here on
  finish(w.first, end_of(*w.first));
  for (const request_pointer& r : w.followers) finish(r, end_of(*r));
}

}  // namespace ggas
