// SPDX-License-Identifier: Apache-2.0
// Nodes with stores that no quiet round covers yet: a ring of entries, each node once, and a RAM with the place in the
// ring where a node was listed last. An entry is valid only if it still contains the node, so the RAM needs no reset,
// and the state grows with the number of nodes in use, not with their numbers. A round covers the nodes listed up to
// its start.
`default_nettype none

module smfu_dirty #(
    parameter int unsigned ENTRIES = 64,  // nodes listed, those of the round included: a power of two
    localparam int unsigned AW = $clog2(ENTRIES)
) (
    input  wire logic              clk_i,
    input  wire logic              rst_ni,

    // a store; room_o stays until it comes
    output      logic              room_o,      // a store to any node may be sent
    input  wire logic              sent_i,
    input  wire ggas_pkg::node_t   sent_node_i,

    // the round: entries [first_o, end_o) of the ring, numbers with its turn in the top bit
    input  wire logic              start_i,     // the round before it was dropped
    output      logic              any_o,       // a round that starts now has something to ask
    output      logic [AW:0]       first_o,
    output      logic [AW:0]       end_o,
    input  wire logic              drop_i,      // the round is over

    // nodes of two entries, in the same cycle
    input  wire logic [AW-1:0]     walk_i,
    output      ggas_pkg::node_t   walk_node_o,
    input  wire logic [AW-1:0]     look_i,
    output      ggas_pkg::node_t   look_node_o,
    output      logic              busy_o
);
  ggas_pkg::node_t list_q [ENTRIES];
  logic [AW:0]     first_q, end_q, tail_q;

  assign first_o     = first_q;
  assign end_o       = end_q;
  assign walk_node_o = list_q[walk_i];
  assign look_node_o = list_q[look_i];

  // ---------------------------------------------------------------- a cycle after the store: listed already?
  logic            check_q;                 // node_q had a store in the last cycle
  ggas_pkg::node_t node_q;
  logic            same_q;                  // node_q was listed in the last cycle: the RAM could not report
  logic [AW-1:0]   at;
  ram_1r1w #(.WIDTH(AW), .DEPTH(ggas_pkg::MAX_NODES)) u_where (
      .clk_i, .we_i(push), .waddr_i(node_q), .wdata_i(tail_q[AW-1:0]), .re_i(sent_i), .raddr_i(sent_node_i),
      .rdata_o(at));

  wire [AW:0]   listed = tail_q - end_q;    // since the round began
  wire [AW-1:0] place  = at - end_q[AW-1:0];
  wire          known  = same_q || ({1'b0, place} < listed && list_q[at] == node_q);
  wire          push   = check_q && !known;
  wire [AW:0]   tail   = tail_q + {{AW{1'b0}}, push};
  wire [AW:0]   used   = tail_q - first_q + {{AW{1'b0}}, check_q};
  assign room_o = !used[AW];
  assign any_o  = tail != end_q;
  assign busy_o = check_q;

  always_ff @(posedge clk_i) begin
    if (push) list_q[tail_q[AW-1:0]] <= node_q;
    if (sent_i) node_q <= sent_node_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      check_q <= 1'b0;
      same_q  <= 1'b0;
      first_q <= '0;
      end_q   <= '0;
      tail_q  <= '0;
    end else begin
      check_q <= sent_i;
      same_q  <= check_q && sent_node_i == node_q && !start_i;
      tail_q  <= tail;
      if (start_i) end_q <= tail;
      if (drop_i) first_q <= end_q;
    end
  end

`ifndef SYNTHESIS
  initial if (ENTRIES < 16 || (1 << AW) != ENTRIES) $error("smfu_dirty: ENTRIES must be a power of two, at least 16");
  always_ff @(posedge clk_i) begin
    if (rst_ni && sent_i) assert (room_o);
    if (rst_ni && start_i) assert (first_q == end_q);
  end
`endif
endmodule

`default_nettype wire
