// SPDX-License-Identifier: Apache-2.0
// Messages between ranks: random ones, which arrive once, whole and in order, and each rule separately. One source for
// the host engine, the simulator and GPUs.
#pragma once

#include "ggas/message.cuh"
#include "tests/gpu_api/calls_found.cuh"

namespace ggas::calls {

struct message_args {
  ggas_messages world;
  uint64_t scratch;   // offset of scratch_bytes for each rank of a node
  uint64_t expected;  // offset of how many messages each rank of all will get, 4 bytes each
  uint64_t outcomes;
  uint64_t seed, timeout_ns, brief_ns;
  uint32_t count;          // messages of a rank
  uint32_t scratch_bytes;  // of a rank
  uint32_t most;           // bytes of a message
};

constexpr unsigned guard_bytes = 16, tags = 4, most_in_shared = 32, shared_room = most_in_shared + 2 * guard_bytes;
constexpr uint8_t untouched = 0xa5;
// Memory of a rank that sends to `ranks` ranks: two buffers, and the next number from each source with each tag.
GGAS_HOST_DEVICE inline uint64_t buffer_room(uint64_t most) { return (most + 2 * guard_bytes + 16 + 15) / 16 * 16; }
GGAS_HOST_DEVICE inline uint64_t scratch_for(uint64_t most, uint64_t ranks) {
  return (2 * buffer_room(most) + ranks * tags * 4 + 63) / 64 * 64;
}

enum class memory_kind : uint64_t { global, shared, variable };

// Message `i` of a rank, the same wherever it is asked for.
struct planned_message {
  int to, tag;
  uint64_t bytes, shift;
  memory_kind from;
};
GGAS_HOST_DEVICE inline planned_message planned(uint64_t seed, int source, uint64_t i, int ranks, uint64_t most) {
  const uint64_t dice = bench::pattern(seed, static_cast<uint64_t>(source), i);
  const uint64_t wide = dice % 32 == 0 ? most : dice % 4 == 0 ? 128 : most_in_shared;
  const uint64_t bytes = (dice >> 8) % ((wide < most ? wide : most) + 1);
  const bool small = bytes <= most_in_shared;
  return {static_cast<int>((dice >> 24) % static_cast<uint64_t>(ranks)), static_cast<int>((dice >> 44) % tags), bytes,
          (dice >> 48) % 16, small ? static_cast<memory_kind>((dice >> 54) % 3) : memory_kind::global};
}
GGAS_DEVICE uint8_t byte_of(int source, uint64_t number, uint64_t i) {
  return static_cast<uint8_t>(bench::pattern(static_cast<uint64_t>(source), number, i) >> 32);
}

// A rank's memory for one message at a time: a guard zone on either side.
template <class G>
struct message_buffer {
  uint8_t *global, *shared, *variable;
  uint8_t* at = nullptr;
  uint64_t bytes = 0;
  bool leaders = false;  // a variable of the first thread
  GGAS_DEVICE void choose(memory_kind kind, uint64_t shift, uint64_t n) {
    leaders = kind == memory_kind::variable;
    at = (kind == memory_kind::global ? global + shift : kind == memory_kind::shared ? shared : variable) + guard_bytes;
    bytes = n;
  }
  template <class F>
  GGAS_DEVICE void each(const G& g, F f) const {
    if (leaders && !g.leads()) return;
    const uint64_t step = leaders ? 1 : g.size();
    for (uint64_t i = leaders ? 0 : g.rank(); i < bytes + 2 * guard_bytes; i += step) f(i);
  }
  GGAS_DEVICE void fill(const G& g, int source, uint64_t number) const {
    each(g, [&](uint64_t i) {
      const bool data = i >= guard_bytes && i < guard_bytes + bytes;
      at[i - guard_bytes] = data ? byte_of(source, number, i - guard_bytes) : untouched;
    });
  }
  GGAS_DEVICE void clear(const G& g) const {
    each(g, [&](uint64_t i) { at[i - guard_bytes] = untouched; });
  }
  // What is in it: a message, or nothing, where it was not to be touched.
  GGAS_DEVICE bool holds(const G& g, int source, uint64_t number, uint64_t n) const {
    bool good = true;
    each(g, [&](uint64_t i) {
      const bool data = i >= guard_bytes && i < guard_bytes + n;
      good &= at[i - guard_bytes] == (data ? byte_of(source, number, i - guard_bytes) : untouched);
    });
    return good;
  }
};

// ---- random messages

template <class G>
class random_rank {
 public:
  GGAS_DEVICE random_rank(const message_args& a, uint8_t* shared, uint8_t* variables, found& f)
      : a_(a), f_(f), me_(ggas_message_rank(a.world)), ranks_(ggas_message_ranks(a.world)) {
    const auto index = static_cast<uint64_t>(me_ % detail::ranks_of_node(a.world));
    auto* const own = bench::own<uint8_t>(a.scratch + index * a.scratch_bytes);
    const uint64_t room = buffer_room(a.most);
    out_ = {own, shared, variables};
    in_ = {own + room, shared + shared_room, variables + shared_room};
    next_ = reinterpret_cast<uint32_t*>(own + 2 * room);
    expected_ = bench::own<uint32_t>(a.expected)[me_];
  }

