// SPDX-License-Identifier: Apache-2.0
// The NIC's own reads and their completions.
module rma_read_points (
    input wire logic clk_i, rst_ni,
    input wire logic cmd_valid_i, free, see, q_failed_q, q_poisoned_q, wrong, waits, bad, last, stray, good,
    input wire logic look_open, look_rests, expire,
    input wire logic hold, refuse, stuck, rd_valid_o, rd_ready_i, out_valid_o, out_ready_i, cpl_ready_o,
    input wire ggas_pkg::tlp_beat_t cpl_i
);
  `POINT(answered_at_once, see && good && last);
  `POINT(answered_in_parts, see && good && !last);
  `POINT(refused, see && waits && q_failed_q);
  `POINT(wrong_length, see && waits && wrong);
  `POINT(poisoned, see && waits && q_poisoned_q);
  `POINT(nobody_asked, see && !look_open);
  `POINT(comes_after_all, see && look_open && look_rests);
  `POINT(runs_out_of_time, expire);
  `POINT(no_tag_free, cmd_valid_i && !free);
  `POINT(refused_behind_one_on_offer, refuse);
  `POINT(goes_after_it_was_given_up, stuck && rd_ready_i);
  `POINT(host_takes_none, rd_valid_o && !rd_ready_i);
  `POINT(data_waits, out_valid_o && !out_ready_i);
endmodule
bind rma_read rma_read_points i_points (.*);
