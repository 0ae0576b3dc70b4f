// SPDX-License-Identifier: Apache-2.0
// The table of groups: for each group and each lane in which its packets arrive, the branches by which they leave, and
// the link by which they must arrive. Written by MULTICAST. Several readers, each answered in the same cycle: the links
// in their order, then the own units.
`default_nettype none

module net_groups #(
    parameter int unsigned LINKS = 2  // readers but one
) (
    input  wire logic                   clk_i,
    // write of a line
    input  wire logic                   set_i,
    input  wire logic [15:0]            set_group_i,
    input  wire logic                   set_lane_i,
    input  wire net_pkg::group_line_t  set_line_i,
    // packets: bit or slice r is reader r
    input  wire logic [(LINKS+1)*16-1:0] group_i,
    input  wire logic [LINKS:0]          lane_i,
    input  wire logic [LINKS:0]          posted_i,   // it is in VC_P
    input  wire logic [LINKS:0]          expired_i,  // it may take no more hops
    output      logic [(LINKS+1)*net_pkg::WAYS_W-1:0] ways_o  // ways_t
);
  localparam int unsigned GW = ggas_pkg::GROUP_W, WW = net_pkg::WAY_W;
  localparam logic [WW-1:0] DROP = 12'h020;  // way_t.drop

  logic [net_pkg::GROUP_LINE_W-1:0] lines [0:2*ggas_pkg::GROUPS-1];  // group_line_t
  always_ff @(posedge clk_i) begin
    if (set_i && set_group_i[15:GW] == '0) lines[{set_group_i[GW-1:0], set_lane_i}] <= set_line_i;
  end

  for (genvar r = 0; r <= LINKS; r = r + 1) begin : g_read
    localparam logic [2:0] FROM = r < LINKS ? r : net_pkg::OWN_UNITS;
    wire [15:0] group = group_i[16*r+:16];
    wire [net_pkg::GROUP_LINE_W-1:0] line = lines[{group[GW-1:0], lane_i[r]}];
    wire        member = r < LINKS && line[12];  // who sends has the data
    wire        onward = line[11:0] != '0;
    wire        known  = group[15:GW] == '0 && line[16] && line[15:13] == FROM && (onward || member)
        && posted_i[r] && !(onward && expired_i[r]);
    assign ways_o[net_pkg::WAYS_W*r+:net_pkg::WAYS_W] = known ? {1'b1, member, line[11:0]} : {2'b00, DROP};
  end

`ifndef SYNTHESIS
  initial if (1 << GW != ggas_pkg::GROUPS) $error("net_groups: GROUPS must be 2 ** GROUP_W");
`endif
endmodule

`default_nettype wire
