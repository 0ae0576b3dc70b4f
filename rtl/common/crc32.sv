// SPDX-License-Identifier: Apache-2.0
// Next state of the link's CRC-32 (reflected 0xEDB88320) after DATA_W more bits, bytes in little-endian order. Initial
// value and final inversion are the caller's. The function is linear, so the new state is the xor of the contributions
// of all bits; in simulation they are looked up by nibbles, a handful of loads.
`default_nettype none

module crc32 #(
    parameter int unsigned DATA_W = 64  // 32 to 512, a multiple of 4
) (
    input  wire logic              en_i,    // 0: crc_o is 0 and nothing is worked out
    input  wire logic [31:0]       crc_i,
    input  wire logic [DATA_W-1:0] data_i,
    output      logic [31:0]       crc_o
);
  localparam int unsigned NIBBLES = DATA_W / 4;
  localparam int unsigned COLUMN_BITS = DATA_W * 32;

  // Column i: the state that bit i alone leaves over once all bits above it, being 0, have passed.
  function [COLUMN_BITS-1:0] make_columns(input integer bits);
    integer i;
    logic [31:0] c;
    begin
      c = 32'h1;
      for (i = bits - 1; i >= 0; i = i - 1) begin
        c = (c >> 1) ^ (c[0] ? 32'hEDB88320 : 32'h0);
        make_columns[i*32+:32] = c;
      end
    end
  endfunction
  localparam logic [COLUMN_BITS-1:0] COLUMNS = make_columns(DATA_W);

  logic [DATA_W-1:0]     x;
  logic [NIBBLES*32-1:0] parts;  // what each nibble adds

  always_comb begin
    x = data_i;
    x[31:0] = data_i[31:0] ^ crc_i;
  end

  for (genvar n = 0; n < NIBBLES; n = n + 1) begin : g_nibble
    localparam logic [127:0] C = COLUMNS[n*128+:128];
`ifdef SYNTHESIS
    // No table: Yosys would take a register before it for that of a synchronous ROM, and move it after the table.
    assign parts[n*32+:32] = ({32{x[4*n]}} & C[31:0]) ^ ({32{x[4*n+1]}} & C[63:32])
        ^ ({32{x[4*n+2]}} & C[95:64]) ^ ({32{x[4*n+3]}} & C[127:96]);
`else
    logic [31:0] table_q [0:15];  // constant
    integer v;
    initial begin
      for (v = 0; v < 16; v = v + 1)
        table_q[v] = (v[0] ? C[31:0] : 32'h0) ^ (v[1] ? C[63:32] : 32'h0)
            ^ (v[2] ? C[95:64] : 32'h0) ^ (v[3] ? C[127:96] : 32'h0);
    end
    assign parts[n*32+:32] = table_q[x[n*4+:4]];
`endif
  end

  always_comb begin
    crc_o = '0;
    if (en_i) for (int k = 0; k < NIBBLES; k = k + 1) crc_o = crc_o ^ parts[k*32+:32];
  end

`ifndef SYNTHESIS
  initial if (DATA_W < 32 || DATA_W > 512 || DATA_W % 4 !=
    0) $error("crc32: DATA_W must be 32 to 512, a multiple of 4");
`endif
endmodule

`default_nettype wire
