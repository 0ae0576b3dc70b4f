// SPDX-License-Identifier: Apache-2.0
// Messages of ranks 2k and 2k + 1, their requests, and wrong arguments.
#pragma once

#include "tests/gpu_api/mpi_calls/rank.cuh"

namespace ggas::calls {

class mpi_messages : public mpi_rank {
 public:
  GGAS_DEVICE explicit mpi_messages(const mpi_rank& r) : mpi_rank(r) {}

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
    for (const MPI_Request& one : r) f_.want(one == MPI_REQUEST_NULL, __LINE__);
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
    reductions_with_a_wrong_rank(v);
    is(MPI_Allreduce(v, v + 1, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP, __LINE__);
    is(MPI_Bcast(v, 1, MPI_INT, ranks_, MPI_COMM_WORLD), MPI_ERR_ROOT, __LINE__);
    g_.sync();
  }

  // Of a few numbers; where threads are ranks also of many.
  GGAS_DEVICE void reductions_with_a_wrong_rank(int* v) {
    constexpr int most = 20;
    constexpr auto no_type = static_cast<MPI_Datatype>(0x1104);
    constexpr auto no_op = static_cast<MPI_Op>(99);
    const bool errs = me_ == 1;
    for (const int n : {1, 4, detail::is_same<G, thread> ? most : 2}) {
      g_.sync();
      for (int i = 0; i < n && g_.leads(); ++i) v[i] = i + 1;
      const auto clear = [&] {
        g_.sync();
        for (int i = 0; i < n && g_.leads(); ++i) v[most + i] = 0;
        g_.sync();
      };
      const auto sums = [&](int error, int wanted, int line) {
        is(error, errs ? wanted : MPI_SUCCESS, line);
        for (int i = 0; i < n; ++i) f_.want(v[most + i] == (errs ? 0 : (ranks_ - 1) * (i + 1)), line);
        clear();
      };
      clear();
      sums(MPI_Allreduce(v, v + most, errs ? -1 : n, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT, __LINE__);
      sums(MPI_Allreduce(v, v + most, n, errs ? no_type : MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_TYPE, __LINE__);
      sums(MPI_Allreduce(v, v + most, n, MPI_INT, errs ? no_op : MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP, __LINE__);
      sums(MPI_Allreduce(v, v + most, n, errs ? MPI_PACKED : MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP, __LINE__);
      const auto scan = [&](int error, int wanted, int line) {
        is(error, errs ? wanted : MPI_SUCCESS, line);
        const int before = me_ < 1 ? 1 : me_;  // ranks up to the own one that have numbers
        for (int i = 0; i < n; ++i) f_.want(v[most + i] == (errs ? 0 : before * (i + 1)), line);
        clear();
      };
      scan(MPI_Scan(v, v + most, errs ? -1 : n, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT, __LINE__);
      scan(MPI_Scan(v, v + most, n, errs ? no_type : MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_TYPE, __LINE__);
      sums(MPI_Allreduce(errs ? nullptr : v, v + most, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER, __LINE__);
    }
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
};

}  // namespace ggas::calls
