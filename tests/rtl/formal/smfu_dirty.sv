  // SPDX-License-Identifier: Apache-2.0
  // Any node: listed once, by the cycle after its first store since a round began, and until the end of its round.
  (* anyconst *) ggas_pkg::node_t f_node;
  (* anyconst *) logic [AW-1:0]   f_other;  // any entry
  logic          f_sent, f_sent_now;        // a store since the round began was checked; one is to be
  logic          f_begun;                   // it was listed when the round began
  logic [AW-1:0] f_at, f_begun_at;          // where

  // What smfu_quiet and smfu_egress promise.
  always_comb begin
    if (sent_i) assume (room_o);
    if (start_i) assume (first_q == end_q);
    if (drop_i) assume (!start_i);
  end

  // The RAM, by its own proof; what it reads of a word that is being written is anything.
  logic          f_looked;
  logic [AW-1:0] f_word, f_read;
  always_comb if (f_looked) assume (at == f_read);

  always_ff @(posedge clk_i) begin
    if (sent_i) begin
      f_looked <= sent_node_i == f_node && !(push && node_q == f_node);
      f_read   <= f_word;
    end
    if (push && node_q == f_node) f_word <= tail_q[AW-1:0];
    f_sent_now <= sent_i && sent_node_i == f_node;
    if (f_sent_now) f_sent <= 1'b1;
    if (push && node_q == f_node) f_at <= tail_q[AW-1:0];
    if (drop_i) f_begun <= 1'b0;
    if (start_i) begin
      f_sent     <= 1'b0;
      f_begun    <= f_sent || f_sent_now;
      f_begun_at <= push && node_q == f_node ? tail_q[AW-1:0] : f_at;
    end
    if (f_init) {f_sent, f_sent_now, f_begun, f_looked} <= '0;
  end

  wire [AW-1:0] f_place = f_at - end_q[AW-1:0];
  wire [AW-1:0] f_begun_place = f_begun_at - first_q[AW-1:0];
  wire [AW-1:0] f_other_place = f_other - end_q[AW-1:0];
  wire [AW-1:0] f_word_place = f_word - end_q[AW-1:0];
  wire [AW:0]   f_round = end_q - first_q;
  wire [AW:0]   f_used  = tail_q - first_q;
  always_comb begin
    if (!f_init) begin
      if (f_sent) assert (list_q[f_at] == f_node && {1'b0, f_place} < listed && f_word == f_at);
      if (f_begun) assert (list_q[f_begun_at] == f_node && {1'b0, f_begun_place} < f_round);
      // once
      if ({1'b0, f_other_place} < listed && list_q[f_other] == f_node) assert (f_sent && f_other == f_at);
      // why
      assert (f_used <= ENTRIES[AW:0] && !(check_q && f_used[AW]) && f_round <= f_used);
      assert (f_sent_now == (check_q && node_q == f_node));
      if (same_q && check_q && node_q == f_node) assert (f_sent);
      if (check_q && node_q == f_node && !same_q) assert (f_looked ? f_read == f_word : listed == '0);
      if (!f_sent) assert ({1'b0, f_word_place} >= listed || list_q[f_word] != f_node);
    end
  end
