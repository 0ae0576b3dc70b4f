// SPDX-License-Identifier: Apache-2.0
// What leaves for the host, and what it waits for.
module hostif_tx_points (
    input wire logic clk_i, rst_ni,
    input wire logic [4:0] req, src,
    input wire logic take, rd_valid_i, np_ok_i, out_valid, out_ready, drop, dropped_o, inside_q, bus_master_i,
    input wire logic closing_i, req_valid_o, req_ready_i, cpl_pending_q, cpl_open_q, cpl_valid_o, cpl_ready_i,
    input wire logic take_np, take_ld, np_valid_i, np_last_q,
    input ggas_pkg::tlp_beat_t ld_i,
    input wire logic [1:0] behind_q, open
);
  // SMFU, writes and reads of the RMA, event records, MSI-X messages
  `POINTS_5(leaves, {5{take}} & src);
  `POINTS_5(waits_for_others, req & ~src);
  `POINT(read_waits_for_credit, rd_valid_i && !np_ok_i);
  `POINT(host_takes_no_request, req_valid_o && !req_ready_i);
  `POINT(host_takes_no_completion, cpl_valid_o && !cpl_ready_i);
  `POINT(dropped_without_bus_master, dropped_o && !bus_master_i);
  `POINT(dropped_before_a_reset, dropped_o && closing_i);
  `POINT(ends_although_bus_master_is_off, inside_q && !bus_master_i && out_valid && out_ready && !drop);
  `POINT(ends_although_a_reset_comes, inside_q && closing_i && out_valid && out_ready);
  `POINT(completion_behind_a_write, cpl_pending_q && behind_q != '0);
  `POINT(completion_behind_two_writes, cpl_pending_q && behind_q > 2'd1);
  `POINT(completion_held_for_a_reset, cpl_pending_q && behind_q == '0 && closing_i && !cpl_open_q);
  `POINT(own_completion_while_a_load_waits, take_np && ld_i.valid);
  `POINT(load_before_the_next_own_completion, take_ld && np_valid_i && np_last_q);
  `POINT(own_completion_waits_for_a_load, take_ld && !ld_i.sop && np_valid_i);
endmodule
bind hostif_tx hostif_tx_points i_points (.*);
