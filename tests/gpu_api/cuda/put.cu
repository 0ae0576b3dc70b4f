// SPDX-License-Identifier: Apache-2.0
// Put, get and signals on real GPUs: every alignment, odd sizes, all forms.
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

using ggas::detail::thread_count;
using ggas::detail::thread_rank;

enum class form { thread, warp, block, grid };

// What is moved: `bytes` from `from` here to `to` there, or back.
struct transfer_args {
  places at;
  form by;
  uint64_t bytes, from, to, round;
};

GGAS_DEVICE bool takes_part(form by) {
  return by == form::grid || (detail::block_rank() == 0 &&
                              (by == form::block || thread_rank() == 0 || (by == form::warp && thread_rank() < 32)));
}

GGAS_DEVICE ggas_status put_as(form by, char* to, const char* from, uint64_t bytes) {
  switch (by) {
    case form::thread:
      return ggas_put(to, from, bytes, timeout_ns);
    case form::warp:
      return ggas_put_warp(to, from, bytes, timeout_ns);
    case form::block:
      return ggas_put_block(to, from, bytes, timeout_ns);
    case form::grid:
      return ggas_put_nbi_grid(to, from, bytes, timeout_ns);
  }
  return ggas_bad_argument;
}
GGAS_DEVICE ggas_status get_as(form by, char* to, const char* from, uint64_t bytes) {
  switch (by) {
    case form::thread:
      return ggas_get(to, from, bytes, timeout_ns);
    case form::warp:
      return ggas_get_warp(to, from, bytes, timeout_ns);
    case form::block:
      return ggas_get_block(to, from, bytes, timeout_ns);
    case form::grid:
      return ggas_get_nbi_grid(to, from, bytes, timeout_ns);
  }
  return ggas_bad_argument;
}

// Node 0 puts to the last node, which gets it from node 0 into another place.
__global__ void GGAS_LAUNCH_BOUNDS(256) put_some(transfer_args a) {
  ggas_status s = ggas_ok;
  if (takes_part(a.by))
    s = put_as(a.by, ggas_pointer_of_node<char>(ggas_nodes() - 1, a.at.copy + a.to), own<char>(a.at.data + a.from),
               a.bytes);
  own<outcome>(a.at.outcomes)[bench::global_thread()] = {0, 0, 0, static_cast<uint64_t>(s)};
}
__global__ void GGAS_LAUNCH_BOUNDS(256) get_some(transfer_args a) {
  ggas_status s = ggas_ok;
  if (takes_part(a.by))
    s = get_as(a.by, own<char>(a.at.copy + (1u << 20) + a.to), ggas_pointer_of_node<char>(0, a.at.data + a.from),
               a.bytes);
  own<outcome>(a.at.outcomes)[bench::global_thread()] = {0, 0, 0, static_cast<uint64_t>(s)};
}

class transfers : public rig {
 protected:
  static constexpr unsigned threads = 96;

  void SetUp() override {
    rig::SetUp();
    for (uint64_t i = 0; i < source_.size(); ++i) source_[i] = static_cast<char>(pattern(3, 0, i));
    write(0, at.data, source_);
  }

  // What lies at `offset` of a node: the transfer, and nothing touched around it.
  void check_target(int node, uint64_t offset, const transfer_args& a, const std::string& what) {
    const auto found = read<char>(node, offset + a.to - margin, a.bytes + 2 * margin);
    for (uint64_t i = 0; i < found.size(); ++i) {
      const bool inside = i >= margin && i < margin + a.bytes;
      ASSERT_EQ(found[i], inside ? source_[a.from + i - margin] : 'x') << what << ", byte " << i;
    }
  }

  void move(form by, uint64_t bytes, uint64_t from, uint64_t to) {
    const transfer_args a{at, by, bytes, from, to, 0};
    const std::string what = std::to_string(bytes) + " bytes from " + std::to_string(from) + " to " +
                             std::to_string(to) + ", form " + std::to_string(static_cast<int>(by));
    const int last = nodes() - 1;
    const uint64_t target = at.copy, back = at.copy + (1u << 20);
    write(last, target + to - margin, std::vector<char>(bytes + 2 * margin, 'x'));
    write(last, back + to - margin, std::vector<char>(bytes + 2 * margin, 'x'));
    const unsigned blocks = by == form::grid ? 3 : 1;
    start(0, blocks, threads, put_some, a);
    run(what);
    check_outcomes(0, blocks * threads, what);
    start(last, blocks, threads, get_some, a);
    run(what);
    check_outcomes(last, blocks * threads, what);
    check_target(last, target, a, "put of " + what);
    check_target(last, back, a, "get of " + what);
  }

