// SPDX-License-Identifier: Apache-2.0
// Requests from the host: checks framing and rules, separates posted from non-posted ones. A posted TLP is stored until
// its last beat has proved it whole, so a malformed one has no effect. After a framing error it synchronises at the
// next `sop`. Latency: last beat in -> first beat of p_* out: 2 cycles.
`default_nettype none

module hostif_rx #(
  parameter int unsigned DATA_W = 64,
  parameter int unsigned PAGE_LOG2 = 12       // as in hostif
) (
  input  wire               clk_i,
  input  wire               rst_ni,
  input  wire  [12:0]       cfg_mps_i,

  input  wire ggas_pkg::tlp_beat_t rx_i,
  output logic              rx_ready_o,
  input  wire  [DATA_W-1:0] rx_data_i,

  // posted requests, whole and checked
  output logic              p_valid_o,
  input  wire               p_ready_i,
  output logic              p_sop_o,
  output logic              p_eop_o,
  output hostif_pkg::posted_t p_hdr_o,
  output logic [DATA_W-1:0] p_data_o,
  output logic              p_commit_o,   // a posted request entered this cycle

  // non-posted requests, in the cycle they arrive
  input  wire               np_full_i,
  output logic              np_push_o,
  output hostif_pkg::non_posted_t np_o,

  output logic              malformed_o,    // event pulses, at most one of the two in a cycle
  output logic              unsupported_o,
  output logic [39:0]       info_o,         // BAR offset of the culprit
  output logic              cnt_req_o,      // a request TLP began
  output logic              busy_o
);

  localparam int unsigned DPB = DATA_W / 32;  // DWs in a beat
  localparam int unsigned LOG_DPB = $clog2(DPB);
  localparam int unsigned BEATS = 4096 / (DATA_W / 8);

  // ---- header checks (first beat)
  logic hdr_malformed, write_ok, read_ok, non_posted;

  hostif_check #(.PAGE_LOG2(PAGE_LOG2)) i_check (
    .hdr_i(rx_i.hdr), .cfg_mps_i(cfg_mps_i), .malformed_o(hdr_malformed), .write_ok_o(write_ok), .read_ok_o(read_ok),
    .non_posted_o(non_posted)
  );

  wire [10:0] sop_beats = (rx_i.hdr.len_dw + (DPB[10:0] - 11'd1)) >> LOG_DPB;
  wire        is_read   = rx_i.hdr.kind == ggas_pkg::TLP_MRD;
  wire        is_write  = rx_i.hdr.kind == ggas_pkg::TLP_MWR;

  // ---- framing
  logic [39:0] addr_q;  // of the stored TLP
  logic first, store, abort, cut, stray, wrong_end, fifo_full, fifo_empty;

  wire sop_short = rx_i.eop != (sop_beats == 11'd1);  // beats disagree with the length
  wire sop_bad   = (is_write && (hdr_malformed || sop_short)) || (is_read && (hdr_malformed || !rx_i.eop));

  hostif_frame i_frame (
    .clk_i(clk_i), .rst_ni(rst_ni), .valid_i(rx_i.valid), .ready_o(rx_ready_o), .sop_i(rx_i.sop), .eop_i(rx_i.eop),
    .room_i(!fifo_full && !(rx_i.sop && non_posted && np_full_i)), .beats_i(sop_beats), .keep_i(write_ok && !sop_bad),
    .first_o(first), .store_o(store), .abort_o(abort), .cut_o(cut), .stray_o(stray), .wrong_end_o(wrong_end)
  );

  hostif_pkg::posted_t sop_hdr;
  assign sop_hdr.dest      = (rx_i.hdr.bar == ggas_pkg::BAR_REGS)  ? hostif_pkg::TO_REGS :
                             (rx_i.hdr.bar == ggas_pkg::BAR_PAGES) ? hostif_pkg::TO_PAGE : hostif_pkg::TO_WINDOW;
  assign sop_hdr.addr      = rx_i.hdr.addr;
  assign sop_hdr.len_dw    = rx_i.hdr.len_dw;
  assign sop_hdr.first_be  = rx_i.hdr.first_be;
  assign sop_hdr.last_be   = rx_i.hdr.last_be;
  assign sop_hdr.requester = rx_i.hdr.requester;
  assign sop_hdr.attr      = rx_i.hdr.attr;

  always_ff @(posedge clk_i) if (first) addr_q <= rx_i.hdr.addr[39:0];

  // ---- posted
  hostif_fifo #(.DATA_W(DATA_W), .BEATS(BEATS), .PKTS(64), .META_W(hostif_pkg::POSTED_W)) i_fifo (
    .clk_i(clk_i), .rst_ni(rst_ni), .full_o(fifo_full),
    .write_i(store), .data_i(rx_data_i), .first_i(rx_i.sop), .meta_i(sop_hdr), .commit_i(rx_i.eop),
    .abort_i(abort),
    .valid_o(p_valid_o), .ready_i(p_ready_i), .sop_o(p_sop_o), .eop_o(p_eop_o), .meta_o(p_hdr_o), .data_o(p_data_o),
    .empty_o(fifo_empty)
  );
  assign p_commit_o = store && rx_i.eop;

  // ---- non-posted
  assign np_push_o      = first && non_posted;
  assign np_o.reject    = !read_ok || sop_bad;
  assign np_o.bar       = rx_i.hdr.bar;
  assign np_o.addr      = rx_i.hdr.addr;
  assign np_o.len_dw    = rx_i.hdr.len_dw;
  assign np_o.first_be  = rx_i.hdr.first_be;
  assign np_o.last_be   = rx_i.hdr.last_be;
  assign np_o.tag       = rx_i.hdr.tag;
  assign np_o.requester = rx_i.hdr.requester;
  assign np_o.attr      = rx_i.hdr.attr;

  // ---- events and counters
  assign malformed_o   = cut || (first && sop_bad) || stray || wrong_end;
  assign unsupported_o = first && !sop_bad && !write_ok && !read_ok;
  assign info_o        = (rx_i.sop && !cut) ? rx_i.hdr.addr[39:0] : (stray ? 40'd0 : addr_q);
  assign cnt_req_o     = first;
  assign busy_o        = !fifo_empty;

endmodule

`default_nettype wire
