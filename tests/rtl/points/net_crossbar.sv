// SPDX-License-Identifier: Apache-2.0
// Packets between links and units: contention, losses.
module net_crossbar_points (
    input wire logic clk_i, rst_ni,
    input wire logic [ggas_pkg::LINKS:0] act_q, got, cur_valid,
    input wire logic [2*ggas_pkg::LINKS:0] lost_o, lost_store_o,
    input wire logic [(ggas_pkg::LINKS+1)*ggas_pkg::LINKS-1:0] asks, queue_room,
    input wire logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS-1:0] tx_waits_o, tx_room_i, given,
    input wire logic [3:0] own_rx_valid_o, own_rx_ready_i
);
  localparam int unsigned L = ggas_pkg::LINKS;
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
  `POINT(unit_pauses_within_a_packet, act_q[L] && !cur_valid[L]);
  `POINT(queue_is_full, !(&queue_room));
  `POINT(no_room_behind_the_link, (tx_waits_o & ~tx_room_i) != '0);
  `POINT(store_lost, lost_store_o != '0);
  `POINT(other_lost, (lost_o & ~lost_store_o) != '0);
  `POINT(unit_waits, (own_rx_valid_o & ~own_rx_ready_i) != '0);
  `POINTS_VC(arrives, own_rx_valid_o & own_rx_ready_i);
endmodule
bind net_crossbar net_crossbar_points i_points (.*);
