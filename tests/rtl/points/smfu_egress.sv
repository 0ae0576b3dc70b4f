// SPDX-License-Identifier: Apache-2.0
// Window stores on their way out.
module smfu_egress_points (
    input wire logic clk_i, rst_ni,
    input wire logic cfg_egress_i, head, drop, mapped, reported_q, report, pop, first, final_piece, done_o, sent_room_i,
    input wire logic event_valid_o, tx_p_valid_o, tx_p_ready_i, tx_p_sop_o, room, ask,
    input wire logic ans_hit_i, ans_valid_i, look_want_o, look_go_i,
    input wire logic [3:0] status,
    input wire logic [10:0] left,
    input wire logic [2:0] asked,
    input wire ggas_pkg::tlp_beat_t win_p_i
);
  `POINT(sent, done_o && !drop);
  `POINT(unmapped, report && !mapped);
  `POINT(switched_off, ans_valid_i && ans_hit_i && !cfg_egress_i);
  `POINT(no_such_node, report && mapped && status == ggas_pkg::ST_UNREACHABLE);
  `POINT(link_down, report && mapped && status == ggas_pkg::ST_LINK_DOWN);
  `POINT(event_of_the_store_before_waits, head && drop && !reported_q && event_valid_o);
  `POINT(rest_of_a_dropped_store, pop && drop && reported_q);
  `POINT(cut_at_the_mtu, pop && !drop && !first);
  `POINT(last_piece_of_one_word, pop && !drop && !first && final_piece && left == 11'd1);
  `POINT(list_of_dirty_nodes_full, head && !drop && tx_p_sop_o && !sent_room_i);
  `POINT(network_waits, tx_p_valid_o && !tx_p_ready_i);
  `POINT(beats_fill_the_queue, win_p_i.valid && !room);
  `POINT(four_stores_asked, asked == 3'd4);
  `POINT(lookup_serves_a_load, look_want_o && !look_go_i);
endmodule
bind smfu_egress smfu_egress_points i_points (.*);
