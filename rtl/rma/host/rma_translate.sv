// SPDX-License-Identifier: Apache-2.0
// A client of the ATU with one translation at a time: it is requested once, and its answer is kept until it is done.
`default_nettype none

module rma_translate #(
    parameter bit WRITE = 1'b1,  // for writes
    parameter bit EARLY = 1'b1   // the answer counts in its own cycle, too; else from the next one on
) (
    input  wire logic              clk_i,
    input  wire logic              rst_ni,

    input  wire logic              want_i,      // a translation is needed ...
    input  wire logic [63:0]       nla_i,       // ... of this address, which stays until done_i
    input  wire logic [15:0]       pd_i,
    input  wire logic              done_i,      // it is no longer needed
    output      logic              asked_o,     // it was requested in an earlier cycle
    output      logic              kept_o,      // it was answered in an earlier cycle
    output      logic              known_o,     // it is answered
    output      logic [63:0]       addr_o,      // bus address, then
    output      logic [3:0]        status_o,

    // to the ATU
    output      rma_pkg::tr_req_t  tr_o,
    input  wire logic              tr_ready_i,
    input  wire rma_pkg::tr_rsp_t  tr_rsp_i
);
  logic [63:0] addr_q;
  logic [3:0]  status_q;
  wire         now = EARLY && !kept_o;
  assign known_o  = kept_o || (EARLY && tr_rsp_i.valid);
  assign addr_o   = now ? tr_rsp_i.addr : addr_q;
  assign status_o = now ? tr_rsp_i.status : status_q;

  assign tr_o.valid = want_i && !asked_o;
  assign tr_o.write = WRITE;
  assign tr_o.pd    = pd_i;
  assign tr_o.nla   = nla_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asked_o  <= 1'b0;
      kept_o   <= 1'b0;
      addr_q   <= '0;
      status_q <= '0;
    end else begin
      if (tr_o.valid && tr_ready_i) asked_o <= 1'b1;
      if (tr_rsp_i.valid) begin
        kept_o   <= 1'b1;
        addr_q   <= tr_rsp_i.addr;
        status_q <= tr_rsp_i.status;
      end
      if (done_i) {asked_o, kept_o} <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && tr_rsp_i.valid) assert (asked_o && !kept_o);
`endif
endmodule

`default_nettype wire
