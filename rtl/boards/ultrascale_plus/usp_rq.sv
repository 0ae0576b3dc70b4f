// SPDX-License-Identifier: Apache-2.0
// Requests of the NIC (`tx_req`) for the hard block (RQ). Writes go straight on. Reads wait in a queue of their own
// until the host has a credit and the block a tag, so they never block the interface that writes share.
`default_nettype none

module usp_rq #(
    /// Bits of a beat: 256 or 512.
    parameter int unsigned DATA_W = 256,
    /// Bits of tuser: 62 at 256 bit, 137 at 512 bit.
    localparam int unsigned USER_W = DATA_W == 512 ? 137 : 62
) (
    input  wire logic                 clk_i,
    input  wire logic                 rst_ni,

    /// tx_req of the NIC.
    input  wire ggas_pkg::tlp_beat_t req_i,
    output      logic                 req_ready_o,
    input  wire logic [DATA_W-1:0]    req_data_i,
    /// Reads may come; four more have room after it falls.
    output      logic                 np_ok_o,

    /// A read leaves in this cycle if there is room for its tag.
    output      logic                 tag_valid_o,
    input  wire logic                 tag_ready_i,
    output      logic [9:0]           tag_o,

    /// Order of completions after writes: see usp_cc.
    output      logic [4:0]           writes_open_o,
    output      logic [4:0]           writes_ahead_o,

    /// s_axis_rq_*, DWORD aligned, straddling off.
    output      logic                 rq_tvalid_o,
    input  wire logic                 rq_tready_i,
    output      logic                 rq_tlast_o,
    output      logic [DATA_W/32-1:0] rq_tkeep_o,
    output      logic [USER_W-1:0]    rq_tuser_o,
    output      logic [DATA_W-1:0]    rq_tdata_o,
    /// pcie_rq_seq_num0 and 1, and their valid bits: the request with this number cannot be passed by completions.
    input  wire logic [11:0]          rq_seq_num_i,
    input  wire logic [1:0]           rq_seq_num_vld_i,
    /// pcie_rq_tag_av, pcie_tfc_nph_av: free tags and credits for reads; 15 or more read as 15.
    input  wire logic [3:0]           rq_tag_av_i,
    input  wire logic [3:0]           tfc_nph_av_i
);
  localparam int unsigned DPB = DATA_W / 32;
  localparam int unsigned READ_W = 62 + 11 + 8 + 10 + 16 + 3;

  // ---- reads
  wire is_read = req_i.sop && req_i.hdr.kind == ggas_pkg::TLP_MRD;
  logic              np_room, np_valid, np_ready;
  logic [READ_W-1:0] np;
  logic [3:0]        np_count;
  fifo #(.WIDTH(READ_W), .DEPTH(8)) i_reads (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(req_i.valid && is_read), .wr_ready_o(np_room),
      .wr_data_i({req_i.hdr.addr[63:2], req_i.hdr.len_dw, req_i.hdr.last_be, req_i.hdr.first_be, req_i.hdr.tag,
                  req_i.hdr.requester, req_i.hdr.attr}),
      .rd_valid_o(np_valid), .rd_ready_i(np_ready), .rd_data_o(np), .count_o(np_count)
  );
  assign np_ok_o = np_count < 4'd4;

  // The block's counts are some cycles old: reads that left meanwhile are not in them.
  logic [7:0] recent_q;
  logic [3:0] recent;
  always_comb begin
    recent = '0;
    for (int unsigned i = 0; i < 8; i = i + 1) recent = recent + {3'd0, recent_q[i]};
  end
  wire np_go = np_valid && tag_ready_i && rq_tag_av_i > recent && tfc_nph_av_i > recent;
  assign tag_o = np[28:19];

  // ---- turns: a read after each write at most
  logic inside_q, read_last_q, take_read, wr_valid, wr_ready, wr_room;
  logic valid, ready, sop;
  assign wr_valid    = req_i.valid && !is_read && (wr_room || !req_i.sop);
  assign take_read   = !inside_q && np_go && (!read_last_q || !wr_valid);
  assign wr_ready    = ready && !take_read && (wr_room || !req_i.sop);
  assign np_ready    = ready && take_read;
  assign req_ready_o = is_read ? np_room : wr_ready;
  assign tag_valid_o = np_ready;
  assign valid       = take_read || wr_valid;
  assign sop         = take_read || req_i.sop;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q    <= 1'b0;
      read_last_q <= 1'b0;
      recent_q    <= '0;
    end else begin
      recent_q <= {recent_q[6:0], np_ready};
      if (valid && ready) begin
        inside_q    <= !take_read && !req_i.eop;
        read_last_q <= take_read;
      end
    end
  end

  // ---- numbers of writes: those of reads have bit 5 set and do not count
  logic [4:0] taken_q, ahead_q, ahead;
  wire        taken = wr_valid && wr_ready && req_i.sop;
  wire  [4:0] next  = taken_q + 5'd1;
  assign wr_room = next != ahead_q;  // never 32 on their way
  assign ahead   = rq_seq_num_vld_i[1] && !rq_seq_num_i[11] ? rq_seq_num_i[10:6] :
                   rq_seq_num_vld_i[0] && !rq_seq_num_i[5]  ? rq_seq_num_i[4:0]  : ahead_q;
  assign writes_ahead_o = ahead - ahead_q;
  assign writes_open_o  = taken_q + {4'd0, taken} - ahead_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      taken_q <= '0;
      ahead_q <= '0;
    end else begin
      if (taken) taken_q <= next;
      ahead_q <= ahead;
    end
  end

  // ---- descriptor; the block puts its own tag and bus number in
  wire         has_data = !take_read && req_i.hdr.kind == ggas_pkg::TLP_MWR;
  wire [10:0]  length   = take_read ? np[47:37] : req_i.hdr.len_dw;
  wire [127:0] desc = {
      1'b0, take_read ? np[2:0] : req_i.hdr.attr, 3'd0, 1'b0, 16'd0, 8'd0,
      take_read ? np[18:3] : req_i.hdr.requester, !take_read && req_i.hdr.poisoned, 3'b000, !take_read, length,
      take_read ? np[109:48] : req_i.hdr.addr[63:2], 2'b00
  };
  wire [13:0] side = take_read ? {1'b1, 5'd0, np[36:29]} : {1'b0, next, req_i.hdr.last_be, req_i.hdr.first_be};

  logic              pack_valid, pack_ready, pack_sop, pack_last;
  logic [DPB-1:0]    pack_keep;
  logic [DATA_W-1:0] pack_data;
  logic [13:0]       pack_side;
  tlp_pack #(.DATA_W(DATA_W), .DESC(4), .SIDE_W(14)) i_pack (
      .clk_i, .rst_ni, .in_valid_i(valid), .in_ready_o(ready), .in_sop_i(sop), .in_eop_i(take_read || req_i.eop),
      .in_data_i(req_data_i), .in_payload_i(has_data ? length : 11'd0), .in_desc_i(desc), .in_side_i(side),
      .out_valid_o(pack_valid), .out_ready_i(pack_ready), .out_sop_o(pack_sop), .out_last_o(pack_last),
      .out_keep_o(pack_keep), .out_data_o(pack_data), .out_side_o(pack_side)
  );

  logic        out_sop;
  logic [13:0] out_side;
  skid #(.WIDTH(16 + DPB + DATA_W)) i_skid (
      .clk_i, .rst_ni, .in_valid_i(pack_valid), .in_ready_o(pack_ready),
      .in_data_i({pack_sop, pack_side, pack_last, pack_keep, pack_data}), .out_valid_o(rq_tvalid_o),
      .out_ready_i(rq_tready_i), .out_data_o({out_sop, out_side, rq_tlast_o, rq_tkeep_o, rq_tdata_o})
  );

  // ---- tuser
  wire [3:0] first_be = out_sop ? out_side[3:0] : 4'd0;
  wire [3:0] last_be  = out_sop ? out_side[7:4] : 4'd0;
  wire [5:0] seq_num  = out_side[13:8];
  if (DATA_W == 512) begin : g_user
    logic [3:0] end_at;
    last_dw #(.N(DPB)) i_end (.keep_i(rq_tkeep_o), .at_o(end_at));
    assign rq_tuser_o = {64'd0, 6'd0, seq_num, 16'd0, 2'd0, 4'd0, 2'd0, 1'b0, 4'd0, end_at, 1'b0, rq_tlast_o, 4'd0,
                         1'b0, out_sop, 4'd0, 4'd0, last_be, 4'd0, first_be};
  end else begin : g_user
    assign rq_tuser_o = {seq_num[5:4], 32'd0, seq_num[3:0], 8'd0, 1'b0, 2'd0, 1'b0, 1'b0, 3'd0, last_be, first_be};
  end

  wire unused = &{1'b0, req_i.hdr};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) assert (writes_ahead_o <= taken_q - ahead_q) else $error("usp_rq: a number of no write");
  end
`endif
endmodule

`default_nettype wire
