  // SPDX-License-Identifier: Apache-2.0
  // Credits of virtual channel F_VC, with a receiver that frees its buffer at any time and reports it in CTRL flits
  // that may be late, lost or repeated. link_pair shows that credits of other sessions do not arrive here. With several
  // links packets wait in a queue in front of this unit. A packet was put there only while there was room for it.
  localparam logic [2:0] f_vc = `F_VC;
  (* anyseq *) logic [CW-1:0] f_frees;
  logic [CW-1:0] f_freed, f_sent;
  wire  [CW-1:0] f_cost = 13'd1 + ((tx_hdr_i[f_vc*224+29+:11] + 12'd1) >> 1);  // header, and 2 DWs a flit of 64 bits
  wire  [CW-1:0] f_held  = f_sent - f_freed;   // units in its buffer or on the way
  wire  [CW-1:0] f_known = sent_q[f_vc] - freed_q[f_vc];
  wire  [CW-1:0] f_stale = f_freed - credit_i;
  (* anyseq *) logic f_lets;
  logic [2:0] f_wait;
  wire  [CW-1:0] f_due = {5'd0, f_wait} + {f_wait, 5'd0};  // at most, MOST each
  wire  f_in = QUEUED && f_lets && room_q[f_vc] && f_wait != '1;
  always_ff @(posedge clk_i) f_wait <= f_init ? '0 : f_wait + f_in - (QUEUED && first && grant[f_vc]);
  logic f_room;  // in the cycle before
  always_ff @(posedge clk_i) f_room <= !f_init && room_i;
  always_ff @(posedge clk_i) f_freed <= (f_init || clear_i) ? '0 : f_freed + f_frees;
  always_ff @(posedge clk_i) f_sent <= (f_init || clear_i) ? '0 : f_sent + (first && grant[f_vc] ? f_cost : '0);
  always_comb begin
    assume (f_frees <= f_held);
    if (credit_valid_i && credit_vc_i == f_vc) assume (f_stale < 13'd4096);
    if (clear_i) assume (!up_i && f_wait == '0 && !f_in);
    if (QUEUED) assume (tx_pending_i[3*f_vc+:3] == f_wait + f_in && (!want[f_vc] || f_wait != '0));
    if (rp_valid_i) assume (!f_room);  // proof link_replay
    if (first) assume (hdr_new.len_dw <= ggas_pkg::MTU_DW);  // what the units promise
  end

  // what the arbiter gives (proof arbiter_rr)
  wire [NC-1:0] f_asks = pay & {NC{may_begin}};
  always_comb assume ((grant & ~f_asks) == '0 && (grant & (grant - 1'b1)) == '0 && (grant != '0) == (f_asks != '0));

  always_comb begin
    if (!f_init) begin
      assert (f_sent == sent_q[f_vc]);
      assert (f_known <= VC_DEPTH);
      if (!QUEUED) assert (f_wait == '0);
      assert (f_known + f_due <= VC_DEPTH);
      if (room_q[f_vc]) assert (f_known + f_due + MOST <= VC_DEPTH);
      assert (f_freed - freed_q[f_vc] <= f_known);
      assert (f_held <= VC_DEPTH);  // the receiver's buffer cannot overflow
      if (first && grant[f_vc]) assert (f_held + f_cost <= VC_DEPTH);
      if (first) assert (up_i && f_room);
      assert (idle_q == (state_q == S_IDLE));
      if (may_q) assert (f_room && slot);
      // what is sent is marked with this session
      if (first) assert (opening[3:0] == session_i);
      // one source for each flit
      assert (ctrl_flit + rp_flit + new_flit <= 1);
    end
  end
