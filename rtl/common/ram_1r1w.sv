// SPDX-License-Identifier: Apache-2.0
// One write port, one read port, synchronous read: block RAM. A read of the address written at the same edge returns
// the old word; rdata_o holds its value while re_i is low.
`default_nettype none

module ram_1r1w #(
    parameter int unsigned WIDTH = 64,   // bits of a word
    parameter int unsigned DEPTH = 512   // words
) (
    input  wire logic                     clk_i,
    input  wire logic                     we_i,
    input  wire logic [$clog2(DEPTH)-1:0] waddr_i,
    input  wire logic [WIDTH-1:0]         wdata_i,
    input  wire logic                     re_i,
    input  wire logic [$clog2(DEPTH)-1:0] raddr_i,
    output      logic [WIDTH-1:0]         rdata_o   // word at raddr_i, one cycle after re_i
);
  logic [WIDTH-1:0] mem_q [0:DEPTH-1];

  always_ff @(posedge clk_i) begin
    if (we_i) mem_q[waddr_i] <= wdata_i;
    if (re_i) rdata_o <= mem_q[raddr_i];
  end

`ifndef SYNTHESIS
  initial if (DEPTH < 2) $error("ram_1r1w: DEPTH must be at least 2");
`endif
endmodule

`default_nettype wire
