// SPDX-License-Identifier: Apache-2.0
// Packets that wait for a link: their turns by virtual time, and a link that goes down.
module net_output_points #(parameter int unsigned P = 7) (
    input wire logic clk_i, rst_ni, up_i, inside_q, dropping_q, valid, ready, taken, drop, lost_o, locked,
    input wire logic [P-1:0] head_q, begins, come, req,
    input wire logic [7:0] ahead, own_q, now_q
);
  `POINT(several_wait, (head_q & (head_q - 1'b1)) != '0);
  `POINT(one_that_is_ahead_waits, !locked && (head_q & ~req) != '0);
  `POINT(equals_take_turns, !locked && (req & (req - 1'b1)) != '0);
  `POINT(next_one_comes_as_it_begins, (come & begins) != '0);
  `POINT(link_stalls_a_packet, valid && !taken);
  `POINT(link_down_inside_a_packet, inside_q && !dropping_q && !up_i);
  `POINT(lost_as_it_waited, lost_o);
  `POINT(own_units_are_ahead, own_q != now_q);
  `POINT(behind, begins != '0 && ahead[7]);
  `POINT(too_far_behind, begins != '0 && ahead[7] && ahead[6:5] != 2'b11);
  `POINT(too_far_ahead, begins != '0 && !ahead[7] && ahead[6:5] != 2'b00);
endmodule
bind net_output net_output_points #(.P(P)) i_points (.*);
