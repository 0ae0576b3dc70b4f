// SPDX-License-Identifier: Apache-2.0
// Traffic of the users of a domain: one kind on some nodes, which runs by itself. A user has one operation, or several,
// in flight; its result is checked when it ends well and was not disturbed.
#pragma once

#include <memory>

#include "tests/rtl/pairs/world.hpp"

namespace ggas::test {

enum class kind : unsigned { multicast, second_choices, coll, window, put_get, atomics, messages };
inline constexpr unsigned kinds = 7;
const char* to_text(kind k);

// Domains and nodes whose users take part.
struct users_of {
  std::vector<unsigned> domains, nodes;
};

class feature {
 public:
  feature(world& w, const users_of& who) : w_(w), who_(who) {}
  virtual ~feature() = default;
  virtual void set_up(unsigned n) = 0;  // on a node set up by world::set_up_node
  virtual void work() = 0;              // once in a while
  // After a disturbance: gives up what is under way, whatever has become of it, and starts again.
  virtual void recover() = 0;
  // Stops an object that the traffic of a domain needs at a node, as docs/memory-map.md describes, and starts it again;
  // in between its memory has no owner.
  virtual void stop_and_start(unsigned d, unsigned n) = 0;
  uint64_t done() const { return done_; }
  // Operations that ended well, of each user.
  virtual std::vector<uint64_t> progress() const = 0;

 protected:
  // Stops contexts, waits, and starts them again.
  void restart_context(unsigned d, unsigned n);
  world& w_;
  users_of who_;
  uint64_t done_ = 0;  // all operations that ended
};

std::unique_ptr<feature> make_feature(kind k, world& w, const users_of& who);
std::unique_ptr<feature> make_window_feature(kind k, world& w, const users_of& who);
std::unique_ptr<feature> make_context_feature(kind k, world& w, const users_of& who);
std::unique_ptr<feature> make_coll_feature(world& w, const users_of& who);

}  // namespace ggas::test
