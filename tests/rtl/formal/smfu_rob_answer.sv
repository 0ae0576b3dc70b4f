  // SPDX-License-Identifier: Apache-2.0
  // Answers leave in the order of the ring, each once and whole, and only when its reads have ended. A failed flush is
  // reported to every quiet that was there by then and to no other. A request accepted before a mark is old until its
  // answer has left.
  (* anyconst *) logic [6:0] f_slot;          // any place of the ring, with its turn
  logic        f_reported;                        // a flush in front of it failed while it was there
  logic        f_old;                         // it was there when a mark was set
  logic [6:0]  f_next, f_tail;
  logic        f_ready, f_moved, f_held, f_bad_status;
  logic [41:0] f_word;                        // what the ring said of the slot answered now
  logic [3:0]  f_status;
  logic [6:0]  f_left;                        // DW to send
  logic        f_first, f_open;
  logic        f_load, f_quiet_bad;
  wire  [6:0]  f_n      = tail_i - oldest_o;
  wire         f_present  = f_slot - oldest_o < f_n + {6'd0, held_i};
  wire  [6:0]  f_dws    = f_word[7:1];

  always_comb begin
    assume (good_i == (status_i == ggas_pkg::ST_OK));
    assume (f_n + {6'd0, held_i} <= 7'd64);
    assume (tail_i == f_tail || (f_held && tail_i == f_tail + 7'd1));
    if (f_held && tail_i == f_tail) assume (held_i);  // who is about to take it does
    if (!slot_i[0] && !slot_i[40]) assume (slot_i[7:1] != '0 && slot_i[7:1] <= 7'd64);
    if (slot_i[40]) assume (slot_i[0]);
  end

  always_ff @(posedge clk_i) begin
    f_tail  <= f_init ? '0 : tail_i;
    f_held  <= !f_init && held_i;
    f_next  <= next_q;
    f_ready <= next_q != tail_i && done_i;
    if (start) begin
      f_word   <= slot_i;
      f_status <= status_i;
      f_left   <= slot_i[0] || status_i != ggas_pkg::ST_OK ? '0 : slot_i[7:1];
      {f_first, f_open} <= 2'b11;
      f_quiet_bad <= f_reported && next_q == f_slot;
      f_moved  <= next_q == f_slot;
    end else if (advance) begin
      f_left  <= f_left > BANKS ? f_left - BANKS : '0;
      f_first <= 1'b0;
      f_open  <= !tx_rsp_eop_o;
    end
    // Its turn: what failed before does not matter to the next at its place.
    if (reflush_o && f_slot - next_q < tail_i + {6'd0, held_i} - next_q) f_reported <= 1'b1;
    if ((start || flushed) && next_q == f_slot) f_reported <= 1'b0;
    if (mark_i) f_old <= f_present;
    else if (!f_present) f_old <= 1'b0;
    if (f_init) {f_reported, f_old, f_ready, f_moved, f_open} <= '0;
  end

  wire [6:0] f_to_end  = flush_end_q - next_q;
  wire [6:0] f_to_mark = old_end_q - oldest_o;
  wire [6:0] f_wait    = tail_i + {6'd0, held_i} - next_q;
  always_comb begin
    if (!f_init) begin
      if (next_q != f_next) assert (next_q == f_next + 7'd1 && f_ready);
      assert (tx_rsp_valid_o == f_open);  // to its end
      if (tx_rsp_valid_o) begin
        assert (tx_rsp_sop_o == f_first);
        assert (tx_rsp_hdr_o.tag == f_word[23:8] && tx_rsp_hdr_o.dst == f_word[39:24]);
        assert (tx_rsp_hdr_o.whole == (f_word[41] && !f_word[0]));
        assert (tx_rsp_hdr_o.op == (f_word[0] ? ggas_pkg::OP_SMFU_QUIET_RSP : ggas_pkg::OP_SMFU_LOAD_RSP));
        assert (tx_rsp_hdr_o.len_dw == (f_word[0] || f_status != ggas_pkg::ST_OK ? 11'd0 : {4'd0, f_dws}));
        if (!f_word[0] || f_status != ggas_pkg::ST_OK) assert (tx_rsp_hdr_o.status == f_status);
        if (f_word[0] && f_moved)
          assert ((tx_rsp_hdr_o.status != ggas_pkg::ST_OK) == (f_quiet_bad || f_status != ggas_pkg::ST_OK));
        assert (tx_rsp_eop_o == (f_left <= BANKS));
      end
      assert (oldest_o == next_q - {6'd0, tx_rsp_valid_o});
      if (f_old && f_slot - oldest_o < f_n) assert (old_o);
      // why
      assert (f_n <= 7'd64);
      if (tx_rsp_valid_o) assert (f_n != '0 && !f_word[40]);
      if (tx_rsp_valid_o) assert (left_q == f_left);
      if (flush_failed_q) assert (flush_status_q != ggas_pkg::ST_OK && f_to_end <= f_wait);
      if (f_wait != '0) assert ((flush_failed_q && f_slot - next_q < f_to_end) == f_reported);
      if (f_reported) assert (f_slot - next_q < f_wait);
      if (old_o) assert (f_to_mark <= f_n + {6'd0, held_i});
      if (f_old && f_present) assert (old_o && f_slot - oldest_o < f_to_mark);
    end
  end
