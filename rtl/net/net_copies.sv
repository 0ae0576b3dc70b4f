// SPDX-License-Identifier: Apache-2.0
// A route for each copy of the packets of one stream (docs/network.md). A packet for a group goes to its branches one
// after the other, to the own units last; its source offers it again as long as keep_o is set with its last beat.
`default_nettype none

module net_copies (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire net_pkg::ways_t     ways_i,   // of the packet on offer
    input  wire logic                ends_i,   // its last beat is taken
    output      net_pkg::way_t      way_o,    // of this copy
    output      logic                keep_o    // another copy comes after it
);
  localparam int unsigned WW = net_pkg::WAY_W;
  logic          copying_q;  // a copy was made: left_q counts
  logic [WW:0]   left_q, left, pick, rest;
  assign left   = copying_q ? left_q : {ways_i.member, ways_i.way};
  assign pick   = left & (~left + 1'b1);
  assign rest   = left & ~pick;
  assign keep_o = ways_i.copied && rest != '0;
  always_comb begin
    way_o = ways_i.way;
    if (ways_i.copied) begin
      way_o = '0;
      way_o.here = pick[WW];
      for (int b = 0; b < WW; b = b + 1) if (pick[b]) {way_o.link, way_o.lane} = b[3:0];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) copying_q <= 1'b0;
    else if (ends_i) copying_q <= keep_o;
  end
  always_ff @(posedge clk_i) if (ends_i) left_q <= rest;
endmodule

`default_nettype wire
