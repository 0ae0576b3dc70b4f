  // SPDX-License-Identifier: Apache-2.0
  // The users' side of the bargain: a beat is taken only from the one granted; with HOLD an offer is not withdrawn.
  logic [N-1:0] f_req;
  logic         f_held;
  always_ff @(posedge clk_i) begin
    f_req  <= req_i & ~(take_i && eop_i ? grant_o : '0);
    f_held <= HOLD && !f_init && !clear_i;
  end
  always_comb begin
    assume (!take_i || grant_o != '0);
    if (f_held) assume ((f_req & ~req_i) == '0);
    assume (!clear_i);
  end

  // With HOLD what stands on the output does not change before it is taken.
  logic [N-1:0] f_offer;
  always_ff @(posedge clk_i) f_offer <= (f_init || take_i) ? '0 : grant_o;

  // Any requester, and the packets of others that ended while it asked.
  (* anyconst *) logic [N-1:0] f_who;
  logic [7:0] f_passed;
  always_comb assume (f_who != '0 && (f_who & (f_who - 1'b1)) == '0);
  wire f_asks = (req_i & f_who) != '0;
  always_ff @(posedge clk_i) begin
    if (f_init || !f_asks || (take_i && eop_i && grant_o == f_who)) f_passed <= '0;
    else if (take_i && eop_i) f_passed <= f_passed + 1'b1;
  end

  // How many of the others may still end before it: those between the last owner and it, and one that holds the lock.
  logic [7:0] f_distance;  // from the last owner to it, 1 ... N
  always_comb begin
    f_distance = '0;
    for (int i = 0; i < N; i = i + 1)
      for (int j = 0; j < N; j = j + 1)
        if (owner_q[i] && f_who[j]) f_distance = (j > i) ? j - i : j + N - i;
  end
  wire [7:0] f_before = !locked_o ? f_distance - 1'b1 : owner_q == f_who ? '0 : f_distance;

  always_comb begin
    if (!f_init) begin
      assert (owner_q != '0 && (owner_q & (owner_q - 1'b1)) == '0);
      assert ((grant_o & (grant_o - 1'b1)) == '0);
      assert ((grant_o & ~req_i) == '0);
      assert (locked_o || req_i == '0 || grant_o != '0);
      if (locked_o) assert ((grant_o & ~owner_q) == '0);  // a packet is not interrupted
      if (HOLD && f_offer != '0) assert (grant_o == f_offer);
      assert (f_passed + f_before < N);
      assert (f_passed < N);  // no one waits for more than one packet of each other
    end
  end
