// SPDX-License-Identifier: Apache-2.0
// The crossbar between the links and the units of a NIC with several links (docs/network.md). Ports 0 ... LINKS-1 are
// the links, port LINKS is the own units'. Each input sends one packet at a time, each link takes one at a time. A
// packet is given a link only when the other side has room for it, so it never waits in the middle. Packets for the
// own units leave beside that, a stream a virtual channel.
`default_nettype none

module net_crossbar #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // from the own units; bit or slice v is virtual channel v
    input  wire logic [3:0]          own_tx_valid_i,
    output      logic [3:0]          own_tx_ready_o,
    input  wire logic [3:0]          own_tx_sop_i,
    input  wire logic [3:0]          own_tx_eop_i,
    input  wire logic [4*ggas_pkg::NET_HDR_W-1:0] own_tx_hdr_i,
    input  wire logic [4*DATA_W-1:0] own_tx_data_i,
    input  wire logic [4*ggas_pkg::WAY_W-1:0] own_tx_way_i,  // way_t of the packet on offer
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
    // slice l: the packet that link l is offered
    output      logic [ggas_pkg::LINKS-1:0]           tx_sop_o,
    output      logic [ggas_pkg::LINKS-1:0]           tx_eop_o,
    output      logic [ggas_pkg::LINKS*ggas_pkg::NET_HDR_W-1:0] tx_hdr_o,
    output      logic [ggas_pkg::LINKS*DATA_W-1:0]    tx_data_o,

    // packets discarded because they have no way: pulses, one an input at most
    output      logic [ggas_pkg::LINKS:0]    lost_o,
    output      logic [ggas_pkg::LINKS:0]    lost_store_o,  // ... of VC_P
    output      logic [(ggas_pkg::LINKS+1)*40-1:0] lost_who_o  // {op, source, destination}
);
  localparam int unsigned L  = ggas_pkg::LINKS;
  localparam int unsigned P  = L + 1;             // inputs
  localparam int unsigned NC = ggas_pkg::CHANNELS;
  localparam int unsigned HW = ggas_pkg::NET_HDR_W;
  localparam int unsigned WW = ggas_pkg::WAY_W;  // it stands in `seq` and `session` of the header

  // ---------------------------------------------------------------- inputs, all with as many channels as a link
  logic [P*NC-1:0]        in_valid, in_ready, in_sop, in_eop;
  logic [P*NC*HW-1:0]     in_hdr;
  logic [P*NC*DATA_W-1:0] in_data;
  // verilator lint_off UNUSEDSIGNAL
  logic [P*NC*WW-1:0]     in_way;  // way_t, a bit of it is for nobody
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
    assign in_way[WW*i+:WW] = rx_hdr_i[HW*i+:WW];
  end

  // ---------------------------------------------------------------- what stands at the head of each channel
  // here: for the own units. dropped: it has no way, or its link carries nothing; so until its end.
  // want, also: it may go by its first, its second choice.
  logic [P*NC-1:0]   here, head, want, also, drops, drop_q;
  logic [P*NC*6-1:0] to, to_also;            // link and channel it goes to
  logic [P*NC*L-1:0] wants_first, wants;     // links as a set, if there is room: that of its first choice; of both
  logic [P-1:0]      act_q;    // a link is given to this input ...
  logic [P*3-1:0]    chan_q;   // ... for this channel of it
  logic [P*6-1:0]    to_q;     // ... and the link and the channel there
  logic [P-1:0]      begun_q;  // the first beat was taken
  logic [P-1:0]      offered;  // a packet is offered to a link that works, or being sent
  // parked: the link stays with a channel behind its last packet, as long as nobody else wants it. So packets of one
  // channel follow each other without a gap.
  logic [P-1:0]      parked_q, goes, taken, ends, withdrawn, keeps;
  logic [P-1:0]      got, preempted;        // it gets a link; its parked link goes to another
  logic [P*3-1:0]    pick_chan;          // the channel that it names, and where that goes
  logic [P*6-1:0]    pick_to;
  // by link and channel, of links that are not there as well
  logic [7:0]        up;
  // verilator lint_off UNUSEDSIGNAL
  logic [8*8-1:0]    room, ready, waits;
  // verilator lint_on UNUSEDSIGNAL
  assign up    = {{(8 - L) {1'b0}}, up_i};
  assign room  = {{((8 - L) * 8) {1'b0}}, tx_room_i};
  assign ready = {{((8 - L) * 8) {1'b0}}, tx_ready_i};
  for (genvar p = 0; p < P; p = p + 1) begin : g_head
    for (genvar c = 0; c < NC; c = c + 1) begin : g_channel
      localparam int unsigned I = p * NC + c;
      localparam logic [2:0]  C = c;
      // as way_t
      logic [2:0] link, second_link;
      logic       lane, second_lane, own, drop, second;
      logic       here_q;  // of the packet begun
      assign {drop, own, lane, link} = in_way[WW*I+:6];
      assign {second, second_lane, second_link} = in_way[WW*I+7+:5];
      assign head[I] = in_valid[I] && in_sop[I];
      assign to[6*I+:6] = {link, lane, C[1:0]};
      assign to_also[6*I+:6] = {second_link, second_lane, C[1:0]};
      // The own units send nothing to themselves by way of the links, unless NODE was written meanwhile: lost, too.
      assign here[I]  = p < L && (in_sop[I] ? own : here_q);
      assign drops[I] = in_sop[I] ? !here[I] && (own || drop || !(up[link] || (second && up[second_link])))
        && !(offered[p] && chan_q[3*p+:3] == C) : drop_q[I];
      assign want[I]  = head[I] && !own && !drop && up[link];
      assign also[I]  = head[I] && second && up[second_link];
      for (genvar l = 0; l < L; l = l + 1) begin : g_wants
        assign wants_first[I*L+l] = want[I] && room[8*l+{29'd0, lane, C[1:0]}] && link == l;
        assign wants[I*L+l] = wants_first[I*L+l]
          || (also[I] && room[8*l+{29'd0, second_lane, C[1:0]}] && second_link == l);
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

  // ---------------------------------------------------------------- the packet under way at each input
  logic [P-1:0]        cur_valid, cur_sop, cur_eop;
  logic [P*HW-1:0]     cur_hdr;
  logic [P*DATA_W-1:0] cur_data;
  for (genvar p = 0; p < P; p = p + 1) begin : g_current
    localparam int unsigned      AW = $clog2(P * NC);
    localparam logic [AW-4:0]    N  = p;
    logic [AW-1:0] at;  // of its channel
    logic          same;
    assign at = {N, chan_q[3*p+:3]};
    // A new packet on a parked link must want the same channel of it. Once offered it stays, as long as the link works.
    assign same = room[to_q[6*p+:6]] && ((want[at] && to[6*at+:6] == to_q[6*p+:6])
      || (also[at] && to_also[6*at+:6] == to_q[6*p+:6]));
    assign offered[p]  = act_q[p] && !parked_q[p] && up[to_q[6*p+3+:3]];
    assign goes[p]     = act_q[p] && (begun_q[p] || (parked_q[p] ? same : offered[p] && head[at]));
    assign withdrawn[p] = act_q[p] && !begun_q[p] && (!up[to_q[6*p+3+:3]] || !(parked_q[p] || head[at]));
    assign cur_valid[p] = goes[p] && in_valid[at];
    assign cur_sop[p]   = in_sop[at];
    assign cur_eop[p]   = in_eop[at];
    assign cur_hdr[HW*p+:HW] = in_hdr[HW*at+:HW];
    assign cur_data[DATA_W*p+:DATA_W] = in_data[DATA_W*at+:DATA_W];
    assign taken[p] = cur_valid[p] && ready[to_q[6*p+:6]];
    assign ends[p]  = taken[p] && cur_eop[p];
    assign keeps[p] = act_q[p] && !ends[p] && !withdrawn[p] && !(parked_q[p] && !goes[p]);  // its link is not free

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        act_q[p]   <= 1'b0;
        parked_q[p] <= 1'b0;
        begun_q[p] <= 1'b0;
      end else begin
        begun_q[p] <= (begun_q[p] || taken[p]) && !ends[p] && !got[p];
        if (got[p]) begin
          act_q[p]   <= 1'b1;
          parked_q[p] <= 1'b0;
        end else begin
          if (withdrawn[p] || preempted[p]) act_q[p] <= 1'b0;
          parked_q[p] <= act_q[p] && !keeps[p];
        end
      end
    end
    always_ff @(posedge clk_i) begin
      if (got[p]) begin
        chan_q[3*p+:3] <= pick_chan[3*p+:3];
        to_q[6*p+:6]   <= pick_to[6*p+:6];
      end
    end
  end

  // ---------------------------------------------------------------- who gets which link next
  // An input that is free, or will be, names one of its channels whose link is free; each link takes one of them. The
  // second choice is named only while the first one is taken or has no room.
  logic [L-1:0]   link_free;
  logic [P*L-1:0] asks;     // input p asks for link l
  logic [L*P-1:0] granted;  // link l is given to input p
  always_comb begin
    link_free = '1;
    for (int p = 0; p < P; p = p + 1)
      for (int l = 0; l < L; l = l + 1) if (keeps[p] && to_q[6*p+3+:3] == l[2:0]) link_free[l] = 1'b0;
  end
  for (genvar p = 0; p < P; p = p + 1) begin : g_pick
    logic [NC-1:0] may, may_first, chosen;
    logic          unused_locked;
    for (genvar c = 0; c < NC; c = c + 1) begin : g_may
      localparam int unsigned I = p * NC + c;
      // Behind the packet that ends in this cycle the next one is not seen yet.
      assign may[c] = !keeps[p] && (wants[I*L+:L] & link_free) != '0 && !(ends[p] && chan_q[3*p+:3] == c);
      assign may_first[c] = (wants_first[I*L+:L] & link_free) != '0;
    end
    arbiter_rr #(.N(NC)) i_arbiter (
        .clk_i, .rst_ni, .clear_i(1'b0), .req_i(may), .take_i(got[p]), .eop_i(1'b1), .grant_o(chosen),
        .locked_o(unused_locked)
    );
    always_comb begin
      pick_chan[3*p+:3] = '0;
      pick_to[6*p+:6] = '0;
      for (int c = 0; c < NC; c = c + 1) begin
        if (chosen[c]) begin
          pick_chan[3*p+:3] = c[2:0];
          pick_to[6*p+:6] = may_first[c] ? to[6*(p*NC+c)+:6] : to_also[6*(p*NC+c)+:6];
        end
      end
      for (int l = 0; l < L; l = l + 1) asks[p*L+l] = chosen != '0 && pick_to[6*p+3+:3] == l[2:0];
    end
  end
  for (genvar l = 0; l < L; l = l + 1) begin : g_grant
    logic [P-1:0] req;
    logic         unused_locked;
    for (genvar p = 0; p < P; p = p + 1) begin : g_req
      assign req[p] = asks[p*L+l];
    end
    arbiter_rr #(.N(P)) i_arbiter (
        .clk_i, .rst_ni, .clear_i(1'b0), .req_i(req), .take_i(req != '0), .eop_i(1'b1),
        .grant_o(granted[l*P+:P]), .locked_o(unused_locked)
    );
  end
  always_comb begin
    for (int p = 0; p < P; p = p + 1) begin
      got[p]    = 1'b0;
      preempted[p] = 1'b0;
      for (int l = 0; l < L; l = l + 1) begin
        got[p] = got[p] || granted[l*P+p];
        preempted[p] = preempted[p] || (granted[l*P+:P] != '0 && to_q[6*p+3+:3] == l[2:0]);
      end
    end
  end

  // ---------------------------------------------------------------- to the links
  for (genvar l = 0; l < L; l = l + 1) begin : g_link
    // verilator lint_off UNUSEDSIGNAL
    logic [HW-1:0] hdr;  // the way is not passed on
    // verilator lint_on UNUSEDSIGNAL
    logic [2:0]    channel;
    logic          valid, onward;  // from a link: that was a hop
    always_comb begin
      hdr = '0;
      channel = '0;
      valid = 1'b0;
      onward = 1'b0;
      tx_sop_o[l] = 1'b0;
      tx_eop_o[l] = 1'b0;
      tx_data_o[DATA_W*l+:DATA_W] = '0;
      for (int p = 0; p < P; p = p + 1) begin
        if (goes[p] && to_q[6*p+3+:3] == l) begin
          hdr = cur_hdr[HW*p+:HW];
          channel = to_q[6*p+:3];
          valid = cur_valid[p];
          onward = p < L;
          tx_sop_o[l] = cur_sop[p];
          tx_eop_o[l] = cur_eop[p];
          tx_data_o[DATA_W*l+:DATA_W] = cur_data[DATA_W*p+:DATA_W];
        end
      end
      // lane, hops, way
      tx_hdr_o[HW*l+:HW] = {hdr[HW-1:23], channel[2], hdr[21:20], hdr[19:12] - {7'd0, onward}, {WW{1'b0}}};
    end
    assign tx_valid_o[NC*l+:NC] = {{(NC - 1) {1'b0}}, valid} << channel;
  end

  // ---------------------------------------------------------------- to the own units
  logic [L*NC-1:0] given;  // to the units' stream
  for (genvar v = 0; v < 4; v = v + 1) begin : g_own
    localparam int unsigned N = L * ggas_pkg::LANES;
    logic [N-1:0] req, grant;
    logic         unused_locked;
    // verilator lint_off UNUSEDSIGNAL
    logic [HW-1:0] hdr;  // the way is not passed on
    // verilator lint_on UNUSEDSIGNAL
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
      own_rx_hdr_o[HW*v+:HW] = {hdr[HW-1:WW], {WW{1'b0}}};
    end
    assign own_rx_valid_o[v] = grant != '0;
  end

  // ---------------------------------------------------------------- taken from the inputs
  for (genvar p = 0; p < P; p = p + 1) begin : g_ready
    // One packet is lost in a cycle and told; the beats of others that are lost wait for their turn.
    logic [NC-1:0] begins, turn;
    // verilator lint_off UNUSEDSIGNAL
    logic [HW-1:0] who;
    // verilator lint_on UNUSEDSIGNAL
    for (genvar c = 0; c < NC; c = c + 1) begin : g_channel
      localparam int unsigned I = p * NC + c;
      assign begins[c] = in_valid[I] && in_sop[I] && drops[I];
      if (p < L) begin : g_link_input
        assign in_ready[I] = given[I] || (taken[p] && chan_q[3*p+:3] == c) || (drops[I] && (!in_sop[I] || turn[c]));
      end else begin : g_unit_input
        assign in_ready[I] = (taken[p] && chan_q[3*p+:3] == c) || (drops[I] && (!in_sop[I] || turn[c]));
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
    assign lost_who_o[40*p+:40] = {who[47:40], who[127:112], who[63:48]};  // op, src, dst
  end

`ifndef SYNTHESIS
  initial if (L < 2 || L > 6) $error("net_crossbar: LINKS must be 2 to 6");
`endif
endmodule

`default_nettype wire
