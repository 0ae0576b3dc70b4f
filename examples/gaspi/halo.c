/* SPDX-License-Identifier: Apache-2.0 */
/* Halo exchange: heat spreads over rows that are divided among the ranks. Each rank writes its border rows into the
 * halo of its neighbours; a notification arrives after the row. Two grids in turn, so that a neighbour that is a step
 * ahead writes into the one that is not read. */
#include "common.h"

enum { columns = 64, rows = 16 /* of a rank */, steps = 60, from_above = 0, from_below = 1 };
enum { row_bytes = columns * sizeof(double), grid_bytes = (rows + 2) * row_bytes };

/* One step of `count` rows after the first one of `from`, which is a halo. */
static void relax(double* to, const double* from, int count) {
  for (int i = columns; i < (count + 1) * columns; ++i) {
    const int column = i % columns;
    const double left = column ? from[i - 1] : 0, right = column < columns - 1 ? from[i + 1] : 0;
    to[i] = (from[i - columns] + from[i + columns] + left + right) / 4;
  }
}

/* A border row of the grid `turn` to a neighbour. */
static void send(int turn, int row, gaspi_rank_t rank, int halo, int slot) {
  MUST(gaspi_write_notify(0, turn * grid_bytes + row * row_bytes, rank, 0, turn * grid_bytes + halo * row_bytes,
                          row_bytes, 2 * turn + slot, 1, 0, TIMEOUT_MS));
}

static double heat_of(const double* grid, int count) {
  double heat = 0;
  for (int i = columns; i < (count + 1) * columns; ++i) heat += grid[i] * (i % 7 + 1);
  return heat;
}

/* The same by one process. */
static double alone(int count) {
  double* const memory = calloc(2ul * (count + 2) * columns, sizeof *memory);
  double* grids[2] = {memory, memory + (count + 2) * columns};
  for (int i = 0; i < columns; ++i) grids[0][columns + i] = 100;
  for (int step = 0; step < steps; ++step) relax(grids[(step + 1) % 2], grids[step % 2], count);
  const double heat = heat_of(grids[steps % 2], count);
  free(memory);
  return heat;
}

int main(void) {
  start();
  double* const memory = segment(0, 2 * grid_bytes);
  double* const grids[2] = {memory, memory + (rows + 2) * columns};
  for (int i = 0; me == 0 && i < columns; ++i) grids[0][columns + i] = 100;
  for (int step = 0; step < steps; ++step) {
    const int turn = step % 2;
    if (me > 0) send(turn, 1, me - 1, rows + 1, from_below);
    if (me < all - 1) send(turn, rows, me + 1, 0, from_above);
    if (me > 0) take(2 * turn + from_above);
    if (me < all - 1) take(2 * turn + from_below);
    relax(grids[1 - turn], grids[turn], rows);
    MUST(gaspi_wait(0, TIMEOUT_MS)); /* the borders of this grid may change now */
  }
  /* columns is no multiple of 7: the weights of a rank's part begin where they do in the whole. */
  double mine = 0, sum, *const last = grids[steps % 2];
  for (int i = columns; i < (rows + 1) * columns; ++i) mine += last[i] * ((i + me * rows * columns) % 7 + 1);
  MUST(gaspi_allreduce(&mine, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, TIMEOUT_MS));
  const double expected = alone(rows * all);
  CHECK(sum > expected * (1 - 1e-12) && sum < expected * (1 + 1e-12));
  if (me == 0) printf("%d steps of %d rows, heat %.6f\n", steps, rows * all, sum);
  finish();
  return 0;
}
