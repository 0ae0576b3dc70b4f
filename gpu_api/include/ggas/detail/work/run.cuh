// SPDX-License-Identifier: Apache-2.0
// What a group of workers does with an order. Included by worker.cuh.
#pragma once

#include "ggas/detail/work/take.cuh"

namespace ggas::detail {

// ---- arguments

template <class P>
constexpr uint64_t words_of_argument = (sizeof(P) + 7) / 8;

// Words that a block of the running kernel has written. Those from before the launch are plain memory.
struct order_words {
  const uint64_t* at;
  GGAS_DEVICE uint64_t operator[](uint64_t i) const { return load_own(at + i); }
  GGAS_DEVICE order_words operator+(uint64_t n) const { return {at + n}; }
};

template <class P, class Words>
GGAS_DEVICE P argument_at(Words words) {
  uint64_t found[words_of_argument<P>];
  for (uint64_t i = 0; i < words_of_argument<P>; ++i) found[i] = words[i];
  P argument;
  memcpy(&argument, found, sizeof(P));
  return argument;
}

// W::run(block, arguments ...)
template <class W, class... Left>
struct unpacked {
  template <class Words, class... A>
  GGAS_DEVICE static ggas_status run(const work_block& b, Words, const A&... a) {
    return W::run(b, a...);
  }
};
template <class W, class P, class... Left>
struct unpacked<W, P, Left...> {
  template <class Words, class... A>
  GGAS_DEVICE static ggas_status run(const work_block& b, Words words, const A&... a) {
    return unpacked<W, Left...>::run(b, words + words_of_argument<P>, a..., argument_at<P>(words));
  }
};
template <class W, class Parameters = typename W::parameters>
struct work_call;
template <class W, class... P>
struct work_call<W, void(P...)> : unpacked<W, P...> {};

// The function of that number; ggas_bad_argument: there is none.
template <class... W, class Words>
GGAS_DEVICE ggas_status run_function(uint32_t number, const work_block& b, Words words) {
  ggas_status s = ggas_bad_argument;
  uint32_t i = 0;
  ((number == i++ ? static_cast<void>(s = work_call<W>::run(b, words)) : static_cast<void>(0)), ...);
  return s;
}

// ---- a launch of several orders

// Runs orders of `words` words each that request the same number of blocks. `done` is the address of a word on this GPU
// that gets the first failure. The end of an order is not reported here. Threads do not wait for each other or for
// memory: on the host engine each then ends before the next one needs a stack.
template <class... W>
GGAS_DEVICE void run_merged(const uint64_t* orders, uint64_t words, uint32_t blocks) {
  const uint64_t* const order = orders + block_rank() / blocks * words;
  const work_order o = argument_at<work_order>(order);
  const uint32_t i = block_rank() % blocks;
  const work_block b{i % o.x, i / o.x % o.y, i / o.x / o.y, o.x, o.y, o.z, {block_rank(), 1, nullptr}};
  const ggas_status s = run_function<W...>(o.function, b, order + work_order::words);
  if (s != ggas_ok) cas_gpu(reinterpret_cast<uint64_t*>(o.done), uint64_t{0}, static_cast<uint64_t>(s));
}

// ---- a group

GGAS_DEVICE_FUNCTION void record_late(ggas_status s, uint64_t function, uint64_t blocks, uint64_t have_come) {
  wait_record* const at = begin_record(waited_for::workers, s);
  if (!at) return;
  store_relaxed(&at->expected, blocks);
  store_relaxed(&at->seen, have_come);
  store_relaxed(&at->n, function);
  end_record(at);
}

class worker {
 public:
  GGAS_DEVICE explicit worker(const worker_launch& l)
      : launch_(l), group_(block_rank() / l.blocks), block_(block_rank() % l.blocks) {}

  // Waits for the next order, by all blocks of the group. False: the workers were stopped.
  GGAS_DEVICE bool next() {
    ggas_status s = ggas_ok;
    if (left_) return false;
    ++orders_;
    if (block_ == 0 && thread_rank() < 32) {
      s = take() ? ggas_ok : ggas_aborted;
    } else if (block_ != 0 && is_first_thread()) {
      s = await_published() ? ggas_ok : ggas_aborted;
    }
    return block_status(s) == ggas_ok;
  }

  template <class... W>
  GGAS_DEVICE void carry_out() {
    const order_words words{own_word(launch_.shape.order(group_))};
    const work_order o = argument_at<work_order>(words);
    const order_words out = words + work_order::words + o.in * work_copy::words;
    if (o.in != 0) {
      copy(words + work_order::words, o.in);
      if (!meet(o)) return gather_again(o);
    }
    const ggas_status s = run<W...>(o, out + o.out * work_copy::words);
    if (is_first_thread() && s != ggas_ok)
      cas_gpu(own_word(launch_.shape.failure(group_)), uint64_t{0}, static_cast<uint64_t>(s));
    if (!meet(o)) return gather_again(o);
    if (o.out != 0) {
      copy(out, o.out);
      if (!meet(o)) return gather_again(o);
    }
    if (block_ == 0 && is_first_thread()) report(o);
    __syncthreads();
  }

 private:
  static constexpr uint64_t stopped = ~uint64_t{0};

  GGAS_DEVICE bool take() {
    const warp_group g;
    uint64_t* const order = own_word(launch_.shape.order(group_));
    worker_turn next;
    const bool more =
        wait_for_order(g, launch_, next, [=](uint64_t i, uint64_t word) { store_relaxed(order + i, word); });
    g.sync();
    if (g.leads()) {
      fence_acq_rel_gpu();
      store_relaxed(own_word(launch_.shape.turn()), uint64_t{next});
      store_relaxed(own_word(launch_.shape.published(group_)), more ? orders_ : uint64_t{stopped});
    }
    return more;
  }

