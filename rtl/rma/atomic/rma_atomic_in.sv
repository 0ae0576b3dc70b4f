// SPDX-License-Identifier: Apache-2.0
// Converts an ATOMIC packet into an operation: collects the payload, checks the header, and translates the address at
// the same time. An operation that must not be executed leaves like any other, with its status.
`default_nettype none

module rma_atomic_in #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // ATOMIC packets, with a status that is not OK if they are only to be answered
    input  wire ggas_pkg::rma_beat_t at_i,
    output      logic                at_ready_o,
    input  wire logic [DATA_W-1:0]   at_data_i,
    input  wire logic [3:0]          at_status_i,

    // translation
    output      rma_pkg::tr_req_t    tr_o,
    input  wire logic                tr_ready_i,
    input  wire rma_pkg::tr_rsp_t    tr_rsp_i,

    // operations
    output      logic                op_valid_o,
    input  wire logic                op_ready_i,
    output      rma_atomic_pkg::op_t op_o,
    output      logic [63:2]         op_addr_o,     // bus address, or, if the status is not OK, what the packet said
    output      logic [63:2]         op_word_o,      // the same if op_status_o is OK, and sooner
    output      logic                op_wide_o,     // 64 bits
    output      logic [3:0]          op_status_o,
    output      logic                writes_o,      // what is here may be done, not only answered
    output      logic                busy_o
);

  localparam int unsigned BEATS = (320 + DATA_W - 1) / DATA_W;

  // verilator lint_off UNUSEDSIGNAL
  ggas_pkg::rma_hdr_t        hdr_q;
  // verilator lint_on UNUSEDSIGNAL
  logic [3:0]                given_q;          // status the packet came with
  // verilator lint_off UNUSEDSIGNAL
  logic [BEATS*DATA_W-1:0]   buf_q;            // beats that did not come are 0
  // verilator lint_on UNUSEDSIGNAL
  logic [2:0]                beat_q;           // saturates
  logic                      open_q, full_q;   // header is here; packet is here
  logic                      known, unused_asked, unused_kept;
  // verilator lint_off UNUSEDSIGNAL
  logic [63:0]               addr;
  // verilator lint_on UNUSEDSIGNAL
  logic [3:0]                status;
  wire                       take = at_i.valid && at_ready_o;
  wire                       done = op_valid_o && op_ready_i;

  assign at_ready_o = !full_q;
  wire   asks       = given_q == ggas_pkg::ST_OK && hdr_q.addr[1:0] == 2'd0;
  rma_translate #(.EARLY(1'b0)) u_translate (
      .clk_i, .rst_ni, .want_i(open_q && asks), .nla_i(hdr_q.addr), .pd_i(hdr_q.pd), .done_i(done),
      .asked_o(unused_asked), .kept_o(unused_kept), .known_o(known), .addr_o(addr), .status_o(status), .tr_o,
      .tr_ready_i, .tr_rsp_i);

  wire [31:0] w6   = buf_q[287:256];
  wire        good = asks && hdr_q.len_dw == 11'd10 && w6[30:5] == '0 && w6[3:0] <= rma_pkg::AMO_MAX && !(w6[31]
    && hdr_q.addr[2]);

  assign op_valid_o   = full_q && (!asks || known);
  assign op_wide_o    = w6[31];
  always_comb begin
    op_o = '0;
    if (op_valid_o) begin
      op_o.src        = hdr_q.src;
      op_o.pd         = hdr_q.pd;
      op_o.svpid      = hdr_q.svpid;
      op_o.epoch      = hdr_q.epoch;
      op_o.dvpid      = hdr_q.dvpid;
      op_o.result     = hdr_q.flags[rma_pkg::RMA_RESULT];
      op_o.ack        = hdr_q.flags[rma_pkg::RMA_ACK];
      op_o.held       = asks && status == ggas_pkg::ST_OK;
      op_o.quiet      = given_q != ggas_pkg::ST_OK;
      op_o.amo        = w6[3:0];
      op_o.is_signed  = w6[4];
      op_o.operand    = buf_q[63:0];
      op_o.compare    = buf_q[127:64];
      op_o.result_nla = buf_q[191:128];
      op_o.cookie     = buf_q[255:192];
    end
  end
  assign op_status_o  = given_q != ggas_pkg::ST_OK ? given_q : !good ? ggas_pkg::ST_BAD : status;
  assign op_word_o    = addr[63:2];
  assign op_addr_o    = op_status_o == ggas_pkg::ST_OK ? addr[63:2] : hdr_q.addr[63:2];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hdr_q    <= '0;
      given_q  <= '0;
      buf_q    <= '0;
      beat_q   <= '0;
      open_q   <= 1'b0;
      full_q   <= 1'b0;
    end else begin
      if (take) begin
        if (at_i.sop) begin
          hdr_q   <= at_i.hdr;
          given_q <= at_status_i;
          buf_q   <= '0;
          open_q  <= 1'b1;
        end
        for (int i = 0; i < BEATS; i++) if (beat_q == i[2:0]) buf_q[i*DATA_W+:DATA_W] <= at_data_i;
        if (beat_q != BEATS[2:0]) beat_q <= beat_q + 1'b1;
        full_q <= at_i.eop;
      end
      if (done) begin
        beat_q  <= '0;
        open_q  <= 1'b0;
        full_q  <= 1'b0;
      end
    end
  end

  assign writes_o = open_q && given_q == ggas_pkg::ST_OK;
  assign busy_o   = open_q;

endmodule

`default_nettype wire
