// SPDX-License-Identifier: Apache-2.0
// One write port, one read port, synchronous read: block RAM; rdata_o holds its value while re_i is low. A read of
// the address that is written at the same edge returns no defined word, as block RAM does, or with OLD the old one,
// which costs a comparator and two registers for each bit.
`default_nettype none

module ram_1r1w #(
    parameter int unsigned WIDTH = 64,    // bits of a word
    parameter int unsigned DEPTH = 512,   // words
    parameter bit          OLD   = 1'b0   // a word that is written as it is read is read as it was
) (
    input  wire logic                     clk_i,
    input  wire logic                     we_i,
    input  wire logic [$clog2(DEPTH)-1:0] waddr_i,
    input  wire logic [WIDTH-1:0]         wdata_i,
    input  wire logic                     re_i,
    input  wire logic [$clog2(DEPTH)-1:0] raddr_i,
    output      logic [WIDTH-1:0]         rdata_o   // word at raddr_i, one cycle after re_i
);
  (* no_rw_check = !OLD *) logic [WIDTH-1:0] mem_q [0:DEPTH-1];

  always_ff @(posedge clk_i) begin
    if (we_i) mem_q[waddr_i] <= wdata_i;
`ifdef SYNTHESIS
    if (re_i) rdata_o <= mem_q[raddr_i];
`else
    // A collision gives neither the old nor the new word, so that a test finds logic that relies on one of them.
    if (re_i) rdata_o <= mem_q[raddr_i] ^ {WIDTH{!OLD && we_i && waddr_i == raddr_i}};
`endif
  end

`ifndef SYNTHESIS
  initial if (DEPTH < 2) $error("ram_1r1w: DEPTH must be at least 2");
`endif
endmodule

`default_nettype wire
