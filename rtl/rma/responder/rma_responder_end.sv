// SPDX-License-Identifier: Apache-2.0
// The end of a get: the responder's notification if it was asked for, then GET_DONE. One get at a time.
`default_nettype none

module rma_responder_end (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [15:0]         cfg_node_i,

    // a get that is over; its record stands still from the cycle after start_i until end_o
    input  wire logic                start_i,
    output      logic                idle_o,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::rma_hdr_t  get_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [63:0]         cookie_i,
    input  wire logic [23:0]         size_i,
    input  wire logic [3:0]          place_i,    // of the get
    input  wire logic [3:0]          status_i,
    output      logic                end_o,

    // client 2 of rma_notify
    output      logic                nt_valid_o,
    input  wire logic                nt_ready_i,
    output      logic [7:0]          nt_vpid_o,
    output      logic [15:0]         nt_pd_o,
    output      logic [63:0]         nt_w0_o,
    output      rma_pkg::note_w1_t  nt_w1_o,
    input  wire logic                nt_rsp_valid_i,
    input  wire logic [3:0]          nt_rsp_status_i,

    // GET_DONE: one beat, no payload
    output      logic                rsp_valid_o,
    input  wire logic                rsp_ready_i,
    output      ggas_pkg::rma_hdr_t  rsp_hdr_o,

    // CONTEXT_OFF, or BAD_PACKET; stands until it is taken
    output      logic                ev_off_o,
    output      logic                ev_bad_o,
    input  wire logic                ev_ready_i,
    output      logic                cnt_gets_o
);
  localparam logic [2:0] E_IDLE = 3'd0, E_LOOK = 3'd1, E_NOTE = 3'd2, E_WAIT = 3'd3, E_OFF = 3'd4, E_BAD = 3'd5,
    E_DONE = 3'd6;
  logic [2:0] state_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= E_IDLE;
    else begin
      case (state_q)
        E_IDLE:  if (start_i) state_q <= E_LOOK;
        E_LOOK:  state_q <= status_i == ggas_pkg::ST_BAD ? E_BAD : get_i.flags[rma_pkg::RMA_RESPONDER] ? E_NOTE
          : E_DONE;
        E_NOTE:  if (nt_ready_i) state_q <= E_WAIT;
        E_WAIT:  if (nt_rsp_valid_i) state_q <= nt_rsp_status_i == ggas_pkg::ST_DISABLED ? E_OFF : E_DONE;
        E_DONE:  if (rsp_ready_i) state_q <= E_IDLE;
        default: if (ev_ready_i) state_q <= E_DONE;
      endcase
    end
  end
  assign idle_o     = state_q == E_IDLE;
  assign end_o      = rsp_valid_o && rsp_ready_i;
  assign cnt_gets_o = end_o && status_i == ggas_pkg::ST_OK;
  assign ev_off_o   = state_q == E_OFF;
  assign ev_bad_o   = state_q == E_BAD;

  assign nt_valid_o = state_q == E_NOTE;
  assign nt_vpid_o  = get_i.dvpid;
  assign nt_pd_o    = get_i.pd;
  assign nt_w0_o    = cookie_i;
  always_comb begin
    nt_w1_o = '0;
    if (nt_valid_o) begin
      nt_w1_o.kind   = rma_pkg::NOTE_RESPONDER;
      nt_w1_o.status = status_i;
      nt_w1_o.op     = {4'd0, rma_pkg::DESC_GET};
      nt_w1_o.node   = get_i.src;
      nt_w1_o.vpid   = get_i.svpid;
      nt_w1_o.size   = size_i;
    end
  end

  assign rsp_valid_o = state_q == E_DONE;
  always_comb begin
    rsp_hdr_o = '0;
    if (rsp_valid_o) begin
      rsp_hdr_o.addr   = get_i.addr;
      rsp_hdr_o.op     = ggas_pkg::OP_RMA_GET_DONE;
      rsp_hdr_o.status = status_i;
      rsp_hdr_o.svpid  = get_i.svpid;
      rsp_hdr_o.epoch  = get_i.epoch;
      rsp_hdr_o.dvpid  = get_i.dvpid;
      rsp_hdr_o.pd     = get_i.pd;
      rsp_hdr_o.place  = place_i;
      rsp_hdr_o.dst    = get_i.src;
      rsp_hdr_o.src    = cfg_node_i;
      rsp_hdr_o.vc     = ggas_pkg::VC_RSP;
    end
  end
endmodule

`default_nettype wire
