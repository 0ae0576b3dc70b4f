  // SPDX-License-Identifier: Apache-2.0
  // A packet leaves unchanged, as often as keep_i requires, and is accepted from the input with the last of these
  // times. Its routes are those of the cycle in which it is offered first, whatever the table contains later. The
  // output of the RAM is free: it is proved that beats are written and read at their numbers.
  logic [AW:0]                    f_in;       // beats of the packet taken from the input
  logic [AW-1:0]                  f_read;     // address of the last read
  logic [AW:0]                    f_length;   // beats of the packet, once its end was seen
  logic                           f_held, f_sop, f_eop;
  logic [ggas_pkg::NET_HDR_W-1:0] f_hdr, f_in_hdr;
  net_pkg::ways_t                f_ways;
  logic [DATA_W-1:0]              f_data;
  wire f_taken = in_valid_i && in_ready_o;
  always_ff @(posedge clk_i) begin
    f_held <= !f_init && in_valid_i && !in_ready_o;
    {f_sop, f_eop, f_data, f_in_hdr} <= {in_sop_i, in_eop_i, in_data_i, in_hdr_i};
    if (f_init || (f_taken && in_eop_i)) f_in <= '0;
    else if (f_taken) f_in <= f_in + 1'b1;
    if (repeats || repeat_q) f_read <= next;
    if (in_valid_i && in_sop_i && !f_held) {f_hdr, f_ways} <= {in_hdr_i, in_ways_i};
    if (repeats && !repeat_q) f_length <= {1'b0, at_q} + 1'b1;
  end
  // the unit: offers stand, a packet has 1 to BEATS beats
  always_comb begin
    if (f_held) assume (in_valid_i && {in_sop_i, in_eop_i, in_data_i} == {f_sop, f_eop, f_data});
    if (f_held && in_sop_i) assume (in_hdr_i == f_in_hdr);
    assume (in_sop_i == (f_in == '0));
    assume (f_in < BEATS);
    if (f_in == BEATS - 1) assume (in_eop_i);
  end
  always_comb begin
    if (!f_init) begin
      assert (inside_q == (f_held || f_in != '0));
      if (!repeat_q) assert (f_in == at_q);
      if (repeat_q) begin
        assert (f_held && in_eop_i);                              // the last beat waits at the input
        assert (f_length == last_q + 1 && f_in == last_q && at_q <= last_q);
        assert (out_eop_o == (at_q + 1'b1 == f_length));          // all beats, not only the last
        if (at_q != last_q) assert (f_read == at_q);              // what is shown was read there
      end
      if (write) assert (f_in == at_q && !in_eop_i);              // and written there
      if (inside_q) assert (hdr_q == f_hdr && ways_q == f_ways && out_ways_o == f_ways);
      if (f_held && in_sop_i) assert (f_hdr == f_in_hdr);
      if (out_valid_o && out_sop_o) assert (out_hdr_o == (repeat_q ? f_hdr : in_hdr_i));
      if (out_valid_o && out_eop_o) assert (in_valid_i && out_data_o == in_data_i);
      if (!repeat_q) assert (out_valid_o == in_valid_i && out_data_o == in_data_i && out_sop_o == in_sop_i);
      assert (out_sop_o == (at_q == '0));
      if (f_taken && in_eop_i) assert (ends && !keep_i);          // it is over with the last time
      if (ends && !keep_i) assert (f_taken && in_eop_i);
      assert (open_o == (inside_q && f_ways.copied));
    end
  end
