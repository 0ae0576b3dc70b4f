// SPDX-License-Identifier: Apache-2.0
// What the requester keeps of each context: its state (zero after reset), and four words of 256 bits: three slots of
// its descriptor and
// a notification that met a full ring.
`default_nettype none

module rma_memory (
    input  wire logic                        clk_i,
    input  wire logic                        rst_ni,

    // state and a word at raddr_i, from the next cycle on until the next read
    input  wire logic                        re_i,
    input  wire logic [7:0]                  vpid_i,
    output      rma_requester_pkg::state_t   state_o,
    input  wire logic                        word_re_i,
    input  wire logic [1:0]                  word_i,
    output      logic [255:0]                word_o,

    input  wire logic                        we_i,          // the state of the context read last
    input  wire rma_requester_pkg::state_t   state_i,
    input  wire logic                        word_we_i,
    input  wire logic [9:0]                  word_waddr_i,  // word, context
    input  wire logic [255:0]                word_wdata_i
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;

  localparam int unsigned STATE_W = $bits(state_i);
  logic [STATE_W-1:0] rdata;
  logic               born;  // the context's state was written since reset
  logic [7:0]         vpid_q;
  assign state_o = born ? rdata : '0;

  ram_1r1w #(.WIDTH(STATE_W), .DEPTH(ggas_pkg::CONTEXTS)) u_state (
      .clk_i, .we_i, .waddr_i(vpid_q[CW-1:0]), .wdata_i(state_i), .re_i, .raddr_i(vpid_i[CW-1:0]), .rdata_o(rdata));
  ram_1r1w #(.WIDTH(256), .DEPTH(4 * ggas_pkg::CONTEXTS)) u_words (
      .clk_i, .we_i(word_we_i), .waddr_i({word_waddr_i[9:8], word_waddr_i[CW-1:0]}), .wdata_i(word_wdata_i),
      .re_i(word_re_i), .raddr_i({word_i, vpid_i[CW-1:0]}),
      .rdata_o(word_o));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) vpid_q <= '0;
    else if (re_i) vpid_q <= vpid_i;
  end
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS)) u_born (
      .clk_i, .rst_ni, .we_i, .waddr_i(vpid_q[CW-1:0]), .wdata_i(1'b1), .raddr_i(vpid_q[CW-1:0]), .rdata_o(born));

endmodule

`default_nettype wire
