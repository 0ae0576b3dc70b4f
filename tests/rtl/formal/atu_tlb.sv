  // SPDX-License-Identifier: Apache-2.0
  // Any key and any translation: a lookup of the key finds this translation only if it was filled in for the key and
  // has not been dropped since: neither by its key, nor by its range, nor with all.
  (* anyconst *) logic [35:0]        f_key;
  (* anyconst *) logic [ENTRY_W-1:0] f_entry;
  logic f_live;                                      // filled in, not dropped since
  wire [SB-1:0] f_set  = mix(f_key[SB-1:0], f_key[35:34]);
  wire          f_here = set_q == f_set;
  wire          f_mine = f_here && tag_q == f_key[35:SB];  // the key that was looked up

  // What the pipeline promises (atu.sv).
  logic f_filled;                                    // in the cycle before
  always_comb begin
    assume (!((drop_i || drop_range_i || clear_i) && fill_i));
    if (!re_q) assume (!drop_i && !drop_range_i && !fill_i);
    if (f_filled) assume (!drop_i && !drop_range_i);  // a drop sees what was filled in before it
  end

  // The RAMs, by their own proof: the word that stood there, and nothing certain if it was written at the same edge.
  logic [TAG_W+ENTRY_W-1:0] f_word [WAYS], f_read [WAYS];
  logic [WAYS-1:0]          f_junk;
  for (genvar w = 0; w < WAYS; w = w + 1) begin : f_way
    wire f_write = fill_i && place[w] && f_here;
    always_ff @(posedge clk_i) begin
      if (f_write) f_word[w] <= {tag_q, entry_i};
      if (re_i) begin
        f_read[w] <= f_word[w];
        f_junk[w] <= f_write;
      end
    end
    always_comb begin
      if (f_here && !f_junk[w]) assume (word[w] == f_read[w]);
      if (!f_init) begin
        // why
        if (valid_q[w][f_set] && f_word[w] == {f_key[35:SB], f_entry}) assert (f_live);
        if (re_q && f_here && valid[w] && !(filled_q[w] && filled_set_q == set_q))
          assert (!f_junk[w] && f_read[w] == f_word[w]);
        if (f_filled) assert (f_junk[w] == (f_set == filled_set_q && filled_q[w]) || !re_q);
        if (!f_filled) assert (!filled_q[w]);
        if (hits_o[w] && f_mine && entries_o[w*ENTRY_W+:ENTRY_W] == f_entry) assert (f_live);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    f_filled <= fill_i;
    if (fill_i && f_mine && entry_i == f_entry) f_live <= 1'b1;
    if (drop_i && f_mine) f_live <= 1'b0;
    if (drop_range_i && f_here && f_key >= low_i && f_key <= high_i) f_live <= 1'b0;
    if (clear_i) f_live <= 1'b0;
    if (f_init) {f_live, f_filled} <= '0;
  end

  always_comb begin
    if (!f_init && hits_o != '0) assert (re_q);
  end
