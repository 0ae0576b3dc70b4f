  // SPDX-License-Identifier: Apache-2.0
  // Any tag: it is handed out only while no one has it, and given up at most once a use.
  (* anyconst *) logic [TW-1:0] f_tag;
  logic f_open, f_rests;  // in use; given up and waiting for late completions

  // the read engine: it closes and sends only what is open, and not the tag it takes
  always_comb begin
    if (take_i) assume (free_o);
    if (close_i) assume (open_q[close_tag_i]);
    if (offer_i) assume (open_q[offer_tag_i]);
    if (sent_i) assume (offer_i);
    if (close_i && offer_i) assume (close_tag_i != offer_tag_i);  // it looked before
    if (close_i) assume (hold_i || close_tag_i != at_q);  // a tag in use is not checked
  end

  wire f_take   = take_i && free_tag_o == f_tag;
  wire f_close  = close_i && close_tag_i == f_tag;
  wire f_expire = expire_o && walk_tag_o == f_tag;
  wire f_forget = forget && walk_tag_o == f_tag;
  always_ff @(posedge clk_i) begin
    f_open  <= !f_init && (f_take || (f_open && !f_close && !f_forget));
    f_rests <= !f_init && !f_take && ((f_rests && !f_close && !f_forget) || f_expire);
  end

  always_comb begin
    if (!f_init) begin
      assert (f_open == open_q[f_tag]);
      assert (f_rests == rests_q[f_tag]);
      assert (!(f_rests && !f_open));
      if (f_take) assert (!f_open);                 // never two reads with one tag
      if (f_expire) assert (f_open && !f_rests);    // a read is given up once
      if (f_forget) assert (f_open && f_rests);
      if (free_q) assert (!open_q[next_q]);
      assert (hot_q == (free_q ? 1 << next_q : 0));  // why
      assert (!(expire_o && forget));
    end
  end
