// SPDX-License-Identifier: Apache-2.0
// Sessions of a link: how they begin, and each reason for which they end.
module link_session_points (
    input wire logic clk_i, rst_ni,
    input wire logic [1:0] state_o, state_d,
    input wire logic phy_up_i, taken_i, discarded_i, give_up_i, retrain_i, packet_i, ctrl_valid_i, reported_i,
    input wire logic hello_valid, dead_valid, same, echo, seen_q, met_q, retrain_q, ctrl_ours_o,
    input wire link_pkg::link_hello_t hello,
    input wire logic [link_pkg::SESSION_W-1:0] yours_q
);
  localparam logic [1:0] DOWN = 2'd0, INIT = 2'd1, UP = 2'd2, DEAD = 2'd3;
  `POINT(begins, state_o == DOWN && state_d == INIT);
  `POINT(waits_for_units_of_the_last_session, state_o == DOWN && phy_up_i && !taken_i);
  `POINT(meets, state_o == INIT && state_d == UP);
  `POINT(phy_lost_while_meeting, state_o == INIT && state_d == DOWN);
  `POINT(first_hello_does_not_know_us, state_o == INIT && hello_valid && !echo);
  `POINT(other_side_began_again_during_the_handshake,
         state_o == INIT && hello_valid && seen_q && hello.mine != yours_q);
  `POINT(hello_crosses_ours, state_o == INIT && reported_i && hello_valid);
  `POINT(met_but_not_informed, state_o == INIT && met_q && !reported_i);
  `POINT(up_before_the_other_side, state_o == UP && hello_valid && same && !hello.met);
  `POINT(dies_of_the_phy, state_o == UP && !phy_up_i);
  `POINT(dies_of_tries, state_o == UP && give_up_i);
  `POINT(dies_of_a_new_session, state_o == UP && hello_valid && !same);
  `POINT(dies_with_the_other_side, state_o == UP && dead_valid && same);
  `POINT(dead_hello_of_another_session, state_o == UP && dead_valid && !same);
  `POINT(ctrl_of_another_session, state_o == UP && ctrl_valid_i && !hello.hello && !ctrl_ours_o);
  `POINT(dead_refuses_a_packet, state_o == DEAD && packet_i);
  `POINT(dead_answers_a_ctrl, state_o == DEAD && ctrl_valid_i && !dead_valid);
  `POINT(retrain_waits_for_packets, state_o == DEAD && retrain_q && !discarded_i);
  `POINT(retrains, state_o == DEAD && state_d == DOWN);
  `POINT(retrain_of_a_living_link, state_o != DEAD && retrain_i);
endmodule
bind link_session link_session_points i_points (.*);
