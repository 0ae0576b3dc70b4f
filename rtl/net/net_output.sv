// SPDX-License-Identifier: Apache-2.0
// Packets that wait for a link: a queue for each input of the crossbar, with the packet that is being sent and the next
// one. They take turns by virtual time, so that flows share the link and not inputs (docs/network.md#shares). A packet
// enters only when the other side has room for it, so it waits only for the link. While the link is not UP packets are
// lost here.
`default_nettype none

module net_output #(
    parameter int unsigned DATA_W = 64,  // 64, 256 or 512
    parameter int unsigned INPUTS = 7    // the last one is the own units'
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    output      logic                busy_o,      // something is here
    input  wire logic                up_i,        // the link works

    // from the inputs; bit or slice p is input p
    input  wire logic [INPUTS-1:0]   in_valid_i,  // a beat for this link: always taken
    input  wire logic [INPUTS-1:0]   in_sop_i,
    input  wire logic [INPUTS-1:0]   in_eop_i,
    input  wire logic [INPUTS*ggas_pkg::NET_HDR_W-1:0] in_hdr_i,  // as it leaves, but for vtime; with sop
    input  wire logic [INPUTS*DATA_W-1:0] in_data_i,
    output      logic [INPUTS-1:0]   in_room_o,   // another packet may begin in this cycle
    input  wire logic [INPUTS-1:0]   in_ask_i,    // a packet could begin, with in_hdr_i: there is room for it
    output      logic [INPUTS-1:0]   in_grant_o,  // one of those begins
    // packets that have not begun, by channel, those that come in this cycle too
    output      logic [ggas_pkg::CHANNELS*3-1:0] pending_o,

    // to the link
    output      logic [ggas_pkg::CHANNELS-1:0]  tx_valid_o,
    input  wire logic [ggas_pkg::CHANNELS-1:0]  tx_ready_i,
    output      logic                tx_sop_o,
    output      logic                tx_eop_o,
    output      logic [ggas_pkg::NET_HDR_W-1:0] tx_hdr_o,
    output      logic [DATA_W-1:0]   tx_data_o,

    // a packet is lost: pulse
    output      logic                lost_o,
    output      logic                lost_store_o,  // ... of VC_P
    output      logic [39:0]         lost_who_o     // {op, source, destination}
);
  localparam int unsigned P  = INPUTS;
  localparam int unsigned NC = ggas_pkg::CHANNELS;
  localparam int unsigned HW = ggas_pkg::NET_HDR_W;
  localparam int unsigned OW = 6;  // bits of an order
  localparam int unsigned LEN = $clog2(ggas_pkg::MTU / 4) - 2;  // bits of len_dw that cost nothing

  // ---------------------------------------------------------------- queues
  logic [P-1:0]        head_q;   // a header stands in hdr_q: its packet has not begun
  logic [P-1:0]        begins;   // its first beat is taken
  logic [P-1:0]        come;     // its packet begins to come
  logic [P-1:0]        beat_valid, beat_eop, grant;
  logic [P*HW-1:0]     hdr_q;
  logic [P*DATA_W-1:0] data;
  assign come      = in_valid_i & in_sop_i;
  assign in_room_o = ~head_q | begins;
  assign busy_o    = head_q != '0 || beat_valid != '0;
  logic taken;
  for (genvar p = 0; p < P; p = p + 1) begin : g_queue
    localparam int unsigned DEPTH = 2 * ggas_pkg::MTU * 8 / DATA_W;
    logic                   room;
    logic [$clog2(DEPTH):0] unused_count;
    fifo #(.WIDTH(DATA_W + 1), .DEPTH(DEPTH), .BLOCK(1'b1)) i_beats (
        .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(in_valid_i[p]), .wr_ready_o(room),
        .wr_data_i({in_eop_i[p], in_data_i[DATA_W*p+:DATA_W]}), .rd_valid_o(beat_valid[p]),
        .rd_ready_i(taken && grant[p]), .rd_data_o({beat_eop[p], data[DATA_W*p+:DATA_W]}), .count_o(unused_count)
    );
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) head_q[p] <= 1'b0;
      else head_q[p] <= come[p] || (head_q[p] && !begins[p]);
    end
    always_ff @(posedge clk_i) if (come[p]) hdr_q[HW*p+:HW] <= in_hdr_i[HW*p+:HW];
`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (rst_ni && in_valid_i[p]) assert (room) else $error("net_output: a beat without room");
      if (rst_ni && come[p]) assert (in_room_o[p]) else $error("net_output: a packet without room");
    end
