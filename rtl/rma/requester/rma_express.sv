// SPDX-License-Identifier: Apache-2.0
// Packets whose payload is in the descriptor. They begin when the descriptor's turn comes; their payload is read word
// by word from the words of the first slot, kept here, and from the requester's copy of the other slots. When a beat
// leaves, the data of a put are moved to their place in the first DW, and bytes after the last one become 0. An
// immediate or inline put that crosses a multiple of the MTU makes two packets.
`default_nettype none

module rma_express #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [1:0]          cfg_mtu_i,   // 64 << cfg_mtu_i bytes, at most 256

    // a packet; only while free_o
    input  wire logic                load_i,
    input  wire logic                go_i,        // with load_i: it goes out
    input  wire logic                tail_i,      // the NOTIFY of a put
    input  wire logic [3:0]          status_i,    // of the put
    input  wire logic [7:0]          vpid_i,
    input  wire logic [15:0]         pd_i,
    input  wire logic [7:0]          epoch_i,     // header field
    // verilator lint_off UNUSEDSIGNAL
    input  wire rma_pkg::desc_w0_t  w0_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [63:0]         w1_i,        // words of the first slot
    input  wire logic [63:0]         w2_i,
    input  wire logic [63:0]         cookie_i,
    // the slots after the first, from load_i on until free_o
    input  wire logic [511:0]        slots_i,
    output      logic                free_o,      // nothing is left
    output      logic                ends_o,      // a single beat is left, which reads no slots: a packet of one beat
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
  localparam int unsigned QUADS = DATA_W / 64, QUAD_W = $clog2(QUADS) + 1, BYTES_W = $clog2(DATA_W / 8);

  // ---------------------------------------------------------------- the packet of a descriptor
  ggas_pkg::rma_hdr_t hdr;
  logic [1:0]         skew;     // first byte in the first DW
  logic [6:0]         span;     // payload bytes from the first DW's first to the last
  logic [4:0]         total;    // payload DW
  logic [5:0]         dw;       // DW from the border in front
  logic [4:0]         more;     // put: DW after the first
  logic [6:0]         reach;    // the last DW as `dw`
  logic               put, split, single;
  logic [3:0]         end_be;

  // Number of DWs, 0 to 2, in addition to the whole ones: they hold the skew and the first bytes of the source's last
  // DW. The equations are written out, because a carry chain is slow to enter.
  wire [1:0] ends  = w0_i.size[1:0];
  wire [1:0] from  = w2_i[1:0];
  wire       two   = ends[1] && from[1] && (ends[0] || from[0]);
  wire [1:0] extra = {two, !two && {ends, from} != 4'd0};
  wire [1:0] stop  = {ends[1] ^ from[1] ^ (ends[0] & from[0]), ends[0] ^ from[0]};  // after the last byte, in its DW

  // Of a put: where it is cut, and the bytes of its last DW.
  assign put = !tail_i && rma_requester_pkg::is_put(w0_i.op);
  always_comb begin
    dw     = '0;
    more   = '0;
    reach  = '0;
    split  = 1'b0;
    end_be = '0;
    if (load_i && put) begin
      more   = w0_i.size[6:2] + {{4{extra == 2'd0}}, extra[1] || extra == 2'd0};
      end_be = rma_requester_pkg::be_to(stop);
      dw     = cfg_mtu_i == 2'd0 ? {2'd0, w2_i[5:2]} : cfg_mtu_i == 2'd1 ? {1'd0, w2_i[6:2]} : w2_i[7:2];
      reach  = {1'b0, dw} + {2'd0, more};
      split  = cfg_mtu_i == 2'd0 ? reach[4] : cfg_mtu_i == 2'd1 ? reach[5] : reach[6];
    end
  end

  always_comb begin
    hdr    = '0;
    skew   = '0;
    span   = 7'd16;
    total  = 5'd4;
    single = 1'b0;
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
      hdr.flags[rma_pkg::RMA_LAST] = 1'b1;
      hdr.flags[rma_pkg::RMA_ACK]  = 1'b1;

      if (put) begin
        skew   = w2_i[1:0];
        span   = w0_i.size[6:0] + {5'd0, skew};
        total  = w0_i.size[6:2] + {3'd0, extra};
        hdr.op       = ggas_pkg::OP_RMA_PUT;
        hdr.len_dw   = split ? {6'd0, dw[3:0] == 4'd0, 4'd0 - dw[3:0]} : {6'd0, total};
        hdr.first_be = rma_requester_pkg::be_from(skew) & (total == 5'd1 ? end_be : 4'hf);
        single       = split ? dw[3:0] == 4'hf : total == 5'd1;
        hdr.last_be  = single ? 4'h0 : split ? 4'hf : end_be;
        hdr.flags[rma_pkg::RMA_FIRST] = 1'b1;
        hdr.flags[rma_pkg::RMA_LAST] = !w0_i.notify_completer && !split;
        hdr.flags[rma_pkg::RMA_ACK]  = w0_i.ack && !w0_i.notify_completer && !split;
      end else if (w0_i.op == rma_pkg::DESC_GET) begin
        total    = 5'd6;
        span     = 7'd24;
        hdr.op   = ggas_pkg::OP_RMA_GET;
        hdr.addr = w1_i;
        hdr.flags[rma_pkg::RMA_RESPONDER] = w0_i.notify_responder;
      end else if (w0_i.op == rma_pkg::DESC_ATOMIC) begin
        total    = 5'd10;
        span     = 7'd40;
        hdr.op   = ggas_pkg::OP_RMA_ATOMIC;
        hdr.flags[rma_pkg::RMA_RESULT] = slots_i[127:64] != '0;
      end else if (w0_i.op == rma_pkg::DESC_SEND) begin
        total    = 5'd4 + w0_i.size[6:2] + {4'd0, w0_i.size[1:0] != 2'd0};
        span     = 7'd16 + w0_i.size[6:0];
        hdr.op   = ggas_pkg::OP_VELO_MSG;
        hdr.addr = '0;
      end else begin
        hdr.status = status_i;
        hdr.flags[rma_pkg::RMA_FIRST]  = !tail_i;
        hdr.flags[rma_pkg::RMA_STRONG] = w0_i.flush;
        if (!w0_i.flush) hdr.addr = '0;
      end
      if (!put) hdr.len_dw = {6'd0, total};
    end
  end

  // ---------------------------------------------------------------- the packet under way
  logic             valid_q, sop_q;
  logic             tail_q;    // it is the NOTIFY of a put
  logic             short_q;   // a beat in all, none of slots
  logic [3:0]       op_q;      // its descriptor's, with size and words
  logic [23:0]      size_q;
  logic [191:0]     words_q;
  logic [3:0]       beat_q;    // beats of both packets that went out
  logic [DATA_W-9:0] past_q;   // the word before, but for its first byte
  logic [BYTES_W-1:0] skew_q;  // bytes that the words move up
  logic [6:0]       span_q;    // payload bytes from here on, of both packets
  logic [4:0]       left_q;    // DW of this packet from here on
  logic [4:0]       next_q;    // DW of the packet after it
  logic [3:0]       next_be_q; // bytes of that one's last DW
  logic             next_last_q, next_ack_q;
  ggas_pkg::rma_hdr_t hdr_q;

  wire eop   = left_q <= BEAT;
  wire taken = valid_q && tx_ready_i;
  assign free_o = !valid_q;
  assign ends_o = short_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      sop_q   <= 1'b0;
    end else if (load_i) begin
      valid_q <= go_i;
      sop_q   <= 1'b1;
    end else if (taken) begin
      valid_q <= !eop || next_q != '0;
      sop_q   <= eop;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      hdr_q       <= hdr;
      tail_q      <= tail_i;
      short_q     <= !split && total <= BEAT && (tail_i || !rma_requester_pkg::has_slots(w0_i.op));
      op_q        <= w0_i.op;
      size_q      <= w0_i.size;
      words_q     <= {cookie_i, w2_i, w1_i};
      beat_q      <= '0;
      past_q      <= '0;
      skew_q      <= {{(BYTES_W - 2) {1'b0}}, skew};
      span_q      <= span;
      left_q      <= hdr.len_dw[4:0];
      next_q      <= split ? {1'b0, reach[3:0]} + 5'd1 : 5'd0;
      next_be_q   <= end_be;
      next_last_q <= !w0_i.notify_completer;
      next_ack_q  <= w0_i.ack && !w0_i.notify_completer;
    end else if (taken) begin
      beat_q <= beat_q + 4'd1;
      past_q <= word[DATA_W-1:8];
      span_q <= span_q - {advance_dw, 2'd0};
      left_q <= eop ? next_q : left_q - BEAT;
      if (eop) begin
        next_q         <= '0;
        skew_q         <= skew_q - {left_q[BYTES_W-3:0], 2'd0};  // the next one begins with what is left over
        hdr_q.addr     <= {hdr_q.addr[63:2], 2'd0} + {51'd0, hdr_q.len_dw, 2'd0};
        hdr_q.len_dw   <= {6'd0, next_q};
        hdr_q.first_be <= next_q == 5'd1 ? next_be_q : 4'hf;
        hdr_q.last_be  <= next_q == 5'd1 ? 4'h0 : next_be_q;
        hdr_q.flags[rma_pkg::RMA_FIRST] <= 1'b0;
        hdr_q.flags[rma_pkg::RMA_LAST] <= next_last_q;
        hdr_q.flags[rma_pkg::RMA_ACK]  <= next_ack_q;
      end
    end
  end

  // Words of the payload as they come; what lies after `span_q` does not matter.
  logic [DATA_W-1:0]  word;
  function automatic logic [63:0] quad(input logic [3:0] n, input logic notify, input logic [3:0] op,
                                       input logic [23:0] bytes, input logic [191:0] words,
                                       input logic [511:0] slots);
    logic [2:0]  at;
    logic [63:0] w1, w2, cookie, slot, size;
    {cookie, w2, w1} = words;
    at   = n[2:0];
    size = {40'd0, bytes};
    if (op == rma_pkg::DESC_SEND) at = n[2:0] - 3'd2;
    if (op == rma_pkg::DESC_ATOMIC) at = n[2:0] - 3'd1;
    slot = slots[{at, 6'd0}+:64];
    quad = slot;
    if (notify) begin
      quad = n[0] ? {28'd0, op, 8'd0, bytes} : cookie;
    end else begin
      case (op)
        rma_pkg::DESC_INLINE: quad = slot;
        rma_pkg::DESC_IMM:    quad = w1;
        rma_pkg::DESC_SEND:   quad = n == 4'd0 ? cookie : n == 4'd1 ? size : slot;
        rma_pkg::DESC_GET:    quad = n[1] ? size : n[0] ? cookie : w2;
        rma_pkg::DESC_ATOMIC: quad = n[2] ? {32'd0, bytes[3], slots[158:128]} : n[1:0] == 2'd0 ? w1
          : n[1:0] == 2'd3 ? cookie : slot;
        default:               quad = slot;
      endcase
    end
  endfunction
  wire notify = tail_q || op_q == rma_pkg::DESC_NOTIFY;
  always_comb begin
    word = '0;
    if (valid_q) begin
      for (int i = 0; i < QUADS; i++)
        word[i*64+:64] = quad((beat_q << (QUAD_W - 1)) | i[3:0], notify, op_q, size_q, words_q, slots_i);
    end
  end

  // The beat: bytes of the word before it and its own, moved up by the skew; nothing after the packet's last byte.
  wire [4:0]           advance_dw = eop ? left_q : BEAT;
  logic [DATA_W-1:0]   moved;
  wire  [2*DATA_W-1:0] both = {word, past_q, 8'd0};
  always_comb begin
    moved = '0;
    if (valid_q) moved = both[{1'b1, {(BYTES_W + 3) {1'b0}}} - {1'b0, skew_q, 3'd0}+:DATA_W];
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
  always_ff @(posedge clk_i) if (rst_ni && load_i) assert (!valid_q) else $error("rma_express: packet overwritten");
`endif

endmodule

`default_nettype wire
