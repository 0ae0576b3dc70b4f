// SPDX-License-Identifier: Apache-2.0
// Windows of MPI: memory of every rank that all put to and get from, between fences. It lies in the segment; or, of
// ranks of one block, in its shared memory. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/collectives.cuh"

// One of the rank's; what others need to know of it lies in the rank's memory.
struct MPI_Win {
  int number;  // 0: none
};

namespace ggas::mpi {

struct window {
  uint64_t place;  // offset in the segment, or address in shared memory
  uint64_t bytes;
  uint32_t unit;
  uint32_t block;  // in whose shared memory it lies, from 1 on; 0: it lies in the segment
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
  if (w.block == 0) return ggas_pointer_of_node<char>(self().node_of(rank), w.place + offset);
  const bool mine = self().node_of(rank) == ggas_node() && w.block == own_block();
  return mine ? reinterpret_cast<char*>(static_cast<uintptr_t>(w.place + offset)) : nullptr;
}
GGAS_DEVICE bool window_good(MPI_Win win) {
  return win.number >= 1 && win.number <= static_cast<int>(message_layout::windows);
}

// What is moved: checked, and where it lies at the target.
GGAS_DEVICE int find_target(const void* buffer, int count, MPI_Datatype type, int rank, MPI_Aint disp, int target_count,
                            MPI_Datatype target_type, MPI_Win win, char*& at) {
  at = nullptr;
  const int wrong = first_of(check_data(buffer, count, type, MPI_COMM_WORLD),
                             check_data(buffer, target_count, target_type, MPI_COMM_WORLD));
  if (wrong != MPI_SUCCESS) return wrong;
  if (!window_good(win)) return MPI_ERR_WIN;
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (!detail::rank_exists(world(), rank)) return MPI_ERR_RANK;
  const uint64_t bytes = bytes_of(count, type);
  if (bytes != bytes_of(target_count, target_type)) return MPI_ERR_COUNT;
  const window w = load_window(rank, win.number);
  if (w.unit == 0) return MPI_ERR_WIN;
  if (disp < 0 || static_cast<uint64_t>(disp) > w.bytes / w.unit) return MPI_ERR_DISP;
  const uint64_t offset = static_cast<uint64_t>(disp) * w.unit;
  if (bytes > w.bytes - offset) return MPI_ERR_DISP;
  at = address_in(w, rank, offset);
  return at || bytes == 0 ? MPI_SUCCESS : MPI_ERR_DISP;
}

}  // namespace ggas::mpi

// By all ranks. `base` lies in the segment or in shared memory of the block, or `size` is 0.
GGAS_DEVICE_FUNCTION int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info, MPI_Comm comm, MPI_Win* win) {
  using namespace ggas::mpi;
  const rank_group g;
  *win = {0};
  const uint64_t at = reinterpret_cast<uintptr_t>(base) - reinterpret_cast<uintptr_t>(ggas::detail::own_word(0));
  const bool in_segment = size >= 0 && ggas::detail::fits_segment(at, static_cast<uint64_t>(size));
  const bool shared = !in_segment && ggas::detail::is_in_shared(base);
  int wrong = !comm_good(comm) ? MPI_ERR_COMM : size < 0 || unit <= 0 ? MPI_ERR_ARG : MPI_SUCCESS;
  if (wrong == MPI_SUCCESS && size > 0 && !in_segment && !shared) wrong = MPI_ERR_BUFFER;
  ggas::matching_state& d = self().matching();
  int number = 0;
  for (int i = 1; i <= static_cast<int>(ggas::message_layout::windows) && number == 0; ++i)
    if ((d.windows >> i & 1) == 0) number = i;
  if (number == 0) wrong = first_of(wrong, MPI_ERR_WIN);
  g.sync();
  if (g.leads() && number != 0) {
    d.windows |= 1u << number;
    const bool good = wrong == MPI_SUCCESS;
    *window_of(d.me, number) = {shared ? static_cast<uint64_t>(reinterpret_cast<uintptr_t>(base)) : at,
                                good ? static_cast<uint64_t>(size) : 0, good ? static_cast<uint32_t>(unit) : 0,
                                shared ? own_block() : 0};
  }
  win->number = number;
  return after(wrong, meet());
}
GGAS_DEVICE_FUNCTION int MPI_Win_free(MPI_Win* win) {
  using namespace ggas::mpi;
  const bool good = window_good(*win);
  const int met = meet();
  const rank_group g;
  if (good && g.leads()) self().matching().windows &= ~(1u << win->number);
  g.sync();
  *win = {0};
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
  const rank_group g;
  g.sync();
  const number_share share(from);
  for (uint64_t i = share.first; i < bytes_of(count, type); i += share.step)
    ggas::detail::store_relaxed(at + i, as_bytes(from)[i]);
  return MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int MPI_Get(void* to, int count, MPI_Datatype type, int rank, MPI_Aint disp, int target_count,
                                 MPI_Datatype target_type, MPI_Win win) {
  using namespace ggas::mpi;
  char* at;
  const int wrong = find_target(to, count, type, rank, disp, target_count, target_type, win, at);
  if (wrong != MPI_SUCCESS || !at) return wrong;
  take_from_stage(static_cast<char*>(to), at, bytes_of(count, type));
  rank_group{}.sync();
  return MPI_SUCCESS;
}