`else
    wire unused_room = room;
`endif
  end
  always_comb begin
    pending_o = '0;
    for (int c = 0; c < NC; c = c + 1)
      for (int p = 0; p < P; p = p + 1)
        pending_o[3*c+:3] = pending_o[3*c+:3] + {2'd0, (head_q[p] && net_pkg::hdr_channel(hdr_q[HW*p+:HW]) == c[2:0])
          || (come[p] && net_pkg::hdr_channel(in_hdr_i[HW*p+:HW]) == c[2:0])};
  end

  // ---------------------------------------------------------------- virtual times
  // now_q is the virtual time of the link, own_q that of the own units' next packet. A packet from a link has a time of
  // its last link; shift_q converts it to a time of this link. No packet may be more than 96 late or 31 ahead. Packets
  // of a lane that had no room are late, although those of the other lane are not, and shift_q serves both lanes.
  logic [7:0]      now_q, own_q;
  logic [P*8-1:0]  shift_q;
  logic [P*OW-1:0] order_q;  // how far ahead of now_q the head of a queue is, plus 32
  logic [P*OW-1:0] ask_order;  // the same of a packet that would enter
  logic [7:0]      start, now_d, own_d, fixed;  // of the packet that begins
  logic [7:0]      now_next, own_next;
  assign {now_next, own_next} = begins != '0 ? {now_d, own_d} : {now_q, own_q};
  // verilator lint_off UNUSEDSIGNAL
  logic [7:0]      ahead;
  // verilator lint_on UNUSEDSIGNAL
  logic [7:0]      vtime;
  logic [5:0]      late_q;   // one in 64 packets that are after comes forward: who says the same time again and again
  logic [2:0]      cost;
  // verilator lint_off UNUSEDSIGNAL
  logic [10:0]     len;
  // verilator lint_on UNUSEDSIGNAL
  function automatic logic [OW-1:0] order_of(input logic [7:0] ahead_by);
    if (ahead_by[7]) order_of = ahead_by[6:5] == 2'b11 ? {1'b0, ahead_by[4:0]} : '0;
    else order_of = ahead_by[6:5] == 2'b00 ? {1'b1, ahead_by[4:0]} : '1;
  endfunction
  for (genvar p = 0; p < P; p = p + 1) begin : g_order
    wire [7:0] comes  = net_pkg::hdr_vtime(in_hdr_i[HW*p+:HW]);
    wire [7:0] brings = come[p] ? comes : net_pkg::hdr_vtime(hdr_q[HW*p+:HW]);
    wire [7:0] starts = p == P - 1 ? own_next : brings + shift_q[8*p+:8];
    always_ff @(posedge clk_i) order_q[OW*p+:OW] <= order_of(starts - now_next);
    wire [7:0] asks = p == P - 1 ? own_next : comes + shift_q[8*p+:8];
    assign ask_order[OW*p+:OW] = order_of(asks - now_next);
  end
  assign len   = net_pkg::hdr_len_dw(hdr);
  assign cost  = 3'd1 + len[LEN+:3];
  assign ahead = start - now_q;
  assign now_d = ahead[7] ? now_q : ahead[6:5] != '0 ? now_q + 8'd31 : start;
  always_comb begin
    fixed = start;
    if (ahead[7] && ahead[6:5] == 2'b00) fixed = now_q - 8'd96;
    else if (ahead[7] && late_q == '0) fixed = start + 8'd1;
    else if (!ahead[7] && ahead[6:5] != '0) fixed = now_q + 8'd31;
    own_d = own_q + {5'd0, begins[P-1] ? cost : 3'd0} - now_d;
    own_d = own_d[7] ? now_d : own_d + now_d;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      now_q   <= '0;
      own_q   <= '0;
      shift_q <= '0;
      late_q  <= '0;
    end else if (begins != '0) begin
      now_q  <= now_d;
      own_q  <= own_d;
      late_q <= late_q + {5'd0, ahead[7]};
      for (int p = 0; p < P - 1; p = p + 1) if (begins[p]) shift_q[8*p+:8] <= fixed - vtime;
    end
  end

  // ---------------------------------------------------------------- whose turn
  // Returns the earliest members of a set.
  function automatic logic [P-1:0] earliest(input logic [P-1:0] set, input logic [P*OW-1:0] order);
    earliest = set;
    for (int p = 0; p < P; p = p + 1)
      for (int q = 0; q < P; q = q + 1) if (set[q] && order[OW*q+:OW] < order[OW*p+:OW]) earliest[p] = 1'b0;
  endfunction

  // Packets enter one in each cycle, so that each is counted before the next one enters. The other side may have room
  // for only one of them. If inputs took turns, the own units would get half of that room.
  logic unused_locked;
  arbiter_rr #(.N(P)) i_entry (
      .clk_i, .rst_ni, .clear_i(1'b0), .req_i(earliest(in_ask_i, ask_order)), .take_i(in_ask_i != '0),
      .eop_i(1'b1), .grant_o(in_grant_o), .locked_o(unused_locked)
  );

  // To be sent.
  logic         locked, inside_q, dropping_q, drop, valid, ready;
  logic [P-1:0] req;
  assign req = locked ? beat_valid : earliest(head_q, order_q);
  arbiter_rr #(.N(P), .HOLD(1'b1)) i_arbiter (
      .clk_i, .rst_ni, .clear_i(1'b0), .req_i(req), .take_i(taken), .eop_i(tx_eop_o), .grant_o(grant),
      .locked_o(locked)
  );
  assign valid  = grant != '0;
  assign drop   = dropping_q || (!inside_q && !up_i);
  assign ready  = (tx_ready_i & tx_valid_o) != '0;
  assign taken  = valid && (drop || ready);
  assign begins = taken && !inside_q ? grant : '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q   <= 1'b0;
      dropping_q <= 1'b0;
    end else if (taken) begin
      inside_q   <= !tx_eop_o;
      dropping_q <= drop && !tx_eop_o;
    end
  end

  logic [HW-1:0] hdr;
  always_comb begin
    hdr       = '0;
    start     = '0;
    tx_eop_o  = 1'b0;
    tx_data_o = '0;
    for (int p = 0; p < P; p = p + 1) begin
      if (grant[p]) begin
        hdr       = hdr_q[HW*p+:HW];
        start     = p == P - 1 ? own_q : net_pkg::hdr_vtime(hdr_q[HW*p+:HW]) + shift_q[8*p+:8];
        tx_eop_o  = beat_eop[p];
        tx_data_o = data[DATA_W*p+:DATA_W];
      end
    end
  end
  assign vtime      = net_pkg::hdr_vtime(hdr);
  assign tx_sop_o   = !inside_q;
  assign tx_hdr_o   = net_pkg::hdr_with_vtime(hdr, start);
  // The channel stands while the next header of the queue may come: it is kept.
  logic [2:0] channel_q, channel;
  assign channel    = inside_q ? channel_q : net_pkg::hdr_channel(hdr);
  assign tx_valid_o = {{(NC - 1) {1'b0}}, valid && !drop} << channel;
  always_ff @(posedge clk_i) if (!inside_q) channel_q <= channel;

  assign lost_o       = begins != '0 && drop;
  assign lost_store_o = lost_o && channel[1:0] == ggas_pkg::VC_P;
  assign lost_who_o   = net_pkg::hdr_who(hdr);
endmodule

`default_nettype wire
