// SPDX-License-Identifier: Apache-2.0
// Answers of rma_target that wait for the network: a few deep, so that short puts with acknowledgement run at full
// rate.
`default_nettype none

module rma_target_ack #(
    parameter int unsigned DEPTH = 4  // answers, a power of two
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [15:0]         cfg_node_i,

    input  wire logic                push_i,       // only while ready_o
    output      logic                ready_o,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::rma_hdr_t  hdr_i,        // header of the request
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic                get_i,        // it is a GET: answer GET_DONE
    input  wire logic [3:0]          status_i,

    output      logic                rsp_valid_o,
    input  wire logic                rsp_ready_i,
    output      ggas_pkg::rma_hdr_t  rsp_hdr_o
);

  logic        get, ack;
  logic [3:0]  status;
  logic [7:0]  svpid, epoch, dvpid;
  logic [15:0] pd, dst;
  logic [63:0] addr;
  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(126), .DEPTH(DEPTH)) u_acks (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(push_i), .wr_ready_o(ready_o),
      .wr_data_i({get_i, hdr_i.flags[rma_pkg::RMA_ACK], status_i, hdr_i.svpid, hdr_i.epoch, hdr_i.dvpid, hdr_i.pd,
      hdr_i.src, hdr_i.addr}),
      .rd_valid_o(rsp_valid_o), .rd_ready_i(rsp_ready_i),
      .rd_data_o({get, ack, status, svpid, epoch, dvpid, pd, dst, addr}), .count_o());
  // verilator lint_on PINCONNECTEMPTY

  always_comb begin
    rsp_hdr_o = '0;
    if (rsp_valid_o) begin
      rsp_hdr_o.addr   = addr;
      rsp_hdr_o.op     = get ? ggas_pkg::OP_RMA_GET_DONE : ggas_pkg::OP_RMA_ACK;
      rsp_hdr_o.status = status;
      rsp_hdr_o.svpid  = svpid;
      rsp_hdr_o.epoch  = epoch;
      rsp_hdr_o.dvpid  = dvpid;
      rsp_hdr_o.pd     = pd;
      rsp_hdr_o.dst    = dst;
      rsp_hdr_o.src    = cfg_node_i;
      rsp_hdr_o.vc     = ggas_pkg::VC_RSP;
      rsp_hdr_o.flags[rma_pkg::RMA_ACK] = ack;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && push_i) assert (ready_o);
`endif

endmodule

`default_nettype wire
