// SPDX-License-Identifier: Apache-2.0
// Requests of the host: each result, and each thing they wait for.
module hostif_rx_points (
    input wire logic clk_i, rst_ni,
    input wire logic first, cut, stray, wrong_end, abort, sop_bad, write_ok, read_ok, non_posted,
    input wire logic fifo_full, np_full_i, is_write, is_read, p_valid_o, p_ready_i, unsupported_o, p_commit_o,
    input wire ggas_pkg::tlp_beat_t rx_i
);
  `POINT(write_to_registers, first && write_ok && rx_i.hdr.bar == ggas_pkg::BAR_REGS);
  `POINT(write_to_the_window, first && write_ok && rx_i.hdr.bar == ggas_pkg::BAR_WINDOW);
  `POINT(write_to_a_page, first && write_ok && rx_i.hdr.bar == ggas_pkg::BAR_PAGES);
  `POINT(read_of_registers, first && read_ok && rx_i.hdr.bar == ggas_pkg::BAR_REGS);
  `POINT(read_of_the_window, first && read_ok && rx_i.hdr.bar == ggas_pkg::BAR_WINDOW);
  `POINT(read_of_a_page, first && read_ok && rx_i.hdr.bar == ggas_pkg::BAR_PAGES);
  `POINT(bad_write, first && is_write && sop_bad);
  `POINT(bad_read, first && is_read && sop_bad);
  `POINT(poisoned, first && rx_i.hdr.poisoned);
  `POINT(unsupported_write, unsupported_o && is_write);
  `POINT(unsupported_read, unsupported_o && is_read);
  `POINT(unsupported_non_posted, unsupported_o && non_posted && !is_read);
  `POINT(begins_inside_a_packet, cut);
  `POINT(goes_on_without_a_beginning, stray);
  `POINT(ends_too_late_or_early, wrong_end);
  `POINT(forgotten_half_way, abort);
  `POINT(waits_for_room, rx_i.valid && fifo_full);
  `POINT(non_posted_waits_for_room, rx_i.valid && rx_i.sop && non_posted && np_full_i);
  `POINT(units_wait, p_valid_o && !p_ready_i);
endmodule
bind hostif_rx hostif_rx_points i_points (.*);
