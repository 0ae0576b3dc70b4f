// SPDX-License-Identifier: Apache-2.0
// Readers that go to sleep as records come.
module rma_arm_points (
    input wire logic clk_i, rst_ni,
    input wire logic act_q, is_arm_q, ring_q, on, newer, fire, used_q, stale_q, list, waits, fire_ready_i, done,
    input wire logic [1:0] armed, row_armed,
    input wire logic [2:0] offers
);
  wire [1:0] ring = act_q ? 2'd1 << ring_q : 2'd0;
  `POINTS_2(sleeps, {2{done && waits}} & ring);
  `POINTS_2(woken_as_it_lies_down, {2{is_arm_q && fire}} & ring);
  `POINTS_2(woken_by_a_record, {2{!is_arm_q && fire}} & ring);
  `POINTS_2(record_without_a_reader, {2{!is_arm_q && on}} & ring & ~armed);
  `POINT(context_does_not_fire, act_q && !on);
  `POINT(armed_before_its_restart, act_q && !used_q && row_armed != '0);
  `POINT(restarted_with_an_item_in_progress, done && stale_q);
  `POINT(into_the_ring, fire && list && act_q);
  `POINT(by_vector_alone, fire && !list && act_q);
  `POINT(firing_waits, act_q && fire && !fire_ready_i);
  `POINT(record_and_arm_at_once, offers[2] && offers[1:0] != '0);
endmodule
bind rma_arm rma_arm_points i_points (.*);
