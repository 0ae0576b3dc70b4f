// SPDX-License-Identifier: Apache-2.0
// Completions of the NIC (`tx_cpl`) for the hard block (CC). The block lets a completion pass an earlier write on RQ,
// so each waits here until the writes that the NIC issued before it are beyond that point.
`default_nettype none

module usp_cc #(
    /// Bits of a beat: 256 or 512.
    parameter int unsigned DATA_W = 256,
    /// Bits of tuser: 33 at 256 bit, 81 at 512 bit.
    localparam int unsigned USER_W = DATA_W == 512 ? 81 : 33
) (
    input  wire logic                 clk_i,
    input  wire logic                 rst_ni,

    /// tx_cpl of the NIC.
    input  wire ggas_pkg::tlp_beat_t cpl_i,
    output      logic                 cpl_ready_o,
    input  wire logic [DATA_W-1:0]    cpl_data_i,

    /// The number of writes that RQ has accepted, including this cycle, and that a completion may still pass; and the
    /// number of these that it cannot pass from the next cycle on.
    input  wire logic [4:0]           writes_open_i,
    input  wire logic [4:0]           writes_ahead_i,

    /// s_axis_cc_*, DWORD aligned, straddling off.
    output      logic                 cc_tvalid_o,
    input  wire logic                 cc_tready_i,
    output      logic                 cc_tlast_o,
    output      logic [DATA_W/32-1:0] cc_tkeep_o,
    output      logic [USER_W-1:0]    cc_tuser_o,
    output      logic [DATA_W-1:0]    cc_tdata_o
);
  localparam int unsigned DPB = DATA_W / 32;

  // ---- order: the number of writes is noted when the completion is first offered, so later ones do not hold it up
  logic       noted_q, inside_q;
  logic [4:0] wait_q;                                             // so many writes must still get ahead
  wire        may_go   = inside_q || (noted_q ? wait_q : writes_open_i) == '0;
  wire        in_valid = cpl_i.valid && may_go;
  logic       in_ready;
  assign cpl_ready_o = in_ready && may_go;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      noted_q  <= 1'b0;
      inside_q <= 1'b0;
    end else begin
      noted_q <= cpl_i.valid && cpl_i.sop && !cpl_ready_o;
      if (cpl_i.valid && cpl_ready_o) inside_q <= !cpl_i.eop;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!noted_q) wait_q <= writes_open_i - writes_ahead_i;
    else wait_q <= wait_q > writes_ahead_i ? wait_q - writes_ahead_i : 5'd0;
  end

  // ---- descriptor
  wire        with_data = cpl_i.hdr.kind == ggas_pkg::TLP_CPLD;
  wire [10:0] payload   = with_data ? cpl_i.hdr.len_dw : 11'd0;
  // The block puts its own bus number in; device and function come from here.
  wire [95:0] desc = {
      1'b0, cpl_i.hdr.attr, 3'd0, 1'b0, cpl_i.hdr.completer, cpl_i.hdr.tag[7:0],
      cpl_i.hdr.requester, 1'b0, cpl_i.hdr.poisoned, cpl_i.hdr.status, payload,
      3'd0, cpl_i.hdr.byte_count, 6'd0, 2'd0, 1'b0, cpl_i.hdr.lower_addr
  };

  logic              valid, ready, sop, last, nothing;
  logic [DPB-1:0]    keep;
  logic [DATA_W-1:0] data;
  tlp_pack #(.DATA_W(DATA_W), .DESC(3)) i_pack (
      .clk_i, .rst_ni, .in_valid_i(in_valid), .in_ready_o(in_ready), .in_sop_i(cpl_i.sop), .in_eop_i(cpl_i.eop),
      .in_data_i(cpl_data_i), .in_payload_i(payload), .in_desc_i(desc), .in_side_i(1'b0), .out_valid_o(valid),
      .out_ready_i(ready), .out_sop_o(sop), .out_last_o(last), .out_keep_o(keep), .out_data_o(data),
      .out_side_o(nothing)
  );

  logic out_sop;
  skid #(.WIDTH(2 + DPB + DATA_W)) i_skid (
      .clk_i, .rst_ni, .in_valid_i(valid), .in_ready_o(ready), .in_data_i({sop, last, keep, data}),
      .out_valid_o(cc_tvalid_o), .out_ready_i(cc_tready_i), .out_data_o({out_sop, cc_tlast_o, cc_tkeep_o, cc_tdata_o})
  );

  if (DATA_W == 512) begin : g_user
    logic [3:0] end_at;
    last_dw #(.N(DPB)) i_end (.keep_i(cc_tkeep_o), .at_o(end_at));
    assign cc_tuser_o = {64'd0, 1'b0, 4'd0, end_at, 1'b0, cc_tlast_o, 4'd0, 1'b0, out_sop};
  end else begin : g_user
    assign cc_tuser_o = '0;
    wire unused = out_sop;
  end

  wire unused = &{1'b0, nothing, cpl_i.hdr};
endmodule

`default_nettype wire
