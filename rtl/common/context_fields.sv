// SPDX-License-Identifier: Apache-2.0
// Fields of a word of CONTEXT[] for a unit, kept from their broadcast (rma_context) and read in block RAM. They are
// undefined until the word is written.
`default_nettype none

module context_fields #(
    parameter int unsigned WIDTH  = 16,   // bits of the fields
    parameter int unsigned WORD   = 0,    // that they are in; 0: CTRL
    parameter bit          STARTS = 1'b0  // only when CTRL starts the context: they stay when it is switched off
) (
    input  wire logic             clk_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::context_write_t context_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [WIDTH-1:0] fields_i,  // out of context_i.data
    input  wire logic             re_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [7:0]       vpid_i,
    // verilator lint_on UNUSEDSIGNAL
    output      logic [WIDTH-1:0] fields_o   // of vpid_i, as before this cycle; one cycle after re_i, until the next
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;
  ram_1r1w #(.WIDTH(WIDTH), .DEPTH(ggas_pkg::CONTEXTS), .OLD(1'b1)) u_ram (
      .clk_i, .we_i(context_i.we && context_i.word == WORD[2:0] && (!STARTS || context_i.data[0])),
      .waddr_i(context_i.vpid[CW-1:0]), .wdata_i(fields_i), .re_i, .raddr_i(vpid_i[CW-1:0]), .rdata_o(fields_o));
endmodule

`default_nettype wire
