  // SPDX-License-Identifier: Apache-2.0
  // * Each request of a client is answered once. The answer is OK after its record was written, and after a second
  //   record if records were lost before. With any other answer no record is written.
  // * Records go to a ring that exists, has the right domain and has room, one after the other.
  // * The reader is informed of each record.
  logic [2:0]  f_open;                    // clients that wait for an answer
  logic [1:0]  f_records;                 // written for the request in progress
  logic        f_good, f_full, f_hold;    // as the ring was found
  logic [31:0] f_count, f_lost;
  logic        f_take, f_looked;
  wire  [2:0]  f_took  = nt_ready_o & nt_valid_i;
  wire         f_end   = wr_o.valid && wr_ready_i && wr_o.eop;
  wire  [31:0] f_place = f_count + {30'd0, f_records};
  wire         f_second = !wr_o.sop;

  logic [4:0]  f_log;
  logic [51:0] f_base;
  logic [31:0] f_lost_then, f_count_then;
  logic [15:0] f_pd;
  always_comb begin
    // A client has one request at a time. The ring's answer stands until the next look (rma_ring); the arbiter grants
    // one.
    assume ((nt_valid_i & f_open & ~nt_rsp_valid_o) == '0);
    assume ((grant & (grant - 1'b1)) == '0 && (grant & ~nt_valid_i) == '0 && (nt_valid_i == '0) == (grant == '0));
    if (!f_take) assume (log == f_log && base == f_base && lost == f_lost_then);
    if (!f_take) assume (count == f_count_then && ring_pd == f_pd);
    if (exists) assume (log >= 5'd4 && log <= 5'd16);
    if (room2) assume (room);
  end

  logic        f_wr, f_informs;
  logic [127:0] f_hdr;
  logic [DATA_W-1:0] f_data;
  logic        f_sop;
  logic [39:0] f_reported;
  always_ff @(posedge clk_i) begin
    f_open <= (f_open & ~nt_rsp_valid_o) | f_took;
    f_take <= take;
    {f_log, f_base, f_lost_then, f_count_then, f_pd} <= {log, base, lost, count, ring_pd};
    f_looked <= (f_looked || look) && !take;
    if (take) f_records <= '0;
    else if (f_end) f_records <= f_records + 2'd1;
    if (look) begin
      f_good  <= exists && (!check_q || ring_pd == pd_q);
      f_full  <= lost == '0 ? !room : !room2;
      f_hold  <= backpressure && !drop_q;
      f_count <= count;
      f_lost  <= lost;
    end
    f_wr   <= wr_o.valid && !wr_ready_i;
    {f_sop, f_hdr, f_data} <= {wr_o.sop, {64'd0, wr_o.hdr.addr}, wr_data_o};
    f_informs <= written_valid_o && !written_ready_i;
    f_reported <= {written_vpid_o, written_count_o};
    if (f_init) {f_open, f_take, f_looked, f_records, f_wr, f_informs} <= '0;
  end

  always_comb begin
    if (!f_init) begin
      assert ((f_took & (f_took - 1'b1)) == '0);
      assert ((nt_rsp_valid_o & ~f_open) == '0);
      if (nt_rsp_valid_o != '0) begin
        assert (nt_rsp_status_o == (!f_good ? ggas_pkg::ST_DISABLED : !f_full ? ggas_pkg::ST_OK
          : f_hold ? ggas_pkg::ST_FULL
          : ggas_pkg::ST_LOST));
        assert (f_records == (!f_good || f_full ? 2'd0 : f_lost != '0 ? 2'd2 : 2'd1));
      end
      if (wr_o.valid) begin
        assert (f_good && !f_full);
        assert (wr_o.hdr.addr == {base, 12'd0} + ({32'd0, f_place & ~(32'hffffffff << log)} << 4));
        if (f_second) assert (wr_data_o[63] == !f_place[log]);
        if (!f_second && f_lost != '0 && f_records == '0) assert (wr_data_o == {32'd0, f_lost});
        if (!f_second && (f_lost == '0 || f_records != '0)) assert (wr_data_o == w0_q);
        assert (f_records < (f_lost != '0 ? 2'd2 : 2'd1));
        if (look_vpid_i == vpid_q) assert (look_busy_o);
      end
      if (write) assert (next == count + (some_lost_q ? 32'd2 : 32'd1));
      if (f_wr) assert (wr_o.valid && wr_o.sop == f_sop && wr_o.hdr.addr == f_hdr[63:0] && wr_data_o == f_data);
      if (f_informs) assert (written_valid_o && {written_vpid_o, written_count_o} == f_reported);
      if (f_informs && written_vpid_o == look_vpid_i) assert (look_busy_o);
      if (nt_rsp_valid_o != '0 && nt_rsp_status_o == ggas_pkg::ST_OK && written_valid_o)
        assert (written_count_o == f_place);
      // why
      if (state_q == S_LOOK && !asked_q) assert (some_lost_q == (lost != '0) && !f_take);
      if (state_q == S_LOOK && !asked_q) assert (carried_q == count[31:1] + 1'b1);
      if (state_q == S_LOOK && !asked_q) assert (owned_q == (!check_q || ring_pd == pd_q));
      if (state_q != S_IDLE && !asked_q) assert ({base_q, log_q} == {base, log});
      assert (f_open == ((state_q == S_IDLE ? 3'd0 : client_q) | nt_rsp_valid_o));
      if (state_q != S_IDLE) assert (nt_rsp_valid_o == '0 || f_take);
      if (state_q == S_LOOK) assert (f_records == '0 && wr_o.sop && !f_looked);
      if (state_q == S_IDLE) assert (wr_o.sop);
      if (wr_o.valid) assert (f_looked && !f_take && count_q == f_place
        && (state_q == S_LOST) == (f_lost != '0 && f_records == '0));
      if (wr_o.valid) assert (nt_rsp_status_o == ggas_pkg::ST_OK);
      if (wr_o.valid) assert (log >= 5'd4 && log <= 5'd16 && lost_q == f_lost && !written_valid_o);
      if (state_q != S_IDLE) assert (client_q != '0 && (client_q & (client_q - 1'b1)) == '0);
    end
  end
