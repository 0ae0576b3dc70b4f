// SPDX-License-Identifier: Apache-2.0
// The target's ways through a packet.
module rma_target_points (
    input wire logic clk_i, rst_ni,
    input wire logic [3:0] x_state_q, nt_status, fl_status, final_status,
    input wire logic direct, marked_before, x_first, x_last, x_ack, x_ok, failed, nt_reported, fl_end, ack_ready, push,
    input wire logic answer,
    input wire ggas_pkg::tlp_beat_t wr_o,
    input wire logic wr_ready_i, head_take, x_begun_q, beat_valid
);
  localparam logic [3:0] X_WRITE = 4'd1, X_PASS = 4'd2, X_TAKE = 4'd3, X_FLUSHED = 4'd5, X_NOTE = 4'd6, X_WAIT = 4'd7,
                         X_MARK = 4'd8, X_ANSWER = 4'd9;
  `POINT(state_write, x_state_q == X_WRITE);
  `POINT(state_pass, x_state_q == X_PASS);
  `POINT(state_take, x_state_q == X_TAKE);
  `POINT(state_flushed, x_state_q == X_FLUSHED);
  `POINT(state_note, x_state_q == X_NOTE);
  `POINT(state_wait, x_state_q == X_WAIT);
  `POINT(state_mark, x_state_q == X_MARK);
  `POINT(state_answer, x_state_q == X_ANSWER);
  `POINT(put_done_at_once, direct && !x_ack);
  `POINT(last_put_acknowledged_at_once, direct && x_last && x_ack);
  `POINT(next_packet_without_a_pause, direct && head_take);
  `POINT(message_lost_a_packet, answer && failed);
  `POINT(message_before_never_ended, x_state_q == X_WRITE && marked_before && x_first);
  `POINT(strong_flush_fails, x_state_q == X_FLUSHED && fl_end && fl_status != ggas_pkg::ST_OK);
  `POINT(ring_full, nt_reported && nt_status == ggas_pkg::ST_FULL);
  `POINT(ring_lost, nt_reported && nt_status == ggas_pkg::ST_LOST);
  `POINT(context_off, nt_reported && nt_status == ggas_pkg::ST_DISABLED);
  `POINT(failure_answered_unasked, push && !x_ack && final_status != ggas_pkg::ST_OK);
  `POINT(write_waits_for_room_for_its_answer, x_state_q == X_WRITE && beat_valid && !x_begun_q && x_last && x_ack
         && !ack_ready);
  `POINT(host_waits, wr_o.valid && !wr_ready_i);
endmodule
bind rma_target rma_target_points i_points (.*);
