// SPDX-License-Identifier: Apache-2.0
// One bit for each of very many objects, of which few are ever set, in block RAM. Block RAM has no reset: it is cleared
// part by part, each when its first bit is set.
`default_nettype none

module rare_flags #(
    parameter int unsigned DEPTH = 16384,  // bits, a power of two
    parameter int unsigned PARTS = 64,     // a power of two, at least 16 and at most DEPTH / 2
    localparam int unsigned AW = $clog2(DEPTH)
) (
    input  wire logic          clk_i,
    input  wire logic          rst_ni,   // at least PARTS / 4 cycles long

    // lookup; the answer stands from the next cycle until the next lookup
    input  wire logic          re_i,
    input  wire logic [AW-1:0] key_i,
    output      logic          set_o,

    // change of what was looked up last; mark_i holds until marked_o (at most DEPTH / PARTS + 1 cycles)
    input  wire logic          mark_i,
    output      logic          marked_o,
    input  wire logic          forget_i  // pulse, only if set_o
);
  localparam int unsigned PW = $clog2(PARTS);
  localparam int unsigned IW = AW - PW;  // bits of a part

  logic [AW-1:0] key_q;        // looked up last
  logic          then_q;       // its part had been cleared then
  logic [IW-1:0] walk_q;       // next bit to clear
  logic          known, known_next, raw;

  wire          clear = mark_i && !known;
  wire          last  = clear && (&walk_q);
  wire [AW-1:0] at    = clear ? {key_q[AW-1:IW], walk_q} : key_q;
  assign marked_o = mark_i && known;
  assign set_o    = then_q && raw;

  ram_1r1w #(.WIDTH(1), .DEPTH(DEPTH)) u_bits (
      .clk_i, .we_i(mark_i || forget_i), .waddr_i(at), .wdata_i(marked_o), .re_i, .raddr_i(key_i), .rdata_o(raw));
  flag_ram #(.DEPTH(PARTS), .READS(2)) u_known (
      .clk_i, .rst_ni, .we_i(last), .waddr_i(key_q[AW-1:IW]), .wdata_i(1'b1),
      .raddr_i({key_i[AW-1:IW], key_q[AW-1:IW]}), .rdata_o({known_next, known}));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      key_q  <= '0;
      then_q <= 1'b0;
      walk_q <= '0;
    end else begin
      if (re_i) begin
        key_q  <= key_i;
        then_q <= known_next;
      end
      if (clear) walk_q <= walk_q + 1'b1;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && forget_i) assert (set_o && !mark_i);
    if (rst_ni && re_i) assert (!mark_i && !forget_i);
  end
`endif
endmodule

`default_nettype wire
