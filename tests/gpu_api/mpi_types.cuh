// SPDX-License-Identifier: Apache-2.0
// Derived types of MPI in kernels: matrices of ints whose columns and triangles travel.
#pragma once

#include "tests/gpu_api/mpi_calls.cuh"

namespace ggas::calls {

class mpi_types_program {
 public:
  using G = mpi::rank_group;
  static constexpr int side = 4, cells = side * side;

  GGAS_DEVICE mpi_types_program(const mpi_args&, found& f) : f_(f) {
    ok(MPI_Init(static_cast<void*>(nullptr)), __LINE__);
    ok(MPI_Comm_rank(MPI_COMM_WORLD, &me_), __LINE__);
    ok(MPI_Comm_size(MPI_COMM_WORLD, &ranks_), __LINE__);
    other_ = me_ ^ 1;
    from_ = mpi::new_memory<int>(cells * ranks_);
    to_ = mpi::new_memory<int>(cells * ranks_);
    f_.want(from_ && to_, __LINE__);
    // A column; so resized that columns of a matrix follow each other.
    MPI_Datatype column;
    ok(MPI_Type_vector(side, 1, side, MPI_INT, &column), __LINE__);
    ok(MPI_Type_create_resized(column, 0, 4, &column_), __LINE__);
    ok(MPI_Type_free(&column), __LINE__);
    ok(MPI_Type_commit(&column_), __LINE__);
  }

  GGAS_DEVICE void bounds() {
    int size = 0;
    MPI_Aint lb = 1, extent = 0;
    ok(MPI_Type_size(column_, &size), __LINE__);
    ok(MPI_Type_get_extent(column_, &lb, &extent), __LINE__);
    f_.want(size == 16 && lb == 0 && extent == 4, __LINE__);
    ok(MPI_Type_get_true_extent(column_, &lb, &extent), __LINE__);
    f_.want(lb == 0 && extent == 52, __LINE__);
    struct mixed {
      char a;
      double b;
      int c;
    };
    const int lengths[] = {1, 1, 1};
    const MPI_Aint places[] = {0, 8, 16};
    const MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    MPI_Datatype t;
    ok(MPI_Type_create_struct(3, lengths, places, parts, &t), __LINE__);
    ok(MPI_Type_get_extent(t, &lb, &extent), __LINE__);
    ok(MPI_Type_size(t, &size), __LINE__);
    f_.want(size == 13 && extent == static_cast<MPI_Aint>(sizeof(mixed)), __LINE__);
    ok(MPI_Type_free(&t), __LINE__);
    f_.want(t == MPI_DATATYPE_NULL, __LINE__);
  }

