// SPDX-License-Identifier: Apache-2.0
// The links of the NIC, and their connection to net: none with one link, else routes and crossbar (docs/network.md).
// Bit or slice l of a port of the PHY belongs to link l.
`default_nettype none

module links #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,
    output      logic                busy_o,
    output      logic                timer_o,

    // configuration and status: NODE, LINK_CTRL, ROUTE, MULTICAST, WATCHDOG; LINK_STATUS, LINKS
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [7:0]          cfg_replay_limit_i,
    input  wire logic [15:0]         cfg_replay_timeout_i,
    input  wire logic                cfg_retrain_i,
    input  wire logic                cfg_route_set_i,    // pulse
    input  wire logic [15:0]         cfg_route_node_i,
    input  wire net_pkg::route_t    cfg_route_i,
    input  wire logic                cfg_group_set_i,    // pulse
    input  wire logic [15:0]         cfg_group_i,
    input  wire logic                cfg_group_lane_i,
    input  wire net_pkg::group_line_t cfg_group_line_i,
    input  wire logic [15:0]         cfg_watchdog_i,     // ticks that the own units may take; 0: none
    input  wire logic                cfg_resume_i,       // pulse: no longer cut off
    output      logic                sts_cut_o,          // the own units are cut off
    output      logic [1:0]          sts_state_o,        // of the link in the best state
    output      logic [7:0]          sts_unacked_o,      // of all links, 255 at most
    output      logic [11:0]         sts_states_o,       // two bits a link

    // PHY
    output      logic [ggas_pkg::LINKS-1:0]        link_tx_valid_o,
    input  wire logic [ggas_pkg::LINKS-1:0]        link_tx_ready_i,
    output      logic [2*ggas_pkg::LINKS-1:0]      link_tx_kind_o,
    output      logic [DATA_W*ggas_pkg::LINKS-1:0] link_tx_data_o,
    input  wire logic [ggas_pkg::LINKS-1:0]        link_rx_valid_i,
    input  wire logic [2*ggas_pkg::LINKS-1:0]      link_rx_kind_i,
    input  wire logic [DATA_W*ggas_pkg::LINKS-1:0] link_rx_data_i,
    input  wire logic [ggas_pkg::LINKS-1:0]        link_rx_up_i,

    // packets from and to net, a stream a virtual channel, as `link` has them
    input  wire logic [3:0]          tx_valid_i,
    output      logic [3:0]          tx_ready_o,
    input  wire logic [3:0]          tx_sop_i,
    input  wire logic [3:0]          tx_eop_i,
    input  wire logic [4*ggas_pkg::NET_HDR_W-1:0] tx_hdr_i,
    input  wire logic [4*DATA_W-1:0] tx_data_i,
    output      logic [3:0]          rx_valid_o,
    input  wire logic [3:0]          rx_ready_i,
    output      logic [3:0]          rx_sop_o,
    output      logic [3:0]          rx_eop_o,
    output      logic [4*ggas_pkg::NET_HDR_W-1:0] rx_hdr_o,
    output      logic [4*DATA_W-1:0] rx_data_o,

    // net turns them into event_t
    output      link_pkg::link_events_t ev_o,

    // counter pulses, CNT_LINK_*
    output      logic                cnt_tx_packets_o,
    output      logic                cnt_rx_packets_o,
    output      logic                cnt_tx_replays_o,
    output      logic                cnt_rx_crc_errors_o,
    output      logic                cnt_rx_seq_errors_o
);
  localparam int unsigned L = ggas_pkg::LINKS;
  localparam int unsigned NC = ggas_pkg::CHANNELS;
  localparam int unsigned HW = ggas_pkg::NET_HDR_W;

  if (L == 1) begin : g_one
    logic [3:0]  unused_room;
    logic        dead, bad;
    logic [7:0]  tries, bad_op;
    logic [1:0]  lost;
    logic [15:0] bad_src;
    // verilator lint_off UNUSEDSIGNAL
    ggas_pkg::net_hdr_t arriving;
    // verilator lint_on UNUSEDSIGNAL
    link #(.DATA_W(DATA_W)) i_link (
        .clk_i, .rst_ni, .time_i, .busy_o, .timer_o, .cfg_replay_limit_i, .cfg_replay_timeout_i, .cfg_retrain_i,
        .sts_state_o, .sts_unacked_o, .link_tx_valid_o, .link_tx_ready_i, .link_tx_kind_o, .link_tx_data_o,
        .link_rx_valid_i, .link_rx_kind_i, .link_rx_data_i, .link_rx_up_i, .tx_valid_i, .tx_ready_o, .tx_sop_i,
        .tx_eop_i, .tx_hdr_i, .tx_data_i, .tx_waits_i('0), .tx_pending_i('0), .tx_room_o(unused_room),
        .rx_valid_o, .rx_ready_i,
        .rx_keep_i('0), .rx_sop_o, .rx_eop_o, .rx_hdr_o, .rx_data_o, .arriving_o(arriving), .way_i('0),
        .ev_dead_o(dead), .ev_dead_tries_o(tries), .ev_lost_o(lost), .ev_bad_o(bad), .ev_bad_src_o(bad_src),
        .ev_bad_op_o(bad_op), .cnt_tx_packets_o, .cnt_rx_packets_o, .cnt_tx_replays_o, .cnt_rx_crc_errors_o,
        .cnt_rx_seq_errors_o
    );
    assign sts_states_o = {10'd0, sts_state_o};
    assign ev_o         = {dead, tries, 1'b0, 3'd0, lost, bad, bad_src, bad_op, {44{1'b0}}};
    assign sts_cut_o    = 1'b0;  // no one's packets are in the way of others
    logic unused_route;
    assign unused_route = ^{cfg_node_i, cfg_watchdog_i, cfg_resume_i, cfg_route_set_i, cfg_route_node_i, cfg_route_i,
      cfg_group_set_i, cfg_group_i,
      cfg_group_lane_i, cfg_group_line_i};
  end else begin : g_several
    logic [L-1:0]      busy, timer, up, ev_dead, ev_bad, tx_packets, rx_packets, replays, crc_errors, seq_errors;
    logic [2*L-1:0]    ev_lost;
    logic [8*L-1:0]    unacked, tries, bad_op;
    logic [16*L-1:0]   bad_src;
    logic [L*NC-1:0]   l_rx_valid, l_rx_ready, l_rx_sop, l_rx_eop, l_tx_valid, l_tx_ready, l_tx_room, l_tx_waits;
    logic [L*NC*3-1:0]      l_tx_pending;
    logic [L*NC*HW-1:0]     l_rx_hdr;
    logic [L*NC*DATA_W-1:0] l_rx_data;
    logic [L-1:0]           l_tx_sop, l_tx_eop, l_tx_comes;
    logic [L*HW-1:0]        l_tx_hdr;
    logic [L*DATA_W-1:0]    l_tx_data;
    // routes: of the packets that arrive, then of those that the own units offer
    localparam int unsigned R = L + 4, WW = net_pkg::WAY_W, WSW = net_pkg::WAYS_W;
    logic [R*16-1:0] dst;
    logic [R-1:0]    expired, unordered;
    logic [R*WW-1:0] way;
    net_routes #(.READS(R)) i_routes (
        .clk_i, .cfg_node_i, .set_i(cfg_route_set_i), .set_node_i(cfg_route_node_i), .set_route_i(cfg_route_i),
        .dst_i(dst), .expired_i(expired), .unordered_i(unordered), .way_o(way)
    );
    // The same of packets for groups, which VC_P alone may have.
    logic [L:0]           grouped, posted, in_lane;
    logic [(L+1)*WSW-1:0] ways, group_ways;
    if (ggas_pkg::GROUPS > 0) begin : g_groups
      net_groups #(.LINKS(L)) i_groups (
          .clk_i, .set_i(cfg_group_set_i), .set_group_i(cfg_group_i), .set_lane_i(cfg_group_lane_i),
          .set_line_i(cfg_group_line_i), .group_i(dst[16*(L+1)-1:0]), .lane_i(in_lane), .posted_i(posted),
          .expired_i(expired[L:0]), .ways_o(group_ways)
      );
    end else begin : g_no_groups
      assign group_ways = '0;
      logic unused_groups;
      assign unused_groups = ^{cfg_group_set_i, cfg_group_i, cfg_group_lane_i, cfg_group_line_i, in_lane, posted};
    end
    for (genvar r = 0; r <= L; r = r + 1) begin : g_ways
      assign ways[WSW*r+:WSW] = grouped[r] ? group_ways[WSW*r+:WSW] : {2'b00, way[WW*r+:WW]};
    end
    assign grouped[L] = ggas_pkg::is_multicast(net_pkg::hdr_op(tx_hdr_i[HW-1:0]));
    assign in_lane[L] = 1'b0;
    assign posted[L]  = 1'b1;

    for (genvar v = 0; v < 4; v = v + 1) begin : g_own
      assign dst[16*(L+v)+:16] = net_pkg::hdr_dst(tx_hdr_i[HW*v+:HW]);
      assign expired[L+v]      = 1'b0;
      assign unordered[L+v]    = net_pkg::hdr_unordered(tx_hdr_i[HW*v+:HW]);
    end

    // What the crossbar sees: packets of VC_P once for each of their ways.
    logic [L*NC*HW-1:0] x_rx_hdr;
    for (genvar l = 0; l < L; l = l + 1) begin : g_link
      logic [HW-1:0] arriving;
      logic [2:0] channel;  // of the packet that arrives
      logic [1:0] state;
      logic [ggas_pkg::LANES-1:0] keep;
      logic       clk;  // while it works, when something comes, and at a tick that it waits for
      clock_gate i_clock (
          .clk_i, .en_i(!rst_ni || busy[l] || link_rx_valid_i[l] || l_tx_valid[NC*l+:NC] != '0
            || l_tx_comes[l] || cfg_retrain_i
            || (timer[l] && time_i[ggas_pkg::TICK_LOG2-1:0] == '0)), .clk_o(clk)
      );
      link #(.DATA_W(DATA_W)) i_link (
          .clk_i(clk), .rst_ni, .time_i, .busy_o(busy[l]), .timer_o(timer[l]), .cfg_replay_limit_i,
          .cfg_replay_timeout_i, .cfg_retrain_i, .sts_state_o(state), .sts_unacked_o(unacked[8*l+:8]),
          .link_tx_valid_o(link_tx_valid_o[l]), .link_tx_ready_i(link_tx_ready_i[l]),
          .link_tx_kind_o(link_tx_kind_o[2*l+:2]), .link_tx_data_o(link_tx_data_o[DATA_W*l+:DATA_W]),
          .link_rx_valid_i(link_rx_valid_i[l]), .link_rx_kind_i(link_rx_kind_i[2*l+:2]),
          .link_rx_data_i(link_rx_data_i[DATA_W*l+:DATA_W]), .link_rx_up_i(link_rx_up_i[l]),
          .tx_valid_i(l_tx_valid[NC*l+:NC]), .tx_ready_o(l_tx_ready[NC*l+:NC]), .tx_sop_i({NC{l_tx_sop[l]}}),
          .tx_eop_i({NC{l_tx_eop[l]}}), .tx_hdr_i({NC{l_tx_hdr[HW*l+:HW]}}),
          .tx_data_i({NC{l_tx_data[DATA_W*l+:DATA_W]}}), .tx_waits_i(l_tx_waits[NC*l+:NC]),
          .tx_pending_i(l_tx_pending[3*NC*l+:3*NC]), .tx_room_o(l_tx_room[NC*l+:NC]),
          .rx_valid_o(l_rx_valid[NC*l+:NC]), .rx_ready_i(l_rx_ready[NC*l+:NC]),
          .rx_keep_i(keep), .rx_sop_o(l_rx_sop[NC*l+:NC]), .rx_eop_o(l_rx_eop[NC*l+:NC]),
          .rx_hdr_o(l_rx_hdr[NC*HW*l+:NC*HW]),
          .rx_data_o(l_rx_data[NC*DATA_W*l+:NC*DATA_W]), .arriving_o(arriving), .way_i(ways[WSW*l+:WSW]),
          .ev_dead_o(ev_dead[l]), .ev_dead_tries_o(tries[8*l+:8]), .ev_lost_o(ev_lost[2*l+:2]), .ev_bad_o(ev_bad[l]),
          .ev_bad_src_o(bad_src[16*l+:16]), .ev_bad_op_o(bad_op[8*l+:8]), .cnt_tx_packets_o(tx_packets[l]),
          .cnt_rx_packets_o(rx_packets[l]), .cnt_tx_replays_o(replays[l]), .cnt_rx_crc_errors_o(crc_errors[l]),
          .cnt_rx_seq_errors_o(seq_errors[l])
      );
      for (genvar c = 0; c < NC; c = c + 1) begin : g_channel
        localparam int unsigned I = NC * l + c;
        if (c % 4 == 0 && ggas_pkg::GROUPS > 0) begin : g_copies
          logic [WW-1:0] copy;
          net_copies i_copies (
              .clk_i, .rst_ni, .ways_i(net_pkg::hdr_ways(l_rx_hdr[HW*I+:HW])),
              .ends_i(l_rx_valid[I] && l_rx_ready[I] && l_rx_eop[I]), .way_o(copy), .keep_o(keep[c/4])
          );
          assign x_rx_hdr[HW*I+:HW] = net_pkg::hdr_with_way(l_rx_hdr[HW*I+:HW], copy);
        end else begin : g_one_way
          if (c % 4 == 0) begin : g_leaves
            assign keep[c/4] = 1'b0;
          end
          assign x_rx_hdr[HW*I+:HW] = l_rx_hdr[HW*I+:HW];
        end
      end
      assign channel       = net_pkg::hdr_channel(arriving);
      assign grouped[l]    = ggas_pkg::is_multicast(net_pkg::hdr_op(arriving));
      assign in_lane[l]    = channel[2];
      assign posted[l]     = channel[1:0] == ggas_pkg::VC_P;
      assign dst[16*l+:16] = net_pkg::hdr_dst(arriving);
      assign expired[l]    = net_pkg::hdr_hops(arriving) == '0;
      assign unordered[l]  = net_pkg::hdr_unordered(arriving);
      assign up[l]         = state == ggas_regs_pkg::LINK_STATE_UP[1:0];
      assign sts_states_o[2*l+:2] = state;
    end
    if (L < 6) begin : g_no_link
      assign sts_states_o[11:2*L] = '0;
    end

    // Packets of the own units; those of VC_P are repeated for each of their routes. An NP packet waits for the last
    // copy of a P packet that was offered before it. Once the NP packet is offered, it does not change.
    logic [3:0]         own_valid, own_ready, own_sop, own_eop;
    logic [4*HW-1:0]     own_hdr;
    logic [4*DATA_W-1:0] own_data;
    logic [4*WW-1:0]     own_way;
    if (ggas_pkg::GROUPS > 0) begin : g_own_copies
      net_pkg::ways_t p_ways;
      logic            p_keep, p_open, p_valid, p_ready, p_sop, p_eop, np_may_go, np_offered_q;
      net_repeat #(.DATA_W(DATA_W)) i_repeat (
          .clk_i, .rst_ni, .in_valid_i(tx_valid_i[0]), .in_ready_o(p_ready), .in_sop_i(tx_sop_i[0]),
          .in_eop_i(tx_eop_i[0]), .in_hdr_i(tx_hdr_i[HW-1:0]), .in_ways_i(ways[WSW*L+:WSW]),
          .in_data_i(tx_data_i[DATA_W-1:0]), .out_valid_o(p_valid), .out_ready_i(own_ready[0]), .keep_i(p_keep),
          .out_sop_o(p_sop), .out_eop_o(p_eop), .out_hdr_o(own_hdr[HW-1:0]), .out_ways_o(p_ways),
          .out_data_o(own_data[DATA_W-1:0]), .open_o(p_open)
      );
      net_copies i_copies (
          .clk_i, .rst_ni, .ways_i(p_ways), .ends_i(p_valid && own_ready[0] && p_eop), .way_o(own_way[WW-1:0]),
          .keep_o(p_keep)
      );
      assign np_may_go  = np_offered_q || !p_open;
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) np_offered_q <= 1'b0;
        else np_offered_q <= own_valid[1] && !(own_ready[1] && own_eop[1]);
      end
      assign own_valid  = {tx_valid_i[3:2], tx_valid_i[1] && np_may_go, p_valid};
      assign tx_ready_o = {own_ready[3:2], own_ready[1] && np_may_go, p_ready};
      assign own_sop    = {tx_sop_i[3:1], p_sop};
      assign own_eop    = {tx_eop_i[3:1], p_eop};
    end else begin : g_own_ways
      assign own_valid  = tx_valid_i;
      assign tx_ready_o = own_ready;
      assign own_sop    = tx_sop_i;
      assign own_eop    = tx_eop_i;
      assign own_hdr[HW-1:0]      = tx_hdr_i[HW-1:0];
      assign own_data[DATA_W-1:0] = tx_data_i[DATA_W-1:0];
      assign own_way[WW-1:0]      = ways[WSW*L+:WW];
      logic unused_ways;
      assign unused_ways = ^ways[WSW*L+WW+:WSW-WW];
    end
    assign own_hdr[4*HW-1:HW]          = tx_hdr_i[4*HW-1:HW];
    assign own_data[4*DATA_W-1:DATA_W] = tx_data_i[4*DATA_W-1:DATA_W];
    assign own_way[4*WW-1:WW]          = way[WW*(L+1)+:3*WW];

    logic [2*L:0]          lost, lost_store;
    logic [(2*L+1)*40-1:0] lost_who;
    logic                  x_busy;
    logic [3:0]          to_valid, to_ready, to_sop, to_eop, late, kept, unit_lost;
    logic [4*HW-1:0]     to_hdr;
    logic [4*DATA_W-1:0] to_data;
    logic [4*40-1:0]     unit_lost_who;
    net_crossbar #(.DATA_W(DATA_W)) i_crossbar (
        .clk_i, .rst_ni, .busy_o(x_busy), .own_tx_valid_i(own_valid), .own_tx_ready_o(own_ready),
        .own_tx_sop_i(own_sop), .own_tx_eop_i(own_eop), .own_tx_hdr_i(own_hdr), .own_tx_data_i(own_data),
        .own_tx_way_i(own_way),
        .own_rx_valid_o(to_valid), .own_rx_ready_i(to_ready), .own_rx_sop_o(to_sop), .own_rx_eop_o(to_eop),
        .own_rx_hdr_o(to_hdr), .own_rx_data_o(to_data), .up_i(up), .rx_valid_i(l_rx_valid),
        .rx_ready_o(l_rx_ready), .rx_sop_i(l_rx_sop), .rx_eop_i(l_rx_eop), .rx_hdr_i(x_rx_hdr), .rx_data_i(l_rx_data),
        .tx_valid_o(l_tx_valid), .tx_ready_i(l_tx_ready), .tx_room_i(l_tx_room), .tx_waits_o(l_tx_waits),
        .tx_pending_o(l_tx_pending), .tx_comes_o(l_tx_comes),
        .tx_sop_o(l_tx_sop), .tx_eop_o(l_tx_eop), .tx_hdr_o(l_tx_hdr), .tx_data_o(l_tx_data), .lost_o(lost),
        .lost_store_o(lost_store), .lost_who_o(lost_who)
    );

    // If the own units accept nothing they are cut off in all virtual channels at once, until software resumes them.
    // Otherwise a packet that follows a lost one would hide the loss.
    logic       tick, cut;
    logic [1:0] cut_vc;
    assign tick = time_i[ggas_pkg::TICK_LOG2-1:0] == '0;
    for (genvar v = 0; v < 4; v = v + 1) begin : g_watchdog
      // VC_P and VC_RSP wait for the host alone, the others for answers to leave as well.
      net_watchdog #(.DATA_W(DATA_W), .TIMES(v % 2 == 0 ? 1 : 4)) i_watchdog (
          .clk_i, .rst_ni, .busy_o(kept[v]), .tick_i(tick), .limit_i(cfg_watchdog_i), .cut_i(sts_cut_o),
          .late_o(late[v]), .lost_o(unit_lost[v]), .lost_who_o(unit_lost_who[40*v+:40]), .in_valid_i(to_valid[v]),
          .in_ready_o(to_ready[v]), .in_sop_i(to_sop[v]), .in_eop_i(to_eop[v]), .in_hdr_i(to_hdr[HW*v+:HW]),
          .in_data_i(to_data[DATA_W*v+:DATA_W]), .out_valid_o(rx_valid_o[v]), .out_ready_i(rx_ready_i[v]),
          .out_sop_o(rx_sop_o[v]), .out_eop_o(rx_eop_o[v]), .out_hdr_o(rx_hdr_o[HW*v+:HW]),
          .out_data_o(rx_data_o[DATA_W*v+:DATA_W])
      );
    end
    assign cut    = late != '0;
    assign cut_vc = late[0] ? 2'd0 : late[1] ? 2'd1 : late[2] ? 2'd2 : 2'd3;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) sts_cut_o <= 1'b0;
      else sts_cut_o <= (sts_cut_o && !cfg_resume_i) || cut;
    end

    always_comb begin
      sts_state_o = ggas_regs_pkg::LINK_STATE_DOWN[1:0];
      for (int l = 0; l < L; l = l + 1)
        if (sts_states_o[2*l+:2] == ggas_regs_pkg::LINK_STATE_DEAD[1:0]) sts_state_o = sts_states_o[2*l+:2];
      for (int l = 0; l < L; l = l + 1)
        if (sts_states_o[2*l+:2] == ggas_regs_pkg::LINK_STATE_INIT[1:0]) sts_state_o = sts_states_o[2*l+:2];
      if (up != '0) sts_state_o = ggas_regs_pkg::LINK_STATE_UP[1:0];
    end

    // What happens at several links in one cycle is reported one a cycle.
    logic [L-1:0]   up_q, reported_dead, reported_up;
    logic [8*L-1:0] tries_q;
    logic [L-1:0]   dead_q, came_q;
    logic           bad_any, no_route, store_lost;
    logic [2:0]     ev_link;
    logic [7:0]     ev_tries, bad_op_q;
    logic [15:0]    bad_src_q;
    logic [39:0]    no_route_who_q;
    assign ev_o = {dead_q != '0, ev_tries, reported_up != '0, ev_link, 1'b0, store_lost, bad_any, bad_src_q, bad_op_q,
      no_route, no_route_who_q, cut, cut_vc};
    assign reported_dead = dead_q & (~dead_q + 1'b1);
    assign reported_up   = dead_q == '0 ? came_q & (~came_q + 1'b1) : '0;
    always_comb begin
      ev_tries = '0;
      ev_link  = '0;
      for (int l = 0; l < L; l = l + 1) begin
        if (reported_dead[l]) ev_tries = tries_q[8*l+:8];
        if (reported_dead[l] || reported_up[l]) ev_link = l[2:0];
      end
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        up_q   <= '0;
        dead_q <= '0;
        came_q <= '0;
      end else begin
        up_q   <= up;
        dead_q <= (dead_q & ~reported_dead) | ev_dead;
        came_q <= (came_q & ~reported_up & ~ev_dead) | (up & ~up_q);
      end
    end
    always_ff @(posedge clk_i) for (int l = 0; l < L; l = l + 1) if (ev_dead[l]) tries_q[8*l+:8] <= tries[8*l+:8];

    logic [15:0] sum_unacked;
    always_comb begin
      sum_unacked = '0;
      for (int l = 0; l < L; l = l + 1) sum_unacked = sum_unacked + {8'd0, unacked[8*l+:8]};
    end
    assign sts_unacked_o = sum_unacked > 16'd255 ? 8'd255 : sum_unacked[7:0];
    always_ff @(posedge clk_i) begin
      for (int l = 0; l < L; l = l + 1)
        if (ev_bad[l]) {bad_src_q, bad_op_q} <= {bad_src[16*l+:16], bad_op[8*l+:8]};
      for (int p = 0; p <= 2 * L; p = p + 1) if (lost[p]) no_route_who_q <= lost_who[40*p+:40];
      for (int v = 0; v < 4; v = v + 1) if (unit_lost[v]) no_route_who_q <= unit_lost_who[40*v+:40];
    end

    // Counters and events take one a cycle: more in a cycle wait.
    logic [7:0] counts_busy;
    links_count #(.N(L)) i_tx_packets (
        .clk_i, .rst_ni, .pulses_i(tx_packets), .pulse_o(cnt_tx_packets_o), .busy_o(counts_busy[0])
    );
    links_count #(.N(L)) i_rx_packets (
        .clk_i, .rst_ni, .pulses_i(rx_packets), .pulse_o(cnt_rx_packets_o), .busy_o(counts_busy[1])
    );
    links_count #(.N(L)) i_replays (
        .clk_i, .rst_ni, .pulses_i(replays), .pulse_o(cnt_tx_replays_o), .busy_o(counts_busy[2])
    );
    links_count #(.N(L)) i_crc_errors (
        .clk_i, .rst_ni, .pulses_i(crc_errors), .pulse_o(cnt_rx_crc_errors_o), .busy_o(counts_busy[3])
    );
    links_count #(.N(L)) i_seq_errors (
        .clk_i, .rst_ni, .pulses_i(seq_errors), .pulse_o(cnt_rx_seq_errors_o), .busy_o(counts_busy[4])
    );
    links_count #(.N(4 * L + 2)) i_stores (
        .clk_i, .rst_ni, .pulses_i({unit_lost[0], lost_store, ev_lost}), .pulse_o(store_lost), .busy_o(counts_busy[5])
    );
    links_count #(.N(L)) i_bad (
        .clk_i, .rst_ni, .pulses_i(ev_bad), .pulse_o(bad_any), .busy_o(counts_busy[6])
    );
    links_count #(.N(2 * L + 5)) i_no_route (
        .clk_i, .rst_ni, .pulses_i({unit_lost, lost}), .pulse_o(no_route), .busy_o(counts_busy[7])
    );

    assign busy_o  = busy != '0 || x_busy || kept != '0 || counts_busy != '0 || dead_q != '0 || came_q != '0
      || up != up_q || tx_valid_i != '0;
    assign timer_o = timer != '0 || rx_valid_o != '0;
  end
endmodule

`default_nettype wire
