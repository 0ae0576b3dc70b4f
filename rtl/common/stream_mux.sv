// SPDX-License-Identifier: Apache-2.0
// Merges streams, whole packets in turn. Combinational: a beat that is accepted at the output is accepted from its
// owner in the same cycle. An offer does not change until it is accepted (arbiter_rr with HOLD), so owners must not
// withdraw.
`default_nettype none

module stream_mux #(
    parameter int unsigned N      = 2,   // streams
    parameter int unsigned HDR_W  = 224, // bits of the header
    parameter int unsigned DATA_W = 64   // bits of a beat
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // streams; bit or slice i is stream i
    input  wire logic [N-1:0]        in_valid_i,
    output      logic [N-1:0]        in_ready_o,
    input  wire logic [N-1:0]        in_sop_i,
    input  wire logic [N-1:0]        in_eop_i,
    input  wire logic [N*HDR_W-1:0]  in_hdr_i,
    input  wire logic [N*DATA_W-1:0] in_data_i,

    output      logic                out_valid_o,
    input  wire logic                out_ready_i,
    output      logic                out_sop_o,
    output      logic                out_eop_o,
    output      logic [HDR_W-1:0]    out_hdr_o,
    output      logic [DATA_W-1:0]   out_data_o
);
  logic [N-1:0] grant;
  logic         unused_locked;

  arbiter_rr #(.N(N), .HOLD(1'b1)) i_arbiter (
      .clk_i, .rst_ni, .clear_i(1'b0), .req_i(in_valid_i), .take_i(out_valid_o && out_ready_i), .eop_i(out_eop_o),
      .grant_o(grant), .locked_o(unused_locked)
  );

  assign out_valid_o = grant != '0;
  assign in_ready_o  = out_ready_i ? grant : '0;

  // The granted one by its number, in a tree: half the LUTs of a chain. Nothing granted: anything, valid is 0.
  localparam int unsigned THIRD = N > 2 ? 2 : 0, FOURTH = N > 3 ? 3 : 1;
  localparam int unsigned HW = HDR_W, DW = DATA_W;
  logic [1:0] at;
  always_comb begin
    at = '0;
    for (int i = 0; i < N; i = i + 1) if (grant[i]) at = at | i[1:0];
    case (at)
      2'd0: {out_sop_o, out_eop_o, out_hdr_o, out_data_o} =
        {in_sop_i[0], in_eop_i[0], in_hdr_i[0+:HW], in_data_i[0+:DW]};
      2'd1: {out_sop_o, out_eop_o, out_hdr_o, out_data_o} =
        {in_sop_i[1], in_eop_i[1], in_hdr_i[HW+:HW], in_data_i[DW+:DW]};
      2'd2: {out_sop_o, out_eop_o, out_hdr_o, out_data_o} =
        {in_sop_i[THIRD], in_eop_i[THIRD], in_hdr_i[THIRD*HW+:HW], in_data_i[THIRD*DW+:DW]};
      default: {out_sop_o, out_eop_o, out_hdr_o, out_data_o} =
        {in_sop_i[FOURTH], in_eop_i[FOURTH], in_hdr_i[FOURTH*HW+:HW], in_data_i[FOURTH*DW+:DW]};
    endcase
  end

`ifndef SYNTHESIS
  initial if (N > 4) $error("stream_mux: N must be 2 to 4");
`endif
endmodule

`default_nettype wire
