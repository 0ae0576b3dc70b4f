// SPDX-License-Identifier: Apache-2.0
// State of the contexts for rma_answer: whether they are on, and their owner's protection domain and epoch. Those stay
// while a context is off, so that pending answers of its owner still match.
`default_nettype none

module rma_answer_context (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // writes of CONTEXT[]; changes of epochs, all 0 after reset: a packet carries their sum with the starts of the
    // context
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::context_write_t context_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic                ep_valid_i,
    input  wire logic [7:0]          ep_vpid_i,
    input  wire logic [4:0]          ep_epoch_i,

    // the next packet: looked up as its header comes, checked while it waits
    input  wire logic                re_i,
    input  wire logic [7:0]          re_vpid_i,
    input  wire logic [7:0]          vpid_i,
    input  wire logic [4:0]          epoch_i,
    input  wire logic [15:0]         pd_i,
    output      logic                known_o,      // it answers this owner of the context, in this epoch
    output      logic                on_o,
    output      logic [15:0]         pd_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;

  logic [4:0] starts;
  context_fields #(.WIDTH(21), .STARTS(1'b1)) u_owner (
      .clk_i, .context_i, .fields_i(context_i.data[52:32]), .re_i, .vpid_i(re_vpid_i), .fields_o({starts, pd_o}));
  context_flags u_on (.clk_i, .rst_ni, .context_i, .flags_i(context_i.data[0]), .vpid_i, .flags_o(on_o));

  logic         changed;                           // its epoch has ever changed
  logic [4:0]   epoch_q [ggas_pkg::CONTEXTS];
  wire [4:0]    epoch = changed ? epoch_q[vpid_i[CW-1:0]] : 5'd0;
  wire          over  = ep_valid_i && ep_vpid_i == vpid_i;  // known in the next cycle
  assign known_o = ggas_pkg::is_context(vpid_i) && pd_i == pd_o && epoch_i - starts == epoch && !over;

  always_ff @(posedge clk_i) if (ep_valid_i) epoch_q[ep_vpid_i[CW-1:0]] <= ep_epoch_i;

  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS)) u_changed (
      .clk_i, .rst_ni, .we_i(ep_valid_i), .waddr_i(ep_vpid_i[CW-1:0]), .wdata_i(1'b1), .raddr_i(vpid_i[CW-1:0]),
      .rdata_o(changed));

endmodule

`default_nettype wire
