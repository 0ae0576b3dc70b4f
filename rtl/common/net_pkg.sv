// SPDX-License-Identifier: Apache-2.0
// Ways of packets through the NIC, tables of routes and groups, and the fields of a header in a vector.
// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
package net_pkg;

  // The next step of a packet. Between the links and the crossbar it is stored in `seq` and `session` of the header.
  // Yosys supports no members of structs in generate blocks: crossbar and routes use the bits.
  localparam int unsigned WAY_W = 12;
  typedef struct packed {
    logic       second;       // it may leave by this link and lane as well
    logic       second_lane;
    logic [2:0] second_link;
    logic       rsvd;
    logic       drop;         // there is no way
    logic       here;         // to the units of this node
    logic       lane;         // on the link
    logic [2:0] link;
  } way_t;

  // The same with copies: for a packet to a group the low bits of `way` are its branches. Bit 2 * link + lane stands
  // for the branch over that link and lane. It is stored in `version`, `seq` and `session`, and read from the table of
  // groups when the packet arrives.
  localparam int unsigned WAYS_W = 14;
  typedef struct packed {
    logic             copied;  // for a group
    logic             member;  // the units of this node get a copy, too
    logic [WAY_W-1:0] way;     // way_t, or branches
  } ways_t;

  // A line of the table of groups: where packets of a group go on from here.
  localparam int unsigned GROUP_LINE_W = 17;
  localparam logic [2:0]  OWN_UNITS = 3'd7;  // as `link`
  typedef struct packed {
    logic        valid;
    logic [2:0]  link;      // that they must come by; OWN_UNITS: this node alone sends to the group
    logic        member;
    logic [11:0] branches;
  } group_line_t;

  // A line of the table of routes, a node each. The second choice is for packets that may pass others.
  localparam int unsigned ROUTE_W = 10;
  typedef struct packed {
    logic       second;
    logic       second_lane;
    logic [2:0] second_link;
    logic       valid;
    logic       lane;
    logic [2:0] link;
  } route_t;

  typedef logic [223:0] net_hdr_bits_t;  // ggas_pkg::NET_HDR_W: Yosys takes no parameter of another package here

  // Fields of net_hdr_t where many headers are in one vector: Yosys supports no members of structs in generate blocks
  // and functions.
  function automatic logic [15:0] hdr_dst(input net_hdr_bits_t hdr);
    hdr_dst = hdr[63:48];
  endfunction
  function automatic logic [7:0] hdr_op(input net_hdr_bits_t hdr);
    hdr_op = hdr[47:40];
  endfunction
  function automatic logic [10:0] hdr_len_dw(input net_hdr_bits_t hdr);
    hdr_len_dw = hdr[39:29];
  endfunction
  function automatic logic hdr_unordered(input net_hdr_bits_t hdr);
    hdr_unordered = hdr[23];
  endfunction
  function automatic logic [2:0] hdr_channel(input net_hdr_bits_t hdr);  // {lane, vc}
    hdr_channel = hdr[22:20];
  endfunction
  function automatic logic [7:0] hdr_hops(input net_hdr_bits_t hdr);
    hdr_hops = hdr[19:12];
  endfunction
  function automatic logic [7:0] hdr_vtime(input net_hdr_bits_t hdr);
    hdr_vtime = hdr[223:216];
  endfunction
  function automatic logic [39:0] hdr_who(input net_hdr_bits_t hdr);  // {op, source, destination}
    hdr_who = {hdr[47:40], hdr[127:112], hdr[63:48]};
  endfunction
  // The way of a packet within the NIC (way_t), or its ways, and the header with one of them.
  function automatic logic [WAY_W-1:0] hdr_way(input net_hdr_bits_t hdr);
    hdr_way = hdr[WAY_W-1:0];
  endfunction
  function automatic logic [5:0] way_first(input logic [WAY_W-1:0] way);  // {drop, here, lane, link}
    way_first = way[5:0];
  endfunction
  function automatic logic [4:0] way_second(input logic [WAY_W-1:0] way);  // {second, second_lane, second_link}
    way_second = way[11:7];
  endfunction
  function automatic logic [WAYS_W-1:0] hdr_ways(input net_hdr_bits_t hdr);
    hdr_ways = {hdr[27:26], hdr[WAY_W-1:0]};
  endfunction
  function automatic net_hdr_bits_t hdr_with_way(input net_hdr_bits_t hdr, input logic [WAY_W-1:0] way);
    hdr_with_way = {hdr[223:28], 2'd0, hdr[25:WAY_W], way};
  endfunction
  // As it leaves on a channel of a link, after so many hops more; without its way.
  function automatic net_hdr_bits_t hdr_leaving(input net_hdr_bits_t hdr, input logic [2:0] channel, input logic hop);
    hdr_leaving = {hdr[223:23], channel, hdr[19:12] - {7'd0, hop}, {WAY_W{1'b0}}};
  endfunction
  function automatic net_hdr_bits_t hdr_with_vtime(input net_hdr_bits_t hdr, input logic [7:0] vtime);
    hdr_with_vtime = {vtime, hdr[215:0]};
  endfunction
  // For the own units: without virtual time and way.
  function automatic net_hdr_bits_t hdr_arrived(input net_hdr_bits_t hdr);
    hdr_arrived = {8'd0, hdr[215:WAY_W], {WAY_W{1'b0}}};
  endfunction

endpackage
// verilator lint_on UNUSEDPARAM
// verilator lint_on UNUSEDSIGNAL
