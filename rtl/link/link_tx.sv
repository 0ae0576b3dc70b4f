// SPDX-License-Identifier: Apache-2.0
// Sending half of the link: packets to flits. A unit's header is on the wire one cycle after it was offered; payload
// follows beat by beat, and a pause of the unit is a pause on the wire, filled with a CTRL flit if there is one. A
// packet starts only when the other side has room for the longest packet: its own length is not checked, so that it
// does not delay its first flit.
`default_nettype none

module link_tx #(
    parameter int unsigned DATA_W   = 64,  // 64, 256 or 512
    parameter int unsigned VC_DEPTH = 256  // units in the buffer of the other side, a channel
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                clear_i,          // DOWN: credits start again
    input  wire logic                up_i,
    input  wire logic [link_pkg::SESSION_TAG_W-1:0] session_i,  // what packets are marked with
    // packets; one bit or slice a channel
    input  wire logic [ggas_pkg::CHANNELS-1:0]    tx_valid_i,
    output      logic [ggas_pkg::CHANNELS-1:0]    tx_ready_o,
    input  wire logic [ggas_pkg::CHANNELS-1:0]    tx_sop_i,
    input  wire logic [ggas_pkg::CHANNELS-1:0]    tx_eop_i,
    input  wire logic [ggas_pkg::CHANNELS*ggas_pkg::NET_HDR_W-1:0] tx_hdr_i,
    input  wire logic [ggas_pkg::CHANNELS*DATA_W-1:0] tx_data_i,
    input  wire logic [ggas_pkg::CHANNELS-1:0]    tx_waits_i,  // a packet is not offered before there is room for it
    input  wire logic [ggas_pkg::CHANNELS*3-1:0]  tx_pending_i, // with several links: so many wait, which have room
    output      logic [ggas_pkg::CHANNELS-1:0]    tx_room_o,   // for any packet next to those
    // flits
    output      logic                link_tx_valid_o,
    input  wire logic                link_tx_ready_i,
    output      logic [1:0]          link_tx_kind_o,
    output      logic [DATA_W-1:0]   link_tx_data_o,
    // CTRL flits
    input  wire logic                ctrl_valid_i,
    input  wire logic                ctrl_urgent_i,
    input  wire logic [63:0]         ctrl_flit_i,
    output      logic                ctrl_sent_o,
    output      logic                packet_flit_o,    // another flit was sent
    // credits of the other side, said in this session
    input  wire logic                credit_valid_i,
    input  wire logic [2:0]          credit_vc_i,
    input  wire logic [link_pkg::CREDIT_W-1:0] credit_i,
    output      logic [ggas_pkg::CHANNELS-1:0]    starved_o,   // a packet waits for credits
    // replay buffer
    output      logic                wr_valid_o,       // this new flit was sent: keep it
    output      logic                wr_first_o,
    output      logic                wr_last_o,
    output      logic [DATA_W-1:0]   wr_data_o,
    output      logic                wr_store_o,
    input  wire logic                room_i,           // a packet may be begun in the next cycle
    input  wire logic [7:0]          seq_i,
    output      logic                boundary_o,       // no new packet is half sent, or half kept
    input  wire logic                rp_valid_i,
    output      logic                rp_ready_o,
    input  wire logic                rp_first_i,
    input  wire logic                rp_last_i,
    input  wire logic [DATA_W-1:0]   rp_data_i,
    // status
    output      logic                working_o,        // the next edge does something
    output      logic                idle_o,           // no packet is half accepted, or half kept
    output      logic                lost_o,           // a posted packet, half or just accepted, was discarded
    output      logic                cnt_packets_o
);
  localparam int unsigned HW = ggas_pkg::NET_HDR_W;
  localparam int unsigned NC = ggas_pkg::CHANNELS;
  localparam logic [NC-1:0] POSTED = {ggas_pkg::LANES{4'b0001}};  // the channels of VC_P
  localparam int unsigned DW_FLIT = DATA_W / 32;
  localparam int unsigned DW_SHIFT = $clog2(DW_FLIT);
  localparam logic [link_pkg::CREDIT_W-1:0] ROUND_UP = DW_FLIT[link_pkg::CREDIT_W-1:0] - 1'b1;

  // W1, W2: header words of a 64-bit link. EOP: the rest after the unit's last beat. DRAIN: the link died during the
  // packet, and the rest of it is discarded.
  typedef enum logic [2:0] {S_IDLE, S_W1, S_W2, S_DATA, S_EOP, S_DRAIN} state_t;
  state_t      state_q, state_d;
  logic [NC-1:0] cur_q, cur;     // channel of the packet, one-hot
  logic        begun_q, begun_d; // its first beat was taken

  // ---------------------------------------------------------------- credits
  localparam int unsigned CW = link_pkg::CREDIT_W;
  localparam int unsigned MOST = 1 + ggas_pkg::MTU * 8 / DATA_W;  // what a packet can cost
  localparam int unsigned TWICE = 2 * MOST;
  // With several links packets wait in queues in front of the link; each was accepted only when there was room for it
  // in addition to the packets that wait.
  localparam bit QUEUED = ggas_pkg::LINKS > 1;
  logic [CW-1:0] sent_q [0:NC-1];
  logic [CW-1:0] freed_q [0:NC-1];
  logic [CW-1:0] cost [0:NC-1];
  logic [CW-1:0] left [0:NC-1];
  logic [10:0] len_dw [0:NC-1];
  logic [NC-1:0] want, pay, room_d, room_q;  // room_q: for the longest packet
  // verilator lint_off UNUSEDSIGNAL
  ggas_pkg::net_hdr_t head;
  // verilator lint_on UNUSEDSIGNAL
  always_comb begin
    for (int v = 0; v < NC; v = v + 1) begin
      head = tx_hdr_i[v*HW+:HW];
      len_dw[v] = head.len_dw;
      want[v] = up_i && tx_valid_i[v] && tx_sop_i[v];
      cost[v] = (({2'b0, len_dw[v]} + ROUND_UP) >> DW_SHIFT) + 1'b1;
      pay[v]  = want[v] && (QUEUED || room_q[v]);
      left[v] = VC_DEPTH[CW-1:0] + freed_q[v] - sent_q[v];
    end
  end
  // Neither the packet that is begun in this cycle nor those that wait have been paid for in `left`.
  logic [CW-1:0] least [0:NC-1];
  logic [CW-1:0] packets;
  always_comb begin
    for (int v = 0; v < NC; v = v + 1) begin
      packets = 1;
      if (QUEUED) packets = {{(CW - 3) {1'b0}}, tx_pending_i[3*v+:3]} + 1'b1;
      least[v] = packets + (packets << $clog2(MOST - 1));  // MOST each
      room_d[v] = !QUEUED && first && grant[v] ? left[v] >= TWICE[CW-1:0] : left[v] >= least[v];
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) room_q <= '0;
    else room_q <= room_d;
  end
  assign tx_room_o = room_q;
  assign starved_o = (state_q == S_IDLE ? want & ~pay : '0) | (tx_waits_i & ~tx_room_o);

  // ---------------------------------------------------------------- what this cycle sends
  logic       slot;          // of the output stage, whatever the PHY does in this cycle
  logic       may_d, may_q, idle_q, may_begin, new_flit, rp_flit, ctrl_flit, first, cur_eop, cur_valid;
  logic       urgent, replay;  // what goes before a new flit
  logic [NC-1:0] grant;
  ggas_pkg::net_hdr_t hdr, hdr_new;  // of the packet under way, of the one that is begun
  logic [DATA_W-1:0]  beat;

  logic unused_locked;  // a packet's owner is kept in cur_q, from its first flit on
  arbiter_rr #(.N(NC)) i_arbiter (
      .clk_i, .rst_ni, .clear_i(1'b0), .req_i(pay & {NC{may_begin}}), .take_i(first), .eop_i(1'b1), .grant_o(grant),
      .locked_o(unused_locked)
  );

  // This is known before any request, mostly in the cycle before: if it is true, the granted channel's first flit is
  // sent. The PHY has then emptied the spare register, so there is a slot. idle_q is state_q == S_IDLE.
  assign may_begin = idle_q && up_i && may_q;
  assign may_d     = room_i && !urgent && (!link_tx_valid_o || link_tx_ready_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      idle_q <= 1'b1;
      may_q  <= 1'b0;
    end else begin
      idle_q <= state_d == S_IDLE;
      may_q  <= may_d;
    end
  end
  assign cur_valid = (tx_valid_i & cur_q) != '0;
  assign boundary_o = state_q == S_IDLE && !wr_valid_o;
  assign idle_o     = boundary_o;

  always_comb begin
    hdr = '0;
    hdr_new = '0;
    beat = '0;
    for (int v = 0; v < NC; v = v + 1) begin
      hdr = hdr | (tx_hdr_i[v*HW+:HW] & {HW{cur_q[v]}});
      hdr_new = hdr_new | (tx_hdr_i[v*HW+:HW] & {HW{grant[v]}});
      beat = beat | (tx_data_i[v*DATA_W+:DATA_W] & {DATA_W{cur[v]}});
    end
    hdr_new.version = first ? ggas_pkg::PACKET_VERSION : '0;
    hdr_new.seq = first ? seq_i : '0;
    hdr_new.session = first ? session_i : '0;
  end
  assign cur_eop = (tx_eop_i & cur) != '0;

  logic have;  // a packet has a flit to send
  always_comb begin
    case (state_q)
      S_IDLE:  have = pay != '0 && room_i;
      S_W1, S_W2: have = up_i;
      S_DATA:  have = up_i && cur_valid;
      S_EOP:   have = up_i;
      default: have = 1'b0;
    endcase
  end
  assign urgent    = ctrl_valid_i && ctrl_urgent_i;
  assign replay    = rp_valid_i && state_q == S_IDLE;
  assign rp_flit   = slot && replay && !urgent;
  assign first     = may_begin && pay != '0;  // then there is a grant
  assign new_flit  = first || (slot && have && !urgent && state_q != S_IDLE);
  assign ctrl_flit = slot && ctrl_valid_i
      && (state_q == S_IDLE ? !first && (urgent || !rp_valid_i) : urgent || !have);
  assign rp_ready_o    = rp_flit;
  assign ctrl_sent_o   = ctrl_flit;
  assign packet_flit_o = new_flit || rp_flit;

  // ---------------------------------------------------------------- flits
  logic              take;     // of a beat of the unit
  logic              last;     // this flit ends the packet
  logic [DATA_W-1:0] opening;  // the packet's first flit, or 0 while there is none
  logic [DATA_W-1:0] rest;     // its next one
  if (DATA_W == 64) begin : g_narrow
    // The flits are w0, w1, w2, the beats, and w3 with the CRC. A packet without payload passes its only beat with w2.
    // w3 is valid with the first beat only. The CRC is computed from the sent flits, a cycle later, so that no
    // multiplexer delays it: ahead_q is the CRC after 32 more zero bits; the last flit's w3, passed through its own 32
    // bits, is added to it.
    localparam logic [31:0] BEGIN = 32'hdebb20e3;  // of nothing but these zero bits
    logic [31:0] w3_q, w3_crc, w3_crc_q, ahead_q, ahead, ahead_next;
    always_ff @(posedge clk_i) begin
      if (state_q == S_W1) w3_q <= hdr[223:192];
      w3_crc_q <= w3_crc;
      ahead_q  <= state_q == S_IDLE ? BEGIN : ahead;
    end
    crc32 #(.DATA_W(32)) i_w3 (.en_i(1'b1), .crc_i(32'd0), .data_i(w3_q), .crc_o(w3_crc));
    crc32 #(.DATA_W(96)) i_crc (
        .en_i(1'b1), .crc_i(32'd0), .data_i({32'd0, wr_data_o[63:32] ^ ahead_q, wr_data_o[31:0]}), .crc_o(ahead_next)
    );
    assign ahead = wr_valid_o ? ahead_next : ahead_q;
    assign take  = new_flit && (state_q == S_DATA || (state_q == S_W2 && hdr.len_dw == '0));
    assign last  = state_q == S_EOP;
    assign cur   = cur_q;
    assign opening = hdr_new[63:0];
    always_comb begin
      case (state_q)
        S_W1:    rest = hdr[127:64];
        S_W2:    rest = hdr[191:128];
        S_EOP:   rest = {~(ahead ^ w3_crc_q), w3_q};
        default: rest = beat;
      endcase
    end
  end else begin : g_wide
    // Header, payload and CRC follow each other without a gap, except in front of the CRC. Each flit has the upper part
    // of the beat before, or the header, and the lower part of the next beat.
    logic [HW-1:0]     rest_q;
    logic              empty;             // no beat has a part in this flit
    logic              short_q, short_d;  // the CRC fits after the last beat's payload: no flit comes after it
    logic [DATA_W-1:0] bare;              // without the CRC
    logic [10:0]       len;
    assign cur     = (state_q == S_IDLE) ? grant : cur_q;
    assign len     = hdr_new.len_dw;
    assign short_d = len == '0 || (DATA_W == 512 && len[3:0] != '0 && len[3:0] <= 4'd8);
    assign take    = new_flit && state_q != S_EOP;
    assign last    = state_q == S_EOP || (cur_eop && (state_q == S_IDLE ? short_d : short_q));
    assign bare    = {empty ? {(DATA_W - HW) {1'b0}} : beat[DATA_W-HW-1:0], state_q == S_IDLE ? hdr_new : rest_q};
    assign empty   = state_q == S_EOP || (state_q == S_IDLE && len == '0);
    always_ff @(posedge clk_i) begin
      if (take) rest_q <= beat[DATA_W-1-:HW];
      if (first) short_q <= short_d;
    end

    // The CRC covers everything in front of it: in the last flit all but the upper 32 bits. These lower bits are moved
    // to the upper end, with zeros before them, and the state is added. That gives the same CRC as at the lower end.
    logic [DATA_W-1:0] crc_data;
    logic [31:0]       crc_q, crc_state, crc_next;
    always_comb begin
      crc_state = (state_q == S_IDLE) ? 32'hffffffff : crc_q;
      crc_data  = bare;
      if (last) begin
        crc_data = {bare[DATA_W-33:0], 32'd0};
        crc_data[63:32] = crc_data[63:32] ^ crc_state;
      end
    end
    crc32 #(.DATA_W(DATA_W)) i_crc (
        .en_i(new_flit), .crc_i(last ? 32'd0 : crc_state), .data_i(crc_data), .crc_o(crc_next)
    );
    always_ff @(posedge clk_i) if (new_flit) crc_q <= crc_next;
    assign rest    = last ? {~crc_next, bare[DATA_W-33:0]} : bare;
    assign opening = first ? rest : '0;
  end

  // What was sent, for the replay buffer.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wr_valid_o <= 1'b0;
    else wr_valid_o <= new_flit;
  end
  always_ff @(posedge clk_i) begin
    wr_first_o <= state_q == S_IDLE;
    wr_last_o  <= last;
    wr_store_o <= (cur & POSTED) != '0;
  end
  assign cnt_packets_o = wr_valid_o && wr_last_o;

  // ---------------------------------------------------------------- next state
  state_t after_beat;
  assign after_beat = !cur_eop ? S_DATA : last ? S_IDLE : S_EOP;
  always_comb begin
    state_d = state_q;
    begun_d = begun_q || take;
    lost_o  = 1'b0;
    tx_ready_o = take ? cur : '0;
    if (new_flit) begin
      case (state_q)
        S_IDLE: begin
          begun_d = take;
          state_d = (DATA_W == 64) ? S_W1 : after_beat;
        end
        S_W1:    state_d = S_W2;
        S_W2:    state_d = take ? S_EOP : S_DATA;
        S_DATA:  state_d = after_beat;
        default: state_d = S_IDLE;
      endcase
    end else if (!up_i) begin
      case (state_q)
        S_IDLE: state_d = S_IDLE;
        S_EOP: begin
          state_d = S_IDLE;
          lost_o  = (cur_q & POSTED) != '0;
        end
        S_DRAIN: begin
          tx_ready_o = cur_q;
          if (cur_valid && cur_eop) begin
            state_d = S_IDLE;
            lost_o  = (cur_q & POSTED) != '0;
          end
        end
        default: state_d = begun_q ? S_DRAIN : S_IDLE;
      endcase
    end
  end

  assign working_o = link_tx_valid_o || have || ctrl_valid_i || rp_valid_i || (state_q != S_IDLE && !up_i)
      || wr_valid_o || room_d != room_q || may_d != may_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= S_IDLE;
      begun_q <= 1'b0;
      cur_q   <= '0;
      for (int v = 0; v < NC; v = v + 1) begin
        sent_q[v]  <= '0;
        freed_q[v] <= '0;
      end
    end else begin
      state_q <= state_d;
      begun_q <= begun_d;
      if (first) cur_q <= grant;
      for (int v = 0; v < NC; v = v + 1) begin
        if (clear_i) begin
          sent_q[v]  <= '0;
          freed_q[v] <= '0;
        end else begin
          if (first && grant[v]) sent_q[v] <= sent_q[v] + cost[v];
          // An old CTRL flit must not take credits back.
          if (credit_valid_i && credit_vc_i == v[2:0] && !newer[v][CW-1]) freed_q[v] <= credit_i;
        end
      end
    end
  end
  logic [CW-1:0] newer [0:NC-1];
  always_comb for (int v = 0; v < NC; v = v + 1) newer[v] = credit_i - freed_q[v];

  function automatic logic [1:0] kind_of(input logic first_flit, input logic last_flit);
    kind_of = first_flit ? link_pkg::FLIT_SOP : last_flit ? link_pkg::FLIT_EOP : link_pkg::FLIT_DATA;
  endfunction
  logic [1:0]        other_kind;
  logic [DATA_W-1:0] other;
  always_comb begin
    other_kind = kind_of(1'b0, last);
    other = rest;
    if (replay && !urgent) begin
      other_kind = kind_of(rp_first_i, rp_last_i);
      other = rp_data_i;
    end else if (state_q == S_IDLE || urgent || !have) begin
      other_kind = link_pkg::FLIT_CTRL;
      other = '0;
      other[63:0] = ctrl_flit_i;
    end
  end
  link_out #(.DATA_W(DATA_W)) i_out (
      .clk_i, .rst_ni, .ready_o(slot), .first_i(first), .first_data_i(opening),
      .other_i(ctrl_flit || rp_flit || new_flit), .other_kind_i(other_kind), .other_data_i(other), .taken_o(wr_data_o),
      .valid_o(link_tx_valid_o), .ready_i(link_tx_ready_i), .kind_o(link_tx_kind_o), .data_o(link_tx_data_o)
  );

`ifndef SYNTHESIS
  initial begin
    if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("link_tx: DATA_W must be 64, 256 or 512");
    if (VC_DEPTH < 1 + ggas_pkg::MTU * 8 / DATA_W || VC_DEPTH > 4096)
      $error("link_tx: VC_DEPTH must hold a packet of the MTU, and be at most 4096");
  end
  wire wr_len0 = DATA_W == 64 ? state_q == S_W2 && hdr.len_dw == '0 : state_q == S_IDLE && hdr_new.len_dw == '0;
  // What the units promise: a header with the first beat, and no more than the MTU.
  always_ff @(posedge clk_i) begin
    if (rst_ni && first) assert (hdr_new.len_dw <= ggas_pkg::MTU[12:2]) else $error("link_tx: packet above the MTU");
    if (rst_ni && take && wr_len0) assert (cur_eop) else $error("link_tx: payload with len_dw 0");
  end
`endif
endmodule

`default_nettype wire
