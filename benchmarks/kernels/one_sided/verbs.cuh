// SPDX-License-Identifier: Apache-2.0
// A work queue of InfiniBand verbs driven by one thread of a GPU, as the original study did it: a request is checked,
// an entry of the queue is written field by field in the byte order of the network, a used entry is stamped, and a
// doorbell is rung; a completion is parsed. The steps leave out more and more of it (docs/benchmarks.md). The rings lie
// in host or in GPU memory. Arithmetic is counted in 32-bit instructions, each of which takes its time; those around an
// access of memory are part of the access (docs/gpu-model.md).
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

// Each step leaves out what the steps before it do.
enum class verbs_step : int {
  whole,
  copied,     // an entry is built in shared memory, and six threads copy it
  swapped,    // keys and constants have the order of the network beforehand
  unstamped,  // used entries are not stamped
  unchecked,  // no checks of parameters, queue and completion
};

inline constexpr uint32_t verbs_places = 128;  // of both rings; each is used at most once
inline constexpr uint32_t verbs_line = 16;     // words; an entry has two lines
inline constexpr uint32_t verbs_built = 12;    // words of the first one that are used
inline constexpr uint32_t verbs_opcode = 8, verbs_owner = 0x80, verbs_failed = 0x1e;

// Where the fields of an entry are, in words.
enum verbs_field : uint32_t {
  verbs_control = 0,
  verbs_size,
  verbs_flags,
  verbs_far = 4,
  verbs_far_key = 6,
  verbs_bytes = 8,
  verbs_key,
  verbs_near = 10
};
struct alignas(64) verbs_entry {
  uint32_t words[2 * verbs_line];
};
struct alignas(32) verbs_completion {
  uint32_t queue, immediate, bytes, reserved[4];
  uint32_t entry_and_opcode;  // in its upper half the number of the entry, below opcode and owner
};
struct verbs_rings {
  verbs_entry entries[verbs_places];
  verbs_completion completions[verbs_places];
  uint64_t ids[verbs_places];  // of the requests, by entry
  uint32_t head, tail;         // entries that were made, and that are known to be done
  uint32_t taken;              // completions
  uint32_t number;             // of the queue
  uint32_t most_pieces, most_bytes;
  uint32_t taken_for_nic;  // in the order of the network
};

struct verbs_request {
  uint64_t id, near, far;
  uint32_t bytes, pieces;
  uint32_t near_key, far_key;  // in the order of the network from verbs_step::swapped on
};

// What a poll finds.
struct verbs_result {
  uint64_t id;
  uint32_t bytes, queue, opcode, status;
};

GGAS_HOST_DEVICE constexpr uint32_t network_order(uint32_t v) {
  return v >> 24 | (v >> 8 & 0xff00) | (v << 8 & 0xff0000) | v << 24;
}
GGAS_HOST_DEVICE constexpr uint64_t network_order(uint64_t v) {
  return uint64_t{network_order(static_cast<uint32_t>(v))} << 32 | network_order(static_cast<uint32_t>(v >> 32));
}

// What a thread has done in addition to accesses; each piece is an operation of the model.
struct verbs_arithmetic {
  uint64_t instructions, pieces;
};

// A thread that works on the rings. Its arithmetic takes its time before the next access.
class verbs_thread {
 public:
  GGAS_DEVICE explicit verbs_thread(uint32_t instruction_ps) : instruction_ps_(instruction_ps) {}

  GGAS_DEVICE uint32_t swap(uint32_t v) { return counted(1), network_order(v); }
  GGAS_DEVICE uint64_t swap(uint64_t v) { return counted(2), network_order(v); }
  GGAS_DEVICE bool test(bool holds) { return counted(2), holds; }  // a comparison and a branch
  GGAS_DEVICE void counted(uint32_t instructions) { pending_ += instructions; }
  GGAS_DEVICE verbs_arithmetic all() const { return all_; }

  template <class T>
  GGAS_DEVICE T load(const T* from) {
    return spend(), ggas_load(from);
  }
  template <class T>
  GGAS_DEVICE void store(T* to, T v) {
    spend(), ggas_store(to, v);
  }
  GGAS_DEVICE void spend() {
    if (pending_ == 0) return;
    __nanosleep(pending_ * instruction_ps_ / 1000);
    all_.instructions += pending_;
    ++all_.pieces;
    pending_ = 0;
  }

 private:
  uint32_t instruction_ps_, pending_ = 0;
  verbs_arithmetic all_{};
};

template <verbs_step Step>
class verbs_queue {
 public:
  // `doorbell` is a word of host memory, which takes the place of the NIC's register.
  GGAS_DEVICE verbs_queue(verbs_rings* rings, uint32_t* doorbell, uint32_t instruction_ps)
      : r_(rings), doorbell_(doorbell), t_(instruction_ps) {}

  GGAS_DEVICE verbs_arithmetic arithmetic() const { return t_.all(); }

