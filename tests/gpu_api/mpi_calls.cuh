// SPDX-License-Identifier: Apache-2.0
// MPI in kernels: each function compared with the MPI standard, for the kind of rank that GGAS_MPI_RANK names. One
// source for the host engine, the simulator and GPUs.
#pragma once

#include "ggas/mpi.cuh"
#include "tests/gpu_api/calls_found.cuh"

#define MPI_TEST_DEVICE GGAS_DEVICE
#define TOGETHER ::ggas::mpi::rank_group{}.sync()
#include "tests/gpu_api/mpi_communicators.h"

namespace ggas::calls {

struct mpi_args {
  ggas_messages world;
  uint64_t scratch;  // offset of scratch_bytes of each rank of a node
  uint64_t outcomes;
  uint64_t scratch_bytes;
  uint64_t seed;
  int most;  // elements of a rank in a collective
};
constexpr uint64_t mpi_scratch(uint64_t ranks, uint64_t most) {
  return (256 + 2 * ranks * (most < 3 ? 3 : most) * 8 + COMM_TEST_NUMBERS(0) * 4 + 63) / 64 * 64;
}

class mpi_program {
 public:
  using G = mpi::rank_group;
  GGAS_DEVICE mpi_program(const mpi_args& a, found& f) : a_(a), f_(f) {
    ok(MPI_Init(static_cast<void*>(nullptr)), __LINE__);
    ok(MPI_Comm_rank(MPI_COMM_WORLD, &me_), __LINE__);
    ok(MPI_Comm_size(MPI_COMM_WORLD, &ranks_), __LINE__);
    const auto index = static_cast<uint64_t>(me_ % detail::ranks_of_node(mpi::world()));
    own_ = bench::own<char>(a.scratch + index * a.scratch_bytes);
    other_ = me_ ^ 1;
  }

  // ---- groups and communicators

  GGAS_DEVICE void communicators() {
    auto* const own = reinterpret_cast<int*>(own_);
    is(comm_split(me_, ranks_, own), 0, __LINE__);
    if (all_good()) is(comm_groups(me_, ranks_, own), 0, __LINE__);
    if (all_good()) is(comm_lists(me_, ranks_, own), 0, __LINE__);
  }

