// SPDX-License-Identifier: Apache-2.0
// Which step is next. What comes in and what goes out take turns; of what comes in, a done fetch command goes before an
// answer, so that
// an answer never finds its put still under way; what goes out goes round.
`default_nettype none

module rma_choice (
    input  wire logic        clk_i,
    input  wire logic        rst_ni,
    input  wire logic        idle_i,    // a step may start
    // but these not, K_* (late stands for both): the step that ends now is in their way
    input  wire logic [6:0]  clash_i,
    input  wire logic        room_i,    // it may count and notify

    // what waits
    input  wire logic        noted_i,   // needs no room
    input  wire logic        done_i,
    input  wire logic        answer_i,
    input  wire logic        desc_i,
    input  wire logic        exp_i,
    input  wire logic        put_i,
    input  wire logic        scan_i,
    input  wire logic        full_i,    // the scan is for a notification

    output      logic [7:0]  pick_o     // one-hot, K_*; 0: none
);

  logic [2:0] in;
  logic [3:0] out, grant;
  logic       in_last_q;  // the last step was of what comes in
  wire        go_out = out != '0 && (in == '0 || in_last_q);

  always_comb begin
    in = '0;
    if (noted_i) in[rma_requester_pkg::K_NOTED] = 1'b1;
    else if (done_i) in[rma_requester_pkg::K_DONE] = room_i;
    else in[rma_requester_pkg::K_ANSWER] = answer_i && room_i;
    in  = in & ~clash_i[2:0];
    out = {scan_i, put_i, exp_i, desc_i} & {4{room_i}} & ~clash_i[6:3];
  end

  // verilator lint_off PINCONNECTEMPTY
  arbiter_rr #(.N(4)) u_turn (
      .clk_i, .rst_ni, .clear_i(1'b0), .req_i(out), .take_i(idle_i && go_out), .eop_i(1'b1), .grant_o(grant),
      .locked_o());
  // verilator lint_on PINCONNECTEMPTY

  always_comb begin
    pick_o = '0;
    if (idle_i && go_out) pick_o = {grant[3] && full_i, grant[3] && !full_i, grant[2:0], 3'd0};
    else if (idle_i) pick_o = {5'd0, in};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) in_last_q <= 1'b0;
    else if (pick_o != '0) in_last_q <= !go_out;
  end

endmodule

`default_nettype wire
