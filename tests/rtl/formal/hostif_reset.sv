  // SPDX-License-Identifier: Apache-2.0
  // The units never see a part of a TLP, and nothing during their reset; the host never waits for a NIC in reset. A
  // reset lasts at least 128 cycles, and until the reads from before it have ended or 64 ms have passed. Requests 0,
  // completions 1.
  wire [1:0] f_out   = {cpl_valid_o, req_valid_o};
  wire [1:0] f_taken = {cpl_ready_o, req_ready_o};
  wire [1:0] f_in    = {cpl_ready_i, req_ready_i};
  logic [1:0] f_begun, f_passed;     // a TLP of the host has begun; and went to the units so far
  logic [7:0] f_low;                 // cycles that the units have been in reset
  logic       f_was_low, f_idle;
  logic [9:0] f_reads;               // on their way
  logic [27:0] f_waited, f_limit;    // ticks since the reset was asked for; at most
  logic [1:0] f_state;
  logic       f_reset;
  wire        f_cpl  = cpl_valid_i && cpl_ready_o && cpl_sop_i;
  wire [13:0] f_brings = {1'b0, cpl_hdr_i.len_dw, 2'b00};
  wire        f_last = f_cpl && f_reads != '0 && !(cpl_hdr_i.kind == ggas_pkg::TLP_CPLD
    && cpl_hdr_i.status == ggas_pkg::CPL_SC
    && {1'b0, cpl_hdr_i.byte_count} + {12'd0, cpl_hdr_i.lower_addr[1:0]} > f_brings);

  always_comb begin
    for (int i = 0; i < 2; i = i + 1) if (valid[i]) assume (sop[i] == !f_begun[i]);
    if (f_reads == '1) assume (!read_i);  // tags allow fewer
    if (f_cpl) assume (cpl_hdr_i.len_dw != '0);
    if (dropping) assume (!read_i);
  end

  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 2; i = i + 1) begin
      if (valid[i] && f_taken[i]) f_begun[i] <= !eop[i];
      if (f_out[i] && f_in[i]) f_passed[i] <= !eop[i];
      if (dropping) f_passed[i] <= 1'b0;
    end
    f_was_low <= !rst_no;
    f_low     <= rst_no ? '0 : f_low[7] ? f_low : f_low + 8'd1;
    f_reads   <= f_reads + {9'd0, read_i} - {9'd0, f_last};
    if (state_q == S_DONE) f_reads <= '0;
    if (state_q == S_RUN) begin
      f_waited <= '0;
      f_limit  <= clock_khz_i[31:4];
    end else if (tick_i && f_waited != f_limit) f_waited <= f_waited + 28'd1;
    f_idle  <= !busy_o && !tick_i && valid == '0 && !read_i;
    f_state <= state_q;
    f_reset <= reset_q;
    if (f_init) begin
      {f_begun, f_passed, f_low, f_reads, f_waited, f_limit} <= '0;
      {f_was_low, f_idle} <= '0;
    end
  end

  always_comb begin
    if (!f_init) begin
      for (int i = 0; i < 2; i = i + 1) begin
        if (f_out[i]) assert (rst_no && (sop[i] || f_passed[i]));
        if (f_out[i] && sop[i]) assert (!f_passed[i]);
        if (state_q == S_RESET || state_q == S_DONE) assert (f_taken[i] && !f_out[i]);
        if (f_out[i]) assert (valid[i]);
        if (valid[i] && state_q == S_RUN && !f_out[i]) assert (f_taken[i]);        // dropped, not held
        if (f_out[i]) assert (f_taken[i] == f_in[i]);
        // why
        assert (inside_q[i] == f_begun[i]);
        if (f_begun[i] && !dropping) assert (f_passed[i] == !rest_q[i]);
        if (f_passed[i]) assert (f_begun[i]);
        if (rest_q[i]) assert (inside_q[i]);
      end
      if (rst_no && f_was_low) assert (f_low[7]);
      if (closing_o) assert (rst_no);
      if (flr_done_o && f_state == S_RESET) assert (f_reads == '0 || f_waited == f_limit);
      if (f_idle) assert (state_q == f_state && reset_q == f_reset);    // its clock may stop
      // why
      if (state_q == S_RESET) assert (f_low[7] || f_low + 8'd1 >= {1'b0, hold_q});
      if (state_q == S_RESET && hold_q != '0) assert (reset_q);
      if (state_q == S_DONE) assert (f_low >= 8'd127);
      if (state_q == S_DONE) assert (reset_q);
      assert (f_was_low ? f_low != '0 : f_low == '0);
      if (state_q != S_RUN) assert (ticks_q == f_limit - f_waited && f_waited <= f_limit);
      if (state_q != S_DONE) assert (reads_q == f_reads);
    end
  end
