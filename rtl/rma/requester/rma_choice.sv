// SPDX-License-Identifier: Apache-2.0
// First stage of a step: chooses the next one. Inputs and outputs take turns. Among inputs a completed fetch command
// has priority over an answer, so that an answer never finds its put still in flight; outputs take turns. A context
// whose step began in the cycle before is not chosen again: nothing begins then.
`default_nettype none

module rma_choice (
    input  wire logic        clk_i,
    input  wire logic        rst_ni,
    input  wire logic        open_i,         // a step may begin
    input  wire logic        last_valid_i,   // one began in the cycle before
    input  wire logic [7:0]  last_vpid_i,    // of this context
    input  wire logic        room_i,         // one more may count and notify
    input  wire logic        keep_i,         // no descriptor may begin in this cycle

    // what waits
    input  wire logic        noted_i,        // needs no room
    input  wire logic [7:0]  noted_vpid_i,
    input  wire logic        done_i,
    input  wire logic        done_soon_i,    // one will be offered
    input  wire logic [7:0]  done_vpid_i,
    input  wire logic        answer_i,
    input  wire logic [7:0]  answer_vpid_i,
    input  wire logic        desc_i,
    input  wire logic [7:0]  desc_vpid_i,
    input  wire logic        exp_i,
    input  wire logic [7:0]  exp_vpid_i,
    input  wire logic        put_i,
    input  wire logic [7:0]  put_vpid_i,
    input  wire logic        scan_i,
    input  wire logic        full_i,         // the scan is for a notification
    input  wire logic [7:0]  scan_vpid_i,

    output      logic        go_out_o,       // what begins, if anything does, goes out
    output      logic [7:0]  turn_o,         // one-hot, K_*: what that is; 0: nothing
    output      logic [7:0]  vpid_o,         // its context
    output      logic [7:0]  pick_o          // turn_o if it does begin, else 0
);

  logic [2:0] in;
  logic [3:0] out, grant;
  logic [6:0] turn, clash;
  logic       in_last_q;  // the last step was of what comes in
  assign go_out_o = out != '0 && (in == '0 || in_last_q);

  always_comb begin
    in[rma_requester_pkg::K_NOTED]  = noted_i;
    in[rma_requester_pkg::K_DONE]   = done_i && room_i && !noted_i;
    in[rma_requester_pkg::K_ANSWER] = answer_i && room_i && !noted_i && !done_i && !done_soon_i;
    out = {scan_i, put_i, exp_i, desc_i} & {4{room_i}};
  end
  assign turn = go_out_o ? {grant, 3'd0} : {4'd0, in};
  wire start = open_i && turn != '0 && (turn & clash) == '0;

  // The one after the last one that had its turn comes first.
  logic [1:0] owner_q;
  always_comb begin
    grant = '0;
    case (owner_q)
      2'd3:    grant = out[0] ? 4'd1 : out[1] ? 4'd2 : out[2] ? 4'd4 : {out[3], 3'd0};
      2'd0:    grant = out[1] ? 4'd2 : out[2] ? 4'd4 : out[3] ? 4'd8 : {3'd0, out[0]};
      2'd1:    grant = out[2] ? 4'd4 : out[3] ? 4'd8 : out[0] ? 4'd1 : {2'd0, out[1], 1'd0};
      default: grant = out[3] ? 4'd8 : out[0] ? 4'd1 : out[1] ? 4'd2 : {1'd0, out[2], 2'd0};
    endcase
  end

  wire [55:0] vpids = {scan_vpid_i, put_vpid_i, exp_vpid_i, desc_vpid_i, answer_vpid_i, noted_vpid_i, done_vpid_i};
  always_comb begin
    vpid_o = '0;
    for (int i = 0; i < 7; i++) begin
      clash[i] = last_valid_i && vpids[8*i+:8] == last_vpid_i;
      if (i == rma_requester_pkg::K_DESC) clash[i] = clash[i] || keep_i;
      if (turn[i]) vpid_o = vpid_o | vpids[8*i+:8];
    end
    turn_o = {turn[6] && full_i, turn[6] && !full_i, turn[5:0]};
    pick_o = start ? turn_o : '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_last_q <= 1'b0;
      owner_q   <= 2'd3;
    end else if (start) begin
      in_last_q <= !go_out_o;
      if (go_out_o) owner_q <= {grant[3] || grant[2], grant[3] || grant[1]};
    end
  end

endmodule

`default_nettype wire
