// SPDX-License-Identifier: Apache-2.0
// Whole TLPs at the boundary of a NIC (docs/tlp-boundary.md), for software that handles one at a time. An input is put
// on *_hdr_i and *_data_i and begins when *_go_i changes; *_gone_o follows when it was accepted. Outputs, requests and
// completions in the order of their acceptance, are on out_* when out_new_o has changed, until out_seen_i follows; in
// that time the NIC is blocked.
`default_nettype none

module tlp_port #(
  parameter int unsigned DATA_W = 64,
  parameter int unsigned NP_CREDITS = 32
) (
  input  wire                clk_i,
  input  wire                rst_ni,
  input  wire                flr_done_i,     // credits count again

  input  wire                req_go_i,
  output logic               req_gone_o,
  input  ggas_pkg::tlp_hdr_t req_hdr_i,
  input  wire  [2047:0]      req_data_i,
  input  wire                cpl_go_i,
  output logic               cpl_gone_o,
  input  ggas_pkg::tlp_hdr_t cpl_hdr_i,
  input  wire  [2047:0]      cpl_data_i,
  output logic               out_new_o,
  input  wire                out_seen_i,
  output ggas_pkg::tlp_hdr_t out_hdr_o,
  output logic [2047:0]      out_data_o,

  output logic               rx_req_valid_o,
  input  wire                rx_req_ready_i,
  output logic               rx_req_sop_o,
  output logic               rx_req_eop_o,
  output logic [DATA_W-1:0]  rx_req_data_o,
  input  wire                np_credit_i,
  output logic               rx_cpl_valid_o,
  input  wire                rx_cpl_ready_i,
  output logic               rx_cpl_sop_o,
  output logic               rx_cpl_eop_o,
  output logic [DATA_W-1:0]  rx_cpl_data_o,
  input  wire                tx_req_valid_i,
  output logic               tx_req_ready_o,
  input  wire                tx_req_eop_i,
  input  ggas_pkg::tlp_hdr_t tx_req_hdr_i,
  input  wire  [DATA_W-1:0]  tx_req_data_i,
  input  wire                tx_cpl_valid_i,
  output logic               tx_cpl_ready_o,
  input  wire                tx_cpl_eop_i,
  input  ggas_pkg::tlp_hdr_t tx_cpl_hdr_i,
  input  wire  [DATA_W-1:0]  tx_cpl_data_i
);
  localparam int unsigned DPB = DATA_W / 32;

  // Last beat of a TLP of so many DW with payload, or of one without.
  function automatic logic [6:0] last_beat(input ggas_pkg::tlp_hdr_t h);
    logic data;
    data = h.kind == ggas_pkg::TLP_MWR || h.kind == ggas_pkg::TLP_CPLD;
    last_beat = data && h.len_dw != '0 ? 7'((32'(h.len_dw) - 1) / DPB) : 7'd0;
  endfunction

  // ---- in
  logic [6:0] req_beat_q, cpl_beat_q;
  logic [5:0] credits_q;
  wire non_posted = req_hdr_i.kind != ggas_pkg::TLP_MWR;
  wire starts     = req_beat_q != '0 || !non_posted || credits_q != '0;
  assign rx_req_valid_o = req_go_i != req_gone_o && starts;
  assign rx_req_sop_o   = req_beat_q == '0;
  assign rx_req_eop_o   = req_beat_q == last_beat(req_hdr_i);
  assign rx_req_data_o  = req_data_i[req_beat_q*DATA_W+:DATA_W];
  assign rx_cpl_valid_o = cpl_go_i != cpl_gone_o;
  assign rx_cpl_sop_o   = cpl_beat_q == '0;
  assign rx_cpl_eop_o   = cpl_beat_q == last_beat(cpl_hdr_i);
  assign rx_cpl_data_o  = cpl_data_i[cpl_beat_q*DATA_W+:DATA_W];
  wire req_beat = rx_req_valid_o && rx_req_ready_i;
  wire cpl_beat = rx_cpl_valid_o && rx_cpl_ready_i;

  // ---- out: a request first
  logic [6:0] out_beat_q;
  logic       cpl_q;       // inside a completion
  wire take_cpl = out_beat_q != '0 ? cpl_q : !tx_req_valid_i;
  wire free     = out_new_o == out_seen_i;
  assign tx_req_ready_o = free && !take_cpl;
  assign tx_cpl_ready_o = free && take_cpl;
  wire out_beat = (tx_req_valid_i && tx_req_ready_o) || (tx_cpl_valid_i && tx_cpl_ready_o);
  wire out_eop  = take_cpl ? tx_cpl_eop_i : tx_req_eop_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {req_beat_q, cpl_beat_q, out_beat_q} <= '0;
      {req_gone_o, cpl_gone_o, out_new_o, cpl_q} <= '0;
      credits_q <= NP_CREDITS[5:0];
    end else begin
      if (req_beat) req_beat_q <= rx_req_eop_o ? '0 : req_beat_q + 7'd1;
      if (req_beat && rx_req_eop_o) req_gone_o <= req_go_i;
      if (cpl_beat) cpl_beat_q <= rx_cpl_eop_o ? '0 : cpl_beat_q + 7'd1;
      if (cpl_beat && rx_cpl_eop_o) cpl_gone_o <= cpl_go_i;
      if (flr_done_i) credits_q <= NP_CREDITS[5:0];
      else credits_q <= credits_q + {5'd0, np_credit_i} - {5'd0, req_beat && rx_req_sop_o && non_posted};
      if (out_beat) begin
        cpl_q      <= take_cpl;
        out_beat_q <= out_eop ? '0 : out_beat_q + 7'd1;
        if (out_beat_q == '0) out_hdr_o <= take_cpl ? tx_cpl_hdr_i : tx_req_hdr_i;
        out_data_o[out_beat_q*DATA_W+:DATA_W] <= take_cpl ? tx_cpl_data_i : tx_req_data_i;
        if (out_eop) out_new_o <= !out_new_o;
      end
    end
  end
endmodule

`default_nettype wire
