// SPDX-License-Identifier: Apache-2.0
// Units that take nothing: what is kept, what is lost.
module net_watchdog_points (
    input wire logic clk_i, rst_ni, late_o, keeps, inside_q, lost_o, kept, out_ready_i, cut_i,
    input wire logic [1:0] state_q
);
  `POINT(cuts_off, late_o);
  `POINT(keeps_a_packet_that_was_not_begun, keeps && !inside_q);
  `POINT(keeps_the_rest_of_a_packet, keeps && inside_q);
  `POINT(cut_off_by_another_channel, cut_i && state_q == 2'd0 && !keeps);
  `POINT(lost, lost_o);
  `POINT(kept_packet_is_taken, kept && out_ready_i);
endmodule
bind net_watchdog net_watchdog_points i_points (.*);