  // The root of broadcasts is at most one barrier ahead of a rank that is slow.
  GGAS_DEVICE void runs_ahead() {
    MPI_Comm all;
    MPI_Status s;
    auto* const own = reinterpret_cast<int*>(own_);
    const int last = ranks_ - 1, of_node = detail::ranks_of_node(mpi::world());
    const uint64_t at = a_.scratch + static_cast<uint64_t>(last % of_node) * a_.scratch_bytes;
    const int* const slow = ggas_pointer_of_node<int>(last / of_node, at);
    g_.sync();
    if (g_.leads()) ggas_store(own, 0);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &all), __LINE__);
    for (int k = 1; k <= 40; ++k) {
      int flag = 0;
      for (int i = 0; i < 50 && me_ == last; ++i)
        ok(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s), __LINE__);
      ok(MPI_Bcast(own + 4, 1, MPI_INT, 0, all), __LINE__);
      if (g_.leads()) ggas_store(own, k);
      f_.want(me_ != 0 || k - ggas_load(slow) <= mpi::open_at_once + 1, __LINE__);
    }
    ok(MPI_Barrier(all), __LINE__);
    ok(MPI_Comm_free(&all), __LINE__);
  }

  // ---- messages of ranks 2k and 2k + 1

  GGAS_DEVICE void messages() {
    auto* const v = reinterpret_cast<int*>(own_);
    MPI_Status s;
    int n = 0;
    if (g_.leads()) v[0] = me_, v[1] = 2 * me_;
    if (me_ % 2 == 0) {
      ok(MPI_Send(v, 2, MPI_INT, other_, 3, MPI_COMM_WORLD), __LINE__);
      ok(MPI_Send(v, 2, MPI_INT, other_, 4, MPI_COMM_WORLD), __LINE__);
      ok(MPI_Send(v, 2, MPI_INT, other_, 5, MPI_COMM_WORLD), __LINE__);
    } else {
      is(MPI_Recv(v + 4, 2, MPI_FLOAT, other_, 3, MPI_COMM_WORLD, &s), MPI_ERR_TYPE, __LINE__);
      f_.want(s.MPI_ERROR == MPI_ERR_TYPE && s.MPI_SOURCE == other_ && s.MPI_TAG == 3, __LINE__);
      is(MPI_Recv(v + 4, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &s), MPI_ERR_TRUNCATE, __LINE__);
      ok(MPI_Get_count(&s, MPI_INT, &n), __LINE__);
      f_.want(n == 2 && v[4] == 0 && v[5] == 0, __LINE__);
      ok(MPI_Recv(v + 4, 8, MPI_PACKED, other_, MPI_ANY_TAG, MPI_COMM_WORLD, &s), __LINE__);
      g_.sync();
      f_.want(v[4] == other_ && v[5] == 2 * other_ && s.MPI_TAG == 5, __LINE__);
    }
    g_.sync();
    ok(MPI_Sendrecv(v, 1, MPI_INT, other_, 6, v + 8, 1, MPI_INT, other_, 6, MPI_COMM_WORLD, &s), __LINE__);
    ok(MPI_Sendrecv_replace(v, 1, MPI_INT, (me_ + 1) % ranks_, 7, (me_ + ranks_ - 1) % ranks_, 7, MPI_COMM_WORLD, &s),
       __LINE__);
    g_.sync();
    f_.want(v[8] == other_ && v[0] == (me_ + ranks_ - 1) % ranks_, __LINE__);
    int flag = 1;
    ok(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s), __LINE__);
    ok(MPI_Barrier(MPI_COMM_WORLD), __LINE__);
  }

  GGAS_DEVICE void requests() {
    auto* const v = reinterpret_cast<int*>(own_);
    MPI_Request r[4];
    MPI_Status s[4];
    int index = 0, flag = 0;
    g_.sync();
    if (g_.leads()) v[0] = 10 + me_, v[1] = 20 + me_;
    ok(MPI_Irecv(v + 4, 1, MPI_INT, other_, 1, MPI_COMM_WORLD, r), __LINE__);
    ok(MPI_Irecv(v + 5, 1, MPI_INT, other_, 2, MPI_COMM_WORLD, r + 1), __LINE__);
    ok(MPI_Isend(v + 1, 1, MPI_INT, other_, 2, MPI_COMM_WORLD, r + 2), __LINE__);
    ok(MPI_Isend(v, 1, MPI_INT, other_, 1, MPI_COMM_WORLD, r + 3), __LINE__);
    ok(MPI_Waitany(4, r, &index, s), __LINE__);
    f_.want(index >= 0 && index < 4, __LINE__);
    ok(MPI_Waitall(4, r, s), __LINE__);
    ok(MPI_Testall(4, r, &flag, s), __LINE__);
    g_.sync();
    f_.want(flag && v[4] == 10 + other_ && v[5] == 20 + other_, __LINE__);
    ok(MPI_Send_init(v, 1, MPI_INT, other_, 3, MPI_COMM_WORLD, r), __LINE__);
    ok(MPI_Recv_init(v + 6, 1, MPI_INT, other_, 3, MPI_COMM_WORLD, r + 1), __LINE__);
    for (int k = 0; k < 3; ++k) {
      g_.sync();
      if (g_.leads()) v[0] = 100 * k + me_;
      ok(MPI_Startall(2, r), __LINE__);
      ok(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), __LINE__);
      g_.sync();
      f_.want(v[6] == 100 * k + other_, __LINE__);
    }
    ok(MPI_Request_free(r), __LINE__);
    is(MPI_Start(r), MPI_ERR_REQUEST, __LINE__);
  }

  GGAS_DEVICE void arguments() {
    auto* const v = reinterpret_cast<int*>(own_);
    MPI_Status s;
    is(MPI_Send(v, -1, MPI_INT, other_, 0, MPI_COMM_WORLD), MPI_ERR_COUNT, __LINE__);
    is(MPI_Send(v, 1, MPI_DATATYPE_NULL, other_, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, __LINE__);
    is(MPI_Send(v, 1, MPI_INT, ranks_, 0, MPI_COMM_WORLD), MPI_ERR_RANK, __LINE__);
    is(MPI_Send(v, 1, MPI_INT, other_, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG, __LINE__);
    is(MPI_Send(v, 1, MPI_INT, other_, 0, MPI_COMM_NULL), MPI_ERR_COMM, __LINE__);
    is(MPI_Send(nullptr, 1, MPI_INT, other_, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER, __LINE__);
    is(MPI_Recv(v, 1, MPI_INT, -7, 0, MPI_COMM_WORLD, &s), MPI_ERR_RANK, __LINE__);
    ok(MPI_Send(v, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD), __LINE__);
    ok(MPI_Recv(v, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &s), __LINE__);
    f_.want(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && s.recv_bytes == 0, __LINE__);
    // One rank errs: it learns so, the others go on.
    is(MPI_Barrier(me_ == 1 ? MPI_COMM_NULL : MPI_COMM_WORLD), me_ == 1 ? MPI_ERR_COMM : MPI_SUCCESS, __LINE__);
    g_.sync();
    if (g_.leads()) v[0] = 1, v[1] = 0;
    g_.sync();
    is(MPI_Allreduce(v, v + 1, me_ == 1 ? -1 : 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
       me_ == 1 ? MPI_ERR_COUNT : MPI_SUCCESS, __LINE__);
    f_.want(v[1] == (me_ == 1 ? 0 : ranks_ - 1), __LINE__);
    is(MPI_Allreduce(v, v + 1, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP, __LINE__);
    is(MPI_Bcast(v, 1, MPI_INT, ranks_, MPI_COMM_WORLD), MPI_ERR_ROOT, __LINE__);
    g_.sync();
  }

  GGAS_DEVICE void packed() {
    char* const at = own_;
    auto* const v = reinterpret_cast<double*>(own_ + 64);
    int position = 0, size = 0;
    g_.sync();
    if (g_.leads()) at[40] = 'x', v[0] = 2.5, v[1] = 0;
    ok(MPI_Pack(at + 40, 1, MPI_CHAR, at, 16, &position, MPI_COMM_WORLD), __LINE__);
    ok(MPI_Pack(v, 1, MPI_DOUBLE, at, 16, &position, MPI_COMM_WORLD), __LINE__);
    is(MPI_Pack(v, 1, MPI_DOUBLE, at, 16, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE, __LINE__);
    ok(MPI_Pack_size(2, MPI_DOUBLE, MPI_COMM_WORLD, &size), __LINE__);
    f_.want(position == 9 && size == 16, __LINE__);
    position = 1;
    ok(MPI_Unpack(at, 9, &position, v + 1, 1, MPI_DOUBLE, MPI_COMM_WORLD), __LINE__);
    f_.want(position == 9 && v[1] == 2.5 && at[0] == 'x', __LINE__);
  }

  // What waits is there until it is received; requests are tested, one is given up.
  GGAS_DEVICE void looks() {
    auto* const v = reinterpret_cast<int*>(own_);
    MPI_Status s;
    MPI_Request r[2];
    int flag = 0, index = 0, n = 0, major = 0, minor = -1;
    ok(MPI_Get_version(&major, &minor), __LINE__);
    f_.want(major == 2 && minor == 1 && MPI_Wtime() > 0, __LINE__);
    g_.sync();
    if (g_.leads()) v[0] = me_, v[1] = -1;
    ok(MPI_Send(v, 1, MPI_INT, other_, 8, MPI_COMM_WORLD), __LINE__);
    ok(MPI_Probe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &s), __LINE__);
    for (int again = 0; again < 2; ++again) {
      ok(MPI_Iprobe(other_, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s), __LINE__);
      ok(MPI_Get_count(&s, MPI_INT, &n), __LINE__);
      f_.want(flag && n == 1 && s.MPI_SOURCE == other_ && s.MPI_TAG == 8, __LINE__);
    }
    is(MPI_Probe(ranks_, 8, MPI_COMM_WORLD, &s), MPI_ERR_RANK, __LINE__);
    ok(MPI_Probe(MPI_PROC_NULL, 8, MPI_COMM_WORLD, &s), __LINE__);
    f_.want(s.MPI_SOURCE == MPI_PROC_NULL, __LINE__);
    ok(MPI_Irecv(v + 1, 1, MPI_INT, other_, 8, MPI_COMM_WORLD, r), __LINE__);
    ok(MPI_Irecv(v + 2, 1, MPI_INT, other_, 9, MPI_COMM_WORLD, r + 1), __LINE__);
    ok(MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE), __LINE__);  // the first one stays, as the second has not ended
    f_.want(!flag, __LINE__);
    ok(MPI_Wait(r, &s), __LINE__);
    g_.sync();
    f_.want(v[1] == other_ && s.MPI_TAG == 8, __LINE__);
    ok(MPI_Test(r + 1, &flag, &s), __LINE__);
    f_.want(!flag, __LINE__);
    ok(MPI_Testany(2, r, &index, &flag, &s), __LINE__);
    f_.want(!flag && index == MPI_UNDEFINED, __LINE__);
    ok(MPI_Cancel(r + 1), __LINE__);
    ok(MPI_Barrier(MPI_COMM_WORLD), __LINE__);
  }

  // Rank r has r % 3 + 1 numbers, which lie one apart; of each for another one, (from + to) % 3.
  GGAS_DEVICE void vectors() {
    auto *const from = reinterpret_cast<int*>(own_ + 128), *const to = from + 3 * ranks_,
                *const counts = to + 4 * ranks_, *const places = counts + ranks_, *const to_counts = places + ranks_,
                *const to_places = to_counts + ranks_;
    const auto part = [](int rank) { return rank % 3 + 1; };
    const auto begin = [&] {
      g_.sync();
      for (int i = static_cast<int>(g_.rank()); i < 4 * ranks_; i += static_cast<int>(g_.size())) to[i] = -1;
      for (int i = 0; i < 3 * ranks_ && g_.leads(); ++i) from[i] = 1000 * me_ + i;
      for (int r = 0; r < ranks_ && g_.leads(); ++r) counts[r] = part(r), places[r] = 4 * r;
      g_.sync();
    };
    const auto gathered = [&] {
      bool good = true;
      for (int r = 0; r < ranks_; ++r)
        for (int i = 0; i < 4; ++i) good &= to[4 * r + i] == (i < part(r) ? 1000 * r + i : -1);
      return good;
    };
    const int root = ranks_ - 1;
    begin();
    ok(MPI_Gatherv(from, part(me_), MPI_INT, to, counts, places, MPI_INT, root, MPI_COMM_WORLD), __LINE__);
    f_.want(me_ != root || gathered(), __LINE__);
    begin();
    ok(MPI_Allgatherv(from, part(me_), MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD), __LINE__);
    f_.want(gathered(), __LINE__);
    begin();
    if (g_.leads())
      for (int r = 0; r < ranks_; ++r) places[r] = 2 * r;
    g_.sync();
    ok(MPI_Scatterv(from, counts, places, MPI_INT, to, part(me_), MPI_INT, root, MPI_COMM_WORLD), __LINE__);
    bool good = true;
    for (int i = 0; i < 4; ++i) good &= to[i] == (i < part(me_) ? 1000 * root + 2 * me_ + i : -1);
    f_.want(good, __LINE__);
    begin();
    if (g_.leads())
      for (int r = 0; r < ranks_; ++r)
        counts[r] = to_counts[r] = (me_ + r) % 3, places[r] = 2 * r, to_places[r] = 3 * r;
    g_.sync();
    ok(MPI_Alltoallv(from, counts, places, MPI_INT, to, to_counts, to_places, MPI_INT, MPI_COMM_WORLD), __LINE__);
    for (int r = 0; r < ranks_; ++r)
      for (int i = 0; i < 3; ++i) good &= to[3 * r + i] == (i < (me_ + r) % 3 ? 1000 * r + 2 * me_ + i : -1);
    f_.want(good, __LINE__);
    g_.sync();
    if (g_.leads()) counts[0] = -1;
    g_.sync();
    is(MPI_Allgatherv(from, 1, MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT, __LINE__);
    g_.sync();
  }

  GGAS_DEVICE void finalize() { ok(MPI_Finalize(), __LINE__); }

  // ---- collectives, with a message under way all the time

  template <class T>
  GGAS_DEVICE T number(int rank, uint64_t i) const {
    return static_cast<T>(bench::pattern(a_.seed, static_cast<uint64_t>(rank), i) % 100);
  }
  template <class T>
  GGAS_DEVICE void collectives(MPI_Datatype type, uint64_t dice) {
    const int n = static_cast<int>(dice % static_cast<uint64_t>(a_.most)) + 1,
              root = static_cast<int>(dice >> 8) % ranks_;
    auto *const from = reinterpret_cast<T*>(own_ + 128), *const to = from + ranks_ * a_.most;
    const auto count = static_cast<uint64_t>(n), all = count * static_cast<uint64_t>(ranks_);
    const auto fill = [&] {
      g_.sync();
      for (uint64_t i = g_.rank(); i < all; i += g_.size()) from[i] = number<T>(me_, i), to[i] = T{};
      g_.sync();
    };
    const auto equals = [&](uint64_t elements, auto want, int line) {
      g_.sync();
      bool good = true;
      for (uint64_t i = g_.rank(); i < elements; i += g_.size()) good &= to[i] == want(i);
      f_.want(good, line);
    };
    auto* const token = reinterpret_cast<int*>(own_ + 64);
    if (g_.leads()) token[0] = me_;
    g_.sync();
    ok(MPI_Send(token, 1, MPI_INT, other_, 77, MPI_COMM_WORLD), __LINE__);

    fill();
    ok(MPI_Bcast(me_ == root ? from : to, n, type, root, MPI_COMM_WORLD), __LINE__);
    if (me_ != root)
      equals(
          count, [&](uint64_t i) { return number<T>(root, i); }, __LINE__);
    fill();
    ok(MPI_Gather(from, n, type, to, n, type, root, MPI_COMM_WORLD), __LINE__);
    if (me_ == root)
      equals(
          all, [&](uint64_t i) { return number<T>(static_cast<int>(i / count), i % count); }, __LINE__);
    if (me_ != root)
      equals(
          all, [](uint64_t) { return T{}; }, __LINE__);
    fill();
    ok(MPI_Scatter(from, n, type, to, n, type, root, MPI_COMM_WORLD), __LINE__);
    equals(
        count, [&](uint64_t i) { return number<T>(root, static_cast<uint64_t>(me_) * count + i); }, __LINE__);
    fill();
    ok(MPI_Allgather(from, n, type, to, n, type, MPI_COMM_WORLD), __LINE__);
    equals(
        all, [&](uint64_t i) { return number<T>(static_cast<int>(i / count), i % count); }, __LINE__);
    fill();
    ok(MPI_Alltoall(from, n, type, to, n, type, MPI_COMM_WORLD), __LINE__);
    equals(
        all,
        [&](uint64_t i) {
          return number<T>(static_cast<int>(i / count), static_cast<uint64_t>(me_) * count + i % count);
        },
        __LINE__);

    for (const MPI_Op op : {MPI_SUM, MPI_MIN, MPI_MAX}) {
      const auto folded = [&](uint64_t i, int last) {
        T v = number<T>(0, i);
        for (int r = 1; r < last; ++r) v = mpi::combined(op, v, number<T>(r, i));
        return v;
      };
      fill();
      ok(MPI_Reduce(from, to, n, type, op, root, MPI_COMM_WORLD), __LINE__);
      equals(
          count, [&](uint64_t i) { return me_ == root ? folded(i, ranks_) : T{}; }, __LINE__);
      fill();
      ok(MPI_Allreduce(from, to, n, type, op, MPI_COMM_WORLD), __LINE__);
      equals(
          count, [&](uint64_t i) { return folded(i, ranks_); }, __LINE__);
      fill();
      ok(MPI_Scan(from, to, n, type, op, MPI_COMM_WORLD), __LINE__);
      equals(
          count, [&](uint64_t i) { return folded(i, me_ + 1); }, __LINE__);
      fill();
      ok(MPI_Exscan(from, to, n, type, op, MPI_COMM_WORLD), __LINE__);
      equals(
          count, [&](uint64_t i) { return me_ == 0 ? T{} : folded(i, me_); }, __LINE__);
    }
    const auto sum = [&](uint64_t i) {
      T v{};
      for (int r = 0; r < ranks_; ++r) v = mpi::combined(MPI_SUM, v, number<T>(r, i));
      return v;
    };
    fill();
    ok(MPI_Reduce_scatter_block(from, to, n, type, MPI_SUM, MPI_COMM_WORLD), __LINE__);
    equals(
        all, [&](uint64_t i) { return i < count ? sum(static_cast<uint64_t>(me_) * count + i) : T{}; }, __LINE__);
    // Rank r gets r % (n + 1) numbers.
    int* const counts = mpi::new_memory<int>(ranks_);
    uint64_t first = 0;
    for (int r = 0; r < ranks_; ++r) {
      if (g_.leads()) counts[r] = r % (n + 1);
      if (r < me_) first += static_cast<uint64_t>(r % (n + 1));
    }
    fill();
    ok(MPI_Reduce_scatter(from, to, counts, type, MPI_SUM, MPI_COMM_WORLD), __LINE__);
    const auto mine = static_cast<uint64_t>(me_ % (n + 1));
    equals(
        count, [&](uint64_t i) { return i < mine ? sum(first + i) : T{}; }, __LINE__);
    g_.sync();
    if (g_.leads()) counts[0] = -1;
    g_.sync();
    is(MPI_Reduce_scatter(from, to, counts, type, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT, __LINE__);
    mpi::free_memory(counts);
    // In the original's way the root says so itself; in place.
    fill();
    for (uint64_t i = g_.rank(); i < count; i += g_.size()) to[i] = from[i];
    g_.sync();
    ok(MPI_Allreduce(MPI_IN_PLACE, to, n, type, MPI_MAX, MPI_COMM_WORLD), __LINE__);
    equals(
        count,
        [&](uint64_t i) {
          T v{};
          for (int r = 0; r < ranks_; ++r) v = mpi::combined(MPI_MAX, v, number<T>(r, i));
          return v;
        },
        __LINE__);
    g_.sync();
    if (g_.leads()) token[1] = -1;
    ok(MPI_Reduce(token, token + 1, 1, MPI_INT, MPI_SUM, me_ == root ? MPI_ROOT : root, MPI_COMM_WORLD), __LINE__);
    g_.sync();
    f_.want(token[1] == (me_ == root ? ranks_ * (ranks_ - 1) / 2 : -1), __LINE__);

    MPI_Status s;
    ok(MPI_Recv(token + 2, 1, MPI_INT, other_, 77, MPI_COMM_WORLD, &s), __LINE__);
    g_.sync();
    f_.want(token[2] == other_, __LINE__);
  }

  // ---- partitioned messages: the ranks of a pair send each other 12 numbers in 6 partitions, and receive them in 4

  // Of the segment, so that long ones are copied from memory to memory, or of other memory.
  GGAS_DEVICE void partitions() {
    const MPI_Datatype type = strided();
    exchange_parts(reinterpret_cast<int*>(own_), MPI_INT, 9, 1);  // longer than a record
    int* const other = mpi::new_memory<int>(2 * part_room);
    exchange_parts(other, MPI_INT, 1, 1);
    exchange_parts(other, MPI_INT, 20, 1);
    exchange_parts(other, type, 10, 2);
    wrong_parts(other);
    several_channels(other);
    mpi::free_memory(other);
    MPI_Datatype t = type;
    ok(MPI_Type_free(&t), __LINE__);
  }
  static constexpr int part_room = 12 * 20 * 2, most_turns = 1'000'000;

  // Two numbers, the second one apart from the first by one that no call touches.
  GGAS_DEVICE MPI_Datatype strided() {
    MPI_Datatype pair, made;
    ok(MPI_Type_vector(2, 1, 2, MPI_INT, &pair), __LINE__);
    ok(MPI_Type_create_resized(pair, 0, 16, &made), __LINE__);
    ok(MPI_Type_commit(&made), __LINE__);
    ok(MPI_Type_free(&pair), __LINE__);
    return made;
  }
  // By requests: while a rank waits in a collective, its partitions do not move on.
  GGAS_DEVICE void meet_other() {
    MPI_Request q[2];
    ok(MPI_Isend(nullptr, 0, MPI_INT, other_, 7, MPI_COMM_WORLD, q), __LINE__);
    ok(MPI_Irecv(nullptr, 0, MPI_INT, other_, 7, MPI_COMM_WORLD, q + 1), __LINE__);
    ok(MPI_Waitall(2, q, nullptr), __LINE__);
  }
  // Each partition of the sender has 2 * items elements; of `step` numbers one travels.
  GGAS_DEVICE void exchange_parts(int* from, MPI_Datatype type, int items, int step) {
    const int numbers = 12 * items * (step == 1 ? 1 : 2) * step;
    int* const to = from + numbers;
    MPI_Request r[2];
    MPI_Status s[2];
    ok(MPI_Psend_init(from, 6, 2 * items, type, other_, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r), __LINE__);
    ok(MPI_Precv_init(to, 4, 3 * items, type, other_, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r + 1), __LINE__);
    for (int round = 0; round < 3; ++round) {
      g_.sync();
      for (int i = 0; i < numbers && g_.leads(); ++i) from[i] = 1000 * round + 7 * me_ + i, to[i] = -1;
      g_.sync();
      ok(MPI_Startall(2, r), __LINE__);
      is(MPI_Start(r), MPI_ERR_REQUEST, __LINE__);
      int flag = 1;
      for (const int part : {4, 0, 5, 2, 1, 3}) {
        if (part == 3) {  // of the last one nothing has come, as no rank has sent it
          ok(MPI_Test(r, &flag, s), __LINE__);
          f_.want(!flag, __LINE__);
          for (int turn = 0; flag == 0 && turn < most_turns; ++turn) ok(MPI_Parrived(r[1], 3, &flag), __LINE__);
          f_.want(equal_parts(to, numbers / 4 * 3, numbers, round, step), __LINE__);
          meet_other();
          ok(MPI_Parrived(r[1], 2, &flag), __LINE__);
          f_.want(!flag, __LINE__);
          meet_other();
        }
        ok(MPI_Pready(part, r[0]), __LINE__);
      }
      is(MPI_Pready(3, r[0]), MPI_ERR_ARG, __LINE__);
      ok(MPI_Waitall(2, r, s), __LINE__);
      int n = 0;
      ok(MPI_Get_count(s + 1, type, &n), __LINE__);
      f_.want(n == 12 * items && s[1].MPI_SOURCE == other_ && s[1].MPI_TAG == 5, __LINE__);
      f_.want(equal_parts(to, 0, numbers, round, step), __LINE__);
      ok(MPI_Parrived(r[1], 0, &flag), __LINE__);
      f_.want(flag, __LINE__);
    }
    ok(MPI_Request_free(r), __LINE__);
    ok(MPI_Request_free(r + 1), __LINE__);
  }
  GGAS_DEVICE bool equal_parts(const int* to, int first, int numbers, int round, int step) {
    bool good = true;
    g_.sync();
    for (int i = first; i < numbers; ++i) good &= to[i] == (i % step == 0 ? 1000 * round + 7 * other_ + i : -1);
    g_.sync();
    return good;
  }
  // Sizes and types that differ, partitions that are not there, requests that have not begun.
  GGAS_DEVICE void wrong_parts(int* v) {
    MPI_Request r[2];
    MPI_Status s;
    int flag = 0;
    is(MPI_Psend_init(v, -1, 1, MPI_INT, other_, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r), MPI_ERR_ARG, __LINE__);
    is(MPI_Psend_init(v, 1, -1, MPI_INT, other_, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r), MPI_ERR_COUNT, __LINE__);
    is(MPI_Precv_init(v, 1, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r), MPI_ERR_RANK, __LINE__);
    is(MPI_Precv_init(v, 1, 1, MPI_INT, other_, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, r), MPI_ERR_TAG, __LINE__);
    is(MPI_Pready(0, r[0]), MPI_ERR_REQUEST, __LINE__);
    for (const bool type_differs : {true, false}) {
      g_.sync();
      if (g_.leads()) v[8] = -1;
      ok(MPI_Psend_init(v, 2, 2, MPI_INT, other_, 6, MPI_COMM_WORLD, MPI_INFO_NULL, r), __LINE__);
      ok(MPI_Precv_init(v + 8, type_differs ? 4 : 3, 1, type_differs ? MPI_FLOAT : MPI_INT, other_, 6, MPI_COMM_WORLD,
                        MPI_INFO_NULL, r + 1),
         __LINE__);
      is(MPI_Pready(0, r[0]), MPI_ERR_REQUEST, __LINE__);
      ok(MPI_Startall(2, r), __LINE__);
      is(MPI_Pready(2, r[0]), MPI_ERR_ARG, __LINE__);
      is(MPI_Parrived(r[1], 4, &flag), MPI_ERR_ARG, __LINE__);
      is(MPI_Parrived(r[0], 0, &flag), MPI_ERR_REQUEST, __LINE__);
      is(MPI_Wait(r, &s), MPI_ERR_REQUEST, __LINE__);  // not all are ready
      ok(MPI_Pready_range(0, 1, r[0]), __LINE__);
      is(MPI_Wait(r + 1, &s), type_differs ? MPI_ERR_TYPE : MPI_ERR_TRUNCATE, __LINE__);
      ok(MPI_Wait(r, &s), __LINE__);
      g_.sync();
      f_.want(v[8] == -1, __LINE__);
      ok(MPI_Request_free(r), __LINE__);
      ok(MPI_Request_free(r + 1), __LINE__);
    }
    ok(MPI_Psend_init(v, 2, 1, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, MPI_INFO_NULL, r), __LINE__);
    ok(MPI_Start(r), __LINE__);
    ok(MPI_Pready(1, r[0]), __LINE__);
    ok(MPI_Wait(r, &s), __LINE__);
    ok(MPI_Request_free(r), __LINE__);
  }
  // Of one tag: matched in the order in which they were made, next to a message of that tag.
  GGAS_DEVICE void several_channels(int* v) {
    MPI_Request r[4];
    MPI_Status s;
    const int order[] = {1, 0};
    g_.sync();
    for (int i = 0; i < 4 && g_.leads(); ++i) v[i] = 10 * me_ + i, v[4 + i] = -1;
    g_.sync();
    for (int k = 0; k < 2; ++k) {
      ok(MPI_Psend_init(v + 2 * k, 2, 1, MPI_INT, other_, 7, MPI_COMM_WORLD, MPI_INFO_NULL, r + k), __LINE__);
      ok(MPI_Precv_init(v + 4 + 2 * k, 2, 1, MPI_INT, other_, 7, MPI_COMM_WORLD, MPI_INFO_NULL, r + 2 + k), __LINE__);
    }
    ok(MPI_Startall(4, r), __LINE__);
    for (const int k : order) ok(MPI_Pready_list(2, order, r[k]), __LINE__);
    ok(MPI_Send(v, 1, MPI_INT, other_, 7, MPI_COMM_WORLD), __LINE__);
    ok(MPI_Recv(v + 8, 1, MPI_INT, other_, MPI_ANY_TAG, MPI_COMM_WORLD, &s), __LINE__);
    int flag = 0, index;
    for (int turn = 0; flag == 0 && turn < most_turns; ++turn)
      ok(MPI_Testall(4, r, &flag, MPI_STATUSES_IGNORE), __LINE__);
    ok(MPI_Waitany(4, r, &index, &s), __LINE__);
    f_.want(index == MPI_UNDEFINED, __LINE__);
    g_.sync();
    bool good = v[8] == 10 * other_;
    for (int i = 0; i < 4; ++i) good &= v[4 + i] == 10 * other_ + i;
    f_.want(good, __LINE__);
    is(MPI_Cancel(r), MPI_ERR_REQUEST, __LINE__);
    for (MPI_Request& one : r) ok(MPI_Request_free(&one), __LINE__);
  }

  // ---- windows

  GGAS_DEVICE void windows() {
    auto* const v = reinterpret_cast<int*>(own_ + 128);
    MPI_Win win;
    g_.sync();
    for (int i = 0; i < ranks_ && g_.leads(); ++i) v[i] = -1;
    if (g_.leads()) v[ranks_] = me_;
    ok(MPI_Win_create(v, 4 * ranks_, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), __LINE__);
    for (int r = 0; r < ranks_; ++r) ok(MPI_Put(v + ranks_, 1, MPI_INT, r, me_, 1, MPI_INT, win), __LINE__);
    is(MPI_Put(v, 1, MPI_INT, 0, ranks_, 1, MPI_INT, win), MPI_ERR_DISP, __LINE__);
    is(MPI_Put(v, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP, __LINE__);
    is(MPI_Put(v, 1, MPI_INT, ranks_, 0, 1, MPI_INT, win), MPI_ERR_RANK, __LINE__);
    is(MPI_Put(v, 1, MPI_INT, 0, 0, 1, MPI_INT, {9}), MPI_ERR_WIN, __LINE__);
    ok(MPI_Win_fence(0, win), __LINE__);
    bool good = true;
    for (int i = 0; i < ranks_; ++i) good &= ggas_load(v + i) == i;
    f_.want(good, __LINE__);
    ok(MPI_Get(v + ranks_ + 1, 1, MPI_INT, other_, me_, 1, MPI_INT, win), __LINE__);
    f_.want(v[ranks_ + 1] == me_, __LINE__);
    ok(MPI_Win_free(&win), __LINE__);
    is(MPI_Win_fence(0, win), MPI_ERR_WIN, __LINE__);
    shared_window();
    window_of_node();
    is(MPI_Accumulate(v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_UNSUPPORTED_OPERATION, __LINE__);
  }
  // Memory that is not in the segment is reached within the node; a rank's variable is refused, and a part of the
  // ranks.
  GGAS_DEVICE void window_of_node() {
    int* const cell = mpi::new_memory<int>(2);
    int variable = 0;
    MPI_Win win;
    MPI_Comm part;
    g_.sync();
    if (g_.leads()) cell[0] = -1, cell[1] = me_;
    is(MPI_Win_create(&variable, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BUFFER, __LINE__);
    ok(MPI_Win_free(&win), __LINE__);
    ok(MPI_Comm_split(MPI_COMM_WORLD, me_, 0, &part), __LINE__);
    is(MPI_Win_create(cell, 4, 4, MPI_INFO_NULL, part, &win), MPI_ERR_COMM, __LINE__);
    ok(MPI_Comm_free(&part), __LINE__);
    ok(MPI_Win_create(cell, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), __LINE__);
    const int of_node = detail::ranks_of_node(mpi::world());
    const bool near = me_ / of_node == other_ / of_node;
    is(MPI_Put(cell + 1, 1, MPI_INT, other_, 0, 1, MPI_INT, win), near ? MPI_SUCCESS : MPI_ERR_DISP, __LINE__);
    ok(MPI_Win_fence(0, win), __LINE__);
    f_.want(cell[0] == (near ? other_ : -1), __LINE__);
    ok(MPI_Win_free(&win), __LINE__);
    mpi::free_memory(cell);
  }
  GGAS_DEVICE void shared_window() {
    GGAS_SHARED_ARRAY(int, cells, 1024);
    int* const mine = cells + detail::index_of_caller(mpi::world()) % detail::ranks_of_block(mpi::world());
    MPI_Win win;
    ok(MPI_Win_create(mine, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), __LINE__);
    const bool near = me_ / static_cast<int>(detail::ranks_of_block(mpi::world())) ==
                      other_ / static_cast<int>(detail::ranks_of_block(mpi::world()));
    auto* const v = reinterpret_cast<int*>(own_);
    g_.sync();
    if (g_.leads()) v[0] = me_;
    is(MPI_Put(v, 1, MPI_INT, other_, 0, 1, MPI_INT, win), near ? MPI_SUCCESS : MPI_ERR_DISP, __LINE__);
    ok(MPI_Win_fence(0, win), __LINE__);
    f_.want(!near || *mine == other_, __LINE__);
    ok(MPI_Win_free(&win), __LINE__);
  }

  GGAS_DEVICE bool all_good() const { return f_.all_good(); }

 private:
  GGAS_DEVICE void is(int got, int wanted, int line) {
    f_.status(static_cast<ggas_status>(got), static_cast<ggas_status>(wanted), line);
  }
  GGAS_DEVICE void ok(int got, int line) { is(got, MPI_SUCCESS, line); }

  const mpi_args& a_;
  found& f_;
  const G g_{};
  int me_ = 0, ranks_ = 0, other_ = 0;
  char* own_ = nullptr;
};

__global__ void mpi_calls(mpi_args a) {
  found f;
  mpi_program p(a, f);
  if (p.all_good()) p.messages();
  if (p.all_good()) p.requests();
  if (p.all_good()) p.arguments();
  if (p.all_good()) p.packed();
  if (p.all_good()) p.windows();
  if (p.all_good()) p.partitions();
  if (p.all_good()) p.looks();
  if (p.all_good()) p.vectors();
  p.finalize();
  f.write(a.outcomes);
}
__global__ void mpi_communicators(mpi_args a) {
  found f;
  mpi_program p(a, f);
  if (p.all_good()) p.communicators();
  if (p.all_good()) p.runs_ahead();
  p.finalize();
  f.write(a.outcomes);
}
__global__ void mpi_collectives(mpi_args a) {
  found f;
  mpi_program p(a, f);
  if (p.all_good()) p.collectives<int>(MPI_INT, a.seed * 7);
  if (p.all_good()) p.collectives<double>(MPI_DOUBLE, a.seed * 131);
  if (p.all_good()) p.collectives<uint8_t>(MPI_UNSIGNED_CHAR, a.seed * 523 + 4);
  f.write(a.outcomes);
}

}  // namespace ggas::calls
