// SPDX-License-Identifier: Apache-2.0
// Remote loads and quiets at their target: completions of the host, and slots that are given up.
module smfu_rob_points (
    input wire logic clk_i, rst_ni,
    input wire logic full, tail_zombie, fill, again, issue, c_take, c_error, c_long, c_stray, c_fails, c_zombie, c_open,
    input wire logic c_more, c_last, c_event, cpl_see, cpl_event_valid_o, over, expire, forget, settles, making,
    input wire logic w_zombie,
    input wire logic rx_np_valid_i, cpl_busy, walk, head_zombie, tx_rsp_ready_i, tick,
    input wire ggas_pkg::net_beat_t tx_rsp_o,
    input wire ggas_pkg::tlp_beat_t tgt_cpl_i
);
  `POINT(read_in_parts, c_take && c_more);
  `POINT(read_answered, c_take && c_last && !c_stray && !c_fails);
  `POINT(host_refuses, c_take && c_error && c_open && !c_zombie);
  `POINT(too_long, c_take && c_long && c_open);
  `POINT(poisoned, c_take && c_open && tgt_cpl_i.hdr.poisoned);
  `POINT(nobody_asked, c_take && !c_open);
  `POINT(comes_after_all, c_take && c_zombie && c_open);
  `POINT(runs_out_of_time, expire);
  `POINT(tags_rest_no_longer, forget);
  `POINT(late_ones_came, settles);
  `POINT(late_slot_blocks_the_ring, rx_np_valid_i && tail_zombie);
  `POINT(ring_full, rx_np_valid_i && full);
  `POINT(flush_repeated, again);
  `POINT(event_before_waits, cpl_see && c_event && cpl_event_valid_o);
  `POINT(waits_for_a_read_to_leave, cpl_see && c_more && issue);
  `POINT(slot_still_being_filled_is_left_alone, walk && making);
  `POINT(over_while_a_completion_comes, over && !w_zombie && (c_take || cpl_busy));
  `POINT(answer_waits, tx_rsp_o.valid && !tx_rsp_ready_i);
endmodule
bind smfu_rob smfu_rob_points i_points (.*);
