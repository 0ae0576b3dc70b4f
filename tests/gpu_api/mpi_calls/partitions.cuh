// SPDX-License-Identifier: Apache-2.0
// Partitioned messages: the ranks of a pair send each other 12 numbers in 6 partitions, and receive them in 4.
#pragma once

#include "tests/gpu_api/mpi_calls/rank.cuh"

namespace ggas::calls {

class mpi_partitions : public mpi_rank {
 public:
  GGAS_DEVICE explicit mpi_partitions(const mpi_rank& r) : mpi_rank(r) {}

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
    while_in_other_calls(reinterpret_cast<int*>(own_));
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
  // Long partitions move while their receiver waits for a message that the sender sends after them, and their sender
  // for one that the receiver sends after them; a long message that waits is no obstacle either.
  GGAS_DEVICE void while_in_other_calls(int* from) {
    constexpr int numbers = 20;  // of a partition: longer than a record
    const bool sends = me_ % 2 == 0;
    int* const to = from + 2 * numbers;
    MPI_Request r;
    MPI_Status s;
    for (int round = 0; round < 2; ++round) {
      g_.sync();
      for (int i = 0; i < 2 * numbers && g_.leads(); ++i) from[i] = 100 * round + me_ + i, to[i] = -1;
      g_.sync();
      if (sends) {
        ok(MPI_Psend_init(from, 2, numbers, MPI_INT, other_, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r), __LINE__);
        ok(MPI_Start(&r), __LINE__);
        ok(MPI_Pready_range(0, 1, r), __LINE__);
        ok(MPI_Wait(&r, &s), __LINE__);
        ok(MPI_Send(from, numbers, MPI_INT, other_, 9, MPI_COMM_WORLD), __LINE__);
      } else {
        ok(MPI_Precv_init(to, 2, numbers, MPI_INT, other_, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r), __LINE__);
        ok(MPI_Start(&r), __LINE__);
        ok(MPI_Recv(to + 2 * numbers, numbers, MPI_INT, other_, 9, MPI_COMM_WORLD, &s), __LINE__);
        ok(MPI_Wait(&r, &s), __LINE__);
      }
      ok(MPI_Request_free(&r), __LINE__);
      g_.sync();
      bool good = true;
      for (int i = 0; i < 3 * numbers; ++i) good &= to[i] == 100 * round + other_ + i % (2 * numbers);
      f_.want(sends || good, __LINE__);
    }
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
};

}  // namespace ggas::calls
