  // SPDX-License-Identifier: Apache-2.0
  // A context is in the ring at most once, so the ring never overflows. A context that fired is in the ring, or will be
  // when its entry is read: no firing is lost. Entries go to the host once, in turn, and none after stopped_o.
  localparam int unsigned N = ggas_pkg::CONTEXTS;
  (* anyconst *) logic [CW-1:0] f_mine;   // any context
  logic          f_owed;                  // it fired since its entry was made
  logic [N*12-1:0] f_ring;                // the RAMs
  logic [N*6-1:0]  f_contexts;
  logic [11:0]   f_slot;
  logic [5:0]    f_context;
  logic [N*CW-1:0] f_place;               // where a context's entry is
  wire  [31:0]   f_n_ring = put_q - seen_q, f_n_sent = head_o - seen_q;
  wire           f_clears = state_q == S_CLEAR;

  // Software: reads what was written, in turn; its contexts exist. It keeps base_i while the ring is on.
  always_comb begin
    assume (!on_q || tail_i - seen_q <= f_n_sent);
    assume (fire_vpid_i[7:CW] == '0);
    // The RAMs, by their own proof.
    assume ({slot_vector, slot_vpid} == f_slot);
    assume ({listed, refired, refired_vector} == f_context);
  end

  always_ff @(posedge clk_i) begin
    if (walk || fetch) f_slot <= f_ring[12*slot[CW-1:0]+:12];
    if (entry || (take && !bare)) f_context <= f_contexts[6*looked[CW-1:0]+:6];
    if (put) begin
      f_ring[12*put_q[CW-1:0]+:12] <= {walk_q ? refired_vector : vector_q, vpid_q};
      f_place[CW*vpid_q[CW-1:0]+:CW] <= put_q[CW-1:0];
    end
    if (clear) f_contexts[6*clear_q+:6] <= context_next;
    else if (context_now) f_contexts[6*vpid_q[CW-1:0]+:6] <= context_next;
    if (take && fire_list_i && on_q && fire_vpid_i[CW-1:0] == f_mine) f_owed <= 1'b1;
    if (put && vpid_q[CW-1:0] == f_mine) f_owed <= 1'b0;
    if (start || f_init || !on_q) f_owed <= 1'b0;
  end

  // How many contexts are in the ring; the one at hand is in flight in or out.
  logic [CW:0] f_listed;
  always_comb begin
    f_listed = '0;
    for (int c = 0; c < N; c = c + 1) if (f_contexts[6*c+5]) f_listed = f_listed + 1'b1;
  end
  wire f_held  = state_q == S_CONTEXT && vpid_q[CW-1:0] == f_mine;
  wire f_steady = on_q && (state_q == S_IDLE || state_q == S_ENTRY || state_q == S_CONTEXT);

  logic        f_rec, f_was_on;
  logic [63:0] f_rec_addr;
  logic [127:0] f_rec_data;
  logic        f_stopped;
  always_ff @(posedge clk_i) begin
    f_rec      <= !f_init && rec_valid_o && !rec_ready_i;
    f_rec_addr <= {52'd0, rec_addr_o[11:0]};
    f_rec_data <= rec_data_o;
    f_stopped  <= !f_init && stopped_o;
  end

  always_comb begin
    if (!f_init) begin
      if (on_q) assert (f_n_ring <= N && f_n_sent <= f_n_ring);
      if (f_rec) assert (rec_valid_o && rec_addr_o[11:0] == f_rec_addr[11:0] && rec_data_o == f_rec_data);
      if (f_stopped) assert (!rec_valid_o);
      if (rec_valid_o && on_q)
        assert (f_n_sent != f_n_ring && {rec_vector_q, rec_vpid_q} == f_ring[12*head_o[CW-1:0]+:12]);
      if (on_q && state_q == S_IDLE && f_owed) assert (f_contexts[6*f_mine+4+:2] == 2'b11);
      // why
      if (fetched_q || rec_valid_o) assert (!f_clears && !(fetched_q && rec_valid_o));
      if (fetched_q && on_q) assert (f_n_sent != f_n_ring && f_slot == f_ring[12*head_o[CW-1:0]+:12]);
      if (on_q) assert (!f_clears);
      if (!f_clears) assert (clear_q == '0);
      if (f_clears) assert (put_q == '0 && seen_q == '0 && head_o == '0);
      if (f_clears) for (int c = 0; c < N; c = c + 1) if (c < clear_q) assert (f_contexts[6*c+:6] == '0);
      if (f_steady) begin
        assert (f_listed == f_n_ring[CW:0]);
        for (int c = 0; c < N; c = c + 1) begin
          if (f_contexts[6*c+5]) begin
            assert ({28'd0, f_place[CW*c+:CW] - seen_q[CW-1:0]} < f_n_ring);
            assert (f_ring[12*f_place[CW*c+:CW]+:8] == c);
          end else assert (!f_contexts[6*c+4]);
        end
        // The oldest one is listed, there.
        if (f_n_ring != '0) assert (f_contexts[6*f_ring[12*seen_q[CW-1:0]+:CW]+5]
          && f_place[CW*f_ring[12*seen_q[CW-1:0]+:CW]+:CW] == seen_q[CW-1:0]);
      end
      if (state_q == S_ENTRY && on_q) assert (walk_q && f_n_sent != '0 && f_slot == f_ring[12*seen_q[CW-1:0]+:12]);
      if (state_q == S_CONTEXT && on_q) begin
        assert (f_context == f_contexts[6*vpid_q[CW-1:0]+:6] && vpid_q[7:CW] == '0);
        if (walk_q) assert (f_n_sent != '0 && vpid_q == f_ring[12*seen_q[CW-1:0]+:8]);
      end
      if (f_owed && !f_held) assert (f_contexts[6*f_mine+4] && f_contexts[6*f_mine+5]);
      if (f_owed && f_held && walk_q) assert (f_contexts[6*f_mine+4]);
    end
  end
