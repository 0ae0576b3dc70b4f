// SPDX-License-Identifier: Apache-2.0
// Invalidation: what it waits for.
module atu_invalidate_points (
    input wire logic clk_i, rst_ni,
    input wire logic [2:0] state_q,
    input wire logic begins, ends, count, inv_start_i, pend_q, pend_all_q, drop_range_o, last_set,
    input wire logic inv_all_i, inv_range_i,
    input wire logic [63:12] inv_page_i, inv_last_i
);
  localparam logic [2:0] I_DROPPING = 3'd2, I_WALKS = 3'd3, I_USES = 3'd4;
  `POINT(waits_for_walks, state_q == I_WALKS && !count);
  `POINT(waits_for_uses, state_q == I_USES && !ends);
  `POINT(ends_at_once, state_q == I_USES && ends);
  `POINT(asked_for_during_another, inv_start_i && !begins && state_q != 3'd0);
  `POINT(two_become_one, inv_start_i && pend_q && !begins);
  `POINT(asked_for_as_one_begins, inv_start_i && begins);
  `POINT(range_over_two_classes, inv_start_i && inv_range_i && inv_page_i[47:46] != inv_last_i[47:46]);
  `POINT(next_set_of_a_range, state_q == I_DROPPING && !last_set);
endmodule
bind atu_invalidate atu_invalidate_points i_points (.*);
