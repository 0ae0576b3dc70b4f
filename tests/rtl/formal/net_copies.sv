  // SPDX-License-Identifier: Apache-2.0
  // Each branch of a packet gets one copy, and the last copy is the one without keep_o.
  logic [WW:0]      f_given;   // branches that have their copy
  logic             f_open;    // a copy was made, and another one comes: the source offers the packet again
  net_pkg::ways_t  f_ways;
  wire  [WW:0]      f_all = {ways_i.member, ways_i.way};
  logic [WW:0]      f_now;     // the branch of this copy
  always_comb begin
    f_now = '0;
    if (way_o.here) f_now[WW] = 1'b1;
    else f_now[{way_o.link, way_o.lane}] = 1'b1;
  end
  always_ff @(posedge clk_i) begin
    f_ways <= ways_i;
    f_open <= !f_init && (ends_i ? keep_o : f_open);
    if (f_init || (ends_i && !keep_o)) f_given <= '0;
    else if (ends_i) f_given <= f_given | f_now;
  end
  always_comb begin
    if (f_open) assume (ways_i == f_ways);
    if (ways_i.copied) assume (f_all != '0);  // as net_groups answers
    if (!f_init) begin
      assert (copying_q == f_open);
      if (copying_q) assert (ways_i.copied && left_q == (f_all & ~f_given) && left_q != '0);
      else assert (f_given == '0);
      assert (!f_open || (f_given & ~f_all) == '0);
      if (!ways_i.copied) assert (way_o == ways_i.way && !keep_o);
      if (ways_i.copied) begin
        assert ((f_now & f_all) == f_now && (f_now & f_given) == '0);           // a branch that has none yet
        assert (keep_o == ((f_given | f_now) != f_all));                         // the last one ends it
        assert ({way_o.second, way_o.drop} == '0);
      end
    end
  end