  // By all threads of a warp.
  GGAS_DEVICE ggas_status post(const verbs_request& q) {
    GGAS_SHARED_ARRAY(uint64_t, pairs, verbs_built / 2);
    auto* const built = reinterpret_cast<uint32_t*>(pairs);
    uint32_t head = 0;
    int s = ggas_ok;
    if (leader()) {
      head = t_.load(&r_->head);
      if (checks) s = check(q, head);
      if (s == ggas_ok && copies) build(q, head, [&](uint32_t at, auto v) { keep(built, at, v); });
      if (s == ggas_ok && !copies) {
        uint32_t* const words = r_->entries[head % verbs_places].words;
        build(q, head, [&](uint32_t at, auto v) { write(words, at, v); });
      }
    }
    s = __shfl_sync(0xffffffffu, s, 0);
    head = __shfl_sync(0xffffffffu, head, 0);
    if (s == ggas_ok && copies && detail::lane_rank() < verbs_built / 2) {
      auto* const to = reinterpret_cast<uint64_t*>(r_->entries[head % verbs_places].words);
      ggas_store(to + detail::lane_rank(), pairs[detail::lane_rank()]);
    }
    __syncwarp();
    if (s == ggas_ok && leader()) announce(q, head);
    return static_cast<ggas_status>(s);
  }

  // By one thread: takes the next completion, if it is there.
  GGAS_DEVICE bool poll(verbs_result* out) {
    const uint32_t taken = t_.load(&r_->taken);
    const verbs_completion* const c = &r_->completions[taken % verbs_places];
    const uint32_t last = t_.swap(t_.load(&c->entry_and_opcode));
    t_.counted(2);  // whose the completion is: a bit of it, and of the count
    if (!t_.test((last & verbs_owner) == 0)) return false;
    ggas_fence_gpu();
    const uint32_t queue = t_.swap(t_.load(&c->queue)), opcode = last & 0x1f;
    uint32_t status = 0;
    if (checks) {  // of which queue it is, and whether it reports an error
      if (!t_.test(queue == t_.load(&r_->number))) status = 1;
      if (!t_.test(opcode != verbs_failed)) status = 2;
    }
    const uint32_t done = t_.load(&r_->tail);
    t_.counted(4);  // the entry's number, cut out, and its distance from the tail in 16 bits
    const uint32_t tail = done + static_cast<uint16_t>((last >> 16) - done);
    const uint64_t id = t_.load(&r_->ids[tail % verbs_places]);
    t_.store(&r_->tail, tail + 1);
    t_.counted(4);  // the opcode's name, by comparisons
    t_.store(&out->id, id);
    t_.store(&out->bytes, t_.swap(t_.load(&c->bytes)));
    t_.store(&out->queue, queue);
    t_.store(&out->opcode, opcode);
    t_.store(&out->status, status);
    t_.store(&r_->taken_for_nic, t_.swap(taken + 1));
    t_.store(&r_->taken, taken + 1);
    return true;
  }

 private:
  static constexpr bool copies = Step >= verbs_step::copied, swaps = Step < verbs_step::swapped,
                        stamps = Step < verbs_step::unstamped, checks = Step < verbs_step::unchecked;

  GGAS_DEVICE static bool leader() { return detail::lane_rank() == 0; }
  // Of a key or a constant.
  GGAS_DEVICE uint32_t in_order(uint32_t v) { return swaps ? t_.swap(v) : v; }
  GGAS_DEVICE uint32_t constant(uint32_t v) { return swaps ? t_.swap(v) : network_order(v); }

  GGAS_DEVICE ggas_status check(const verbs_request& q, uint32_t head) {
    if (!t_.test(head - t_.load(&r_->tail) < verbs_places)) return ggas_timed_out;
    if (!t_.test(q.pieces <= t_.load(&r_->most_pieces))) return ggas_bad_argument;
    if (!t_.test(q.bytes <= t_.load(&r_->most_bytes))) return ggas_bad_argument;
    t_.counted(4);  // the opcode is one of those that the queue has
    return ggas_ok;
  }

  GGAS_DEVICE void keep(uint32_t* built, uint32_t at, uint32_t v) { t_.counted(1), built[at] = v; }
  GGAS_DEVICE void keep(uint32_t* built, uint32_t at, uint64_t v) {
    t_.counted(1), *reinterpret_cast<uint64_t*>(built + at) = v;
  }
  GGAS_DEVICE void write(uint32_t* entry, uint32_t at, uint32_t v) { t_.store(entry + at, v); }
  GGAS_DEVICE void write(uint32_t* entry, uint32_t at, uint64_t v) {
    t_.store(reinterpret_cast<uint64_t*>(entry + at), v);
  }

  // The control word comes last: it makes the entry valid.
  template <class Put>
  GGAS_DEVICE void build(const verbs_request& q, uint32_t head, Put put) {
    put(verbs_far, t_.swap(q.far));
    put(verbs_far_key, in_order(q.far_key));
    put(verbs_far_key + 1, 0u);
    put(verbs_near, t_.swap(q.near));
    put(verbs_key, in_order(q.near_key));
    put(verbs_bytes, t_.swap(q.bytes));
    put(verbs_size, constant(3));    // of the entry, in 16 bytes
    put(verbs_flags, constant(12));  // report it
    put(verbs_flags + 1, 0u);
    t_.counted(3);  // whose the entry is: a bit of the head
    if (!copies) ggas_fence();
    put(verbs_control, constant(verbs_opcode) | network_order(head / verbs_places % 2 << 31));
  }

