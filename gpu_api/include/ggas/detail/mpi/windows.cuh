// SPDX-License-Identifier: Apache-2.0
// Windows of MPI: memory of every rank that others put to and get from, between fences. All ranks reach memory of the
// segment, those of the node its other memory, and those of the block its shared memory. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/collective_calls.cuh"

// One of the rank's; what others need to know of it lies in the rank's memory.
struct MPI_Win {
  int number;  // 0: none
  GGAS_DEVICE bool operator==(const MPI_Win& other) const { return number == other.number; }
};
#define MPI_WIN_NULL \
  MPI_Win {}
// What a program may say of a fence; not used.
enum : int {
  MPI_MODE_NOCHECK = 1,
  MPI_MODE_NOSTORE = 2,
  MPI_MODE_NOPUT = 4,
  MPI_MODE_NOPRECEDE = 8,
  MPI_MODE_NOSUCCEED = 16
};

namespace ggas::mpi {

constexpr uint32_t in_segment = 0, of_node = ~0u;
struct window {
  uint64_t place;  // offset in the segment, or address
  uint64_t bytes;
  uint32_t unit;
  uint32_t block;  // in whose shared memory it lies, from 1 on; or in_segment, or of_node: in other memory of the node
};
static_assert(sizeof(window) <= message_layout::line / 2);

GGAS_DEVICE window* window_of(int rank, int number) {
  const uint64_t at = self().part_of(rank) + detail::layout_of(world()).window(static_cast<uint64_t>(number - 1));
  return ggas_pointer_of_node<window>(self().node_of(rank), at);
}
GGAS_DEVICE uint32_t own_block() { return detail::block_rank() + 1; }
GGAS_DEVICE window load_window(int rank, int number) {
  const window* const w = window_of(rank, number);
  return {detail::load_relaxed(&w->place), detail::load_relaxed(&w->bytes), detail::load_relaxed(&w->unit),
          detail::load_relaxed(&w->block)};
}
// Where bytes of a window lie; null: the caller does not reach them.
GGAS_DEVICE char* address_in(const window& w, int rank, uint64_t offset) {
  if (w.block == in_segment) return ggas_pointer_of_node<char>(self().node_of(rank), w.place + offset);
  const bool mine = self().node_of(rank) == ggas_node() && (w.block == of_node || w.block == own_block());
  return mine ? reinterpret_cast<char*>(static_cast<uintptr_t>(w.place + offset)) : nullptr;
}
GGAS_DEVICE bool window_good(MPI_Win win) {
  return win.number >= 1 && win.number <= static_cast<int>(message_layout::windows);
}

// The bytes of `count` elements around the address of the first one.
struct item_range {
  int64_t low, bytes;
  GGAS_DEVICE item_range(const type_shape& s, int count) {
    const int64_t steps = count > 0 ? limited_product(count - 1, s.extent()) : 0;
    low = limited_sum(s.true_lb, steps < 0 ? steps : 0);
    bytes = count > 0 ? limited_sum(s.true_ub - s.true_lb, steps < 0 ? -steps : steps) : 0;
  }
};

// By the threads of the rank.
GGAS_DEVICE void put_bytes(char* at, const char* from, uint64_t bytes) {
  rank_group{}.sync();
  const number_share share(from);
  for (uint64_t i = share.first; i < bytes; i += share.step) detail::store_relaxed(at + i, from[i]);
}

// What is moved: checked, and where the first element lies at the target.
GGAS_DEVICE int find_target(const void* buffer, int count, MPI_Datatype type, int rank, MPI_Aint disp, int target_count,
                            MPI_Datatype target_type, MPI_Win win, char*& at) {
  at = nullptr;
  type_shape own, there;
  const int wrong = check_items(buffer, count, type, MPI_COMM_WORLD);
  if (wrong != MPI_SUCCESS) return wrong;
  if (target_count < 0) return MPI_ERR_COUNT;
  if (!(derived(target_type) || type_good(target_type)) || !shape_of(type, own) || !shape_of(target_type, there))
    return MPI_ERR_TYPE;
  if (!window_good(win)) return MPI_ERR_WIN;
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (!detail::rank_exists(world(), rank)) return MPI_ERR_RANK;
  if (limited_product(count, own.size) != limited_product(target_count, there.size)) return MPI_ERR_COUNT;
  const window w = load_window(rank, win.number);
  if (w.unit == 0) return MPI_ERR_WIN;
  if (disp < 0 || static_cast<uint64_t>(disp) > w.bytes / w.unit) return MPI_ERR_DISP;
  const item_range range(there, target_count);
  const int64_t first = limited_sum(static_cast<int64_t>(static_cast<uint64_t>(disp) * w.unit), range.low);
  if (range.bytes == 0) return MPI_SUCCESS;
  if (first < 0 || first > static_cast<int64_t>(w.bytes) - range.bytes) return MPI_ERR_DISP;
  char* const begin = address_in(w, rank, static_cast<uint64_t>(first));
  at = begin ? begin - range.low : nullptr;
  return begin ? MPI_SUCCESS : MPI_ERR_DISP;
}

// Between the caller's elements and those at a target, of which one side at least is of a derived type.
GGAS_DEVICE_FUNCTION int move_at_target(const void* own, int count, MPI_Datatype type, char* at,
                                        MPI_Datatype target_type, item_move how) {
  packed_call items(own, count, type, MPI_COMM_WORLD, true);
  if (items.wrong != MPI_SUCCESS) return items.wrong;
  const uint64_t bytes = bytes_of(items.count, items.type);
  const derived_type* const there = derived(target_type);
  char* const data = as_bytes(items.data);
  if (there)
    move_items(*there, at, data, 0, bytes, how);
  else if (how == item_move::put)
    put_bytes(at, data, bytes);
  else
    take_from_stage(data, at, bytes);
  rank_group{}.sync();
  return items.end(how == item_move::get, MPI_SUCCESS);
}

// Where memory of the caller lies.
GGAS_DEVICE window window_at(void* base, MPI_Aint size, int unit) {
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(base)), bytes = static_cast<uint64_t>(size);
  const uint64_t at = address - static_cast<uint64_t>(reinterpret_cast<uintptr_t>(detail::own_word(0)));
  if (size == 0 || detail::fits_segment(at, bytes)) return {size == 0 ? 0 : at, bytes, static_cast<uint32_t>(unit), 0};
  return {address, bytes, static_cast<uint32_t>(unit), detail::is_in_shared(base) ? own_block() : of_node};
}
// Whether a communicator has the ranks of MPI_COMM_WORLD in their order.
GGAS_DEVICE bool is_as_world(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) return true;
  const rank_set& s = set_of(comm);
  return s.size == size_of(MPI_COMM_WORLD) && s.first == 0 && s.stride == 1 && !s.list;
}
// By all ranks. `variables`: a rank's variables may be a window.
GGAS_DEVICE_FUNCTION int create_window(void* base, MPI_Aint size, int unit, MPI_Comm comm, bool variables,
                                       MPI_Win* win) {
  const rank_group g;
  *win = MPI_WIN_NULL;
  if (comm_good(comm) && !is_as_world(comm)) return MPI_ERR_COMM;  // at all of its ranks
  int wrong = !comm_good(comm) ? MPI_ERR_COMM : size < 0 || unit <= 0 ? MPI_ERR_ARG : MPI_SUCCESS;
  if (wrong == MPI_SUCCESS && size > 0 && (!base || (!variables && detail::is_private(base)))) wrong = MPI_ERR_BUFFER;
  matching_state& d = self().matching();
  int number = 0;
  for (int i = 1; i <= static_cast<int>(message_layout::windows) && number == 0; ++i)
    if ((d.windows >> i & 1) == 0) number = i;
  if (number == 0) wrong = first_of(wrong, MPI_ERR_WIN);
  g.sync();
  if (g.leads() && number != 0) {
    d.windows |= uint64_t{1} << number;
    *window_of(d.me, number) = wrong == MPI_SUCCESS ? window_at(base, size, unit) : window{};
  }
  win->number = number;
  return after(wrong, meet());
}

}  // namespace ggas::mpi

