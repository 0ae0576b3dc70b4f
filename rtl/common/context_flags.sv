// SPDX-License-Identifier: Apache-2.0
// Flags of CONTEXT[].CTRL for a unit, kept from their broadcast (rma_context). They are read in the same cycle, as they
// were before it. After reset all are 0, and a context that the build does not have has none.
`default_nettype none

module context_flags #(
    parameter int unsigned FLAGS = 1,  // flags of a context
    parameter int unsigned READS = 1   // readers
) (
    input  wire logic                    clk_i,
    input  wire logic                    rst_ni,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::context_write_t context_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [FLAGS-1:0]        flags_i,  // out of context_i.data
    input  wire logic [READS*8-1:0]      vpid_i,   // a slice a reader
    output      logic [READS*FLAGS-1:0]  flags_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;

  logic [READS*CW-1:0]    at;
  logic [FLAGS*READS-1:0] flag;
  for (genvar r = 0; r < READS; r = r + 1) begin : g_reader
    assign at[r*CW+:CW] = vpid_i[r*8+:CW];
  end
  for (genvar f = 0; f < FLAGS; f = f + 1) begin : g_flag
    flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .READS(READS)) u_flag (
        .clk_i, .rst_ni, .we_i(context_i.we && context_i.word == 3'd0), .waddr_i(context_i.vpid[CW-1:0]),
        .wdata_i(flags_i[f]), .raddr_i(at), .rdata_o(flag[f*READS+:READS]));
    for (genvar r = 0; r < READS; r = r + 1) begin : g_read
      assign flags_o[r*FLAGS+f] = ggas_pkg::is_context(vpid_i[r*8+:8]) && flag[f*READS+r];
    end
  end
endmodule

`default_nettype wire
