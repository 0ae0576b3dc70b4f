// SPDX-License-Identifier: Apache-2.0
// Collectives with parts of one length, with a message under way all the time.
#pragma once

#include "tests/gpu_api/mpi_calls/rank.cuh"

namespace ggas::calls {

class mpi_collective_calls : public mpi_rank {
 public:
  GGAS_DEVICE explicit mpi_collective_calls(const mpi_rank& r) : mpi_rank(r) {}

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
};

}  // namespace ggas::calls