 private:
  static constexpr uint64_t margin = 32;
  std::vector<char> source_ = std::vector<char>(1u << 20);
};

// Every alignment of source and target against each other, with a length that ends anywhere.
TEST_F(transfers, every_alignment) {
  for (uint64_t from = 0; from < 16; ++from) {
    for (uint64_t to = 0; to < 16; ++to) move(form::block, 5000 + 7 * from + to, from, 64 + to);
  }
}

TEST_F(transfers, every_form_and_odd_sizes) {
  for (form by : {form::thread, form::warp, form::block, form::grid}) {
    for (uint64_t bytes : {1u, 2u, 3u, 7u, 8u, 15u, 16u, 17u, 24u, 31u, 33u, 63u, 100u, 1000u, 4096u, 65537u}) {
      for (uint64_t shift : {0u, 4u, 8u, 11u}) move(by, bytes, shift, 64 + (shift == 11 ? 2 : 0));
    }
  }
}

// Words of 8 bytes are never torn, whatever the neighbours: a reader sees old or new ones.
__global__ void put_words(places at, uint64_t rounds) {
  outcome out{0, 0, 0, ggas_ok};
  constexpr uint64_t words = 33;
  const uint64_t flag_at = at.base;
  if (ggas_node() == 0) {
    for (uint64_t r = 1; r <= rounds && out.status == ggas_ok; ++r) {
      for (uint64_t i = thread_rank(); i < words; i += thread_count()) own<uint64_t>(at.data + 8)[i] = r << 32 | r;
      out.status =
          ggas_put_block(ggas_pointer_of_node<uint64_t>(1, at.copy), own<uint64_t>(at.data + 8), words, timeout_ns);
      __syncthreads();
    }
    if (thread_rank() == 0) ggas_store(ggas_pointer_of_node<uint64_t>(1, flag_at), uint64_t{1}, ggas_release);
  } else if (ggas_node() == 1) {
    while (ggas_load(own<uint64_t>(flag_at), ggas_acquire) == 0) {
      for (uint64_t i = thread_rank(); i < words; i += thread_count()) {
        const uint64_t v = ggas_load(own<uint64_t>(at.copy) + i);
        out.errors += v >> 32 != (v & 0xffffffff);
      }
    }
  }
  own<outcome>(at.outcomes)[thread_rank()] = out;
}

TEST_F(rig, words_are_not_torn) {
  GGAS_NEEDS_NODES(2);
  for (int n = 0; n < 2; ++n) start(n, 1, 64, put_words, at, uint64_t{2000});
  run("put_words");
  for (int n = 0; n < 2; ++n) check_outcomes(n, 64, "put_words");
}

// Puts without completion to every other node in turn, then a quiet; strided ones between.
__global__ void put_to_all(places at, uint64_t rounds) {
  outcome out{0, 0, 0, ggas_ok};
  const auto keep = [&](ggas_status s) {
    if (s != ggas_ok) out.status = s;
  };
  const int me = ggas_node(), nodes = ggas_nodes();
  auto* const here = own<uint32_t>(at.data);
  for (uint64_t i = thread_rank(); i < 1024; i += thread_count()) here[i] = static_cast<uint32_t>(me * 10000 + i);
  for (uint64_t r = 0; r < rounds; ++r) {
    const int to = static_cast<int>((static_cast<uint64_t>(me) + 1 + r) % static_cast<uint64_t>(nodes));
    auto* const there = ggas_pointer_of_node<uint32_t>(to, at.copy) + me * 4096;
    keep(ggas_put_nbi_block(there, here, 1024, timeout_ns));
    if (thread_rank() < 32) keep(ggas_iput_nbi_warp(there + 1024, here, 2, 1, 512, timeout_ns));
    if (thread_rank() == 0) keep(ggas_iput_nbi(there + 2048, here + 1023, 1, -1, 100, timeout_ns));
  }
  keep(ggas_quiet_block());
  keep(ggas_barrier_block(timeout_ns));
  for (int n = 0; n < nodes; ++n) {
    const auto* const got = own<uint32_t>(at.copy) + n * 4096;
    for (uint64_t i = thread_rank(); i < 1024; i += thread_count()) out.errors += ggas_load(got + i) != n * 10000 + i;
    for (uint64_t i = thread_rank(); i < 512; i += thread_count())
      out.errors += ggas_load(got + 1024 + 2 * i) != n * 10000 + i;
    for (uint64_t i = thread_rank(); i < 100; i += thread_count())
      out.errors += ggas_load(got + 2048 + i) != n * 10000 + 1023 - i;
  }
  own<outcome>(at.outcomes)[thread_rank()] = out;
}

