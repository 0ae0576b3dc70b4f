  // SPDX-License-Identifier: Apache-2.0
  // Any context: a step sees the state that was written last, also if it was written in the cycle of its read or in the
  // one after it, and zero before the first.
  (* anyconst *) logic [7:0] f_vpid;
  logic                      f_born;
  logic [STATE_W-1:0]        f_word, f_read, f_state;
  logic                      f_junk;     // the word was written as it was read
  wire                       f_write = we_i && we_vpid_i == f_vpid;
  wire                       f_mine  = vpid_q == f_vpid;
  always_comb begin
    assume (f_vpid[7:CW] == '0 && vpid_i[7:CW] == '0 && we_vpid_i[7:CW] == '0);
    // The RAMs, by their own proofs.
    if (f_mine && !f_junk) assume (rdata == f_read);
    if (f_mine) assume (born == f_born);
  end
  always_ff @(posedge clk_i) begin
    if (f_write) f_word <= state_i;
    f_read <= f_word;
    f_junk <= f_write && !f_init;
    if (f_write) {f_born, f_state} <= {1'b1, state_i};
    if (f_init) {f_born, f_state} <= '0;
  end
  always_comb begin
    if (!f_init && f_mine) begin
      assert (state_o == (f_write ? state_i : f_state));
      assert (fresh_o == f_write);
    end
    if (!f_init) begin
      // why
      if (f_born) assert (f_word == f_state);
      else assert (f_state == '0);
      if (f_junk) assert (f_born && last_we_q && last_vpid_q == f_vpid);
      if (f_born && !f_junk) assert (f_read == f_word);
      if (f_born && last_we_q && last_vpid_q == f_vpid) assert (last_q == f_state);
      if (last_we_q && last_vpid_q == f_vpid) assert (f_junk);
    end
  end
