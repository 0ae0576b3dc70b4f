// SPDX-License-Identifier: Apache-2.0
// The next packet of rma_target: its header is checked and, if it is written or flushed, translated, while the packet
// before it is executed. Its beats wait after the header and follow when the packet is accepted.
`default_nettype none

module rma_target_head #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                cfg_target_i,    // RMA_CTRL.target

    // requests
    input  wire logic                rx_valid_i,
    output      logic                rx_ready_o,
    input  wire logic                rx_sop_i,
    input  wire logic                rx_eop_i,
    input  wire ggas_pkg::rma_hdr_t  rx_hdr_i,
    input  wire logic [DATA_W-1:0]   rx_data_i,

    // translation
    output      logic                tr_valid_o,
    input  wire logic                tr_ready_i,
    output      logic [63:0]         tr_nla_o,
    output      logic [15:0]         tr_pd_o,
    output      logic                tr_write_o,
    input  wire logic                tr_rsp_valid_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [63:0]         tr_rsp_addr_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [3:0]          tr_rsp_status_i,

    // the next packet
    output      logic                valid_o,         // there is one
    output      logic                decided_o,       // checked and translated: may be taken
    input  wire logic                take_i,          // it is executed from the next cycle on
    output      ggas_pkg::rma_hdr_t  hdr_o,
    output      logic [2:0]          kind_o,          // rma_target_pkg::K_*
    output      logic                serves_o,        // targets were on when its header came, and this kind is served
    output      logic                wants_o,         // its address is translated
    output      logic [63:2]         addr_o,          // translated, if it is and with OK
    output      logic [3:0]          status_o,        // ST_BAD, ST_DISABLED, what the translation says, or OK

    // beats of the packet taken last
    output      logic                beat_valid_o,
    input  wire logic                beat_ready_i,
    output      logic                beat_eop_o,
    output      logic [DATA_W-1:0]   beat_data_o
);

  logic rx_head;
  rma_rx #(.DATA_W(DATA_W)) u_rx (
      .clk_i, .rst_ni, .rx_valid_i, .rx_ready_o, .rx_sop_i, .rx_eop_i, .rx_hdr_i, .rx_data_i, .rx_head_o(rx_head),
      .head_valid_o(valid_o), .head_take_i(take_i), .head_o(hdr_o),
      .beat_valid_o, .beat_ready_i, .beat_eop_o, .beat_data_o);

  // A header is checked as it comes.
  logic       sane_q, rx_sane;
  logic [2:0] rx_kind;
  rma_target_check u_check (.hdr_i(rx_hdr_i), .kind_o(rx_kind), .sane_o(rx_sane));
  always_ff @(posedge clk_i) begin
    if (!valid_o || take_i) begin
      kind_o <= rx_kind;
      sane_q   <= rx_sane;
    end
  end

  logic        on_q;                 // targets were on when the header came, and it is of a kind that this NIC serves
  logic        asked_q, reported_q;      // translation asked for, and answered
  logic [63:2] reported_addr_q;
  logic [3:0]  reported_status_q;
  assign serves_o  = on_q;
  assign wants_o   = sane_q && on_q && (kind_o == rma_target_pkg::K_PUT
    || (kind_o == rma_target_pkg::K_NOTIFY && hdr_o.flags[ggas_pkg::RMA_STRONG]));
  assign decided_o = valid_o && (!wants_o || reported_q || tr_rsp_valid_i);
  assign addr_o    = reported_q ? reported_addr_q : tr_rsp_addr_i[63:2];
  always_comb begin
    status_o = ggas_pkg::ST_OK;
    if (valid_o) begin
      if (!sane_q) status_o = ggas_pkg::ST_BAD;
      else if (!on_q) status_o = ggas_pkg::ST_DISABLED;
      else if (wants_o) status_o = reported_q ? reported_status_q : tr_rsp_status_i;
    end
  end

  assign tr_valid_o = valid_o && wants_o && !asked_q;
  assign tr_nla_o   = hdr_o.addr;
  assign tr_pd_o    = hdr_o.pd;
  assign tr_write_o = 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      on_q          <= 1'b0;
      asked_q       <= 1'b0;
      reported_q        <= 1'b0;
      reported_addr_q   <= '0;
      reported_status_q <= '0;
    end else begin
      if (rx_head) on_q <= cfg_target_i && rma_target_pkg::is_built(rx_kind);
      if (tr_valid_o && tr_ready_i) asked_q <= 1'b1;
      if (tr_rsp_valid_i) begin
        reported_q        <= 1'b1;
        reported_addr_q   <= tr_rsp_addr_i[63:2];
        reported_status_q <= tr_rsp_status_i;
      end
      if (take_i) begin
        asked_q <= 1'b0;
        reported_q  <= 1'b0;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && tr_rsp_valid_i) assert (asked_q);
`endif

endmodule

`default_nettype wire
