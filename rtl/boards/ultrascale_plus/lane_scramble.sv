// SPDX-License-Identifier: Apache-2.0
// Self-synchronising scrambler of 64b/66b, x^58 + x^39 + 1, a block a cycle; bit 0 is the first on the wire.
`default_nettype none

module lane_scramble #(
    /// 0: scrambles, 1: descrambles.
    parameter bit DESCRAMBLE = 1'b0
) (
    input  wire logic        clk_i,
    input  wire logic        rst_ni,
    /// This block counts; others leave the state as it is.
    input  wire logic        use_i,
    input  wire logic [63:0] data_i,
    /// In the same cycle.
    output      logic [63:0] data_o
);
  // Every bit is added to those 39 and 58 bits before it on the wire.
  logic [57:0] last_q;  // on the wire before this block, the latest in bit 57
  logic [63:0] on_wire;
  if (DESCRAMBLE) begin : g_undo
    assign on_wire = data_i;
    assign data_o  = data_i ^ {data_i[24:0], last_q[57:19]} ^ {data_i[5:0], last_q};
  end else begin : g_do
    logic [38:0] low;
    logic [18:0] middle;
    assign low     = data_i[38:0] ^ last_q[57:19] ^ last_q[38:0];
    assign middle  = data_i[57:39] ^ low[18:0] ^ last_q[57:39];
    assign on_wire = {data_i[63:58] ^ low[24:19] ^ low[5:0], middle, low};
    assign data_o  = on_wire;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) last_q <= '1;
    else if (use_i) last_q <= on_wire[63:6];
  end
  wire unused = ^on_wire[5:0];
endmodule

`default_nettype wire
