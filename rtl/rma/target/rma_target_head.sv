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
    input  wire ggas_pkg::rma_beat_t rx_i,
    output      logic                rx_ready_o,
    input  wire logic [DATA_W-1:0]   rx_data_i,

    // translation
    output      rma_pkg::tr_req_t    tr_o,
    input  wire logic                tr_ready_i,
    input  wire rma_pkg::tr_rsp_t    tr_rsp_i,

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
      .clk_i, .rst_ni, .rx_i, .rx_ready_o, .rx_data_i, .rx_head_o(rx_head), .head_valid_o(valid_o),
      .head_take_i(take_i), .head_o(hdr_o), .beat_valid_o, .beat_ready_i, .beat_eop_o, .beat_data_o);

  // A header is checked as it comes.
  logic       sane_q, rx_sane;
  logic [2:0] rx_kind;
  rma_target_check u_check (.hdr_i(rx_i.hdr), .kind_o(rx_kind), .sane_o(rx_sane));
  always_ff @(posedge clk_i) begin
    if (!valid_o || take_i) begin
      kind_o <= rx_kind;
      sane_q   <= rx_sane;
    end
  end

  logic        on_q;                 // targets were on when the header came, and it is of a kind that this NIC serves
  logic        reported;              // the translation
  logic [3:0]  translated;
  logic        unused_asked, unused_kept;
  // verilator lint_off UNUSEDSIGNAL
  logic [63:0] addr;
  // verilator lint_on UNUSEDSIGNAL
  assign serves_o  = on_q;
  assign wants_o   = sane_q && on_q && (kind_o == rma_target_pkg::K_PUT
    || (kind_o == rma_target_pkg::K_NOTIFY && hdr_o.flags[rma_pkg::RMA_STRONG]));
  assign decided_o = valid_o && (!wants_o || reported);
  assign addr_o    = addr[63:2];
  always_comb begin
    status_o = ggas_pkg::ST_OK;
    if (valid_o) begin
      if (!sane_q) status_o = ggas_pkg::ST_BAD;
      else if (!on_q) status_o = ggas_pkg::ST_DISABLED;
      else if (wants_o) status_o = translated;
    end
  end

  rma_translate u_translate (
      .clk_i, .rst_ni, .want_i(valid_o && wants_o), .nla_i(hdr_o.addr), .pd_i(hdr_o.pd), .done_i(take_i),
      .asked_o(unused_asked), .kept_o(unused_kept), .known_o(reported), .addr_o(addr), .status_o(translated), .tr_o,
      .tr_ready_i, .tr_rsp_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) on_q <= 1'b0;
    else if (rx_head) on_q <= cfg_target_i && rma_target_pkg::is_built(rx_kind);
  end

endmodule

`default_nettype wire
