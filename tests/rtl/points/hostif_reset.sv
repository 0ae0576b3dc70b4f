// SPDX-License-Identifier: Apache-2.0
// A function-level reset at every moment of the traffic.
module hostif_reset_points (
    input wire logic clk_i, rst_ni,
    input wire logic [1:0] state_q, rest_q, drop, inside_q, valid, sop,
    input wire logic flr_i, open_i, late, ends, answered, read_i, last_cpl
);
  localparam logic [1:0] S_RUN = 2'd0, S_CLOSE = 2'd1, S_RESET = 2'd2, S_DONE = 2'd3;
  `POINT(wanted, state_q == S_RUN && flr_i);
  `POINT(waits_for_a_packet_to_leave, state_q == S_CLOSE && open_i && !late);
  `POINT(host_never_takes_it, state_q == S_CLOSE && open_i && late);
  `POINT(waits_for_reads, state_q == S_RESET && !answered && !late);
  `POINT(ends_with_all_answered, state_q == S_RESET && ends && answered);
  `POINT(ends_without_an_answer, state_q == S_RESET && ends && !answered);
  `POINT(completion_during_the_reset, state_q == S_RESET && last_cpl);
  `POINT(read_and_completion_at_once, read_i && last_cpl);
  `POINT(request_dropped, drop[0] && valid[0]);
  `POINT(completion_dropped, drop[1] && valid[1]);
  `POINT(reset_inside_a_request, state_q == S_RESET && inside_q[0]);
  `POINT(rest_dropped_behind_the_reset, state_q == S_RUN && rest_q[0] && valid[0] && !sop[0]);
  `POINT(held_by_software, state_q == S_DONE && flr_i);
endmodule
bind hostif_reset hostif_reset_points i_points (.*);