TEST_F(rig, puts_without_completion_to_all_nodes) {
  start_all(1, 128, put_to_all, at, static_cast<uint64_t>(nodes()));
  run("put_to_all");
  check_all_outcomes(128, "put_to_all");
}

// Data of changing size, then the word: who sees the word sees the data. Set and add, by thread, warp and block.
__global__ void GGAS_LAUNCH_BOUNDS(256) signals_in_a_ring(places at, uint64_t rounds) {
  outcome out{0, 0, 0, ggas_ok};
  const int me = ggas_node(), nodes = ggas_nodes(), right = (me + 1) % nodes, left = (me + nodes - 1) % nodes;
  auto* const here = own<uint64_t>(at.data);
  auto* const got = own<uint64_t>(at.copy);
  auto* const there = ggas_pointer_of_node<uint64_t>(right, at.copy);
  auto* const signal = own<uint64_t>(at.base);
  auto* const its_signal = ggas_pointer_of_node<uint64_t>(right, at.base);
  auto* const its_ack = ggas_pointer_of_node<uint64_t>(left, at.base + 64);
  for (uint64_t r = 1; r <= rounds && out.status == ggas_ok; ++r) {
    const uint64_t n = r % 7 == 0 ? 5000 : r % 5 == 0 ? 300 : r % 3 == 0 ? 1 : 20;
    for (uint64_t i = thread_rank(); i < n; i += thread_count()) here[i] = r * 1000000 + i + me;
    __syncthreads();
    const ggas_signal_op op = r % 2 == 0 ? ggas_signal_set : ggas_signal_add;
    const uint64_t v = op == ggas_signal_set ? r : 1;
    ggas_status s = ggas_ok;
    if (r % 4 == 0) {
      if (thread_rank() == 0) s = ggas_put_signal(there, here, n, its_signal, v, op, timeout_ns);
    } else if (r % 4 == 1) {
      if (thread_rank() < 32) s = ggas_put_signal_nbi_warp(there, here, n, its_signal, v, op, timeout_ns);
    } else {
      s = ggas_put_signal_nbi_block(there, here, n, its_signal, v, op, timeout_ns);
    }
    const ggas_status seen = ggas_wait_until_block(signal, ggas_ge, r, timeout_ns);
    out.status = s == ggas_ok ? seen : s;
    for (uint64_t i = thread_rank(); i < n; i += thread_count())
      out.errors += ggas_load(got + i) != r * 1000000 + i + static_cast<uint64_t>(left);
    __syncthreads();
    if (thread_rank() == 0) ggas_put_value_nbi(its_ack, r, timeout_ns);
    if (ggas_wait_until_block(own<uint64_t>(at.base + 64), ggas_ge, r, timeout_ns) != ggas_ok) out.status = 9;
  }
  own<outcome>(at.outcomes)[thread_rank()] = out;
}

TEST_F(rig, data_is_there_behind_its_signal) {
  start_all(1, 256, signals_in_a_ring, at, uint64_t{3000});
  run("signals_in_a_ring");
  check_all_outcomes(256, "signals_in_a_ring");
}

// Data goes to one node, word of it over a second one to a third.
__global__ void tell_over_a_third_node(places at, uint64_t rounds) {
  outcome out{0, 0, 0, ggas_ok};
  const int me = ggas_node();
  for (uint64_t r = 1; r <= rounds && out.status == ggas_ok; ++r) {
    if (me == 0) {
      ggas_store(ggas_pointer_of_node<uint64_t>(2, at.data), r);
      out.status = ggas_quiet();
      ggas_store(ggas_pointer_of_node<uint64_t>(1, at.base), r);
      if (out.status == ggas_ok) out.status = ggas_wait_until(own<uint64_t>(at.base), ggas_eq, r, timeout_ns);
    } else if (me == 1) {
      out.status = ggas_wait_until(own<uint64_t>(at.base), ggas_eq, r, timeout_ns);
      ggas_store(ggas_pointer_of_node<uint64_t>(2, at.base), r, ggas_release);
    } else if (me == 2) {
      out.status = ggas_wait_until(own<uint64_t>(at.base), ggas_eq, r, timeout_ns);
      out.errors += ggas_load(own<uint64_t>(at.data)) != r;
      ggas_store(ggas_pointer_of_node<uint64_t>(0, at.base), r, ggas_release);
    }
  }
  own<outcome>(at.outcomes)[thread_rank()] = out;
}

TEST_F(rig, word_of_data_goes_over_a_third_node) {
  GGAS_NEEDS_NODES(3);
  start_all(1, 1, tell_over_a_third_node, at, uint64_t{5000});
  run("tell_over_a_third_node");
  check_all_outcomes(1, "tell_over_a_third_node");
}

}  // namespace
}  // namespace ggas::gpu_test
