// SPDX-License-Identifier: Apache-2.0
// Statuses, errors, communicators, and what the MPI alone has to do.
#include <numeric>

#include "tests/userlib/mpi/rig.hpp"

using namespace mpi_test;

namespace {

constexpr int doubles = 20;

struct column_area {
  typed col = column(doubles, 2);
  std::vector<double> area = std::vector<double>(2 * doubles, rank());
};

// Errors come back from now on.
void return_errors(MPI_Comm comm = MPI_COMM_WORLD) { PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); }

// A call of the library and the same one of the MPI alone fail with the same class.
void same_error(int mine, int theirs) {
  int class_of_theirs = MPI_SUCCESS;
  PMPI_Error_class(theirs, &class_of_theirs);
  CHECK(theirs != MPI_SUCCESS && is_class(mine, class_of_theirs));
}

int heard = 0;
void listen(MPI_Comm*, int* error, ...) { heard = *error; }

}  // namespace

MPI_CASE(count_of_a_part, 2) {
  // Fewer items than there is room for, and a part of an item, also after whole ones.
  column_area c;
  std::vector<double> line(3 * doubles);
  std::iota(line.begin(), line.end(), 7);
  for (const int sent : {doubles, doubles / 2, 0, doubles + 1, 3 * doubles - 3}) {
    if (rank() == 0) MPI_Send(line.data(), sent, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank() == 0) ALONE(Send)(line.data(), sent, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    if (rank() == 1) {
      MPI_Status s[2];
      std::vector<double> mine(200, -1), theirs = mine;
      CHECK(MPI_Recv(mine.data(), 3, c.col.type, 0, 0, MPI_COMM_WORLD, &s[0]) == 0);
      CHECK(ALONE(Recv)(theirs.data(), 3, c.col.type, 0, 1, MPI_COMM_WORLD, &s[1]) == 0);
      CHECK(mine == theirs);
      int items[2], elements[2], whole[2];
      for (int i = 0; i < 2; ++i) {
        MPI_Get_count(&s[i], c.col.type, &items[i]);
        MPI_Get_elements(&s[i], c.col.type, &elements[i]);
        MPI_Get_count(&s[i], MPI_DOUBLE, &whole[i]);
      }
      CHECK(items[0] == items[1] && elements[0] == elements[1] && whole[0] == whole[1] && elements[0] == sent);
    }
  }
  if (rank() == 0) MPI_Send(c.area.data(), 1, c.col.type, 1, 2, MPI_COMM_WORLD);
  if (rank() == 1) MPI_Recv(c.area.data(), 1, c.col.type, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
MPI_CASE(truncation, 2) {
  return_errors();
  column_area c;
  if (rank() == 0) {
    for (int tag = 0; tag < 2; ++tag) MPI_Send(c.area.data(), 1, c.col.type, 1, tag, MPI_COMM_WORLD);
    return;
  }
  const typed half = column(doubles / 2, 2);
  const int mine = MPI_Recv(c.area.data(), 1, half.type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  same_error(mine, ALONE(Recv)(c.area.data(), 1, half.type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(is_class(mine, MPI_ERR_TRUNCATE) && c.area[2 * doubles - 1] == 1);
}
MPI_CASE_ALONE(truncation_of_one_of_many, 2) {
  return_errors();
  column_area c;
  if (rank() == 0) {
    for (int tag = 0; tag < 3; ++tag) MPI_Send(c.area.data(), 1, c.col.type, 1, tag, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const typed half = column(doubles / 2, 2);
  std::vector<std::vector<double>> in(3, c.area);
  MPI_Request r[3];
  MPI_Status s[3];
  for (int i = 0; i < 3; ++i)
    MPI_Irecv(in[static_cast<size_t>(i)].data(), 1, i == 1 ? half.type : c.col.type, 0, i, MPI_COMM_WORLD, &r[i]);
  CHECK(is_class(MPI_Waitall(3, r, s), MPI_ERR_IN_STATUS));
  CHECK(is_class(s[1].MPI_ERROR, MPI_ERR_TRUNCATE));
  for (const int i : {0, 2}) {
    if (r[i] != MPI_REQUEST_NULL) CHECK(MPI_Wait(&r[i], MPI_STATUS_IGNORE) == 0);  // MPI_ERR_PENDING
    CHECK(in[static_cast<size_t>(i)][0] == 0);
  }
}
MPI_CASE(part_of_a_number, 2) {
  // Bytes that are no whole number of the receiver's datatype: as the MPI alone.
  return_errors();
  MPI_Datatype ints, pairs;
  PMPI_Type_vector(4, 1, 2, MPI_INT, &ints);
  const int ones[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype both[] = {MPI_INT, MPI_DOUBLE};
  PMPI_Type_create_struct(2, ones, places, both, &pairs);
  for (MPI_Datatype* t : {&ints, &pairs}) {
    PMPI_Type_commit(t);
    for (const int sent : {3, 4, 8, 12, 13}) {
      bytes mine(64, 9), theirs = mine;
      if (rank() == 0) MPI_Send(mine.data(), sent, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      if (rank() == 0) ALONE(Send)(mine.data(), sent, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
      if (rank() == 0) continue;
      const int found = MPI_Recv(mine.data(), 1, *t, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const int alone = ALONE(Recv)(theirs.data(), 1, *t, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      int expected = MPI_SUCCESS;
      PMPI_Error_class(alone, &expected);
      CHECK(is_class(found, expected));
    }
    PMPI_Type_free(t);
  }
}
MPI_CASE(null_process, 2) {
  column_area c;
  MPI_Status s;
  int n = -1;
  CHECK(MPI_Send(c.area.data(), 1, c.col.type, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == 0);
  CHECK(MPI_Recv(c.area.data(), 1, c.col.type, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &s) == 0);
  MPI_Get_count(&s, c.col.type, &n);
  CHECK(n == 0 && s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && c.area[0] == rank());
  // The ends of a chain.
  const int right = rank() == 0 ? 1 : MPI_PROC_NULL, left = rank() == 1 ? 0 : MPI_PROC_NULL;
  std::vector<double> in(2 * doubles, -1);
  CHECK(MPI_Sendrecv(c.area.data(), 1, c.col.type, right, 0, in.data(), 1, c.col.type, left, 0, MPI_COMM_WORLD, &s) ==
        0);
  CHECK(in[0] == (rank() == 1 ? 0 : -1));
  MPI_Request r;
  CHECK(MPI_Irecv(in.data(), 1, c.col.type, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r) == 0);
  CHECK(MPI_Wait(&r, &s) == 0 && in[0] == (rank() == 1 ? 0 : -1));
}
MPI_CASE(nothing_to_send, 2, false) {
  column_area c;
  MPI_Datatype empty;
  PMPI_Type_vector(0, 1, 2, MPI_DOUBLE, &empty);
  PMPI_Type_commit(&empty);
  MPI_Status s;
  int n = -1;
  if (rank() == 0) {
    CHECK(MPI_Send(c.area.data(), 0, c.col.type, 1, 0, MPI_COMM_WORLD) == 0);
    CHECK(MPI_Send(c.area.data(), 5, empty, 1, 1, MPI_COMM_WORLD) == 0);
  } else {
    CHECK(MPI_Recv(c.area.data(), 0, c.col.type, 0, 0, MPI_COMM_WORLD, &s) == 0);
    MPI_Get_count(&s, c.col.type, &n);
    CHECK(n == 0 && MPI_Recv(c.area.data(), 1, empty, 0, 1, MPI_COMM_WORLD, &s) == 0);
  }
  PMPI_Type_free(&empty);
}
MPI_CASE(errors_of_arguments, 1) {
  return_errors();
  column_area c;
  void* const at = c.area.data();
  const MPI_Comm world = MPI_COMM_WORLD;
  same_error(MPI_Send(at, -1, c.col.type, 0, 0, world), ALONE(Send)(at, -1, c.col.type, 0, 0, world));
  same_error(MPI_Send(at, 1, c.col.type, 9, 0, world), ALONE(Send)(at, 1, c.col.type, 9, 0, world));
  same_error(MPI_Send(at, 1, c.col.type, 0, -7, world), ALONE(Send)(at, 1, c.col.type, 0, -7, world));
  same_error(MPI_Send(at, 1, MPI_DATATYPE_NULL, 0, 0, world), ALONE(Send)(at, 1, MPI_DATATYPE_NULL, 0, 0, world));
  MPI_Request r;
  same_error(MPI_Isend(at, 1, c.col.type, 9, 0, world, &r), ALONE(Isend)(at, 1, c.col.type, 9, 0, world, &r));
  same_error(MPI_Irecv(at, 1, c.col.type, 9, 0, world, &r), ALONE(Irecv)(at, 1, c.col.type, 9, 0, world, &r));
  MPI_Datatype fresh;
  PMPI_Type_vector(2, 1, 3, MPI_DOUBLE, &fresh);
  same_error(MPI_Send(at, 1, fresh, 0, 0, world), ALONE(Send)(at, 1, fresh, 0, 0, world));
  PMPI_Type_commit(&fresh);  // the error is not remembered
  MPI_Request self;
  MPI_Irecv(&c.area[1], 1, fresh, 0, 0, world, &self);
  CHECK(MPI_Send(at, 1, fresh, 0, 0, world) == 0 && MPI_Wait(&self, MPI_STATUS_IGNORE) == 0);
  PMPI_Type_free(&fresh);
}
MPI_CASE(errors_of_packing, 1) {
  // Too little room: MPICH packs what fits and says nothing, and so does the library before it.
  return_errors();
  column_area c;
  bytes mine(8 * doubles + 8, 3), theirs = mine;
  int a = 8, b = 8;
  const int room = 8 * doubles;
  const auto compare = [&](int of_mine, int of_theirs) {
    int first = 0, second = 0;
    PMPI_Error_class(of_mine, &first);
    PMPI_Error_class(of_theirs, &second);
    CHECK(first == second && a == b && mine == theirs);
    a = b = 8;
  };
  compare(MPI_Pack(c.area.data(), 1, c.col.type, mine.data(), room, &a, MPI_COMM_WORLD),
          ALONE(Pack)(c.area.data(), 1, c.col.type, theirs.data(), room, &b, MPI_COMM_WORLD));
  compare(MPI_Pack(c.area.data(), 1, c.col.type, mine.data(), room + 8, &a, MPI_COMM_NULL),
          ALONE(Pack)(c.area.data(), 1, c.col.type, theirs.data(), room + 8, &b, MPI_COMM_NULL));
  compare(MPI_Pack(c.area.data(), 1, MPI_DATATYPE_NULL, mine.data(), room + 8, &a, MPI_COMM_WORLD),
          ALONE(Pack)(c.area.data(), 1, MPI_DATATYPE_NULL, theirs.data(), room + 8, &b, MPI_COMM_WORLD));
  compare(MPI_Pack(c.area.data(), 1, c.col.type, mine.data(), room + 8, &a, MPI_COMM_WORLD),
          ALONE(Pack)(c.area.data(), 1, c.col.type, theirs.data(), room + 8, &b, MPI_COMM_WORLD));
}
MPI_CASE(handler_of_errors, 2) {
  MPI_Errhandler h;
  PMPI_Comm_create_errhandler(listen, &h);
  MPI_Comm own;
  PMPI_Comm_dup(MPI_COMM_WORLD, &own);
  PMPI_Comm_set_errhandler(own, h);
  column_area c;
  const typed half = column(doubles / 2, 2);
  if (rank() == 0) MPI_Send(c.area.data(), 1, c.col.type, 1, 0, own);
  if (rank() == 1) CHECK(MPI_Recv(c.area.data(), 1, half.type, 0, 0, own, MPI_STATUS_IGNORE) != 0);
  if (rank() == 1) CHECK(is_class(heard, MPI_ERR_TRUNCATE));
  PMPI_Errhandler_free(&h);
  PMPI_Comm_free(&own);
}
MPI_CASE(communicators, 4) {
  // The same tag in three communicators: none takes the message of another.
  MPI_Comm dup, half;
  PMPI_Comm_dup(MPI_COMM_WORLD, &dup);
  PMPI_Comm_split(MPI_COMM_WORLD, rank() % 2, rank(), &half);
  column_area c;
  std::vector<double> in[3];
  MPI_Request r[3];
  const MPI_Comm all[3] = {half, dup, MPI_COMM_WORLD};
  for (int i = 0; i < 3; ++i) {
    in[i].assign(2 * doubles, -1);
    int me = 0, n = 0;
    PMPI_Comm_rank(all[i], &me);
    PMPI_Comm_size(all[i], &n);
    MPI_Irecv(in[i].data(), 1, c.col.type, (me + n - 1) % n, 0, all[i], &r[i]);
  }
  for (const int i : {2, 0, 1}) {
    int me = 0, n = 0;
    PMPI_Comm_rank(all[i], &me);
    PMPI_Comm_size(all[i], &n);
    c.area.assign(2 * doubles, 10 * i + rank());
    MPI_Send(c.area.data(), 1, c.col.type, (me + 1) % n, 0, all[i]);
  }
  MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
  CHECK(in[0][0] == (rank() + 2) % 4 && in[1][0] == 10 + (rank() + 3) % 4 && in[2][0] == 20 + (rank() + 3) % 4);
  PMPI_Comm_free(&dup);
  PMPI_Comm_free(&half);
}
MPI_CASE(intercommunicator, 4) {
  MPI_Comm half, between;
  PMPI_Comm_split(MPI_COMM_WORLD, rank() / 2, rank(), &half);
  PMPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank() < 2 ? 2 : 0, 3, &between);
  column_area c;
  MPI_Status s;
  const int peer = rank() % 2, there = (rank() + 2) % 4;
  CHECK(MPI_Sendrecv(c.area.data(), 1, c.col.type, peer, 0, c.area.data() + 1, 1, c.col.type, peer, 0, between, &s) ==
        0);
  CHECK(c.area[1] == there && c.area[0] == rank() && s.MPI_SOURCE == peer);
  PMPI_Comm_free(&half);
  PMPI_Comm_free(&between);
}
MPI_CASE(collectives_are_left_alone, 3, false) {
  column_area c;
  CHECK(MPI_Bcast(c.area.data(), 1, c.col.type, 1, MPI_COMM_WORLD) == 0);
  CHECK(c.area[0] == 1 && c.area[1] == rank());
  std::vector<double> all(3 * doubles);
  CHECK(MPI_Gather(c.area.data(), 1, c.col.type, all.data(), doubles, MPI_DOUBLE, 0, MPI_COMM_WORLD) == 0);
}
MPI_CASE(replaced, 3) {
  column_area c;
  MPI_Status s;
  const int right = (rank() + 1) % 3, left = (rank() + 2) % 3;
  CHECK(MPI_Sendrecv_replace(c.area.data(), 1, c.col.type, right, 0, left, 0, MPI_COMM_WORLD, &s) == 0);
  CHECK(c.area[0] == left && c.area[1] == rank() && s.MPI_SOURCE == left);
}
// Programs may have functions at their communicators that send.
MPI_CASE(functions_of_the_program_are_not_called, 2) {
  int key = MPI_KEYVAL_INVALID, calls = 0;
  const auto copied = [](MPI_Comm, int, void*, void* count, void*, int* copies) {
    ++*static_cast<int*>(count);
    *copies = 0;
    return MPI_SUCCESS;
  };
  PMPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  for (const MPI_Comm comm : {MPI_COMM_SELF, MPI_COMM_WORLD}) PMPI_Comm_set_attr(comm, key, &calls);
  column_area c;
  if (rank() == 0) MPI_Send(c.area.data(), 1, c.col.type, 1, 0, MPI_COMM_WORLD);
  if (rank() == 1) MPI_Recv(c.area.data(), 1, c.col.type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(calls == 0 && c.area[0] == 0);
  for (const MPI_Comm comm : {MPI_COMM_SELF, MPI_COMM_WORLD}) PMPI_Comm_delete_attr(comm, key);
  PMPI_Comm_free_keyval(&key);
}
MPI_CASE(begun_and_completed_by_either_name, 2) {
  column_area c;
  MPI_Request r[2];
  for (const bool first : {true, false}) {
    c.area.assign(2 * doubles, rank());
    std::vector<double> in(2 * doubles, -1);
    (first ? MPI_Irecv : PMPI_Irecv)(in.data(), 1, c.col.type, 1 - rank(), 0, MPI_COMM_WORLD, &r[0]);
    (first ? MPI_Isend : PMPI_Isend)(c.area.data(), 1, c.col.type, 1 - rank(), 0, MPI_COMM_WORLD, &r[1]);
    CHECK((first ? PMPI_Waitall : MPI_Waitall)(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(in[0] == 1 - rank() && in[1] == -1 && in[2 * doubles - 2] == 1 - rank());
  }
}
MPI_CASE(handles_of_fortran, 2) {
  column_area c;
  const MPI_Fint f = MPI_Type_c2f(c.col.type);
  const MPI_Datatype back = MPI_Type_f2c(f);
  MPI_Request r;
  if (rank() == 0) MPI_Isend(c.area.data(), 1, back, 1, 0, MPI_COMM_WORLD, &r);
  if (rank() == 1) MPI_Irecv(c.area.data(), 1, back, 0, 0, MPI_COMM_WORLD, &r);
  MPI_Request same = MPI_Request_f2c(MPI_Request_c2f(r));
  CHECK(MPI_Wait(&same, MPI_STATUS_IGNORE) == 0 && c.area[2 * doubles - 2] == 0);
}
MPI_CASE(halo, 4) {
  // A field of 2 x 2 parts with a ring of ghosts each, all eight neighbours round a torus.
  constexpr int n = 18;
  std::vector<double> field(n * n, -1);
  for (int y = 1; y < n - 1; ++y)
    for (int x = 1; x < n - 1; ++x) field[static_cast<size_t>(y * n + x)] = 1000 * rank() + 20 * y + x;
  const auto part = [&](int dy, int dx, bool ghost) {
    const int sizes[] = {n, n}, lengths[] = {dy ? 1 : n - 2, dx ? 1 : n - 2};
    const auto start = [&](int d) { return d == 0 ? 1 : d < 0 ? (ghost ? 0 : 1) : (ghost ? n - 1 : n - 2); };
    const int starts[] = {start(dy), start(dx)};
    MPI_Datatype t;
    PMPI_Type_create_subarray(2, sizes, lengths, starts, MPI_ORDER_C, MPI_DOUBLE, &t);
    PMPI_Type_commit(&t);
    return typed(t, {});
  };
  const int y = rank() / 2, x = rank() % 2;
  std::vector<MPI_Request> all;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      if (!dy && !dx) continue;
      const int there = (y + dy + 2) % 2 * 2 + (x + dx + 2) % 2;
      MPI_Request r[2];
      MPI_Irecv(field.data(), 1, part(dy, dx, true).type, there, 10 - 3 * dy - dx, MPI_COMM_WORLD, &r[0]);
      MPI_Isend(field.data(), 1, part(dy, dx, false).type, there, 10 + 3 * dy + dx, MPI_COMM_WORLD, &r[1]);
      all.insert(all.end(), r, r + 2);
    }
  CHECK(MPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE) == 0);
  const int right = y * 2 + 1 - x, below = (1 - y) * 2 + x, corner = 3 - rank();
  CHECK(field[5 * n] == 1000 * right + 20 * 5 + n - 2 && field[5 * n + n - 1] == 1000 * right + 20 * 5 + 1);
  CHECK(field[7] == 1000 * below + 20 * (n - 2) + 7 && field[(n - 1) * n + 7] == 1000 * below + 20 + 7);
  CHECK(field[0] == 1000 * corner + 20 * (n - 2) + n - 2 && field[n * n - 1] == 1000 * corner + 20 + 1);
}
