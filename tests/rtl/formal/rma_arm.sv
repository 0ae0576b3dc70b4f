  // SPDX-License-Identifier: Apache-2.0
  // Any ring of any context: it fires exactly if an arm's number is below the count, or if the count passes an armed
  // number. So no reader waits while there are records that it has not seen, for any order of events.
  (* anyconst *) logic [7:0] f_vpid;
  (* anyconst *) logic       f_ring;
  logic        f_started;           // the context was started
  logic [31:0] f_count, f_seen;     // records of this start; what the reader that waits has seen
  logic        f_waits;
  logic        f_offered;           // a context fires, not taken yet
  logic        f_late;              // the item in progress came before the context was started again

  // The RAMs, by their own proof.
  logic             f_used;         // the row was written since the start
  logic [CFG_W-1:0] f_cfg, f_cfg_read;
  logic [ROW_W-1:0] f_row, f_row_read;
  wire f_mine  = act_q && vpid_q == f_vpid;
  wire f_write = context_i.we && context_i.word == 3'd0 && context_i.vpid == f_vpid;
  wire f_start = f_write && context_i.data[0];
  always_comb begin
    if (f_mine) begin
      assume ({vector, list, on} == f_cfg_read);
      assume ({row_armed, row_counts} == f_row_read);
    end
    if (take && vpid == f_vpid) assume (used == f_used);
    // rma_page, rma_notify, velo_mailbox: only what was started writes and arms; contexts exist.
    if (take && vpid == f_vpid) assume (f_started);
    if (context_i.we) assume (ggas_pkg::is_context(context_i.vpid));
  end

  wire f_item = f_mine && ring_q == f_ring && !f_late;
  always_ff @(posedge clk_i) begin
    if (f_write) f_cfg <= {context_i.data[7:4], context_i.data[13], context_i.data[0] && context_i.data[3]};
    if (f_mine && done) f_row <= {now_armed, now_counts};
    if (take) {f_cfg_read, f_row_read} <= {f_cfg, f_row};
    f_offered <= !f_init && f_mine && fire_valid_o && !fire_ready_i;
    f_started <= !f_init && (f_started || f_start);
    f_late    <= !f_init && f_start || (f_late && !take);
    f_used    <= !f_init && !f_start && (f_used || (f_mine && uses));
    if (f_item && done) begin
      f_waits <= is_arm_q && on && count_q == f_count;
      f_seen  <= count_q;
      if (!is_arm_q) f_count <= count_q;
    end
    if (f_start) {f_count, f_waits} <= '0;
    if (f_init) {f_count, f_waits} <= '0;
  end

  always_comb begin
    if (!f_init) begin
      if (f_waits) assert (f_count == f_seen);
      if (f_offered) assert (fire_valid_o);
      if (f_item && on) assert (fire_valid_o == (is_arm_q ? f_count != count_q : f_waits));
      if (f_item && !on) assert (!fire_valid_o);
      if (fire_valid_o && f_mine) assert (fire_vpid_o == f_vpid && {fire_vector_o, fire_list_o} == f_cfg_read[5:1]);
      if (act_q) assert (arm_ready_o == 1'b0 && rec_ready_o == 2'b00);
      // why
      if (f_used) begin
        assert (f_row[32*f_ring+:32] == f_count);
        assert (f_row[64+f_ring] == f_waits);
      end else if (f_started) assert (f_count == '0 && !f_waits);
      if (f_mine && !f_late) assert (f_row_read == f_row && used_q == f_used && !stale_q && f_started);
      if (f_mine && f_late) assert (stale_q && !f_used);
    end
  end
