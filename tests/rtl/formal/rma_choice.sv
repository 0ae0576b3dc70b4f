  // SPDX-License-Identifier: Apache-2.0
  // One step begins at a time, for a waiting input or output, and never for a context whose step began in the cycle
  // before. Inputs wait for at most one output step, and an output for at most seven steps.
  (* anyconst *) logic [1:0] f_kind;  // any kind of what goes out
  logic [3:0] f_passed;               // steps that began while it waited
  logic [1:0] f_rounds;               // of them outwards
  wire  [1:0] f_turns = f_kind - owner_q - 2'd1;  // kinds that have their turn before it
  logic       f_late;                 // what comes in has seen a step outwards
  wire        f_start = pick_o != '0;
  wire        f_out   = pick_o[7:3] != '0;
  wire [3:0]  f_outs  = {pick_o[7] || pick_o[6], pick_o[5:3]};
  wire        f_in_ready = noted_i || (room_i && (done_i || (answer_i && !done_soon_i)));

  always_ff @(posedge clk_i) begin
    if (!out[f_kind] || (f_start && f_outs[f_kind])) {f_passed, f_rounds} <= '0;
    else if (f_start) begin
      f_passed <= f_passed + 4'd1;
      f_rounds <= f_rounds + {1'b0, f_out};
    end
    if (!f_in_ready || (f_start && !f_out)) f_late <= 1'b0;
    else if (f_start) f_late <= 1'b1;
    if (f_init) {f_passed, f_rounds, f_late} <= '0;
  end

  always_comb begin
    if (!f_init) begin
      assert ((pick_o & (pick_o - 1'b1)) == '0);
      if (f_start) assert (open_i && pick_o == turn_o);
      if (f_start && last_valid_i) assert (vpid_o != last_vpid_i);
      if (f_start && !pick_o[rma_requester_pkg::K_NOTED]) assert (room_i);
      if (pick_o[rma_requester_pkg::K_NOTED]) assert (noted_i && vpid_o == noted_vpid_i);
      if (pick_o[rma_requester_pkg::K_DONE]) assert (done_i && !noted_i && vpid_o == done_vpid_i);
      if (pick_o[rma_requester_pkg::K_ANSWER]) assert (answer_i && !done_i && !done_soon_i && vpid_o == answer_vpid_i);
      if (pick_o[rma_requester_pkg::K_DESC]) assert (desc_i && !keep_i && vpid_o == desc_vpid_i);
      if (f_outs[1]) assert (exp_i && vpid_o == exp_vpid_i);
      if (f_outs[2]) assert (put_i && vpid_o == put_vpid_i);
      if (f_outs[3]) assert (scan_i && vpid_o == scan_vpid_i && pick_o[7] == full_i);
      if (f_late && f_in_ready && f_start) assert (!f_out);
      assert (f_passed <= 4'd7);
      // why
      if (f_late) assert (!in_last_q);
      assert ({1'b0, f_turns} + {1'b0, f_rounds} <= 3'd3);
      assert (f_passed <= {1'b0, f_rounds, 1'b0} + {3'd0, in_last_q});
    end
  end