  GGAS_DEVICE void arguments() {
    MPI_Datatype t;
    MPI_Status s;
    const int one = 1, minus = -1;
    is(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT, __LINE__);
    is(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE, __LINE__);
    is(MPI_Type_vector(1, -1, 1, MPI_INT, &t), MPI_ERR_ARG, __LINE__);
    is(MPI_Type_indexed(1, &minus, &one, MPI_INT, &t), MPI_ERR_ARG, __LINE__);
    is(MPI_Type_create_subarray(1, &one, &one, &one, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG, __LINE__);
    MPI_Datatype large = MPI_DOUBLE;
    for (int i = 0; i < 2; ++i) {
      MPI_Datatype larger;
      is(MPI_Type_contiguous(0x7fffffff, large, &larger), i == 0 ? MPI_SUCCESS : MPI_ERR_ARG, __LINE__);
      if (i == 1) ok(MPI_Type_free(&large), __LINE__);
      large = larger;
    }
    ok(MPI_Type_dup(MPI_INT, &t), __LINE__);  // of a committed type, so committed
    ok(MPI_Send(from_, 1, t, MPI_PROC_NULL, 0, MPI_COMM_WORLD), __LINE__);
    is(MPI_Send(nullptr, 1, t, other_, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER, __LINE__);
    is(MPI_Allreduce(from_, to_, 1, t, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_TYPE, __LINE__);
    MPI_Datatype again = t;
    ok(MPI_Type_free(&t), __LINE__);
    is(MPI_Send(from_, 1, again, other_, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, __LINE__);
    is(MPI_Type_free(&again), MPI_ERR_TYPE, __LINE__);
    ok(MPI_Type_contiguous(2, MPI_INT, &t), __LINE__);
    is(MPI_Recv(to_, 1, t, other_, 0, MPI_COMM_WORLD, &s), MPI_ERR_TYPE, __LINE__);  // not committed
    is(MPI_Bcast(to_, 1, t, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, __LINE__);
    ok(MPI_Type_free(&t), __LINE__);
  }

  // ---- messages of ranks 2k and 2k + 1: columns become rows

  GGAS_DEVICE void messages() {
    MPI_Status s;
    int n = 0;
    fill();
    if (me_ % 2 == 0) {
      ok(MPI_Send(from_ + 1, 2, column_, other_, 1, MPI_COMM_WORLD), __LINE__);
      ok(MPI_Recv(to_, cells, MPI_INT, other_, 2, MPI_COMM_WORLD, &s), __LINE__);
      ok(MPI_Get_count(&s, column_, &n), __LINE__);
      f_.want(n == 1, __LINE__);
    } else {
      ok(MPI_Recv(to_, cells, MPI_INT, other_, 1, MPI_COMM_WORLD, &s), __LINE__);
      ok(MPI_Send(from_ + 1, 1, column_, other_, 2, MPI_COMM_WORLD), __LINE__);
    }
    const int columns = me_ % 2 == 0 ? 1 : 2;
    are([&](int i) { return i < columns * side ? number(other_, i % side * side + 1 + i / side) : -1; }, __LINE__);

    fill();
    ok(MPI_Sendrecv(from_, side, MPI_INT, other_, 3, to_ + 2, 1, column_, other_, 3, MPI_COMM_WORLD, &s), __LINE__);
    are([&](int i) { return i % side == 2 ? number(other_, i / side) : -1; }, __LINE__);

    fill();  // a message that is shorter than the buffer: its elements only are written
    if (me_ % 2 == 0) ok(MPI_Send(from_, 3, MPI_INT, other_, 4, MPI_COMM_WORLD), __LINE__);
    if (me_ % 2 == 1) ok(MPI_Recv(to_, 1, column_, other_, 4, MPI_COMM_WORLD, &s), __LINE__);
    are([&](int i) { return me_ % 2 == 1 && i % side == 0 && i / side < 3 ? number(other_, i / side) : -1; }, __LINE__);

    fill();
    if (me_ % 2 == 0) {
      ok(MPI_Send(from_, 2, column_, other_, 5, MPI_COMM_WORLD), __LINE__);
      ok(MPI_Send(from_, 1, column_, other_, 6, MPI_COMM_WORLD), __LINE__);
    } else {
      is(MPI_Recv(to_, 1, column_, other_, 5, MPI_COMM_WORLD, &s), MPI_ERR_TRUNCATE, __LINE__);
      is(MPI_Recv(to_, 4, MPI_FLOAT, other_, 6, MPI_COMM_WORLD, &s), MPI_ERR_TYPE, __LINE__);
    }
    are([](int) { return -1; }, __LINE__);
    fill();
    copy_to();
    ok(MPI_Sendrecv_replace(to_, 1, column_, other_, 7, other_, 7, MPI_COMM_WORLD, &s), __LINE__);
    are([&](int i) { return number(i % side == 0 ? other_ : me_, i); }, __LINE__);
  }

  GGAS_DEVICE void requests() {
    MPI_Request r[2];
    MPI_Datatype freed;
    fill();
    ok(MPI_Type_dup(column_, &freed), __LINE__);
    ok(MPI_Irecv(to_, 2, freed, other_, 1, MPI_COMM_WORLD, r), __LINE__);
    ok(MPI_Isend(from_ + 2, 2, freed, other_, 1, MPI_COMM_WORLD, r + 1), __LINE__);
    ok(MPI_Type_free(&freed), __LINE__);  // requests go on
    ok(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), __LINE__);
    are([&](int i) { return i % side < 2 ? number(other_, i + 2) : -1; }, __LINE__);
    ok(MPI_Send_init(from_ + 3, 1, column_, other_, 2, MPI_COMM_WORLD, r), __LINE__);
    ok(MPI_Recv_init(to_ + 1, 1, column_, other_, 2, MPI_COMM_WORLD, r + 1), __LINE__);
    for (int round = 0; round < 2; ++round) {
      fill(round * 1000);
      ok(MPI_Startall(2, r), __LINE__);
      ok(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), __LINE__);
      are([&](int i) { return i % side == 1 ? number(other_, i + 2) + round * 1000 : -1; }, __LINE__);
    }
    ok(MPI_Request_free(r), __LINE__);
    ok(MPI_Request_free(r + 1), __LINE__);
    ok(MPI_Irecv(to_, 1, column_, other_, 9, MPI_COMM_WORLD, r), __LINE__);
    ok(MPI_Cancel(r), __LINE__);
    f_.want(!r->packed, __LINE__);
  }

  GGAS_DEVICE void packed() {
    int position = 4, size = 0;
    fill();
    ok(MPI_Pack_size(2, column_, MPI_COMM_WORLD, &size), __LINE__);
    f_.want(size == 32, __LINE__);
    ok(MPI_Pack(from_ + 1, 1, column_, to_, 64, &position, MPI_COMM_WORLD), __LINE__);
    are([&](int i) { return i >= 1 && i <= side ? number(me_, (i - 1) * side + 1) : -1; }, __LINE__);
    position = 4;
    ok(MPI_Unpack(to_, 64, &position, from_ + 2, 1, column_, MPI_COMM_WORLD), __LINE__);
    copy_to();
    are([&](int i) { return number(me_, i % side == 2 ? i - 1 : i); }, __LINE__);
    is(MPI_Pack(from_, 4, column_, to_, 63, &(position = 0), MPI_COMM_WORLD), MPI_ERR_TRUNCATE, __LINE__);
  }

  // ---- collectives: a column of each rank, or for each

  GGAS_DEVICE void collectives(MPI_Comm comm) {
    const int root = ranks_ - 1;
    fill();
    ok(MPI_Bcast(me_ == root ? from_ + 1 : to_ + 1, 2, column_, root, comm), __LINE__);
    const auto in_columns = [](int i) { return i % side == 1 || i % side == 2; };
    are([&](int i) { return me_ != root && in_columns(i) ? number(root, i) : -1; }, __LINE__);
    fill();
    ok(MPI_Gather(from_ + 1, 1, column_, to_, side, MPI_INT, root, comm), __LINE__);
    all_are([&](int r, int i) { return me_ == root && i < side ? number(r, i * side + 1) : -1; }, side, __LINE__);
    fill();  // column r of a wide matrix is that of rank r
    MPI_Datatype wide, wide_column;
    ok(MPI_Type_vector(side, 1, ranks_, MPI_INT, &wide), __LINE__);
    ok(MPI_Type_create_resized(wide, 0, 4, &wide_column), __LINE__);
    ok(MPI_Type_commit(&wide_column), __LINE__);
    ok(MPI_Allgather(from_, side, MPI_INT, to_, 1, wide_column, comm), __LINE__);
    all_are([&](int row, int r) { return row < side ? number(r, row) : -1; }, ranks_, __LINE__);
    fill();
    for (int i = static_cast<int>(g_.rank()); i < side && g_.leads(); ++i)  // in place: the own column is there
      for (int row = 0; row < side; ++row) to_[row * ranks_ + me_] = number(me_, row);
    g_.sync();
    ok(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, to_, 1, wide_column, comm), __LINE__);
    all_are([&](int row, int r) { return row < side ? number(r, row) : -1; }, ranks_, __LINE__);
    fill();
    ok(MPI_Scatter(from_, 1, wide_column, to_ + 3, 1, column_, root, comm), __LINE__);
    are([&](int i) { return i % side == 3 ? number(root, i / side * ranks_ + me_) : -1; }, __LINE__);
    fill();
    ok(MPI_Alltoall(from_, 1, wide_column, to_, side, MPI_INT, comm), __LINE__);
    all_are([&](int r, int i) { return i < side ? number(r, i * ranks_ + me_) : -1; }, side, __LINE__);
    vectors(comm, wide_column, root);
    ok(MPI_Type_free(&wide), __LINE__);
    ok(MPI_Type_free(&wide_column), __LINE__);
  }
  // Of rank r come r % 2 columns, to column r.
  GGAS_DEVICE void vectors(MPI_Comm comm, MPI_Datatype wide_column, int root) {
    int* const counts = mpi::new_memory<int>(2 * ranks_);
    int* const places = counts + ranks_;
    for (int r = 0; r < ranks_ && g_.leads(); ++r) counts[r] = r % 2, places[r] = r;
    const auto gathered = [&](int row, int r) { return row < side && r % 2 == 1 ? number(r, row * side) : -1; };
    fill();
    ok(MPI_Allgatherv(from_, me_ % 2, column_, to_, counts, places, wide_column, comm), __LINE__);
    all_are(gathered, ranks_, __LINE__);
    fill();
    ok(MPI_Gatherv(from_, me_ % 2, column_, to_, counts, places, wide_column, root, comm), __LINE__);
    all_are([&](int row, int r) { return me_ == root ? gathered(row, r) : -1; }, ranks_, __LINE__);
    fill();
    ok(MPI_Scatterv(from_, counts, places, wide_column, to_, me_ % 2, column_, root, comm), __LINE__);
    are([&](int i) { return me_ % 2 == 1 && i % side == 0 ? number(root, i / side * ranks_ + me_) : -1; }, __LINE__);
    if (g_.leads())
      for (int r = 0; r < ranks_; ++r) counts[r] = 1;
    fill();
    ok(MPI_Alltoallv(from_, counts, places, wide_column, to_, counts, places, wide_column, comm), __LINE__);
    all_are([&](int row, int r) { return row < side ? number(r, row * ranks_ + me_) : -1; }, ranks_, __LINE__);
    mpi::free_memory(counts);
  }

  GGAS_DEVICE void windows(const mpi_args& a) {
    const auto index = static_cast<uint64_t>(me_ % detail::ranks_of_node(mpi::world()));
    int* const window = bench::own<int>(a.scratch + index * a.scratch_bytes);
    MPI_Win win;
    fill();
    for (int i = 0; i < cells && g_.leads(); ++i) window[i] = -1;
    ok(MPI_Win_create(window, cells * 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), __LINE__);
    ok(MPI_Put(from_, side, MPI_INT, other_, 1, 1, column_, win), __LINE__);
    ok(MPI_Put(from_ + 3, 1, column_, other_, 2, 1, column_, win), __LINE__);
    is(MPI_Put(from_, side, MPI_INT, other_, 4, 1, column_, win), MPI_ERR_DISP, __LINE__);
    ok(MPI_Win_fence(0, win), __LINE__);
    bool good = true;
    for (int i = 0; i < cells; ++i) {
      const int want = i % side == 1 ? number(other_, i / side) : i % side == 2 ? number(other_, i + 1) : -1;
      good &= ggas_load(window + i) == want;
    }
    f_.want(good, __LINE__);
    ok(MPI_Get(to_, side, MPI_INT, other_, 2, 1, column_, win), __LINE__);  // what this rank has put
    are([&](int i) { return i < side ? number(me_, i * side + 3) : -1; }, __LINE__);
    ok(MPI_Win_free(&win), __LINE__);
  }

  GGAS_DEVICE void finalize() {
    ok(MPI_Type_free(&column_), __LINE__);
    mpi::free_memory(from_);
    mpi::free_memory(to_);
    ok(MPI_Finalize(), __LINE__);
  }
  GGAS_DEVICE bool all_good() const { return f_.all_good(); }

 private:
  GGAS_DEVICE static int number(int rank, int i) { return 10'000 * rank + i; }
  GGAS_DEVICE void fill(int more = 0) {
    g_.sync();
    for (int i = static_cast<int>(g_.rank()); i < cells * ranks_; i += static_cast<int>(g_.size()))
      from_[i] = number(me_, i) + more, to_[i] = -1;
    g_.sync();
  }
  GGAS_DEVICE void copy_to() {
    for (int i = static_cast<int>(g_.rank()); i < cells; i += static_cast<int>(g_.size())) to_[i] = from_[i];
    g_.sync();
  }
  // `to` has want(i), or want(row, column) in rows of `width`.
  template <class Want>
  GGAS_DEVICE void are(Want want, int line) {
    all_are([&](int, int i) { return want(i); }, cells, line, cells);
  }
  template <class Want>
  GGAS_DEVICE void all_are(Want want, int width, int line, int n = 0) {
    bool good = true;
    g_.sync();
    for (int i = static_cast<int>(g_.rank()); i < (n == 0 ? side * ranks_ : n); i += static_cast<int>(g_.size()))
      good &= to_[i] == want(i / width, i % width);
    f_.want(good, line);
    g_.sync();
  }
  GGAS_DEVICE void is(int got, int wanted, int line) {
    f_.status(static_cast<ggas_status>(got), static_cast<ggas_status>(wanted), line);
  }
  GGAS_DEVICE void ok(int got, int line) { is(got, MPI_SUCCESS, line); }

  found& f_;
  const G g_{};
  int me_ = 0, ranks_ = 0, other_ = 0;
  int *from_ = nullptr, *to_ = nullptr;
  MPI_Datatype column_ = MPI_DATATYPE_NULL;
};

__global__ void mpi_types(mpi_args a) {
  found f;
  mpi_types_program p(a, f);
  if (p.all_good()) p.bounds();
  if (p.all_good()) p.arguments();
  if (p.all_good()) p.messages();
  if (p.all_good()) p.requests();
  if (p.all_good()) p.packed();
  if (p.all_good()) p.collectives(MPI_COMM_WORLD);
  if (p.all_good()) {
    MPI_Comm same;
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    p.collectives(same);
    MPI_Comm_free(&same);
  }
  if (p.all_good()) p.windows(a);
  p.finalize();
  f.write(a.outcomes);
}

}  // namespace ggas::calls
