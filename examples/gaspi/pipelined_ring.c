/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelined ring: the block of each rank goes round to all others in pieces. A rank passes a piece on as soon as that
 * has arrived, while the next ones are still on their way. */
#include "common.h"

enum { pieces = 16, words = 512 /* of a piece */ };
enum { piece_bytes = words * sizeof(unsigned long) };

/* Slot of a piece of a rank's block; where it lies, too, in pieces. */
static unsigned place(unsigned rank, unsigned piece) { return rank * pieces + piece; }

static void pass_on(unsigned rank, unsigned piece, gaspi_rank_t right) {
  const gaspi_offset_t at = (gaspi_offset_t)place(rank, piece) * piece_bytes;
  MUST(gaspi_write_notify(0, at, right, 0, at, piece_bytes, place(rank, piece), 1, piece % 4, TIMEOUT_MS));
}

int main(void) {
  start();
  unsigned long* const blocks = segment(0, (gaspi_size_t)all * pieces * piece_bytes);
  const gaspi_rank_t right = (gaspi_rank_t)((me + 1) % all);
  for (unsigned i = 0; i < pieces * words; ++i) blocks[me * pieces * words + i] = me * 1000000ul + i;
  for (unsigned piece = 0; all > 1 && piece < pieces; ++piece) pass_on(me, piece, right);
  /* Pieces come in any order: of the block of the left neighbour first, on the whole. */
  for (unsigned left = (all - 1u) * pieces; left > 0; --left) {
    gaspi_notification_id_t slot;
    gaspi_notification_t value;
    MUST(gaspi_notify_waitsome(0, 0, (gaspi_number_t)all * pieces, &slot, TIMEOUT_MS));
    MUST(gaspi_notify_reset(0, slot, &value));
    CHECK(value == 1);
    if (slot / pieces != right) pass_on(slot / pieces, slot % pieces, right); /* else it has been everywhere */
  }
  for (gaspi_queue_id_t queue = 0; queue < 4; ++queue) MUST(gaspi_wait(queue, TIMEOUT_MS));
  for (unsigned rank = 0; rank < all; ++rank)
    for (unsigned i = 0; i < pieces * words; ++i) CHECK(blocks[rank * pieces * words + i] == rank * 1000000ul + i);
  if (me == 0) printf("%d pieces of %u blocks went round\n", pieces, all);
  finish();
  return 0;
}
