// SPDX-License-Identifier: Apache-2.0
// Puts by way of packed data: a kernel of this GPU packs straight into memory of the target's GPU, and a kernel of that
// GPU unpacks. Links carry stores of 8 bytes in packets of 32 and more, so for short runs this is several times faster
// than stores to their places. Pieces of the data follow each other: while one is unpacked, the next one travels.
// Included by typed_on_stream.cuh.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "ggas/detail/stream/typed_checks.cuh"

namespace ggas::detail {

// The usual length of a side's runs, bytes; of records, which may have any, the least.
[[maybe_unused]] static uint64_t usual_run(const side_items& s, uint64_t bytes) {
  const ggas_type& t = *s.type;
  if (t.records == 0) {
    const bool dense = t.dimensions == 0 && (s.count == 1 || t.extent == static_cast<int64_t>(t.size));
    return dense ? bytes : t.run;
  }
  if (t.records != 1 || t.box[0].count == 0) return 1;
  return t.run != 0 ? t.run : t.size / t.box[0].count;
}

// Whether tuning says that a put between these is faster by way of packed data.
[[maybe_unused]] static bool staged_is_faster(const typed_move& m, const tuning& t) {
  const uint64_t to = usual_run(m.to, m.bytes), from = usual_run(m.from, m.bytes);
  const bool structs = has_few_runs(*m.to.type) && has_few_runs(*m.from.type);
  return to < m.bytes && m.bytes >= t.staged.of(to < from ? to : from, structs);
}

// Pieces of a side: any multiple of a unit's width where places can be computed, whole items elsewhere.
[[maybe_unused]] static bool has_whole_pieces(const side_items& s, unsigned unit) {
  return has_runs(s) && (s.type->records != 0 || unit < 4);
}

constexpr uint64_t least_staged_piece = 1 << 20, most_staged_piece = 4 << 20;
constexpr unsigned staged_pieces = 4;  // that have memory at once
constexpr uint64_t most_staged_memory = 64 << 20;

// Bytes of a piece.
[[maybe_unused]] static uint64_t staged_piece(const typed_move& m, unsigned unit) {
  constexpr uint64_t lines = 128, wanted_pieces = 16;
  uint64_t step = lines;
  for (const side_items* s : {&m.to, &m.from}) {
    if (!has_whole_pieces(*s, unit)) continue;
    if (s->type->size > most_staged_piece) return m.bytes;
    step = std::lcm(step, s->type->size);
  }
  if (step > most_staged_piece) return m.bytes;
  uint64_t wanted = m.bytes / wanted_pieces;
  wanted = wanted < least_staged_piece ? least_staged_piece : wanted < most_staged_piece ? wanted : most_staged_piece;
  const uint64_t piece = (wanted + step - 1) / step * step;
  return piece < m.bytes ? piece : m.bytes;
}

// Bytes `first` ... of a side as a side of its own; `first` becomes where they begin in it.
[[maybe_unused]] static side_items piece_of(const side_items& s, unsigned unit, uint64_t& first, uint64_t bytes) {
  if (!has_whole_pieces(s, unit)) return s;
  const uint64_t item = first / s.type->size;
  first = 0;
  return {s.at + static_cast<int64_t>(item) * s.type->extent, bytes / s.type->size, s.type};
}

#ifdef __CUDACC__

// Whether a put is staged: it is asked for, or faster; the target is another GPU of this process; and its stream does
// not take part in the capture of another graph.
[[maybe_unused]] static bool is_staged(cluster& c, const stream& s, const typed_move& m, typed_path wanted) {
  if (wanted != typed_path::staged && wanted != typed_path::automatic) return false;
  if (m.target < 0 || m.target == s.node || m.host || !c.local(m.target) || c.device(m.target) == c.device(s.node))
    return false;
  if (wanted == typed_path::automatic && !staged_is_faster(m, c.device_context(s.node).tuned)) return false;
  const auto there = c.at_target(m.target);
  const uint64_t piece = staged_piece(m, widest_unit_of(m.to, m.from, 0, m.bytes));
  if (!there || piece > most_staged_memory) return false;
  cudaStreamCaptureStatus here{}, other{};
  unsigned long long graph = 0, other_graph = 0;
  const bool known = cudaStreamGetCaptureInfo(c.cuda_stream(s), &here, &graph) == cudaSuccess &&
                     cudaStreamGetCaptureInfo(c.cuda_stream(there->work), &other, &other_graph) == cudaSuccess;
  return known && (other == cudaStreamCaptureStatusNone || (here == other && graph == other_graph));
}

// Not of other translation units: it queues kernels of this one.
namespace {

// A put in pieces. After an error nothing more is queued.
class staged_put {
 public:
  staged_put(cluster& c, const stream& s, const typed_move& m, const stream_report& report)
      : c_(c),
        s_(s),
        m_(m),
        report_(report),
        there_(*c.at_target(m.target)),
        unit_(widest_unit_of(m.to, m.from, 0, m.bytes)),
        piece_(staged_piece(m, unit_)) {}
  ~staged_put() {
    if (memory_) cudaFreeAsync(memory_, own());         // after an error
    for (cudaEvent_t e : events_) cudaEventDestroy(e);  // what is recorded and waited for stays so
  }
  staged_put(const staged_put&) = delete;
  staged_put& operator=(const staged_put&) = delete;

