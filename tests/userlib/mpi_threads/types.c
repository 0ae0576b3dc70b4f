/* SPDX-License-Identifier: Apache-2.0 */
/* Derived types in C, with any number of ranks: a column, a triangle and structs go round a ring and to all. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { side = 4 };
struct particle {
  char kind;
  double place[3];
  int number;
};

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void column(int me, int ranks) {
  int from[side][side], to[side][side], n = 0;
  MPI_Datatype t;
  MPI_Request r;
  MPI_Status s;
  for (int i = 0; i < side * side; ++i) from[i / side][i % side] = 100 * me + i, to[i / side][i % side] = -1;
  MPI_Type_vector(side, 1, side, MPI_INT, &t);
  MPI_Type_commit(&t);
  MPI_Isend(&from[0][1], 1, t, (me + 1) % ranks, 0, MPI_COMM_WORLD, &r);
  MPI_Recv(&to[0][2], 1, t, (me + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &s);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Get_count(&s, t, &n);
  check(n == 1, "count");
  for (int i = 0; i < side * side; ++i)
    check(to[i / side][i % side] == (i % side == 2 ? 100 * ((me + ranks - 1) % ranks) + i - 1 : -1), "column");
  MPI_Type_free(&t);
  check(t == MPI_DATATYPE_NULL, "freed");
}

static void triangle(int me) {
  int v[side * side], lengths[side], places[side];
  MPI_Datatype t;
  for (int i = 0; i < side * side; ++i) v[i] = me == 0 ? i : -1;
  for (int i = 0; i < side; ++i) lengths[i] = side - i, places[i] = i * side + i;
  MPI_Type_indexed(side, lengths, places, MPI_INT, &t);
  MPI_Type_commit(&t);
  MPI_Bcast(v, 1, t, 0, MPI_COMM_WORLD);
  for (int i = 0; i < side * side; ++i) check(v[i] == (me == 0 || i % side >= i / side ? i : -1), "triangle");
  MPI_Type_free(&t);
}

static void structs(int me, int ranks) {
  struct particle mine, all[ranks];
  const int lengths[] = {1, 3, 1};
  const MPI_Aint places[] = {offsetof(struct particle, kind), offsetof(struct particle, place),
                             offsetof(struct particle, number)};
  const MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Datatype t;
  MPI_Aint lb, extent;
  int size;
  memset(&mine, 0, sizeof mine);
  mine.kind = 'x', mine.place[2] = me + 0.5, mine.number = me;
  MPI_Type_create_struct(3, lengths, places, parts, &t);
  MPI_Type_commit(&t);
  MPI_Type_size(t, &size);
  MPI_Type_get_extent(t, &lb, &extent);
  check(size == 29 && lb == 0 && extent == sizeof(struct particle), "size of a struct");
  MPI_Allgather(&mine, 1, t, all, 1, t, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r)
    check(all[r].kind == 'x' && all[r].place[2] == r + 0.5 && all[r].number == r, "struct");
  MPI_Type_free(&t);
}

int main(int argc, char** argv) {
  int me, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  column(me, ranks);
  triangle(me);
  structs(me, ranks);
  MPI_Finalize();
  return 0;
}
