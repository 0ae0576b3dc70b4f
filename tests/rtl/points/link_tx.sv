// SPDX-License-Identifier: Apache-2.0
// The sender of a link: what is in its way, and where the link may die under a packet.
module link_tx_points (
    input wire logic clk_i, rst_ni,
    input wire logic [2:0] state_q,
    input wire logic up_i, slot, have, cur_valid, ctrl_flit, rp_flit, new_flit, room_i, lost_o, rp_valid_i,
    input wire logic credit_valid_i,
    input wire logic [ggas_pkg::CHANNELS-1:0] starved_o, pay, tx_waits_i, tx_room_o
);
  localparam logic [2:0] S_IDLE = 3'd0, S_DATA = 3'd3, S_EOP = 3'd4, S_DRAIN = 3'd5;
  `POINTS_VC(starved, starved_o);
  `POINT(two_channels_may_send, (pay & (pay - 1'b1)) != '0);
  `POINT(phy_stalls_a_packet, have && !slot);
  `POINT(unit_pauses, state_q == S_DATA && up_i && !cur_valid);
  `POINT(ctrl_fills_a_pause, ctrl_flit && state_q == S_DATA && !have);
  `POINT(ctrl_between_flits, ctrl_flit && have);
  `POINT(ctrl_before_a_replay, ctrl_flit && rp_valid_i);
  `POINT(replays, rp_flit);
  `POINT(new_packet_behind_a_replay, state_q == S_IDLE && up_i && pay != '0 && rp_valid_i);
  `POINT(ring_or_window_full, state_q == S_IDLE && up_i && pay != '0 && !room_i);
  `POINT(dies_inside_a_packet, !up_i && state_q != S_IDLE && state_q != S_EOP && state_q != S_DRAIN);
  `POINT(dies_before_the_last_flit, !up_i && state_q == S_EOP);
  `POINT(drains, state_q == S_DRAIN);
  `POINT(posted_packet_lost, lost_o);
endmodule
bind link_tx link_tx_points i_points (.*);
