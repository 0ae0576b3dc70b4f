// SPDX-License-Identifier: Apache-2.0
// How much the next fetch command of a put fetches: up to where the destination is a multiple of the MTU.
// Combinational.
`default_nettype none

module rma_chunk (
    input  wire logic [1:0]   cfg_mtu_i,   // 64 << cfg_mtu_i bytes, at most 256
    input  wire logic [23:0]  size_i,      // of the put
    input  wire logic [7:0]   dst_i,       // low bits of its destination
    input  wire logic [23:0]  offset_i,    // bytes before this chunk
    output      logic         last_o,      // nothing is left behind it
    output      logic [8:0]   bytes_o
);

  wire [23:0] left = size_i - offset_i;
  wire [7:0]  at   = dst_i + offset_i[7:0];
  logic [8:0] room;  // bytes up to the border
  always_comb begin
    case (cfg_mtu_i)
      2'd0:    room = 9'd64 - {3'd0, at[5:0]};
      2'd1:    room = 9'd128 - {2'd0, at[6:0]};
      default: room = 9'd256 - {1'd0, at};
    endcase
  end
  assign last_o  = left <= {15'd0, room};
  assign bytes_o = last_o ? left[8:0] : room;

endmodule

`default_nettype wire
