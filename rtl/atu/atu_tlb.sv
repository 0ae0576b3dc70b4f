// SPDX-License-Identifier: Apache-2.0
// Cached translations: set-associative, in RAM, with the valid bits next to it. Two stages: a key is looked up (re_i);
// in the next cycle the answer is known, and the entry may be dropped or filled in. A set can be read as a whole, to
// drop the entries in a range of keys. Dropping has priority over filling, and a way refilled between the stages does
// not hit: so a dropped entry is never found again. If a key is filled in that is already there, its former way is
// cleared: its presence is known too late to prevent the write of the RAM.
`default_nettype none

module atu_tlb #(
    parameter int unsigned SETS    = 64,  // a power of two, at least 4
    parameter int unsigned WAYS    = 2,
    parameter int unsigned ENTRY_W = 70   // bits of a translation
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                re_i,
    // of a key, page class 2, page index 34: all but its low bits; and the set, of the key (see mix) or any
    input  wire logic [35-$clog2(SETS):0] tag_i,
    input  wire logic [$clog2(SETS)-1:0]  set_i,
    // the cycle after re_i: the ways that hold the key, and what each of them holds
    output      logic [WAYS-1:0]     hits_o,
    output      logic [WAYS*ENTRY_W-1:0] entries_o,

    // about the key that was looked up in the cycle before
    input  wire logic                drop_i,     // it is not valid any more
    input  wire logic                fill_i,
    input  wire logic [ENTRY_W-1:0]  entry_i,

    // about the set looked at in the cycle before: drop the keys from low_i to high_i
    input  wire logic                drop_range_i,
    input  wire logic [35:0]         low_i,
    input  wire logic [35:0]         high_i,

    input  wire logic                clear_i     // drop all
);
  localparam int unsigned SB    = $clog2(SETS);
  localparam int unsigned TAG_W = 36 - SB;

  // The set of a key from its low bits and class; and, the other way round, the low bits of a key from its set.
  function automatic logic [SB-1:0] mix(input logic [SB-1:0] low, input logic [1:0] cls);
    mix = low ^ {cls, {(SB-2){1'b0}}};
  endfunction
  logic [SB-1:0]    set_q;
  logic [TAG_W-1:0] tag_q;
  logic [SETS-1:0]  valid_q [WAYS];
  logic [WAYS-1:0]  valid, hits, ranged, place;
  logic [WAYS-1:0]  filled_q;      // in the cycle before, and of which set
  logic [SB-1:0]    filled_set_q;
  logic [WAYS-1:0]  turn_q;        // one-hot: the way to give up next
  logic [TAG_W+ENTRY_W-1:0] word [WAYS];
  logic             re_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      re_q     <= 1'b0;
      filled_q <= '0;
    end else begin
      re_q     <= re_i;
      filled_q <= fill_i ? place : '0;
    end
  end
  always_ff @(posedge clk_i) begin
    filled_set_q <= set_q;
    if (re_i) begin
      set_q <= set_i;
      tag_q <= tag_i;
    end
  end

  for (genvar w = 0; w < WAYS; w++) begin : gen_way
    ram_1r1w #(.WIDTH(TAG_W + ENTRY_W), .DEPTH(SETS)) u_ram (
        .clk_i, .we_i(fill_i && place[w]), .waddr_i(set_q), .wdata_i({tag_q, entry_i}), .re_i, .raddr_i(set_i),
        .rdata_o(word[w]));

    assign valid[w] = valid_q[w][set_q];
    // Not what was written as it was read: the RAM promises nothing of it.
    wire             sure = re_q && valid[w] && !(filled_q[w] && filled_set_q == set_q);
    wire [TAG_W-1:0] tag  = word[w][ENTRY_W+:TAG_W];
    assign hits[w]   = sure && tag == tag_q;
    assign entries_o[w*ENTRY_W+:ENTRY_W] = word[w][ENTRY_W-1:0];
    wire [35:0]      key  = {tag, mix(set_q, tag[TAG_W-1-:2])};
    assign ranged[w] = sure && key >= low_i && key <= high_i;
    wire             fills = fill_i && place[w];
    wire             ends  = ((drop_i || fill_i) && hits[w]) || (drop_range_i && ranged[w]);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q[w] <= '0;
      else if (clear_i) valid_q[w] <= '0;
      else if (fills || ends) valid_q[w][set_q] <= fills;
    end
  end
  assign hits_o = hits;

  // A free way, else the next in turn.
  assign place = &valid ? turn_q : ~valid & (valid + 1'b1);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) turn_q <= {{(WAYS-1){1'b0}}, 1'b1};
    else if (fill_i) turn_q <= {turn_q[WAYS-2:0], turn_q[WAYS-1]};
  end

`ifndef SYNTHESIS
  initial if (SETS < 4 || (SETS & (SETS - 1)) != 0
    || WAYS < 2) $error("atu_tlb: SETS must be a power of two, at least 4; WAYS at least 2");
  always_ff @(posedge clk_i) if (rst_ni) assert (!((drop_i || drop_range_i) && fill_i) && (re_q || !(drop_i
    || drop_range_i || fill_i)));
`endif
endmodule

`default_nettype wire
