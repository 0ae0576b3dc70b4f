// SPDX-License-Identifier: Apache-2.0
// executor::streams: a request is queued before those that it waits for have ended, and the GPU keeps the order: on the
// stream of one of them, which so takes no place from others, and after events of the rest.
#include <algorithm>

#include "userlib/cluster/work/dispatcher.hpp"

namespace ggas {

using detail::request_buffer;
using detail::request_state;
using phase = request_state::phase;

// Not if the host copies results after the end: the next request, or one after that, may read them.
bool dispatcher::parts::keeps_order(const request_state& r) const {
  const auto by_host = [&](const request_buffer& b) {
    return b.copied_out && b.bytes != 0 && !memory->is_pinned(r.node, b.host, b.bytes);
  };
  return goes_ahead() && std::ranges::none_of(r.buffers, by_host);
}

// Where it can be queued now; null: nowhere. A function that launches is not called early: it may read what the
// requests before wrote to pinned memory.
dispatcher::parts::lane* dispatcher::parts::lane_ahead(const request_state& r) {
  if (!r.form.kernel || r.in_own_stream || !r.events.empty() || !r.signals.empty()) return nullptr;
  lane* found = nullptr;
  for (const auto& before : r.after) {
    if (before->holds_up() ? !before->in_order : !before->failure.empty()) return nullptr;
    if (found || !before->in_order || before->node != r.node) continue;
    const auto is_last = [&](const lane& l) { return !l.queue.empty() && l.queue.back().has(before); };
    auto& lanes = lanes_.at(r.node);
    const auto at = std::ranges::find_if(lanes.begin() + 1, lanes.end(), is_last);
    if (at != lanes.end()) found = &*at;
  }
  if (!found || found->queue.size() < found->events.size()) return found;
  places_wanted_ = true;
  return nullptr;
}

void dispatcher::parts::try_ahead(const request_pointer& r) {
  if (r->now != phase::waiting || r->missing == 0) return;
  lane* const l = lane_ahead(*r);
  if (!l) return;
  unlink(r);
  if (!begin(r, *l)) {
    places_wanted_ = true;
    return hold(r);
  }
  waiting_.erase(r);
  r->missing = 0;
  begun_ = true;
  queue_followers(r);
}

// What begins leaves the followers, so they are a copy.
void dispatcher::parts::queue_followers(const request_pointer& r) {
  if (!r->in_order) return;
  const auto followers = r->followers;
  for (const request_pointer& f : followers) try_ahead(f);
}

// Something has ended: there may be room again.
void dispatcher::parts::fill_places() {
  if (!std::exchange(places_wanted_, false)) return;
  for (auto& [node, lanes] : lanes_) {
    for (const lane& l : lanes) {
      if (l.queue.empty()) continue;
      std::vector<request_pointer> last = l.queue.back().followers;
      last.push_back(l.queue.back().first);
      for (const request_pointer& r : last) queue_followers(r);
    }
  }
}

// On the GPU.
result<> dispatcher::parts::wait_for_others(const request_state& r, const stream& s) {
  for (const auto& before : r.after) {
    if (!before->in_order || (before->on.node == s.node && before->on.id == s.id)) continue;
    close_run_on(before->on);
    if (auto ok = rt.cluster().wait(s, before->recorded); !ok) return ok;
  }
  return {};
}

}  // namespace ggas
