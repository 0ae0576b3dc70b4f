  // SPDX-License-Identifier: Apache-2.0
  // Any context: a packet is accepted only with the owner's domain and in the present epoch of that owner, from the
  // cycle of the change on.
  (* anyconst *) logic [7:0] f_vpid;
  logic [4:0] f_epoch;
  wire        f_change = ep_valid_i && ep_vpid_i == f_vpid;
  wire [4:0]  f_carried = f_epoch + starts;  // by packets of the owner that was looked up
  always_comb if (f_change) assume (ep_epoch_i != f_epoch);

  // The bit next to it, by its own proof.
  logic f_changed;
  always_ff @(posedge clk_i) f_changed <= !f_init && (f_changed || f_change);
  always_comb if (!f_init && vpid_i == f_vpid) assume (changed == f_changed);

  always_ff @(posedge clk_i) f_epoch <= f_init ? 5'd0 : f_change ? ep_epoch_i : f_epoch;

  always_comb begin
    if (!f_init) begin
      if (known_o && vpid_i == f_vpid) assert (epoch_i == f_carried && pd_i == pd_o && !f_change);
      assert ((f_changed ? epoch_q[f_vpid] : 5'd0) == f_epoch);  // why
    end
  end
