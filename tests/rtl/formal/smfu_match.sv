  // SPDX-License-Identifier: Apache-2.0
  // Any slot: one load at a time, released once, answered only by its own answers.
  (* anyconst *) logic [5:0] f_slot;
  logic       f_live;    // a load waits in it
  logic [8:0] f_round;   // its round
  logic [5:0] f_node;    // its target
  wire f_alloc = alloc && next_slot == f_slot;
  wire f_free  = release_it && slot == f_slot;
  always_ff @(posedge clk_i) begin
    f_live <= !f_init && (f_alloc || (f_live && !f_free));
    if (f_alloc) begin
      f_round <= next_q[14:6];
      f_node  <= req_node_i;
    end
  end
  // what the unit before it promises: heads of packets stand until taken
  always_comb if (state_q == S_IDLE && rx_rsp_valid_i) assume (rx_rsp_sop_i);

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
        assert (f_live && rx_rsp_hdr_i.tag == {1'b0, f_round, f_slot} && rx_rsp_hdr_i.src == {10'd0, f_node});
      if (good) assert (known);
      // what was found on a walk is still there when it is given up
      if (found_q) assert (live_q[walk_slot_q]);
    end
  end
