// SPDX-License-Identifier: Apache-2.0
// Loads of the host: each way in which one ends.
module smfu_match_points (
    input wire logic clk_i, rst_ni,
    input wire logic [1:0] state_q,
    input wire logic good, fails, ok_q, e_length, e_next, known, strange, is_load_q, is_quiet_q, answer, giveup,
    input wire logic e_failed, flushed,
    input wire logic rsp, e_final, alloc_valid_i, alloc_ready_o, alloc, write_back, found_q, walk, event_valid_o,
    input wire logic wants_event, room, quiet_wait_i, failed_valid_o, failed_ready_i, drop_q, trigger, lost_i, flush_q,
    input wire logic [5:0] next_slot,
    input wire logic [63:0] live_q
);
  localparam logic [1:0] S_PASS = 2'd1, S_ERROR = 2'd2, S_DROP = 2'd3;
  `POINT(answered, answer && good && e_final);
  `POINT(part_answered, answer && good && !e_final);
  `POINT(refused_by_the_target, answer && fails && !ok_q);
  `POINT(wrong_length, answer && fails && ok_q && !e_length);
  `POINT(another_chunk_than_the_next, answer && fails && ok_q && e_length && !e_next);
  `POINT(swallowed_behind_the_failure, answer && known && e_failed);
  `POINT(runs_out_of_time, giveup && !e_failed && !flushed);
  `POINT(forgotten_behind_its_failure, giveup && e_failed);
  `POINT(flushed_as_the_route_broke, giveup && flushed && !e_failed);
  `POINT(late_answer, answer && is_load_q && strange);
  `POINT(late_answer_of_a_quiet, answer && is_quiet_q && strange);
  `POINT(no_answer_at_all, answer && strange && !is_load_q && !is_quiet_q);
  `POINT(slot_still_waits, alloc_valid_i && live_q[next_slot]);
  `POINT(no_new_load_beside_an_answer, alloc_valid_i && !live_q[next_slot] && write_back);
  `POINT(no_new_load_during_a_flush, alloc_valid_i && flush_q);
  `POINT(answer_while_one_is_given_up, found_q && state_q == S_PASS);
  `POINT(tick_inside_a_walk, trigger && walk);
  `POINT(route_breaks_inside_a_walk, trigger && lost_i && walk);
  `POINT(event_before_waits, rsp && wants_event && event_valid_o);
  `POINT(host_waits, rsp && good && !room);
  `POINT(quiet_waits, rsp && is_quiet_q && quiet_wait_i);
  `POINT(failed_load_waits, failed_valid_o && !failed_ready_i);
  `POINT(rest_of_a_failed_answer, state_q == S_ERROR && drop_q);
  `POINT(drops, state_q == S_DROP);
endmodule
bind smfu_match smfu_match_points i_points (.*);
