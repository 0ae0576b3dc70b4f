// SPDX-License-Identifier: Apache-2.0
// Connection of the RMA to the host: writes and reads of its units take turns, whole packets each; completions find
// their unit by tag.
`default_nettype none

module rma_host #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // writes: 0 answers, 1 status blocks, 2 target, 3 atomics, 4 messages, 5 notifications, 6 translation
    input  wire logic [6:0]          unit_wr_valid_i,
    output      logic [6:0]          unit_wr_ready_o,
    input  wire logic [6:0]          unit_wr_sop_i,
    input  wire logic [6:0]          unit_wr_eop_i,
    input  wire logic [7*ggas_pkg::TLP_HDR_W-1:0] unit_wr_hdr_i,
    input  wire logic [7*DATA_W-1:0] unit_wr_data_i,
    // reads and their completions: 0 puts, 1 gets, 2 target, 3 atomics, 4 translation, 5 work queues
    input  wire logic [5:0]          unit_rd_valid_i,
    output      logic [5:0]          unit_rd_ready_o,
    input  wire logic [6*ggas_pkg::TLP_HDR_W-1:0] unit_rd_hdr_i,
    output      logic [5:0]          unit_cpl_valid_o,  // at most one at a time
    input  wire logic [5:0]          unit_cpl_ready_i,

    // the host
    output      ggas_pkg::tlp_beat_t wr_o,
    input  wire logic                wr_ready_i,
    output      logic [DATA_W-1:0]   wr_data_o,
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire logic                cpl_valid_i,
    output      logic                cpl_ready_o,
    input  wire logic                cpl_eop_i,
    input  wire logic [9:3]          cpl_tag_i,
    output      logic                stray_o            // a completion for no one has ended
);
  localparam int unsigned HW = ggas_pkg::TLP_HDR_W, DW = DATA_W;

  // ---------------------------------------------------------------- writes
  // Units for local contexts take turns, units for packets of others take turns, and then both with the shared ones.
  logic [1:0]      half_wr_valid, half_wr_ready, half_wr_sop, half_wr_eop;
  logic [2*HW-1:0] half_wr_hdr;
  logic [2*DW-1:0] half_wr_data;
  // verilator lint_off UNUSEDSIGNAL
  ggas_pkg::tlp_hdr_t wr_hdr, rd_hdr;
  // verilator lint_on UNUSEDSIGNAL
  stream_mux #(.N(2), .HDR_W(HW), .DATA_W(DW)) i_issue_wr (
      .clk_i, .rst_ni, .in_valid_i(unit_wr_valid_i[1:0]), .in_ready_o(unit_wr_ready_o[1:0]),
      .in_sop_i(unit_wr_sop_i[1:0]), .in_eop_i(unit_wr_eop_i[1:0]), .in_hdr_i(unit_wr_hdr_i[0+:2*HW]),
      .in_data_i(unit_wr_data_i[0+:2*DW]), .out_valid_o(half_wr_valid[0]), .out_ready_i(half_wr_ready[0]),
      .out_sop_o(half_wr_sop[0]), .out_eop_o(half_wr_eop[0]), .out_hdr_o(half_wr_hdr[0+:HW]),
      .out_data_o(half_wr_data[0+:DW])
  );
  stream_mux #(.N(3), .HDR_W(HW), .DATA_W(DW)) i_serve_wr (
      .clk_i, .rst_ni, .in_valid_i(unit_wr_valid_i[4:2]), .in_ready_o(unit_wr_ready_o[4:2]),
      .in_sop_i(unit_wr_sop_i[4:2]), .in_eop_i(unit_wr_eop_i[4:2]), .in_hdr_i(unit_wr_hdr_i[2*HW+:3*HW]),
      .in_data_i(unit_wr_data_i[2*DW+:3*DW]), .out_valid_o(half_wr_valid[1]), .out_ready_i(half_wr_ready[1]),
      .out_sop_o(half_wr_sop[1]), .out_eop_o(half_wr_eop[1]), .out_hdr_o(half_wr_hdr[HW+:HW]),
      .out_data_o(half_wr_data[DW+:DW])
  );
  stream_mux #(.N(4), .HDR_W(HW), .DATA_W(DW)) i_wr (
      .clk_i, .rst_ni, .in_valid_i({unit_wr_valid_i[6:5], half_wr_valid}),
      .in_ready_o({unit_wr_ready_o[6:5], half_wr_ready}), .in_sop_i({unit_wr_sop_i[6:5], half_wr_sop}),
      .in_eop_i({unit_wr_eop_i[6:5], half_wr_eop}), .in_hdr_i({unit_wr_hdr_i[5*HW+:2*HW], half_wr_hdr}),
      .in_data_i({unit_wr_data_i[5*DW+:2*DW], half_wr_data}), .out_valid_o(wr_o.valid), .out_ready_i(wr_ready_i),
      .out_sop_o(wr_o.sop), .out_eop_o(wr_o.eop), .out_hdr_o(wr_hdr), .out_data_o(wr_data_o)
  );

  // ---------------------------------------------------------------- reads, likewise
  logic [1:0]      half_rd_valid, half_rd_ready;
  logic [2*HW-1:0] half_rd_hdr;
  logic [2:0]      unused_sop, unused_eop, unused_data;
  stream_mux #(.N(2), .HDR_W(HW), .DATA_W(1)) i_issue_rd (
      .clk_i, .rst_ni, .in_valid_i({unit_rd_valid_i[5], unit_rd_valid_i[0]}),
      .in_ready_o({unit_rd_ready_o[5], unit_rd_ready_o[0]}), .in_sop_i('1), .in_eop_i('1),
      .in_hdr_i({unit_rd_hdr_i[5*HW+:HW], unit_rd_hdr_i[0+:HW]}), .in_data_i('0), .out_valid_o(half_rd_valid[0]),
      .out_ready_i(half_rd_ready[0]), .out_sop_o(unused_sop[0]), .out_eop_o(unused_eop[0]),
      .out_hdr_o(half_rd_hdr[0+:HW]), .out_data_o(unused_data[0])
  );
  stream_mux #(.N(3), .HDR_W(HW), .DATA_W(1)) i_serve_rd (
      .clk_i, .rst_ni, .in_valid_i(unit_rd_valid_i[3:1]), .in_ready_o(unit_rd_ready_o[3:1]), .in_sop_i('1),
      .in_eop_i('1), .in_hdr_i(unit_rd_hdr_i[HW+:3*HW]), .in_data_i('0), .out_valid_o(half_rd_valid[1]),
      .out_ready_i(half_rd_ready[1]), .out_sop_o(unused_sop[1]), .out_eop_o(unused_eop[1]),
      .out_hdr_o(half_rd_hdr[HW+:HW]), .out_data_o(unused_data[1])
  );
  stream_mux #(.N(3), .HDR_W(HW), .DATA_W(1)) i_rd (
      .clk_i, .rst_ni, .in_valid_i({unit_rd_valid_i[4], half_rd_valid}),
      .in_ready_o({unit_rd_ready_o[4], half_rd_ready}), .in_sop_i('1), .in_eop_i('1),
      .in_hdr_i({unit_rd_hdr_i[4*HW+:HW], half_rd_hdr}), .in_data_i('0), .out_valid_o(rd_valid_o),
      .out_ready_i(rd_ready_i), .out_sop_o(unused_sop[2]), .out_eop_o(unused_eop[2]), .out_hdr_o(rd_hdr),
      .out_data_o(unused_data[2])
  );

  // All that their headers may differ in.
  always_comb begin
    wr_o.hdr          = '0;
    wr_o.hdr.kind     = ggas_pkg::TLP_MWR;
    wr_o.hdr.bar      = 3'd7;
    wr_o.hdr.addr     = wr_hdr.addr;
    wr_o.hdr.len_dw   = wr_hdr.len_dw;
    wr_o.hdr.first_be = wr_hdr.first_be;
    wr_o.hdr.last_be  = wr_hdr.last_be;
    rd_hdr_o          = '0;
    rd_hdr_o.kind     = ggas_pkg::TLP_MRD;
    rd_hdr_o.bar      = 3'd7;
    rd_hdr_o.addr     = rd_hdr.addr;
    rd_hdr_o.len_dw   = rd_hdr.len_dw;
    rd_hdr_o.first_be = rd_hdr.first_be;
    rd_hdr_o.last_be  = rd_hdr.last_be;
    rd_hdr_o.tag      = rd_hdr.tag;
  end

  // ---------------------------------------------------------------- completions; 6: no one
  localparam logic [5:0] BUILT = {ggas_pkg::QUEUES, 1'b1, ggas_pkg::ATOMICS, 1'b1, ggas_pkg::GETS, 1'b1};
  logic [6:0] to;
  always_comb begin
    to = '0;
    if (cpl_tag_i[9:8] != 2'd0) begin
      if (DATA_W == 64) to[6] = 1'b1;
      else to[{2'd0, cpl_tag_i[7]}] = 1'b1;
    end else if (cpl_tag_i[7:5] == 3'b100) to[0] = 1'b1;
    else if (cpl_tag_i[7:5] == 3'b101) to[1] = 1'b1;
    else if (cpl_tag_i[7:3] == 5'b11000) to[3] = 1'b1;
    else if (cpl_tag_i[7:3] == 5'b11001) to[2] = 1'b1;
    else if (cpl_tag_i[7:3] == 5'b11010) to[4] = 1'b1;
    else if (cpl_tag_i[7:4] == 4'b1110) to[5] = 1'b1;
    else to[6] = 1'b1;
    if ((to & {1'b1, BUILT}) == '0) to = 7'b1000000;
  end
  assign unit_cpl_valid_o = cpl_valid_i ? to[5:0] : '0;
  assign cpl_ready_o      = (to & {1'b1, unit_cpl_ready_i}) != '0;
  assign stray_o          = cpl_valid_i && to[6] && cpl_eop_i;
endmodule

`default_nettype wire
