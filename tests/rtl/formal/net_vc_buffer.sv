  // SPDX-License-Identifier: Apache-2.0
  // A sender that keeps to its credits never overruns the buffer, and gets back what it paid.
  logic [PTR_W+1:0] f_units;  // paid and not given back
  wire  [PTR_W:0]   f_flits = dspec_q - dwr_q;          // payload of the packet that arrives
  wire  [PTR_W:0]   f_stored = dwr_q - drd_q;           // payload of whole packets, still in the RAM
  wire  [PTR_W:0]   f_written = dspec_q - drd_q;
  wire  [PTR_W:0]   f_queued = hwr_q - hrd_q;
  wire  [PTR_W:0]   f_headers = (hwr_q - hrd_q) + hvalid_q;
  logic [PTR_W:0]   f_beat;                             // beats of the packet on offer that were taken
  wire  [PTR_W:0]   f_payload = f_stored + dvalid_q + f_beat;
  logic             f_open;                             // a packet arrives
  logic             f_headed;                           // its header was written, no other since
  wire  [PTR_W:0]   f_beats_in = dnext - dwr_q + wr_valid_i;
  wire  [PTR_W+1:0] f_cost = f_beats_in + 1'b1;         // units of the packet if it ends now
  always_ff @(posedge clk_i) begin
    f_open   <= !f_init && (begin_i || f_open) && !commit_i;
    f_headed <= !f_init && (head_i || (f_headed && !commit_i));
    if (f_init) f_units <= '0;
    else f_units <= f_units + (commit_i ? f_cost : '0) - (freed_o ? freed_units_o : '0);
    if (f_init) f_beat <= '0;
    else if (take) f_beat <= eop_o ? '0 : f_beat + 1'b1;
  end
  // with REPEAT all beats of a packet stay until it goes, and count at the edge after that
  wire  [PTR_W:0] f_late = !REPEAT ? '0 : f_beat + (freed_o ? freed_units_o - 1'b1 : '0);
  logic f_repeated;
  always_ff @(posedge clk_i) f_repeated <= !f_init && REPEAT && take && eop_o && keep_i;
  // the sender
  always_comb begin
    assume (!(commit_i || wr_valid_i) || f_open || begin_i);
    assume (!commit_i || f_headed);
    if (wr_valid_i || commit_i) assume (f_units + f_cost <= DEPTH);
    if (head_i) assume (f_units + (commit_i ? f_cost : '0) + 1 <= DEPTH);
  end
  // what the RAMs give (proof ram_1r1w): lengths that add up to the payload, and the bits that were written with them
  logic       f_hold;  // no header was read at the last edge: its output stands
  logic [6:0] f_beats;
  always_ff @(posedge clk_i) begin
    f_hold  <= !f_init && !hread;
    f_beats <= beats;
  end
  always_comb begin
    if (f_hold) assume (beats == f_beats);
    if (hvalid_q) assume (none == (beats == '0));
    if (hvalid_q && dvalid_q && !none) assume (last == (f_beat + 1'b1 == beats));
    if (hvalid_q) assume (beats <= f_payload);
    if (hvalid_q && f_headers == 1) assume (beats == f_payload);
    if (!hvalid_q) assume (f_headers != '0 || f_payload == '0);
  end
  always_comb begin
    if (!f_init) begin
      assert (f_units == f_headers + f_payload + (freed_o ? freed_units_o : '0));
      assert (f_units <= DEPTH);
      assert (!over_o || !commit_i);
      assert (!dover_q && !(f_headed && hover_q));
      assert (!(wr_valid_i && dfull));
      // a register that says full may not know of a read at the last edge: what was read is on offer
      if (dfull_q) assert (f_written + dvalid_q + f_late >= DEPTH);
      if (dheld_q) assert (f_stored + dvalid_q + f_late >= DEPTH);
      if (hfull_q) assert (f_headers >= DEPTH);
      if (hlast_q) assert (f_headers >= DEPTH - 1);
      assert (f_flits <= DEPTH && f_stored <= DEPTH && dfill <= DEPTH && hfill <= DEPTH);
      assert (f_queued <= DEPTH && f_written <= DEPTH);
      if (f_open) assert (f_units + f_flits <= DEPTH || f_flits == '0);
      if (f_beat != '0) assert (hvalid_q && f_beat < beats);
      assert (begun_q == (f_beat != '0));
      if (freed_o) assert (freed_units_o <= f_units);
      assert (drd_q == first_q + f_beat + dvalid_q);  // the output shows beat number f_beat
      if (f_repeated) assert (valid_o && sop_o);         // a packet that stays comes again at once
      if (f_repeated) assert (!freed_o);
    end
  end
