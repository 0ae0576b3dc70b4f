  // SPDX-License-Identifier: Apache-2.0
  // Any slot of any context: a descriptor is named only when every word of each of its slots has been written since the
  // slot was last consumed or the context started. A word counts once, and the value read is the one written first.
  (* anyconst *) logic [7:0] f_vpid;
  (* anyconst *) logic [3:0] f_slot;
  (* anyconst *) logic [2:0] f_lane;
  logic [7:0]  f_mask;                    // words that are there
  logic [31:0] f_value;                   // of one of them
  logic [3:0]  f_head;                    // the context's next descriptor
  logic        f_whole;                   // it is complete
  logic [1:0]  f_more;
  wire  [3:0]  f_first = f_slot - head_slot_o;
  wire         f_named = head_valid_o && head_vpid_o == f_vpid && {1'b0, f_first} <= {3'd0, head_more_o};
  wire         f_ctrl  = context_i.we && context_i.word == 3'd0 && context_i.vpid == f_vpid;
  wire         f_here  = valid_q && vpid_q == f_vpid;
  wire         f_found = found_q && found_vpid_q == f_vpid;
  wire         f_row   = f_here && write_q && slot_q == f_slot;
  // Its descriptor is over: its slots are free, the next one is named early or not.
  wire         f_over  = f_here && consume_q && f_whole;
  wire         f_frees = f_over && {1'b0, f_slot - f_head} <= {3'd0, f_more};
  wire  [3:0]  f_next  = f_head + {2'd0, f_more} + 4'd1;
  wire         f_early = f_here && next_valid_o && {1'b0, f_slot - f_next} <= {3'd0, next_more_o};

  // The RAMs, by their own proofs: the word of this context, of this slot, of this lane.
  logic [STATE_W-1:0] f_state, f_state_read;
  logic [PART_W-1:0]  f_part, f_part_read;
  logic               f_written, f_state_junk, f_part_junk, f_part_mine;
  logic [31:0]        f_data, f_data_read;
  logic               f_data_junk, f_data_mine;
  state_t             f_last, f_know;
  assign f_last = f_found ? found : f_state;
  assign f_know = f_written ? f_last : '0;
  wire [3:0] f_place = f_slot - f_head;
  wire [3:0] f_row_place = slot_q - f_head;
  // What the item in progress leaves.
  state_t f_then;
  always_comb begin
    f_then = state_w;
    for (int i = 0; i < 16; i = i + 1)
      if (write_q && here[i]) f_then.more[2*i+:2] = slots_behind(part_w.op, part_w.size);
  end
  wire f_part_take = take && take_vpid == f_vpid && take_slot == f_slot;
  wire f_data_take = read_i && read_vpid_i == f_vpid && read_slot_i == f_slot;

  always_comb begin
    assume (f_vpid[7:CW] == '0);
    assume (kick_vpid_i[7:CW] == '0 && row_vpid_i[7:CW] == '0 && fill_vpid_i[7:CW] == '0 && read_vpid_i[7:CW] == '0);
    // The consumer has been informed that it is complete (rma_front), and does so once.
    if (kick_valid_i && kick_consume_i && kick_vpid_i == f_vpid) assume (f_whole && !(f_here && consume_q));
    // Assumes of other slots what is shown below of this one: a complete slot keeps the number of slots after it.
    if (f_here && write_q && slot_q != f_slot && f_know.complete[f_row_place])
      assume (slots_behind(part_w.op, part_w.size) == f_know.more[{f_row_place, 1'b0}+:2]);
    if (vpid_q == f_vpid) assume (written == f_written);
    if (vpid_q == f_vpid && !f_state_junk) assume (state_r == f_state_read);
    if (f_part_mine && !f_part_junk) assume (part_r == f_part_read);
    if (f_data_mine && !f_data_junk) assume (read_data_o[32*f_lane+:32] == f_data_read);
  end

  always_ff @(posedge clk_i) begin
    // the RAMs
    if (f_found) f_state <= found;
    if (take && take_vpid == f_vpid) begin
      f_state_read <= f_state;
      f_state_junk <= f_found;
    end
    if (part_we && vpid_q == f_vpid && slot_q == f_slot) f_part <= part_w;
    if (take) begin
      f_part_mine <= f_part_take;
      f_part_read <= f_part;
      f_part_junk <= part_we && vpid_q == f_vpid && slot_q == f_slot;
    end
    if (f_row && add[f_lane]) f_data <= data_q[32*f_lane+:32];
    if (read_i) begin
      f_data_mine <= f_data_take;
      f_data_read <= f_data;
      f_data_junk <= f_row && add[f_lane];
    end
    if (f_here) f_written <= 1'b1;
    if (f_ctrl) f_written <= 1'b0;
    // what is meant
    if (f_row) f_mask <= f_mask | mask_q;
    if (f_row && mask_q[f_lane] && !f_mask[f_lane]) f_value <= data_q[32*f_lane+:32];
    if (f_frees) f_mask <= '0;
    if (f_over) f_head <= f_next;
    if (f_here) begin
      f_whole <= whole(f_then.complete[2:0], f_then.more[1:0]);
      f_more  <= f_then.more[1:0];
    end
    if (f_ctrl) {f_mask, f_head, f_whole} <= '0;
    if (f_init) {f_mask, f_head, f_whole, f_written, f_part_mine, f_data_mine} <= '0;
  end

  // A word that was there as the slot was read.
  logic        f_known;
  logic [31:0] f_read;
  always_ff @(posedge clk_i) begin
    if (read_i) begin
      f_known <= !f_init && f_data_take && f_mask[f_lane] && !f_frees && !f_ctrl;
      f_read  <= f_value;
    end
  end

  always_comb begin
    if (!f_init) begin
      if (f_named) assert (f_mask == '1 && !f_ctrl);
      if (head_valid_o && head_vpid_o == f_vpid) assert (head_slot_o == f_head && head_more_o == f_more);
      if (f_early) assert (f_mask == '1 && !f_frees && !f_ctrl);
      if (f_here && next_valid_o) assert (f_over && next_slot_o == f_next);
      if (f_data_mine && f_known) assert (read_data_o[32*f_lane+:32] == f_read);
      // why
      assert (f_know.touched[f_slot] ? f_part[7:0] == f_mask : f_mask == '0);
      assert (f_know.complete[f_place] == (f_mask == '1));
      if (f_know.complete[f_place])
        assert (f_know.more[{f_place, 1'b0}+:2] == slots_behind(f_part[11:10], f_part[9:8]) && f_know.touched[f_slot]);
      assert (f_know.head == f_head);
      assert (f_whole == whole(f_know.complete[2:0], f_know.more[1:0]));
      if (f_whole) assert (f_know.more[1:0] == f_more && f_written);
      for (int i = 0; i < 16; i = i + 1) assert (f_know.more[2*i+:2] != 2'd3 || !f_know.complete[i]);
      if (f_mask[f_lane]) assert (f_data == f_value);
      if (f_here && consume_q && f_written) assert (f_whole);
      if (next_q) assert (valid_q && consume_q);
      if (f_here && next_q && f_written)
        assert (f_know.complete[4'(f_more + 3'd1)] && next_slot_o == f_next
          && next_more_o == f_know.more[2*(f_more + 3'd1)+:2]
          && (next_more_o == 2'd0 || f_know.complete[f_more + 3'd2])
          && (!next_more_o[1] || f_know.complete[f_more + 3'd3]));
      if (found_vpid_q == f_vpid && f_written) assert (found == f_last);
      if (f_here && f_written) assert ((state_fwd_q ? state_fwd : f_state_read) == f_last);
      if (f_here) assert (state_fwd_q || !f_state_junk);
      if (f_row) begin
        assert (f_part_mine && part_fwd_q == f_part_junk);
        if (part_fwd_q) assert (part_w_q == f_part);
        else assert (f_part_read == f_part);
      end
      if (f_data_mine && f_known) assert (!f_data_junk);
    end
  end
