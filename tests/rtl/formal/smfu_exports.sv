  // SPDX-License-Identifier: Apache-2.0
  // Any export: a store or load is checked against the values that software wrote last, from the cycle after the write
  // on. An export that is changed in use is marked, and a requested one is available soon.
  (* anyconst *) logic [5:0]   f_no;
  (* anyconst *) logic [15:0]  f_domain;
  (* anyconst *) logic [63:12] f_page;

  // What software wrote.
  logic         s_valid;
  logic [17:0]  s_access;  // write, read, domain
  logic [63:12] s_base, s_size;
  wire          f_write = ext_req_i && ext_write_i && ext_addr_i[10:5] == f_no;
  wire [1:0]    f_word  = ext_addr_i[4:3];
  wire          f_touch = f_write && (f_word < 2'd2 || (f_word == 2'd2 && ext_wstrb_i[0]));
  always_ff @(posedge clk_i) begin
    if (f_write && f_word == 2'd0) begin
      if (ext_wstrb_i[0]) s_base[31:12] <= ext_wdata_i[31:12];
      if (ext_wstrb_i[4]) s_base[63:32] <= ext_wdata_i[63:32];
    end
    if (f_write && f_word == 2'd1) begin
      if (ext_wstrb_i[0]) s_size[31:12] <= ext_wdata_i[31:12];
      if (ext_wstrb_i[4]) s_size[63:32] <= ext_wdata_i[63:32];
    end
    if (f_write && f_word == 2'd2 && ext_wstrb_i[0]) s_access <= {ext_wdata_i[18:17], ext_wdata_i[15:0]};
    if (f_touch) s_valid <= f_word == 2'd2 && ext_wdata_i[16];
    if (f_init) {s_valid, s_access, s_base, s_size} <= '0;
  end

  // The RAMs, by their own proof: a word that is not written as it is read.
  logic [63:12] w_base, w_size;
  logic [17:0]  w_access;
  logic         f_read;  // the export stands at their outputs
  logic [63:12] r_base, r_size;
  logic [17:0]  r_access;
  wire          f_here = index == f_no;
  always_ff @(posedge clk_i) begin
    if (f_here && (base_low || fresh)) w_base[31:12] <= base_low ? ext_wdata_i[31:12] : '0;
    if (f_here && (base_high || fresh)) w_base[63:32] <= base_high ? ext_wdata_i[63:32] : '0;
    if (f_here && (size_low || fresh)) w_size[31:12] <= size_low ? ext_wdata_i[31:12] : '0;
    if (f_here && (size_high || fresh)) w_size[63:32] <= size_high ? ext_wdata_i[63:32] : '0;
    if (f_here && (give || fresh)) w_access <= give ? {ext_wdata_i[18:17], ext_wdata_i[15:0]} : '0;
    if (read) begin
      f_read <= read_index == f_no && !write;
      {r_base, r_size, r_access} <= {w_base, w_size, w_access};
    end
    if (f_init) f_read <= 1'b0;
  end
  always_comb if (f_read) assume ({base_raw, size_raw, access_raw} == {r_base, r_size, r_access});

  logic       f_changed, f_asked;  // the export was changed in use; its STATE is read
  logic [2:0] f_wait;              // cycles that stores wait for it, without an access to the registers
  wire        f_waits = ask_i[0] && ask_export_i[7:0] == {2'd0, f_no} && !known_o[0];
  always_ff @(posedge clk_i) begin
    f_changed <= !f_init && f_touch && s_valid;
    f_asked   <= !f_init && ext_req_i && !ext_write_i && ext_addr_i[10:5] == f_no && f_word == 2'd3;
    f_wait    <= f_init || !f_waits || ext_req_i ? 3'd0 : f_wait + 1'b1;
  end

  wire [W-1:0] f_stores = line_q[0+:W];
  wire [W-1:0] f_loads  = line_q[W+:W];
  wire f_store_line = line_known_q[0] && line_no_q[5:0] == f_no;
  wire f_load_line  = line_known_q[1] && line_no_q[11:6] == f_no;
  wire f_mine = !fetch_for_q && line_no_q[5:0] == f_no;
  wire f_store_ok = known_o[0] && store_export_o.valid && store_export_o.right
                    && store_export_o.domain == f_domain && f_page < store_export_o.size;
  wire f_load_ok  = known_o[1] && load_export_o.valid && load_export_o.right
                    && load_export_o.domain == f_domain && f_page < load_export_o.size;
  always_comb begin
    if (!f_init) begin
      if (f_store_ok && ask_export_i[7:0] == {2'd0, f_no})
        assert (s_valid && s_access == {1'b1, s_access[16], f_domain} && f_page < s_size
                && store_export_o.base == s_base);
      if (f_load_ok && ask_export_i[15:8] == {2'd0, f_no})
        assert (s_valid && s_access == {s_access[17], 1'b1, f_domain} && f_page < s_size
                && load_export_o.base == s_base);
      if (f_store_ok) assert (ask_export_i[7:6] == 2'd0);
      if (f_load_ok) assert (ask_export_i[15:14] == 2'd0);
      // what is allowed is not refused
      if (known_o[0] && ask_export_i[7:0] == {2'd0, f_no} && s_valid && s_access == {1'b1, s_access[16], f_domain}
          && f_page < s_size) assert (f_store_ok);
      if (f_changed) assert (mark_o);
      if (f_asked) assert (ext_rdata_o[0] == (!s_valid && drained_i));
      assert (!f_waits || f_wait < 3'd3);
      // why
      assert (valid_q[f_no] == s_valid);
      if (known_q[f_no]) assert ({w_base, w_size, w_access} == {s_base, s_size, s_access});
      else assert (!s_valid && {s_base, s_size, s_access} == '0);
      if (f_store_line) assert (f_stores[W-1] == s_valid
                                && (!s_valid || f_stores[W-2:0] == {s_access[17], s_access[15:0], s_base, s_size}));
      if (f_load_line) assert (f_loads[W-1] == s_valid
                               && (!s_valid || f_loads[W-2:0] == {s_access[16:0], s_base, s_size}));
      if (f_waits && f_wait == 3'd1) assert (!fetch_q || f_mine);
      if (f_waits && f_wait == 3'd2) assert (fetch_q && f_mine);
      if (fetch_q && line_no_q[6*fetch_for_q+:6] == f_no) assert (f_read);
      if (fetch_q && f_read) assert ({r_base, r_size, r_access} == {w_base, w_size, w_access});
      if (fetch_q) assert (!line_known_q[fetch_for_q]);
    end
  end
