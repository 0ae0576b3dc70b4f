// SPDX-License-Identifier: Apache-2.0
// The NIC: wiring only. Boundary towards the host: docs/tlp-boundary.md; the units: docs/rtl-structure.md.
`default_nettype none

module nic_top #(
  parameter int unsigned DATA_W = 64,       // 64, 256 or 512
  parameter int unsigned NP_CREDITS = 32,   // non-posted requests the host may have inside the NIC
  // log2 of the distance of two pages in BAR4, bytes: 12 or 16 (hosts with 64 KB pages)
  parameter int unsigned PAGE_LOG2 = 12
) (
  input  wire               clk_i,
  input  wire               rst_ni,        // asynchronous assert, synchronous release; at least 64 cycles long
  input  wire  [63:0]       time_i,        // core cycles, counted outside
  output logic              busy_o,        // must be clocked in the next cycle
  output logic              timer_o,       // must be clocked at the next tick

  // ---- host, from configuration space
  input  wire  [12:0]       cfg_mps_i,     // largest payload, bytes; at any time
  input  wire  [12:0]       cfg_mrrs_i,    // largest read request, bytes; at any time
  input  wire  [15:0]       cfg_bus_id_i,
  input  wire               cfg_msix_enable_i,     // MSI-X Enable
  input  wire               cfg_msix_mask_i,       // MSI-X Function Mask
  input  wire               cfg_bus_master_i,      // Bus Master Enable
  input  wire               cfg_flr_i,             // function-level reset is wanted, until
  output logic              flr_done_o,            // it is done; the NIC starts as cfg_flr_i falls

  // ---- board
  input  wire  [31:0]       cfg_clock_khz_i,       // clk_i, kHz
  input  wire  [63:0]       cfg_serial_i,          // serial number

  // ---- requests of the host
  input  wire               rx_req_valid_i,
  output logic              rx_req_ready_o,
  input  wire               rx_req_sop_i,
  input  wire               rx_req_eop_i,
  input  ggas_pkg::tlp_hdr_t rx_req_hdr_i,
  input  wire  [DATA_W-1:0] rx_req_data_i,
  output logic              np_credit_o,   // a non-posted request left

  // ---- completions of the NIC's reads
  input  wire               rx_cpl_valid_i,
  output logic              rx_cpl_ready_o,
  input  wire               rx_cpl_sop_i,
  input  wire               rx_cpl_eop_i,
  input  ggas_pkg::tlp_hdr_t rx_cpl_hdr_i,
  input  wire  [DATA_W-1:0] rx_cpl_data_i,

  // ---- requests of the NIC
  output logic              tx_req_valid_o,
  input  wire               tx_req_ready_i,
  output logic              tx_req_sop_o,
  output logic              tx_req_eop_o,
  output ggas_pkg::tlp_hdr_t tx_req_hdr_o,
  output logic [DATA_W-1:0] tx_req_data_o,
  input  wire               tx_np_ok_i,    // the host takes reads

  // ---- completions of the host's requests
  output logic              tx_cpl_valid_o,
  input  wire               tx_cpl_ready_i,
  output logic              tx_cpl_sop_o,
  output logic              tx_cpl_eop_o,
  output ggas_pkg::tlp_hdr_t tx_cpl_hdr_o,
  output logic [DATA_W-1:0] tx_cpl_data_o,

  // ---- PHY: one flit a cycle; bit or slice l is link l
  output logic [ggas_pkg::LINKS-1:0]        link_tx_valid_o,
  input  wire  [ggas_pkg::LINKS-1:0]        link_tx_ready_i,
  output logic [2*ggas_pkg::LINKS-1:0]      link_tx_kind_o,
  output logic [DATA_W*ggas_pkg::LINKS-1:0] link_tx_data_o,
  input  wire  [ggas_pkg::LINKS-1:0]        link_rx_valid_i,
  input  wire  [2*ggas_pkg::LINKS-1:0]      link_rx_kind_i,
  input  wire  [DATA_W*ggas_pkg::LINKS-1:0] link_rx_data_i,
  input  wire  [ggas_pkg::LINKS-1:0]        link_rx_up_i
);

`ifndef SYNTHESIS
  initial begin
    if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("nic_top: DATA_W must be 64, 256 or 512");
    if (ggas_pkg::MTU < 256 || ggas_pkg::MTU > 4096 || (ggas_pkg::MTU & (ggas_pkg::MTU - 1)) != 0)
      $error("nic_top: the MTU must be a power of two, 256 ... 4096 bytes");
  end