// By all ranks, of all. Not a variable of a thread.
GGAS_DEVICE int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info, MPI_Comm comm, MPI_Win* win) {
  return ggas::mpi::create_window(base, size, unit, comm, false, win);
}
GGAS_DEVICE_FUNCTION int MPI_Win_free(MPI_Win* win) {
  using namespace ggas::mpi;
  const bool good = window_good(*win);
  const int met = meet();
  const rank_group g;
  if (good && g.leads()) self().matching().windows &= ~(uint64_t{1} << win->number);
  g.sync();
  *win = MPI_WIN_NULL;
  return after(good ? MPI_SUCCESS : MPI_ERR_WIN, met);
}
// What was put before is there after it, at all ranks.
GGAS_DEVICE_FUNCTION int MPI_Win_fence(int, MPI_Win win) {
  return ggas::mpi::after(ggas::mpi::window_good(win) ? MPI_SUCCESS : MPI_ERR_WIN, ggas::mpi::meet());
}

GGAS_DEVICE_FUNCTION int MPI_Put(const void* from, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                                 int target_count, MPI_Datatype target_type, MPI_Win win) {
  using namespace ggas::mpi;
  char* at;
  const int wrong = find_target(from, count, type, rank, disp, target_count, target_type, win, at);
  if (wrong != MPI_SUCCESS || !at) return wrong;
  if (derived(type) || derived(target_type)) return move_at_target(from, count, type, at, target_type, item_move::put);
  put_bytes(at, as_bytes(from), bytes_of(count, type));
  return MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int MPI_Get(void* to, int count, MPI_Datatype type, int rank, MPI_Aint disp, int target_count,
                                 MPI_Datatype target_type, MPI_Win win) {
  using namespace ggas::mpi;
  char* at;
  const int wrong = find_target(to, count, type, rank, disp, target_count, target_type, win, at);
  if (wrong != MPI_SUCCESS || !at) return wrong;
  if (derived(type) || derived(target_type)) return move_at_target(to, count, type, at, target_type, item_move::get);
  take_from_stage(static_cast<char*>(to), at, bytes_of(count, type));
  rank_group{}.sync();
  return MPI_SUCCESS;
}
