  // SPDX-License-Identifier: Apache-2.0
  // Any slot, from its allocation to its release: it is complete exactly when as many of its reads have ended as were
  // made, its status is that of the first that failed, and it is not allocated again before it is released.
  (* anyconst *) logic [SW-1:0] f_slot;
  logic       f_held, f_closed, f_started;
  logic [2:0] f_made, f_ends;
  logic [3:0] f_bad, f_status;

  wire f_take    = take_i && tail_o == f_slot;
  wire f_close   = close_i && close_q[SW-1:0] == f_slot;
  wire f_end     = end_i && end_slot_i == f_slot;
  wire f_start   = start_i && head_o == f_slot;
  wire f_release = release_i && oldest_q[SW-1:0] == f_slot;

  // The others: they take only what is free, close what was taken, and end what is under way.
  wire [SW:0] f_n_held = tail_q - oldest_q, f_n_closed = close_q - oldest_q, f_n_started = head_q - oldest_q;
  always_comb begin
    if (take_i) assume (room_o);
    if (close_i) assume (f_n_closed != f_n_held);
    if (start_i) assume (ready_o || almost_o);
    if (release_i) assume (f_n_started != '0);
    if (f_release) assume (f_ends == f_made && !f_end);  // its last row went after the last read's end
    if (f_end) assume (f_held && (f_closed ? f_ends < f_made : f_ends < 3'd6));
    if (f_close) assume (close_reads_i >= f_ends && (!f_end || close_reads_i > f_ends));
  end

  always_ff @(posedge clk_i) begin
    if (f_init) begin
      {f_held, f_closed, f_started} <= '0;
      {f_made, f_ends, f_bad, f_status} <= '0;
    end else begin
      if (f_release) {f_held, f_closed, f_started} <= '0;
      if (f_take) begin
        f_held <= 1'b1;
        f_ends <= '0;
        f_bad  <= '0;
      end
      if (f_close) begin
        f_closed <= 1'b1;
        f_made   <= close_reads_i;
        f_status <= close_status_i;
      end
      if (f_start) f_started <= 1'b1;
      if (f_end) begin
        f_ends <= f_ends + 3'd1;
        if (f_bad == '0) f_bad <= end_status_i;
      end
    end
  end

  logic f_moved;  // another slot was the head in the last cycle
  always_ff @(posedge clk_i) f_moved <= f_init || start_i;

  wire [SW:0] f_place = {1'b0, f_slot - oldest_q[SW-1:0]};  // in the ring, from the oldest on
  always_comb begin
    if (!f_init) begin
      assert (f_n_started <= f_n_closed && f_n_closed <= f_n_held && f_n_held <= SLOTS);
      assert (f_held == (f_place < f_n_held));
      assert (f_closed == (f_place < f_n_closed));
      assert (f_started == (f_place < f_n_started));
      if (f_take) assert (!f_held);                             // never two commands in a slot
      if (f_held) assert (fresh_q[f_slot] ? f_ends == '0 && f_bad == '0 : ended_q[f_slot] == {f_ends, f_bad});
      if (f_closed) assert (closed_q[f_slot][8:6] == f_made && closed_q[f_slot][3:0] == f_status && f_ends <= f_made);
      if (head_o == f_slot && f_closed && !f_started) begin
        if (!f_moved) assert (ready_o == (f_ends == f_made));
        if (!f_moved) assert (status_o == (f_bad != '0 ? f_bad : f_status));
        if (almost_o) assert (f_ends + 3'd1 == f_made && f_bad == '0 && f_status == '0);
      end
      if (f_moved) assert (!ready_o && !almost_o);
      if (f_start) assert (f_closed && !f_started);
    end
  end
