  // SPDX-License-Identifier: Apache-2.0
  // Any word: a read returns what was written last, before the edge of the read, but if it is written at that edge.
  (* anyconst *) logic [$clog2(DEPTH)-1:0] f_at;
  logic [WIDTH-1:0] f_word, f_seen;
  logic             f_read, f_known;
  always_ff @(posedge clk_i) begin
    if (we_i && waddr_i == f_at) f_word <= wdata_i;
    f_known <= !f_init && (f_known || (we_i && waddr_i == f_at));
    if (re_i) begin
      f_read <= !f_init && f_known && raddr_i == f_at && (OLD || !(we_i && waddr_i == f_at));
      f_seen <= f_word;
    end
    if (f_init) f_read <= 1'b0;
  end
  always_comb begin
    if (!f_init) begin
      if (f_known) assert (mem_q[f_at] == f_word);
      if (f_read) assert (rdata_o == f_seen);
    end
  end
