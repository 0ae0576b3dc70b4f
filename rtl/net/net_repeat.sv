// SPDX-License-Identifier: Apache-2.0
// Repeats packets of the own units. A packet passes without delay; if its last beat is accepted with keep_i it is
// offered again. In that case all its beats but the last are in RAM, and the last one stays at the input until it is
// accepted without keep_i. Header and routes are those of its first offer.
`default_nettype none

module net_repeat #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    // packets of the units
    input  wire logic                in_valid_i,
    output      logic                in_ready_o,
    input  wire logic                in_sop_i,
    input  wire logic                in_eop_i,
    input  wire logic [ggas_pkg::NET_HDR_W-1:0] in_hdr_i,   // with sop
    input  wire net_pkg::ways_t     in_ways_i,             // with sop
    input  wire logic [DATA_W-1:0]   in_data_i,
    // the same, repeated
    output      logic                out_valid_o,
    input  wire logic                out_ready_i,
    input  wire logic                keep_i,     // with out_ready_i for a last beat: again
    output      logic                out_sop_o,
    output      logic                out_eop_o,
    output      logic [ggas_pkg::NET_HDR_W-1:0] out_hdr_o,  // with sop
    output      net_pkg::ways_t     out_ways_o,            // with every beat
    output      logic [DATA_W-1:0]   out_data_o,
    output      logic                open_o      // a packet for a group was offered and has not left
);
  localparam int unsigned BEATS = ggas_pkg::MTU * 8 / DATA_W;
  localparam int unsigned AW    = $clog2(BEATS);
  logic                          repeat_q, inside_q;  // this is a repetition; the packet was offered before
  logic [AW-1:0]                 at_q, last_q, next;
  logic [ggas_pkg::NET_HDR_W-1:0] hdr_q;
  net_pkg::ways_t               ways_q;
  logic [DATA_W-1:0]             stored;
  logic                          taken, ends, repeats, write;

  assign out_eop_o   = repeat_q ? at_q == last_q : in_eop_i;
  assign out_sop_o   = repeat_q ? at_q == '0 : in_sop_i;
  assign out_valid_o = in_valid_i || (repeat_q && !out_eop_o);
  assign out_hdr_o   = inside_q ? hdr_q : in_hdr_i;
  assign out_ways_o  = inside_q ? ways_q : in_ways_i;
  assign out_data_o  = repeat_q && !out_eop_o ? stored : in_data_i;
  assign taken       = out_valid_o && out_ready_i;
  assign ends        = taken && out_eop_o;
  assign repeats     = ends && keep_i;
  assign in_ready_o  = out_ready_i && (repeat_q || in_eop_i ? out_eop_o && !keep_i : 1'b1);
  assign write       = taken && !repeat_q && !in_eop_i;
  assign next        = ends ? '0 : taken ? at_q + 1'b1 : at_q;
  assign open_o      = inside_q && ways_q.copied;

  ram_1r1w #(.WIDTH(DATA_W), .DEPTH(BEATS)) u_beats (
      .clk_i, .we_i(write), .waddr_i(at_q), .wdata_i(in_data_i), .re_i(repeats || repeat_q), .raddr_i(next),
      .rdata_o(stored)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      repeat_q  <= 1'b0;
      inside_q <= 1'b0;
      at_q     <= '0;
    end else begin
      at_q <= next;
      if (ends) repeat_q <= keep_i;
      if (out_valid_o) inside_q <= !ends || keep_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!inside_q) {hdr_q, ways_q} <= {in_hdr_i, in_ways_i};
    if (repeats) last_q <= at_q;
  end
endmodule

`default_nettype wire
