  // SPDX-License-Identifier: Apache-2.0
  // Each sequence number is taken once and in turn, whatever the wire delivers.
  logic [7:0] f_expected;
  logic       f_accepted, f_cleared, f_nak;
  logic [11:0] f_taken;  // packets, modulo
  always_ff @(posedge clk_i) begin
    f_expected <= expected_q;
    f_accepted <= !f_init && accept_o;
    f_cleared  <= f_init || clear_i;
    f_nak      <= !f_init && !clear_i && (nak_o || (f_nak && !accept_o));
    f_taken    <= (f_init || clear_i) ? '0 : f_taken + accept_o;
  end
  // the packet that was checked in the cycle before
  logic [7:0] f_seq;
  logic       f_checked, f_ours;
  always_ff @(posedge clk_i) begin
    f_seq    <= hdr_q.seq;
    f_checked <= !f_init && check;
    f_ours   <= hdr_q.session == session_i;
  end
  always_comb begin
    if (!f_init) begin
      assert (expected_q == f_taken[7:0]);
      if (accept_o) assert (f_seq == expected_q && f_checked);
      if (accept_o || repeat_o || verdict.gap) assert (f_checked && f_ours);  // no other session counts
      assert (!(accept_o && repeat_o));
      assert (!(ended_q && (framing_q == F_OPEN || f_checked)));    // the result counts before the next is found
      assert ((commit & (commit - 1'b1)) == '0);                   // into one channel at most
      assert (accept_o == (commit != '0 || ev_bad_o));             // and if into none, it is reported
      if (ev_bad_o) assert (commit == '0);
      if (f_nak && !accept_o) assert (!nak_o);                     // one nak until something arrives in sequence
      assert (f_nak == naked_q || (naked_q && !f_nak) || f_cleared);
      if (f_nak) assert (naked_q);
    end
  end
