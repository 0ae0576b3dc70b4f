// SPDX-License-Identifier: Apache-2.0
// The requester's memory for each context: its state (zero after reset), and four words of 256 bits: three slots of its
// descriptor and a notification that found a full ring. A state that is written in the cycle of the read or in the one
// after it is bypassed; the steps of one context are at least two cycles apart.
`default_nettype none

module rma_memory (
    input  wire logic                        clk_i,
    input  wire logic                        rst_ni,

    // A read in every cycle: nothing late says whether.
    input  wire logic [7:0]                  vpid_i,
    output      rma_requester_pkg::state_t   state_o,       // in the next cycle
    output      logic                        fresh_o,       // it is written in that cycle
    input  wire logic [1:0]                  word_i,
    output      logic [255:0]                word_o,        // in the next cycle

    input  wire logic                        we_i,
    input  wire logic [7:0]                  we_vpid_i,
    input  wire rma_requester_pkg::state_t   state_i,
    input  wire logic                        word_we_i,
    input  wire logic [9:0]                  word_waddr_i,  // word, context
    input  wire logic [255:0]                word_wdata_i
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;
  localparam int unsigned STATE_W = $bits(state_i);

  logic [STATE_W-1:0] rdata;
  ram_1r1w #(.WIDTH(STATE_W), .DEPTH(ggas_pkg::CONTEXTS)) u_state (
      .clk_i, .we_i, .waddr_i(we_vpid_i[CW-1:0]), .wdata_i(state_i), .re_i(1'b1),
      .raddr_i(vpid_i[CW-1:0]), .rdata_o(rdata));
  ram_1r1w #(.WIDTH(256), .DEPTH(4 * ggas_pkg::CONTEXTS)) u_words (
      .clk_i, .we_i(word_we_i), .waddr_i({word_waddr_i[9:8], word_waddr_i[CW-1:0]}), .wdata_i(word_wdata_i),
      .re_i(1'b1), .raddr_i({word_i, vpid_i[CW-1:0]}), .rdata_o(word_o));

  logic                      born;     // the context's state was written since reset
  logic                      last_we_q;
  logic [7:0]                vpid_q, last_vpid_q;
  rma_requester_pkg::state_t last_q;   // the state written in the cycle before
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) last_we_q <= 1'b0;
    else last_we_q <= we_i;
  end
  always_ff @(posedge clk_i) begin
    vpid_q <= vpid_i;
    if (we_i) begin
      last_vpid_q <= we_vpid_i;
      last_q      <= state_i;
    end
  end
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS)) u_born (
      .clk_i, .rst_ni, .we_i, .waddr_i(we_vpid_i[CW-1:0]), .wdata_i(1'b1), .raddr_i(vpid_q[CW-1:0]), .rdata_o(born));

  assign fresh_o = we_i && we_vpid_i == vpid_q;
  always_comb begin
    state_o = rdata;
    if (!born) state_o = '0;
    if (last_we_q && last_vpid_q == vpid_q) state_o = last_q;
    if (fresh_o) state_o = state_i;
  end

endmodule

`default_nettype wire
