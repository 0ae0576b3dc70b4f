// SPDX-License-Identifier: Apache-2.0
// What rma_answer keeps of the 256 contexts: whether they are on, protection domain, epoch.
`default_nettype none

module rma_answer_context (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // writes of CONTEXT[]; changes of epochs, all 0 after reset
    input  wire logic                cfg_we_i,
    input  wire logic [7:0]          cfg_vpid_i,
    input  wire logic [2:0]          cfg_word_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [63:0]         cfg_data_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic                ep_valid_i,
    input  wire logic [7:0]          ep_vpid_i,
    input  wire logic [4:0]          ep_epoch_i,

    // the next packet: looked up as its header comes, judged while it waits
    input  wire logic                re_i,
    input  wire logic [7:0]          re_vpid_i,
    input  wire logic [7:0]          vpid_i,
    input  wire logic [4:0]          epoch_i,
    output      logic                live_o,       // the context is on and in this epoch
    output      logic [15:0]         pd_o
);

  wire ctrl_we = cfg_we_i && cfg_word_i == 3'd0;

  ram_1r1w #(.WIDTH(16), .DEPTH(256)) u_pd (
      .clk_i, .we_i(ctrl_we), .waddr_i(cfg_vpid_i), .wdata_i(cfg_data_i[47:32]), .re_i, .raddr_i(re_vpid_i), .rdata_o(pd_o));

  logic [255:0] on_q;
  logic [255:0] known_q;          // contexts whose epoch has ever changed
  logic [4:0]   epoch_q [256];
  wire [4:0]    epoch = known_q[vpid_i] ? epoch_q[vpid_i] : 5'd0;
  wire          over  = ep_valid_i && ep_vpid_i == vpid_i;  // known in the next cycle
  assign live_o = on_q[vpid_i] && epoch == epoch_i && !over;

  always_ff @(posedge clk_i) if (ep_valid_i) epoch_q[ep_vpid_i] <= ep_epoch_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      on_q    <= '0;
      known_q <= '0;
    end else begin
      if (ctrl_we) on_q[cfg_vpid_i] <= cfg_data_i[0];
      if (ep_valid_i) known_q[ep_vpid_i] <= 1'b1;
    end
  end

endmodule

`default_nettype wire
