// SPDX-License-Identifier: Apache-2.0
// Next state of the link's CRC-32 (reflected 0xEDB88320) after DATA_W more bits, bytes in little-endian order. Initial
// value and final inversion are the user's. The function is linear, so the new state is the xor of one 16-entry table a
// nibble: small LUTs in hardware, a handful of loads in simulation.
`default_nettype none

module crc32 #(
    parameter int unsigned DATA_W = 64  // 32 or more, a multiple of 4
) (
    input  wire logic              en_i,    // 0: crc_o is 0 and nothing is worked out
    input  wire logic [31:0]       crc_i,
    input  wire logic [DATA_W-1:0] data_i,
    output      logic [31:0]       crc_o
);
  localparam int unsigned NIBBLES = DATA_W / 4;

  logic [31:0] table_q [0:NIBBLES*16-1];  // constant
  logic [DATA_W-1:0] x;

  // Entry: the state that `value` in nibble `pos` leaves behind once all bits above it, being 0, have passed.
  integer pos, value, i;
  logic [31:0] c;
  initial begin
    for (value = 0; value < 16; value = value + 1) begin
      c = value;
      for (i = 0; i < 4; i = i + 1) c = (c >> 1) ^ (c[0] ? 32'hEDB88320 : 32'h0);
      for (pos = NIBBLES - 1; pos >= 0; pos = pos - 1) begin
        table_q[pos*16+value] = c;
        for (i = 0; i < 4; i = i + 1) c = (c >> 1) ^ (c[0] ? 32'hEDB88320 : 32'h0);
      end
    end
  end

  always_comb begin
    crc_o = '0;
    x = '0;
    if (en_i) begin
      x = data_i;
      x[31:0] = data_i[31:0] ^ crc_i;
      for (int n = 0; n < NIBBLES; n = n + 1) crc_o = crc_o ^ table_q[n*16+{28'd0, x[n*4+:4]}];
    end
  end

`ifndef SYNTHESIS
  initial if (DATA_W < 32 || DATA_W % 4 != 0) $error("crc32: DATA_W must be at least 32 and a multiple of 4");
`endif
endmodule

`default_nettype wire
