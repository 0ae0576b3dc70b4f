  // SPDX-License-Identifier: Apache-2.0
  // Any context: written data belong to the present epoch, if the requester ends an epoch only when no write of it is
  // pending.
  (* anyconst *) logic [7:0] f_vpid;
  logic [4:0] f_epoch;
  logic       f_writes;  // in the last cycle
  wire        f_change = ep_valid_i && ep_vpid_i == f_vpid;
  wire [4:0]  f_now    = f_change ? ep_epoch_i : f_epoch;

  // The requester.
  always_comb begin
    assume (look_vpid_i == f_vpid);
    if (f_change) assume (!f_writes && ep_epoch_i != f_epoch);
  end
  // The lookup, by its own proof; the context is not started again meanwhile (STATE.stopped comes first).
  always_comb if (known && head.svpid == f_vpid) assume (head.epoch[7:3] == f_epoch && !f_change);
  // A header stands until it is taken.
  logic               f_stands;
  ggas_pkg::rma_hdr_t f_head;
  always_comb if (f_stands) assume (head_valid && head == f_head);
  // Translation answers once, and only what was asked.
  always_comb if (tr_rsp_i.valid) assume (asked && !unused_kept);

  always_ff @(posedge clk_i) begin
    f_epoch  <= f_init ? 5'd0 : f_now;
    f_writes <= !f_init && look_writes_o;
    f_stands <= !f_init && head_valid && !head_take;
    f_head   <= head;
  end

  wire f_here    = head_valid && head.svpid == f_vpid;
  wire f_written = x_state_q == X_WRITE && x_hdr_q.svpid == f_vpid;
  always_comb begin
    if (!f_init) begin
      if (wr_o.valid && x_hdr_q.svpid == f_vpid) assert (x_hdr_q.epoch[7:3] == f_now);
      if (f_here && tr_o.valid) assert (head.epoch[7:3] == f_now);  // nor is translation asked for anything else
      // why
      if (f_written) assert (x_hdr_q.epoch[7:3] == f_now && f_writes);
      if (asked) assert (f_stands && wants);
      if (asked && f_here) assert (head.epoch[7:3] == f_now && f_writes);
      if (unused_kept) assert (asked);
    end
  end
