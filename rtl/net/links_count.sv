// SPDX-License-Identifier: Apache-2.0
// Pulses of several sources, one a cycle for a counter. None is lost as long as no more than 65,535 wait.
`default_nettype none

module links_count #(
    parameter int unsigned N = 2  // sources
) (
    input  wire logic         clk_i,
    input  wire logic         rst_ni,
    input  wire logic [N-1:0] pulses_i,
    output      logic         pulse_o,
    output      logic         busy_o   // some wait
);
  logic [15:0] waits_q, now;
  always_comb begin
    now = '0;
    for (int i = 0; i < N; i = i + 1) now = now + {15'd0, pulses_i[i]};
  end
  assign pulse_o = waits_q != '0;
  assign busy_o  = waits_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waits_q <= '0;
    else waits_q <= waits_q + now - {15'd0, pulse_o};
  end
endmodule

`default_nettype wire
