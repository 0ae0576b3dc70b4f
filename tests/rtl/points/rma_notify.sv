// SPDX-License-Identifier: Apache-2.0
// Notifications: written, refused, lost, reported.
module rma_notify_points (
    input wire logic clk_i, rst_ni,
    input wire logic [1:0] state_q,
    input wire logic look, known, exists, check_q, fits, hold, write, lose, some_lost_q, wr_ready_i,
    input wire logic written_valid_o, written_ready_i, irq, done, backpressure, drop_q,
    input wire logic [2:0] nt_valid_i,
    input wire logic [31:0] count_q,
    input wire logic [4:0] log_q,
    input wire ggas_pkg::tlp_beat_t wr_o
);
  localparam logic [1:0] S_LOOK = 2'd1, S_LOST = 2'd2;
  `POINT(written, done);
  `POINT(written_behind_what_was_lost, done && state_q != S_LOST && some_lost_q);
  `POINT(reports_what_was_lost, state_q == S_LOST);
  `POINT(lost, lose);
  `POINT(room_for_one_of_two, look && known && some_lost_q && !fits);
  `POINT(sender_must_wait, look && known && !fits && hold);
  `POINT(lost_although_senders_wait, lose && backpressure && drop_q);
  `POINT(no_such_context, look && !exists);
  `POINT(context_of_another_domain, look && exists && !known);
  `POINT(two_ask_at_once, (nt_valid_i & (nt_valid_i - 1'b1)) != '0);
  `POINT(reader_is_informed, done && irq);
  `POINT(reader_of_the_record_before_is_not_informed_yet, state_q == S_LOOK && written_valid_o);
  `POINT(host_waits, wr_o.valid && !wr_ready_i);
  `POINT(second_round_of_the_ring, wr_o.valid && count_q[log_q]);
endmodule
bind rma_notify rma_notify_points i_points (.*);
