// SPDX-License-Identifier: Apache-2.0
// Steps of the requester: each kind, and each reason to wait.
module rma_choice_points (
    input wire logic clk_i, rst_ni,
    input wire logic [7:0] pick_o,
    input wire logic [6:0] turn, clash,
    input wire logic open_i, room_i, keep_i, done_i, answer_i, done_soon_i, noted_i, desc_i, go_out_o, in_last_q,
    input wire logic [2:0] in,
    input wire logic [3:0] out
);
  // by K_* of rma_requester_pkg
  `POINTS_8(begins, pick_o);
  `POINTS_7(context_has_a_step, turn & clash);
  `POINT(no_room, !room_i && (done_i || answer_i || desc_i));
  `POINT(closed, !open_i && turn != '0);
  `POINT(descriptor_kept_back, desc_i && keep_i);
  `POINT(answer_behind_a_done_command, answer_i && done_i);
  `POINT(answer_behind_one_that_will_be_done, answer_i && done_soon_i && !done_i);
  `POINT(both_ways, in != '0 && out != '0);
  `POINT(out_by_turns, go_out_o && in != '0 && in_last_q);
endmodule
bind rma_choice rma_choice_points i_points (.*);
