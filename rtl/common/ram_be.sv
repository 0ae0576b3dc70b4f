// SPDX-License-Identifier: Apache-2.0
// One write port with byte enables, one read port, synchronous read: block RAM. A read of the address written at the
// same edge returns undefined data for the written bytes (ram_1r1w.sv gives the reason); rdata_o holds its value while
// re_i is low.
`default_nettype none

module ram_be #(
    parameter int unsigned BYTES = 8,    // bytes of a word
    parameter int unsigned DEPTH = 512   // words, at least 2
) (
    input  wire logic                     clk_i,
    input  wire logic                     we_i,
    input  wire logic [BYTES-1:0]         wbe_i,
    input  wire logic [$clog2(DEPTH)-1:0] waddr_i,
    input  wire logic [8*BYTES-1:0]       wdata_i,
    input  wire logic                     re_i,
    input  wire logic [$clog2(DEPTH)-1:0] raddr_i,
    output      logic [8*BYTES-1:0]       rdata_o   // word at raddr_i, one cycle after re_i
);
  (* no_rw_check *) logic [8*BYTES-1:0] mem_q [0:DEPTH-1];

`ifdef SYNTHESIS
  wire [8*BYTES-1:0] word = mem_q[raddr_i];
`else
  logic [8*BYTES-1:0] word;
  always_comb begin
    word = mem_q[raddr_i];
    for (int i = 0; i < BYTES; i++) if (we_i && wbe_i[i] && waddr_i == raddr_i) word[8*i+:8] = ~word[8*i+:8];
  end
`endif

  always_ff @(posedge clk_i) begin
    if (we_i) begin
      for (int i = 0; i < BYTES; i++) if (wbe_i[i]) mem_q[waddr_i][8*i+:8] <= wdata_i[8*i+:8];
    end
    if (re_i) rdata_o <= word;
  end

`ifndef SYNTHESIS
  initial if (DEPTH < 2) $error("ram_be: DEPTH must be at least 2");
`endif
endmodule

`default_nettype wire
