// SPDX-License-Identifier: Apache-2.0
// Groups and communicators of MPI. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/collective_calls.cuh"

#define MPI_GROUP_NULL static_cast<MPI_Group>(nullptr)

namespace ggas::mpi {

// Of these ranks of MPI_COMM_WORLD; keeps `list`, or frees it where a step says as much. By one thread.
GGAS_DEVICE rank_set set_from(int* list, int n) {
  rank_set s{n, MPI_UNDEFINED, n > 0 ? list[0] : 0, n > 1 ? list[1] - list[0] : 1, list};
  bool steps = s.stride != 0;
  for (int i = 0; i < n; ++i) {
    steps = steps && list[i] == s.first + i * s.stride;
    if (list[i] == ggas_message_rank(world())) s.me = i;
  }
  if (!steps) return s;
  free(list);
  s.list = nullptr;
  return s;
}
GGAS_DEVICE rank_set set_of_any(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? set_of_world() : set_of(comm); }

// A group of the ranks pick(i) for i < n that are not negative; null: no memory.
template <class Pick>
GGAS_DEVICE MPI_Group new_group(int n, Pick pick) {
  auto* const made = new_memory<rank_set>(1);
  int* const list = new_memory<int>(n);
  const rank_group g;
  if (g.leads() && made && list) {
    int size = 0;
    for (int i = 0; i < n; ++i)
      if (const int rank = pick(i); rank >= 0) list[size++] = rank;
    *made = set_from(list, size);
  }
  g.sync();
  return list ? made : nullptr;
}
GGAS_DEVICE int give_group(MPI_Group made, MPI_Group* group) {
  *group = made;
  return made ? MPI_SUCCESS : MPI_ERR_OTHER;
}

// ---- the table of communicators

GGAS_DEVICE bool has_table() {
  if (comms()) return true;
  auto* const table = new_memory<comm_table>(1);
  const rank_group g;
  if (g.leads() && table) {
    table->used = 0;
    self().matching().communicators = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(table));
  }
  g.sync();
  return table != nullptr;
}
// Numbers of communicators that this rank does not use.
GGAS_DEVICE uint64_t free_comms() { return has_table() ? ~comms()->used & ((uint64_t{1} << most_comms) - 1) : 0; }

// `common`: numbers that are free at all members. The set is that of a group of the rank's, which is freed.
GGAS_DEVICE int new_comm(uint64_t common, MPI_Group group, MPI_Comm* comm) {
  *comm = MPI_COMM_NULL;
  if (common == 0 || !group) return MPI_ERR_OTHER;
  const rank_set set = *group;
  free_memory(group);
  if (set.me == MPI_UNDEFINED) {
    free_memory(set.list);
    return MPI_SUCCESS;
  }
  const int i = detail::lowest_bit(common);
  const rank_group g;
  if (g.leads()) {
    comms()->sets[i] = set;
    comms()->collectives[i] = 0;
    comms()->used |= uint64_t{1} << i;
  }
  g.sync();
  *comm = static_cast<MPI_Comm>(first_comm + i);
  return MPI_SUCCESS;
}
// By all ranks of a communicator.
GGAS_DEVICE int agree_on_free(MPI_Comm comm, uint64_t& common) {
  const uint64_t mine = free_comms();
  const int error = MPI_Allreduce(&mine, &common, 1, MPI_UNSIGNED_LONG, MPI_BAND, comm);
  common = reinterpret_cast<uintptr_t>(of_all_threads(reinterpret_cast<void*>(static_cast<uintptr_t>(common))));
  return error;
}

struct color_and_key {
  int color, key;
};
// The ranks of a colour, by key and, among equal ones, by rank. By one thread.
GGAS_DEVICE rank_set set_of_color(const color_and_key* all, MPI_Comm comm, int color) {
  const int n = size_of(comm);
  int members = 0;
  for (int r = 0; r < n; ++r) members += all[r].color == color;
  auto* const list = static_cast<int*>(malloc(static_cast<size_t>(members) * sizeof(int)));
  int size = 0;
  for (int r = 0; r < n && list; ++r) {
    if (all[r].color != color) continue;
    int at = size++;
    for (; at > 0 && all[list[at - 1]].key > all[r].key; --at) list[at] = list[at - 1];
    list[at] = r;
  }
  for (int i = 0; i < size; ++i) list[i] = peer_in(comm, list[i]);
  return list ? set_from(list, size) : rank_set{0, MPI_UNDEFINED, 0, 1, nullptr};
}

}  // namespace ggas::mpi

// ---- groups: by one rank

