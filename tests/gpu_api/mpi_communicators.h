/* SPDX-License-Identifier: Apache-2.0 */
/* Groups and communicators of MPI, compared with the standard. The same text for kernels and for programs in C: the
   file that includes it defines MPI_TEST_DEVICE, and TOGETHER, which the threads of a rank pass before they write what
   others of them read. Each function returns the line that found a difference, or 0. */
#define REQUIRE(condition) \
  if (!(condition)) return __LINE__
#define WORKS(call) REQUIRE((call) == MPI_SUCCESS)

enum { COMM_LONG = 50 };
/* Numbers that `own` of each rank has room for. */
#define COMM_TEST_NUMBERS(ranks) (4 + 2 * (ranks) + 2 * COMM_LONG)

/* Every third rank, the last one first: rank `place` of the communicator is rank last - 3 * place of all. */
static MPI_TEST_DEVICE int comm_collectives(MPI_Comm comm, int me, int size, int place, int* own) {
  int* const all = own + 4;
  int* const more = all + COMM_LONG + size;
  const int last = me + 3 * place;
  int sum = 0, before = 0;
  for (int i = 0; i < size; ++i) sum += last - 3 * i, before += i < place ? last - 3 * i : 0;
  TOGETHER;
  own[0] = me;
  WORKS(MPI_Allreduce(own, all, 1, MPI_INT, MPI_SUM, comm));
  REQUIRE(all[0] == sum);
  TOGETHER;
  WORKS(MPI_Scan(own, all, 1, MPI_INT, MPI_SUM, comm));
  REQUIRE(all[0] == before + me);
  TOGETHER;
  WORKS(MPI_Exscan(own, all, 1, MPI_INT, MPI_SUM, comm));
  REQUIRE(place == 0 || all[0] == before);
  WORKS(MPI_Barrier(comm));
  TOGETHER;
  all[0] = place == size - 1 ? me : -1;
  WORKS(MPI_Bcast(all, 1, MPI_INT, size - 1, comm));
  REQUIRE(all[0] == last - 3 * (size - 1));
  TOGETHER;
  WORKS(MPI_Gather(own, 1, MPI_INT, all, 1, MPI_INT, size / 2, comm));
  for (int i = 0; i < size && place == size / 2; ++i) REQUIRE(all[i] == last - 3 * i);
  TOGETHER;
  WORKS(MPI_Scatter(all, 1, MPI_INT, own + 1, 1, MPI_INT, size / 2, comm));
  REQUIRE(own[1] == me);
  TOGETHER;
  WORKS(MPI_Allgather(own, 1, MPI_INT, all, 1, MPI_INT, comm));
  for (int i = 0; i < size; ++i) REQUIRE(all[i] == last - 3 * i);
  TOGETHER;
  for (int i = 0; i < size; ++i) all[i] = 100 * me + i;
  WORKS(MPI_Alltoall(all, 1, MPI_INT, more, 1, MPI_INT, comm));
  for (int i = 0; i < size; ++i) REQUIRE(more[i] == 100 * (last - 3 * i) + place);
  TOGETHER;
  for (int i = 0; i < COMM_LONG; ++i) all[i] = me + i;
  TOGETHER;
  WORKS(MPI_Reduce(all, more, COMM_LONG, MPI_INT, MPI_MAX, size - 1, comm));
  for (int i = 0; i < COMM_LONG && place == size - 1; ++i) REQUIRE(more[i] == last + i);
  TOGETHER;
  WORKS(MPI_Allreduce(MPI_IN_PLACE, all, COMM_LONG, MPI_INT, MPI_SUM, comm));
  for (int i = 0; i < COMM_LONG; ++i) REQUIRE(all[i] == sum + size * i);
  return 0;
}

