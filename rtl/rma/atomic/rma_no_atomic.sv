// SPDX-License-Identifier: Apache-2.0
// In place of rma_atomic in a NIC without atomics: answers each ATOMIC packet with the status that rma_target found,
// ST_DISABLED at least.
`default_nettype none

module rma_no_atomic #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [15:0]         cfg_node_i,

    // whole ATOMIC packets
    input  wire logic                at_valid_i,
    output      logic                at_ready_o,
    input  wire logic                at_eop_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::rma_hdr_t  at_hdr_i,    // stands for the whole packet
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [3:0]          at_status_i,

    // ATOMIC_RSP
    output      logic                rsp_valid_o,
    input  wire logic                rsp_ready_i,
    output      logic                rsp_sop_o,
    output      logic                rsp_eop_o,
    output      ggas_pkg::rma_hdr_t  rsp_hdr_o,
    output      logic [DATA_W-1:0]   rsp_data_o
);
  localparam bit NARROW = DATA_W < 128;  // an answer takes two beats

  logic               second_q;
  ggas_pkg::rma_hdr_t hdr;
  wire                last = !NARROW || second_q;
  assign at_ready_o = !rsp_valid_o;

  always_comb begin
    hdr        = '0;
    hdr.op     = ggas_pkg::OP_RMA_ATOMIC_RSP;
    hdr.status = at_status_i;
    hdr.svpid  = at_hdr_i.svpid;
    hdr.epoch  = at_hdr_i.epoch;
    hdr.dvpid  = at_hdr_i.dvpid;
    hdr.pd     = at_hdr_i.pd;
    hdr.dst    = at_hdr_i.src;
    hdr.src    = cfg_node_i;
    hdr.len_dw = 11'd4;
    hdr.vc     = ggas_pkg::VC_RSP;
    hdr.flags[rma_pkg::RMA_ACK] = at_hdr_i.flags[rma_pkg::RMA_ACK];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rsp_valid_o <= 1'b0;
      second_q    <= 1'b0;
    end else if (at_valid_i && at_ready_o) begin
      rsp_valid_o <= at_eop_i;
    end else if (rsp_valid_o && rsp_ready_i) begin
      rsp_valid_o <= !last;
      second_q    <= !last;
    end
  end
  always_ff @(posedge clk_i) if (at_ready_o) rsp_hdr_o <= hdr;

  assign rsp_sop_o  = !second_q;
  assign rsp_eop_o  = last;
  assign rsp_data_o = '0;
endmodule

`default_nettype wire
