// SPDX-License-Identifier: Apache-2.0
#include "stencil_by_hand.hpp"

namespace {

// A stripe's step from one of its memories to the other one.
ggas::result<> step(ggas::cluster& c, const ggas::stream& s, const stripes& all, size_t i, int from) {
  const int to = 1 - from;
  return ggas::launch(c, s, all.of().blocks(), 256, stencil_step, static_cast<float*>(all.memory(i, to).address()),
                      static_cast<const float*>(all.memory(i, from).address()), all.of().rows, all.of().width,
                      all.last_row(all.above(i), to), all.first_row(all.below(i), to));
}

ggas::result<> run_all(ggas::cluster& c, uint64_t timeout_ns) {
  const auto ran = c.run(timeout_ns);
  return ran ? ggas::result<>() : ran.error();
}

}  // namespace

ggas::result<by_streams> by_streams::make(ggas::cluster& c, const stripes& all) {
  by_streams made;
  made.stripes_ = &all;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto s = c.make_stream(all.node(i));
    const auto e = c.make_event(all.node(i));
    if (!s || !e) return s ? e.error() : s.error();
    made.streams_.push_back(*s);
    made.ended_.push_back(*e);
  }
  return made;
}

ggas::result<> by_streams::run(ggas::cluster& c, uint64_t timeout_ns) const {
  for (int i = 0; i < stripes_->of().steps; ++i)
    if (const auto ok = queue(c, i % 2); !ok) return ok;
  return run_all(c, timeout_ns);
}

// The steps of all stripes, each after the one before of its neighbours.
ggas::result<> by_streams::queue(ggas::cluster& c, int from) const {
  for (size_t i = 0; i < stripes_->size(); ++i)
    if (auto ok = step(c, streams_[i], *stripes_, i, from); !ok) return ok;
  for (size_t i = 0; i < stripes_->size(); ++i)
    if (auto ok = c.record(ended_[i], streams_[i]); !ok) return ok;
  for (size_t i = 0; i < stripes_->size(); ++i)
    for (const size_t other : {stripes_->above(i), stripes_->below(i)})
      if (auto ok = c.wait(streams_[i], ended_[other]); !ok) return ok;
  return {};
}

ggas::result<by_graphs> by_graphs::make(ggas::cluster& c, const stripes& all) {
  by_graphs made;
  made.stripes_ = &all;
  for (int n = 0; n < c.nodes(); ++n) {
    const auto s = c.make_stream(n);
    const auto e = c.make_event(n);
    if (!s || !e) return s ? e.error() : s.error();
    node& one = made.nodes_.emplace_back(node{*s, *e});
    for (const auto& steps : {std::initializer_list<int>{0}, {1}, {0, 1}}) {
      const auto g = made.record(c, *s, steps);
      if (!g) return g.error();
      one.graphs.push_back(*g);
    }
  }
  return made;
}

ggas::result<ggas::graph> by_graphs::record(ggas::cluster& c, const ggas::stream& s,
                                            std::initializer_list<int> steps) const {
  return c.make_graph(s, [&]() -> ggas::result<> {
    for (const int from : steps)
      for (size_t i = 0; i < stripes_->size(); ++i)
        if (auto ok = stripes_->node(i) == s.node ? step(c, s, *stripes_, i, from) : ggas::result<>(); !ok) return ok;
    return {};
  });
}

ggas::result<> by_graphs::run(ggas::cluster& c, uint64_t timeout_ns) const {
  const int steps = stripes_->of().steps;
  for (int i = 0; i < steps;) {
    const bool two = nodes_.size() == 1 && i + 1 < steps;
    if (const auto ok = queue(c, two ? 2 : static_cast<size_t>(i % 2)); !ok) return ok;
    i += two ? 2 : 1;
  }
  return run_all(c, timeout_ns);
}

ggas::result<> by_graphs::queue(ggas::cluster& c, size_t graph) const {
  for (const node& n : nodes_)
    if (auto ok = c.launch_graph(n.graphs[graph], n.s); !ok) return ok;
  if (nodes_.size() == 1) return {};
  for (const node& n : nodes_)
    if (auto ok = c.record(n.ended, n.s); !ok) return ok;
  for (const node& n : nodes_)
    for (const node& other : nodes_)
      if (&n != &other)
        if (auto ok = c.wait(n.s, other.ended); !ok) return ok;
  return {};
}