  GGAS_DEVICE bool await_published() {
    const uint64_t* const published = own_word(launch_.shape.published(group_));
    growing_pause pause(launch_.longest_pause_ns);
    uint64_t seen = 0;
    while ((seen = load_spin(published)) < orders_) pause.once();
    acquire_after_spin(published);
    return seen != stopped;
  }

  // ---- barriers of all blocks of the group: their earlier stores are visible to each of them afterwards

  // The word counts the blocks that have come to all barriers. This bit: a block has given up the order.
  static constexpr uint64_t given_up = uint64_t{1} << 63;
  GGAS_DEVICE uint64_t* arrived() const { return own_word(launch_.shape.arrived(group_)); }
  // Comes to a barrier; returns the count with which all have come.
  GGAS_DEVICE uint64_t come() const {
    fence_acq_rel_gpu();
    return ((add_gpu(arrived(), uint64_t{1}) & ~given_up) / launch_.blocks + 1) * launch_.blocks;
  }

  // False for all blocks: one of them gave up, because others had not come in time.
  GGAS_DEVICE bool meet(const work_order& o) {
    __syncthreads();
    if (launch_.blocks == 1) return true;
    bool met = true;
    if (is_first_thread()) {
      const uint64_t all = come();
      met = await_in_time(o, all);
      if (!met) await_late(all);
      acquire_after_spin(arrived());
    }
    return !__syncthreads_or(!met);
  }
  GGAS_DEVICE bool await_in_time(const work_order& o, uint64_t all) const {
    poll_deadline end(launch_.timeout_ns);
    for (;;) {
      const uint64_t seen = load_spin(arrived());
      if ((seen & given_up) != 0) return false;
      if (seen >= all) return true;
      if (end.over() && cas_gpu(arrived(), seen, seen | given_up) == seen)
        return end_late(o, seen + launch_.blocks - all);
    }
  }
  // By who gave up first. The host learns that blocks still use the order's memory.
  GGAS_DEVICE bool end_late(const work_order& o, uint64_t have_come) const {
    const ggas_status s = end_of_wait();
    record_late(s, o.function, launch_.blocks, have_come);
    tell(o, static_cast<uint64_t>(s) | (o.node < 0 ? work_order::late : 0));
    return false;
  }
  // As long as it takes, as for orders: until the workers are stopped, or the host ends all waits.
  GGAS_DEVICE void await_late(uint64_t all) {
    growing_pause pause(launch_.longest_pause_ns);
    while ((load_spin(arrived()) & ~given_up) < all && !left_) {
      left_ = load_relaxed(&launch_.host->stop) != 0 || aborted();
      pause.once();
    }
  }
  // After an order that was given up: the group is whole again once all blocks have come.
  GGAS_DEVICE void gather_again(const work_order& o) {
    if (is_first_thread() && !left_) {
      await_late(come());
      if (block_ == 0 && !left_) {
        add_gpu(arrived(), given_up);  // clears the bit, which all have seen
        store_relaxed(own_word(launch_.shape.failure(group_)), uint64_t{0});
        if (o.node < 0) tell(o, ggas_timed_out);
      }
      if (!left_) await_late(come());
    }
    left_ = __syncthreads_or(left_) != 0;
  }

  GGAS_DEVICE void copy(order_words words, uint32_t count) {
    const movers by{block_ * thread_count() + thread_rank(), launch_.blocks * thread_count()};
    for (uint32_t i = 0; i < count; ++i) {
      const work_copy c = argument_at<work_copy>(words + i * work_copy::words);
      move_bytes<origin::remote>(reinterpret_cast<void*>(c.to), reinterpret_cast<const void*>(c.from), c.bytes, by);
    }
  }

  // Virtual blocks, in turn to the blocks of the group; the first failure found.
  template <class... W>
  GGAS_DEVICE ggas_status run(const work_order& o, order_words arguments) {
    work_block b{0, 0, 0, o.x, o.y, o.z, group()};
    ggas_status s = ggas_ok;
    const uint64_t all = uint64_t{o.x} * o.y * o.z;
    for (uint64_t i = block_; i < all; i += launch_.blocks) {
      b.x = static_cast<uint32_t>(i % o.x);
      b.y = static_cast<uint32_t>(i / o.x % o.y);
      b.z = static_cast<uint32_t>(i / o.x / o.y);
      const ggas_status one = run_function<W...>(o.function, b, arguments);
      if (s == ggas_ok) s = one;
      __syncthreads();
    }
    return block_status(s);
  }

  GGAS_DEVICE blocks_group group() const {
    const unsigned first = group_ * launch_.blocks;
    return {first, launch_.blocks, own_word(launch_.shape.of_blocks(group_)), first};
  }

  // Done when all stores of the group are visible to all nodes.
  GGAS_DEVICE void report(const work_order& o) {
    uint64_t* const failure = own_word(launch_.shape.failure(group_));
    uint64_t s = load_relaxed(failure);
    store_relaxed(failure, uint64_t{0});
    const ggas_status visible = ggas_quiet();
    tell(o, s == ggas_ok ? uint64_t{visible} : s);
  }
  GGAS_DEVICE void tell(const work_order& o, uint64_t s) const {
    uint64_t* const done = o.node < 0 ? reinterpret_cast<uint64_t*>(o.done) : word_of(o.node, o.done);
    store_release(done, o.ticket << 8 | s);
  }

  const worker_launch& launch_;
  unsigned group_, block_;  // block_: in the group
  uint64_t orders_ = 0;
  bool left_ = false;  // stopped while blocks of the group were late
};

}  // namespace ggas::detail