  GGAS_DEVICE void announce(const verbs_request& q, uint32_t head) {
    t_.store(&r_->ids[head % verbs_places], q.id);
    if (stamps) {  // the entry after it, which is used next: its size, then the line that is not written otherwise
      uint32_t* const next = r_->entries[(head + 1) % verbs_places].words;
      (void)t_.swap(t_.load(next + verbs_size));
      t_.counted(3);
      t_.store(next + verbs_line, ~0u);
    }
    t_.store(&r_->head, head + 1);
    const uint32_t number = t_.load(&r_->number);
    const uint32_t word = in_order(number);
    t_.spend();
    ggas_fence();
    t_.store(doorbell_, swaps ? word : network_order(number));
  }

  verbs_rings* r_;
  uint32_t* doorbell_;
  verbs_thread t_;
};

// ---------------------------------------------------------------------------------------------- kernels

struct post_and_poll_args {
  verbs_rings* rings;
  uint32_t* doorbell;
  verbs_request request;       // the first one; the others follow it in memory
  uint64_t results;            // offset of a verbs_result for each call
  uint64_t source, target;     // ours: offsets of what is put, and where
  uint64_t outcomes, samples;  // offset of an outcome, and of a duration for each call
  uint64_t arithmetic;         // offset of what the first thread did
  uint32_t calls;
  uint32_t instruction_ps;  // of an instruction that needs the result of the one before
  uint64_t timeout_ns;
};

// By one warp: `call` for each number, and how long it took.
template <class Call>
GGAS_DEVICE void time_calls(const post_and_poll_args& a, Call call) {
  outcome out{time_ns(), 0, 0, ggas_ok};
  for (uint32_t i = 0; i < a.calls && out.status == ggas_ok; ++i) {
    const uint64_t before = time_ns();
    out.status = call(i);
    if (detail::lane_rank() == 0) own<uint64_t>(a.samples)[i] = time_ns() - before;
  }
  out.end_ns = time_ns();
  if (detail::lane_rank() == 0) own<outcome>(a.outcomes)[0] = out;
}

GGAS_HOST_DEVICE constexpr verbs_request request_of(const post_and_poll_args& a, uint32_t call) {
  verbs_request q = a.request;
  q.id += call;
  q.near += uint64_t{q.bytes} * call;
  q.far += uint64_t{q.bytes} * call;
  return q;
}

template <verbs_step Step>
__global__ void verbs_posts(post_and_poll_args a) {
  verbs_queue<Step> queue(a.rings, a.doorbell, a.instruction_ps);
  time_calls(a, [&](uint32_t i) { return queue.post(request_of(a, i)); });
  if (detail::lane_rank() == 0) *own<verbs_arithmetic>(a.arithmetic) = queue.arithmetic();
}

// A request that the checks refuse: the outcome's status is that of the call.
template <verbs_step Step>
__global__ void verbs_bad_post(post_and_poll_args a) {
  verbs_queue<Step> queue(a.rings, a.doorbell, a.instruction_ps);
  a.request.pieces = ~0u;
  const ggas_status s = queue.post(a.request);
  if (detail::lane_rank() == 0) own<outcome>(a.outcomes)[0] = {0, 0, 0, static_cast<uint64_t>(s)};
}

template <verbs_step Step>
__global__ void verbs_polls(post_and_poll_args a) {
  verbs_queue<Step> queue(a.rings, a.doorbell, a.instruction_ps);
  time_calls(a, [&](uint32_t i) {
    bool there = true;
    if (detail::lane_rank() == 0) there = queue.poll(own<verbs_result>(a.results) + i);
    return __shfl_sync(0xffffffffu, static_cast<int>(there), 0) ? ggas_ok : ggas_timed_out;
  });
  if (detail::lane_rank() == 0) *own<verbs_arithmetic>(a.arithmetic) = queue.arithmetic();
}

// The same with our library: a put that reports its arrival, and the notification of one that has arrived.
__global__ void our_posts(post_and_poll_args a) {
  const ggas_queue q = ggas_queue_of(0, ggas_exclusive);
  auto* const to = ggas_pointer_of_node<uint64_t>(ggas_node() ^ 1, a.target);
  const auto* const from = own<uint64_t>(a.source);
  const uint64_t words = a.request.bytes / sizeof(uint64_t);
  time_calls(a, [&](uint32_t i) {
    return ggas_put_notify_warp(to + words * i, from + words * i, words, a.request.id + i, q.index(), a.timeout_ns, q);
  });
}

__global__ void our_polls(post_and_poll_args a) {
  const ggas_queue q = ggas_queue_of(0, ggas_exclusive);
  time_calls(a, [&](uint32_t i) {
    ggas_notification note{};
    const ggas_status s = ggas_notification_wait_warp(&note, a.timeout_ns, q);
    return s == ggas_ok && note.cookie != a.request.id + i ? ggas_peer_error : s;
  });
}

}  // namespace ggas::bench
