// SPDX-License-Identifier: Apache-2.0
// The next fetch command of a put: cut where the destination is a multiple of the MTU. Combinational.
`default_nettype none

module rma_chunk (
    input  wire logic                en_i,        // 0: nothing is worked out
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [1:0]          cfg_mtu_i,   // 64 << cfg_mtu_i bytes, at most 256
    input  wire logic [7:0]          vpid_i,
    input  wire logic [15:0]         pd_i,
    input  wire logic [7:0]          epoch_i,     // header field
    input  wire logic                tail_i,      // a NOTIFY packet follows
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::desc_w0_t  w0_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [63:0]         w1_i,        // source
    input  wire logic [63:0]         w2_i,        // destination
    input  wire logic [23:0]         offset_i,    // bytes before this chunk
    output      logic                last_o,      // nothing is left behind it
    output      logic [8:0]          bytes_o,
    output      logic [63:0]         nla_o,
    output      ggas_pkg::rma_hdr_t  hdr_o
);

  logic [63:0] dst;
  logic [23:0] left;
  logic [8:0]  room;   // bytes up to the border
  logic [8:0]  span;   // from the start of the first DW to the last byte
  logic [10:0] dws;
  logic [3:0]  tail_be;

  always_comb begin
    dst     = '0;
    left    = '0;
    room    = '0;
    span    = '0;
    dws     = '0;
    tail_be = '0;
    last_o  = 1'b0;
    bytes_o = '0;
    nla_o   = '0;
    hdr_o   = '0;
    if (en_i) begin
      dst     = w2_i + {40'd0, offset_i};
      nla_o   = w1_i + {40'd0, offset_i};
      left    = w0_i.size - offset_i;
      case (cfg_mtu_i)
        2'd0:    room = 9'd64 - {3'd0, dst[5:0]};
        2'd1:    room = 9'd128 - {2'd0, dst[6:0]};
        default: room = 9'd256 - {1'd0, dst[7:0]};
      endcase
      last_o  = left <= {15'd0, room};
      bytes_o = last_o ? left[8:0] : room;
      span    = bytes_o + {7'd0, dst[1:0]};  // 256 at most: a chunk ends at its border
      dws     = {4'd0, span[8:2]} + {10'd0, span[1:0] != 2'd0};
      tail_be = rma_requester_pkg::be_to(span[1:0]);

      hdr_o.addr     = dst;
      hdr_o.op       = ggas_pkg::OP_RMA_PUT;
      hdr_o.len_dw   = dws;
      hdr_o.first_be = rma_requester_pkg::be_from(dst[1:0]) & (dws == 11'd1 ? tail_be : 4'hf);
      hdr_o.last_be  = dws == 11'd1 ? 4'h0 : tail_be;
      hdr_o.svpid    = vpid_i;
      hdr_o.epoch    = epoch_i;
      hdr_o.dvpid    = w0_i.dvpid;
      hdr_o.pd       = pd_i;
      hdr_o.dst      = w0_i.node;
      hdr_o.src      = cfg_node_i;
      hdr_o.vc       = ggas_pkg::VC_RMA;
      hdr_o.flags[ggas_pkg::RMA_FIRST] = offset_i == '0;
      hdr_o.flags[ggas_pkg::RMA_LAST] = last_o && !tail_i;
      hdr_o.flags[ggas_pkg::RMA_ACK]  = last_o && !tail_i && w0_i.ack;
    end
  end

endmodule

`default_nettype wire
