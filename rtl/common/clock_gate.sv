// SPDX-License-Identifier: Apache-2.0
// The clock of a unit, stopped while the unit is idle, so that it costs no simulation time (docs/tlp-boundary.md: a
// cycle with busy_o = 0 and no valid input changes nothing). In hardware the clock runs on; a device with gated clocks
// may use its own cell here.
`default_nettype none

module clock_gate (
    input  wire logic clk_i,
    input  wire logic en_i,   // there is something to do at the next rising edge
    output      logic clk_o
);
`ifdef SYNTHESIS
  logic unused;
  assign unused = en_i;
  assign clk_o  = clk_i;
`else
  logic en_q;
  always_latch if (!clk_i) en_q = en_i;
  assign clk_o = clk_i && en_q;
`endif
endmodule

`default_nettype wire
