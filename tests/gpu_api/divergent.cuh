// SPDX-License-Identifier: Apache-2.0
// Loops in which the lanes of a warp diverge, around every call with a pointer of a node: one hash gives the owner of a
// word, another one decides whether a lane continues. One source for the host engine and GPUs; the host computes the
// expected memory itself.
#pragma once

#include <utility>

#include "benchmarks/kernels/common.cuh"

namespace ggas::divergent {

enum class call : int {
  store,
  store_release,
  global_store,
  pointer_object,
  put,
  put_nbi,
  put_value,
  put_value_nbi,
  iput,
  put_signal,
  put_signal_nbi,
  put_tagged,
  put_notify,
  fetch_add,
  fetch_swap,
  compare_swap,
  atomic_fetch,
  atomic_post,
  add,
  load,
  load_acquire,
  get,
  get_nbi,
  iget,
};
constexpr int calls = 24;
constexpr int first_that_reads = static_cast<int>(call::load);

constexpr uint64_t most_probes = 6;  // of an item: a cell each, at some node
constexpr uint64_t cell_bytes = 32;  // the value, a word that reports, a line

struct args {
  uint64_t cells;     // offset of the cells: all of every thread of every node, at every node
  uint64_t own;       // offset of 64 bytes of each thread, for what calls move
  uint64_t outcomes;  // of a bench::outcome for each thread
  uint64_t items;     // of a thread
  uint64_t timeout_ns;
};

// Where probe p of item i of a thread goes, and whether it is its last.
struct probe {
  int owner;
  uint64_t cell, value;
  bool last;
  GGAS_HOST_DEVICE probe(uint64_t thread, uint64_t items, uint64_t i, uint64_t p, int nodes)
      : cell((thread * items + i) * most_probes + p) {
    const uint64_t h = bench::pattern(3, 0, thread * items + i);
    owner = static_cast<int>((h >> 8 * p & 0xff) % static_cast<unsigned>(nodes));
    value = bench::pattern(static_cast<uint64_t>(owner) + 4, 0, cell);
    last = p + 1 == most_probes || (h >> (48 + p) & 1) != 0;
  }
};

struct words {
  uint64_t value, reported;
  ggas_tagged line;
};
static_assert(sizeof(words) == cell_bytes);

// One call on the cell at `remote`. `mine`: 8 words of the thread's own. `errors` counts what was read and is wrong.
template <call What>
GGAS_DEVICE ggas_status touch(words* remote, const probe& at, uint64_t offset, uint64_t* mine, const args& a,
                              uint64_t& errors) {
  uint64_t* const to = &remote->value;
  uint64_t old = 0;
  ggas_status s = ggas_ok;
  detail::store_relaxed(mine, at.value);
  if constexpr (What == call::store) {
    ggas_store(to, at.value);
  } else if constexpr (What == call::store_release) {
    ggas_store(to, at.value, ggas_release);
  } else if constexpr (What == call::global_store) {
    ggas_store(ggas_global_pointer<uint64_t>(at.owner, offset), at.value);
  } else if constexpr (What == call::pointer_object) {
    global_ptr<uint64_t>(at.owner, offset).store(at.value);
  } else if constexpr (What == call::put) {
    s = ggas_put(to, mine, 1, a.timeout_ns);
  } else if constexpr (What == call::put_nbi) {
    s = ggas_put_nbi(to, mine, 1, a.timeout_ns);
    if (s == ggas_ok) s = ggas_quiet_local(ggas_default_queue(), a.timeout_ns);
  } else if constexpr (What == call::put_value) {
    s = ggas_put_value(to, at.value, a.timeout_ns);
  } else if constexpr (What == call::put_value_nbi) {
    s = ggas_put_value_nbi(to, at.value, a.timeout_ns);
  } else if constexpr (What == call::iput) {
    s = ggas_iput_nbi(to, mine, 1, 1, 1, a.timeout_ns);
    if (s == ggas_ok) s = ggas_quiet_local(ggas_default_queue(), a.timeout_ns);
  } else if constexpr (What == call::put_signal) {
    s = ggas_put_signal(to, mine, 1, &remote->reported, 1, ggas_signal_add, a.timeout_ns);
  } else if constexpr (What == call::put_signal_nbi) {
    s = ggas_put_signal_nbi(to, mine, 1, &remote->reported, 1, ggas_signal_set, a.timeout_ns);
    if (s == ggas_ok) s = ggas_quiet_local(ggas_default_queue(), a.timeout_ns);
  } else if constexpr (What == call::put_tagged) {
    s = ggas_put_tagged(&remote->line, mine, 1, 9);
  } else if constexpr (What == call::put_notify) {
    s = ggas_put_notify(to, mine, 1, at.cell, static_cast<int>(at.cell % 4), a.timeout_ns);
  } else if constexpr (What == call::fetch_add) {
    s = ggas_fetch_add(to, at.value, &old, a.timeout_ns);
  } else if constexpr (What == call::fetch_swap) {
    s = ggas_fetch_swap(to, at.value, &old, a.timeout_ns);
  } else if constexpr (What == call::compare_swap) {
    s = ggas_compare_swap(to, uint64_t{0}, at.value, &old, a.timeout_ns);
  } else if constexpr (What == call::atomic_fetch) {
    s = ggas_atomic_fetch(ggas_atomic_or, to, at.value, uint64_t{0}, &old, a.timeout_ns);
  } else if constexpr (What == call::atomic_post) {
    s = ggas_atomic_post(ggas_atomic_xor, to, at.value, uint64_t{0}, a.timeout_ns);
  } else if constexpr (What == call::add) {
    s = ggas_add(to, at.value, a.timeout_ns);
  } else if constexpr (What == call::load) {
    detail::store_relaxed(mine, ggas_load(to));
  } else if constexpr (What == call::load_acquire) {
    detail::store_relaxed(mine, ggas_load(to, ggas_acquire));
  } else {
    detail::store_relaxed(mine, uint64_t{0});
    if constexpr (What == call::get) s = ggas_get(mine, to, 1, a.timeout_ns);
    if constexpr (What == call::get_nbi) s = ggas_get_nbi(mine, to, 1, a.timeout_ns);
    if constexpr (What == call::iget) s = ggas_iget_nbi(mine, to, 1, 1, 1, a.timeout_ns);
    if (s == ggas_ok && What != call::get) s = ggas_quiet(ggas_default_queue(), a.timeout_ns);
  }
  errors += old != 0 || (static_cast<int>(What) >= first_that_reads && detail::load_relaxed(mine) != at.value);
  return s;
}

// The probe loop: every lane ends it after a number of turns of its own.
template <call What>
__global__ void probe_loop(args a) {
  bench::outcome out{0, 0, 0, ggas_ok};
  const uint64_t me = static_cast<uint64_t>(ggas_node()) * bench::global_threads() + bench::global_thread();
  uint64_t* const mine = bench::own<uint64_t>(a.own) + 8 * bench::global_thread();
  for (uint64_t i = 0; i < a.items; ++i) {
    for (uint64_t p = 0;; ++p) {
      const probe at(me, a.items, i, p, ggas_nodes());
      const uint64_t offset = a.cells + at.cell * cell_bytes;
      const ggas_status s = touch<What>(ggas_pointer_of_node<words>(at.owner, offset), at, offset, mine, a, out.errors);
      if (s != ggas_ok) {
        out.status = s;
        break;
      }
      if (at.last) break;
    }
  }
  if (out.status == ggas_ok) out.status = ggas_quiet();
  bench::own<bench::outcome>(a.outcomes)[bench::global_thread()] = out;
}

using kernel = void (*)(args);
template <int... I>
inline kernel kernel_of(int number, std::integer_sequence<int, I...>) {
  static constexpr kernel all[] = {probe_loop<static_cast<call>(I)>...};
  return all[number];
}
inline kernel kernel_of(int number) { return kernel_of(number, std::make_integer_sequence<int, calls>{}); }

// What a call leaves in a cell that a probe has been at.
inline words left_by(call what, uint64_t value) {
  words w{what == call::put_tagged ? 0 : value, 0, {}};
  if (what == call::put_signal || what == call::put_signal_nbi) w.reported = 1;
  if (what == call::put_tagged) w.line = {static_cast<uint32_t>(value), 9, static_cast<uint32_t>(value >> 32), 9};
  return w;
}

// Cells of all threads of all nodes; f(probe) for every probe of `threads` threads in all.
inline uint64_t cells_of(uint64_t threads, uint64_t items) { return threads * items * most_probes; }
template <class F>
void for_each_probe(uint64_t threads, uint64_t items, int nodes, F f) {
  for (uint64_t t = 0; t < threads; ++t) {
    for (uint64_t i = 0; i < items; ++i) {
      for (uint64_t p = 0;; ++p) {
        const probe at(t, items, i, p, nodes);
        f(at);
        if (at.last) break;
      }
    }
  }
}

// ---- a hash table with open addressing; the owner of a key is its hash

struct table_args {
  uint64_t slots;     // offset of the table's part at every node, words of 8 bytes, zero
  uint64_t counts;    // offset of a word: keys that the part has got
  uint64_t outcomes;  // of a bench::outcome for each thread; errors: keys that found no place
  uint64_t mask;      // slots of a part less 1; a power of two
  uint64_t keys;      // of a thread; every key is brought by two threads
  uint64_t timeout_ns;
};

// Key k of a thread: threads t and t ^ 1 have the same ones.
GGAS_HOST_DEVICE constexpr uint64_t key_of(uint64_t thread, uint64_t keys, uint64_t k) {
  return bench::pattern(11, 1, thread / 2 * keys + k);
}
GGAS_HOST_DEVICE constexpr int owner_of(uint64_t key, int nodes) {
  return static_cast<int>((key >> 32) % static_cast<unsigned>(nodes));
}

static __global__ void insert_keys(table_args a) {
  bench::outcome out{0, 0, 0, ggas_ok};
  const uint64_t me = static_cast<uint64_t>(ggas_node()) * bench::global_threads() + bench::global_thread();
  for (uint64_t k = 0; k < a.keys; ++k) {
    const uint64_t key = key_of(me, a.keys, k);
    const int owner = owner_of(key, ggas_nodes());
    uint64_t at = key & a.mask, probes = 0;
    for (; probes <= a.mask; ++probes) {
      uint64_t old = 0;
      const ggas_status s = ggas_compare_swap(ggas_pointer_of_node<uint64_t>(owner, a.slots + at * 8), uint64_t{0}, key,
                                              &old, a.timeout_ns);
      if (s != ggas_ok) out.status = s;
      if (s != ggas_ok || old == key) break;
      if (old == 0) {
        uint64_t* const count = ggas_pointer_of_node<uint64_t>(owner, a.counts);
        if (const ggas_status added = ggas_add(count, uint64_t{1}, a.timeout_ns); added != ggas_ok) out.status = added;
        break;
      }
      at = (at + 1) & a.mask;
    }
    out.errors += probes > a.mask;
  }
  if (out.status == ggas_ok) out.status = ggas_quiet();
  bench::own<bench::outcome>(a.outcomes)[bench::global_thread()] = out;
}

}  // namespace ggas::divergent
