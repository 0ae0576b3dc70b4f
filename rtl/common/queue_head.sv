// SPDX-License-Identifier: Apache-2.0
// The head of a queue in a register, which is filled while it is empty: logic that accepts an entry late in a cycle
// does not extend into the queue. An entry in every other cycle.
`default_nettype none

module queue_head #(
    parameter int unsigned WIDTH = 8
) (
    input  wire logic             clk_i,
    input  wire logic             rst_ni,
    input  wire logic             queue_valid_i,
    output      logic             queue_ready_o,
    input  wire logic [WIDTH-1:0] queue_data_i,
    output      logic             valid_o,
    input  wire logic             ready_i,
    output      logic [WIDTH-1:0] data_o
);
  assign queue_ready_o = !valid_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= valid_o ? !ready_i : queue_valid_i;
  end
  always_ff @(posedge clk_i) if (!valid_o) data_o <= queue_data_i;
endmodule

`default_nettype wire
