  // SPDX-License-Identifier: Apache-2.0
  // Any bit: a lookup reports whether it was marked and not cleared since, for any number of parts used for the first
  // time.
  (* anyconst *) logic [AW-1:0] f_key;
  wire [PW-1:0] f_part = f_key[AW-1:IW];
  logic f_marked;            // marked and not forgotten
  logic f_looked, f_before;  // it was looked up last; marked then
  logic f_held;              // a mark that was not made must go on

  // What the unit around it promises.
  always_comb begin
    if (f_held) assume (mark_i);
    if (re_i) assume (!mark_i && !forget_i);
    if (forget_i) assume (set_o && !mark_i);
  end

  // The RAMs, by their own proofs.
  logic f_word, f_read, f_known, f_still;
  always_comb begin
    if (f_looked) assume (raw == f_read);
    if (key_q[AW-1:IW] == f_part) assume (known == f_known);
    if (f_held) assume (known == f_still);
    if (key_i[AW-1:IW] == f_part) assume (known_next == f_known);
  end

  wire f_here = key_q == f_key;
  always_ff @(posedge clk_i) begin
    f_held  <= !f_init && mark_i && !marked_o;
    f_still <= known || last;
    if ((mark_i || forget_i) && at == f_key) f_word <= marked_o;
    if (f_here && marked_o) f_marked <= 1'b1;
    if (f_here && forget_i) f_marked <= 1'b0;
    if (last && key_q[AW-1:IW] == f_part) f_known <= 1'b1;
    if (re_i) begin
      f_looked <= key_i == f_key;
      f_before <= f_marked;
      f_read   <= f_word;
    end
    if (f_init) {f_looked, f_marked, f_known} <= '0;
  end

  always_comb begin
    if (!f_init) begin
      if (f_looked) assert (set_o == f_before);
      // why
      if (f_looked) assert (f_here && (f_before ? then_q && f_read : !then_q || !f_read));
      if (f_known) assert (f_word == f_marked);
      else assert (!f_marked);
      if (walk_q != '0) assert (f_held && !known);
      if (walk_q > f_key[IW-1:0] && key_q[AW-1:IW] == f_part) assert (!f_word);
      if (then_q && key_q[AW-1:IW] == f_part) assert (known);
    end
  end
