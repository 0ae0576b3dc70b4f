// SPDX-License-Identifier: Apache-2.0
// Events: recorded, masked, dropped, limited.
module event_queue_points (
    input wire logic clk_i, rst_ni,
    input wire logic take, check, keep, drop, limited, report, room, starting, enable_i, enable_q, valid_q, rec_ready_i,
    input wire logic stopped_o,
    input wire logic [31:0] turn,
    input wire logic [15:0] slot
);
  `POINT(recorded, keep);
  `POINT(masked, take && enable_i && !check);
  `POINT(off, take && !enable_i);
  `POINT(ring_full, drop);
  `POINT(overflow_reported, report);
  `POINT(limited_by_its_share, limited);
  `POINT(second_round, valid_q && turn != '0);
  `POINT(ring_wraps, valid_q && turn != '0 && slot == '0);
  `POINT(stopped_with_a_record_on_its_way, !enable_i && valid_q);
  `POINT(host_waits, valid_q && !rec_ready_i);
  `POINT(enabled_again, starting);
endmodule
bind event_queue event_queue_points i_points (.*);
