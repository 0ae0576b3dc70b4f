// SPDX-License-Identifier: Apache-2.0
// Blocking messages: each side by the library, or by the MPI alone.
#include <algorithm>
#include <numeric>

#include "tests/userlib/mpi/rig.hpp"

using namespace mpi_test;

MPI_CASE(send_both, 2) { compare_messages(21, 60, MPI_Send, MPI_Recv, false); }
MPI_CASE(send_other_layout, 2) { compare_messages(22, 60, MPI_Send, MPI_Recv, true); }
MPI_CASE(send_to_mpi_alone, 2) { compare_messages(23, 60, MPI_Send, ALONE(Recv), true); }
MPI_CASE(send_from_mpi_alone, 2) { compare_messages(24, 60, ALONE(Send), MPI_Recv, true); }
MPI_CASE(send_synchronous, 2) { compare_messages(25, 40, MPI_Ssend, MPI_Recv, true); }
MPI_CASE(send_buffered, 2) {
  bytes room(8 * area_bytes);
  PMPI_Buffer_attach(room.data(), static_cast<int>(room.size()));
  compare_messages(26, 40, MPI_Bsend, MPI_Recv, true);
  void* at = nullptr;
  int n = 0;
  PMPI_Buffer_detach(&at, &n);
}

namespace {

int send_when_ready(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  ALONE(Recv)(nullptr, 0, MPI_BYTE, to, tag, c, MPI_STATUS_IGNORE);
  return MPI_Rsend(b, n, t, to, tag, c);
}
int receive_and_say(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s) {
  MPI_Request r;
  if (const int e = MPI_Irecv(b, n, t, from, tag, c, &r); e != MPI_SUCCESS) return e;
  ALONE(Send)(nullptr, 0, MPI_BYTE, from, tag, c);
  return MPI_Wait(&r, s);
}
template <int Begin(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*)>
int begin_and_wait(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  MPI_Request r;
  const int error = Begin(b, n, t, to, tag, c, &r);
  return error == MPI_SUCCESS ? MPI_Wait(&r, MPI_STATUS_IGNORE) : error;
}
int receive_by_test(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s) {
  MPI_Request r;
  int error = MPI_Irecv(b, n, t, from, tag, c, &r), done = 0;
  while (error == MPI_SUCCESS && !done) error = MPI_Test(&r, &done, s);
  return error;
}

// Values of a matrix, so that a place that is wrong shows.
std::vector<double> matrix(int n, double first) {
  std::vector<double> all(static_cast<size_t>(n) * static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), first);
  return all;
}

}  // namespace

MPI_CASE(send_ready, 2) { compare_messages(27, 40, send_when_ready, receive_and_say, true); }
MPI_CASE(isend_irecv, 2) { compare_messages(28, 40, begin_and_wait<MPI_Isend>, receive_by_test, true); }
MPI_CASE(issend_irecv, 2) { compare_messages(29, 40, begin_and_wait<MPI_Issend>, receive_by_test, true); }
MPI_CASE(irecv_from_mpi_alone, 2) { compare_messages(30, 40, ALONE(Send), receive_by_test, true); }
MPI_CASE(isend_to_mpi_alone, 2) { compare_messages(31, 40, begin_and_wait<MPI_Isend>, ALONE(Recv), true); }

