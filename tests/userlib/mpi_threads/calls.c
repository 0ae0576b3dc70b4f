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

/* A number from each rank in 8 partitions, of which the last ones are ready first, and received in 2. */
static void partitions(int me, int ranks) {
  const int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  int mine[80], theirs[80], flag = 0;
  MPI_Request all[2];
  MPI_Psend_init(mine, 8, 10, MPI_INT, right, 8, MPI_COMM_WORLD, MPI_INFO_NULL, all);
  MPI_Precv_init(theirs, 2, 40, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_INFO_NULL, all + 1);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 80; ++i) mine[i] = 1000 * me + 100 * round + i, theirs[i] = -1;
    MPI_Startall(2, all);
    MPI_Pready_range(4, 7, all[0]);
    while (!flag) MPI_Parrived(all[1], 1, &flag);
    for (int i = 40; i < 80; ++i) CHECK(theirs[i] == 1000 * left + 100 * round + i);
    for (int i = 3; i >= 0; --i) MPI_Pready(i, all[0]);
    MPI_Waitall(2, all, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 80; ++i) CHECK(theirs[i] == 1000 * left + 100 * round + i);
    flag = 0;
  }
  MPI_Request_free(all), MPI_Request_free(all + 1);
}

/* All put their rank into all, and get from all; the memory is a variable, of malloc(), and none. */
static void windows(int me, int ranks) {
  int one = -1, *all = malloc(2 * ranks * sizeof *all), *got = all + ranks;
  MPI_Win of_variable, of_array, of_some;
  MPI_Win_create(&one, sizeof one, sizeof one, MPI_INFO_NULL, MPI_COMM_WORLD, &of_variable);
  MPI_Win_create(all, ranks * sizeof *all, sizeof *all, MPI_INFO_NULL, MPI_COMM_WORLD, &of_array);
  MPI_Win_create(me == 0 ? got : NULL, me == 0 ? sizeof *got : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &of_some);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, of_array);
  for (int i = 0; i < ranks; ++i) MPI_Put(&me, 1, MPI_INT, i, me, 1, MPI_INT, of_array);
  MPI_Put(&me, 1, MPI_INT, (me + 1) % ranks, 0, 1, MPI_INT, of_variable);
  MPI_Win_fence(0, of_array);
  for (int i = 0; i < ranks; ++i) CHECK(all[i] == i);
  CHECK(one == (me + ranks - 1) % ranks);
  for (int i = 0; i < ranks; ++i) MPI_Get(got + i, 1, MPI_INT, i, 0, 1, MPI_INT, of_variable);
  for (int i = 0; i < ranks; ++i) CHECK(got[i] == (i + ranks - 1) % ranks);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, of_array);
  if (me == ranks - 1) MPI_Put(&me, 1, MPI_INT, 0, 0, 1, MPI_INT, of_some);
  MPI_Win_fence(0, of_some);
  CHECK(me != 0 || got[0] == ranks - 1);
  MPI_Win_free(&of_some), MPI_Win_free(&of_array), MPI_Win_free(&of_variable);
  free(all);
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
  partitions(me, ranks);
  windows(me, ranks);
  errors(ranks);
  MPI_Finalize();
  return 0;
}
