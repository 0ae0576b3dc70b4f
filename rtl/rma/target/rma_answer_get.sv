// SPDX-License-Identifier: Apache-2.0
// Whether data of a get were refused here. A word for each node and place: a target serves one get in a place at a
// time, and its packets arrive in order. Written by the first packet of a get and by refused ones; context and epoch in
// the word distinguish forged packets.
`default_nettype none

module rma_answer_get (
    input  wire logic                clk_i,
    input  wire logic                take_i,      // a packet is taken
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::rma_hdr_t  hdr_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic                data_i,      // it is GET_DATA of a context that waits
    input  wire logic                good_i,      // it is written
    output      logic                refused_o    // of the packet taken last: data of its get was refused
);

  localparam int unsigned KEY_W = ggas_pkg::NODE_W + 4;
  wire [KEY_W-1:0] key = {hdr_i.src[ggas_pkg::NODE_W-1:0], hdr_i.place};
  wire         we  = take_i && data_i && (!good_i || hdr_i.flags[rma_pkg::RMA_FIRST]);
  wire [16:0]  word = {!good_i, hdr_i.svpid, hdr_i.epoch};
  logic [15:0] owner_q, owner;  // context, epoch
  logic        refused;

  ram_1r1w #(.WIDTH(17), .DEPTH(16 * ggas_pkg::MAX_NODES)) u_gets (
      .clk_i, .we_i(we), .waddr_i(key), .wdata_i(word), .re_i(take_i), .raddr_i(key),
      .rdata_o({refused, owner}));

  always_ff @(posedge clk_i) if (take_i) owner_q <= {hdr_i.svpid, hdr_i.epoch};
  assign refused_o = refused && owner == owner_q;

endmodule

`default_nettype wire
