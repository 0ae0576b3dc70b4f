// SPDX-License-Identifier: Apache-2.0
// Remote loads and quiets at their target: completions of the host, and slots that are given up.
module smfu_rob_points (
    input wire logic clk_i, rst_ni,
    input wire logic full, tail_zombie, fill, reflush, issue, c_take, c_zombie, c_open, cpl_new_q, cpl_open_q,
    input wire logic cpl_error_q,
    input wire logic cpl_long_q, cpl_wanted_q, last, store, cpl_see, cpl_event_valid_o, over, expire, forget, settles,
    input wire logic making, w_zombie,
    input wire logic rx_np_valid_i, cpl_busy, walk, head_zombie, tx_rsp_ready_i, tick,
    input wire ggas_pkg::net_beat_t tx_rsp_o,
    input wire ggas_pkg::tlp_beat_t tgt_cpl_i
);
  `POINT(read_in_parts, cpl_new_q && cpl_open_q && !last);
  `POINT(read_answered, cpl_new_q && last && store);
  `POINT(host_refuses, cpl_new_q && cpl_error_q && cpl_wanted_q);
  `POINT(too_long, cpl_new_q && cpl_long_q && cpl_open_q);
  `POINT(poisoned, c_take && c_open && tgt_cpl_i.hdr.poisoned);
  `POINT(nobody_asked, c_take && !c_open);
  `POINT(comes_after_all, c_take && c_zombie && c_open);
  `POINT(runs_out_of_time, expire);
  `POINT(tags_rest_no_longer, forget);
  `POINT(late_ones_came, settles);
  `POINT(late_slot_blocks_the_ring, rx_np_valid_i && tail_zombie);
  `POINT(ring_full, rx_np_valid_i && full);
  `POINT(flush_repeated, reflush);
  `POINT(waits_for_the_event_before, cpl_see && cpl_event_valid_o);
  `POINT(waits_for_a_read_to_leave, cpl_see && c_open && issue);
  `POINT(slot_still_being_filled_is_left_alone, walk && making);
  `POINT(over_while_a_completion_comes, over && !w_zombie && (c_take || cpl_busy));
  `POINT(answer_waits, tx_rsp_o.valid && !tx_rsp_ready_i);
endmodule
bind smfu_rob smfu_rob_points i_points (.*);
