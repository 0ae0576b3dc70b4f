// SPDX-License-Identifier: Apache-2.0
// One bit for each of many objects (contexts, slots), in distributed RAM: rows of four bits. A vector in flip-flops
// needs several times the LUTs, for the decoder of each write and the multiplexer of each read. A read returns the
// value before this cycle. Two writers have a RAM each, and a bit is the xor of the bits in both; if both write the
// same bit, writer 1 wins. Reset clears a row a cycle, so it must last for DEPTH / 4 cycles.
`default_nettype none

module flag_ram #(
    parameter int unsigned DEPTH   = 64,  // bits, a power of two, at least 16
    parameter int unsigned WRITERS = 1,   // 1 or 2
    parameter int unsigned READS   = 1    // readers
) (
    input  wire logic                             clk_i,
    input  wire logic                             rst_ni,
    input  wire logic [WRITERS-1:0]               we_i,     // one bit or slice a writer
    input  wire logic [WRITERS*$clog2(DEPTH)-1:0] waddr_i,
    input  wire logic [WRITERS-1:0]               wdata_i,
    input  wire logic [READS*$clog2(DEPTH)-1:0]   raddr_i,  // one slice a reader
    output      logic [READS-1:0]                 rdata_o   // in the same cycle
);
  localparam int unsigned AW = $clog2(DEPTH);

  logic [AW-3:0] walk_q;  // row to clear
  // verilator lint_off SYNCASYNCNET
  wire clear = !rst_ni;
  // verilator lint_on SYNCASYNCNET
  always_ff @(posedge clk_i) if (clear) walk_q <= walk_q + 1'b1;

  logic [READS-1:0]   part [WRITERS];
  logic [WRITERS-1:0] theirs;  // the other RAM's bit where this writer writes
  for (genvar w = 0; w < WRITERS; w = w + 1) begin : g_writer
    logic [3:0]  rows_q [0:DEPTH/4-1];
    wire [AW-1:0] at   = waddr_i[w*AW+:AW];
    wire [AW-3:0] row  = clear ? walk_q : at[AW-1:2];
    wire          lose = w == 0 && WRITERS == 2 && we_i[WRITERS-1] && at == waddr_i[(WRITERS-1)*AW+:AW];
    logic [3:0]   next;
    always_comb begin
      next = rows_q[at[AW-1:2]];
      next[at[1:0]] = wdata_i[w] ^ theirs[w];
      if (clear) next = '0;
    end
    always_ff @(posedge clk_i) if (clear || (we_i[w] && !lose)) rows_q[row] <= next;

    for (genvar r = 0; r < READS; r = r + 1) begin : g_read
      wire [AW-1:0] look = raddr_i[r*AW+:AW];
      wire [3:0]    seen = rows_q[look[AW-1:2]];
      assign part[w][r] = seen[look[1:0]];
    end
  end
  if (WRITERS == 2) begin : g_both
    wire [AW-1:0] at0   = waddr_i[0+:AW];
    wire [AW-1:0] at1   = waddr_i[AW+:AW];
    wire [3:0]    mine0 = g_writer[1].rows_q[at0[AW-1:2]];
    wire [3:0]    mine1 = g_writer[0].rows_q[at1[AW-1:2]];
    assign theirs  = {mine1[at1[1:0]], mine0[at0[1:0]]};
    assign rdata_o = part[0] ^ part[1];
  end else begin : g_one
    assign theirs  = '0;
    assign rdata_o = part[0];
  end

`ifndef SYNTHESIS
  initial begin
    if (DEPTH < 16 || (1 << AW) != DEPTH) $error("flag_ram: DEPTH must be a power of two, at least 16");
    if (WRITERS != 1 && WRITERS != 2) $error("flag_ram: WRITERS must be 1 or 2");
  end
`endif
endmodule

`default_nettype wire
