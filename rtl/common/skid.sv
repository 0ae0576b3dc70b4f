// SPDX-License-Identifier: Apache-2.0
// Register slice for a ready/valid stream: every output is a register, full throughput, one cycle of latency.
`default_nettype none

module skid #(
    parameter int unsigned WIDTH = 8  // bits of a beat
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
  logic [WIDTH-1:0] spare_q;  // the beat that came while the output was held up
  logic             spare_valid_q;

  assign in_ready_o = !spare_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_o   <= 1'b0;
      spare_valid_q <= 1'b0;
    end else if (out_ready_i || !out_valid_o) begin
      out_valid_o   <= spare_valid_q || in_valid_i;
      spare_valid_q <= 1'b0;
    end else if (in_valid_i && in_ready_o) begin
      spare_valid_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (out_ready_i || !out_valid_o) begin
      if (spare_valid_q) out_data_o <= spare_q;
      else if (in_valid_i) out_data_o <= in_data_i;
    end else if (in_valid_i && in_ready_o) begin
      spare_q <= in_data_i;
    end
  end
endmodule

`default_nettype wire
