// SPDX-License-Identifier: Apache-2.0
// Between the functional units and the links: routes unit packets to the links, back to the units (own node) or nowhere
// (no link is UP), merges both sources of inbound packets, and drops invalid inbound packets. Nothing is stored here:
// acceptance by net is acceptance by a link or by the receiving unit, and so keeps their order.
`default_nettype none

module net #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    output      logic                busy_o,            // clock the next cycle

    // configuration: NODE, LINK_PEER
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [15:0]         cfg_peer_node_i,
    input  wire logic                cfg_peer_valid_i,
    // route, for the units
    output      logic [15:0]         peer_node_o,
    output      logic                peer_valid_o,
    output      logic                link_up_o,

    // packets from the SMFU
    input  wire ggas_pkg::net_beat_t tx_p_i,
    output      logic                tx_p_ready_o,
    input  wire logic [DATA_W-1:0]   tx_p_data_i,
    input  wire ggas_pkg::net_beat_t tx_np_i,
    output      logic                tx_np_ready_o,
    input  wire logic [DATA_W-1:0]   tx_np_data_i,
    input  wire ggas_pkg::net_beat_t tx_rsp_i,
    output      logic                tx_rsp_ready_o,
    input  wire logic [DATA_W-1:0]   tx_rsp_data_i,
    // packets to the SMFU
    output      ggas_pkg::net_beat_t rx_p_o,
    input  wire logic                rx_p_ready_i,
    output      logic [DATA_W-1:0]   rx_p_data_o,
    output      ggas_pkg::net_beat_t rx_np_o,
    input  wire logic                rx_np_ready_i,
    output      logic [DATA_W-1:0]   rx_np_data_o,
    output      ggas_pkg::net_beat_t rx_rsp_o,
    input  wire logic                rx_rsp_ready_i,
    output      logic [DATA_W-1:0]   rx_rsp_data_o,
    // packets from the RMA
    input  wire ggas_pkg::rma_beat_t tx_rma_i,
    output      logic                tx_rma_ready_o,
    input  wire logic [DATA_W-1:0]   tx_rma_data_i,
    input  wire ggas_pkg::rma_beat_t tx_ans_i,
    output      logic                tx_ans_ready_o,
    input  wire logic [DATA_W-1:0]   tx_ans_data_i,
    // packets to the RMA
    output      ggas_pkg::rma_beat_t rx_rma_o,
    input  wire logic                rx_rma_ready_i,
    output      logic [DATA_W-1:0]   rx_rma_data_o,
    output      ggas_pkg::rma_beat_t rx_ans_o,
    input  wire logic                rx_ans_ready_i,
    output      logic [DATA_W-1:0]   rx_ans_data_o,

    // link; bit or slice v is virtual channel v. Connect to the ports of `link` of the same name without lnk_
    input  wire logic [1:0]          lnk_sts_state_i,
    output      logic [3:0]          lnk_tx_valid_o,
    input  wire logic [3:0]          lnk_tx_ready_i,
    output      logic [3:0]          lnk_tx_sop_o,
    output      logic [3:0]          lnk_tx_eop_o,
    output      logic [4*ggas_pkg::NET_HDR_W-1:0] lnk_tx_hdr_o,
    output      logic [4*DATA_W-1:0] lnk_tx_data_o,
    input  wire logic [3:0]          lnk_rx_valid_i,
    output      logic [3:0]          lnk_rx_ready_o,
    input  wire logic [3:0]          lnk_rx_sop_i,
    input  wire logic [3:0]          lnk_rx_eop_i,
    input  wire logic [4*ggas_pkg::NET_HDR_W-1:0] lnk_rx_hdr_i,
    input  wire logic [4*DATA_W-1:0] lnk_rx_data_i,
    input  wire link_pkg::link_events_t lnk_ev_i,

    // events LINK_DEAD, LINK_UP, STORE_LOST, BAD_PACKET, PACKET_LOST, UNITS_CUT; event_count_o has one bit a code,
    // pulsed once for every event
    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o,
    output      ggas_regs_pkg::event_set_t event_count_o
);
  localparam int unsigned HW = ggas_pkg::NET_HDR_W;
  localparam logic [1:0] LINK_UP = 2'd2;  // ggas_regs_pkg::LINK_STATE_UP

  assign peer_node_o  = cfg_peer_node_i;
  assign peer_valid_o = cfg_peer_valid_i;
  assign link_up_o    = lnk_sts_state_i == LINK_UP;

  // ---------------------------------------------------------------- from the units
  // Responses come from two units, whole packets in turn.
  logic [1:0] rsp_req, rsp_grant;
  logic       rsp_ready, unused_rsp_locked;
  assign rsp_req = {tx_ans_i.valid, tx_rsp_i.valid};
  arbiter_rr #(.N(2), .HOLD(1'b1)) i_rsp_arbiter (
      .clk_i, .rst_ni, .clear_i(1'b0), .req_i(rsp_req), .take_i(rsp_grant != '0 && rsp_ready),
      .eop_i(rsp_grant[1] ? tx_ans_i.eop : tx_rsp_i.eop), .grant_o(rsp_grant), .locked_o(unused_rsp_locked)
  );
  assign tx_rsp_ready_o = rsp_grant[0] && rsp_ready;
  assign tx_ans_ready_o = rsp_grant[1] && rsp_ready;

  logic [3:0] tx_valid, tx_ready, tx_sop, tx_eop;
  assign tx_valid = {tx_rma_i.valid, rsp_grant != '0, tx_np_i.valid, tx_p_i.valid};
  assign tx_sop   = {tx_rma_i.sop, rsp_grant[1] ? tx_ans_i.sop : tx_rsp_i.sop, tx_np_i.sop, tx_p_i.sop};
  assign tx_eop   = {tx_rma_i.eop, rsp_grant[1] ? tx_ans_i.eop : tx_rsp_i.eop, tx_np_i.eop, tx_p_i.eop};
  assign {tx_rma_ready_o, rsp_ready, tx_np_ready_o, tx_p_ready_o} = tx_ready;
  assign lnk_tx_sop_o  = tx_sop;
  assign lnk_tx_eop_o  = tx_eop;
  logic [4*HW-1:0] tx_hdr;
  assign tx_hdr = {tx_rma_i.hdr, rsp_grant[1] ? tx_ans_i.hdr : tx_rsp_i.hdr, tx_np_i.hdr, tx_p_i.hdr};
  assign lnk_tx_data_o = {tx_rma_data_i, rsp_grant[1] ? tx_ans_data_i : tx_rsp_data_i, tx_np_data_i, tx_p_data_i};

  // The route is fixed when a packet is offered, so that the offer does not change with the configuration. A single
  // link accepts nothing while it is not UP, and an offer to it is then withdrawn. With several links the crossbar
  // handles this case.
  logic [3:0] offered_q, inside_q, own_q, out_q;  // on offer before; begun; it is for us; it goes to the link
  logic [3:0] own, out, loop_valid, loop_ready;
  logic [3:0] tx_group;         // the destination is one
  logic [3:0] to_own, to_peer;  // it is this node; it may be after a link
  logic [1:0] rsp_own, rsp_peer;
  ggas_pkg::net_hdr_t tx_head;
  // Where a response goes is looked at before one of the two units is chosen.
  assign rsp_own  = {tx_ans_i.hdr.dst == cfg_node_i, tx_rsp_i.hdr.dst == cfg_node_i};
  assign rsp_peer = {ggas_pkg::is_peer(tx_ans_i.hdr.dst, cfg_peer_node_i),
    ggas_pkg::is_peer(tx_rsp_i.hdr.dst, cfg_peer_node_i)};
  assign to_own   = {tx_rma_i.hdr.dst == cfg_node_i, rsp_own[rsp_grant[1]], tx_np_i.hdr.dst == cfg_node_i,
    tx_p_i.hdr.dst == cfg_node_i};
  assign to_peer  = {ggas_pkg::is_peer(tx_rma_i.hdr.dst, cfg_peer_node_i), rsp_peer[rsp_grant[1]],
    ggas_pkg::is_peer(tx_np_i.hdr.dst, cfg_peer_node_i), ggas_pkg::is_peer(tx_p_i.hdr.dst, cfg_peer_node_i)};
  always_comb begin
    for (int v = 0; v < 4; v = v + 1) begin
      tx_head = tx_hdr[v*HW+:HW];
      tx_head.hops = ggas_pkg::HOP_LIMIT;
      tx_head.unordered = ggas_pkg::LINKS > 1 && ggas_pkg::is_unordered(tx_head.op, tx_head.whole);
      tx_group[v] = ggas_pkg::is_multicast(tx_head.op);
      lnk_tx_hdr_o[v*HW+:HW] = tx_head;
    end
  end
  for (genvar v = 0; v < 4; v = v + 1) begin : g_route
    assign own[v]  = offered_q[v] ? own_q[v] : to_own[v] && !tx_group[v];
    assign out[v]  = offered_q[v] ? out_q[v] && (inside_q[v] || ggas_pkg::LINKS > 1 || link_up_o)
      : !own[v] && cfg_peer_valid_i && link_up_o && (tx_group[v] || to_peer[v]);
    assign lnk_tx_valid_o[v] = tx_valid[v] && out[v];
    assign tx_ready[v] = out[v] ? lnk_tx_ready_i[v] : own[v] ? loop_ready[v] : 1'b1;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        offered_q[v] <= 1'b0;
        inside_q[v]  <= 1'b0;
        own_q[v]     <= 1'b0;
        out_q[v]     <= 1'b0;
      end else if (tx_valid[v]) begin
        offered_q[v] <= !(tx_ready[v] && tx_eop[v]);
        own_q[v]     <= own[v];
        out_q[v]     <= out[v];
        if (tx_ready[v]) inside_q[v] <= !tx_eop[v];
      end
    end
  end

  // A loopback NP packet waits while a P packet that began before it is partly delivered. Once the NP packet is passed
  // on it does not change, and P packets that begin later pass it.
  logic np_offered_q, np_may_go;
  assign np_may_go  = np_offered_q || !(inside_q[0] && own_q[0]);
  assign loop_valid = tx_valid & own & {2'b11, np_may_go, 1'b1};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) np_offered_q <= 1'b0;
    else np_offered_q <= loop_valid[1] && !(loop_ready[1] && tx_eop[1]);
  end

  // ---------------------------------------------------------------- to the units
  logic [3:0] rx_sop, rx_eop, bad, bad_end;
  logic [3:0] seen_q, refused_q;       // of the link's packet: on offer before; it is bad
  logic [3:0] from_link, from_loop;    // where the beat at a unit is from
  logic [3:0] link_ready, own_ready;   // its unit takes the one of the link, the one of this node
  logic [4*HW-1:0]     rx_hdr;
  logic [4*DATA_W-1:0] rx_data;
  logic                link_to_rma;
  // Which unit a response is for: one of the link by its op, one of this node by the unit that it is from.
  assign link_ready = {rx_rma_ready_i, link_to_rma ? rx_ans_ready_i : rx_rsp_ready_i, rx_np_ready_i, rx_p_ready_i};
  assign own_ready  = {rx_rma_ready_i, rsp_grant[1] ? rx_ans_ready_i : rx_rsp_ready_i, rx_np_ready_i, rx_p_ready_i};
  assign rx_p_o   = {from_link[0] || from_loop[0], rx_sop[0], rx_eop[0], rx_hdr[0+:HW]};
  assign rx_np_o  = {from_link[1] || from_loop[1], rx_sop[1], rx_eop[1], rx_hdr[HW+:HW]};
  assign rx_rsp_o = {(from_link[2] && !link_to_rma) || (from_loop[2] && rsp_grant[0]), rx_sop[2], rx_eop[2],
    rx_hdr[2*HW+:HW]};
  assign rx_ans_o = {(from_link[2] && link_to_rma) || (from_loop[2] && rsp_grant[1]), rx_sop[2], rx_eop[2],
    rx_hdr[2*HW+:HW]};
  assign rx_rma_o = {from_link[3] || from_loop[3], rx_sop[3], rx_eop[3], rx_hdr[3*HW+:HW]};
  assign {rx_rma_data_o, rx_rsp_data_o, rx_np_data_o, rx_p_data_o} = rx_data;
  assign rx_ans_data_o = rx_data[2*DATA_W+:DATA_W];

  // From the headers of the link's packets, which are valid on every beat.
  logic [4*24-1:0] rx_who;  // source and op
  logic [10:0] rx_len [0:3];
  logic [15:0] rx_dst [0:3];
  logic [3:0]  rx_group;
  logic [4*HW-1:0] rx_plain;  // without OP_MULTICAST
  // verilator lint_off UNUSEDSIGNAL
  ggas_pkg::net_hdr_t rx_head;
  // verilator lint_on UNUSEDSIGNAL
  always_comb begin
    for (int v = 0; v < 4; v = v + 1) begin
      rx_head = lnk_rx_hdr_i[v*HW+:HW];
      rx_len[v] = rx_head.len_dw;
      rx_dst[v] = rx_head.dst;
      rx_who[v*24+:24] = {rx_head.src, rx_head.op};
      rx_group[v] = ggas_pkg::is_multicast(rx_head.op);
      if (rx_group[v]) rx_head.op = rx_head.op & ~ggas_pkg::OP_MULTICAST;
      rx_plain[v*HW+:HW] = rx_head;
    end
  end
  assign link_to_rma = rx_who[2*24+4+:4] != 4'd0;
  for (genvar v = 0; v < 4; v = v + 1) begin : g_merge
    logic [10:0] len_dw;
    logic        op_ok;
    assign len_dw = rx_len[v];
    always_comb begin
      case (rx_who[v*24+:8])
        ggas_pkg::OP_SMFU_STORE:     op_ok = v == 0 && len_dw != '0;
        ggas_pkg::OP_SMFU_STORE | ggas_pkg::OP_MULTICAST: op_ok = ggas_pkg::GROUPS > 0 && v == 0 && len_dw != '0;
        ggas_pkg::OP_SMFU_LOAD:      op_ok = v == 1 && len_dw == '0;
        ggas_pkg::OP_SMFU_QUIET:     op_ok = v == 1 && len_dw == '0;
        ggas_pkg::OP_SMFU_LOAD_RSP:  op_ok = v == 2;
        ggas_pkg::OP_SMFU_QUIET_RSP: op_ok = v == 2 && len_dw == '0;
        ggas_pkg::OP_RMA_PUT:        op_ok = v == 3 && len_dw != '0;
        ggas_pkg::OP_RMA_GET:        op_ok = v == 3 && len_dw == 11'd6;
        ggas_pkg::OP_RMA_NOTIFY:     op_ok = v == 3 && len_dw == 11'd4;
        ggas_pkg::OP_RMA_ATOMIC:     op_ok = v == 3 && len_dw == 11'd10;
        ggas_pkg::OP_VELO_MSG:       op_ok = v == 3 && len_dw >= 11'd4 && len_dw <= 11'd20;
        ggas_pkg::OP_COLL_UP, ggas_pkg::OP_COLL_DOWN: op_ok = ggas_pkg::COLL && v == 3 && len_dw <= 11'd64;
        ggas_pkg::OP_RMA_ACK:        op_ok = v == 2 && len_dw == '0;
        ggas_pkg::OP_RMA_GET_DATA:   op_ok = v == 2 && len_dw != '0;
        ggas_pkg::OP_RMA_GET_DONE:   op_ok = v == 2 && len_dw == '0;
        ggas_pkg::OP_RMA_ATOMIC_RSP: op_ok = v == 2 && len_dw == 11'd4;
        default:                     op_ok = 1'b0;
      endcase
    end
    // The links know who is in a group. Found out once a packet: NODE may be written while it passes.
    assign bad[v]     = lnk_rx_valid_i[v]
      && (seen_q[v] ? refused_q[v] : !op_ok || !(rx_dst[v] == cfg_node_i || rx_group[v]));
    assign bad_end[v] = bad[v] && lnk_rx_eop_i[v];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        seen_q[v]    <= 1'b0;
        refused_q[v] <= 1'b0;
      end else if (lnk_rx_valid_i[v]) begin
        seen_q[v]    <= !(lnk_rx_ready_o[v] && lnk_rx_eop_i[v]);
        refused_q[v] <= bad[v];
      end
    end

    logic unused_locked;
    arbiter_rr #(.N(2), .HOLD(1'b1)) i_arbiter (
        .clk_i, .rst_ni, .clear_i(1'b0), .req_i({loop_valid[v], lnk_rx_valid_i[v] && !bad[v]}),
        .take_i(loop_ready[v] || (from_link[v] && link_ready[v])), .eop_i(rx_eop[v]),
        .grant_o({from_loop[v], from_link[v]}), .locked_o(unused_locked)
    );
    assign rx_sop[v]   = from_loop[v] ? tx_sop[v] : lnk_rx_sop_i[v];
    assign rx_eop[v]   = from_loop[v] ? tx_eop[v] : lnk_rx_eop_i[v];
    assign rx_hdr[v*HW+:HW] = from_loop[v] ? lnk_tx_hdr_o[v*HW+:HW] : rx_plain[v*HW+:HW];
    assign rx_data[v*DATA_W+:DATA_W] = from_loop[v] ? lnk_tx_data_o[v*DATA_W+:DATA_W] : lnk_rx_data_i[v*DATA_W+:DATA_W];
    assign loop_ready[v] = from_loop[v] && own_ready[v];
    assign lnk_rx_ready_o[v] = bad[v] || (from_link[v] && link_ready[v]);
  end

  // ---------------------------------------------------------------- events
  // Counts wait in lost_q and bad_q and are reported one a cycle; the log keeps one event of each kind.
  logic        cut_q, dead_q, up_q, up_q_log, lost_q_any, lost_q_log, bad_q_log, no_route_q, drop_store;
  logic [1:0]  cut_vc_q;
  logic [2:0]  dead_link_q, up_link_q;
  logic [39:0] who_q;
  logic [15:0] neighbour;
  assign neighbour = ggas_pkg::LINKS == 1 ? cfg_peer_node_i : 16'd0;
  logic [9:0]  lost_q;
  logic [11:0] bad_q;
  logic [7:0]  tries_q, bad_op_q, bad_op;
  logic [15:0] lost_node_q, bad_src_q, bad_src;
  logic        bad_any;

  assign drop_store = tx_valid[0] && tx_sop[0] && !inside_q[0] && !own[0] && !out[0]
      && (tx_p_i.hdr.op & ~ggas_pkg::OP_MULTICAST) == ggas_pkg::OP_SMFU_STORE;
  assign lost_q_any = drop_store || lnk_ev_i.lost != '0;
  assign bad_any    = lnk_ev_i.bad || bad_end != '0;
  always_comb begin
    if (lnk_ev_i.bad) {bad_src, bad_op} = {lnk_ev_i.bad_src, lnk_ev_i.bad_op};
    else if (bad_end[0]) {bad_src, bad_op} = rx_who[0+:24];
    else if (bad_end[1]) {bad_src, bad_op} = rx_who[24+:24];
    else if (bad_end[2]) {bad_src, bad_op} = rx_who[48+:24];
    else {bad_src, bad_op} = rx_who[72+:24];
  end

  logic take, came_up;
  assign came_up = ggas_pkg::LINKS == 1 ? link_up_o && !up_q : lnk_ev_i.up;
  assign take = event_valid_o && event_ready_i;
  assign event_valid_o = dead_q || bad_q_log || lost_q_log || no_route_q || up_q_log || cut_q;
  always_comb begin
    event_o = '0;
    if (dead_q) begin
      event_o.code = ggas_regs_pkg::EV_LINK_DEAD;
      event_o.node = neighbour;
      event_o.info = {29'd0, dead_link_q, tries_q};
    end else if (bad_q_log) begin
      event_o.code = ggas_regs_pkg::EV_BAD_PACKET;
      event_o.node = bad_src_q;
      event_o.info = {32'd0, bad_op_q};
    end else if (lost_q_log) begin
      event_o.code = ggas_regs_pkg::EV_STORE_LOST;
      event_o.node = lost_node_q;
    end else if (no_route_q) begin
      event_o.code = ggas_regs_pkg::EV_PACKET_LOST;
      event_o.node = who_q[15:0];
      event_o.info = {16'd0, who_q[31:16], who_q[39:32]};
    end else if (up_q_log) begin
      event_o.code = ggas_regs_pkg::EV_LINK_UP;
      event_o.node = neighbour;
      event_o.info = {29'd0, up_link_q, 8'd0};
    end else if (cut_q) begin
      event_o.code = ggas_regs_pkg::EV_UNITS_CUT;
      event_o.info = {38'd0, cut_vc_q};
    end
    event_count_o = '0;
    event_count_o[ggas_regs_pkg::EV_LINK_DEAD[5:0]]  = lnk_ev_i.dead;
    event_count_o[ggas_regs_pkg::EV_LINK_UP[5:0]]    = came_up;
    event_count_o[ggas_regs_pkg::EV_BAD_PACKET[5:0]] = bad_q != '0;
    event_count_o[ggas_regs_pkg::EV_STORE_LOST[5:0]] = lost_q != '0;
    event_count_o[ggas_regs_pkg::EV_PACKET_LOST[5:0]] = lnk_ev_i.no_route;
    event_count_o[ggas_regs_pkg::EV_UNITS_CUT[5:0]]   = lnk_ev_i.cut;
  end

  // An event that occurs while one of its kind waits in the log is only counted. So is a link-up event that waits when
  // the link dies: the last record of the two reports the state.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cut_q       <= 1'b0;
      cut_vc_q    <= '0;
      dead_q      <= 1'b0;
      up_q        <= 1'b0;
      up_q_log    <= 1'b0;
      no_route_q  <= 1'b0;
      who_q       <= '0;
      dead_link_q <= '0;
      up_link_q   <= '0;
      bad_q_log   <= 1'b0;
      lost_q_log  <= 1'b0;
      lost_q      <= '0;
      bad_q       <= '0;
      tries_q     <= '0;
      bad_src_q   <= '0;
      bad_op_q    <= '0;
      lost_node_q <= '0;
    end else begin
      cut_q      <= lnk_ev_i.cut
        || (cut_q && !(take && !dead_q && !bad_q_log && !lost_q_log && !no_route_q && !up_q_log));
      if (lnk_ev_i.cut && !cut_q) cut_vc_q <= lnk_ev_i.cut_vc;
      dead_q     <= lnk_ev_i.dead || (dead_q && !take);
      bad_q_log  <= bad_any || (bad_q_log && !(take && !dead_q));
      lost_q_log <= lost_q_any || (lost_q_log && !(take && !dead_q && !bad_q_log));
      up_q       <= link_up_o;
      no_route_q  <= lnk_ev_i.no_route || (no_route_q && !(take && !dead_q && !bad_q_log && !lost_q_log));
      up_q_log   <= !(lnk_ev_i.dead && (ggas_pkg::LINKS == 1 || lnk_ev_i.link == up_link_q))
        && (came_up || (up_q_log && !(take && !dead_q && !bad_q_log && !lost_q_log && !no_route_q)));
      if (lnk_ev_i.dead && !dead_q) {dead_link_q, tries_q} <= {lnk_ev_i.link, lnk_ev_i.tries};
      if (came_up && !up_q_log) up_link_q <= lnk_ev_i.link;
      if (lnk_ev_i.no_route && !no_route_q) who_q <= lnk_ev_i.no_route_who;
      if (bad_any && !bad_q_log) {bad_src_q, bad_op_q} <= {bad_src, bad_op};
      if (lost_q_any && !lost_q_log)
        lost_node_q <= drop_store ? tx_p_i.hdr.dst : ggas_pkg::LINKS == 1 ? cfg_peer_node_i : 16'hffff;
      lost_q <= lost_q - {9'd0, lost_q != '0} + {9'd0, drop_store} + {9'd0, lnk_ev_i.lost[0]} + {9'd0,
        lnk_ev_i.lost[1]};
      bad_q  <= bad_q - {11'd0, bad_q != '0} + {11'd0, lnk_ev_i.bad} + {11'd0, bad_end[0]} + {11'd0, bad_end[1]}
          + {11'd0, bad_end[2]} + {11'd0, bad_end[3]};
    end
  end
  assign busy_o = event_valid_o || link_up_o != up_q || lost_q != '0 || bad_q != '0;
endmodule

`default_nettype wire
