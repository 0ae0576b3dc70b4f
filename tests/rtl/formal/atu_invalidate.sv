  // SPDX-License-Identifier: Apache-2.0
  // Any use of a translation, of an ordered client (0) or of the other kind (1): if it was given out before the drop,
  // or by a walk begun before, it has ended when the invalidation is acknowledged.
  (* anyconst *) logic f_client;
  (* anyseq *) logic f_take;  // this is the one
  (* anyseq *) logic f_ends;  // the end of a use of client 1 is its end
  logic              f_live, f_old;
  logic [USES_W-1:0] f_ahead;  // uses that end before it (ordered)
  logic [CLIENTS-1:0] f_stale;  // walks begun before the drop, or the first step of a range
  (* anyconst *) logic [SB-1:0] f_set;  // any set of the TLB
  logic              f_seen;    // the range was dropped from it
  wire               f_first = !drop_range_o || drop_set_o == '0;
  wire               f_amid  = (state_q == I_DROP || state_q == I_DROPPING) && drop_range_o && drop_set_o != '0;

  wire [USES_W-1:0] f_open  = open_q[USES_W*f_client+:USES_W];
  wire [USES_W-1:0] f_left  = left_q[USES_W*f_client+:USES_W];
  wire              f_given = given_i[f_client];
  wire              f_done  = done_i[f_client];
  wire              f_over  = f_live && f_done && (f_client ? f_ends || f_open == 1 : f_ahead == '0);
  wire              f_begin = f_take && f_given && !f_live;

  // The pipeline and the clients.
  always_comb begin
    assume (dropped_i == (state_q == I_DROPPING));
    assume (!taken_i || drop_o);
    assume ((walked_i & walking_i) == '0);
    assume ((f_stale & ~walking_i & ~walked_i) == '0);           // a walk goes on until it is answered
    // The drop has the stage for itself; uses and walks are reported a cycle after their stage.
    assume (!dropped_i || walked_i == '0);
    assume (!f_dropped || (given_i | walked_i) == '0);
    for (int c = 0; c < CLIENTS; c = c + 1) begin
      assume (!done_i[c] || open_q[USES_W*c+:USES_W] != '0);
      assume (!given_i[c] || open_q[USES_W*c+:USES_W] < (1 << (USES_W - 1)));
      assume (!(given_i[c] && f_stale[c]) || walked_i[c]);
      // Held: nothing new is looked up; what was in the pipeline is answered before the drop.
      assume (!(UNORDERED[c] && given_i[c]) || !hold_o[c] || state_q == I_DROP || dropped_i || f_stale[c]);
    end
    assume ((given_i & (given_i - 1'b1)) == '0);
  end

  logic f_dropped;  // in the last cycle
  always_ff @(posedge clk_i) f_dropped <= !f_init && dropped_i;

  always_ff @(posedge clk_i) begin
    if (f_init) begin
      f_live  <= 1'b0;
      f_old   <= 1'b0;
      f_ahead <= '0;
      f_stale <= '0;
      f_seen  <= 1'b0;
    end else begin
      f_stale <= dropped_i && f_first ? walking_i : f_stale & ~walked_i;
      f_seen  <= !begins && (f_seen || (dropped_i && drop_set_o == f_set));
      if (f_over) f_live <= 1'b0;
      else if (f_begin) f_live <= 1'b1;
      if (f_begin) f_ahead <= f_done ? f_open - 1'b1 : f_open;
      else if (f_live && f_done && f_ahead != '0) f_ahead <= f_ahead - 1'b1;
      f_old <= (f_begin ? f_stale[f_client] || dropped_i : f_old || dropped_i) && (f_begin || (f_live && !f_over));
    end
  end

  always_comb begin
    if (!f_init) begin
      if (ends) assert (!(f_live && f_old));  // the acknowledgement
      // why
      assert (state_q <= I_USES);
      assert (f_left <= f_open);
      if (f_live) assert (f_open != '0);
      if (f_live && !f_client) assert (f_ahead < f_open);
      if (f_old) assert (f_live && (state_q == I_WALKS || state_q == I_USES || f_amid));
      if (f_old && state_q == I_USES) assert (f_client ? f_left == f_open && f_left != '0 : f_ahead < f_left);
      assert (stale_o == f_stale);
      if (state_q != I_WALKS && !f_amid) assert (f_stale == '0);
      if (state_q == I_WALKS && drop_range_o) assert (f_seen);  // a range is dropped from every set
      if ((state_q == I_DROP || state_q == I_DROPPING) && !drop_range_o) assert (drop_set_o == '0);
      if ((state_q == I_DROP || state_q == I_DROPPING) && drop_range_o) assert (f_seen == (f_set < drop_set_o));
      if (state_q != I_USES) assert (f_left == '0);
      assert (asked_q - inv_done_o == 0 || inv_busy_o);     // nothing that was asked for is forgotten
      if (!pend_q) assert (state_q == I_IDLE ? asked_q == inv_done_o : asked_q == target_q);
    end
  end
