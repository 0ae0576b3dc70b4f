// SPDX-License-Identifier: Apache-2.0
// Shared memory functional unit: stores and loads of the host's window become packets; packets of other nodes become
// reads and writes of exported memory. docs/rtl-structure.md has the contract of every port.
`default_nettype none

module smfu #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [63:0]         time_i,              // core cycles
    // verilator lint_on UNUSEDSIGNAL
    output      logic                busy_o,              // clock the next cycle
    output      logic                timer_o,             // clock the next tick

    input  wire smfu_pkg::config_t   cfg_i,
    // ingress is off, and nothing that was let in can reach the host any more
    output      logic                ingress_stopped_o,

    // route
    input  wire logic [15:0]         peer_node_i,
    input  wire logic                peer_valid_i,
    input  wire logic                link_up_i,

    // INTERVAL and EXPORT registers (external ranges of regs): answer in the next cycle
    input  wire logic                ext_interval_req_i,
    input  wire logic                ext_export_req_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::reg_access_t ext_i,
    // verilator lint_on UNUSEDSIGNAL
    output      logic [63:0]         ext_interval_rdata_o,
    output      logic [63:0]         ext_export_rdata_o,

    // window stores from hostif
    input  wire ggas_pkg::tlp_beat_t win_p_i,
    output      logic                win_p_ready_o,
    input  wire logic [DATA_W-1:0]   win_p_data_i,
    // window loads and quiet reads from hostif
    input  wire logic                win_np_valid_i,
    output      logic                win_np_ready_o,
    input  wire ggas_pkg::tlp_hdr_t  win_np_hdr_i,
    // their completions
    output      ggas_pkg::tlp_beat_t ld_cpl_o,
    input  wire logic                ld_cpl_ready_i,
    output      logic [DATA_W-1:0]   ld_cpl_data_o,

    // quiet of another unit, as in smfu_quiet
    input  wire ggas_pkg::context_write_t context_i,      // writes of CONTEXT[]: the domains of pages
    input  wire logic                fence_i,
    input  wire logic [7:0]          fence_page_i,
    output      logic                fence_done_o,
    output      logic [3:0]          fence_status_o,

    // reads and writes of the exports
    output      ggas_pkg::tlp_beat_t tgt_req_o,
    input  wire logic                tgt_req_ready_i,
    output      logic [DATA_W-1:0]   tgt_req_data_o,
    input  wire logic                tgt_np_ok_i,         // reads may be offered on tgt_req
    // completions of those reads
    input  wire ggas_pkg::tlp_beat_t tgt_cpl_i,
    output      logic                tgt_cpl_ready_o,
    input  wire logic [DATA_W-1:0]   tgt_cpl_data_i,

    // packets to the network
    output      ggas_pkg::net_beat_t tx_p_o,
    input  wire logic                tx_p_ready_i,
    output      logic [DATA_W-1:0]   tx_p_data_o,
    output      ggas_pkg::net_beat_t tx_np_o,
    input  wire logic                tx_np_ready_i,
    output      logic [DATA_W-1:0]   tx_np_data_o,        // always 0: requests carry no payload
    output      ggas_pkg::net_beat_t tx_rsp_o,
    input  wire logic                tx_rsp_ready_i,
    output      logic [DATA_W-1:0]   tx_rsp_data_o,
    // packets from the network
    input  wire ggas_pkg::net_beat_t rx_p_i,
    output      logic                rx_p_ready_o,
    input  wire logic [DATA_W-1:0]   rx_p_data_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::net_beat_t rx_np_i,             // one beat: eop is ignored, as the data
    input  wire logic [DATA_W-1:0]   rx_np_data_i,
    // verilator lint_on UNUSEDSIGNAL
    output      logic                rx_np_ready_o,
    input  wire ggas_pkg::net_beat_t rx_rsp_i,
    output      logic                rx_rsp_ready_o,
    input  wire logic [DATA_W-1:0]   rx_rsp_data_i,

    // events; event_count_o has one bit a code, pulsed once for every event, logged or not
    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o,
    output      logic [6:0]          event_interval_o,    // that it concerns; from smfu_pkg::NO_INTERVAL on none
    output      ggas_regs_pkg::event_set_t event_count_o,

    output      logic [smfu_pkg::COUNTERS-1:0] cnt_o       // pulses
);

  // ---------------------------------------------------------------- time and route
  wire [16:0] now  = time_i[ggas_pkg::TICK_LOG2+:17];
  wire        tick = time_i[ggas_pkg::TICK_LOG2-1:0] == '0;

  // A route breaks when the link goes down or leads elsewhere from now on.
  logic        route_q;
  logic [15:0] route_node_q;
  wire         route      = peer_valid_i && link_up_i;
  wire         route_news = route != route_q || (route && peer_node_i != route_node_q);
  wire         lost       = route_q && route_news;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      route_q      <= 1'b0;
      route_node_q <= '0;
    end else if (route_news) begin
      route_q      <= route;
      route_node_q <= peer_node_i;
    end
  end

  // ---------------------------------------------------------------- lookup, shared in turn by stores and loads
  logic        p_want, p_go, np_want, np_go;
  logic        np_turn_q;                     // loads come first next time
  logic        look_ready, ans_valid, ans_np, ans_hit, lookup_busy;
  logic        req_half;
  smfu_pkg::target_t ans_target;
  logic [6:0]  ans_interval, req_interval, iv_egress, iv_loads, iv_match;
  logic [63:0] ans_addr;

  wire   np_first = np_want && (!p_want || np_turn_q);  // known before look_ready
  assign np_go    = look_ready && np_first;
  assign p_go     = look_ready && p_want && !np_first;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      np_turn_q <= 1'b0;
    end else begin
      if (np_go) np_turn_q <= 1'b0;
      else if (p_go && np_want) np_turn_q <= 1'b1;
    end
  end

  logic [7:0]         ev_valid, ev_ready;
  ggas_pkg::event_t   ev_lookup, ev_egress, ev_loads, ev_match, ev_quiet, ev_ingress, ev_rob_req, ev_rob_cpl;

  smfu_lookup u_lookup (
      .clk_i, .rst_ni, .cfg_mode_i(cfg_i.mode), .cfg_mask_i(cfg_i.mask), .cfg_shift_i(cfg_i.shift),
      .cfg_nodes_i(cfg_i.nodes), .cfg_export_i(cfg_i.export_no), .cfg_domain_i(cfg_i.domain),
      .ext_req_i(ext_interval_req_i), .ext_write_i(ext_i.write), .ext_addr_i(ext_i.addr[10:3]),
      .ext_wdata_i(ext_i.wdata), .ext_wstrb_i(ext_i.wstrb), .ext_rdata_o(ext_interval_rdata_o),
      .req_valid_i(p_go || np_go), .ready_o(look_ready), .req_np_i(np_first),
      .req_addr_i(np_first ? win_np_hdr_i.addr : win_p_i.hdr.addr),
      .req_len_dw_i(np_first ? win_np_hdr_i.len_dw : win_p_i.hdr.len_dw), .ans_valid_o(ans_valid), .ans_np_o(ans_np),
      .ans_hit_o(ans_hit), .ans_target_o(ans_target), .ans_interval_o(ans_interval), .ans_addr_o(ans_addr),
      .event_valid_o(ev_valid[0]), .event_ready_i(ev_ready[0]), .event_o(ev_lookup), .busy_o(lookup_busy)
  );

  // ---------------------------------------------------------------- stores out
  logic [2:0] p_inflight;
  logic       p_done, sent, sent_all, sent_room, failed, egress_busy;
  ggas_pkg::node_t sent_node;
  logic [3:0] failed_status;
  logic [15:0] failed_domain;

  smfu_egress #(.DATA_W(DATA_W)) u_egress (
      .clk_i, .rst_ni, .cfg_egress_i(cfg_i.egress), .cfg_node_i(cfg_i.node), .peer_node_i, .peer_valid_i, .link_up_i,
      .win_p_i, .win_p_ready_o, .win_p_data_i, .look_want_o(p_want), .look_go_i(p_go),
      .ans_valid_i(ans_valid && !ans_np), .ans_hit_i(ans_hit), .ans_target_i(ans_target), .ans_interval_i(ans_interval),
      .ans_addr_i(ans_addr), .tx_p_valid_o(tx_p_o.valid), .tx_p_ready_i, .tx_p_sop_o(tx_p_o.sop),
      .tx_p_eop_o(tx_p_o.eop), .tx_p_hdr_o(tx_p_o.hdr), .tx_p_data_o, .inflight_o(p_inflight), .done_o(p_done),
      .sent_o(sent), .sent_all_o(sent_all), .sent_node_o(sent_node), .sent_room_i(sent_room), .failed_o(failed),
      .failed_status_o(failed_status), .failed_domain_o(failed_domain), .event_valid_o(ev_valid[1]),
      .event_ready_i(ev_ready[1]), .event_o(ev_egress), .event_interval_o(iv_egress),
      .cnt_stores_in_o(cnt_o[smfu_pkg::STORES_IN]), .cnt_store_packets_o(cnt_o[smfu_pkg::STORE_PACKETS]),
      .busy_o(egress_busy)
  );

  // ---------------------------------------------------------------- loads and quiets out
  logic        alloc_valid, alloc_ready, alloc_live, quiet_valid, quiet_ready, quiet_np_valid, quiet_np_ready;
  logic        loads_busy, refused_valid, refused_ready;
  logic [15:0] alloc_tag, req_requester;
  ggas_pkg::node_t req_node;
  logic [9:0]  req_tag;
  logic [2:0]  req_attr;
  logic [7:2]  req_addr;
  logic [11:7] req_piece;
  logic [7:0]  req_page;
  logic [10:0] req_len_dw;
  logic [3:0]  req_first_be, req_last_be;
  ggas_pkg::net_hdr_t quiet_np_hdr;

  smfu_loads u_loads (
      .clk_i, .rst_ni, .cfg_egress_i(cfg_i.egress), .cfg_node_i(cfg_i.node), .cfg_mps_i(cfg_i.mps), .peer_node_i,
      .peer_valid_i, .link_up_i, .win_np_valid_i, .win_np_ready_o, .win_np_hdr_i, .look_want_o(np_want),
      .look_go_i(np_go), .ans_valid_i(ans_valid && ans_np), .ans_hit_i(ans_hit), .ans_target_i(ans_target),
      .ans_interval_i(ans_interval), .ans_addr_i(ans_addr), .p_inflight_i(p_inflight), .p_done_i(p_done),
      .alloc_valid_o(alloc_valid), .alloc_ready_i(alloc_ready), .alloc_tag_i(alloc_tag), .alloc_live_i(alloc_live),
      .req_requester_o(req_requester), .req_tag_o(req_tag), .req_attr_o(req_attr), .req_addr_o(req_addr),
      .req_piece_o(req_piece), .req_page_o(req_page), .req_len_dw_o(req_len_dw), .req_first_be_o(req_first_be),
      .req_last_be_o(req_last_be), .req_node_o(req_node), .req_interval_o(req_interval), .req_half_o(req_half),
      .quiet_valid_o(quiet_valid), .quiet_ready_i(quiet_ready), .quiet_np_valid_i(quiet_np_valid),
      .quiet_np_ready_o(quiet_np_ready), .quiet_np_hdr_i(quiet_np_hdr), .tx_np_valid_o(tx_np_o.valid), .tx_np_ready_i,
      .tx_np_hdr_o(tx_np_o.hdr), .refused_valid_o(refused_valid), .refused_ready_i(refused_ready),
      .event_valid_o(ev_valid[2]), .event_ready_i(ev_ready[2]), .event_o(ev_loads), .event_interval_o(iv_loads),
      .cnt_loads_in_o(cnt_o[smfu_pkg::LOADS_IN]), .cnt_load_packets_o(cnt_o[smfu_pkg::LOAD_PACKETS]),
      .busy_o(loads_busy)
  );
  assign tx_np_o.sop  = 1'b1;
  assign tx_np_o.eop  = 1'b1;
  assign tx_np_data_o = '0;

  // What is left of a refused read: all of it.
  logic            failed_valid, failed_ready, o_valid, o_ready, o_sop, o_eop;
  smfu_pkg::left_t refused, rest;
  ggas_pkg::tlp_hdr_t o_hdr;
  wire [12:0] req_bytes = smfu_pkg::byte_count(req_len_dw, req_first_be, req_last_be);
  assign refused = {req_requester, req_tag, req_attr, req_bytes, req_len_dw, req_addr,
    smfu_pkg::be_first(req_first_be)};

  smfu_ones #(.DATA_W(DATA_W)) u_ones (
      .clk_i, .rst_ni, .cfg_mps_i(cfg_i.mps), .failed_valid_i(failed_valid), .failed_ready_o(failed_ready),
      .failed_i(rest), .refused_valid_i(refused_valid), .refused_ready_o(refused_ready), .refused_i(refused),
      .cpl_valid_o(o_valid), .cpl_ready_i(o_ready), .cpl_sop_o(o_sop), .cpl_eop_o(o_eop), .cpl_hdr_o(o_hdr),
      .cnt_load_errors_o(cnt_o[smfu_pkg::LOAD_ERRORS])
  );

  // ---------------------------------------------------------------- answers in
  logic               m_valid, m_ready, m_sop, m_eop, quiet_known, quiet_wait, quiet_rsp, match_busy, match_timer;
  ggas_pkg::tlp_hdr_t m_hdr;
  ggas_pkg::net_hdr_t rsp_hdr;
  logic [DATA_W-1:0]  m_data;

  smfu_match #(.DATA_W(DATA_W)) u_match (
      .clk_i, .rst_ni, .now_i(now), .tick_i(tick), .cfg_node_i(cfg_i.node), .cfg_timeout_i(cfg_i.timeout_load),
      .lost_i(lost), .alloc_valid_i(alloc_valid), .alloc_ready_o(alloc_ready), .alloc_tag_o(alloc_tag),
      .alloc_live_o(alloc_live), .req_requester_i(req_requester), .req_tag_i(req_tag), .req_attr_i(req_attr),
      .req_addr_i(req_addr), .req_piece_i(req_piece), .req_len_dw_i(req_len_dw), .req_first_be_i(req_first_be),
      .req_last_be_i(req_last_be), .req_node_i(req_node), .req_interval_i(req_interval), .req_half_i(req_half),
      .rx_rsp_i, .rx_rsp_ready_o, .rx_rsp_data_i, .rsp_hdr_o(rsp_hdr), .quiet_known_i(quiet_known),
      .quiet_wait_i(quiet_wait), .quiet_rsp_o(quiet_rsp), .cpl_valid_o(m_valid), .cpl_ready_i(m_ready),
      .cpl_sop_o(m_sop), .cpl_eop_o(m_eop), .cpl_hdr_o(m_hdr), .cpl_data_o(m_data), .failed_valid_o(failed_valid),
      .failed_ready_i(failed_ready), .failed_o(rest), .event_valid_o(ev_valid[3]), .event_ready_i(ev_ready[3]),
      .event_o(ev_match), .event_interval_o(iv_match), .busy_o(match_busy), .timer_o(match_timer)
  );

  logic               q_valid, q_ready, quiet_busy, quiet_timer;
  ggas_pkg::tlp_hdr_t q_hdr;
  logic [63:0]        q_data;

  smfu_quiet u_quiet (
      .clk_i, .rst_ni, .now_i(now), .tick_i(tick), .cfg_node_i(cfg_i.node), .cfg_timeout_i(cfg_i.timeout_load),
      .peer_node_i, .peer_valid_i, .link_up_i, .lost_i(lost), .room_o(sent_room), .sent_i(sent), .sent_all_i(sent_all),
      .sent_node_i(sent_node), .failed_i(failed), .failed_status_i(failed_status), .failed_domain_i(failed_domain),
      .context_i, .req_valid_i(quiet_valid), .req_ready_o(quiet_ready), .req_requester_i(req_requester),
      .req_tag_i(req_tag), .req_attr_i(req_attr), .req_page_i(req_page), .req_addr_i(req_addr[6:2]),
      .req_len_dw_i(req_len_dw), .req_first_be_i(req_first_be), .req_last_be_i(req_last_be),
      .np_valid_o(quiet_np_valid), .np_ready_i(quiet_np_ready), .np_hdr_o(quiet_np_hdr),
      .arrive_i(rx_rsp_i.valid && rx_rsp_i.sop && rx_rsp_ready_o), .arrive_hdr_i(rx_rsp_i.hdr), .rsp_hdr_i(rsp_hdr),
      .rsp_known_o(quiet_known), .rsp_wait_o(quiet_wait), .rsp_i(quiet_rsp), .fence_i, .fence_page_i,
      .p_inflight_i(p_inflight), .p_done_i(p_done), .fence_done_o, .fence_status_o, .cpl_valid_o(q_valid),
      .cpl_ready_i(q_ready), .cpl_hdr_o(q_hdr), .cpl_data_o(q_data), .event_valid_o(ev_valid[4]),
      .event_ready_i(ev_ready[4]), .event_o(ev_quiet), .busy_o(quiet_busy), .timer_o(quiet_timer)
  );

  smfu_cpl_mux #(.DATA_W(DATA_W)) u_cpl_mux (
      .clk_i, .rst_ni, .m_i({m_valid, m_sop, m_eop, m_hdr}), .m_ready_o(m_ready), .m_data_i(m_data),
      .o_i({o_valid, o_sop, o_eop, o_hdr}), .o_ready_o(o_ready), .quiet_valid_i(q_valid), .quiet_ready_o(q_ready),
      .quiet_hdr_i(q_hdr), .quiet_data_i(q_data), .ld_cpl_o, .ld_cpl_ready_i, .ld_cpl_data_o,
      .cnt_load_cpls_o(cnt_o[smfu_pkg::LOAD_CPLS]), .cnt_quiets_o(cnt_o[smfu_pkg::QUIETS])
  );

  // ---------------------------------------------------------------- target side
  logic               rd_valid, rd_ready, range_error, ingress_writes, ingress_busy, rob_reads, rob_busy, rob_timer;
  ggas_pkg::node_t    range_node;
  logic [15:0]        range_domain;
  logic               range_busy;
  ggas_pkg::tlp_hdr_t rd_hdr;

  // Which export a store or load names: those of the packets at the inputs.
  logic [1:0]        ask, known;
  logic [7:0]        ask_load;
  logic              mark, old_stores, old_loads, wrote, exports_busy;
  logic [5:0]        wrote_export;
  smfu_pkg::export_t store_export, load_export;
  smfu_exports u_exports (
      .clk_i, .rst_ni, .ext_req_i(ext_export_req_i), .ext_write_i(ext_i.write), .ext_addr_i(ext_i.addr[10:3]),
      .ext_wdata_i(ext_i.wdata), .ext_wstrb_i(ext_i.wstrb), .ext_rdata_o(ext_export_rdata_o), .mark_o(mark),
      .drained_i(!old_stores && !old_loads), .ask_i(ask), .ask_export_i({ask_load, rx_p_i.hdr.export_no}),
      .known_o(known), .store_export_o(store_export), .load_export_o(load_export), .busy_o(exports_busy)
  );

  smfu_ingress #(.DATA_W(DATA_W)) u_ingress (
      .clk_i, .rst_ni, .cfg_ingress_i(cfg_i.ingress), .cfg_mps_i(cfg_i.mps), .ask_o(ask[0]), .known_i(known[0]),
      .export_i(store_export), .mark_i(mark), .old_o(old_stores), .wrote_o(wrote), .wrote_export_o(wrote_export),
      .rx_p_i, .rx_p_ready_o, .rx_p_data_i, .range_error_o(range_error), .range_node_o(range_node),
      .range_domain_o(range_domain), .range_busy_i(range_busy), .np_valid_i(rd_valid), .np_ready_o(rd_ready),
      .np_hdr_i(rd_hdr), .tgt_req_o, .tgt_req_ready_i, .tgt_req_data_o, .tgt_np_ok_i, .event_valid_o(ev_valid[5]),
      .event_ready_i(ev_ready[5]), .event_o(ev_ingress), .cnt_target_stores_o(cnt_o[smfu_pkg::TARGET_STORES]),
      .writes_o(ingress_writes), .busy_o(ingress_busy)
  );

  smfu_rob #(.DATA_W(DATA_W)) u_rob (
      .clk_i, .rst_ni, .now_i(now), .tick_i(tick), .cfg_node_i(cfg_i.node), .cfg_ingress_i(cfg_i.ingress),
      .cfg_timeout_i(cfg_i.timeout_host), .cfg_mrrs_i(cfg_i.mrrs), .ask_o(ask[1]), .ask_export_o(ask_load),
      .known_i(known[1]), .export_i(load_export), .wrote_i(wrote), .wrote_export_i(wrote_export), .mark_i(mark),
      .old_o(old_loads), .rx_np_valid_i(rx_np_i.valid), .rx_np_ready_o, .rx_np_sop_i(rx_np_i.sop),
      .rx_np_hdr_i(rx_np_i.hdr), .range_error_i(range_error), .range_node_i(range_node), .range_domain_i(range_domain),
      .range_busy_o(range_busy), .rd_valid_o(rd_valid), .rd_ready_i(rd_ready), .rd_hdr_o(rd_hdr), .tgt_cpl_i,
      .tgt_cpl_ready_o, .tgt_cpl_data_i, .tx_rsp_o, .tx_rsp_ready_i, .tx_rsp_data_o, .req_event_valid_o(ev_valid[6]),
      .req_event_ready_i(ev_ready[6]), .req_event_o(ev_rob_req), .cpl_event_valid_o(ev_valid[7]),
      .cpl_event_ready_i(ev_ready[7]), .cpl_event_o(ev_rob_cpl), .cnt_target_loads_o(cnt_o[smfu_pkg::TARGET_LOADS]),
      .reads_o(rob_reads), .busy_o(rob_busy), .timer_o(rob_timer)
  );

  // Off, and nothing that was let in is in flight to the host any more.
  assign ingress_stopped_o = !cfg_i.ingress && !ingress_writes && !rob_reads;

  // ---------------------------------------------------------------- events, activity
  logic events_busy;
  event_collector #(.SOURCES(8), .DEPTH(8)) u_events (
      .clk_i, .rst_ni, .valid_i(ev_valid), .ready_o(ev_ready),
      .events_i({ev_rob_cpl, ev_rob_req, ev_ingress, ev_quiet, ev_match, ev_loads, ev_egress, ev_lookup}),
      .intervals_i({{4{smfu_pkg::NO_INTERVAL}}, iv_match, iv_loads, iv_egress, smfu_pkg::NO_INTERVAL}),
      .event_valid_o, .event_ready_i, .event_o, .event_interval_o, .count_o(event_count_o), .busy_o(events_busy)
  );

  assign busy_o  = lookup_busy || egress_busy || loads_busy || match_busy || quiet_busy || ingress_busy || rob_busy
    || events_busy || exports_busy
                   || ld_cpl_o.valid || o_valid || route_news;
  assign timer_o = match_timer || quiet_timer || rob_timer;

endmodule

`default_nettype wire