/* Messages of other communicators with the same tag do not match, whatever a receive wants. */
static MPI_TEST_DEVICE int comm_messages(MPI_Comm comm, int me, int size, int place, int* own) {
  const int last = me + 3 * place, right = (place + 1) % size, left = (place + size - 1) % size;
  MPI_Comm twin;
  MPI_Status s;
  MPI_Request r;
  int how;
  WORKS(MPI_Comm_dup(comm, &twin));
  WORKS(MPI_Comm_compare(comm, twin, &how));
  REQUIRE(how == MPI_CONGRUENT);
  WORKS(MPI_Comm_compare(comm, comm, &how));
  REQUIRE(how == MPI_IDENT);
  TOGETHER;
  own[0] = 1, own[1] = 2, own[2] = 3, own[3] = 0;
  WORKS(MPI_Send(own, 1, MPI_INT, last - 3 * right, 5, MPI_COMM_WORLD));
  WORKS(MPI_Send(own + 1, 1, MPI_INT, right, 5, comm));
  WORKS(MPI_Send(own + 2, 1, MPI_INT, right, 5, twin));
  WORKS(MPI_Irecv(own + 3, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, twin, &r));
  WORKS(MPI_Wait(&r, &s));
  REQUIRE(own[3] == 3 && s.MPI_SOURCE == left && s.MPI_TAG == 5);
  WORKS(MPI_Probe(MPI_ANY_SOURCE, 5, comm, &s));
  REQUIRE(s.MPI_SOURCE == left && s.MPI_TAG == 5);
  TOGETHER;
  WORKS(MPI_Recv(own + 3, 1, MPI_INT, left, MPI_ANY_TAG, comm, &s));
  REQUIRE(own[3] == 2 && s.MPI_SOURCE == left && s.MPI_TAG == 5);
  TOGETHER;
  WORKS(MPI_Recv(own + 3, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
  REQUIRE(own[3] == 1 && s.MPI_SOURCE == last - 3 * left && s.MPI_TAG == 5);
  WORKS(MPI_Comm_free(&twin));
  REQUIRE(twin == MPI_COMM_NULL);
  return 0;
}

static MPI_TEST_DEVICE int comm_split(int me, int ranks, int* own) {
  MPI_Comm comm;
  int size, place;
  WORKS(MPI_Comm_split(MPI_COMM_WORLD, me % 3, -me, &comm));
  WORKS(MPI_Comm_size(comm, &size));
  WORKS(MPI_Comm_rank(comm, &place));
  REQUIRE(size == (ranks - me % 3 + 2) / 3 && place == (ranks - 1 - me) / 3);
  int line = comm_collectives(comm, me, size, place, own);
  if (line == 0) line = comm_messages(comm, me, size, place, own);
  if (line != 0) return line;
  WORKS(MPI_Comm_free(&comm));
  /* Without rank 0, which gets none. */
  WORKS(MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? MPI_UNDEFINED : 4, 0, &comm));
  REQUIRE((comm == MPI_COMM_NULL) == (me == 0));
  if (me == 0) return 0;
  WORKS(MPI_Comm_size(comm, &size));
  WORKS(MPI_Comm_rank(comm, &place));
  REQUIRE(size == ranks - 1 && place == me - 1);
  WORKS(MPI_Comm_free(&comm));
  return 0;
}

static MPI_TEST_DEVICE int comm_groups(int me, int ranks, int* own) {
  MPI_Group all, even, odd, both, none, rest;
  int* const list = own + 4;
  int size, place, how;
  const int evens = (ranks + 1) / 2;
  WORKS(MPI_Comm_group(MPI_COMM_WORLD, &all));
  TOGETHER;
  for (int i = 0; i < evens; ++i) list[i] = 2 * i;
  WORKS(MPI_Group_incl(all, evens, list, &even));
  WORKS(MPI_Group_excl(all, evens, list, &odd));
  WORKS(MPI_Group_size(odd, &size));
  WORKS(MPI_Group_rank(even, &place));
  REQUIRE(size == ranks - evens && place == (me % 2 == 0 ? me / 2 : MPI_UNDEFINED));
  WORKS(MPI_Group_union(odd, even, &both));
  WORKS(MPI_Group_compare(both, all, &how));
  REQUIRE(how == (ranks == 1 ? MPI_IDENT : MPI_SIMILAR));
  WORKS(MPI_Group_intersection(odd, even, &none));
  WORKS(MPI_Group_size(none, &size));
  REQUIRE(size == 0);
  WORKS(MPI_Group_difference(all, even, &rest));
  WORKS(MPI_Group_compare(rest, odd, &how));
  REQUIRE(how == MPI_IDENT);
  WORKS(MPI_Group_translate_ranks(all, 1, &me, even, &place));
  REQUIRE(place == (me % 2 == 0 ? me / 2 : MPI_UNDEFINED));
  MPI_Comm of_even, of_odd;
  WORKS(MPI_Comm_create_group(MPI_COMM_WORLD, even, 7, &of_even));
  WORKS(MPI_Comm_create(MPI_COMM_WORLD, odd, &of_odd));
  REQUIRE((of_even == MPI_COMM_NULL) == (me % 2 == 1) && (of_odd == MPI_COMM_NULL) == (me % 2 == 0));
  MPI_Comm mine = me % 2 == 0 ? of_even : of_odd;
  TOGETHER;
  own[0] = me;
  WORKS(MPI_Allreduce(own, own + 1, 1, MPI_INT, MPI_MIN, mine));
  REQUIRE(own[1] == me % 2);
  WORKS(MPI_Comm_free(&mine));
  WORKS(MPI_Group_free(&rest));
  WORKS(MPI_Group_free(&none));
  WORKS(MPI_Group_free(&both));
  WORKS(MPI_Group_free(&odd));
  WORKS(MPI_Group_free(&even));
  WORKS(MPI_Group_free(&all));
  REQUIRE(all == MPI_GROUP_NULL);
  return 0;
}

/* Ranks without a common step, and numbers that are used again. */
static MPI_TEST_DEVICE int comm_lists(int me, int ranks, int* own) {
  MPI_Comm comm;
  int* const all = own + 4;
  int size;
  WORKS(MPI_Comm_split(MPI_COMM_WORLD, me % 5 == 2, 0, &comm));
  WORKS(MPI_Comm_size(comm, &size));
  TOGETHER;
  own[0] = me;
  TOGETHER;
  WORKS(MPI_Allgather(own, 1, MPI_INT, all, 1, MPI_INT, comm));
  for (int r = 0, at = 0; r < ranks; ++r)
    if ((r % 5 == 2) == (me % 5 == 2)) {
      REQUIRE(at < size && all[at] == r);
      ++at;
    }
  WORKS(MPI_Comm_free(&comm));
  for (int i = 0; i < 70; ++i) {
    WORKS(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    WORKS(MPI_Comm_free(&comm));
  }
  return 0;
}
