// SPDX-License-Identifier: Apache-2.0
// Synchronisation of Himeno's slices by programs of the processors: `mpi`, with messages and copies, and `hybrid`, with
// puts of the library's hybrid protocol and overlapping halves.
#pragma once

#include <algorithm>

#include "benchmarks/kernels/himeno/original.cuh"
#include "benchmarks/messages/process.hpp"

namespace ggas::bench {

namespace {

// Pinned memory: of each side a plane to send and one that was received.
inline size_t himeno_pinned(const himeno_grid& g) { return 4 * g.plane() * sizeof(float); }

// A kernel, both planes to the host, both messages, both planes to the GPU.
inline void himeno_by_messages(mpi_process& p, himeno_original& n, uint32_t steps) {
  const size_t bytes = n.floats() * sizeof(float);
  const auto place = [&](unsigned i) { return p.pinned() + i * bytes; };
  for (uint32_t step = 1; step <= steps; ++step) {
    if (!p.queued(n.compute(step))) return;
    std::vector<messages::handle> open;
    for (const bool up : {false, true})
      if (n.face(up) && !p.copy(place(up), n.plane(up, step), bytes)) return;
    if (!n.face(false) && !n.face(true) && !p.synchronise()) return;  // one node: nothing was copied
    for (const bool up : {false, true}) {
      if (!n.face(up)) continue;
      open.push_back(p.net.receive(n.neighbour(up), up, place(2 + up), bytes));
      open.push_back(p.net.send(n.neighbour(up), !up, place(up), bytes));
    }
    if (!p.net.wait_all(open)) return;
    for (const bool up : {false, true})
      if (n.face(up) && !p.copy(n.own_ghost(up, step), place(2 + up), bytes)) return;
  }
}

// Puts of planes by the processor. Up to a threshold they go directly from the GPU's memory, above it through pinned
// memory in chunks, each of which is sent when its copy has ended. At the target, data go directly into the GPU's
// memory. Arrivals are counted.
class himeno_hybrid {
 public:
  himeno_hybrid(mpi_process& p, himeno_original& n) : p_(p), n_(n), queue_(p.processor.queue(0)) {}

  void run(uint32_t steps) {
    for (uint32_t step = 1; step <= steps && p_.fault().empty(); ++step) {
      for (const bool up : {false, true}) {  // the upper half is queued while the lower one is computed
        if (n_.face(up) && !await(up, step - 1)) return;
        if (!p_.queued(n_.half(up, step))) return;
        p_.processor.start();
      }
      for (const bool up : {false, true}) {
        if (!p_.processor.synchronise(n_.done(up), host_sync::event, timeout_ns)) return p_.fail("a half did not end");
        if (n_.face(up)) send(up, step);
      }
    }
    for (const bool up : {false, true})
      if (n_.face(up) && !await(up, steps)) return;
  }

  // What the tuner of libggas found for galibier-k20 (docs/libggas.md).
  static constexpr size_t threshold = 256 << 10, chunk = 256 << 10;
  static constexpr size_t chunks(const himeno_grid& g) { return (g.plane() * sizeof(float) + chunk - 1) / chunk; }

 private:
  static constexpr uint64_t timeout_ns = 1'000'000'000;

  void send(bool up, uint32_t step) {
    cluster& c = p_.machine;
    const size_t bytes = n_.floats() * sizeof(float);
    const uint64_t far = c.device_context(n_.neighbour(up)).segment_nla + n_.far_ghost(up, step);
    if (bytes <= threshold)
      return post(up, c.device_context(p_.node()).segment_nla + n_.own_plane(up, step), far, bytes, step, true);
    std::byte* const staged = p_.pinned() + (up ? bytes : 0);
    const host_region host = c.host_memory(p_.node());
    const auto* const from = reinterpret_cast<const std::byte*>(n_.plane(up, step));
    for (size_t at = 0; at < bytes && p_.fault().empty(); at += chunk) {
      const size_t part = std::min(chunk, bytes - at);
      if (!p_.queued(c.copy_on_stream(n_.sending(), staged + at, from + at, part))) return;
      if (!p_.queued(c.record(n_.copied(at / chunk), n_.sending()))) return;
    }
    p_.processor.start();
    for (size_t at = 0; at < bytes && p_.fault().empty(); at += chunk) {
      if (!p_.processor.synchronise(n_.copied(at / chunk), host_sync::event, timeout_ns))
        return p_.fail("a copy did not end");
      const size_t part = std::min(chunk, bytes - at);
      post(up, host.nla + uint64_t(staged + at - host.base), far + at, part, step, at + part == bytes);
    }
  }

  // The last put of a plane is reported at the target, after a read of the GPU that flushes the data.
  void post(bool up, uint64_t from, uint64_t to, size_t bytes, uint32_t step, bool last) {
    const int node = n_.neighbour(up);
    const nic_place* const places = p_.machine.device_context(p_.node()).places;
    const ggas_rma_peer peer{uint16_t(places ? places[node].nic : node), uint8_t(p_.machine.host_queues(node)[0].vpid)};
    const unsigned flags = last ? GGAS_RMA_NOTIFY_COMPLETER | GGAS_RMA_STRONG : 0;
    const ggas_rma_desc put = ggas_rma_put(peer, from, to, uint32_t(bytes), flags, uint64_t{step} * 2 + !up);
    p_.processor.library_call();
    if (!p_.processor.wait_until([&] { return ggas_rma_post(&queue_, &put) != 0; }, timeout_ns))
      p_.fail("no room for a put");
  }

  // The neighbour's plane of that step is here.
  bool await(bool up, uint32_t step) {
    const auto here = [&] {
      ggas_rma_note note;
      while (ggas_rma_next_note(&queue_, &note)) {
        if (note.status != 0 || note.kind != GGAS_RMA_NOTE_COMPLETER) p_.fail("a put failed");
        come_[note.cookie % 2] = uint32_t(note.cookie / 2);
      }
      return come_[up] >= step || !p_.fault().empty();
    };
    if (!p_.processor.wait_until(here, timeout_ns)) p_.fail("no plane of a neighbour in time");
    p_.processor.library_call();
    return p_.fault().empty();
  }

  mpi_process& p_;
  himeno_original& n_;
  ggas_rma_context& queue_;
  uint32_t come_[2] = {};  // steps whose planes have come, from below and from above
};

}  // namespace

}  // namespace ggas::bench
