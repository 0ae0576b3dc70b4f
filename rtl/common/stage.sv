// SPDX-License-Identifier: Apache-2.0
// Register stage of a stream: latency 1 cycle, a beat a cycle. Ready passes through. If it must not, use skid, which
// needs a multiplexer and a second register for each bit.
`default_nettype none

module stage #(
    parameter int unsigned WIDTH = 64
) (
    input  wire logic             clk_i,
    input  wire logic             rst_ni,
    input  wire logic             in_valid_i,
    output      logic             in_ready_o,
    input  wire logic [WIDTH-1:0] in_data_i,
    output      logic             out_valid_o,
    input  wire logic             out_ready_i,
    output      logic [WIDTH-1:0] out_data_o
);
  assign in_ready_o = !out_valid_o || out_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_valid_o <= 1'b0;
    else if (in_ready_o) out_valid_o <= in_valid_i;
  end
  always_ff @(posedge clk_i) if (in_valid_i && in_ready_o) out_data_o <= in_data_i;
endmodule

`default_nettype wire
