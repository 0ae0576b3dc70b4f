// SPDX-License-Identifier: Apache-2.0
// The sender's window: why it replays, when it stops, what it discards.
module link_replay_points (
    input wire logic clk_i, rst_ni,
    input wire logic up_i, dead_i, ctrl_valid_i, ctrl_nak_i, ack_ok, progress, late, ask, start, cnt_replays_o,
    input wire logic give_up_o, request_q, running_q, inside_q, retire, lost_o, room_o, boundary_i,
    input wire logic [7:0] unacked_o, tries_o
);
  `POINT(acknowledged_in_a_batch, progress && unacked_o > 8'd1);
  `POINT(acknowledged_twice, ack_ok && !progress && !ctrl_nak_i);
  `POINT(acknowledgement_of_nothing_sent, up_i && ctrl_valid_i && !ack_ok);
  `POINT(nak_that_acknowledges, ack_ok && ctrl_nak_i && progress);
  `POINT(nak_during_a_replay, ack_ok && ctrl_nak_i && running_q);
  `POINT(nak_with_nothing_to_repeat, ack_ok && ctrl_nak_i && !ask);
  `POINT(times_out, late);
  `POINT(replays, cnt_replays_o);
  `POINT(replays_repeatedly, cnt_replays_o && tries_o != '0);
  `POINT(nothing_left_to_repeat, start && !cnt_replays_o);
  `POINT(waits_for_the_packet_being_sent, request_q && !boundary_i);
  `POINT(waits_for_the_packet_being_repeated, request_q && inside_q);
  `POINT(gives_up, give_up_o);
  `POINT(window_full, !room_o && unacked_o >= 8'd124);
  `POINT(ring_full, !room_o && !request_q && !running_q && unacked_o < 8'd120);
  `POINT(discards_behind_a_dead_link, retire && dead_i);
  `POINT(counts_a_lost_store, lost_o);
endmodule
bind link_replay link_replay_points i_points (.*);
