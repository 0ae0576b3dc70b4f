// SPDX-License-Identifier: Apache-2.0
// Messages: pending, masked, moderated.
module msix_points (
    input wire logic clk_i, rst_ni,
    input wire logic [15:0] raise_i, pending_o, mask_q, hold_q, can, able, left,
    input wire logic enable_i, chosen_q, valid_q, msg_valid_o, msg_ready_i, taken, passed, ext_req_i, check_q,
    input wire logic [7:0] count_of_q,
    input wire logic [31:0] cycles_of_q
);
  `POINT(sent, taken);
  `POINT(two_become_one, (raise_i & pending_o) != '0);
  `POINT(raised_as_it_leaves, (raise_i & left) != '0);
  `POINT(pending_while_masked, (pending_o & mask_q) != '0);
  `POINT(pending_while_disabled, pending_o != '0 && !enable_i);
  `POINT(masked_before_it_was_taken, valid_q && !msg_valid_o);
  `POINT(two_can_leave, (can & (can - 1'b1)) != '0);
  `POINT(waits_for_the_table, chosen_q && ext_req_i);
  `POINT(held_by_moderation, (pending_o & able & hold_q) != '0);
  `POINT(released_by_time, passed && count_of_q == '0 && cycles_of_q != '0);
  `POINT(released_by_count, passed && count_of_q != '0);
  `POINT(polled_without_success, check_q && !passed);
  `POINT(host_waits, msg_valid_o && !msg_ready_i);
endmodule
bind msix msix_points i_points (.*);
