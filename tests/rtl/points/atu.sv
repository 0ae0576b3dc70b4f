// SPDX-License-Identifier: Apache-2.0
// Translations: hits, walks, refusals, drops that meet them.
module atu_points (
    input wire logic clk_i, rst_ni,
    input wire logic s_ask, s_walk, s_drop, strange, hit, miss, answer, good, present, both, s_failed_q, s_present_q,
    input wire logic s_write_q, drop, go_drop, walk_valid, drop_all, drop_range, wr_ready_i, stop_i,
    input wire logic acknowledge,
    input wire logic [69:0] s_entry_q,
    input wire logic [139:0] entries,
    input wire logic [1:0] hits,
    input wire logic [15:0] s_pd_q,
    input wire logic [4:0] hold, tr_valid_i, tr_ready_o, stale, who, walking_q,
    input wire logic [63:0] s_nla_q,
    input wire ggas_pkg::tlp_beat_t wr_o
);
  logic [17:0] rights;  // protection domain, write, read
  always_comb begin
    rights = s_entry_q[69:52];
    for (int w = 0; w < 2; w++) if (hits[w] && !s_walk) rights = entries[70*w+52+:18];
  end
  `POINTS_5(asks, tr_ready_o);
  `POINTS_5(answered_from_the_tlb, {5{s_ask && hit && !strange}} & who);
  `POINTS_5(walks, {5{miss}} & who);
  `POINT(held_back, (tr_valid_i & hold) != '0);
  `POINTS_4(found_in_class, {4{answer && good}} & (4'd1 << s_nla_q[47:46]));
  `POINT(no_such_address, s_ask && strange);
  `POINT(not_present, s_walk && !s_present_q && !s_failed_q);
  `POINT(walk_failed, s_walk && s_failed_q);
  `POINT(of_another_domain, answer && present && rights[17:2] != s_pd_q);
  `POINT(may_not_be_written, answer && present && rights[17:2] == s_pd_q && s_write_q && !rights[1]);
  `POINT(may_not_be_read, answer && present && rights[17:2] == s_pd_q && !s_write_q && !rights[0]);
  `POINT(atomic_needs_both, answer && present && rights[17:2] == s_pd_q && both && rights[1] && !rights[0]);
  `POINT(filled_in, s_walk && s_present_q && (stale & who) == '0);
  `POINT(two_walked_to_one_page, s_walk && s_present_q && hit);
  `POINT(stale_walk_is_not_kept, s_walk && s_present_q && (stale & who) != '0);
  `POINT(two_walk, (walking_q & (walking_q - 1'b1)) != '0);
  `POINT(page_dropped, s_drop && !drop_all && !drop_range);
  `POINT(range_dropped, s_drop && drop_range);
  `POINT(all_dropped, s_drop && drop_all);
  `POINT(drop_waits_for_what_a_walk_fills_in, drop && !go_drop);
  `POINT(walk_waits_for_a_drop, drop && walk_valid);
  `POINT(acknowledged_in_memory, wr_o.valid && wr_ready_i);
  `POINT(not_acknowledged_in_a_stop, acknowledge && stop_i);
endmodule
bind atu atu_points i_points (.*);
