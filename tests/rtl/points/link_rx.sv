// SPDX-License-Identifier: Apache-2.0
// What the receiver of a link makes of flits and packets.
module link_rx_points (
    input wire logic clk_i, rst_ni,
    input wire logic [1:0] framing_q,
    input wire logic is_sop, is_data, is_eop, ctrl_bad_q, check, intact, ours, take, fits,  // as it is checked
    input wire logic nak, nak_o, accept_o, repeat_o, naked_q,                                // as it counts
    input wire logic [7:0] ahead, expected_q,
    input wire ggas_pkg::net_hdr_t hdr_q,
    input wire logic [ggas_pkg::CHANNELS-1:0] channel, over, valid, may_go, rx_ready_i
);
  localparam logic [1:0] F_IDLE = 2'd0, F_OPEN = 2'd1, F_JUNK = 2'd2;
  `POINTS_VC(accepts, {4{take && fits}} & channel[3:0]);
  `POINTS_VC(waits_for_its_unit, valid & may_go & ~rx_ready_i);
  `POINT(damaged, check && !intact);
  `POINT(begins_inside_a_packet, is_sop && framing_q == F_OPEN);
  `POINT(goes_on_without_a_beginning, is_data && framing_q == F_IDLE);
  `POINT(ends_without_a_beginning, is_eop && framing_q == F_IDLE);
  `POINT(begins_behind_junk, is_sop && framing_q == F_JUNK);
  `POINT(damaged_ctrl, ctrl_bad_q);
  `POINT(repeated, repeat_o);
  `POINT(gap, intact && ours && ahead != '0 && !ahead[7]);
  `POINT(of_another_session, intact && !ours);
  `POINT(nak_said, nak_o);
  `POINT(one_nak_until_progress, nak && naked_q && !accept_o);
  `POINT(too_long, take && hdr_q.len_dw > ggas_pkg::MTU_DW);
  `POINT(of_another_version, take && hdr_q.version != ggas_pkg::PACKET_VERSION);
  `POINT(beyond_its_credits, take && (over & channel) != '0);
  `POINT(np_waits_for_posted, (valid & ~may_go) != '0);
  `POINT(sequence_wraps, take && expected_q == 8'hff);
endmodule
bind link_rx link_rx_points i_points (
    .intact(checked.intact), .take(checked.take), .fits(checked.fits), .*
);
