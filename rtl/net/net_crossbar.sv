// SPDX-License-Identifier: Apache-2.0
// The crossbar between the links and the units of a NIC with several links (docs/network.md). Ports 0 ... LINKS-1 are
// the links, port LINKS is the own units'. Each input moves one packet at a time into the queue that the link has for
// it (net_output), as soon as the other side has room for one more: so a packet that waits for one link does not block
// later packets. Packets for the own units leave at the same time, a stream for each virtual channel.
`default_nettype none

module net_crossbar #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    output      logic                busy_o,  // packets are in the queues

    // from the own units; bit or slice v is virtual channel v
    input  wire logic [3:0]          own_tx_valid_i,
    output      logic [3:0]          own_tx_ready_o,
    input  wire logic [3:0]          own_tx_sop_i,
    input  wire logic [3:0]          own_tx_eop_i,
    input  wire logic [4*ggas_pkg::NET_HDR_W-1:0] own_tx_hdr_i,
    input  wire logic [4*DATA_W-1:0] own_tx_data_i,
    input  wire logic [4*net_pkg::WAY_W-1:0] own_tx_way_i,  // way_t of the packet on offer
    // to the own units; a header is valid on every beat
    output      logic [3:0]          own_rx_valid_o,
    input  wire logic [3:0]          own_rx_ready_i,
    output      logic [3:0]          own_rx_sop_o,
    output      logic [3:0]          own_rx_eop_o,
    output      logic [4*ggas_pkg::NET_HDR_W-1:0] own_rx_hdr_o,
    output      logic [4*DATA_W-1:0] own_rx_data_o,

    // links; bit or slice l*CHANNELS+c is channel c of link l
    input  wire logic [ggas_pkg::LINKS-1:0] up_i,
    input  wire logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS-1:0] rx_valid_i,
    output      logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS-1:0] rx_ready_o,
    input  wire logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS-1:0] rx_sop_i,
    input  wire logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS-1:0] rx_eop_i,
    input  wire logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS*ggas_pkg::NET_HDR_W-1:0] rx_hdr_i,  // low bits: way_t
    input  wire logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS*DATA_W-1:0] rx_data_i,
    output      logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS-1:0] tx_valid_o,
    input  wire logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS-1:0] tx_ready_i,
    input  wire logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS-1:0] tx_room_i,
    output      logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS-1:0] tx_waits_o,
    output      logic [ggas_pkg::LINKS*ggas_pkg::CHANNELS*3-1:0] tx_pending_o,  // packets in the queues of a link
    output      logic [ggas_pkg::LINKS-1:0]           tx_comes_o,  // another one comes
    // slice l: the packet that link l is offered
    output      logic [ggas_pkg::LINKS-1:0]           tx_sop_o,
    output      logic [ggas_pkg::LINKS-1:0]           tx_eop_o,
    output      logic [ggas_pkg::LINKS*ggas_pkg::NET_HDR_W-1:0] tx_hdr_o,
    output      logic [ggas_pkg::LINKS*DATA_W-1:0]    tx_data_o,

    // packets discarded because they have no way: pulses, one an input and one a link at most
    output      logic [2*ggas_pkg::LINKS:0]  lost_o,
    output      logic [2*ggas_pkg::LINKS:0]  lost_store_o,  // ... of VC_P
    output      logic [(2*ggas_pkg::LINKS+1)*40-1:0] lost_who_o  // {op, source, destination}
);
  localparam int unsigned L  = ggas_pkg::LINKS;
  localparam int unsigned P  = L + 1;             // inputs
  localparam int unsigned NC = ggas_pkg::CHANNELS;
  localparam int unsigned HW = ggas_pkg::NET_HDR_W;
  localparam int unsigned WW = net_pkg::WAY_W;  // it stands in `seq` and `session` of the header

  // ---------------------------------------------------------------- inputs, all with as many channels as a link
  logic [P*NC-1:0]        in_valid, in_ready, in_sop, in_eop;
  logic [P*NC*HW-1:0]     in_hdr;
  logic [P*NC*DATA_W-1:0] in_data;
  // verilator lint_off UNUSEDSIGNAL
  logic [P*NC*WW-1:0]     in_way;  // way_t, a bit of it is for no one
  // verilator lint_on UNUSEDSIGNAL
  assign in_valid = {{(NC - 4) {1'b0}}, own_tx_valid_i, rx_valid_i};
  assign in_sop   = {{(NC - 4) {1'b0}}, own_tx_sop_i, rx_sop_i};
  assign in_eop   = {{(NC - 4) {1'b0}}, own_tx_eop_i, rx_eop_i};
  assign in_hdr   = {{((NC - 4) * HW) {1'b0}}, own_tx_hdr_i, rx_hdr_i};
  assign in_data  = {{((NC - 4) * DATA_W) {1'b0}}, own_tx_data_i, rx_data_i};
  assign own_tx_ready_o = in_ready[L*NC+:4];
  assign rx_ready_o     = in_ready[L*NC-1:0];
  assign in_way[L*NC*WW+:4*WW] = own_tx_way_i;
  assign in_way[P*NC*WW-1:(L*NC+4)*WW] = '0;
  for (genvar i = 0; i < L * NC; i = i + 1) begin : g_way
    assign in_way[WW*i+:WW] = net_pkg::hdr_way(rx_hdr_i[HW*i+:HW]);
  end

  // ---------------------------------------------------------------- the head of each channel
  // here: the packet is for the own units. drops: it has no route, or its link is not UP; then it is dropped to its
  // end. want, also: it may leave by its first choice, by its second choice.
  logic [P*NC-1:0]   here, head, want, also, drops, drop_q;
  logic [P*NC*6-1:0] to, to_also;            // link and channel it goes to
  logic [P*NC*L-1:0] wants_first, wants;     // links as a set, if there is room: that of its first choice; of both
  logic [L*P-1:0]    queue_room;             // the queue of input p at link l takes a packet
  // by link and channel, of links that are not there as well
  logic [7:0]        up;
  // verilator lint_off UNUSEDSIGNAL
  logic [8*8-1:0]    room, waits;
  // verilator lint_on UNUSEDSIGNAL
  assign up    = {{(8 - L) {1'b0}}, up_i};
  assign room  = {{((8 - L) * 8) {1'b0}}, tx_room_i};
  for (genvar p = 0; p < P; p = p + 1) begin : g_head
    for (genvar c = 0; c < NC; c = c + 1) begin : g_channel
      localparam int unsigned I = p * NC + c;
      localparam logic [2:0]  C = c;
      // as way_t
      logic [2:0] link, second_link;
      logic       lane, second_lane, own, drop, second;
      logic       here_q;  // of the packet begun
      assign {drop, own, lane, link} = net_pkg::way_first(in_way[WW*I+:WW]);
      assign {second, second_lane, second_link} = net_pkg::way_second(in_way[WW*I+:WW]);
      assign head[I] = in_valid[I] && in_sop[I];
      assign to[6*I+:6] = {link, lane, C[1:0]};
      assign to_also[6*I+:6] = {second_link, second_lane, C[1:0]};
      // The own units send nothing to themselves by way of the links, unless NODE was written meanwhile: lost, too.
      assign here[I]  = p < L && (in_sop[I] ? own : here_q);
      assign drops[I] = in_sop[I] ? !here[I] && (own || drop || !(up[link] || (second && up[second_link])))
        : drop_q[I];
      assign want[I]  = head[I] && !own && !drop && up[link];
      assign also[I]  = head[I] && second && up[second_link];
      for (genvar l = 0; l < L; l = l + 1) begin : g_wants
        assign wants_first[I*L+l] = want[I] && queue_room[l*P+p] && room[8*l+{29'd0, lane, C[1:0]}] && link == l;
        assign wants[I*L+l] = wants_first[I*L+l]
          || (also[I] && queue_room[l*P+p] && room[8*l+{29'd0, second_lane, C[1:0]}] && second_link == l);
      end

      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          here_q    <= 1'b0;
          drop_q[I] <= 1'b0;
        end else if (in_valid[I] && in_ready[I]) begin
          here_q    <= here[I];
          drop_q[I] <= drops[I] && !in_eop[I];
        end
      end
    end
  end
  always_comb begin
    waits = '0;
    for (int i = 0; i < P * NC; i = i + 1) begin
      if (want[i]) waits[to[6*i+:6]] = 1'b1;
      if (also[i]) waits[to_also[6*i+:6]] = 1'b1;
    end
  end
  assign tx_waits_o = waits[L*NC-1:0];

  // ---------------------------------------------------------------- from the inputs to the queues
  // An input offers the packet of one channel that may leave; each link accepts one input in a cycle, by virtual time
  // (net_output). An input offers a packet to its second choice only while the first choice has no room.
  logic [P-1:0]        act_q;    // within a packet
  logic [P*NC-1:0]     chan_q, chosen, moves;  // its channel; the one that is named; whose beat is moved
  logic [P*3-1:0]      link_q;   // its link
  logic [P*6-1:0]      pick_to;  // where the named packet goes
  logic [P*L-1:0]      asks;     // input p asks for link l
  logic [L*P-1:0]      granted;  // a packet of input p comes to link l
  logic [P-1:0]        got, cur_valid, cur_sop, cur_eop;
  logic [P*HW-1:0]     cur_hdr;
  logic [P*DATA_W-1:0] cur_data;
  for (genvar p = 0; p < P; p = p + 1) begin : g_pick
    logic [NC-1:0] may;
    logic          unused_locked;
    for (genvar c = 0; c < NC; c = c + 1) begin : g_may
      assign may[c] = !act_q[p] && wants[(p*NC+c)*L+:L] != '0;
    end
    arbiter_rr #(.N(NC)) i_arbiter (
        .clk_i, .rst_ni, .clear_i(1'b0), .req_i(may), .take_i(got[p]), .eop_i(1'b1), .grant_o(chosen[NC*p+:NC]),
        .locked_o(unused_locked)
    );
    logic [HW-1:0] hdr;
    always_comb begin
      pick_to[6*p+:6] = '0;
      {cur_sop[p], cur_eop[p], hdr, cur_data[DATA_W*p+:DATA_W]} = '0;
      for (int c = 0; c < NC; c = c + 1) begin
        if (chosen[NC*p+c])
          pick_to[6*p+:6] = wants_first[(p*NC+c)*L+:L] != '0 ? to[6*(p*NC+c)+:6] : to_also[6*(p*NC+c)+:6];
        if (act_q[p] ? chan_q[NC*p+c] : chosen[NC*p+c]) begin
          cur_sop[p] = in_sop[p*NC+c];
          cur_eop[p] = in_eop[p*NC+c];
          hdr = in_hdr[HW*(p*NC+c)+:HW];
          cur_data[DATA_W*p+:DATA_W] = in_data[DATA_W*(p*NC+c)+:DATA_W];
        end
      end
      for (int l = 0; l < L; l = l + 1) asks[p*L+l] = chosen[NC*p+:NC] != '0 && pick_to[6*p+3+:3] == l[2:0];
      cur_hdr[HW*p+:HW] = net_pkg::hdr_leaving(hdr, pick_to[6*p+:3], p < L);  // from a link: that was a hop
    end
    assign cur_valid[p] = act_q[p] ? (in_valid[NC*p+:NC] & chan_q[NC*p+:NC]) != '0 : got[p];
    assign moves[NC*p+:NC] = act_q[p] ? in_valid[NC*p+:NC] & chan_q[NC*p+:NC] : chosen[NC*p+:NC] & {NC{got[p]}};
    always_comb begin
      got[p] = 1'b0;
      for (int l = 0; l < L; l = l + 1) got[p] = got[p] || granted[l*P+p];
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) act_q[p] <= 1'b0;
      else if (cur_valid[p]) act_q[p] <= !cur_eop[p];
    end
    always_ff @(posedge clk_i) if (got[p]) {chan_q[NC*p+:NC], link_q[3*p+:3]} <= {chosen[NC*p+:NC], pick_to[6*p+3+:3]};
  end

  // ---------------------------------------------------------------- to the links
  logic [L-1:0] busy;
  assign busy_o = busy != '0;
  for (genvar l = 0; l < L; l = l + 1) begin : g_link
    localparam logic [2:0] N = l;
    logic [P-1:0] ask, comes;
    for (genvar p = 0; p < P; p = p + 1) begin : g_from
      assign ask[p]   = asks[p*L+l];
      assign comes[p] = act_q[p] ? cur_valid[p] && link_q[3*p+:3] == N : granted[l*P+p];
    end
    assign tx_comes_o[l] = comes != '0;
    net_output #(.DATA_W(DATA_W), .INPUTS(P)) i_output (
        .clk_i, .rst_ni, .busy_o(busy[l]), .up_i(up_i[l]), .in_valid_i(comes), .in_sop_i(cur_sop), .in_eop_i(cur_eop),
        .in_hdr_i(cur_hdr), .in_data_i(cur_data), .in_room_o(queue_room[l*P+:P]), .in_ask_i(ask),
        .in_grant_o(granted[l*P+:P]), .pending_o(tx_pending_o[3*NC*l+:3*NC]), .tx_valid_o(tx_valid_o[NC*l+:NC]),
        .tx_ready_i(tx_ready_i[NC*l+:NC]), .tx_sop_o(tx_sop_o[l]), .tx_eop_o(tx_eop_o[l]),
        .tx_hdr_o(tx_hdr_o[HW*l+:HW]), .tx_data_o(tx_data_o[DATA_W*l+:DATA_W]), .lost_o(lost_o[P+l]),
        .lost_store_o(lost_store_o[P+l]), .lost_who_o(lost_who_o[40*(P+l)+:40])
    );
  end

  // ---------------------------------------------------------------- to the own units
  logic [L*NC-1:0] given;  // to the units' stream
  for (genvar v = 0; v < 4; v = v + 1) begin : g_own
    localparam int unsigned N = L * ggas_pkg::LANES;
    logic [N-1:0] req, grant;
    logic         unused_locked;
    logic [HW-1:0] hdr;
    for (genvar i = 0; i < N; i = i + 1) begin : g_from
      assign req[i] = in_valid[4*i+v] && here[4*i+v];
      assign given[4*i+v] = grant[i] && own_rx_ready_i[v];
    end
    arbiter_rr #(.N(N), .HOLD(1'b1)) i_arbiter (
        .clk_i, .rst_ni, .clear_i(1'b0), .req_i(req), .take_i(own_rx_valid_o[v] && own_rx_ready_i[v]),
        .eop_i(own_rx_eop_o[v]), .grant_o(grant), .locked_o(unused_locked)
    );
    always_comb begin
      hdr = '0;
      own_rx_sop_o[v] = 1'b0;
      own_rx_eop_o[v] = 1'b0;
      own_rx_data_o[DATA_W*v+:DATA_W] = '0;
      for (int i = 0; i < N; i = i + 1) begin
        if (grant[i]) begin
          hdr = in_hdr[HW*(4*i+v)+:HW];
          own_rx_sop_o[v] = in_sop[4*i+v];
          own_rx_eop_o[v] = in_eop[4*i+v];
          own_rx_data_o[DATA_W*v+:DATA_W] = in_data[DATA_W*(4*i+v)+:DATA_W];
        end
      end
      own_rx_hdr_o[HW*v+:HW] = net_pkg::hdr_arrived(hdr);
    end
    assign own_rx_valid_o[v] = grant != '0;
  end

  // ---------------------------------------------------------------- taken from the inputs
  for (genvar p = 0; p < P; p = p + 1) begin : g_ready
    // One packet is lost in a cycle and reported; the beats of others that are lost wait for their turn.
    logic [NC-1:0] begins, turn;
    logic [HW-1:0] who;
    for (genvar c = 0; c < NC; c = c + 1) begin : g_channel
      localparam int unsigned I = p * NC + c;
      assign begins[c] = in_valid[I] && in_sop[I] && drops[I];
      if (p < L) begin : g_link_input
        assign in_ready[I] = given[I] || moves[I] || (drops[I] && (!in_sop[I] || turn[c]));
      end else begin : g_unit_input
        assign in_ready[I] = moves[I] || (drops[I] && (!in_sop[I] || turn[c]));
      end
    end
    assign turn = begins & (~begins + 1'b1);
    assign lost_o[p] = begins != '0;
    always_comb begin
      who = '0;
      lost_store_o[p] = 1'b0;
      for (int c = 0; c < NC; c = c + 1) begin
        if (turn[c]) begin
          who = in_hdr[HW*(p*NC+c)+:HW];
          lost_store_o[p] = c % 4 == 0;
        end
      end
    end
    assign lost_who_o[40*p+:40] = net_pkg::hdr_who(who);
  end

`ifndef SYNTHESIS
  initial if (L < 2 || L > 6) $error("net_crossbar: LINKS must be 2 to 6");
`endif
endmodule

`default_nettype wire
