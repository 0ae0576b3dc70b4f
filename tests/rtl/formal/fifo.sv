  // SPDX-License-Identifier: Apache-2.0
  // Any entry, followed from its writing to its reading.
  (* anyconst *) logic [PTR_W:0] f_at;
  logic [WIDTH-1:0] f_written;
  always_ff @(posedge clk_i) if (wr_valid_i && wr_ready_o && wr_q == f_at) f_written <= wr_data_i;

  wire [PTR_W:0] f_place = f_at - rd_q;  // entries in front of it, if it is inside
  wire           f_inside = f_place < count_o;

  always_comb begin
    if (!f_init) begin
      assert (count_o <= DEPTH);
      assert (wr_ready_o == (count_o != DEPTH));
      assert (rd_valid_o == (count_o != 0));
      if (f_inside) assert (g_luts.mem_q[f_at[PTR_W-1:0]] == f_written);
      if (rd_valid_o && rd_q == f_at) assert (rd_data_o == f_written);  // out in the order of in, unchanged
    end
  end
