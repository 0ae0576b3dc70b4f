// SPDX-License-Identifier: Apache-2.0
// The next piece of a put or get: up to where the destination is a multiple of the MTU. Combinational.
`default_nettype none

module rma_chunk (
    input  wire logic [1:0]   cfg_mtu_i,   // as in rma_pkg::rma_mtu
    input  wire logic [23:0]  size_i,      // of the put or get
    input  wire logic [7:0]   dst_i,       // low bits of its destination
    input  wire logic [23:0]  offset_i,    // bytes before this piece
    output      logic         last_o,      // nothing is left over it
    output      logic [8:0]   bytes_o
);

  wire [23:0] left = size_i - offset_i;
  wire [7:0]  at   = dst_i + offset_i[7:0];
  wire [12:0] room = ggas_pkg::to_border({4'd0, at}, rma_pkg::rma_mtu(cfg_mtu_i));
  assign last_o  = left <= {11'd0, room};
  assign bytes_o = last_o ? left[8:0] : room[8:0];

endmodule

`default_nettype wire
