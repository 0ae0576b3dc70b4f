// SPDX-License-Identifier: Apache-2.0
// executor::streams with most_in_run: short requests that find every stream busy are queued back to back, and share the
// event at the end. Recording and polling it costs the host about as much as half a launch. Each run is alone on its
// stream until its end is recorded: when it is full, when something waits for it, or when the streams are looked at.
#include <algorithm>

#include "userlib/cluster/work/dispatcher.hpp"

namespace ggas {

using detail::request_state;

bool dispatcher::parts::piece_of_work::has(const request_pointer& r) const {
  return first == r || std::ranges::find(followers, r) != followers.end();
}

// Not if the request waits on the GPU: others would wait with it.
bool dispatcher::parts::opens_run(const request_state& r, const lane& l) const {
  return makes_runs() && r.form.kernel && !r.in_own_stream && r.missing == 0 && l.queue.empty();
}

dispatcher::parts::lane* dispatcher::parts::shortest_run(const request_state& r) {
  lane* found = nullptr;
  if (!makes_runs() || r.in_own_stream) return found;
  for (lane& l : lanes_.at(r.node)) {
    if (l.queue.empty() || !l.queue.back().open) continue;
    const request_state& first = *l.queue.back().first;
    if (r.form.kernel != first.form.kernel || r.priority != first.priority) continue;
    if (!found || l.queue.back().followers.size() < found->queue.back().followers.size()) found = &l;
  }
  return found;
}

void dispatcher::parts::join_run(const request_pointer& r, lane& l) {
  auto& followers = l.queue.back().followers;
  followers.push_back(r);
  if (followers.size() + 1 == static_cast<size_t>(cfg.most_in_run)) close_run(l);
}

void dispatcher::parts::close_run(lane& l) {
  if (l.queue.empty() || !l.queue.back().open) return;
  l.queue.back().open = false;
  begun_ = true;
  const auto recorded = rt.cluster().record(l.queue.back().end, l.s);
  if (recorded) return;
  piece_of_work lost = std::move(l.queue.back());
  l.queue.pop_back();
  end(lost, recorded);
}

void dispatcher::parts::close_run_on(const stream& s) {
  if (!makes_runs()) return;
  for (lane& l : lanes_.at(s.node))
    if (l.s.id == s.id) close_run(l);
}

}  // namespace ggas
