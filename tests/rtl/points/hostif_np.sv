// SPDX-License-Identifier: Apache-2.0
// Non-posted requests of the host on their way to registers and SMFU.
module hostif_np_points (
    input wire logic clk_i, rst_ni,
    input wire logic wr_valid_i, to_regs, to_ur, read_go, reading_q, writing_q, reg_error_i, cpl_valid_o, cpl_ready_i,
    input wire logic win_valid_o, win_ready_i, win_empty, reg_empty, win_full, reg_full, reg_pop,
    input wire hostif_pkg::access_t head
);
  `POINT(register_read, reading_q && !reg_error_i);
  `POINT(register_read_of_nothing, reading_q && reg_error_i);
  `POINT(register_write_of_nothing, writing_q && reg_error_i);
  `POINT(refused, to_ur && reg_pop);
  `POINT(write_goes_before_a_read, wr_valid_i && to_regs && !reading_q);
  `POINT(read_waits_for_the_completion_before, to_regs && cpl_valid_o && !cpl_ready_i);
  `POINT(load_waits_for_the_unit, win_valid_o && !win_ready_i);
  `POINT(register_read_beside_a_waiting_load, reading_q && win_valid_o && !win_ready_i);
  `POINT(load_waits_for_posted_ones, !win_empty && !win_valid_o);
  `POINT(access_waits_for_posted_ones, !reg_empty && !to_regs && !to_ur);
  `POINT(two_leave_at_once, reg_pop && win_valid_o && win_ready_i);
  `POINT(loads_take_all_credits, win_full);
  `POINT(upper_half_of_a_register, reading_q && head.addr[2] && head.len_dw == 11'd1);
endmodule
bind hostif_np hostif_np_points i_points (.*);
