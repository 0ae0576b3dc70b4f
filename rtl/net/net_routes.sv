// SPDX-License-Identifier: Apache-2.0
// The table of routes: a line for each node, written by ROUTE. Several readers, each answered in the same cycle.
`default_nettype none

module net_routes #(
    parameter int unsigned READS = 1
) (
    input  wire logic                 clk_i,
    input  wire logic [15:0]          cfg_node_i,  // this node
    // write of a line
    input  wire logic                 set_i,
    input  wire logic [15:0]          set_node_i,
    input  wire net_pkg::route_t     set_route_i,
    // packets: bit or slice r is reader r
    input  wire logic [READS*16-1:0]  dst_i,
    input  wire logic [READS-1:0]     expired_i,   // it may take no more hops
    input  wire logic [READS-1:0]     unordered_i, // it may take the second choice
    output      logic [READS*net_pkg::WAY_W-1:0] way_o  // way_t
);
  logic [net_pkg::ROUTE_W-1:0] lines [0:ggas_pkg::MAX_NODES-1];  // route_t
  always_ff @(posedge clk_i) begin
    if (set_i && ggas_pkg::is_node(set_node_i)) lines[set_node_i[ggas_pkg::NODE_W-1:0]] <= set_route_i;
  end

  for (genvar r = 0; r < READS; r = r + 1) begin : g_read
    wire [15:0]       dst   = dst_i[16*r+:16];
    wire              here  = dst == cfg_node_i;
    wire [net_pkg::ROUTE_W-1:0] line = lines[dst[ggas_pkg::NODE_W-1:0]];
    wire              known = ggas_pkg::is_node(dst) && line[4] && line[2:0] < ggas_pkg::LINKS[2:0];
    wire              drop  = !here && (expired_i[r] || !known);
    wire              second = unordered_i[r] && !here && !drop && line[9] && line[7:5] < ggas_pkg::LINKS[2:0];
    assign way_o[net_pkg::WAY_W*r+:net_pkg::WAY_W] = {second, line[8:5], 1'b0, drop, here, line[3:0]};
  end

`ifndef SYNTHESIS
  // Read within a cycle, so it is made of LUTs.
  initial if (ggas_pkg::MAX_NODES > 1024) $error("net_routes: several links need GGAS_NODES of 1024 at most");
`endif
endmodule

`default_nettype wire