`endif

  // Event sources in the order of their queue slots, and the vectors of their event pulses.
  localparam int unsigned EV_HOSTIF = 0, EV_SMFU = 1, EV_NET = 2, EV_RMA = 3, EV_COLL = 4;
  localparam int unsigned EV_UNITS = ggas_pkg::COLL ? 5 : 4, EV_VECTORS = ggas_pkg::COLL ? 12 : 11;
  localparam int unsigned LOADS = 64;  // slots of smfu_match

  ggas_regs_pkg::cfg_t cfg;
  ggas_regs_pkg::sts_t sts;

  logic [EV_UNITS-1:0]    ev_valid, ev_ready;
  ggas_pkg::event_t       ev_hostif, ev_smfu, ev_net, ev_rma, ev_coll;
  logic [6:0]             interval_smfu;
  ggas_regs_pkg::event_set_t pulse_smfu, pulse_net, pulse_queue,
    pulse_coll;
  ggas_regs_pkg::event_set_t [2:0] pulse_hostif;
  ggas_regs_pkg::event_set_t [4:0] pulse_rma;
  logic [ggas_regs_pkg::CNT_NUM-1:0] cnt;
  logic units_busy, units_timer, reset_busy, reset_timer;
  logic hostif_busy, smfu_busy, net_busy, link_busy, regs_busy, counters_busy, interrupts_busy;
  logic rma_busy, rma_timer, coll_busy, smfu_timer, link_timer, interrupts_timer;

  assign busy_o  = reset_busy || (rst_n && units_busy);
  assign timer_o = reset_timer || (rst_n && units_timer);
  assign units_busy = hostif_busy || smfu_busy || net_busy || link_busy || regs_busy || counters_busy || interrupts_busy
    || rma_busy || coll_busy
    || stop_q != {STOP_CYCLES{stop}} || master_q != cfg_bus_master_i
    || rma_tick_q || smfu_tick_q || wake_q != '0 || link_up != link_up_q
    || msix_ok != msix_ok_q;
  assign units_timer = rma_timer || smfu_timer || link_timer || interrupts_timer;

  // ---------------------------------------------------------------- pins that many units use
  // Registered, so that a change of a pin affects few of them. A tick reaches SMFU and RMA a cycle late, and only if
  // they wait for one.
  localparam int unsigned TICK = ggas_pkg::TICK_LOG2;
  logic [12:0] mps_q, mrrs_q;
  logic [63:0] time_q, rma_time, smfu_time;
  logic        np_ok_q, reads_ok, msix_ok_q, master_q, tick, rma_tick_q, smfu_tick_q;
  wire         msix_ok = cfg_msix_enable_i && !cfg_msix_mask_i;
  assign tick = time_i[TICK-1:0] == '0;
  always_ff @(posedge clk_i) begin
    mps_q   <= cfg_mps_i;
    mrrs_q  <= cfg_mrrs_i;
    time_q  <= time_i;
    np_ok_q <= tx_np_ok_i;
    msix_ok_q <= msix_ok;
    master_q  <= cfg_bus_master_i;
  end
  always_ff @(posedge clk_i or negedge rst_n) begin
    if (!rst_n) begin
      rma_tick_q  <= 1'b0;
      smfu_tick_q <= 1'b0;
    end else begin
      rma_tick_q  <= rma_timer && tick;
      smfu_tick_q <= smfu_timer && tick;
    end
  end
  assign rma_time  = {time_q[63:TICK], {(TICK - 1){1'b0}}, !rma_tick_q};
  assign smfu_time = {time_q[63:TICK], {(TICK - 1){1'b0}}, !smfu_tick_q};

  // ---------------------------------------------------------------- function-level reset
  logic rst_n;  // of everything but this
  logic closing, open, req_valid, req_ready, cpl_valid, cpl_ready;
  hostif_reset i_reset (
    .clk_i, .rst_ni, .tick_i(tick), .clock_khz_i(cfg_clock_khz_i), .flr_i(cfg_flr_i), .flr_done_o, .closing_o(closing),
    .open_i(open), .rst_no(rst_n),
    .read_i(tx_req_valid_o && tx_req_ready_i && tx_req_sop_o && tx_req_hdr_o.kind == ggas_pkg::TLP_MRD),
    .req_valid_i(rx_req_valid_i), .req_ready_o(rx_req_ready_o), .req_sop_i(rx_req_sop_i), .req_eop_i(rx_req_eop_i),
    .req_valid_o(req_valid), .req_ready_i(req_ready), .cpl_valid_i(rx_cpl_valid_i), .cpl_ready_o(rx_cpl_ready_o),
    .cpl_sop_i(rx_cpl_sop_i), .cpl_eop_i(rx_cpl_eop_i), .cpl_hdr_i(rx_cpl_hdr_i), .cpl_valid_o(cpl_valid),
    .cpl_ready_i(cpl_ready), .busy_o(reset_busy), .timer_o(reset_timer)
  );

  // ---------------------------------------------------------------- stop of the whole NIC
  // Units see the stop within STOP_CYCLES, and operations that they have begun end. A write that has left a unit is in
  // front of the register read that reports the stop. If bus master is off, all units that read or write host memory
  // stop in the same way.
  localparam int unsigned STOP_CYCLES = 4;
  logic [STOP_CYCLES-1:0] stop_q;
  logic stop, halt, smfu_stopped, events_stopped, fired_stopped, rma_writes, coll_writes;
  assign stop = cfg.stop_nic;
  assign halt = stop || !master_q;
  always_ff @(posedge clk_i or negedge rst_n) begin
    if (!rst_n) stop_q <= '0;
    else stop_q <= stop ? {stop_q[STOP_CYCLES-2:0], 1'b1} : '0;
  end
  assign sts.stopped_nic     = stop_q[STOP_CYCLES-1] && smfu_stopped && events_stopped && fired_stopped && !rma_writes
    && !coll_writes;
  assign sts.stopped_events  = events_stopped;
  assign sts.stopped_ingress = smfu_stopped;
  assign sts.stopped_fired   = fired_stopped;

  // ---------------------------------------------------------------- host interface

  ggas_pkg::tlp_beat_t win_p, ld_cpl, tgt_req, tgt_cpl, page, rma_page, rma_wr, unit_wr, rma_cpl;
  logic page_ready, rma_wr_ready, rma_rd_ready, rma_cpl_ready;
  ggas_pkg::tlp_head_t win_np, rma_rd;
  logic [DATA_W-1:0] page_data, rma_wr_data, rma_cpl_data;
  logic unit_wr_ready;  // of RMA and collectives
  logic [DATA_W-1:0] unit_wr_data;
  logic win_p_ready, win_np_ready, ld_cpl_ready, tgt_req_ready, tgt_cpl_ready, reg_error,
    evt_ready, msix_ready;
  logic [DATA_W-1:0] win_p_data, ld_cpl_data, tgt_req_data, tgt_cpl_data;
  ggas_pkg::reg_access_t reg_access;
  ggas_pkg::host_record_t evt;
  ggas_pkg::host_message_t msix;
  logic [63:0] reg_rdata;

  hostif #(.DATA_W(DATA_W), .NP_CREDITS(NP_CREDITS), .PAGE_LOG2(PAGE_LOG2)) i_hostif (
    .clk_i, .rst_ni(rst_n), .cfg_mps_i, .cfg_bus_id_i, .bus_master_i(master_q), .closing_i(closing), .open_o(open),
    .rx_req_i({req_valid, rx_req_sop_i, rx_req_eop_i, rx_req_hdr_i}), .rx_req_ready_o(req_ready), .rx_req_data_i,
    .np_credit_o, .rx_cpl_i({cpl_valid, rx_cpl_sop_i, rx_cpl_eop_i, rx_cpl_hdr_i}), .rx_cpl_ready_o(cpl_ready),
    .rx_cpl_data_i, .tx_req_o({tx_req_valid_o, tx_req_sop_o, tx_req_eop_o, tx_req_hdr_o}), .tx_req_ready_i,
    .tx_req_data_o, .tx_cpl_o({tx_cpl_valid_o, tx_cpl_sop_o, tx_cpl_eop_o, tx_cpl_hdr_o}), .tx_cpl_ready_i,
    .tx_cpl_data_o,
    .win_p_o(win_p), .win_p_ready_i(win_p_ready), .win_p_data_o(win_p_data), .win_np_o(win_np),
    .win_np_ready_i(win_np_ready), .ld_cpl_i(ld_cpl), .ld_cpl_ready_o(ld_cpl_ready),
    .ld_cpl_data_i(ld_cpl_data), .tgt_req_i(tgt_req), .tgt_req_ready_o(tgt_req_ready), .tgt_req_data_i(tgt_req_data),
    .tgt_cpl_o(tgt_cpl), .tgt_cpl_ready_i(tgt_cpl_ready), .tgt_cpl_data_o(tgt_cpl_data), .page_o(page),
    .page_ready_i(page_ready), .page_data_o(page_data), .tx_np_ok_i(np_ok_q), .reads_ok_o(reads_ok), .rma_wr_i(unit_wr),
    .rma_wr_ready_o(unit_wr_ready), .rma_wr_data_i(unit_wr_data), .rma_rd_i(rma_rd),
    .rma_rd_ready_o(rma_rd_ready), .rma_cpl_o(rma_cpl), .rma_cpl_ready_i(rma_cpl_ready),
    .rma_cpl_data_o(rma_cpl_data), .reg_o(reg_access), .reg_rdata_i(reg_rdata), .reg_error_i(reg_error),
    .evt_i(evt), .evt_ready_o(evt_ready), .msix_i(msix),
    .msix_ready_o(msix_ready),
    .event_valid_o(ev_valid[EV_HOSTIF]), .event_ready_i(ev_ready[EV_HOSTIF]), .event_o(ev_hostif),
    .ev_pulse_o(pulse_hostif),
    .cnt_o(cnt[ggas_regs_pkg::CNT_HOST_TX_CPLS:ggas_regs_pkg::CNT_HOST_RX_REQS]), .busy_o(hostif_busy)
  );

  // ---------------------------------------------------------------- shared memory functional unit

  logic [15:0] peer_node, ext_addr;
  ggas_pkg::net_beat_t tx_p, tx_np, tx_rsp, rx_p, rx_np, rx_rsp;
  logic coll_quiet, coll_quiet_done;  // fences of the collectives
  logic [7:0] coll_page;
  logic [3:0] coll_quiet_status;
  logic peer_valid, link_up, ext_interval_req, ext_export_req, ext_write, tx_p_ready, tx_np_ready, tx_rsp_ready,
    rx_p_ready, rx_np_ready, rx_rsp_ready;
  logic [63:0] ext_wdata, ext_interval_rdata, ext_export_rdata;
  logic [7:0] ext_wstrb;
  ggas_pkg::context_write_t context_write;
  logic [DATA_W-1:0] tx_p_data, tx_np_data, tx_rsp_data, rx_p_data, rx_np_data, rx_rsp_data;

  smfu #(.DATA_W(DATA_W)) i_smfu (
    .clk_i, .rst_ni(rst_n), .time_i(smfu_time), .busy_o(smfu_busy), .timer_o(smfu_timer),
    .cfg_i({cfg.node_id, cfg.smfu_ctrl_egress && !stop, cfg.smfu_ctrl_ingress && !halt, cfg.smfu_ctrl_mode,
      cfg.smfu_mask_mask, cfg.smfu_shift_shift, cfg.smfu_shift_nodes, cfg.smfu_shift_export_no, cfg.smfu_shift_domain,
      cfg.smfu_timeout_load, cfg.smfu_timeout_host, cfg_mps_i, cfg_mrrs_i}),
    .ingress_stopped_o(smfu_stopped), .peer_node_i(peer_node), .peer_valid_i(peer_valid), .link_up_i(link_up),
    .ext_interval_req_i(ext_interval_req), .ext_export_req_i(ext_export_req),
    .ext_i({1'b0, ext_write, ext_addr, ext_wdata, ext_wstrb}), .ext_export_rdata_o(ext_export_rdata),
    .ext_interval_rdata_o(ext_interval_rdata),
    .win_p_i(win_p), .win_p_ready_o(win_p_ready), .win_p_data_i(win_p_data), .win_np_valid_i(win_np.valid),
    .win_np_ready_o(win_np_ready), .win_np_hdr_i(win_np.hdr), .ld_cpl_o(ld_cpl), .ld_cpl_ready_i(ld_cpl_ready),
    .ld_cpl_data_o(ld_cpl_data), .tgt_req_o(tgt_req), .tgt_req_ready_i(tgt_req_ready), .tgt_req_data_o(tgt_req_data),
    .tgt_np_ok_i(reads_ok), .tgt_cpl_i(tgt_cpl), .tgt_cpl_ready_o(tgt_cpl_ready), .tgt_cpl_data_i(tgt_cpl_data),
    .tx_p_o(tx_p), .tx_p_ready_i(tx_p_ready), .tx_p_data_o(tx_p_data), .tx_np_o(tx_np), .tx_np_ready_i(tx_np_ready),
    .tx_np_data_o(tx_np_data), .tx_rsp_o(tx_rsp), .tx_rsp_ready_i(tx_rsp_ready), .tx_rsp_data_o(tx_rsp_data),
    .rx_p_i(rx_p), .rx_p_ready_o(rx_p_ready), .rx_p_data_i(rx_p_data), .rx_np_i(rx_np), .rx_np_ready_o(rx_np_ready),
    .rx_np_data_i(rx_np_data), .rx_rsp_i(rx_rsp), .rx_rsp_ready_o(rx_rsp_ready), .rx_rsp_data_i(rx_rsp_data),
    .event_valid_o(ev_valid[EV_SMFU]), .event_ready_i(ev_ready[EV_SMFU]), .event_o(ev_smfu),
    .event_interval_o(interval_smfu), .event_count_o(pulse_smfu), .context_i(context_write), .fence_i(coll_quiet),
    .fence_page_i(coll_page),
    .fence_done_o(coll_quiet_done), .fence_status_o(coll_quiet_status),
    .cnt_o(cnt[ggas_regs_pkg::CNT_SMFU_STORES_IN+:smfu_pkg::COUNTERS])
  );

  // ---------------------------------------------------------------- one-sided communication

  // The RMA's own and, as the collectives take and give some, the network's.
  ggas_pkg::rma_beat_t rma_tx, rma_rx, tx_rma, rx_rma, tx_ans, rx_ans;
  logic rma_tx_ready, rma_rx_ready, tx_rma_ready, rx_rma_ready, tx_ans_ready, rx_ans_ready, rma_page_ready;
  logic [DATA_W-1:0] tx_rma_data, tx_ans_data, rx_rma_data, rx_ans_data;
  logic [DATA_W-1:0] rma_tx_data;
  logic        ext_context_req, ext_atu_piece_req;
  logic [63:0] ext_context_rdata, ext_atu_piece_rdata;

  logic        atu_busy;
  logic [31:0] atu_done;
  logic        fire_valid, fire_ready, fire_list;
  logic [7:0]  fire_vpid;
  logic [3:0]  fire_vector;
  assign sts.atu_status_done = atu_done;
  assign sts.atu_status_busy = atu_busy;

  // The RMA is clocked while it works, when input arrives, and at a tick that it waits for. A write of the SMFU affects
  // only atomics whose reads are in flight, and these have a time-out.
  logic clk_rma, rma_snoop;
  logic [1:0] wake_q;  // after a register write, or a change of the link or of bus master
  logic       link_up_q;
  assign rma_snoop = tgt_req.valid && tgt_req_ready && tgt_req.sop && tgt_req.hdr.kind == ggas_pkg::TLP_MWR;
  always_ff @(posedge clk_i or negedge rst_n) begin
    if (!rst_n) begin
      wake_q    <= '0;
      link_up_q <= 1'b0;
    end else begin
      wake_q    <= {wake_q[0], (reg_access.req && reg_access.write) || link_up != link_up_q
        || cfg_bus_master_i != master_q};
      link_up_q <= link_up;
    end
  end
  clock_gate i_rma_clock (
    .clk_i(clk_i), .en_i(!rst_n || rma_busy || rma_page.valid || rma_cpl.valid || rma_rx.valid || rx_ans.valid
      || ext_context_req || ext_atu_piece_req
      || (rma_snoop && rma_timer) || cfg.atu_invalidate_start || rma_tick_q || wake_q != '0), .clk_o(clk_rma)
  );

  rma #(.DATA_W(DATA_W)) i_rma (
    .clk_i(clk_rma), .rst_ni(rst_n), .stop_i(halt), .writes_o(rma_writes), .time_i(rma_time), .busy_o(rma_busy),
    .timer_o(rma_timer), .cfg_i(cfg), .cfg_mps_i(mps_q), .cfg_mrrs_i(mrrs_q), .peer_node_i(peer_node),
    .peer_valid_i(peer_valid), .link_up_i(link_up), .inv_done_o(atu_done), .inv_busy_o(atu_busy),
    .ext_req_i(ext_context_req), .ext_piece_i(ext_atu_piece_req), .ext_piece_rdata_o(ext_atu_piece_rdata),
    .ext_write_i(ext_write), .ext_addr_i(ext_addr[13:3]), .ext_wdata_i(ext_wdata), .ext_wstrb_i(ext_wstrb),
    .ext_rdata_o(ext_context_rdata), .context_o(context_write), .page_i(rma_page), .page_ready_o(rma_page_ready),
    .page_data_i(page_data),
    .wr_o(rma_wr), .wr_ready_i(rma_wr_ready), .wr_data_o(rma_wr_data), .wr_snoop_i(rma_snoop),
    .rd_valid_o(rma_rd.valid), .rd_ready_i(rma_rd_ready), .rd_hdr_o(rma_rd.hdr), .cpl_i(rma_cpl),
    .cpl_ready_o(rma_cpl_ready), .cpl_data_i(rma_cpl_data), .tx_rma_o(rma_tx), .tx_rma_ready_i(rma_tx_ready),
    .tx_rma_data_o(rma_tx_data), .tx_ans_o(tx_ans), .tx_ans_ready_i(tx_ans_ready), .tx_ans_data_o(tx_ans_data),
    .rx_rma_i(rma_rx), .rx_rma_ready_o(rma_rx_ready), .rx_rma_data_i(rx_rma_data), .rx_ans_i(rx_ans),
    .rx_ans_ready_o(rx_ans_ready), .rx_ans_data_i(rx_ans_data), .fire_valid_o(fire_valid), .fire_ready_i(fire_ready),
    .fire_vpid_o(fire_vpid), .fire_vector_o(fire_vector), .fire_list_o(fire_list), .event_valid_o(ev_valid[EV_RMA]),
    .event_ready_i(ev_ready[EV_RMA]), .event_o(ev_rma), .ev_pulse_o(pulse_rma),
    .cnt_o(cnt[ggas_regs_pkg::CNT_VELO_FULL:ggas_regs_pkg::CNT_RMA_DESCRIPTORS])
  );

  // ---------------------------------------------------------------- collectives: between RMA, host interface and net

  logic        ext_coll_req;
  logic [63:0] ext_coll_rdata;
  if (ggas_pkg::COLL) begin : g_coll
    coll_port #(.DATA_W(DATA_W)) i_coll (
      .clk_i, .rst_ni(rst_n), .stop_i(halt), .cfg_mps_i(mps_q), .cfg_node_i(cfg.node_id),
      .route_i(peer_valid && link_up), .ext_req_i(ext_coll_req), .ext_write_i(ext_write),
      .ext_addr_i(ext_addr[8:3]), .ext_wdata_i(ext_wdata), .ext_wstrb_i(ext_wstrb), .ext_rdata_o(ext_coll_rdata),
      .page_i(page), .page_ready_o(page_ready), .page_data_i(page_data), .rma_page_o(rma_page),
      .rma_page_ready_i(rma_page_ready), .rx_i(rx_rma), .rx_ready_o(rx_rma_ready), .rx_data_i(rx_rma_data),
      .rma_rx_o(rma_rx), .rma_rx_ready_i(rma_rx_ready), .rma_tx_i(rma_tx), .rma_tx_ready_o(rma_tx_ready),
      .rma_tx_data_i(rma_tx_data), .tx_o(tx_rma), .tx_ready_i(tx_rma_ready), .tx_data_o(tx_rma_data),
      .rma_wr_i(rma_wr), .rma_wr_ready_o(rma_wr_ready), .rma_wr_data_i(rma_wr_data), .wr_o(unit_wr),
      .wr_ready_i(unit_wr_ready), .wr_data_o(unit_wr_data), .quiet_o(coll_quiet), .quiet_page_o(coll_page),
      .quiet_done_i(coll_quiet_done), .quiet_status_i(coll_quiet_status), .event_valid_o(ev_valid[EV_COLL]),
      .event_ready_i(ev_ready[EV_COLL]), .event_o(ev_coll), .ev_pulse_o(pulse_coll), .writes_o(coll_writes),
      .busy_o(coll_busy)
    );
  end else begin : g_no_coll
    assign {rma_page, page_ready} = {page, rma_page_ready};
    assign {rma_rx, rx_rma_ready} = {rx_rma, rma_rx_ready};
    assign {tx_rma, tx_rma_data, rma_tx_ready} = {rma_tx, rma_tx_data, tx_rma_ready};
    assign {unit_wr, unit_wr_data, rma_wr_ready} = {rma_wr, rma_wr_data, unit_wr_ready};
    assign {ev_coll, pulse_coll, coll_writes, coll_busy, coll_quiet, coll_page} = '0;
    assign ext_coll_rdata = '0;
    wire unused_coll = &{1'b0, ext_coll_req, coll_quiet_done, coll_quiet_status};
  end

  // ---------------------------------------------------------------- network and links

  logic [3:0] lnk_tx_valid, lnk_tx_ready, lnk_tx_sop, lnk_tx_eop, lnk_rx_valid, lnk_rx_ready, lnk_rx_sop, lnk_rx_eop;
  logic [4*ggas_pkg::NET_HDR_W-1:0] lnk_tx_hdr, lnk_rx_hdr;
  logic [4*DATA_W-1:0] lnk_tx_data, lnk_rx_data;
  link_pkg::link_events_t lnk_ev;

  net #(.DATA_W(DATA_W)) i_net (
    .clk_i, .rst_ni(rst_n), .busy_o(net_busy), .cfg_node_i(cfg.node_id), .cfg_peer_node_i(cfg.link_peer_node),
    .cfg_peer_valid_i(cfg.link_peer_valid), .peer_node_o(peer_node), .peer_valid_o(peer_valid), .link_up_o(link_up),
    .tx_p_i(tx_p), .tx_p_ready_o(tx_p_ready), .tx_p_data_i(tx_p_data), .tx_np_i(tx_np), .tx_np_ready_o(tx_np_ready),
    .tx_np_data_i(tx_np_data), .tx_rsp_i(tx_rsp), .tx_rsp_ready_o(tx_rsp_ready), .tx_rsp_data_i(tx_rsp_data),
    .rx_p_o(rx_p), .rx_p_ready_i(rx_p_ready), .rx_p_data_o(rx_p_data), .rx_np_o(rx_np), .rx_np_ready_i(rx_np_ready),
    .rx_np_data_o(rx_np_data), .rx_rsp_o(rx_rsp), .rx_rsp_ready_i(rx_rsp_ready), .rx_rsp_data_o(rx_rsp_data),
    .tx_rma_i(tx_rma), .tx_rma_ready_o(tx_rma_ready), .tx_rma_data_i(tx_rma_data), .tx_ans_i(tx_ans),
    .tx_ans_ready_o(tx_ans_ready), .tx_ans_data_i(tx_ans_data), .rx_rma_o(rx_rma), .rx_rma_ready_i(rx_rma_ready),
    .rx_rma_data_o(rx_rma_data), .rx_ans_o(rx_ans), .rx_ans_ready_i(rx_ans_ready), .rx_ans_data_o(rx_ans_data),
    .lnk_sts_state_i(sts.link_status_state),
    .lnk_tx_valid_o(lnk_tx_valid), .lnk_tx_ready_i(lnk_tx_ready), .lnk_tx_sop_o(lnk_tx_sop), .lnk_tx_eop_o(lnk_tx_eop),
    .lnk_tx_hdr_o(lnk_tx_hdr), .lnk_tx_data_o(lnk_tx_data), .lnk_rx_valid_i(lnk_rx_valid),
    .lnk_rx_ready_o(lnk_rx_ready), .lnk_rx_sop_i(lnk_rx_sop), .lnk_rx_eop_i(lnk_rx_eop), .lnk_rx_hdr_i(lnk_rx_hdr),
    .lnk_rx_data_i(lnk_rx_data), .lnk_ev_i(lnk_ev), .event_valid_o(ev_valid[EV_NET]),
    .event_ready_i(ev_ready[EV_NET]), .event_o(ev_net), .event_count_o(pulse_net)
  );

  links #(.DATA_W(DATA_W)) i_links (
    .clk_i, .rst_ni(rst_n), .time_i, .busy_o(link_busy), .timer_o(link_timer), .cfg_node_i(cfg.node_id),
    .cfg_route_set_i(cfg.route_set), .cfg_route_node_i(cfg.route_node),
    .cfg_route_i({cfg.route_second, cfg.route_second_lane, cfg.route_second_link, cfg.route_valid, cfg.route_lane,
      cfg.route_link}),
    .cfg_group_set_i(cfg.multicast_set), .cfg_group_i(cfg.multicast_group), .cfg_group_lane_i(cfg.multicast_lane),
    .cfg_group_line_i({cfg.multicast_valid, cfg.multicast_link, cfg.multicast_member, cfg.multicast_branches}),
    .cfg_watchdog_i(cfg.watchdog_limit), .cfg_resume_i(cfg.watchdog_resume), .sts_cut_o(sts.watchdog_cut),
    .sts_states_o(sts.links_states), .cfg_replay_limit_i(cfg.link_ctrl_replay_limit),
    .cfg_replay_timeout_i(cfg.link_ctrl_replay_timeout), .cfg_retrain_i(cfg.link_ctrl_retrain),
    .sts_state_o(sts.link_status_state), .sts_unacked_o(sts.link_status_unacked), .link_tx_valid_o, .link_tx_ready_i,
    .link_tx_kind_o, .link_tx_data_o, .link_rx_valid_i, .link_rx_kind_i, .link_rx_data_i, .link_rx_up_i,
    .tx_valid_i(lnk_tx_valid), .tx_ready_o(lnk_tx_ready), .tx_sop_i(lnk_tx_sop), .tx_eop_i(lnk_tx_eop),
    .tx_hdr_i(lnk_tx_hdr), .tx_data_i(lnk_tx_data), .rx_valid_o(lnk_rx_valid), .rx_ready_i(lnk_rx_ready),
    .rx_sop_o(lnk_rx_sop), .rx_eop_o(lnk_rx_eop), .rx_hdr_o(lnk_rx_hdr), .rx_data_o(lnk_rx_data),
    .ev_o(lnk_ev),
    .cnt_tx_packets_o(cnt[ggas_regs_pkg::CNT_LINK_TX_PACKETS]),
    .cnt_rx_packets_o(cnt[ggas_regs_pkg::CNT_LINK_RX_PACKETS]),
    .cnt_tx_replays_o(cnt[ggas_regs_pkg::CNT_LINK_TX_REPLAYS]),
    .cnt_rx_crc_errors_o(cnt[ggas_regs_pkg::CNT_LINK_RX_CRC_ERRORS]),
    .cnt_rx_seq_errors_o(cnt[ggas_regs_pkg::CNT_LINK_RX_SEQ_ERRORS])
  );

  // ---------------------------------------------------------------- registers, counters, events, interrupts

  logic        ext_counter_req, ext_msix_req, ext_moderation_req;
  logic [63:0] ext_counter_rdata, ext_msix_rdata, ext_moderation_rdata;
  logic        reg_ack;

  assign sts.caps_data_w    = DATA_W[9:0];
  assign sts.caps_mtu       = ggas_pkg::MTU[12:0];
  assign sts.caps_loads     = LOADS[7:0];
  assign sts.caps_intervals = smfu_pkg::INTERVALS[7:0];
  assign sts.caps_exports   = ggas_regs_pkg::EXPORT_NUM[7:0];
  assign sts.caps_vectors   = ggas_regs_pkg::MSIX_NUM[7:0];
  assign sts.time_cycles    = time_q;
  assign sts.build_contexts = ggas_pkg::CONTEXTS[8:0];
  assign sts.build_page_log2 = PAGE_LOG2[4:0];
  assign sts.build_nodes     = ggas_pkg::MAX_NODES[16:0];
  assign sts.build_groups    = ggas_pkg::GROUPS[7:0];
  assign sts.links_built     = ggas_pkg::LINKS[2:0];
  assign sts.build_rma       = 1'b1;
  assign sts.build_velo      = ggas_pkg::VELO;
  assign sts.build_coll      = ggas_pkg::COLL;
  assign sts.build_without   = ~{ggas_pkg::EVENT_COUNTS, ggas_pkg::QUEUES, ggas_pkg::GETS, ggas_pkg::ATOMICS};
  assign sts.clock_khz       = cfg_clock_khz_i;
  assign sts.serial_id       = cfg_serial_i;

  regs i_regs (
    .clk_i, .rst_ni(rst_n), .req_i(reg_access.req), .write_i(reg_access.write), .addr_i(reg_access.addr),
    .wdata_i(reg_access.wdata), .wstrb_i(reg_access.wstrb), .ack_o(reg_ack), .rdata_o(reg_rdata),
    .error_o(reg_error), .busy_o(regs_busy),
    .ext_counter_req_o(ext_counter_req), .ext_counter_rdata_i(ext_counter_rdata),
    .ext_interval_req_o(ext_interval_req), .ext_interval_rdata_i(ext_interval_rdata),
    .ext_export_req_o(ext_export_req), .ext_export_rdata_i(ext_export_rdata), .ext_coll_req_o(ext_coll_req),
    .ext_coll_rdata_i(ext_coll_rdata), .ext_context_req_o(ext_context_req), .ext_context_rdata_i(ext_context_rdata),
    .ext_msix_req_o(ext_msix_req), .ext_atu_piece_req_o(ext_atu_piece_req),
    .ext_atu_piece_rdata_i(ext_atu_piece_rdata), .ext_msix_rdata_i(ext_msix_rdata),
    .ext_moderation_req_o(ext_moderation_req), .ext_moderation_rdata_i(ext_moderation_rdata), .ext_write_o(ext_write),
    .ext_addr_o(ext_addr), .ext_wdata_o(ext_wdata), .ext_wstrb_o(ext_wstrb), .cfg_o(cfg), .sts_i(sts)
  );

  // verilator lint_off UNUSEDSIGNAL
  ggas_regs_pkg::event_set_t [11:0] pulses;
  logic [64*5-1:0] events;
  logic [7*5-1:0]  intervals;  // that events concern
  // verilator lint_on UNUSEDSIGNAL
  assign pulses    = {pulse_coll, pulse_rma, pulse_queue, pulse_net, pulse_smfu, pulse_hostif};
  assign events    = {ev_coll, ev_rma, ev_net, ev_smfu, ev_hostif};
  assign intervals = {{3{smfu_pkg::NO_INTERVAL}}, interval_smfu, smfu_pkg::NO_INTERVAL};
  counters #(.EV_SOURCES(EV_VECTORS)) i_counters (
    .clk_i, .rst_ni(rst_n), .cnt_i(cnt), .ev_i(pulses[EV_VECTORS-1:0]), .ext_req_i(ext_counter_req),
    .ext_addr_i(ext_addr), .ext_rdata_o(ext_counter_rdata), .busy_o(counters_busy)
  );

  interrupts #(.SOURCES(EV_UNITS)) i_interrupts (
    .clk_i, .rst_ni(rst_n), .time_i, .stop_i(halt), .msix_enable_i(msix_ok_q), .cfg_i(cfg),
    .ext_msix_req_i(ext_msix_req), .ext_moderation_req_i(ext_moderation_req), .ext_write_i(ext_write),
    .ext_addr_i(ext_addr), .ext_wdata_i(ext_wdata), .ext_wstrb_i(ext_wstrb), .ext_msix_rdata_o(ext_msix_rdata),
    .ext_moderation_rdata_o(ext_moderation_rdata), .ev_valid_i(ev_valid), .ev_ready_o(ev_ready),
    .ev_i(events[64*EV_UNITS-1:0]), .ev_interval_i(intervals[7*EV_UNITS-1:0]), .ev_pulse_o(pulse_queue),
    .fire_valid_i(fire_valid), .fire_ready_o(fire_ready), .fire_vpid_i(fire_vpid), .fire_vector_i(fire_vector),
    .fire_list_i(fire_list), .rec_valid_o(evt.valid), .rec_ready_i(evt_ready), .rec_addr_o(evt.addr),
    .rec_data_o(evt.data), .msg_valid_o(msix.valid), .msg_ready_i(msix_ready), .msg_addr_o(msix.addr),
    .msg_data_o(msix.data), .evq_head_o(sts.evq_head_count), .fired_head_o(sts.fired_head_count),
    .pending_o(sts.msix_pba_bits), .events_stopped_o(events_stopped), .fired_stopped_o(fired_stopped),
    .cnt_sent_o(cnt[ggas_regs_pkg::CNT_HOST_MSIX]), .busy_o(interrupts_busy), .timer_o(interrupts_timer)
  );

  wire unused = &{1'b0, reg_ack, cfg.evq_base_base[11:0], cfg.fired_base_base[11:0], cfg.atu_ack_base[2:0]};

endmodule

`default_nettype wire
