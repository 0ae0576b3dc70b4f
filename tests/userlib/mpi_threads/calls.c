/* SPDX-License-Identifier: Apache-2.0 */
/* MPI in C, each group of calls once, compared with what a serial program finds. As many ranks as it is run with. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 3);                           \
    }                                                         \
  } while (0)

enum { LONG = 60000 };

static void messages(int me, int ranks) {
  const int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  double *mine = malloc(LONG * sizeof *mine), *theirs = malloc(LONG * sizeof *theirs);
  for (int i = 0; i < LONG; ++i) mine[i] = me * 0.5 + i;
  MPI_Status status;
  MPI_Sendrecv(mine, LONG, MPI_DOUBLE, right, 1, theirs, LONG, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 1);
  for (int i = 0; i < LONG; ++i) CHECK(theirs[i] == left * 0.5 + i);
  int word = me;
  MPI_Sendrecv_replace(&word, 1, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(word == left);
  int count;
  if (me % 2 == 0 && right != me) MPI_Send(mine, 3 + me, MPI_DOUBLE, right, 3, MPI_COMM_WORLD);
  if (left % 2 == 0 && left != me) {
    MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK(count == 3 + left);
    MPI_Recv(theirs, count, MPI_DOUBLE, status.MPI_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(theirs[count - 1] == left * 0.5 + count - 1);
  }
  free(mine), free(theirs);
}

/* To and from every rank, in no order. */
static void requests(int me, int ranks) {
  MPI_Request all[32];
  int to[16], from[16];
  const int n = ranks < 16 ? ranks : 16;
  for (int i = 0; i < n; ++i) {
    const int peer = (me / n * n + i) % ranks;
    to[i] = 1000 * me + peer, from[i] = -1;
    MPI_Irecv(from + i, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, all + 2 * i);
    MPI_Isend(to + i, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, all + 2 * i + 1);
  }
  if (ranks % n == 0) {
    MPI_Waitall(2 * n, all, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; ++i) CHECK(from[i] == 1000 * (me / n * n + i) + me);
  }
}

static void collectives(int me, int ranks) {
  int *all = calloc(ranks, sizeof *all), *counts = calloc(ranks, sizeof *counts),
      *places = calloc(ranks, sizeof *places);
  int one = me == 0 ? 77 : 0, sum = 0, mine = me * me;
  MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(one == 77);
  MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) CHECK(all[i] == i * i);
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == ranks * (ranks - 1) / 2);
  MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  CHECK(me != 0 || sum == ranks - 1);
  MPI_Scan(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == me * (me + 1) / 2);
  MPI_Alltoall(all, 1, MPI_INT, places, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) CHECK(places[i] == me * me);
  for (int i = 0; i < ranks; ++i) counts[i] = 1, places[i] = ranks - 1 - i;
  MPI_Reduce_scatter(places, &one, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(one == ranks * (ranks - 1 - me));
  MPI_Reduce_scatter_block(places, &one, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(one == ranks - 1 - me);
  MPI_Gatherv(&me, 1, MPI_INT, all, counts, places, MPI_INT, ranks - 1, MPI_COMM_WORLD);
  for (int i = 0; i < ranks && me == ranks - 1; ++i) CHECK(all[i] == ranks - 1 - i);
  MPI_Scatter(all, 1, MPI_INT, &one, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
  CHECK(one == ranks - 1 - me);
  MPI_Barrier(MPI_COMM_WORLD);
  free(all), free(counts), free(places);
}

static void errors(int ranks) {
  char text[MPI_MAX_ERROR_STRING];
  int length, error_class, word = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int error = MPI_Send(&word, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD);
  MPI_Error_class(error, &error_class);
  MPI_Error_string(error, text, &length);
  CHECK(error_class == MPI_ERR_RANK && strcmp(text, "invalid rank") == 0);
  CHECK(MPI_Send(&word, -1, MPI_INT, 0, 0, MPI_COMM_WORLD) == MPI_ERR_COUNT);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  int me, ranks, before, after;
  MPI_Initialized(&before);
  MPI_Init(&argc, &argv);
  MPI_Initialized(&after);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(!before && after && argc == 2 && atoi(argv[1]) == ranks);
  messages(me, ranks);
  requests(me, ranks);
  collectives(me, ranks);
  errors(ranks);
  MPI_Finalize();
  return 0;
}
