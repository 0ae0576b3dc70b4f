// SPDX-License-Identifier: Apache-2.0
// Register stage of a stream whose ready does not depend on the other side's: a beat that arrives while the output is
// blocked waits in a spare register. Latency 1 cycle, a beat a cycle.
`default_nettype none

module skid #(
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
  logic             spare_q;  // the spare register is in use
  logic [WIDTH-1:0] spare_data_q;
  logic             move;     // the output register takes something new

  assign in_ready_o = !spare_q;
  assign move       = !out_valid_o || out_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_o <= 1'b0;
      spare_q     <= 1'b0;
    end else if (move) begin
      out_valid_o <= spare_q || in_valid_i;
      spare_q     <= 1'b0;
    end else if (in_valid_i) begin
      spare_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    // Whether something arrives must not enable so many registers: it may be known late.
    if (move) out_data_o <= spare_q ? spare_data_q : in_data_i;
    if (!spare_q) spare_data_q <= in_data_i;
  end
endmodule

`default_nettype wire
