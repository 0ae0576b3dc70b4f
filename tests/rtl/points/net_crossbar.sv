// SPDX-License-Identifier: Apache-2.0
// Packets between links and units: contention, losses, links that go down under them.
module net_crossbar_points (
    input wire logic clk_i, rst_ni,
    input wire logic [ggas_pkg::LINKS:0] act_q, parked_q, got, preempted, withdrawn, ends, keeps, begun_q, lost_o,
    input wire logic [ggas_pkg::LINKS:0] lost_store_o, taken, cur_valid,
    input wire logic [(ggas_pkg::LINKS+1)*ggas_pkg::LINKS-1:0] asks,
    input wire logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS-1:0] tx_waits_o, tx_room_i, given,
    input wire logic [ggas_pkg::LINKS-1:0] up_i, link_free,
    input wire logic [(ggas_pkg::LINKS+1)*6-1:0] to_q,
    input wire logic [7:0] up,
    input wire logic [3:0] own_rx_valid_o, own_rx_ready_i
);
  localparam int unsigned L = ggas_pkg::LINKS;
  logic [L:0] broken;  // its link went down inside its packet
  always_comb for (int p = 0; p <= L; p = p + 1) broken[p] = act_q[p] && begun_q[p] && !up[to_q[6*p+3+:3]];
  logic [L-1:0] contended;
  always_comb begin
    contended = '0;
    for (int l = 0; l < L; l = l + 1)
      for (int p = 0; p < L; p = p + 1)
        for (int q = p + 1; q <= L; q = q + 1) if (asks[p*L+l] && asks[q*L+l]) contended[l] = 1'b1;
  end
  `POINT(from_a_unit, got[L]);
  `POINT(from_link_to_link, got[L-1:0] != '0);
  `POINT(two_inputs_ask_for_one_link, contended != '0);
  `POINT(input_keeps_an_idle_link, parked_q != '0);
  `POINT(idle_link_goes_to_another, (preempted & parked_q) != '0);
  `POINT(next_packet_without_a_pause, (ends & got) != '0);
  `POINT(withdrawn_as_its_link_went_down, withdrawn != '0);
  `POINT(link_down_inside_a_packet, broken != '0);
  `POINT(no_room_behind_the_link, (tx_waits_o & ~tx_room_i) != '0);
  `POINT(link_stalls_a_packet, (cur_valid & ~taken) != '0);
  `POINT(store_lost, lost_store_o != '0);
  `POINT(other_lost, (lost_o & ~lost_store_o) != '0);
  `POINT(unit_waits, (own_rx_valid_o & ~own_rx_ready_i) != '0);
  `POINTS_VC(arrives, own_rx_valid_o & own_rx_ready_i);
endmodule
bind net_crossbar net_crossbar_points i_points (.*);
