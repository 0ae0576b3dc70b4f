// SPDX-License-Identifier: Apache-2.0
// Register stage of a stream of tlp_beat_t, net_beat_t or rma_beat_t with its data, as `stage`.
`default_nettype none

module beat_stage #(
    parameter int unsigned BEAT_W = 162,  // bits of the struct, `valid` on top
    parameter int unsigned DATA_W = 64
) (
    input  wire logic              clk_i,
    input  wire logic              rst_ni,
    input  wire logic [BEAT_W-1:0] in_i,
    output      logic              in_ready_o,
    input  wire logic [DATA_W-1:0] in_data_i,
    output      logic [BEAT_W-1:0] out_o,
    input  wire logic              out_ready_i,
    output      logic [DATA_W-1:0] out_data_o
);
  stage #(.WIDTH(BEAT_W - 1 + DATA_W)) u_stage (
      .clk_i, .rst_ni, .in_valid_i(in_i[BEAT_W-1]), .in_ready_o, .in_data_i({in_i[BEAT_W-2:0], in_data_i}),
      .out_valid_o(out_o[BEAT_W-1]), .out_ready_i, .out_data_o({out_o[BEAT_W-2:0], out_data_o}));
endmodule

`default_nettype wire
