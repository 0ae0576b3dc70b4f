// SPDX-License-Identifier: Apache-2.0
// Exports that change while others use them.
module smfu_exports_points (
    input wire logic clk_i, rst_ni,
    input wire logic write, give, clear, fresh, mark_o, drained_i, fetch, fetch_q, port, fetch_for_q,
    input wire logic [1:0] want, warm, none, hit, ask_i, known_o, line_known_q,
    input wire logic [5:0] index,
    input wire logic [11:0] line_no_q,
    input wire logic [63:0] valid_q,
    input wire logic [63:0] ext_wdata_i
);
  `POINT(first_write_since_reset, fresh);
  `POINT(given, give && ext_wdata_i[16]);
  `POINT(taken_back, give && !ext_wdata_i[16] && valid_q[index]);
  `POINT(border_moved_in_use, clear && valid_q[index]);
  `POINT(marked, mark_o);
  `POINT(something_old_is_under_way, mark_o && !drained_i);
  `POINT(store_and_load_want_lines, want == 2'b11);
  `POINT(store_waits_for_the_port, want[0] && port);
  `POINT(load_waits_for_the_port, want[1] && port);
  `POINT(written_as_it_is_fetched, write && fetch_q && index == (fetch_for_q ? line_no_q[11:6] : line_no_q[5:0]));
  `POINT(written_in_a_line, write && (line_known_q[0] && index == line_no_q[5:0]));
  `POINT(fetched_before_anybody_asks, fetch && want == '0);
  `POINT(number_of_none, (ask_i & none) != '0);
  `POINT(known_at_once, (ask_i & hit) != '0);
endmodule
bind smfu_exports smfu_exports_points i_points (.*);
