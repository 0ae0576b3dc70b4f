// SPDX-License-Identifier: Apache-2.0
// Answers of smfu_rob, slot by slot in the order of the ring: the first row of one is read while the last beat of the
// one before it is sent. It also determines the quiets that a failed flush concerns, and whether everything accepted
// before a mark has been answered.
`default_nettype none

module smfu_rob_answer #(
    parameter int unsigned DATA_W = 64,                      // 64, 256 or 512
    localparam int unsigned ROW_W = 6 - $clog2(DATA_W / 32)  // rows of a slot, as a power of two
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [15:0]         cfg_node_i,

    // the ring; numbers of slots with its turn in the top bit
    input  wire logic [6:0]          tail_i,          // next free
    input  wire logic                held_i,          // a request is about to take it
    output      logic [6:0]          oldest_o,        // being answered, or to be answered next
    // the slot to be answered next
    output      logic [5:0]          next_o,
    input  wire logic [46:0]         slot_i,          // as smfu_reads made it
    input  wire logic [16:0]         one_i,           // likewise
    input  wire logic [3:0]          status_i,
    input  wire logic                good_i,          // it is ST_OK
    input  wire logic                done_i,          // its reads are answered, or given up
    output      logic                reflush_o,         // it is a flush, and failed

    input  wire logic                mark_i,          // what was let in up to now is old
    output      logic                old_o,           // something old has not been answered

    // row of data, there in the next cycle
    output      logic                row_en_o,
    output      logic [5:0]          row_slot_o,
    output      logic [ROW_W-1:0]    row_o,

    output      logic                tx_rsp_valid_o,
    input  wire logic                tx_rsp_ready_i,
    output      logic                tx_rsp_sop_o,
    output      logic                tx_rsp_eop_o,
    output      ggas_pkg::net_hdr_t  tx_rsp_hdr_o,
    output      logic                cnt_target_loads_o,
    output      logic                busy_o
);
  localparam int unsigned BANKS = DATA_W / 32;

  logic [6:0]       next_q;  // with the turn
  logic [ROW_W-1:0] row_q;
  logic [6:0]  left_q;             // DW to send, this beat included
  wire         ready   = next_q != tail_i && done_i;
  wire         advance = tx_rsp_valid_o && tx_rsp_ready_i;
  wire         free    = !tx_rsp_valid_o || (advance && tx_rsp_eop_o);
  wire         flushed = ready && !tx_rsp_valid_o && slot_i[40];  // so that oldest_o skips none
  wire         start   = ready && free && !slot_i[40];
  wire         h_data  = good_i && !slot_i[0];

  // A flush that failed is reported to every quiet that was there by then, and made again for those that come.
  logic [3:0] flush_status_q;
  logic [6:0] flush_end_q;         // for quiets in front of this slot
  logic       flush_failed_q;
  wire        flush_failed = flush_failed_q && next_q != flush_end_q;
  assign reflush_o = flushed && !good_i;
  // What is old stands in front of old_end_q.
  logic [6:0] old_end_q;
  wire  [6:0] behind = tail_i + {6'd0, held_i};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      flush_failed_q <= 1'b0;
      old_o          <= 1'b0;
    end else begin
      if (reflush_o) flush_failed_q <= 1'b1;
      else if (next_q == flush_end_q) flush_failed_q <= 1'b0;
      if (mark_i) old_o <= 1'b1;
      else if (oldest_o == old_end_q) old_o <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (reflush_o) begin
      flush_status_q <= status_i;
      flush_end_q    <= behind;
    end
    if (mark_i) old_end_q <= behind;
  end

  assign next_o       = next_q[5:0];
  assign row_en_o     = start || advance;
  // Whether the next answer may start is known late; it cannot before the last beat of this one.
  wire         last   = !tx_rsp_valid_o || tx_rsp_eop_o;
  assign row_slot_o   = last ? next_o : oldest_o[5:0];
  assign row_o        = last ? '0 : row_q;
  assign tx_rsp_eop_o = left_q <= BANKS[6:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_q         <= '0;
      oldest_o       <= '0;
      tx_rsp_valid_o <= 1'b0;
      tx_rsp_sop_o   <= 1'b0;
      tx_rsp_hdr_o   <= '0;
      left_q         <= '0;
      row_q          <= '0;
    end else begin
      if (flushed || start) next_q <= next_q + 1'b1;
      if (flushed || (advance && tx_rsp_eop_o)) oldest_o <= oldest_o + 1'b1;
      if (advance) begin
        tx_rsp_valid_o <= !tx_rsp_eop_o;
        tx_rsp_sop_o   <= 1'b0;
        left_q         <= left_q - BANKS[6:0];
        row_q          <= row_q + 1'b1;
      end
      if (start) begin
        tx_rsp_valid_o      <= 1'b1;
        tx_rsp_sop_o        <= 1'b1;
        tx_rsp_hdr_o        <= '0;
        tx_rsp_hdr_o.op     <= slot_i[0] ? ggas_pkg::OP_SMFU_QUIET_RSP : ggas_pkg::OP_SMFU_LOAD_RSP;
        tx_rsp_hdr_o.status <= good_i && slot_i[0] && flush_failed ? flush_status_q : status_i;
        tx_rsp_hdr_o.tag    <= slot_i[23:8];
        tx_rsp_hdr_o.whole  <= slot_i[41] && !slot_i[0];
        tx_rsp_hdr_o.dst    <= slot_i[39:24];
        tx_rsp_hdr_o.src    <= cfg_node_i;
        tx_rsp_hdr_o.vc     <= ggas_pkg::VC_RSP;
        if (!good_i) {tx_rsp_hdr_o.addr[0], tx_rsp_hdr_o.domain} <= one_i;
        if (!slot_i[0]) tx_rsp_hdr_o.addr[11:7] <= slot_i[46:42];
        tx_rsp_hdr_o.len_dw <= h_data ? {4'd0, slot_i[7:1]} : 11'd0;
        left_q              <= h_data ? slot_i[7:1] : 7'd0;
        row_q               <= '0;
        row_q[0]            <= 1'b1;
      end
    end
  end

  assign cnt_target_loads_o = advance && tx_rsp_eop_o && left_q != '0;
  assign busy_o = ready || tx_rsp_valid_o || flush_failed_q || old_o;
endmodule

`default_nettype wire
