// SPDX-License-Identifier: Apache-2.0
// Rounds of a quiet, and how each asked node may end.
module smfu_quiet_points (
    input wire logic clk_i, rst_ni,
    input wire logic [2:0] state_q,
    input wire logic start, any, reads, room, asked, refused, given_up, cut_off, late_q, rsp_bad_q, rsp_i, quiet,
    input wire logic sweeps, reply_q, lost_i, running, cpl_valid_o, cpl_ready_i, asking, reach, np_valid_o, np_ready_i,
    input wire logic held_q, report, behind_q, event_valid_o, gives_up, rsp_wait_o, sent_i, failed_i,
    input wire logic fence_q, fences, fence_done_o,
    input wire logic [3:0] reported, found_q, one_q
);
  localparam logic [2:0] S_ASK = 3'd1, S_WAIT = 3'd2, S_SWEEP = 3'd3;
  `POINT(nothing_to_ask, start && reads && !any);
  `POINT(round_without_a_read, start && !reads && !fences);
  `POINT(fence_waits_for_stores, fence_q && !fences);
  `POINT(fence_before_a_read, start && fences && reads);
  `POINT(error_reported_to_a_fence, fence_done_o && reported != '0);
  `POINT(answered, state_q == S_WAIT && quiet && reply_q);
  `POINT(list_emptied, state_q == S_WAIT && quiet && !reply_q);
  `POINT(node_unreachable, refused && !cut_off && !late_q);
  `POINT(route_broke_before_it_was_asked, refused && cut_off);
  `POINT(time_over_before_it_was_asked, refused && late_q);
  `POINT(route_broke_before_it_answered, given_up && cut_off);
  `POINT(time_over_before_it_answered, given_up && late_q && !cut_off);
  `POINT(answers_with_an_error, rsp_bad_q);
  `POINT(error_waits_for_the_event_before, rsp_wait_o);
  `POINT(sweep_waits_for_the_event_before, gives_up && event_valid_o);
  `POINT(route_breaks_in_a_round, running && lost_i);
  `POINT(network_waits, np_valid_o && !np_ready_i);
  `POINT(answer_while_others_are_asked, state_q == S_ASK && rsp_i);
  `POINT(answer_in_a_sweep, state_q == S_SWEEP && rsp_i);
  `POINT(store_during_a_round, running && sent_i);
  `POINT(host_waits, cpl_valid_o && !cpl_ready_i);
  `POINT(reported_once, report && reported != '0);
  `POINT(new_error_as_one_is_reported, report && (found_q | one_q) != '0);
  `POINT(store_without_a_route, failed_i);
  `POINT(store_fails_beside_an_answer, behind_q);
endmodule
bind smfu_quiet smfu_quiet_points i_points (.*);