MPI_CASE(column_to_contiguous, 2) {
  const typed col = column(50, 50);
  std::vector<double> m = matrix(50, 0), got(50);
  if (rank() == 0) CHECK(MPI_Send(&m[3], 1, col.type, 1, 5, MPI_COMM_WORLD) == 0);
  if (rank() == 1) {
    CHECK(MPI_Recv(got.data(), 50, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
    for (size_t i = 0; i < 50; ++i) CHECK(got[i] == m[i * 50 + 3]);
  }
}
MPI_CASE(contiguous_to_column, 2) {
  const typed col = column(50, 50);
  std::vector<double> m = matrix(50, 0), line = matrix(8, 7000);
  if (rank() == 0) CHECK(MPI_Send(line.data(), 50, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD) == 0);
  if (rank() == 1) {
    CHECK(MPI_Recv(&m[3], 1, col.type, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
    for (size_t i = 0; i < 50; ++i) CHECK(m[i * 50 + 3] == line[i] && m[i * 50 + 4] == static_cast<double>(i * 50 + 4));
  }
}
MPI_CASE(packed_to_column, 2) {
  const typed col = column(9, 4);
  std::vector<double> m = matrix(6, 0), got(36);
  if (rank() == 0) {
    char packed[100];
    int place = 0;
    CHECK(MPI_Pack(m.data(), 1, col.type, packed, 100, &place, MPI_COMM_WORLD) == 0);
    CHECK(MPI_Send(packed, place, MPI_PACKED, 1, 5, MPI_COMM_WORLD) == 0);
  } else {
    CHECK(MPI_Recv(got.data(), 1, col.type, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
    for (size_t i = 0; i < 9; ++i) CHECK(got[4 * i] == m[4 * i]);
  }
}
MPI_CASE(column_to_packed, 2) {
  const typed col = column(9, 4);
  std::vector<double> m = matrix(6, 0), got(36);
  if (rank() == 0) {
    CHECK(MPI_Send(m.data(), 1, col.type, 1, 5, MPI_COMM_WORLD) == 0);
  } else {
    char packed[100];
    int place = 0;
    CHECK(MPI_Recv(packed, 100, MPI_PACKED, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
    CHECK(MPI_Unpack(packed, 100, &place, got.data(), 1, col.type, MPI_COMM_WORLD) == 0);
    for (size_t i = 0; i < 9; ++i) CHECK(got[4 * i] == m[4 * i]);
  }
}
MPI_CASE(large_message, 2) {
  const int n = 1400;  // 16 MB in all
  MPI_Datatype half;
  const int sizes[] = {n, n}, parts[] = {n, n / 2}, starts[] = {0, 1};
  PMPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &half);
  PMPI_Type_commit(&half);
  std::vector<double> m = matrix(n, rank() == 0 ? 1 : -1e9);
  if (rank() == 0) CHECK(MPI_Send(m.data(), 1, half, 1, 0, MPI_COMM_WORLD) == 0);
  if (rank() == 1) {
    CHECK(MPI_Recv(m.data(), 1, half, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
    for (size_t i = 0; i < m.size(); ++i) {
      const bool part = i % n >= 1 && i % n <= n / 2;
      CHECK(m[i] == static_cast<double>(i) + (part ? 1 : -1e9));
    }
  }
  PMPI_Type_free(&half);
}
MPI_CASE_ALONE(more_than_an_int_long, 2) {
  // 2.2 GB: the sender's datatype repeats one block of memory, the receiver's blocks are all different.
  constexpr size_t block = 1 << 20, blocks = 2200;
  MPI_Datatype t;
  PMPI_Type_create_hvector(blocks, block, rank() == 0 ? 0 : block + 8, MPI_BYTE, &t);
  PMPI_Type_commit(&t);
  const bytes source = noise(1, block);
  if (rank() == 0) CHECK(MPI_Send(source.data(), 1, t, 1, 0, MPI_COMM_WORLD) == 0);
  if (rank() == 1) {
    bytes area(blocks * (block + 8), 7);
    MPI_Status s;
    int items = 0;
    CHECK(MPI_Recv(area.data(), 1, t, 0, 0, MPI_COMM_WORLD, &s) == 0);
    CHECK(MPI_Get_count(&s, t, &items) == 0 && items == 1);
    for (size_t i = 0; i < blocks; ++i) {
      const unsigned char* const at = &area[i * (block + 8)];
      CHECK(std::equal(source.begin(), source.end(), at) && at[block] == 7);
    }
  }
  PMPI_Type_free(&t);
}
MPI_CASE(order_of_a_pair, 2) {
  // Small and long ones, of the library and of the MPI alone, with one tag: they arrive in their order.
  generator make(5);
  for (int i = 0; i < 200; ++i) {
    const typed col = column(make.between(0, 9) == 0 ? 3000 : 2, 2);
    std::vector<double> area(6000, i);
    const bool alone = make.between(0, 3) == 0;
    if (rank() == 0) (alone ? ALONE(Send) : MPI_Send)(area.data(), 1, col.type, 1, 9, MPI_COMM_WORLD);
    if (rank() == 1) {
      (alone ? MPI_Recv : ALONE(Recv))(area.data(), 1, col.type, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(area[0] == i && area[2] == i);
    }
  }
}
MPI_CASE(any_source, 4) {
  const typed col = column(20, 3);
  std::vector<double> area(60, rank());
  if (rank() > 0) {
    for (int i = 0; i < 10; ++i) MPI_Send(area.data(), 1, col.type, 0, 10 * rank() + i, MPI_COMM_WORLD);
    return;
  }
  std::vector<int> next(4, 0);
  for (int i = 0; i < 30; ++i) {
    MPI_Status s;
    CHECK(MPI_Recv(area.data(), 1, col.type, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s) == 0);
    CHECK(area[0] == s.MPI_SOURCE && area[57] == s.MPI_SOURCE && area[1] == 0);
    CHECK(s.MPI_TAG == 10 * s.MPI_SOURCE + next[static_cast<size_t>(s.MPI_SOURCE)]++);
  }
}
MPI_CASE(probe_before_receive, 2) {
  const typed col = column(20, 3);
  std::vector<double> area(60, 4), got(60);
  if (rank() == 0) {
    for (int i = 0; i < 3; ++i) MPI_Send(area.data(), 1, col.type, 1, i, MPI_COMM_WORLD);
    return;
  }
  for (int i = 0; i < 3; ++i) {
    MPI_Status s;
    int n = 0;
    MPI_Message m;
    if (i == 0) MPI_Mprobe(0, i, MPI_COMM_WORLD, &m, &s);
    if (i == 1) MPI_Probe(0, i, MPI_COMM_WORLD, &s);
    for (int there = i != 2; !there;) MPI_Iprobe(0, i, MPI_COMM_WORLD, &there, &s);
    MPI_Get_count(&s, MPI_DOUBLE, &n);
    CHECK(n == 20);
    if (i == 0) MPI_Mrecv(got.data(), 1, col.type, &m, &s);
    if (i != 0) MPI_Recv(got.data(), 1, col.type, 0, i, MPI_COMM_WORLD, &s);
    CHECK(got[0] == 4 && got[57] == 4);
  }
}
MPI_CASE(message_to_self, 1) {
  const typed col = column(20, 3);
  std::vector<double> area(60, 4), got(60);
  MPI_Request r;
  CHECK(MPI_Irecv(got.data(), 1, col.type, 0, 0, MPI_COMM_SELF, &r) == 0);
  CHECK(MPI_Send(area.data(), 1, col.type, 0, 0, MPI_COMM_SELF) == 0);
  CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == 0 && got[57] == 4 && got[56] == 0);
}
MPI_CASE(absolute_addresses, 2) {
  std::vector<double> a(10, 1.5), b(10, 2.5);
  MPI_Aint places[2];
  PMPI_Get_address(&a[2], &places[0]);
  PMPI_Get_address(&b[5], &places[1]);
  const int lengths[] = {3, 4};
  MPI_Datatype t;
  PMPI_Type_create_hindexed(2, lengths, places, MPI_DOUBLE, &t);
  PMPI_Type_commit(&t);
  if (rank() == 0) CHECK(MPI_Send(MPI_BOTTOM, 1, t, 1, 0, MPI_COMM_WORLD) == 0);
  if (rank() == 1) {
    a.assign(10, 0), b.assign(10, 0);
    CHECK(MPI_Recv(MPI_BOTTOM, 1, t, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
    CHECK(a[1] == 0 && a[2] == 1.5 && a[4] == 1.5 && a[5] == 0 && b[4] == 0 && b[5] == 2.5 && b[8] == 2.5 && b[9] == 0);
  }
  PMPI_Type_free(&t);
}
MPI_CASE(sendrecv_ring, 3) {
  generator make(33);
  for (int i = 0; i < 40; ++i) {
    const sample out = make.any(), in = make.like(out);
    bytes source = noise(static_cast<uint64_t>(rank() + 10 * i)), got = noise(1), expected = got;
    const int right = (rank() + 1) % 3, left = (rank() + 2) % 3;
    MPI_Status s;
    CHECK(MPI_Sendrecv(out.in(source), out.count, out.of.type, right, i, in.in(got), in.count, in.of.type, left, i,
                       MPI_COMM_WORLD, &s) == 0);
    bytes of_left = noise(static_cast<uint64_t>(left + 10 * i));
    const bytes packed = out.packed(of_left);
    int place = 0;
    ALONE(Unpack)(packed.data(), out.size(), &place, in.in(expected), in.count, in.of.type, MPI_COMM_SELF);
    CHECK(got == expected && s.MPI_SOURCE == left && s.MPI_TAG == i);
  }
}
MPI_CASE(sendrecv_one_side, 2) {
  // A column out, a line in: one side is the library's, the other one the MPI's.
  const typed col = column(6, 6);
  std::vector<double> m = matrix(6, 100 * rank()), line(6);
  const int peer = 1 - rank();
  CHECK(MPI_Sendrecv(&m[2], 1, col.type, peer, 0, line.data(), 6, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE) == 0);
  for (size_t i = 0; i < 6; ++i) CHECK(line[i] == 100 * peer + static_cast<double>(6 * i + 2));
  CHECK(MPI_Sendrecv(line.data(), 6, MPI_DOUBLE, peer, 1, &m[2], 1, col.type, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE) == 0);
  for (size_t i = 0; i < 6; ++i) CHECK(m[6 * i + 2] == 100 * rank() + static_cast<double>(6 * i + 2));
}
MPI_CASE(transpose, 2) {
  // Rows leave, columns arrive: a datatype of datatypes, whose items overlap in extent.
  const typed col = column(30, 30);
  MPI_Datatype one;
  PMPI_Type_create_resized(col.type, 0, 8, &one);
  PMPI_Type_commit(&one);
  std::vector<double> m = matrix(30, 0), t(900);
  if (rank() == 0) CHECK(MPI_Send(m.data(), 900, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD) == 0);
  if (rank() == 1) {
    CHECK(MPI_Recv(t.data(), 30, one, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
    for (size_t i = 0; i < 900; ++i) CHECK(t[i % 30 * 30 + i / 30] == static_cast<double>(i));
  }
  PMPI_Type_free(&one);
}
MPI_CASE(contiguous_is_left_alone, 2, false) {
  std::vector<double> line(100, rank());
  MPI_Datatype ten;
  PMPI_Type_contiguous(10, MPI_DOUBLE, &ten);
  PMPI_Type_commit(&ten);
  if (rank() == 0) MPI_Send(line.data(), 10, ten, 1, 0, MPI_COMM_WORLD);
  if (rank() == 1) MPI_Recv(line.data(), 10, ten, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(line[99] == 0);
  PMPI_Type_free(&ten);
}
