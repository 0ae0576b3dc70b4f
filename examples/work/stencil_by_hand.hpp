// SPDX-License-Identifier: Apache-2.0
// The stencil without objects and requests, to compare with.
#pragma once

#include "stencil_grid.hpp"

// A stream for each stripe, and events between neighbours.
class by_streams {
 public:
  static ggas::result<by_streams> make(ggas::cluster& c, const stripes& s);
  ggas::result<> run(ggas::cluster& c, uint64_t timeout_ns) const;

 private:
  ggas::result<> queue(ggas::cluster& c, int from) const;

  const stripes* stripes_ = nullptr;
  std::vector<ggas::stream> streams_;
  std::vector<ggas::event> ended_;
};

// Each node's stripes as graphs of a step, with events between nodes; on one node also as a graph of two steps.
class by_graphs {
 public:
  static ggas::result<by_graphs> make(ggas::cluster& c, const stripes& s);
  ggas::result<> run(ggas::cluster& c, uint64_t timeout_ns) const;

 private:
  struct node {
    ggas::stream s;
    ggas::event ended;
    std::vector<ggas::graph> graphs = {};  // from memory 0, from memory 1, both
  };
  ggas::result<ggas::graph> record(ggas::cluster& c, const ggas::stream& s, std::initializer_list<int> steps) const;
  ggas::result<> queue(ggas::cluster& c, size_t graph) const;

  const stripes* stripes_ = nullptr;
  std::vector<node> nodes_;
};
