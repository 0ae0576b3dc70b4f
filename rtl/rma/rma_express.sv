// SPDX-License-Identifier: Apache-2.0
// Packets whose payload is in the descriptor: loaded when the descriptor's turn comes, sent from a shift register. The
// data of a put
// move to their place in the first DW, and what lies behind the last byte becomes 0, as a beat goes out. An immediate
// or inline put
// that crosses a multiple of the MTU makes two packets.
`default_nettype none

module rma_express #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [1:0]          cfg_mtu_i,   // 64 << cfg_mtu_i bytes, at most 256

    // a packet; only while free_o was 1 and nothing was loaded since
    input  wire logic                load_i,
    input  wire logic                tail_i,      // the NOTIFY of a put
    input  wire logic [3:0]          status_i,    // of the put
    input  wire logic [7:0]          vpid_i,
    input  wire logic [15:0]         pd_i,
    input  wire logic [7:0]          epoch_i,     // header field
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::desc_w0_t  w0_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [63:0]         w1_i,
    input  wire logic [63:0]         w2_i,
    input  wire logic [63:0]         cookie_i,
    input  wire logic [511:0]        slots_i,     // the slots behind the first
    output      logic                free_o,      // nothing is left after this cycle
    output      logic                held_o,      // a packet of context held_vpid_o is not out
    output      logic [7:0]          held_vpid_o,

    output      logic                tx_valid_o,
    input  wire logic                tx_ready_i,
    output      logic                tx_sop_o,
    output      logic                tx_eop_o,
    output      ggas_pkg::rma_hdr_t  tx_hdr_o,
    output      logic [DATA_W-1:0]   tx_data_o
);

  localparam int unsigned BEAT_DW = DATA_W / 32;
  localparam logic [4:0] BEAT = BEAT_DW[4:0];
  localparam int unsigned STEP_W = $clog2(BEAT_DW) + 1;
  localparam int unsigned PAY_W = 640;  // a message: 4 DW and 64 bytes

  // ---------------------------------------------------------------- the packet of a descriptor
  ggas_pkg::rma_hdr_t hdr;
  logic [PAY_W-1:0]   pay;
  logic [1:0]         skew;     // first byte in the first DW
  logic [6:0]         span;     // payload bytes from the first DW's first to the last
  logic [4:0]         total;    // payload DW
  logic [5:0]         room;     // DW up to the border, less 1
  logic               put, split;
  logic [3:0]         end_be;

  always_comb begin
    hdr    = '0;
    pay    = '0;
    skew   = '0;
    span   = 7'd16;
    total  = 5'd4;
    room   = '0;
    split  = 1'b0;
    end_be = '0;
    put    = !tail_i && rma_requester_pkg::is_put(w0_i.op);
    if (load_i) begin
      hdr.addr  = w2_i;
      hdr.op    = ggas_pkg::OP_RMA_NOTIFY;
      hdr.svpid = vpid_i;
      hdr.epoch = epoch_i;
      hdr.dvpid = w0_i.dvpid;
      hdr.pd    = pd_i;
      hdr.dst   = w0_i.node;
      hdr.src   = cfg_node_i;
      hdr.vc    = ggas_pkg::VC_RMA;
      hdr.flags[ggas_pkg::RMA_LAST] = 1'b1;
      hdr.flags[ggas_pkg::RMA_ACK]  = 1'b1;
      // What lies behind `span` does not matter.
      pay = {128'd0, slots_i[511:64], w0_i.op == ggas_pkg::DESC_IMM ? w1_i : slots_i[63:0]};

      if (put) begin
        skew   = w2_i[1:0];
        span   = w0_i.size[6:0] + {5'd0, skew};
        total  = span[6:2] + {4'd0, span[1:0] != 2'd0};
        end_be = rma_requester_pkg::be_to(span[1:0]);
        room   = cfg_mtu_i == 2'd0 ? {2'd0, ~w2_i[5:2]} : cfg_mtu_i == 2'd1 ? {1'd0, ~w2_i[6:2]} : ~w2_i[7:2];
        split  = {1'b0, total} > {1'b0, room[4:0]} + 6'd1 && !room[5];
        hdr.op       = ggas_pkg::OP_RMA_PUT;
        hdr.len_dw   = split ? {5'd0, room} + 11'd1 : {6'd0, total};
        hdr.first_be = rma_requester_pkg::be_from(skew) & (total == 5'd1 ? end_be : 4'hf);
        hdr.last_be  = hdr.len_dw == 11'd1 ? 4'h0 : split ? 4'hf : end_be;
        hdr.flags[ggas_pkg::RMA_FIRST] = 1'b1;
        hdr.flags[ggas_pkg::RMA_LAST] = !w0_i.notify_completer && !split;
        hdr.flags[ggas_pkg::RMA_ACK]  = w0_i.ack && !w0_i.notify_completer && !split;
      end else if (w0_i.op == ggas_pkg::DESC_GET) begin
        total      = 5'd6;
        span       = 7'd24;
        pay[191:0] = {32'd0, 8'd0, w0_i.size, cookie_i, w2_i};
        hdr.op     = ggas_pkg::OP_RMA_GET;
        hdr.addr   = w1_i;
        hdr.flags[ggas_pkg::RMA_RESPONDER] = w0_i.notify_responder;
      end else if (w0_i.op == ggas_pkg::DESC_ATOMIC) begin
        total      = 5'd10;
        span       = 7'd40;
        pay[319:0] = {32'd0, w0_i.size[3], slots_i[158:128], cookie_i, slots_i[127:0], w1_i};
        hdr.op     = ggas_pkg::OP_RMA_ATOMIC;
        hdr.flags[ggas_pkg::RMA_RESULT] = slots_i[127:64] != '0;
      end else if (w0_i.op == ggas_pkg::DESC_SEND) begin
        total    = 5'd4 + w0_i.size[6:2] + {4'd0, w0_i.size[1:0] != 2'd0};
        span     = 7'd16 + w0_i.size[6:0];
        pay      = {slots_i, 32'd0, 8'd0, w0_i.size, cookie_i};
        hdr.op   = ggas_pkg::OP_VELO_MSG;
        hdr.addr = '0;
      end else begin
        pay[127:0] = {28'd0, w0_i.op, 8'd0, w0_i.size, cookie_i};
        hdr.status = status_i;
        hdr.flags[ggas_pkg::RMA_FIRST]  = !tail_i;
        hdr.flags[ggas_pkg::RMA_STRONG] = w0_i.flush;
        if (!w0_i.flush) hdr.addr = '0;
      end
      if (!put) hdr.len_dw = {6'd0, total};
    end
  end

  // ---------------------------------------------------------------- the packet under way
  logic             valid_q, sop_q;
  logic [PAY_W-1:0] pay_q;
  logic [23:0]      past_q;    // the last three bytes that went out
  logic [1:0]       skew_q;
  logic [6:0]       span_q;    // payload bytes from here on, of both packets
  logic [4:0]       left_q;    // DW of this packet from here on
  logic [4:0]       next_q;    // DW of the packet behind it
  logic [3:0]       next_be_q; // bytes of that one's last DW
  logic             next_last_q, next_ack_q;
  ggas_pkg::rma_hdr_t hdr_q;

  wire eop   = left_q <= BEAT;
  wire taken = valid_q && tx_ready_i;
  wire [STEP_W-1:0] advance = eop ? left_q[STEP_W-1:0] : BEAT[STEP_W-1:0];  // DW of this beat
  assign free_o = !valid_q || (tx_ready_i && eop && next_q == '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      sop_q   <= 1'b0;
    end else if (load_i) begin
      valid_q <= 1'b1;
      sop_q   <= 1'b1;
    end else if (taken) begin
      valid_q <= !eop || next_q != '0;
      sop_q   <= eop;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      hdr_q       <= hdr;
      pay_q       <= pay;
      past_q      <= '0;
      skew_q      <= skew;
      span_q      <= span;
      left_q      <= hdr.len_dw[4:0];
      next_q      <= split ? total - hdr.len_dw[4:0] : 5'd0;
      next_be_q   <= end_be;
      next_last_q <= !w0_i.notify_completer;
      next_ack_q  <= w0_i.ack && !w0_i.notify_completer;
    end else if (taken) begin
      pay_q  <= pay_q >> {advance, 5'd0};
      past_q <= last_bytes;
      span_q <= span_q - {advance_dw, 2'd0};
      left_q <= eop ? next_q : left_q - BEAT;
      if (eop) begin
        next_q         <= '0;
        hdr_q.addr     <= {hdr_q.addr[63:2], 2'd0} + {51'd0, hdr_q.len_dw, 2'd0};
        hdr_q.len_dw   <= {6'd0, next_q};
        hdr_q.first_be <= next_q == 5'd1 ? next_be_q : 4'hf;
        hdr_q.last_be  <= next_q == 5'd1 ? 4'h0 : next_be_q;
        hdr_q.flags[ggas_pkg::RMA_FIRST] <= 1'b0;
        hdr_q.flags[ggas_pkg::RMA_LAST] <= next_last_q;
        hdr_q.flags[ggas_pkg::RMA_ACK]  <= next_ack_q;
      end
    end
  end

  // The beat: bytes before it and its own, moved up by the skew; nothing behind the last byte of the packet.
  logic [DATA_W-1:0] moved;
  logic [23:0]       last_bytes;
  wire [4:0]         advance_dw = eop ? left_q : BEAT;
  always_comb begin
    last_bytes = pay_q[31:8];
    for (int i = 1; i < BEAT_DW; i++) if (i[4:0] < advance_dw) last_bytes = pay_q[i*32+8+:24];
  end
  always_comb begin
    case (skew_q)
      2'd0:    moved = pay_q[DATA_W-1:0];
      2'd1:    moved = {pay_q[DATA_W-9:0], past_q[23:16]};
      2'd2:    moved = {pay_q[DATA_W-17:0], past_q[23:8]};
      default: moved = {pay_q[DATA_W-25:0], past_q};
    endcase
    tx_data_o = '0;
    if (valid_q) begin
      for (int i = 0; i < DATA_W / 8; i++)
        if (i[6:2] < left_q && i[6:0] < span_q) tx_data_o[i*8+:8] = moved[i*8+:8];
    end
  end
  assign tx_valid_o  = valid_q;
  assign tx_sop_o    = sop_q;
  assign tx_eop_o    = eop;
  assign tx_hdr_o    = hdr_q;
  assign held_o      = valid_q;
  assign held_vpid_o = hdr_q.svpid;

`ifndef SYNTHESIS
  initial if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("rma_express: DATA_W must be 64, 256 or 512");
  always_ff @(posedge clk_i) if (rst_ni && load_i) assert (!valid_q
    || (taken && eop && next_q == '0)) else $error("rma_express: packet overwritten");
`endif

endmodule

`default_nettype wire
