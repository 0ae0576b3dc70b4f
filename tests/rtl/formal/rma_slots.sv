  // SPDX-License-Identifier: Apache-2.0
  // Any slot of any context: a descriptor is named only when every word of each of its slots has been written since the
  // slot was last consumed or the context started; a word counts once, and what is read is what was written first.
  (* anyconst *) logic [7:0] f_vpid;
  (* anyconst *) logic [3:0] f_slot;
  (* anyconst *) logic [2:0] f_lane;
  logic [7:0]  f_mask;                    // words that are there
  logic [31:0] f_value;                   // of one of them
  logic [3:0]  f_head;                    // the context's next descriptor
  wire  [3:0]  f_first = f_slot - head_slot_o;
  wire         f_named = head_valid_o && head_vpid_o == f_vpid && {1'b0, f_first} <= {3'd0, head_more_o};
  wire         f_ctrl  = context_i.we && context_i.word == 3'd0 && context_i.vpid == f_vpid;
  wire         f_here  = valid_q && vpid_q == f_vpid;
  wire         f_row   = f_here && write_q && slot_q == f_slot;
  // Its descriptor is over: the slots of the one that was named last.
  logic        f_was_named;               // it is complete
  logic [1:0]  f_more;
  wire         f_over  = f_here && consume_q && f_was_named;
  wire         f_frees = f_over && {1'b0, f_slot - f_head} <= {3'd0, f_more};

  // The RAMs, by their own proofs: the word of this context, of this slot, of this lane.
  logic [STATE_W-1:0] f_state, f_state_read;
  logic [PART_W-1:0]  f_part, f_part_read;
  logic               f_written, f_state_junk, f_part_junk, f_part_mine;
  logic [31:0]        f_data, f_data_read;
  logic               f_data_junk, f_data_mine;
  state_t             f_know;
  assign f_know = f_written ? f_state : '0;
  wire f_part_take = part_read && take_vpid == f_vpid && take_slot == f_slot;
  wire f_data_take = read_i && read_vpid_i == f_vpid && read_slot_i == f_slot;

  always_comb begin
    assume (f_vpid[7:CW] == '0);
    assume (kick_vpid_i[7:CW] == '0 && row_vpid_i[7:CW] == '0 && fill_vpid_i[7:CW] == '0 && read_vpid_i[7:CW] == '0);
    // Who consumes has been told that it is complete (dispatch), and does so once.
    if (f_here && consume_q) assume (f_was_named);
    if (vpid_q == f_vpid) assume (written == f_written);
    if (vpid_q == f_vpid && !f_state_junk) assume (state_r == f_state_read);
    if (f_part_mine && !f_part_junk) assume (part_r == f_part_read);
    if (f_data_mine && !f_data_junk) assume (read_data[32*f_lane+:32] == f_data_read);
  end

  always_ff @(posedge clk_i) begin
    // the RAMs
    if (f_here) f_state <= state_w;
    if (take && take_vpid == f_vpid) begin
      f_state_read <= f_state;
      f_state_junk <= f_here;
    end
    if (part_we && vpid_q == f_vpid && slot_q == f_slot) f_part <= part_w;
    if (part_read) begin
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
    if (f_over) f_head <= f_head + {2'd0, f_more} + 4'd1;
    if (f_here) begin
      f_was_named <= head_valid_o;
      f_more      <= head_more_o;
    end
    if (f_ctrl) {f_mask, f_head, f_was_named} <= '0;
    if (f_init) {f_mask, f_head, f_was_named, f_written, f_part_mine, f_data_mine} <= '0;
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
      if (f_named && !f_ctrl) assert ((f_mask | (f_row ? mask_q : '0)) == '1 && !f_frees);
      if (f_here && head_valid_o) assert (head_slot_o == (f_over ? f_head + {2'd0, f_more} + 4'd1 : f_head));
      if (f_data_mine && f_known) assert (read_data_o[32*f_lane+:32] == f_read);
      // why
      assert (f_know.touched[f_slot] ? f_part[7:0] == f_mask : f_mask == '0);
      assert (f_know.complete[f_slot] == (f_mask == '1));
      if (f_know.complete[f_slot]) assert (f_know.touched[f_slot]);
      assert (f_know.head == f_head);
      if (f_was_named) assert (f_know.complete[f_head] && f_know.more[{f_head, 1'b0}+:2] == f_more && f_written);
      for (int i = 0; i < 16; i = i + 1) assert (f_know.more[2*i+:2] != 2'd3 || !f_know.complete[i]);
      if (f_was_named) assert (f_more != 2'd3);
      if (f_mask[f_lane]) assert (f_data == f_value);
      if (f_here) begin
        assert (state_fwd_q == f_state_junk);
        if (state_fwd_q) assert (state_w_q == f_state);
        else assert (f_state_read == f_state);
      end
      if (f_row) begin
        assert (f_part_mine && part_fwd_q == f_part_junk);
        if (part_fwd_q) assert (part_w_q == f_part);
        else assert (f_part_read == f_part);
      end
      if (f_data_mine && f_known) assert (f_data_junk == 1'b0 || bypass_q[f_lane]);
    end
  end
