// SPDX-License-Identifier: Apache-2.0
// Events: recorded, masked, dropped, limited.
module event_queue_points (
    input wire logic clk_i, rst_ni,
    input wire logic take, check, keep, drop, limited, report, room, starting, enable_i, enable_q, valid_q, rec_ready_i,
    input wire logic stopped_o, phase,
    input wire logic [63:12] base_i,
    input wire logic [63:0] rec_addr_o
);
  `POINT(recorded, keep);
  `POINT(masked, take && enable_i && !check);
  `POINT(off, take && !enable_i);
  `POINT(ring_full, drop);
  `POINT(overflow_reported, report);
  `POINT(limited_by_its_share, limited);
  `POINT(second_round, valid_q && !phase);
  `POINT(ring_wraps, valid_q && !phase && rec_addr_o == {base_i, 12'd0});
  `POINT(stopped_with_a_record_on_its_way, !enable_i && valid_q);
  `POINT(host_waits, valid_q && !rec_ready_i);
  `POINT(re_enabled, starting);
endmodule
bind event_queue event_queue_points i_points (.*);
