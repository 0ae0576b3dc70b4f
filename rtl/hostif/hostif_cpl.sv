// SPDX-License-Identifier: Apache-2.0
// Completions of the NIC's own reads: checks the framing, passes whole ones to the owner of the tag (below 128 the
// SMFU, below 512 the RMA). Truncated or invalid completions are dropped with an event; the waiting read then ends with
// its time-out. Latency: last beat in -> first beat out: 2 cycles.
`default_nettype none

module hostif_cpl #(
  parameter int unsigned DATA_W = 64
) (
  input  wire               clk_i,
  input  wire               rst_ni,

  input  wire ggas_pkg::tlp_beat_t rx_i,
  output logic              rx_ready_o,
  input  wire  [DATA_W-1:0] rx_data_i,

  output logic              tgt_valid_o,
  input  wire               tgt_ready_i,
  output logic              tgt_sop_o,
  output logic              tgt_eop_o,
  output ggas_pkg::tlp_hdr_t tgt_hdr_o,
  output logic [DATA_W-1:0] tgt_data_o,

  // RMA: sop, eop, header and data are those of tgt_*
  output logic              rma_valid_o,
  input  wire               rma_ready_i,

  output logic              malformed_o,    // event pulses, at most one of the two in a cycle
  output logic              unexpected_o,
  output logic [39:0]       info_o,         // tag
  output logic              busy_o
);

  localparam int unsigned DPB = DATA_W / 32;
  localparam int unsigned LOG_DPB = $clog2(DPB);
  localparam int unsigned BEATS = 4096 / (DATA_W / 8);

  hostif_pkg::completion_t      sop_meta, out_meta;
  logic [9:0]                   tag_q;  // of the stored one

  wire        with_data = rx_i.hdr.kind == ggas_pkg::TLP_CPLD;
  wire        no_data   = rx_i.hdr.kind == ggas_pkg::TLP_CPL;
  wire [10:0] beats     = no_data ? 11'd1 : (rx_i.hdr.len_dw + (DPB[10:0] - 11'd1)) >> LOG_DPB;
  wire        bad_len   = no_data ? rx_i.hdr.len_dw != 11'd0 : (rx_i.hdr.len_dw == 11'd0 || rx_i.hdr.len_dw > 11'd1024);

  logic first, store, abort, cut, stray, wrong_end, full, empty, out_valid, to_rma;

  wire sop_bad = !(with_data || no_data) || bad_len || rx_i.eop != (beats == 11'd1);
  wire foreign = rx_i.hdr.tag[9];  // a tag that the NIC never uses

  hostif_frame i_frame (
    .clk_i(clk_i), .rst_ni(rst_ni), .valid_i(rx_i.valid), .ready_o(rx_ready_o), .sop_i(rx_i.sop), .eop_i(rx_i.eop),
    .room_i(!full), .beats_i(beats), .keep_i(!sop_bad && !foreign),
    .first_o(first), .store_o(store), .abort_o(abort), .cut_o(cut), .stray_o(stray), .wrong_end_o(wrong_end)
  );

  assign sop_meta.has_data   = with_data;
  assign sop_meta.len_dw     = rx_i.hdr.len_dw;
  assign sop_meta.tag        = rx_i.hdr.tag;
  assign sop_meta.completer  = rx_i.hdr.completer;
  assign sop_meta.status     = rx_i.hdr.status;
  assign sop_meta.byte_count = rx_i.hdr.byte_count;
  assign sop_meta.lower_addr = rx_i.hdr.lower_addr;
  assign sop_meta.poisoned   = rx_i.hdr.poisoned;

  always_ff @(posedge clk_i) if (first) tag_q <= rx_i.hdr.tag;

  hostif_fifo #(.DATA_W(DATA_W), .BEATS(BEATS), .PKTS(64), .META_W(hostif_pkg::COMPLETION_W)) i_fifo (
    .clk_i(clk_i), .rst_ni(rst_ni), .full_o(full),
    .write_i(store), .data_i(rx_data_i), .first_i(rx_i.sop), .meta_i(sop_meta), .commit_i(rx_i.eop),
    .abort_i(abort),
    .valid_o(out_valid), .ready_i(to_rma ? rma_ready_i : tgt_ready_i), .sop_o(tgt_sop_o), .eop_o(tgt_eop_o),
    .meta_o(out_meta), .data_o(tgt_data_o),
    .empty_o(empty)
  );

  assign to_rma      = out_meta.tag[8:7] != 2'd0;
  assign tgt_valid_o = out_valid && !to_rma;
  assign rma_valid_o = out_valid && to_rma;

  assign tgt_hdr_o.kind       = out_meta.has_data ? ggas_pkg::TLP_CPLD : ggas_pkg::TLP_CPL;
  assign tgt_hdr_o.bar        = 3'd7;
  assign tgt_hdr_o.addr       = 64'd0;
  assign tgt_hdr_o.len_dw     = out_meta.len_dw;
  assign tgt_hdr_o.first_be   = 4'd0;
  assign tgt_hdr_o.last_be    = 4'd0;
  assign tgt_hdr_o.tag        = out_meta.tag;
  assign tgt_hdr_o.requester  = 16'd0;
  assign tgt_hdr_o.completer  = out_meta.completer;
  assign tgt_hdr_o.status     = out_meta.status;
  assign tgt_hdr_o.byte_count = out_meta.byte_count;
  assign tgt_hdr_o.lower_addr = out_meta.lower_addr;
  assign tgt_hdr_o.attr       = 3'd0;
  assign tgt_hdr_o.poisoned   = out_meta.poisoned;

  assign malformed_o  = cut || (first && sop_bad) || stray || wrong_end;
  assign unexpected_o = first && !sop_bad && foreign;
  assign info_o       = {30'd0, (rx_i.sop && !cut) ? rx_i.hdr.tag : (stray ? 10'd0 : tag_q)};
  assign busy_o       = !empty;

  wire unused = &{1'b0, rx_i.hdr.bar, rx_i.hdr.addr, rx_i.hdr.first_be, rx_i.hdr.last_be, rx_i.hdr.requester,
    rx_i.hdr.attr};

`ifndef SYNTHESIS
  initial begin
    if ($bits(out_meta) != hostif_pkg::COMPLETION_W) $error("hostif_pkg::COMPLETION_W is wrong");
  end
`endif

endmodule

`default_nettype wire
