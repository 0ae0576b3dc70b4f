// SPDX-License-Identifier: Apache-2.0
// The next GET_DATA packet of a get: cut where the destination is a multiple of the MTU. Combinational.
`default_nettype none

module rma_responder_cut (
    input  wire logic                en_i,       // 0: nothing is worked out
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [1:0]          cfg_mtu_i,  // as in ggas_pkg::rma_mtu
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::rma_hdr_t  get_i,      // header of the GET
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [63:0]         dst_i,
    input  wire logic [23:0]         size_i,
    input  wire logic [23:0]         offset_i,   // bytes before this packet
    input  wire logic                first_i,    // there are none
    input  wire logic [3:0]          place_i,    // of the get
    output      logic                last_o,     // nothing is left behind it
    output      logic [8:0]          bytes_o,
    output      logic [63:0]         nla_o,      // source
    output      ggas_pkg::rma_hdr_t  hdr_o
);
  logic [63:0] dst;
  logic [8:0]  span;   // bytes from the start of the first DW to the last byte
  logic [8:0]  dws;
  logic [3:0]  tail_be;

  rma_chunk u_chunk (.cfg_mtu_i, .size_i, .dst_i(dst_i[7:0]), .offset_i, .last_o, .bytes_o);

  always_comb begin
    {dst, span, dws, tail_be} = '0;
    nla_o   = '0;
    hdr_o   = '0;
    if (en_i) begin
      dst   = dst_i + {40'd0, offset_i};
      nla_o = get_i.addr + {40'd0, offset_i};
      span    = bytes_o + {7'd0, dst[1:0]};
      dws     = {2'd0, span[8:2]} + {8'd0, span[1:0] != 2'd0};
      tail_be = 4'hf >> (2'd0 - span[1:0]);

      hdr_o.addr     = dst;
      hdr_o.op       = ggas_pkg::OP_RMA_GET_DATA;
      hdr_o.first_be = (4'hf << dst[1:0]) & (dws == 9'd1 ? tail_be : 4'hf);
      hdr_o.last_be  = dws == 9'd1 ? 4'h0 : tail_be;
      hdr_o.svpid    = get_i.svpid;
      hdr_o.epoch    = get_i.epoch;
      hdr_o.dvpid    = get_i.dvpid;
      hdr_o.pd       = get_i.pd;
      hdr_o.place    = place_i;
      hdr_o.dst      = get_i.src;
      hdr_o.src      = cfg_node_i;
      hdr_o.len_dw   = {2'd0, dws};
      hdr_o.vc       = ggas_pkg::VC_RSP;
      hdr_o.flags[ggas_pkg::RMA_FIRST] = first_i;
    end
  end
endmodule

`default_nettype wire
