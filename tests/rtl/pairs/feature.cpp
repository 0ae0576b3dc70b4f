// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/pairs/feature.hpp"

namespace ggas::test {

const char* to_text(kind k) {
  static constexpr const char* names[kinds] = {"multicast",     "second choices", "collectives", "window",
                                               "puts and gets", "atomics",        "messages"};
  return names[unsigned(k)];
}

void feature::restart_context(unsigned d, unsigned n) {
  rma_user& u = w_.user(d, n);
  u.disable();
  const uint64_t limit = w_.t.now() + 300'000;
  while (!u.stopped() && w_.t.now() < limit) continue;
  if (w_.t.now() >= limit) w_.t.fail.add("node {}: context of domain {} does not stop", n, d);
  const uint64_t rings = u.notify_ring();
  w_.close(n, rings, 0x100'0000);
  w_.close(n, world::at(d, region::gets, 0), world::region_bytes);
  w_.close(n, world::at(d, region::results, 0), world::region_bytes);
  w_.t.run(w_.random.below(400));
  w_.open_all();
  u.enable();
}

std::unique_ptr<feature> make_feature(kind k, world& w, const users_of& who) {
  switch (k) {
    case kind::multicast:
    case kind::second_choices:
    case kind::window:
      return make_window_feature(k, w, who);
    case kind::coll:
      return make_coll_feature(w, who);
    default:
      return make_context_feature(k, w, who);
  }
}

}  // namespace ggas::test
