// SPDX-License-Identifier: Apache-2.0
// The methods of synchronising Himeno's slices, as work for the streams of the nodes (docs/how-to/stencil.md). One
// source for every provider: `target` is an argument of ggas::launch.
#pragma once

#include <string>

#include "benchmarks/kernels/himeno/himeno.cuh"
#include "benchmarks/kernels/layout_plan.hpp"
#include "benchmarks/kernels/queue.cuh"

namespace ggas::bench {

enum class himeno_way {
  host,       // the host waits for every kernel and every transfer
  stream,     // sending and waiting take their turn in the stream
  in_kernel,  // one kernel a step; its blocks wait, and the last block of a plane signals the neighbour
  device,     // one kernel for all steps
};
inline constexpr himeno_way all_himeno_ways[] = {himeno_way::host, himeno_way::stream, himeno_way::in_kernel,
                                                 himeno_way::device};
constexpr const char* name_of(himeno_way w) {
  constexpr const char* names[] = {"host", "stream", "in_kernel", "device"};
  return names[static_cast<int>(w)];
}

inline uint32_t himeno_most_tiles(const himeno_grid& grid, int nodes) {
  uint32_t most = 0;
  for (int n = 0; n < nodes; ++n) {
    const uint32_t tiles = himeno_plan(grid, n, nodes).tiles();
    most = tiles < most ? most : tiles;
  }
  return most;
}

// What a grid must be: empty, or what is wrong with it.
inline std::string check_himeno(const himeno_grid& g, int nodes) {
  if (g.nx % himeno_quad != 0 || g.nx < 4 || g.ny < 3) return "nx must be a multiple of 4, and ny at least 3";
  if (g.nz < 3u * static_cast<uint32_t>(nodes)) return "each node needs at least 3 planes";
  return {};
}

// Places after `start`, the same on every node, and what node `node` does.
inline himeno_args plan_himeno(const himeno_grid& grid, uint64_t seed, uint64_t start, int node, int nodes,
                               uint64_t timeout_ns) {
  layout_plan room(start);
  himeno_args a{};
  a.grid = grid;
  a.plan = himeno_plan(grid, node, nodes);
  a.copy = grid.copy_bytes(nodes);
  a.seed = seed;
  a.timeout_ns = timeout_ns;
  a.words = room.place<uint64_t>(himeno_words);
  a.gosa = room.place<double>(himeno_most_tiles(grid, nodes) + 1);
  a.pressure = room.place<float>(2 * grid.array_floats(nodes));
  a.arrays = room.place<float>(himeno_coefficients * grid.array_floats(nodes));
  a.ghost_below = a.pressure;
  if (node > 0) a.ghost_below += (himeno_slice(grid, node - 1, nodes).planes + 1) * grid.plane() * sizeof(float);
  a.ghost_above = a.pressure;
  return a;
}

// Bytes of a segment that plan_himeno gives away.
inline uint64_t himeno_room(const himeno_grid& grid, int nodes) {
  return plan_himeno(grid, 0, 0, 0, nodes, 0).arrays + himeno_coefficients * grid.copy_bytes(nodes);
}

// The work of one node, by kernels of this file.
namespace {
class himeno_node {
 public:
  himeno_node(cluster& c, int node, const himeno_args& args) : cluster_(c), node_(node), a_(args), plan_(a_.plan) {}

  const himeno_args& args() const { return a_; }

  result<> fill(unsigned blocks) { return launch(cluster_, node_, blocks, 256, himeno_fill, a_); }
  result<> gosa() { return launch(cluster_, node_, 1, threads, himeno_gosa, a_); }

  // host: compute on all nodes, wait for them, exchange, wait for them.
  result<> compute(uint32_t step) {
    if (step == 1) return launch(cluster_, node_, plan_.tiles(), threads, himeno_tiles, a_, step);
    return launch_dependent(cluster_, node_, plan_.tiles(), threads, himeno_tiles, a_, step);
  }
  result<> exchange(uint32_t step) {
    for (const bool up : {false, true}) {
      if (face(up)) GGAS_QUEUE(put_on_stream(cluster_, node_, ghost(up, step), plane(up, step), floats(), report()));
    }
    return {};
  }

  // The others: steps 1 ... `steps` after a fill. `resident`: blocks that a GPU can hold, for the way `device`.
  result<> run(himeno_way way, uint32_t steps, unsigned resident) {
    if (way == himeno_way::device) {
      return launch(cluster_, node_, plan_.tiles() < resident ? plan_.tiles() : resident, threads, himeno_persistent,
                    a_, steps);
    }
    for (uint32_t step = 1; step <= steps; ++step) {
      GGAS_QUEUE(way == himeno_way::stream ? step_in_stream(step) : step_in_kernel(step));
    }
    return {};
  }

 protected:
  static constexpr unsigned threads = himeno_warps * 32;

 private:
  // The first one loads coefficients that the kernel before may have written.
  result<> step_in_kernel(uint32_t step) {
    if (step == 1) return launch(cluster_, node_, plan_.tiles(), threads, himeno_step, a_, step);
    return launch_dependent(cluster_, node_, plan_.tiles(), threads, himeno_step, a_, step);
  }

  // All planes, those that neighbours wait for on their way, those of the neighbours.
  result<> step_in_stream(uint32_t step) {
    GGAS_QUEUE(compute(step));
    for (const bool up : {false, true}) {
      if (face(up)) GGAS_QUEUE(send(node_, up, step));
    }
    for (const bool up : {false, true}) {
      if (face(up)) GGAS_QUEUE(take(up));
    }
    return {};
  }

 protected:
  result<> send(const stream& s, bool up, uint32_t step) {
    const himeno_word theirs = up ? himeno_from_below : himeno_from_above;
    const global_ptr<uint64_t> signal(neighbour(up), a_.words + theirs * sizeof(uint64_t));
    return put_signal_on_stream(cluster_, s, ghost(up, step), plane(up, step), floats(), signal, 1, ggas_signal_add,
                                report());
  }
  result<> take(bool up) {
    const himeno_word arrived = up ? himeno_from_above : himeno_from_below;
    const himeno_word taken = up ? himeno_taken_above : himeno_taken_below;
    return signal_take_on_stream(cluster_, node_, word(arrived), word(taken), 1, report());
  }
  stream_report report() const { return {a_.timeout_ns, word(himeno_status)}; }

  bool face(bool up) const { return (up ? plan_.highest : plan_.lowest) != 0; }  // whether a neighbour waits for it
  int neighbour(bool up) const { return up ? node_ + 1 : node_ - 1; }
  size_t floats() const { return a_.grid.plane(); }
  char* segment() const { return cluster_.device_context(node_).local; }
  uint64_t* word(himeno_word w) const { return reinterpret_cast<uint64_t*>(segment() + a_.words) + w; }
  // The highest or lowest plane of this node after a step, and where the neighbour keeps it.
  const float* plane(bool up, uint32_t step) const {
    const uint64_t first = a_.grid.index(0, 0, up ? plan_.slice.last : plan_.slice.first);
    return reinterpret_cast<const float*>(segment() + a_.pressure + a_.copy_of(step)) + first;
  }
  global_ptr<float> ghost(bool up, uint32_t step) const {
    return global_ptr<float>(neighbour(up), (up ? a_.ghost_above : a_.ghost_below) + a_.copy_of(step)) + himeno_pad;
  }

  cluster& cluster_;
  int node_;
  himeno_args a_;
  himeno_plan plan_;
};
}  // namespace

}  // namespace ggas::bench
