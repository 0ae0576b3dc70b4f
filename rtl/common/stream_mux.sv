// SPDX-License-Identifier: Apache-2.0
// Merges streams, whole packets in turn. Combinational: what is taken at the output was taken from its owner in the
// same cycle.
// An offer stands until it is taken (arbiter_rr with HOLD), so owners must not withdraw.
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

  always_comb begin
    out_sop_o  = (grant & in_sop_i) != '0;
    out_eop_o  = (grant & in_eop_i) != '0;
    out_hdr_o  = '0;
    out_data_o = '0;
    for (int i = 0; i < N; i = i + 1) begin
      if (grant[i]) begin
        out_hdr_o  = in_hdr_i[i*HDR_W+:HDR_W];
        out_data_o = in_data_i[i*DATA_W+:DATA_W];
      end
    end
  end
endmodule

`default_nettype wire
