// SPDX-License-Identifier: Apache-2.0
// What MPI 4 has added: counts of 64 bits in calls and in datatypes, sends and receives begun by one call.
#include "tests/userlib/mpi/rig.hpp"

using namespace mpi_test;

#if MPI_VERSION >= 4
namespace {

constexpr int doubles = 20;

template <int Begin(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*)>
int begin_and_wait(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  MPI_Request r;
  const int error = Begin(b, n, t, to, tag, c, &r);
  return error == MPI_SUCCESS ? MPI_Wait(&r, MPI_STATUS_IGNORE) : error;
}
template <int Init(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*)>
int start_and_wait(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  MPI_Request r;
  if (const int error = Init(b, n, t, to, tag, c, &r); error != MPI_SUCCESS) return error;
  MPI_Start(&r);
  const int error = MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Request_free(&r);
  return error;
}
template <int Send(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm)>
int send(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  return Send(b, n, t, to, tag, c);
}
int receive(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s) {
  return MPI_Recv_c(b, n, t, from, tag, c, s);
}
int begin_receive(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s) {
  MPI_Request r;
  const int error = MPI_Irecv_c(b, n, t, from, tag, c, &r);
  return error == MPI_SUCCESS ? MPI_Wait(&r, s) : error;
}
int start_receive(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s) {
  MPI_Request r;
  if (const int error = MPI_Recv_init_c(b, n, t, from, tag, c, &r); error != MPI_SUCCESS) return error;
  MPI_Start(&r);
  const int error = MPI_Wait(&r, s);
  MPI_Request_free(&r);
  return error;
}
int probe_and_receive(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s) {
  MPI_Message m;
  MPI_Mprobe(from, tag, c, &m, s);
  return MPI_Mrecv_c(b, n, t, &m, s);
}

// Packs a datatype made with counts of 64 bits by the library and by the MPI alone.
void compare_packing(MPI_Datatype t) {
  PMPI_Type_commit(&t);
  const sample s{{t, {}}, 2};
  const bytes source = noise(5), expected = s.packed(source);
  bytes area = source, packed(expected.size()), back = noise(6), theirs = back;
  MPI_Count at = 0;
  const auto room = static_cast<MPI_Count>(packed.size());
  CHECK(MPI_Pack_c(s.in(area), 2, t, packed.data(), room, &at, MPI_COMM_WORLD) == 0 && at == room &&
        packed == expected);
  at = 0;
  CHECK(MPI_Unpack_c(packed.data(), room, &at, s.in(back), 2, t, MPI_COMM_WORLD) == 0 && at == room);
  int place = 0;
  ALONE(Unpack)(packed.data(), s.size(), &place, s.in(theirs), 2, t, MPI_COMM_WORLD);
  CHECK(back == theirs);
}

}  // namespace

MPI_CASE(large_sends, 2) {
  compare_messages(61, 20, send<MPI_Send_c>, receive, true);
  compare_messages(62, 20, send<MPI_Ssend_c>, begin_receive, true);
  compare_messages(63, 20, begin_and_wait<MPI_Isend_c>, start_receive, true);
  compare_messages(64, 20, begin_and_wait<MPI_Issend_c>, probe_and_receive, true);
  compare_messages(65, 20, start_and_wait<MPI_Send_init_c>, ALONE(Recv), true);
  compare_messages(66, 20, start_and_wait<MPI_Ssend_init_c>, MPI_Recv, true);
}
MPI_CASE(large_sendrecv, 3) {
  const typed col = column(doubles, 2);
  const int right = (rank() + 1) % 3, left = (rank() + 2) % 3;
  for (int how = 0; how < 5; ++how) {
    std::vector<double> out(2 * doubles, rank()), in(2 * doubles, -1);
    MPI_Status s;
    MPI_Request r;
    const MPI_Comm w = MPI_COMM_WORLD;
    if (how == 0) MPI_Sendrecv_c(out.data(), 1, col.type, right, how, in.data(), 1, col.type, left, how, w, &s);
    if (how == 1) MPI_Isendrecv_c(out.data(), 1, col.type, right, how, in.data(), 1, col.type, left, how, w, &r);
    if (how == 2) MPI_Isendrecv(out.data(), 1, col.type, right, how, in.data(), 1, col.type, left, how, w, &r);
    if (how > 2) std::swap(in, out);
    if (how == 3) MPI_Sendrecv_replace_c(in.data(), 1, col.type, right, how, left, how, w, &s);
    if (how == 4) MPI_Isendrecv_replace_c(in.data(), 1, col.type, right, how, left, how, w, &r);
    if (how != 0 && how != 3) CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS);
    CHECK(in[0] == left && in[2 * doubles - 2] == left && in[1] == (how > 2 ? rank() : -1));
    if (how == 0 || how == 3) CHECK(s.MPI_SOURCE == left && s.MPI_TAG == how);  // MPICH has none of one begun
  }
}
MPI_CASE(large_datatypes, 1) {
  const MPI_Count lengths[] = {2, 0, 1, 3}, places[] = {9, 4, 0, 13}, far[] = {88, 3, -40, 160};
  const MPI_Count sizes[] = {5, 6, 7}, parts[] = {2, 3, 4}, starts[] = {1, 2, 3};
  const MPI_Datatype of[] = {MPI_DOUBLE, MPI_CHAR, MPI_SHORT, MPI_INT};
  MPI_Datatype t;
  compare_packing((MPI_Type_vector_c(5, 2, 3, MPI_INT, &t), t));
  compare_packing((MPI_Type_create_hvector_c(4, 2, 37, MPI_SHORT, &t), t));
  compare_packing((MPI_Type_indexed_c(4, lengths, places, MPI_FLOAT, &t), t));
  compare_packing((MPI_Type_create_hindexed_c(4, lengths, far, MPI_FLOAT, &t), t));
  compare_packing((MPI_Type_create_indexed_block_c(4, 3, places, MPI_LONG, &t), t));
  compare_packing((MPI_Type_create_hindexed_block_c(4, 3, far, MPI_SHORT, &t), t));
  compare_packing((MPI_Type_create_struct_c(4, lengths, far, of, &t), t));
  compare_packing((MPI_Type_create_subarray_c(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_FLOAT, &t), t));
  const MPI_Count whole[] = {7, 9};
  const int how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, arguments[] = {2, MPI_DISTRIBUTE_DFLT_DARG};
  const int grid[] = {3, 2};
  compare_packing((MPI_Type_create_darray_c(6, 4, 2, whole, how, arguments, grid, MPI_ORDER_C, MPI_INT, &t), t));
  MPI_Datatype pair;
  MPI_Type_contiguous_c(2, MPI_INT, &pair);
  compare_packing((MPI_Type_create_resized_c(pair, -8, 24, &t), t));
}
#endif