GGAS_DEVICE_FUNCTION int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  using namespace ggas::mpi;
  if (!comm_good(comm)) return MPI_ERR_COMM;
  const rank_set s = set_of_any(comm);
  return give_group(new_group(s.size, [&](int i) { return s.world_rank(i); }), group);
}
GGAS_DEVICE int MPI_Group_size(MPI_Group group, int* size) {
  if (!group) return MPI_ERR_GROUP;
  *size = group->size;
  return MPI_SUCCESS;
}
GGAS_DEVICE int MPI_Group_rank(MPI_Group group, int* rank) {
  if (!group) return MPI_ERR_GROUP;
  *rank = group->me;
  return MPI_SUCCESS;
}
namespace ggas::mpi {
GGAS_DEVICE int check_members(MPI_Group group, int n, const int* ranks) {
  if (!group) return MPI_ERR_GROUP;
  if (n < 0 || (n > 0 && !ranks)) return MPI_ERR_ARG;
  for (int i = 0; i < n; ++i)
    if (ranks[i] < 0 || ranks[i] >= group->size) return MPI_ERR_RANK;
  return MPI_SUCCESS;
}
GGAS_DEVICE bool has(const int* ranks, int n, int rank) {
  for (int i = 0; i < n; ++i)
    if (ranks[i] == rank) return true;
  return false;
}
}  // namespace ggas::mpi
GGAS_DEVICE_FUNCTION int MPI_Group_incl(MPI_Group group, int n, const int* ranks, MPI_Group* made) {
  using namespace ggas::mpi;
  const int wrong = check_members(group, n, ranks);
  if (wrong != MPI_SUCCESS) return wrong;
  return give_group(new_group(n, [&](int i) { return group->world_rank(ranks[i]); }), made);
}
GGAS_DEVICE_FUNCTION int MPI_Group_excl(MPI_Group group, int n, const int* ranks, MPI_Group* made) {
  using namespace ggas::mpi;
  const int wrong = check_members(group, n, ranks);
  if (wrong != MPI_SUCCESS) return wrong;
  return give_group(new_group(group->size, [&](int i) { return has(ranks, n, i) ? -1 : group->world_rank(i); }), made);
}
// Those of the first one, then those of the second one that are not in the first one.
GGAS_DEVICE_FUNCTION int MPI_Group_union(MPI_Group a, MPI_Group b, MPI_Group* made) {
  using namespace ggas::mpi;
  if (!a || !b) return MPI_ERR_GROUP;
  return give_group(new_group(a->size + b->size,
                              [&](int i) {
                                if (i < a->size) return a->world_rank(i);
                                const int rank = b->world_rank(i - a->size);
                                return a->place_of(rank) == MPI_UNDEFINED ? rank : -1;
                              }),
                    made);
}
namespace ggas::mpi {
GGAS_DEVICE int part_of_group(MPI_Group a, MPI_Group b, bool in_both, MPI_Group* made) {
  if (!a || !b) return MPI_ERR_GROUP;
  return give_group(new_group(a->size,
                              [&](int i) {
                                const int rank = a->world_rank(i);
                                return (b->place_of(rank) != MPI_UNDEFINED) == in_both ? rank : -1;
                              }),
                    made);
}
}  // namespace ggas::mpi
GGAS_DEVICE_FUNCTION int MPI_Group_intersection(MPI_Group a, MPI_Group b, MPI_Group* made) {
  return ggas::mpi::part_of_group(a, b, true, made);
}
GGAS_DEVICE_FUNCTION int MPI_Group_difference(MPI_Group a, MPI_Group b, MPI_Group* made) {
  return ggas::mpi::part_of_group(a, b, false, made);
}
GGAS_DEVICE_FUNCTION int MPI_Group_translate_ranks(MPI_Group a, int n, const int* ranks, MPI_Group b, int* there) {
  if (!a || !b) return MPI_ERR_GROUP;
  for (int i = 0; i < n; ++i) {
    if (ranks[i] != MPI_PROC_NULL && (ranks[i] < 0 || ranks[i] >= a->size)) return MPI_ERR_RANK;
    there[i] = ranks[i] == MPI_PROC_NULL ? MPI_PROC_NULL : b->place_of(a->world_rank(ranks[i]));
  }
  return MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int MPI_Group_compare(MPI_Group a, MPI_Group b, int* how) {
  if (!a || !b) return MPI_ERR_GROUP;
  *how = a->size == b->size ? MPI_IDENT : MPI_UNEQUAL;
  for (int i = 0; i < a->size && *how != MPI_UNEQUAL; ++i) {
    const int place = b->place_of(a->world_rank(i));
    if (place != i) *how = place == MPI_UNDEFINED ? MPI_UNEQUAL : MPI_SIMILAR;
  }
  return MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int MPI_Group_free(MPI_Group* group) {
  if (!*group) return MPI_ERR_GROUP;
  ggas::mpi::free_memory((*group)->list);
  ggas::mpi::free_memory(*group);
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

// ---- communicators: by all ranks of `comm`; MPI_ERR_OTHER: 63 of a rank's are in use, or no memory is left

GGAS_DEVICE_FUNCTION int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  using namespace ggas::mpi;
  uint64_t common = 0;
  if (!comm_good(comm)) return MPI_ERR_COMM;
  if (const int error = agree_on_free(comm, common); error != MPI_SUCCESS) return error;
  MPI_Group group = nullptr;
  const int error = MPI_Comm_group(comm, &group);
  return error == MPI_SUCCESS ? new_comm(common, group, made) : error;
}
// Ranks of the group get the communicator, others MPI_COMM_NULL.
GGAS_DEVICE_FUNCTION int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  using namespace ggas::mpi;
  uint64_t common = 0;
  if (!comm_good(comm)) return MPI_ERR_COMM;
  if (const int error = agree_on_free(comm, common); error != MPI_SUCCESS) return error;
  if (!group) return MPI_ERR_GROUP;
  return new_comm(common, new_group(group->size, [&](int i) { return group->world_rank(i); }), made);
}
// By the ranks of the group only; `tag` is that of their messages.
GGAS_DEVICE_FUNCTION int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  using namespace ggas::mpi;
  *made = MPI_COMM_NULL;
  if (!comm_good(comm)) return MPI_ERR_COMM;
  if (!group) return MPI_ERR_GROUP;
  if (group->me == MPI_UNDEFINED) return MPI_SUCCESS;
  const rank_set all = set_of_any(comm);
  uint64_t common = free_comms();
  int error = MPI_SUCCESS;
  // From rank to rank and back: then one message at most waits at each.
  const int before = group->me > 0 ? all.place_of(group->world_rank(group->me - 1)) : MPI_PROC_NULL;
  const int after = group->me + 1 < group->size ? all.place_of(group->world_rank(group->me + 1)) : MPI_PROC_NULL;
  const uint64_t mine = common;
  if (before != MPI_PROC_NULL) error = MPI_Recv(&common, 1, MPI_UNSIGNED_LONG, before, tag, comm, MPI_STATUS_IGNORE);
  common &= mine;
  error = first_of(error, MPI_Send(&common, 1, MPI_UNSIGNED_LONG, after, tag, comm));
  if (after != MPI_PROC_NULL)
    error = first_of(error, MPI_Recv(&common, 1, MPI_UNSIGNED_LONG, after, tag, comm, MPI_STATUS_IGNORE));
  error = first_of(error, MPI_Send(&common, 1, MPI_UNSIGNED_LONG, before, tag, comm));
  if (error != MPI_SUCCESS) return error;
  common = reinterpret_cast<uintptr_t>(of_all_threads(reinterpret_cast<void*>(static_cast<uintptr_t>(common))));
  return new_comm(common, new_group(group->size, [&](int i) { return group->world_rank(i); }), made);
}
// Ranks of one colour get a communicator, in the order of their keys; MPI_UNDEFINED: none.
GGAS_DEVICE_FUNCTION int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  using namespace ggas::mpi;
  *made = MPI_COMM_NULL;
  uint64_t common = 0;
  if (!comm_good(comm)) return MPI_ERR_COMM;
  if (const int error = agree_on_free(comm, common); error != MPI_SUCCESS) return error;
  auto* const all = new_memory<color_and_key>(size_of(comm));
  auto* const group = new_memory<rank_set>(1);
  if (!all || !group) return MPI_ERR_OTHER;
  const color_and_key mine{color, key};
  const int error = MPI_Allgather(&mine, 2, MPI_INT, all, 2, MPI_INT, comm);
  const rank_group g;
  g.sync();
  if (g.leads())
    *group = color == MPI_UNDEFINED ? rank_set{0, MPI_UNDEFINED, 0, 1, nullptr} : set_of_color(all, comm, color);
  g.sync();
  free_memory(all);
  return error == MPI_SUCCESS ? new_comm(common, group, made) : error;
}
GGAS_DEVICE_FUNCTION int MPI_Comm_compare(MPI_Comm a, MPI_Comm b, int* how) {
  using namespace ggas::mpi;
  if (!comm_good(a) || !comm_good(b)) return MPI_ERR_COMM;
  rank_set of_a = set_of_any(a), of_b = set_of_any(b);
  const int error = MPI_Group_compare(&of_a, &of_b, how);
  if (*how == MPI_IDENT && a != b) *how = MPI_CONGRUENT;
  return error;
}
// MPI_COMM_NULL stays, without an error: programs free what only some of their ranks got.
GGAS_DEVICE_FUNCTION int MPI_Comm_free(MPI_Comm* comm) {
  using namespace ggas::mpi;
  if (*comm == MPI_COMM_NULL) return MPI_SUCCESS;
  if (!is_other(*comm)) return MPI_ERR_COMM;
  free_memory(set_of(*comm).list);
  const rank_group g;
  g.sync();
  if (g.leads()) comms()->used &= ~(uint64_t{1} << (static_cast<int>(*comm) - first_comm));
  g.sync();
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

// No barrier: messages under way are lost.
GGAS_DEVICE int MPI_Finalize() {
  using namespace ggas::mpi;
  free_types();
  if (comms()) {
    for (int i = 0; i < most_comms; ++i)
      if ((comms()->used >> i & 1) != 0) free_memory(comms()->sets[i].list);
    free_memory(comms());
    const rank_group g;
    g.sync();
    if (g.leads()) self().matching().communicators = 0;
    g.sync();
  }
  return MPI_SUCCESS;
}
