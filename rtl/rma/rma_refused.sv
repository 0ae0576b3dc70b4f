// SPDX-License-Identifier: Apache-2.0
// Messages that lost a packet: a bit for each source node and context, remembered from the refused packet to the
// message's last one, or
// to the first one of the next if that never comes. The RAM of a node is cleared when it is first needed.
`default_nettype none

module rma_refused (
    input  wire logic        clk_i,
    input  wire logic        rst_ni,

    // lookup; the answer stands from the next cycle until the next lookup
    input  wire logic        re_i,
    input  wire logic [5:0]  node_i,
    input  wire logic [7:0]  vpid_i,
    output      logic        failed_o,

    // change of what was looked up last; mark_i holds until marked_o (at most 257 cycles)
    input  wire logic        mark_i,
    output      logic        marked_o,
    input  wire logic        forget_i   // pulse, only if failed_o
);

  logic [63:0] known_q;   // nodes whose part of the RAM is cleared
  logic [13:0] key_q;     // looked up last
  logic        known_then_q;
  logic [7:0]  walk_q;    // next context to clear
  logic        bit_failed;

  wire known  = known_q[key_q[13:8]];
  wire clear  = mark_i && !known;
  wire write  = mark_i || forget_i;
  wire [13:0] at = clear ? {key_q[13:8], walk_q} : key_q;
  assign marked_o = mark_i && known;
  assign failed_o = known_then_q && bit_failed;

  ram_1r1w #(.WIDTH(1), .DEPTH(16384)) u_bits (
      .clk_i, .we_i(write), .waddr_i(at), .wdata_i(marked_o), .re_i, .raddr_i({node_i, vpid_i}), .rdata_o(bit_failed));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      known_q      <= '0;
      key_q        <= '0;
      known_then_q <= 1'b0;
      walk_q       <= '0;
    end else begin
      if (re_i) begin
        key_q        <= {node_i, vpid_i};
        known_then_q <= known_q[node_i];
      end
      if (clear) begin
        walk_q <= walk_q + 1'b1;
        if (&walk_q) known_q[key_q[13:8]] <= 1'b1;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && forget_i) assert (failed_o && !mark_i);
    if (rst_ni && re_i) assert (!mark_i && !forget_i);
  end
`endif

endmodule

`default_nettype wire
