// SPDX-License-Identifier: Apache-2.0
// Groups that break when the route is taken away, and what becomes of their operations.
module coll_engine_points (
    input wire logic clk_i, rst_ni,
    input wire logic [2:0] state_q, group_q, group_i,
    input wire logic [7:0] enable_i, alone_i, at_work, waits_o, reported_q, broken_o, inform_q, breaks, work,
    input wire logic [63:0] have_o,
    input wire logic route_i, fails, fails_q, ended, breaks_i, arrive_i, result_i
);
  localparam logic [2:0] S_LOOK = 3'd1, S_UP = 3'd3, S_DOWN = 3'd4;
  logic [7:0] held;  // contributions that stay where they are
  always_comb
    for (int g = 0; g < 8; g = g + 1)
      held[g] = enable_i[g] && !route_i && have_o[8*g] && !waits_o[g] && !broken_o[g];
  `POINT(breaks_as_it_waits, !route_i && (breaks & waits_o & ~at_work) != '0);
  `POINT(breaks_as_its_contribution_leaves, !route_i && state_q == S_UP && breaks[group_q]);
  `POINT(result_is_here_without_a_route, !route_i && (waits_o & reported_q & ~broken_o & ~at_work) != '0);
  `POINT(result_goes_on_without_a_route, !route_i && state_q == S_DOWN && !fails_q && waits_o[group_q]);
  `POINT(sum_goes_on_without_a_route, !route_i && state_q == S_DOWN && !fails_q && !waits_o[group_q]);
  `POINT(contribution_stays, (held & ~alone_i) != '0);
  `POINT(alone_without_a_route, !route_i && (work & alone_i) != '0);
  `POINT(a_neighbour_breaks_it, route_i && breaks != '0);
  `POINT(a_neighbour_repeats_its_report, breaks_i && breaks == '0);
  `POINT(breaks_under_its_operation, |(breaks & at_work));
  `POINT(route_is_gone_before_neighbours_are_informed, state_q == S_LOOK && fails && inform_q[group_q] && !route_i);
  `POINT(route_is_gone_as_they_are_informed, !route_i && fails_q && (state_q == S_UP || state_q == S_DOWN));
  `POINT(reported_twice, !route_i && (broken_o & ~inform_q) != '0);
  `POINT(operation_ends_that_waited, ended && fails_q && waits_o[group_q]);
  `POINT(operation_ends_that_had_not_left, ended && fails_q && !waits_o[group_q]);
  `POINT(ends_well_though_broken_meanwhile, ended && !fails_q && broken_o[group_q]);
  `POINT(result_comes_too_late, arrive_i && result_i && broken_o[group_i]);
endmodule
bind coll_engine coll_engine_points i_points (.*);
