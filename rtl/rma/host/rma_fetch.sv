// SPDX-License-Identifier: Apache-2.0
// Payload from host memory into packets: translates the source, reads it, aligns the bytes for the destination, and
// sends the packets in the order of the commands. A command that fails makes no packet. A packet starts when the last
// missing completion has progressed far enough: 4 cycles after its first beat.
`default_nettype none

module rma_fetch #(
    parameter int unsigned DATA_W   = 64,                      // 64, 256 or 512
    parameter int unsigned SLOTS    = DATA_W == 64 ? 16 : 128, // commands in flight, a power of two: 256 bytes each
    parameter int unsigned TAG_BASE = 128,                     // tags of its reads, a multiple of TAGS
    parameter int unsigned TAGS     = 32,                      // a power of two
    parameter int unsigned META_W   = 8                        // bits given back with done
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,
    input  wire logic [12:0]         cfg_mrrs_i,      // bytes, at least 128
    input  wire logic [15:0]         cfg_timeout_i,   // RMA_TIMEOUT.host

    // commands: 1 ... 256 bytes from nla; the header is complete, payload DW 0 holds the bytes at hdr.addr & ~3
    input  wire logic                cmd_valid_i,
    output      logic                cmd_ready_o,
    input  wire logic [63:0]         cmd_nla_i,
    input  wire logic [15:0]         cmd_pd_i,
    input  wire logic [8:0]          cmd_bytes_i,
    input  wire ggas_pkg::rma_hdr_t  cmd_hdr_i,
    input  wire logic [META_W-1:0]   cmd_meta_i,

    // translation (reads)
    output      rma_pkg::tr_req_t    tr_o,
    input  wire logic                tr_ready_i,
    input  wire rma_pkg::tr_rsp_t    tr_rsp_i,
    output      logic                tr_done_o,       // in the order of the answers

    // host reads
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire ggas_pkg::tlp_beat_t cpl_i,
    output      logic                cpl_ready_o,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    // packets
    output      logic                tx_valid_o,
    input  wire logic                tx_ready_i,
    output      logic                tx_sop_o,
    output      logic                tx_eop_o,
    output      ggas_pkg::rma_hdr_t  tx_hdr_o,
    output      logic [DATA_W-1:0]   tx_data_o,

    // pulse, in the order of the commands: the packet's last beat was taken, or there is none
    output      logic                done_valid_o,
    output      logic [3:0]          done_status_o,   // ST_OK, ST_PROTECTION, ST_HOST_ERROR, ST_TIMEOUT
    output      logic [META_W-1:0]   done_meta_o,
    output      logic [39:0]         done_nla_o,      // low bits of the source

    output      logic                ev_host_error_o, // pulse: RMA_HOST_ERROR, info done_nla_o
    output      logic                ev_unexpected_o, // pulse: UNEXPECTED_CPL
    output      logic [9:0]          ev_tag_o,
    output      logic                cnt_packets_o,   // pulse: a packet has gone
    output      logic                busy_o,
    output      logic                timer_o
);
  localparam int unsigned SW      = $clog2(SLOTS);
  localparam int unsigned BEAT_DW = DATA_W / 32;
  localparam int unsigned BEAT_LOG2 = $clog2(BEAT_DW);
  localparam int unsigned RW      = 6 - BEAT_LOG2;  // rows of a slot, as a power of two
  localparam int unsigned CMD_W   = ggas_pkg::NET_HDR_W + META_W + 40;

  // ---------------------------------------------------------------- commands take slots
  logic          room, source_ready, start, leave, ready, almost, source_busy;
  logic [SW-1:0] tail, head, end_slot;
  logic          close, end_valid;
  logic [2:0]    close_reads;
  logic [1:0]    close_uses, uses;
  logic [3:0]    close_status, end_status, status;
  wire           take = cmd_valid_i && cmd_ready_o;
  assign cmd_ready_o = room && source_ready;

  rma_fetch_slots #(.SLOTS(SLOTS)) u_slots (
      .clk_i, .rst_ni, .room_o(room), .tail_o(tail), .take_i(take), .close_i(close), .close_reads_i(close_reads),
      .close_uses_i(close_uses),
      .close_status_i(close_status), .end_i(end_valid), .end_slot_i(end_slot), .end_status_i(end_status),
      .ready_o(ready), .almost_o(almost), .head_o(head),
      .uses_o(uses), .status_o(status), .start_i(start), .release_i(leave));

  logic [CMD_W-1:0] cmd;
  ram_1r1w #(.WIDTH(CMD_W), .DEPTH(SLOTS)) u_cmd (
      .clk_i, .we_i(take), .waddr_i(tail), .wdata_i({cmd_nla_i[39:0], cmd_meta_i, cmd_hdr_i}), .re_i(start),
      .raddr_i(head), .rdata_o(cmd));

  // ---------------------------------------------------------------- reads
  localparam int unsigned READ_W = SW + 8 + 2 + 2;
  localparam int unsigned CUT_W = 64 + 11 + 4 + 4 + SW + 8 + 2 + 2;
  logic        cut_valid, cut_ready, r_valid, r_ready, read_busy, out_valid;  // as it is cut; a cycle later
  logic [63:0] cut_addr, r_addr;
  logic [10:0] cut_len, r_len;
  logic [3:0]  cut_first_be, cut_last_be, r_first_be, r_last_be;
  logic [SW-1:0] cut_slot, r_slot, out_slot;
  logic [7:0]  cut_at, r_at, out_at;
  logic [1:0]  cut_skip, cut_trim, r_skip, r_trim, out_skip, out_trim;
  // verilator lint_off UNUSEDSIGNAL
  logic [9:0]  out_offset;
  logic [READ_W-1:0] end_meta;
  // verilator lint_on UNUSEDSIGNAL
  logic [4:0]  out_dws;
  logic        out_final, out_last;
  logic [DATA_W-1:0] out_data;

  rma_fetch_source #(.SLOTS(SLOTS)) u_source (
      .clk_i, .rst_ni, .cfg_mrrs_i, .cmd_valid_i(cmd_valid_i && room), .cmd_ready_o(source_ready), .cmd_slot_i(tail),
      .cmd_nla_i, .cmd_pd_i, .cmd_bytes_i, .cmd_at_i(cmd_hdr_i.addr[1:0]), .tr_o, .tr_ready_i, .tr_rsp_i,
      .rd_valid_o(cut_valid), .rd_ready_i(cut_ready), .rd_addr_o(cut_addr), .rd_len_dw_o(cut_len),
      .rd_first_be_o(cut_first_be), .rd_last_be_o(cut_last_be), .rd_slot_o(cut_slot), .rd_at_o(cut_at),
      .rd_skip_o(cut_skip), .rd_trim_o(cut_trim), .close_o(close), .close_reads_o(close_reads),
      .close_uses_o(close_uses), .close_status_o(close_status), .busy_o(source_busy));

  stage #(.WIDTH(CUT_W)) u_cut (
      .clk_i, .rst_ni, .in_valid_i(cut_valid), .in_ready_o(cut_ready),
      .in_data_i({cut_addr, cut_len, cut_first_be, cut_last_be, cut_slot, cut_at, cut_skip, cut_trim}),
      .out_valid_o(r_valid), .out_ready_i(r_ready),
      .out_data_o({r_addr, r_len, r_first_be, r_last_be, r_slot, r_at, r_skip, r_trim}));

  rma_read #(.DATA_W(DATA_W), .TAG_BASE(TAG_BASE), .TAGS(TAGS), .META_W(READ_W)) u_read (
      .clk_i, .rst_ni, .time_i, .cfg_timeout_i, .cmd_valid_i(r_valid), .cmd_ready_o(r_ready), .cmd_addr_i(r_addr),
      .cmd_len_dw_i(r_len), .cmd_first_be_i(r_first_be), .cmd_last_be_i(r_last_be),
      .cmd_meta_i({r_slot, r_at, r_skip, r_trim}), .rd_valid_o, .rd_ready_i, .rd_hdr_o, .cpl_i, .cpl_ready_o,
      .cpl_data_i, .out_valid_o(out_valid), .out_ready_i(1'b1), .out_meta_o({out_slot, out_at, out_skip, out_trim}),
      .out_offset_dw_o(out_offset), .out_dws_o(out_dws), .out_data_o(out_data), .out_final_o(out_final),
      .out_last_o(out_last), .end_valid_o(end_valid), .end_meta_o(end_meta), .end_status_o(end_status),
      .ev_unexpected_o, .ev_tag_o, .busy_o(read_busy), .timer_o);
  assign end_slot = end_meta[READ_W-1-:SW];

  // ---------------------------------------------------------------- data
  wire [6:0]    in_bytes   = {out_dws, 2'b00} - (out_last ? {5'd0, out_trim} : 7'd0);
  wire [7:0]    in_at      = out_at + {out_offset[5:0], 2'b00};
  logic         row_en, buffer_busy, comes;
  logic [SW-1:0] comes_slot;
  logic [RW:0]  comes_rows;
  logic [RW-1:0] row;
  logic [SW-1:0] slot_q;           // of the packet going out
  logic [DATA_W-1:0] row_data;

  rma_fetch_buffer #(.DATA_W(DATA_W), .SLOTS(SLOTS)) u_buffer (
      .clk_i, .rst_ni, .in_valid_i(out_valid), .in_slot_i(out_slot), .in_at_i(in_at),
      .in_skip_i(out_offset == '0 ? out_skip : 2'd0),
      .in_bytes_i(in_bytes), .in_data_i(out_data), .in_final_i(out_final), .in_last_i(out_last), .comes_o(comes),
      .comes_slot_o(comes_slot), .comes_rows_o(comes_rows), .row_en_i(row_en), .row_slot_i(start ? head : slot_q),
      .row_i(row), .row_data_o(row_data),
      .busy_o(buffer_busy));

  // ---------------------------------------------------------------- packets
  logic              t_q;            // a command is being finished
  logic [3:0]        t_status_q;
  logic [RW-1:0]     t_beat_q;
  logic [META_W-1:0] t_meta;
  logic [39:0]       t_nla;
  ggas_pkg::rma_hdr_t t_hdr;
  assign {t_nla, t_meta, t_hdr} = cmd;

  wire       t_good   = t_status_q == ggas_pkg::ST_OK;
  wire [5:0] t_tail   = t_hdr.len_dw[5:0] - 6'd1;  // the last DW
  wire       t_last   = t_beat_q == t_tail[5:BEAT_LOG2];
  wire       advance  = tx_valid_o && tx_ready_i;
  wire       early    = almost && comes && comes_slot == head && comes_rows != '0;
  logic      t_loaded_q;         // the beat stands at the buffer's output
  logic [RW-1:0] next_row;
  wire       row_written    = !(comes && comes_slot == slot_q) || {1'b0, next_row} < comes_rows;
  wire       more     = t_q && t_good && !(advance && t_last) && (advance || !t_loaded_q);
  assign next_row = advance ? t_beat_q + 1'b1 : t_beat_q;
  assign leave    = t_q && (!t_good || (advance && t_last));
  assign start    = (ready || early) && (!t_q || leave);
  assign row_en   = t_q || ready || early;  // the row that is there already is read again
  assign row      = start ? '0 : next_row;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      t_q        <= 1'b0;
      t_loaded_q <= 1'b0;
      t_status_q <= '0;
      t_beat_q   <= '0;
      slot_q     <= '0;
    end else begin
      if (leave) t_q <= 1'b0;
      else if (more) begin
        t_loaded_q <= row_written;
        t_beat_q   <= next_row;
      end
      if (start) begin
        t_q        <= 1'b1;
        t_loaded_q <= 1'b1;
        t_status_q <= status;
        t_beat_q   <= '0;
        slot_q     <= head;
      end
    end
  end

  assign tx_valid_o = t_q && t_good && t_loaded_q;
  assign tx_sop_o   = t_beat_q == '0;
  assign tx_eop_o   = t_last;
  assign tx_hdr_o   = t_hdr;

  // Bytes that the packet does not carry are 0: nothing of an earlier packet leaves with it.
  wire [3:0] t_tail_be = t_hdr.len_dw == 11'd1 ? 4'hf : t_hdr.last_be;
  always_comb begin
    tx_data_o = row_data;
    if (tx_valid_o && t_last) begin
      for (int d = 0; d < BEAT_DW; d++) begin
        if (d[BEAT_LOG2-1:0] > t_tail[BEAT_LOG2-1:0]) tx_data_o[32*d+:32] = '0;
        for (int b = 0; b < 4; b++) if (d[BEAT_LOG2-1:0] == t_tail[BEAT_LOG2-1:0]
          && !t_tail_be[b]) tx_data_o[32*d+8*b+:8] = '0;
      end
    end
    if (tx_valid_o && tx_sop_o) begin
      for (int b = 0; b < 4; b++) if (!t_hdr.first_be[b]) tx_data_o[8*b+:8] = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      done_valid_o    <= 1'b0;
      done_status_o   <= '0;
      done_meta_o     <= '0;
      done_nla_o      <= '0;
      ev_host_error_o <= 1'b0;
      cnt_packets_o   <= 1'b0;
    end else begin
      done_valid_o    <= leave;
      ev_host_error_o <= leave && !t_good && t_status_q != ggas_pkg::ST_PROTECTION;
      cnt_packets_o   <= leave && t_good;
      if (leave) begin
        done_status_o <= t_status_q;
        done_meta_o   <= t_meta;
        done_nla_o    <= t_nla;
      end
    end
  end

  // ---------------------------------------------------------------- translations given back, one a cycle
  logic [SW+1:0] owed_q;
  assign tr_done_o = owed_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) owed_q <= '0;
    else if (start || tr_done_o) owed_q <= owed_q + (start ? {{SW{1'b0}}, uses} : '0) - {{(SW+1){1'b0}}, tr_done_o};
  end

  assign busy_o = source_busy || (r_valid && r_ready) || read_busy || buffer_busy || ready || early
    || (t_q && (t_loaded_q || row_written)) || done_valid_o || owed_q != '0;

`ifndef SYNTHESIS
  initial if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("rma_fetch: DATA_W must be 64, 256 or 512");
  always_ff @(posedge clk_i) if (rst_ni && take) assert (cmd_hdr_i.len_dw == ({2'd0, cmd_bytes_i} + {9'd0,
    cmd_hdr_i.addr[1:0]} + 11'd3) >> 2);
`endif
endmodule

`default_nettype wire