  GGAS_DEVICE void run() {
    const detail::deadline end(a_.timeout_ns);
    int late = 0;
    while ((sent_ < a_.count || got_ < expected_) && !late) {
      if (sent_ < a_.count) send();
      if (got_ < expected_) receive();
      g_.sync();
      late = any(g_.leads() && end.over());
    }
    f_.want(!late, __LINE__);
    if (late) (void)ggas_cancel(g_, a_.world, &request_);
  }

 private:
  GGAS_DEVICE bool any(bool mine) const {
    if constexpr (detail::is_same<G, ggas::block>)
      return __syncthreads_or(mine) != 0;
    else
      return g_.of_leader(static_cast<int>(mine)) != 0;
  }

  GGAS_DEVICE void send() {
    if (request_.number == 0) {
      const planned_message p = planned(a_.seed, me_, sent_, ranks_, a_.most);
      out_.choose(p.from, p.shift, p.bytes);
      out_.fill(g_, me_, sent_);
      f_.status(ggas_isend(g_, a_.world, out_.at, p.bytes, p.to, p.tag, &request_, static_cast<uint32_t>(sent_)),
                ggas_ok, __LINE__);
    }
    const ggas_status s = ggas_wait(g_, a_.world, &request_, nullptr, 0);
    f_.want(s == ggas_ok || s == ggas_timed_out, __LINE__);
    sent_ += request_.number == 0;
  }

  // Receives from any source with any tag, with one tag, or from the source that a probe has found.
  GGAS_DEVICE void receive() {
    const uint64_t dice = bench::pattern(~a_.seed, static_cast<uint64_t>(me_), turn_++);
    int from = ggas_any_source,
        tag = dice % 3 == 0 ? static_cast<int>(dice >> 8) % static_cast<int>(tags) : ggas_any_tag;
    if (tag < ggas_any_tag) tag = 0;
    uint64_t room = a_.most;
    ggas_message found_one{};
    if (dice % 3 == 1) {
      if (ggas_probe(g_, a_.world, from, tag, &found_one, 0) != ggas_ok) return;
      from = found_one.source;
      if (dice % 2) tag = found_one.tag;
      room = found_one.bytes;
    }
    const bool small = room <= most_in_shared;
    in_.choose(small ? static_cast<memory_kind>((dice >> 20) % 3) : memory_kind::global, (dice >> 30) % 16, room);
    in_.clear(g_);
    ggas_message m{};
    const ggas_status s =
        ggas_recv(g_, a_.world, in_.at, room, from, tag, &m, room == found_one.bytes ? a_.timeout_ns : 0);
    g_.sync();
    f_.want(s == ggas_ok || (s == ggas_timed_out && dice % 3 != 1), __LINE__);
    if (s == ggas_ok) check(m);
    g_.sync();
  }

  GGAS_DEVICE void check(const ggas_message& m) {
    ++got_;
    const bool real =
        m.source >= 0 && m.source < ranks_ && m.tag >= 0 && m.tag < static_cast<int>(tags) && m.info < a_.count;
    f_.want(real, __LINE__);
    if (!real) return;
    const planned_message p = planned(a_.seed, m.source, m.info, ranks_, a_.most);
    f_.want(p.to == me_ && p.tag == m.tag && p.bytes == m.bytes, __LINE__);
    f_.want(in_.holds(g_, m.source, m.info, m.bytes), __LINE__);
    if (!g_.leads()) return;
    uint32_t& next = next_[static_cast<unsigned>(m.source) * tags + static_cast<unsigned>(m.tag)];
    f_.want(m.info >= next, __LINE__);
    next = m.info + 1;
  }

  const message_args& a_;
  found& f_;
  const G g_{};
  int me_, ranks_;
  message_buffer<G> out_{}, in_{};
  uint32_t* next_;
  uint32_t expected_, got_ = 0;
  uint64_t sent_ = 0, turn_ = 0;
  ggas_message_request request_{};
};

// The shared memory of the caller's rank: two buffers.
constexpr unsigned most_ranks_of_block = 256;
#define GGAS_SHARED_OF_RANKS(name)                                                                         \
  GGAS_SHARED_ARRAY(uint8_t, name##_all, ggas::calls::most_ranks_of_block * 2 * ggas::calls::shared_room); \
  uint8_t* const name =                                                                                    \
      name##_all + detail::index_of_caller(a.world) % detail::ranks_of_block(a.world) * (2 * ggas::calls::shared_room)

template <class G>
__global__ void messages_random(message_args a) {
  GGAS_SHARED_OF_RANKS(shared);
  uint8_t variables[2 * shared_room]{};
  found f;
  f.status(ggas_messages_begin(a.world, a.timeout_ns), ggas_ok, __LINE__);
  random_rank<G>(a, shared, variables, f).run();
  f.write(a.outcomes);
}

}  // namespace ggas::calls