  result<> queue() {
    const uint64_t pieces = (m_.bytes + piece_ - 1) / piece_;
    const uint64_t slots = pieces < staged_pieces ? pieces : staged_pieces;
    std::vector<cudaEvent_t> emptied(slots);
    auto ok = prepare(c_, s_);
    if (ok) ok = said(cudaMallocFromPoolAsync(&memory_, slots * piece_, there_.memory, own()), "memory");
    for (uint64_t i = 0; ok && i < pieces; ++i) {
      char* const slot = static_cast<char*>(memory_) + i % slots * piece_;
      if (i >= slots) ok = waits(own(), emptied[i % slots]);
      if (ok) ok = move(i * piece_, slot, emptied[i % slots]);
    }
    // The target's stream runs in order, so its last piece is unpacked after all others.
    if (ok) ok = waits(own(), emptied[(pieces - 1) % slots]);
    if (ok) ok = prepare(c_, s_);
    return ok ? said(cudaFreeAsync(std::exchange(memory_, nullptr), own()), "memory") : ok;
  }

 private:
  cudaStream_t own() const { return c_.cuda_stream(s_); }
  result<> said(cudaError_t e, const char* what) const { return queued(e, what, s_); }
  result<> waits(cudaStream_t s, cudaEvent_t e) const { return said(cudaStreamWaitEvent(s, e, 0), "wait"); }
  // Of the GPU that is the current one, as the stream is.
  result<> record(cudaStream_t s, cudaEvent_t& e) {
    auto ok = said(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "event");
    if (!ok) return ok;
    events_.push_back(e);
    return said(cudaEventRecord(e, s), "event");
  }

  result<> move(uint64_t first, char* slot, cudaEvent_t& emptied) {
    const uint64_t left = m_.bytes - first, bytes = left < piece_ ? left : piece_;
    cudaStream_t const work = c_.cuda_stream(there_.work);
    cudaEvent_t filled{};
    auto ok = pack(first, bytes, slot);
    if (ok) ok = record(own(), filled);
    if (ok) ok = prepare(c_, there_.work);
    if (ok) ok = waits(work, filled);
    if (ok) ok = unpack(first, bytes, slot);
    if (ok) ok = record(work, emptied);
    return ok ? prepare(c_, s_) : ok;
  }
  result<> pack(uint64_t first, uint64_t bytes, char* slot);
  result<> unpack(uint64_t first, uint64_t bytes, char* slot);

  cluster& c_;
  const stream& s_;
  const typed_move& m_;
  const stream_report& report_;
  const cluster::target_side there_;
  const unsigned unit_;
  const uint64_t piece_;
  void* memory_ = nullptr;
  std::vector<cudaEvent_t> events_;
};

}  // namespace

#endif

}  // namespace ggas::detail
