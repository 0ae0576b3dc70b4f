// SPDX-License-Identifier: Apache-2.0
// Remote stores at their target.
module smfu_ingress_points (
    input wire logic clk_i, rst_ni,
    input wire logic [1:0] state_q,
    input wire logic cfg_ingress_i, look, ask_o, known_i, sane, ranged, refuse, accept, event_valid_o, range_busy_i,
    input wire logic np_go, p_wait, p_go, np_valid_i, tgt_np_ok_i, end_of_piece, turn_q,
    input wire logic tgt_req_ready_i, mark_i, old_pass_q, old_reg_q,
    input wire smfu_pkg::export_t export_i,
    input wire ggas_pkg::tlp_beat_t tgt_req_o,
    input wire ggas_pkg::net_beat_t rx_p_i
);
  localparam logic [1:0] S_PASS = 2'd1, S_DROP = 2'd2;
  wire refused = look && sane && !ranged;
  `POINT(accepted, accept);
  `POINT(waits_for_its_export, ask_o && !known_i);
  `POINT(switched_off, refused && !cfg_ingress_i);
  `POINT(no_such_export, refused && cfg_ingress_i && !export_i.valid);
  `POINT(export_may_not_be_written, refused && export_i.valid && !export_i.right);
  `POINT(export_of_another_domain, refused && export_i.valid && export_i.right && rx_p_i.hdr.domain != export_i.domain);
  `POINT(behind_its_end, refused && export_i.valid && export_i.right && rx_p_i.hdr.domain == export_i.domain
         && cfg_ingress_i);
  `POINT(bad_packet, refuse && !sane);
  `POINT(drops_a_long_one, state_q == S_DROP && !rx_p_i.eop);
  `POINT(event_of_the_store_before_waits, look && !(sane && ranged) && event_valid_o);
  `POINT(quiet_must_hear_of_the_one_before, look && !(sane && ranged) && range_busy_i);
  `POINT(cut_at_mps, p_go && end_of_piece && !rx_p_i.eop);
  `POINT(read_between_two_pieces, np_go && state_q == S_PASS);
  `POINT(read_waits_inside_a_write, np_valid_i && state_q == S_PASS && !np_go);
  `POINT(read_waits_for_credit, np_valid_i && !tgt_np_ok_i);
  `POINT(write_waits_for_a_read, p_wait && np_go);
  `POINT(host_waits, tgt_req_o.valid && !tgt_req_ready_i);
  `POINT(mark_inside_a_store, mark_i && state_q == S_PASS);
  `POINT(mark_behind_a_store, mark_i && state_q != S_PASS && tgt_req_o.valid);
  `POINT(old_store_leaves, old_pass_q && p_go && rx_p_i.eop);
endmodule
bind smfu_ingress smfu_ingress_points i_points (.*);
