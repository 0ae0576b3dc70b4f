// SPDX-License-Identifier: Apache-2.0
// The end of an atomic: its answer, and its event if it failed.
`default_nettype none

module rma_atomic_out #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [15:0]         cfg_node_i,

    // an operation that is over; only while free_o
    input  wire logic                fin_i,
    output      logic                free_o,
    // verilator lint_off UNUSEDSIGNAL
    input  wire rma_atomic_pkg::op_t op_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [3:0]          status_i,
    input  wire logic [63:0]         old_i,
    input  wire logic [39:2]         addr_i,           // low bits of its address, for events

    // ATOMIC_RSP
    output      logic                rsp_valid_o,
    input  wire logic                rsp_ready_i,
    output      logic                rsp_sop_o,
    output      logic                rsp_eop_o,
    output      ggas_pkg::rma_hdr_t  rsp_hdr_o,
    output      logic [DATA_W-1:0]   rsp_data_o,

    // pulses, at most one a cycle
    output      logic                ev_bad_packet_o,
    output      logic                ev_protection_o,
    output      logic                ev_host_error_o,
    output      logic [15:0]         ev_node_o,
    output      logic [39:0]         ev_info_o,
    output      logic                busy_o
);

  localparam bit NARROW = DATA_W < 128;  // an answer takes two beats

  logic               second_q;
  logic [63:0]        old_q, cookie_q;
  ggas_pkg::rma_hdr_t hdr;
  wire                ok   = status_i == ggas_pkg::ST_OK;
  wire                last = !NARROW || second_q;

  always_comb begin
    hdr = '0;
    if (fin_i) begin
      hdr.addr   = op_i.result_nla;
      hdr.op     = ggas_pkg::OP_RMA_ATOMIC_RSP;
      hdr.status = status_i;
      hdr.svpid  = op_i.svpid;
      hdr.epoch  = op_i.epoch;
      hdr.dvpid  = op_i.dvpid;
      hdr.pd     = op_i.pd;
      hdr.dst    = op_i.src;
      hdr.src    = cfg_node_i;
      hdr.len_dw = 11'd4;
      hdr.vc     = ggas_pkg::VC_RSP;
      hdr.flags[rma_pkg::RMA_ACK]    = op_i.ack;
      hdr.flags[rma_pkg::RMA_RESULT] = op_i.result;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rsp_valid_o <= 1'b0;
      rsp_hdr_o   <= '0;
      second_q    <= 1'b0;
      old_q       <= '0;
      cookie_q    <= '0;
    end else begin
      if (rsp_valid_o && rsp_ready_i) begin
        second_q    <= !last;
        rsp_valid_o <= !last;
      end
      if (fin_i) begin
        rsp_valid_o <= 1'b1;
        rsp_hdr_o   <= hdr;
        old_q       <= ok ? old_i : '0;
        cookie_q    <= op_i.cookie;
      end
    end
  end
  assign free_o    = !rsp_valid_o;
  assign rsp_sop_o = !second_q;
  assign rsp_eop_o = last;
  if (NARROW) begin : g_narrow
    assign rsp_data_o = second_q ? cookie_q : old_q;
  end else begin : g_wide
    assign rsp_data_o = {{(DATA_W - 128){1'b0}}, cookie_q, old_q};
  end

  // A status other than BAD of a translated address comes from the read.
  wire failed = fin_i && !ok && !op_i.quiet;
  wire bad    = status_i == ggas_pkg::ST_BAD;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {ev_bad_packet_o, ev_protection_o, ev_host_error_o} <= '0;
      ev_node_o <= '0;
      ev_info_o <= '0;
    end else begin
      ev_bad_packet_o <= failed && bad;
      ev_protection_o <= failed && !bad && !op_i.held;
      ev_host_error_o <= failed && !bad && op_i.held;
      if (failed) begin
        ev_node_o <= op_i.src;
        ev_info_o <= bad ? {32'd0, ggas_pkg::OP_RMA_ATOMIC} : {addr_i, 2'b00};
      end
    end
  end

  assign busy_o = rsp_valid_o;  // events come with their answer

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && fin_i) assert (free_o);
`endif

endmodule

`default_nettype wire
