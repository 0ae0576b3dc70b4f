// SPDX-License-Identifier: Apache-2.0
// The header of a GET_DATA packet. Combinational.
`default_nettype none

module rma_responder_cut (
    input  wire logic                en_i,       // 0: nothing is worked out
    input  wire logic [15:0]         cfg_node_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::rma_hdr_t  get_i,      // header of the GET
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [63:0]         dst_i,      // destination of the packet
    input  wire logic [8:0]          bytes_i,
    input  wire logic                first_i,    // the first packet of its get
    input  wire logic [3:0]          place_i,    // of the get
    output      ggas_pkg::rma_hdr_t  hdr_o
);
  logic [8:0]  span;   // bytes from the start of the first DW to the last byte
  logic [8:0]  dws;
  logic [3:0]  tail_be;

  always_comb begin
    {span, dws, tail_be} = '0;
    hdr_o   = '0;
    if (en_i) begin
      span    = bytes_i + {7'd0, dst_i[1:0]};
      dws     = {2'd0, span[8:2]} + {8'd0, span[1:0] != 2'd0};
      tail_be = 4'hf >> (2'd0 - span[1:0]);

      hdr_o.addr     = dst_i;
      hdr_o.op       = ggas_pkg::OP_RMA_GET_DATA;
      hdr_o.first_be = (4'hf << dst_i[1:0]) & (dws == 9'd1 ? tail_be : 4'hf);
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
      hdr_o.flags[rma_pkg::RMA_FIRST] = first_i;
    end
  end
endmodule

`default_nettype wire
