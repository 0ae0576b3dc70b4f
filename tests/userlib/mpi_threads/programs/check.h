/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that show one behaviour of MPI each, with 2 ranks or more. A wrong result ends the program. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 3);                                   \
    }                                                                 \
  } while (0)

/* Begins main(): its rank, the number of ranks, and the ranks after and before it. */
#define PROGRAM                                                         \
  int me, ranks;                                                        \
  MPI_Init(&argc, &argv);                                               \
  MPI_Comm_rank(MPI_COMM_WORLD, &me);                                   \
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);                                \
  const int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks; \
  (void)next, (void)before

#define END       \
  MPI_Finalize(); \
  return 0

#define WORLD MPI_COMM_WORLD
#define NO_STATUS MPI_STATUS_IGNORE
#define CLASS_OF(error, is)            \
  do {                                 \
    int class_;                        \
    MPI_Error_class((error), &class_); \
    CHECK(class_ == (is));             \
  } while (0)
