// SPDX-License-Identifier: Apache-2.0
// Atomics: read, modify, posted write, answer. Up to 8 in flight, one at a time for each word: an operation on a word
// that another one is using waits for it and takes over the word's new value instead of reading it back. The last value
// also stays in progress for a moment, for an operation that follows soon; any other write of this NIC drops it. Each
// operation is executed once, and answered once.
`default_nettype none

module rma_atomic #(
    parameter int unsigned DATA_W = 64,  // 64, 256 or 512
    parameter int unsigned KEEP   = 32   // cycles a value stays in progress, a power of two
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [15:0]         cfg_timeout_i,   // RMA_TIMEOUT.host

    // ATOMIC packets, with the status to be answered if it is not OK (the event was reported)
    input  wire ggas_pkg::rma_beat_t at_i,
    output      logic                at_ready_o,
    input  wire logic [DATA_W-1:0]   at_data_i,
    input  wire logic [3:0]          at_status_i,

    // translation
    output      rma_pkg::tr_req_t    tr_o,
    input  wire logic                tr_ready_i,
    input  wire rma_pkg::tr_rsp_t    tr_rsp_i,
    output      logic                tr_done_o,

    // host reads: tags TAG_ATOMIC ... + 7
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire ggas_pkg::tlp_beat_t cpl_i,
    output      logic                cpl_ready_o,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    // host writes, one beat each
    output      logic                wr_valid_o,
    input  wire logic                wr_ready_i,
    output      logic                wr_sop_o,
    output      logic                wr_eop_o,
    output      ggas_pkg::tlp_hdr_t  wr_hdr_o,
    output      logic [DATA_W-1:0]   wr_data_o,
    // some other data write was accepted (in this cycle or the one before)
    input  wire logic                wr_snoop_i,

    // ATOMIC_RSP
    output      logic                rsp_valid_o,
    input  wire logic                rsp_ready_i,
    output      logic                rsp_sop_o,
    output      logic                rsp_eop_o,
    output      ggas_pkg::rma_hdr_t  rsp_hdr_o,
    output      logic [DATA_W-1:0]   rsp_data_o,

    // pulses, at most one a cycle
    output      logic                ev_bad_packet_o,
    output      logic                ev_protection_o,  // TARGET_PROTECTION
    output      logic                ev_host_error_o,  // RMA_HOST_ERROR
    output      logic [15:0]         ev_node_o,
    output      logic [39:0]         ev_info_o,
    output      logic                ev_unexpected_o,  // UNEXPECTED_CPL, any time
    output      logic [9:0]          ev_tag_o,
    output      logic                cnt_atomics_o,
    output      logic                writes_o,         // an operation may still write
    output      logic                busy_o,
    output      logic                timer_o
);

  localparam int unsigned N  = 8;   // operations in flight
  localparam int unsigned KW = $clog2(KEEP);

  // The lowest of a set.
  function logic [2:0] lowest(input logic [N-1:0] set);
    lowest = '0;
    for (int i = N - 1; i >= 0; i--) if (set[i]) lowest = i[2:0];
  endfunction
  function logic [2:0] position(input logic [N-1:0] one_hot);
    position = '0;
    for (int i = 0; i < N; i++) if (one_hot[i]) position = position | i[2:0];
  endfunction

  // ---------------------------------------------------------------- operations come in
  logic                op_valid, op_ready, op_wide, in_writes, in_busy;
  rma_atomic_pkg::op_t op;
  logic [63:2]         op_addr, op_word;
  logic [3:0]          op_status;
  rma_atomic_in #(.DATA_W(DATA_W)) u_in (
      .clk_i, .rst_ni, .at_i, .at_ready_o, .at_data_i, .at_status_i, .tr_o, .tr_ready_i, .tr_rsp_i,
      .op_valid_o(op_valid), .op_ready_i(op_ready), .op_o(op), .op_addr_o(op_addr), .op_word_o(op_word),
      .op_wide_o(op_wide), .op_status_o(op_status), .writes_o(in_writes), .busy_o(in_busy));

  // ---------------------------------------------------------------- entries
  (* ram_style = "block", no_rw_check *) logic [rma_atomic_pkg::OP_W-1:0] op_q [N];  // never read as it is written
  logic [63:0]        value_q [N];    // the word as read or handed over
  logic [61:0]        addr_q [N];     // bits 63:2
  logic [3:0]         status_q [N];
  logic [2:0]         next_q [N];     // the operation that waits for it
  logic [N-1:0]       live_q, read_q, ready_q;  // taken; needs a read; may be executed
  logic [N-1:0]       wide_q, works_q, linked_q;  // 64 bits; is done on its word; next_q is used
  logic [N-1:0]       fresh_q;        // no other write since the value was read

  // ---------------------------------------------------------------- value in progress
  logic          hand_valid_q, hand_wide_q;
  logic [61:0]   hand_addr_q;
  logic [63:0]   hand_q;
  logic [KW-1:0] hand_age_q;

  logic       fin;                    // an operation ends
  logic       insert;

  // The new operation's address is compared in the cycle before it is accepted; the comparison includes operations that
  // end meanwhile.
  logic         compared_q, good_q, hand_same_q;
  logic [N-1:0] word_same_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) compared_q <= 1'b0;
    else compared_q <= op_valid && !fin && !insert;
  end
  always_ff @(posedge clk_i) begin
    if (op_valid) begin
      good_q      <= op_status == ggas_pkg::ST_OK;
      hand_same_q <= hand_wide_q == op_wide && hand_addr_q == op_word;
      for (int i = 0; i < N; i++) word_same_q[i] <= addr_q[i][61:1] == op_word[63:3];
    end
  end

  wire [2:0]    slot   = lowest(~live_q);
  // last operation of a chain on the word of the new one
  wire [N-1:0]  same   = word_same_q & live_q & works_q & ~linked_q & {N{compared_q && good_q}};
  assign        op_ready = compared_q && live_q != '1 && !fin;
  assign        insert = op_valid && op_ready;
  wire          chained = same != '0;
  wire          in_hand = hand_valid_q && !wr_snoop_i && hand_same_q && good_q && !chained;

  // ---------------------------------------------------------------- reads
  logic              cmd_ready, out_valid, end_valid, read_busy;
  logic [2:0]        out_meta, end_meta;
  // verilator lint_off UNUSEDSIGNAL
  logic [9:0]        out_offset;
  logic [4:0]        out_dws;
  logic [DATA_W-1:0] out_data;
  // verilator lint_on UNUSEDSIGNAL
  logic [3:0]        end_status;
  wire [2:0]         rd_slot = lowest(read_q);
  wire               rd_go   = read_q != '0 && cmd_ready;
  wire               out_ready = !fin && !insert;
  // verilator lint_off PINCONNECTEMPTY
  rma_read #(.DATA_W(DATA_W), .TAG_BASE(rma_pkg::TAG_ATOMIC), .TAGS(N), .META_W(3)) u_read (
      .clk_i, .rst_ni, .time_i, .cfg_timeout_i, .cmd_valid_i(read_q != '0), .cmd_ready_o(cmd_ready),
      .cmd_addr_i({addr_q[rd_slot], 2'b00}), .cmd_len_dw_i(wide_q[rd_slot] ? 11'd2 : 11'd1), .cmd_first_be_i(4'hf),
      .cmd_last_be_i(wide_q[rd_slot] ? 4'hf : 4'h0), .cmd_meta_i(rd_slot), .rd_valid_o, .rd_ready_i, .rd_hdr_o,
      .cpl_i, .cpl_ready_o, .cpl_data_i, .out_valid_o(out_valid), .out_ready_i(out_ready), .out_meta_o(out_meta),
      .out_offset_dw_o(out_offset), .out_dws_o(out_dws), .out_data_o(out_data), .out_final_o(), .out_last_o(),
      .end_valid_o(end_valid), .end_meta_o(end_meta), .end_status_o(end_status), .ev_unexpected_o, .ev_tag_o,
      .busy_o(read_busy), .timer_o);
  // verilator lint_on PINCONNECTEMPTY

  // ---------------------------------------------------------------- execution: choose, calculate, write
  localparam logic [1:0] X_IDLE = 2'd0, X_OP = 2'd1, X_WRITE = 2'd2;
  logic [1:0]   x_state_q;
  logic [N-1:0] grant;
  wire          choose = x_state_q == X_IDLE && ready_q != '0;
  wire [2:0]    pick   = position(grant);
  // verilator lint_off PINCONNECTEMPTY
  arbiter_rr #(.N(N)) u_turn (.clk_i, .rst_ni, .clear_i(1'b0), .req_i(ready_q), .take_i(choose), .eop_i(1'b1),
    .grant_o(grant), .locked_o());
  // verilator lint_on PINCONNECTEMPTY

  logic [2:0]         x_q;
  rma_atomic_pkg::op_t x_op_q;
  logic [61:0]        x_addr_q;
  logic [63:0]        x_value_q, x_new_q;
  logic [3:0]         x_status_q;
  logic               x_wide_q, x_write_q;

  logic        alu_write;
  logic [63:0] alu_new;
  rma_alu u_alu (.op_i(x_op_q.amo), .signed_i(x_op_q.is_signed), .wide_i(x_wide_q), .old_i(x_value_q),
    .operand_i(x_op_q.operand), .compare_i(x_op_q.compare),
      .new_o(alu_new), .write_o(alu_write));

  logic answer_free;
  wire  x_ok    = x_status_q == ggas_pkg::ST_OK;
  assign fin    = x_state_q == X_WRITE && answer_free && (!x_write_q || wr_ready_i);
  // What the next operation on the word may take over: what was written, or what was read and is still true.
  wire  known   = x_ok && (x_write_q || (fresh_q[x_q] && !wr_snoop_i));
  wire [2:0] next = next_q[x_q];
  wire  hand_on = fin && linked_q[x_q];
  wire  take_over = hand_on && known && addr_q[next][0] == x_addr_q[0] && wide_q[next] == x_wide_q;

  assign wr_valid_o = x_state_q == X_WRITE && x_write_q && answer_free;
  assign wr_sop_o   = 1'b1;
  assign wr_eop_o   = 1'b1;
  always_comb begin
    wr_hdr_o  = '0;
    wr_data_o = '0;
    if (wr_valid_o) begin
      wr_hdr_o.kind     = ggas_pkg::TLP_MWR;
      wr_hdr_o.bar      = 3'd7;
      wr_hdr_o.addr     = {x_addr_q, 2'b00};
      wr_hdr_o.len_dw   = x_wide_q ? 11'd2 : 11'd1;
      wr_hdr_o.first_be = 4'hf;
      wr_hdr_o.last_be  = x_wide_q ? 4'hf : 4'h0;
      wr_data_o[63:0]   = x_new_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      x_state_q  <= X_IDLE;
      x_q        <= '0;
      x_addr_q   <= '0;
      x_value_q  <= '0;
      x_new_q    <= '0;
      x_status_q <= '0;
      x_wide_q   <= 1'b0;
      x_write_q  <= 1'b0;
    end else begin
      case (x_state_q)
        X_IDLE: if (choose) begin
          x_state_q  <= X_OP;
          x_q        <= pick;
          x_addr_q   <= addr_q[pick];
          x_value_q  <= value_q[pick];
          x_status_q <= status_q[pick];
          x_wide_q   <= wide_q[pick];
        end
        X_OP: begin
          x_state_q <= X_WRITE;
          x_new_q   <= alu_new;
          x_write_q <= x_ok && alu_write;
        end
        default: if (fin) x_state_q <= X_IDLE;
      endcase
    end
  end

  always_ff @(posedge clk_i) if (choose) x_op_q <= op_q[pick];

  // ---------------------------------------------------------------- state of the entries
  wire [63:0] known_value = x_write_q ? x_new_q : x_value_q;
  wire        value_we = take_over || insert || (out_valid && out_ready);
  wire [2:0]  value_slot = take_over ? next : insert ? slot : out_meta;
  // verilator lint_off UNUSEDSIGNAL
  wire [63:0] value_before = value_q[out_meta];
  // verilator lint_on UNUSEDSIGNAL
  wire [63:0] value_read = out_offset[0] ? {out_data[31:0], value_before[31:0]} : out_data[63:0];
  wire [63:0] value_d = take_over ? known_value : insert ? hand_q : value_read;

  always_ff @(posedge clk_i) begin
    if (value_we) value_q[value_slot] <= value_d;
    if (insert) begin
      op_q[slot]    <= op;
      addr_q[slot]  <= op_addr;
      wide_q[slot]  <= op_wide;
    end
    if (insert && chained) next_q[position(same)] <= slot;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      live_q   <= '0;
      read_q   <= '0;
      ready_q  <= '0;
      works_q  <= '0;
      linked_q <= '0;
      fresh_q  <= '0;
      for (int i = 0; i < N; i++) status_q[i] <= '0;
    end else begin
      if (wr_snoop_i) fresh_q <= '0;
      if (choose) ready_q <= ready_q & ~grant;
      if (end_valid) begin
        ready_q[end_meta]  <= 1'b1;
        status_q[end_meta] <= end_status;
      end
      if (rd_go) begin
        read_q[rd_slot]  <= 1'b0;
        fresh_q[rd_slot] <= !wr_snoop_i;
      end
      if (insert) begin
        live_q[slot]   <= 1'b1;
        works_q[slot]  <= good_q;
        linked_q[slot] <= 1'b0;
        status_q[slot] <= op_status;
        ready_q[slot]  <= in_hand || !good_q;
        read_q[slot]   <= !in_hand && !chained && good_q;
        fresh_q[slot]  <= in_hand;
        if (chained) linked_q[position(same)] <= 1'b1;
      end
      if (fin) live_q[x_q] <= 1'b0;
      if (hand_on) begin
        if (take_over) begin
          ready_q[next] <= 1'b1;
          fresh_q[next] <= !wr_snoop_i;
        end else begin
          read_q[next] <= 1'b1;
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hand_valid_q <= 1'b0;
      hand_wide_q  <= 1'b0;
      hand_addr_q  <= '0;
      hand_q       <= '0;
      hand_age_q   <= '0;
    end else begin
      if (hand_valid_q) hand_age_q <= hand_age_q + 1'b1;
      if (wr_snoop_i || (insert && in_hand) || (&hand_age_q)) hand_valid_q <= 1'b0;
      // Whatever ends last decides what is in progress.
      if (fin) begin
        hand_valid_q <= !hand_on && known && !wr_snoop_i;
        hand_wide_q  <= x_wide_q;
        hand_addr_q  <= x_addr_q;
        hand_q       <= known_value;
        hand_age_q   <= '0;
      end
    end
  end
  assign tr_done_o = fin && x_op_q.held;

  // ---------------------------------------------------------------- answers
  logic out_busy;
  rma_atomic_out #(.DATA_W(DATA_W)) u_out (
      .clk_i, .rst_ni, .cfg_node_i, .fin_i(fin), .free_o(answer_free), .op_i(x_op_q), .status_i(x_status_q),
      .old_i(x_wide_q ? x_value_q : {32'd0, x_value_q[31:0]}), .addr_i(x_addr_q[37:0]), .rsp_valid_o, .rsp_ready_i,
      .rsp_sop_o, .rsp_eop_o,
      .rsp_hdr_o, .rsp_data_o, .ev_bad_packet_o, .ev_protection_o, .ev_host_error_o, .ev_node_o, .ev_info_o,
      .busy_o(out_busy));

  assign cnt_atomics_o = fin && x_ok;
  assign writes_o      = in_writes || (live_q & works_q) != '0;
  assign busy_o        = in_busy || read_q != '0 || ready_q != '0 || x_state_q != X_IDLE || hand_valid_q || read_busy
    || out_busy;

`ifndef SYNTHESIS
  initial begin
    if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("rma_atomic: DATA_W must be 64, 256 or 512");
    if (KEEP < 2 || (KEEP & (KEEP - 1)) != 0) $error("rma_atomic: KEEP must be a power of two");
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni && op_valid) assert ((same & (same - 1'b1)) == '0) else $error("rma_atomic: two chains on one word");
    if (rst_ni && end_valid) assert (live_q[end_meta] && !ready_q[end_meta]);
  end
`endif

endmodule

`default_nettype wire
