  // SPDX-License-Identifier: Apache-2.0
  // Any slot: one load at a time, released once, answered only by its own answers, chunk by chunk.
  (* anyconst *) logic [5:0] f_slot;
  logic       f_live;    // a load waits in it
  logic [8:0] f_round;   // its round
  logic [5:0] f_node;    // its target
  logic [4:0] f_piece;   // bits 11:7 of the address of its next chunk
  wire f_alloc = alloc && next_slot == f_slot;
  wire f_free  = release_it && slot == f_slot;
  always_ff @(posedge clk_i) begin
    f_live <= !f_init && (f_alloc || (f_live && !f_free));
    if (f_alloc) begin
      f_round <= next_q[14:6];
      f_node  <= req_node_i;
      f_piece <= req_piece_i;
    end else if (write_back && slot == f_slot) begin
      f_piece <= next_piece;
    end
  end
  // what the unit before it promises: whole packets
  logic f_inside;
  always_ff @(posedge clk_i) begin
    if (f_init) f_inside <= 1'b0;
    else if (rx_rsp_i.valid && rx_rsp_ready_o) f_inside <= !rx_rsp_i.eop;
  end
  always_comb if (rx_rsp_i.valid) assume (rx_rsp_i.sop == !f_inside);

  wire [ENTRY_W-1:0] f_entry = entry_q[f_slot];
  always_comb begin
    if (!f_init) begin
      assert (f_live == live_q[f_slot]);
      if (f_alloc) assert (!f_live);
      if (f_free) assert (f_live);
      // the entry is the load's, until the end
      if (f_live) assert (f_entry[ENTRY_W-1-:9] == f_round);
      if (f_live) assert (f_entry[ENTRY_W-9-16-10-3-1-:6] == f_node);
      // only its own answers reach it
      if (write_back && slot == f_slot)
        assert (f_live && q_hdr_q.tag == {1'b0, f_round, f_slot} && q_hdr_q.src == {10'd0, f_node});
      if (good) assert (known);
      if (good && slot == f_slot) assert (q_hdr_q.addr[11:7] == f_piece);
      if (f_live) assert (f_entry[13:9] == f_piece);
      if (q_head && e_known && q_hdr_q.tag[5:0] == f_slot)
        assert (e_piece == f_piece && e_next == (q_hdr_q.addr[11:7] == e_piece));
      // why: what was read of an entry still holds as it is checked
      if (q_head) assert (!found_q && !visited_q);
      if (q_head && e_known && q_hdr_q.tag[5:0] == f_slot)
        assert (e_round == f_round && e_node == f_node && f_live && q_hdr_q.tag == {1'b0, f_round, f_slot}
          && q_hdr_q.src == {10'd0, f_node});
      if (visited_q) assert (!found_q);
      if (visited_q && e_live) assert (live_q[walk_slot_q]);
      // the packet in progress is the one that the state describes
      if (q_valid_q && state_q == S_IDLE) assert (q_sop_q);
      if (q_valid_q) assert (f_inside == !q_eop_q);
      if (!q_valid_q) assert (f_inside == (state_q == S_PASS || state_q == S_DROP || (state_q == S_ERROR && drop_q)));
      if (q_valid_q && state_q != S_IDLE) assert (q_sop_q == (state_q == S_ERROR && !drop_q));
      // what was found on a walk is still there when it is given up
      if (found_q) assert (live_q[walk_slot_q]);
    end
  end
