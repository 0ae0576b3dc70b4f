// SPDX-License-Identifier: Apache-2.0
// One-sided communication: RMA, ATU, notifications, atomics, VELO (docs/rma.md). Wiring only: of the units for local
// contexts (descriptors, requester, payload of puts, answers), of the units for packets of others (target, atomics,
// messages, gets), and of shared units (contexts, translation, notification rings, the host, events).
`default_nettype none

module rma #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,
    output      logic                busy_o,
    output      logic                timer_o,

    // the NIC is stopped: nothing new is begun, nothing but what was begun is written
    input  wire logic                stop_i,
    output      logic                writes_o,          // something begun may still write

    // registers, configuration space
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_regs_pkg::cfg_t cfg_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [12:0]         cfg_mps_i,
    input  wire logic [12:0]         cfg_mrrs_i,
    // route
    input  wire logic [15:0]         peer_node_i,
    input  wire logic                peer_valid_i,
    input  wire logic                link_up_i,

    // ATU_STATUS
    output      logic [31:0]         inv_done_o,
    output      logic                inv_busy_o,

    // CONTEXT registers, ATU_PIECE registers: answer in the next cycle
    input  wire logic                ext_req_i,
    input  wire logic                ext_piece_i,
    input  wire logic                ext_write_i,
    input  wire logic [13:3]         ext_addr_i,
    input  wire logic [63:0]         ext_wdata_i,
    input  wire logic [7:0]          ext_wstrb_i,
    output      logic [63:0]         ext_rdata_o,
    output      logic [63:0]         ext_piece_rdata_o,
    output      ggas_pkg::context_write_t context_o,        // writes of CONTEXT[], a cycle later

    // host: page writes, writes, reads, completions of tags 128 ... 511 (the header stands for the whole packet)
    input  wire ggas_pkg::tlp_beat_t page_i,
    output      logic                page_ready_o,
    input  wire logic [DATA_W-1:0]   page_data_i,
    output      ggas_pkg::tlp_beat_t wr_o,
    input  wire logic                wr_ready_i,
    output      logic [DATA_W-1:0]   wr_data_o,
    input  wire logic                wr_snoop_i,        // a write of another unit was accepted
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire ggas_pkg::tlp_beat_t cpl_i,
    output      logic                cpl_ready_o,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    // network: requests on VC_RMA, their answers on VC_RSP
    output      ggas_pkg::rma_beat_t tx_rma_o,
    input  wire logic                tx_rma_ready_i,
    output      logic [DATA_W-1:0]   tx_rma_data_o,
    output      ggas_pkg::rma_beat_t tx_ans_o,
    input  wire logic                tx_ans_ready_i,
    output      logic [DATA_W-1:0]   tx_ans_data_o,
    input  wire ggas_pkg::rma_beat_t rx_rma_i,
    output      logic                rx_rma_ready_o,
    input  wire logic [DATA_W-1:0]   rx_rma_data_i,
    input  wire ggas_pkg::rma_beat_t rx_ans_i,
    output      logic                rx_ans_ready_o,
    input  wire logic [DATA_W-1:0]   rx_ans_data_i,

    output      logic                fire_valid_o,      // an armed context fires; taken in finite time
    input  wire logic                fire_ready_i,
    output      logic [7:0]          fire_vpid_o,
    output      logic [3:0]          fire_vector_o,
    output      logic                fire_list_o,       // into the ring of fired contexts
    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o,
    output      ggas_regs_pkg::event_set_t [4:0] ev_pulse_o, // every occurrence, by code, in five vectors
    output      logic [16:0]         cnt_o              // RMA_DESCRIPTORS ... VELO_FULL
);
  // ---------------------------------------------------------------- counters, in the order of the registers
  localparam int unsigned DESCRIPTORS = 0, TX_PACKETS = 1, READ_PACKETS = 2, RETRIES = 3, TARGET_PUTS = 4,
    TARGET_GETS = 5, TARGET_ATOMICS = 6, GET_PACKETS = 7, ACKS = 8, NOTIFICATIONS = 9, NOTIFY_FULL = 10,
    STATUS_WRITES = 11, QUEUE_READS = 12, HITS = 13, MISSES = 14, MESSAGES = 15, MAILBOX_FULL = 16;
  logic [16:0] cnt;
  assign cnt_o = cnt;

  // ---------------------------------------------------------------- register stages at the border
  // A unit without a clock costs nothing only if its inputs are not driven by units with one.
  localparam int unsigned HOST_W = 3 + ggas_pkg::TLP_HDR_W, NET_W = 3 + ggas_pkg::NET_HDR_W;
  logic page_ready, cpl_in_ready, rx_rma_ready, rx_ans_ready, tx_rma_ready, tx_ans_valid, tx_ans_ready, tx_ans_sop,
    tx_ans_eop;
  ggas_pkg::tlp_beat_t page, cpl_in;
  ggas_pkg::rma_beat_t rx_rma, rx_ans, tx_rma;
  ggas_pkg::rma_hdr_t  tx_ans_hdr;
  logic [DATA_W-1:0]   page_data, cpl_data, rx_rma_data, rx_ans_data, tx_rma_data, tx_ans_data;
  beat_stage #(.BEAT_W(HOST_W), .DATA_W(DATA_W)) i_page (
      .clk_i, .rst_ni, .in_i(page_i), .in_ready_o(page_ready_o), .in_data_i(page_data_i), .out_o(page),
      .out_ready_i(page_ready), .out_data_o(page_data)
  );
  beat_stage #(.BEAT_W(HOST_W), .DATA_W(DATA_W)) i_cpl (
      .clk_i, .rst_ni, .in_i(cpl_i), .in_ready_o(cpl_ready_o), .in_data_i(cpl_data_i), .out_o(cpl_in),
      .out_ready_i(cpl_in_ready), .out_data_o(cpl_data)
  );
  beat_stage #(.BEAT_W(NET_W), .DATA_W(DATA_W)) i_rx_rma (
      .clk_i, .rst_ni, .in_i(rx_rma_i), .in_ready_o(rx_rma_ready_o), .in_data_i(rx_rma_data_i), .out_o(rx_rma),
      .out_ready_i(rx_rma_ready), .out_data_o(rx_rma_data)
  );
  beat_stage #(.BEAT_W(NET_W), .DATA_W(DATA_W)) i_rx_ans (
      .clk_i, .rst_ni, .in_i(rx_ans_i), .in_ready_o(rx_ans_ready_o), .in_data_i(rx_ans_data_i), .out_o(rx_ans),
      .out_ready_i(rx_ans_ready), .out_data_o(rx_ans_data)
  );
  beat_stage #(.BEAT_W(NET_W), .DATA_W(DATA_W)) i_tx_rma (
      .clk_i, .rst_ni, .in_i(tx_rma), .in_ready_o(tx_rma_ready), .in_data_i(tx_rma_data), .out_o(tx_rma_o),
      .out_ready_i(tx_rma_ready_i), .out_data_o(tx_rma_data_o)
  );
  beat_stage #(.BEAT_W(NET_W), .DATA_W(DATA_W)) i_tx_ans (
      .clk_i, .rst_ni, .in_i({tx_ans_valid, tx_ans_sop, tx_ans_eop, tx_ans_hdr}), .in_ready_o(tx_ans_ready),
      .in_data_i(tx_ans_data), .out_o(tx_ans_o), .out_ready_i(tx_ans_ready_i), .out_data_o(tx_ans_data_o)
  );

  // Configuration, route and time: as the units see them, a cycle late.
  rma_pkg::config_t cfg_q;
  logic [63:0] time_q;
  always_ff @(posedge clk_i) begin
    cfg_q <= {stop_i, cfg_i.node_id, cfg_i.rma_ctrl_requester && !stop_i, cfg_i.rma_ctrl_target && !stop_i,
      cfg_i.rma_ctrl_mtu, cfg_i.rma_ctrl_retry_ticks, cfg_i.rma_ctrl_retry_limit, cfg_i.rma_timeout_answer,
      cfg_i.rma_timeout_host, cfg_i.atu_table3_first, cfg_i.atu_table3_entries, cfg_i.atu_table2_first,
      cfg_i.atu_table2_entries, cfg_i.atu_table1_first, cfg_i.atu_table1_entries, cfg_i.atu_table0_first,
      cfg_i.atu_table0_entries, cfg_i.atu_ack_base[63:3], cfg_mps_i, cfg_mrrs_i, peer_node_i, peer_valid_i, link_up_i};
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) time_q <= 64'd1;  // no tick
    else time_q <= time_i;
  end

  // ---------------------------------------------------------------- contexts
  logic        context_busy, note_look, arm_look, page_look, front_look, requester_look, answer_look, velo_look;
  logic [7:0]  look_vpid;
  rma_context i_context (
      .clk_i, .rst_ni, .ext_req_i, .ext_write_i, .ext_addr_i, .ext_wdata_i, .ext_wstrb_i, .ext_rdata_o,
      .context_o, .look_vpid_o(look_vpid),
      .look_busy_i(page_look || front_look || requester_look || answer_look || velo_look || note_look || arm_look),
      .busy_o(context_busy)
  );

  // The page write at the end of the register stage, if that holds two.
  logic [7:0] page_vpid_q;
  always_ff @(posedge clk_i) if (page_i.valid && page_ready_o && page_i.sop) page_vpid_q <= page_i.hdr.addr[20:13];
  assign page_look = !page_ready_o && page_vpid_q == look_vpid;

  // ---------------------------------------------------------------- shared by the units
  // Writes, reads and completions by unit, numbered as in rma_host.
  logic [6:0] wr_valid, wr_ready, wr_sop, wr_eop;
  logic [5:0] rd_valid, rd_ready, cpl_valid, cpl_ready;
  ggas_pkg::tlp_hdr_t answer_wr_hdr, status_wr_hdr, target_wr_hdr, atomic_wr_hdr, velo_wr_hdr, note_wr_hdr, atu_wr_hdr,
    put_rd_hdr, get_rd_hdr, target_rd_hdr, atomic_rd_hdr, atu_rd_hdr, queue_rd_hdr;
  logic [DATA_W-1:0] answer_wr_data, status_wr_data, target_wr_data, atomic_wr_data, velo_wr_data, note_wr_data,
    atu_wr_data;
  // Events by unit, numbered as in rma_pkg.
  logic [rma_pkg::EV_SOURCES*16-1:0] ev_node;
  logic [rma_pkg::EV_SOURCES*40-1:0] ev_info;

  // ---------------------------------------------------------------- translation
  // 0 puts, 1 gets, 2 target, 3 answers, 4 atomics
  logic [4:0]   tr_valid, tr_ready, tr_write, tr_rsp_valid, tr_done, unused_shift;
  logic [319:0] tr_nla;
  logic [79:0]  tr_pd;
  logic [63:0]  tr_rsp_addr;
  logic [3:0]   tr_rsp_status;
  logic         ev_walk, stray_atu, atu_busy, atu_timer;
  logic [9:0]   tag_atu;
  atu #(.DATA_W(DATA_W), .CLIENTS({ggas_pkg::ATOMICS, 2'b11, ggas_pkg::GETS, 1'b1})) i_atu (
      .clk_i, .rst_ni, .time_i(time_q), .cfg_timeout_i(cfg_q.timeout_host), .cfg_table_i(cfg_q.atu_table),
      .cfg_ack_i(cfg_q.atu_ack), .stop_i(cfg_q.stop), .ext_req_i(ext_piece_i), .ext_write_i,
      .ext_index_i(ext_addr_i[10:3]), .ext_wdata_i, .ext_wstrb_i, .ext_rdata_o(ext_piece_rdata_o),
      .inv_start_i(cfg_i.atu_invalidate_start), .inv_all_i(cfg_i.atu_invalidate_everything),
      .inv_range_i(cfg_i.atu_invalidate_range), .inv_page_i(cfg_i.atu_invalidate_page),
      .inv_last_i(cfg_i.atu_last_page), .inv_done_o, .inv_busy_o, .tr_valid_i(tr_valid), .tr_ready_o(tr_ready),
      .tr_nla_i(tr_nla), .tr_pd_i(tr_pd), .tr_write_i(tr_write), .tr_rsp_valid_o(tr_rsp_valid),
      .tr_rsp_addr_o(tr_rsp_addr), .tr_rsp_shift_o(unused_shift), .tr_rsp_status_o(tr_rsp_status), .tr_done_i(tr_done),
      .rd_valid_o(rd_valid[4]), .rd_ready_i(rd_ready[4]), .rd_hdr_o(atu_rd_hdr), .cpl_i({cpl_valid[4], cpl_in.sop,
      cpl_in.eop, cpl_in.hdr}), .cpl_ready_o(cpl_ready[4]), .cpl_data_i(cpl_data), .wr_o({wr_valid[6], wr_sop[6],
      wr_eop[6], atu_wr_hdr}), .wr_ready_i(wr_ready[6]), .wr_data_o(atu_wr_data), .ev_walk_o(ev_walk),
      .ev_info_o(ev_info[rma_pkg::EV_WALK*40+:40]), .ev_unexpected_o(stray_atu), .ev_tag_o(tag_atu),
      .cnt_hits_o(cnt[HITS]), .cnt_misses_o(cnt[MISSES]), .busy_o(atu_busy), .timer_o(atu_timer)
  );

  // ---------------------------------------------------------------- ways to the host
  logic stray_none;
  rma_host #(.DATA_W(DATA_W)) i_host (
      .clk_i, .rst_ni, .unit_wr_valid_i(wr_valid), .unit_wr_ready_o(wr_ready), .unit_wr_sop_i(wr_sop),
      .unit_wr_eop_i(wr_eop), .unit_wr_hdr_i({atu_wr_hdr, note_wr_hdr, velo_wr_hdr, atomic_wr_hdr, target_wr_hdr,
      status_wr_hdr, answer_wr_hdr}), .unit_wr_data_i({atu_wr_data, note_wr_data, velo_wr_data, atomic_wr_data,
      target_wr_data, status_wr_data, answer_wr_data}),
      .unit_rd_valid_i(rd_valid), .unit_rd_ready_o(rd_ready),
      .unit_rd_hdr_i({queue_rd_hdr, atu_rd_hdr, atomic_rd_hdr, target_rd_hdr, get_rd_hdr, put_rd_hdr}),
      .unit_cpl_valid_o(cpl_valid), .unit_cpl_ready_i(cpl_ready), .wr_o, .wr_ready_i, .wr_data_o, .rd_valid_o,
      .rd_ready_i, .rd_hdr_o, .cpl_valid_i(cpl_in.valid), .cpl_ready_o(cpl_in_ready), .cpl_eop_i(cpl_in.eop),
      .cpl_tag_i(cpl_in.hdr.tag[9:3]), .stray_o(stray_none)
  );

  // ---------------------------------------------------------------- notification rings
  // 0 requester, 1 target, 2 responder
  logic        db_valid, db_arm, db_arm_ready, ev_lost, notify_busy, notify_writes;
  logic [1:0]  db_kind;
  logic [7:0]  db_vpid;
  logic [31:0] db_count;
  logic [2:0]  nt_valid, nt_ready, nt_rsp_valid;
  logic        nt_drop, target_note_drop;
  logic [23:0] nt_vpid;
  logic [47:0] nt_pd;  // target, responder: their context must be of this domain
  logic [191:0] nt_w0, nt_w1;
  logic [3:0]  nt_rsp_status;
  logic [1:0]  written_valid, written_ready;  // 0 notifications, 1 messages
  logic [15:0] written_vpid;
  logic [63:0] written_count;
  logic        arm_busy;
  assign nt_pd[0+:16] = '0;
  rma_notify #(.DATA_W(DATA_W), .CLIENTS({ggas_pkg::GETS, 2'b11})) i_notify (
      .clk_i, .rst_ni, .stop_i(cfg_q.stop), .writes_o(notify_writes), .look_vpid_i(look_vpid), .look_busy_o(note_look),
      .context_i(context_o), .db_valid_i(db_valid), .db_kind_i(db_kind), .db_vpid_i(db_vpid), .db_count_i(db_count),
      .nt_valid_i(nt_valid), .nt_ready_o(nt_ready), .nt_vpid_i(nt_vpid), .nt_check_pd_i(3'b110), .nt_pd_i(nt_pd),
      .nt_drop_i({1'b1, target_note_drop, nt_drop}), .nt_w0_i(nt_w0), .nt_w1_i(nt_w1), .nt_rsp_valid_o(nt_rsp_valid),
      .nt_rsp_status_o(nt_rsp_status), .wr_o({wr_valid[5], wr_sop[5], wr_eop[5], note_wr_hdr}),
      .wr_ready_i(wr_ready[5]), .wr_data_o(note_wr_data), .written_valid_o(written_valid[0]),
      .written_ready_i(written_ready[0]), .written_vpid_o(written_vpid[7:0]), .written_count_o(written_count[31:0]),
      .ev_lost_o(ev_lost), .ev_info_o(ev_info[rma_pkg::EV_LOST*40+:40]), .cnt_notifications_o(cnt[NOTIFICATIONS]),
      .cnt_full_o(cnt[NOTIFY_FULL]), .busy_o(notify_busy)
  );

  rma_arm i_arm (
      .clk_i, .rst_ni, .context_i(context_o), .arm_valid_i(db_arm), .arm_ready_o(db_arm_ready),
      .arm_ring_i(db_kind[1]), .arm_vpid_i(db_vpid), .arm_count_i(db_count), .rec_valid_i(written_valid),
      .rec_ready_o(written_ready), .rec_vpid_i(written_vpid), .rec_count_i(written_count), .fire_valid_o, .fire_ready_i,
      .fire_vpid_o, .fire_vector_o, .fire_list_o, .look_vpid_i(look_vpid), .look_busy_o(arm_look), .busy_o(arm_busy)
  );

  // ---------------------------------------------------------------- requests to others, whole packets in turn
  // 0 requester, 1 puts
  localparam int unsigned TAG_PUT = (DATA_W == 64) ? rma_pkg::TAG_FETCH_PUT : rma_pkg::TAG_WIDE_PUT;
  localparam int unsigned TAG_GET = (DATA_W == 64) ? rma_pkg::TAG_FETCH_GET : rma_pkg::TAG_WIDE_GET;
  localparam int unsigned TAGS    = (DATA_W == 64) ? 32 : 128;
  localparam int unsigned HDR_W   = ggas_pkg::NET_HDR_W;
  logic [1:0] tx_valid, tx_ready, tx_sop, tx_eop;
  ggas_pkg::rma_hdr_t req_tx_hdr, put_tx_hdr;
  logic [DATA_W-1:0]  req_tx_data, put_tx_data;
  stream_mux #(.N(2), .HDR_W(HDR_W), .DATA_W(DATA_W)) i_tx (
      .clk_i, .rst_ni, .in_valid_i(tx_valid), .in_ready_o(tx_ready), .in_sop_i(tx_sop), .in_eop_i(tx_eop),
      .in_hdr_i({put_tx_hdr, req_tx_hdr}), .in_data_i({put_tx_data, req_tx_data}), .out_valid_o(tx_rma.valid),
      .out_ready_i(tx_rma_ready), .out_sop_o(tx_rma.sop), .out_eop_o(tx_rma.eop), .out_hdr_o(tx_rma.hdr),
      .out_data_o(tx_rma_data)
  );
  assign cnt[TX_PACKETS] = tx_rma.valid && tx_rma_ready && tx_rma.eop;

  // ---------------------------------------------------------------- descriptors, status blocks
  logic st_valid, st_ready, desc_valid, desc_ready, desc_sop, desc_eop, desc_done, front_busy, front_timer,
    status_writes, ev_page, ev_doorbell, ev_queue, stray_queue;
  rma_pkg::rma_counts_t st;
  logic [7:0]   desc_vpid, desc_done_vpid;
  logic [9:0]   tag_queue;
  logic [15:0]  desc_pd;
  logic [4:0]   desc_starts;
  logic [255:0] desc_data;
  rma_front #(.DATA_W(DATA_W)) i_front (
      .clk_i, .rst_ni, .stop_i(cfg_q.stop), .writes_o(status_writes), .time_i(time_q), .cfg_mrrs_i(cfg_q.mrrs),
      .cfg_requester_i(cfg_q.requester), .cfg_timeout_i(cfg_q.timeout_host), .context_i(context_o),
      .look_vpid_i(look_vpid), .look_busy_o(front_look), .page_i(page), .page_ready_o(page_ready),
      .page_data_i(page_data), .db_valid_o(db_valid), .db_kind_o(db_kind), .db_arm_o(db_arm),
      .db_arm_ready_i(db_arm_ready), .db_vpid_o(db_vpid), .db_count_o(db_count), .desc_valid_o(desc_valid),
      .desc_ready_i(desc_ready), .desc_sop_o(desc_sop), .desc_eop_o(desc_eop), .desc_vpid_o(desc_vpid),
      .desc_pd_o(desc_pd), .desc_starts_o(desc_starts), .desc_data_o(desc_data), .desc_done_i(desc_done),
      .desc_done_vpid_i(desc_done_vpid), .st_valid_i(st_valid), .st_ready_o(st_ready), .st_i(st),
      .wr_o({wr_valid[1], wr_sop[1], wr_eop[1], status_wr_hdr}), .wr_ready_i(wr_ready[1]), .wr_data_o(status_wr_data),
      .rd_valid_o(rd_valid[5]), .rd_ready_i(rd_ready[5]), .rd_hdr_o(queue_rd_hdr),
      .cpl_i({cpl_valid[5], cpl_in.sop, cpl_in.eop, cpl_in.hdr}), .cpl_ready_o(cpl_ready[5]), .cpl_data_i(cpl_data),
      .ev_page_access_o(ev_page), .ev_page_info_o(ev_info[rma_pkg::EV_PAGE*40+:40]), .ev_bad_descriptor_o(ev_doorbell),
      .ev_doorbell_info_o(ev_info[rma_pkg::EV_DOORBELL*40+:40]), .ev_host_error_o(ev_queue),
      .ev_queue_info_o(ev_info[rma_pkg::EV_QUEUE*40+:40]), .ev_unexpected_o(stray_queue), .ev_tag_o(tag_queue),
      .cnt_status_writes_o(cnt[STATUS_WRITES]), .cnt_queue_reads_o(cnt[QUEUE_READS]), .busy_o(front_busy),
      .timer_o(front_timer)
  );

  // ---------------------------------------------------------------- requester, payload of puts, answers
  logic put_cmd_valid, put_cmd_ready, put_done_valid, ans_valid, ans_ready, ans_writes, ep_valid,
    requester_busy, requester_timer, put_packet, put_busy, put_timer, answer_busy, answer_writes;
  rma_pkg::rma_ans_t ans;
  logic [63:0] put_cmd_nla;
  logic [15:0] put_cmd_pd;
  logic [8:0]  put_cmd_bytes;
  ggas_pkg::rma_hdr_t put_cmd_hdr;
  logic [7:0]  put_cmd_meta, put_done_meta, ans_look_vpid, ep_vpid;
  logic [4:0]  ep_epoch;
  logic [3:0]  put_done_status;
  logic [9:0]  tag_put;
  logic ev_req_bad, ev_req_prot, ev_req_timeout, ev_req_unreach, ev_req_retry, ev_req_unexpected, ev_put_host,
    stray_put, ev_ans_bad, ev_ans_prot, ev_ans_unexpected;
  rma_requester #(.DATA_W(DATA_W)) i_requester (
      .clk_i, .rst_ni, .time_i(time_q), .cfg_node_i(cfg_q.node), .cfg_mtu_i(cfg_q.mtu),
      .cfg_retry_ticks_i(cfg_q.retry_ticks), .cfg_retry_limit_i(cfg_q.retry_limit),
      .cfg_timeout_i(cfg_q.timeout_answer), .peer_node_i(cfg_q.peer_node), .peer_valid_i(cfg_q.peer_valid),
      .link_up_i(cfg_q.link_up), .context_i(context_o), .look_vpid_i(look_vpid), .look_busy_o(requester_look),
      .desc_valid_i(desc_valid), .desc_ready_o(desc_ready), .desc_sop_i(desc_sop), .desc_eop_i(desc_eop),
      .desc_vpid_i(desc_vpid), .desc_pd_i(desc_pd), .desc_starts_i(desc_starts), .desc_data_i(desc_data),
      .desc_done_o(desc_done), .desc_done_vpid_o(desc_done_vpid), .st_valid_o(st_valid), .st_ready_i(st_ready),
      .st_o(st), .tx_o({tx_valid[0], tx_sop[0], tx_eop[0], req_tx_hdr}), .tx_ready_i(tx_ready[0]),
      .tx_data_o(req_tx_data), .cmd_valid_o(put_cmd_valid),
      .cmd_ready_i(put_cmd_ready), .cmd_nla_o(put_cmd_nla), .cmd_pd_o(put_cmd_pd), .cmd_bytes_o(put_cmd_bytes),
      .cmd_hdr_o(put_cmd_hdr), .cmd_meta_o(put_cmd_meta), .done_valid_i(put_done_valid),
      .done_status_i(put_done_status), .done_meta_i(put_done_meta), .nt_valid_o(nt_valid[0]), .nt_ready_i(nt_ready[0]),
      .nt_o({nt_drop, nt_vpid[0+:8], nt_w0[0+:64], nt_w1[0+:64]}), .nt_rsp_valid_i(nt_rsp_valid[0]),
      .nt_rsp_status_i(nt_rsp_status), .ans_valid_i(ans_valid),
      .ans_ready_o(ans_ready), .ans_i(ans), .ans_progress_i(cnt[GET_PACKETS]), .ans_look_vpid_o(ans_look_vpid),
      .ans_writes_i(ans_writes), .ep_valid_o(ep_valid), .ep_vpid_o(ep_vpid), .ep_epoch_o(ep_epoch),
      .ev_o({ev_req_unexpected, ev_req_retry, ev_req_unreach, ev_req_timeout, ev_req_prot, ev_req_bad}),
      .ev_node_o(ev_node[rma_pkg::EV_REQUESTER*16+:16]), .ev_info_o(ev_info[rma_pkg::EV_REQUESTER*40+:40]),
      .cnt_o({cnt[ACKS], cnt[RETRIES], cnt[DESCRIPTORS]}),
      .busy_o(requester_busy), .timer_o(requester_timer)
  );
  rma_fetch #(.DATA_W(DATA_W), .TAG_BASE(TAG_PUT), .TAGS(TAGS), .META_W(8)) i_fetch_put (
      .clk_i, .rst_ni, .time_i(time_q), .cfg_mrrs_i(cfg_q.mrrs), .cfg_timeout_i(cfg_q.timeout_host),
      .cmd_valid_i(put_cmd_valid), .cmd_ready_o(put_cmd_ready), .cmd_nla_i(put_cmd_nla), .cmd_pd_i(put_cmd_pd),
      .cmd_bytes_i(put_cmd_bytes), .cmd_hdr_i(put_cmd_hdr), .cmd_meta_i(put_cmd_meta), .tr_o({tr_valid[0], tr_write[0],
      tr_pd[0*16+:16], tr_nla[0*64+:64]}), .tr_ready_i(tr_ready[0]), .tr_rsp_i({tr_rsp_valid[0], tr_rsp_status,
      tr_rsp_addr}), .tr_done_o(tr_done[0]), .rd_valid_o(rd_valid[0]), .rd_ready_i(rd_ready[0]), .rd_hdr_o(put_rd_hdr),
      .cpl_i({cpl_valid[0], cpl_in.sop, cpl_in.eop, cpl_in.hdr}), .cpl_ready_o(cpl_ready[0]), .cpl_data_i(cpl_data),
      .tx_valid_o(tx_valid[1]), .tx_ready_i(tx_ready[1]), .tx_sop_o(tx_sop[1]), .tx_eop_o(tx_eop[1]),
      .tx_hdr_o(put_tx_hdr), .tx_data_o(put_tx_data), .done_valid_o(put_done_valid), .done_status_o(put_done_status),
      .done_meta_o(put_done_meta), .done_nla_o(ev_info[rma_pkg::EV_PUT*40+:40]), .ev_host_error_o(ev_put_host),
      .ev_unexpected_o(stray_put), .ev_tag_o(tag_put), .cnt_packets_o(put_packet), .busy_o(put_busy),
      .timer_o(put_timer)
  );
  rma_answer #(.DATA_W(DATA_W)) i_answer (
      .clk_i, .rst_ni, .stop_i(cfg_q.stop), .writes_o(answer_writes), .busy_vpid_i(look_vpid),
      .busy_vpid_o(answer_look), .cfg_mps_i(cfg_q.mps), .context_i(context_o), .ep_valid_i(ep_valid),
      .ep_vpid_i(ep_vpid), .ep_epoch_i(ep_epoch), .look_vpid_i(ans_look_vpid), .look_writes_o(ans_writes),
      .rx_i(rx_ans), .rx_ready_o(rx_ans_ready), .rx_data_i(rx_ans_data), .tr_o({tr_valid[3], tr_write[3],
      tr_pd[3*16+:16], tr_nla[3*64+:64]}), .tr_ready_i(tr_ready[3]), .tr_rsp_i({tr_rsp_valid[3], tr_rsp_status,
      tr_rsp_addr}), .tr_done_o(tr_done[3]), .wr_o({wr_valid[0], wr_sop[0], wr_eop[0], answer_wr_hdr}),
      .wr_ready_i(wr_ready[0]), .wr_data_o(answer_wr_data), .ans_valid_o(ans_valid), .ans_ready_i(ans_ready),
      .ans_o(ans), .ev_bad_packet_o(ev_ans_bad), .ev_protection_o(ev_ans_prot), .ev_unexpected_o(ev_ans_unexpected),
      .ev_node_o(ev_node[rma_pkg::EV_ANSWER*16+:16]), .ev_info_o(ev_info[rma_pkg::EV_ANSWER*40+:40]),
      .cnt_get_packets_o(cnt[GET_PACKETS]), .busy_o(answer_busy)
  );

  // ---------------------------------------------------------------- responses, whole packets in turn
  // 0 target, 1 responder, 2 atomics, 3 gets
  logic [3:0] rsp_valid, rsp_ready, rsp_sop, rsp_eop;
  ggas_pkg::rma_hdr_t rsp_hdr, target_rsp_hdr, resp_rsp_hdr, atomic_rsp_hdr, data_rsp_hdr;
  logic [DATA_W-1:0]  atomic_rsp_data, data_rsp_data;
  assign {rsp_sop[1:0], rsp_eop[1:0]} = '1;
  stream_mux #(.N(4), .HDR_W(HDR_W), .DATA_W(DATA_W)) i_rsp (
      .clk_i, .rst_ni, .in_valid_i(rsp_valid), .in_ready_o(rsp_ready), .in_sop_i(rsp_sop), .in_eop_i(rsp_eop),
      .in_hdr_i({data_rsp_hdr, atomic_rsp_hdr, resp_rsp_hdr, target_rsp_hdr}),
      .in_data_i({data_rsp_data, atomic_rsp_data, {2*DATA_W{1'b0}}}), .out_valid_o(tx_ans_valid),
      .out_ready_i(tx_ans_ready), .out_sop_o(tx_ans_sop), .out_eop_o(tx_ans_eop), .out_hdr_o(rsp_hdr),
      .out_data_o(tx_ans_data)
  );

  // With the NIC stopped no one is informed OK: what was written may have been dropped after us (bus master off).
  always_comb begin
    tx_ans_hdr = rsp_hdr;
    if (cfg_q.stop && rsp_hdr.op != ggas_pkg::OP_RMA_GET_DATA && rsp_hdr.status == ggas_pkg::ST_OK)
      tx_ans_hdr.status = ggas_pkg::ST_DISABLED;
  end

  // ---------------------------------------------------------------- requests of others
  logic at_valid, at_ready, at_sop, at_eop, get_valid, get_ready, get_sop, get_eop, mb_valid, mb_ready, mb_eop,
    mb_rsp_valid, get_cmd_valid, get_cmd_ready, get_done_valid, get_packet;
  ggas_pkg::rma_hdr_t at_hdr, get_hdr, mb_hdr, get_cmd_hdr;
  logic [DATA_W-1:0] at_data, get_data, mb_data;
  logic [63:0] get_cmd_nla;
  logic [15:0] get_cmd_pd;
  logic [8:0]  get_cmd_bytes;
  logic [7:0]  get_cmd_meta, get_done_meta;
  logic [3:0]  at_status, mb_rsp_status, get_done_status;
  logic [9:0]  tag_target, tag_atomic, tag_get;
  logic target_busy, target_timer, target_writes, atomic_busy, atomic_timer, atomic_writes, velo_busy, velo_writes,
    responder_busy, get_busy, get_timer, snoop, stray_target, stray_atomic, stray_get, ev_target_bad, ev_target_prot,
    ev_target_off, ev_target_host, ev_atomic_bad, ev_atomic_prot, ev_atomic_host, ev_rsp_prot, ev_rsp_off, ev_rsp_bad,
    ev_get_host;
  rma_target #(.DATA_W(DATA_W)) i_target (
      .clk_i, .rst_ni, .writes_o(target_writes), .time_i(time_q), .cfg_target_i(cfg_q.target), .cfg_node_i(cfg_q.node),
      .cfg_mps_i(cfg_q.mps), .cfg_timeout_i(cfg_q.timeout_host), .rx_i(rx_rma), .rx_ready_o(rx_rma_ready),
      .rx_data_i(rx_rma_data), .tr_o({tr_valid[2], tr_write[2], tr_pd[2*16+:16], tr_nla[2*64+:64]}),
      .tr_ready_i(tr_ready[2]), .tr_rsp_i({tr_rsp_valid[2], tr_rsp_status, tr_rsp_addr}), .tr_done_o(tr_done[2]),
      .wr_o({wr_valid[2], wr_sop[2], wr_eop[2], target_wr_hdr}), .wr_ready_i(wr_ready[2]), .wr_data_o(target_wr_data),
      .rd_valid_o(rd_valid[2]), .rd_ready_i(rd_ready[2]), .rd_hdr_o(target_rd_hdr), .cpl_i({cpl_valid[2], cpl_in.sop,
      cpl_in.eop, cpl_in.hdr}), .cpl_ready_o(cpl_ready[2]), .cpl_data_i(cpl_data), .get_o({get_valid, get_sop, get_eop,
      get_hdr}), .get_ready_i(get_ready), .get_data_o(get_data), .at_o({at_valid, at_sop, at_eop, at_hdr}),
      .at_ready_i(at_ready), .at_data_o(at_data), .at_status_o(at_status), .mb_valid_o(mb_valid), .mb_ready_i(mb_ready),
      .mb_eop_o(mb_eop), .mb_hdr_o(mb_hdr), .mb_data_o(mb_data), .mb_rsp_valid_i(mb_rsp_valid),
      .mb_rsp_status_i(mb_rsp_status), .nt_valid_o(nt_valid[1]), .nt_ready_i(nt_ready[1]), .nt_o({target_note_drop,
      nt_vpid[1*8+:8], nt_w0[1*64+:64], nt_w1[1*64+:64]}), .nt_pd_o(nt_pd[1*16+:16]), .nt_rsp_valid_i(nt_rsp_valid[1]),
      .nt_rsp_status_i(nt_rsp_status), .rsp_valid_o(rsp_valid[0]), .rsp_ready_i(rsp_ready[0]),
      .rsp_hdr_o(target_rsp_hdr), .ev_o({ev_target_host, ev_target_off, ev_target_prot, ev_target_bad}),
      .ev_node_o(ev_node[rma_pkg::EV_TARGET*16+:16]), .ev_info_o(ev_info[rma_pkg::EV_TARGET*40+:40]),
      .ev_unexpected_o(stray_target), .ev_tag_o(tag_target), .cnt_puts_o(cnt[TARGET_PUTS]), .busy_o(target_busy),
      .timer_o(target_timer)
  );

  // Writes of target and answers, and of the rest of the NIC, may touch a word that an atomic has in progress.
  assign snoop = wr_snoop_i || (wr_valid[0] && wr_ready[0]) || (wr_valid[2] && wr_ready[2]);
  if (ggas_pkg::ATOMICS) begin : g_atomic
    rma_atomic #(.DATA_W(DATA_W)) i_atomic (
        .clk_i, .rst_ni, .writes_o(atomic_writes), .time_i(time_q), .cfg_node_i(cfg_q.node),
        .cfg_timeout_i(cfg_q.timeout_host), .at_i({at_valid, at_sop, at_eop, at_hdr}), .at_ready_o(at_ready),
        .at_data_i(at_data), .at_status_i(at_status), .tr_o({tr_valid[4], tr_write[4], tr_pd[4*16+:16],
        tr_nla[4*64+:64]}), .tr_ready_i(tr_ready[4]), .tr_rsp_i({tr_rsp_valid[4], tr_rsp_status, tr_rsp_addr}),
        .tr_done_o(tr_done[4]), .rd_valid_o(rd_valid[3]), .rd_ready_i(rd_ready[3]), .rd_hdr_o(atomic_rd_hdr),
        .cpl_i({cpl_valid[3], cpl_in.sop, cpl_in.eop, cpl_in.hdr}), .cpl_ready_o(cpl_ready[3]), .cpl_data_i(cpl_data),
        .wr_valid_o(wr_valid[3]), .wr_ready_i(wr_ready[3]), .wr_sop_o(wr_sop[3]), .wr_eop_o(wr_eop[3]),
        .wr_hdr_o(atomic_wr_hdr), .wr_data_o(atomic_wr_data), .wr_snoop_i(snoop), .rsp_valid_o(rsp_valid[2]),
        .rsp_ready_i(rsp_ready[2]), .rsp_sop_o(rsp_sop[2]), .rsp_eop_o(rsp_eop[2]), .rsp_hdr_o(atomic_rsp_hdr),
        .rsp_data_o(atomic_rsp_data), .ev_bad_packet_o(ev_atomic_bad), .ev_protection_o(ev_atomic_prot),
        .ev_host_error_o(ev_atomic_host), .ev_node_o(ev_node[rma_pkg::EV_ATOMIC*16+:16]),
        .ev_info_o(ev_info[rma_pkg::EV_ATOMIC*40+:40]), .ev_unexpected_o(stray_atomic), .ev_tag_o(tag_atomic),
        .cnt_atomics_o(cnt[TARGET_ATOMICS]), .busy_o(atomic_busy), .timer_o(atomic_timer)
    );
  end else begin : g_no_atomic
    rma_no_atomic #(.DATA_W(DATA_W)) i_no_atomic (
        .clk_i, .rst_ni, .cfg_node_i(cfg_q.node), .at_valid_i(at_valid), .at_ready_o(at_ready), .at_eop_i(at_eop),
        .at_hdr_i(at_hdr), .at_status_i(at_status), .rsp_valid_o(rsp_valid[2]), .rsp_ready_i(rsp_ready[2]),
        .rsp_sop_o(rsp_sop[2]), .rsp_eop_o(rsp_eop[2]), .rsp_hdr_o(atomic_rsp_hdr), .rsp_data_o(atomic_rsp_data)
    );
    assign {tr_valid[4], tr_nla[4*64+:64], tr_pd[4*16+:16], tr_write[4], tr_done[4], rd_valid[3], atomic_rd_hdr,
      wr_valid[3], wr_sop[3], wr_eop[3], atomic_wr_hdr, atomic_wr_data, ev_atomic_bad, ev_atomic_prot, ev_atomic_host,
      ev_node[rma_pkg::EV_ATOMIC*16+:16], ev_info[rma_pkg::EV_ATOMIC*40+:40], stray_atomic, tag_atomic,
      cnt[TARGET_ATOMICS], atomic_timer, atomic_writes} = '0;
    assign cpl_ready[3] = 1'b1;
    assign atomic_busy  = rsp_valid[2];
  end
  if (ggas_pkg::VELO) begin : g_velo
    velo_mailbox #(.DATA_W(DATA_W)) i_velo (
        .clk_i, .rst_ni, .stop_i(cfg_q.stop), .writes_o(velo_writes), .look_vpid_i(look_vpid), .look_busy_o(velo_look),
        .context_i(context_o), .db_valid_i(db_valid), .db_kind_i(db_kind), .db_vpid_i(db_vpid), .db_count_i(db_count),
        .mb_valid_i(mb_valid), .mb_ready_o(mb_ready), .mb_eop_i(mb_eop), .mb_hdr_i(mb_hdr), .mb_data_i(mb_data),
        .mb_rsp_valid_o(mb_rsp_valid), .mb_rsp_status_o(mb_rsp_status),
        .wr_o({wr_valid[4], wr_sop[4], wr_eop[4], velo_wr_hdr}), .wr_ready_i(wr_ready[4]), .wr_data_o(velo_wr_data),
        .written_valid_o(written_valid[1]), .written_ready_i(written_ready[1]), .written_vpid_o(written_vpid[15:8]),
        .written_count_o(written_count[63:32]), .cnt_messages_o(cnt[MESSAGES]), .cnt_full_o(cnt[MAILBOX_FULL]),
        .busy_o(velo_busy)
    );
  end else begin : g_no_velo
    assign {mb_ready, mb_rsp_valid, mb_rsp_status, wr_valid[4], wr_sop[4], wr_eop[4], velo_wr_hdr, velo_wr_data,
      written_valid[1], written_vpid[15:8], written_count[63:32], cnt[MESSAGES], cnt[MAILBOX_FULL], velo_busy,
      velo_writes, velo_look} = '0;
  end
  if (ggas_pkg::GETS) begin : g_gets
    rma_responder #(.DATA_W(DATA_W)) i_responder (
        .clk_i, .rst_ni, .cfg_node_i(cfg_q.node), .cfg_mtu_i(cfg_q.mtu), .get_i({get_valid, get_sop, get_eop, get_hdr}),
        .get_ready_o(get_ready), .get_data_i(get_data), .cmd_valid_o(get_cmd_valid), .cmd_ready_i(get_cmd_ready),
        .cmd_nla_o(get_cmd_nla), .cmd_pd_o(get_cmd_pd), .cmd_bytes_o(get_cmd_bytes), .cmd_hdr_o(get_cmd_hdr),
        .cmd_meta_o(get_cmd_meta), .done_valid_i(get_done_valid), .done_status_i(get_done_status),
        .done_meta_i(get_done_meta), .done_nla_i(ev_info[rma_pkg::EV_GET*40+:40]), .nt_valid_o(nt_valid[2]),
        .nt_ready_i(nt_ready[2]), .nt_vpid_o(nt_vpid[2*8+:8]), .nt_pd_o(nt_pd[2*16+:16]), .nt_w0_o(nt_w0[2*64+:64]),
        .nt_w1_o(nt_w1[2*64+:64]), .nt_rsp_valid_i(nt_rsp_valid[2]), .nt_rsp_status_i(nt_rsp_status),
        .rsp_valid_o(rsp_valid[1]), .rsp_ready_i(rsp_ready[1]), .rsp_hdr_o(resp_rsp_hdr), .ev_protection_o(ev_rsp_prot),
        .ev_context_off_o(ev_rsp_off), .ev_bad_packet_o(ev_rsp_bad), .ev_node_o(ev_node[rma_pkg::EV_RESPONDER*16+:16]),
        .ev_info_o(ev_info[rma_pkg::EV_RESPONDER*40+:40]), .cnt_gets_o(cnt[TARGET_GETS]), .busy_o(responder_busy)
    );
    rma_fetch #(.DATA_W(DATA_W), .TAG_BASE(TAG_GET), .TAGS(TAGS), .META_W(8)) i_fetch_get (
        .clk_i, .rst_ni, .time_i(time_q), .cfg_mrrs_i(cfg_q.mrrs), .cfg_timeout_i(cfg_q.timeout_host),
        .cmd_valid_i(get_cmd_valid), .cmd_ready_o(get_cmd_ready), .cmd_nla_i(get_cmd_nla), .cmd_pd_i(get_cmd_pd),
        .cmd_bytes_i(get_cmd_bytes), .cmd_hdr_i(get_cmd_hdr), .cmd_meta_i(get_cmd_meta), .tr_o({tr_valid[1],
        tr_write[1], tr_pd[1*16+:16], tr_nla[1*64+:64]}), .tr_ready_i(tr_ready[1]), .tr_rsp_i({tr_rsp_valid[1],
        tr_rsp_status, tr_rsp_addr}), .tr_done_o(tr_done[1]), .rd_valid_o(rd_valid[1]), .rd_ready_i(rd_ready[1]),
        .rd_hdr_o(get_rd_hdr), .cpl_i({cpl_valid[1], cpl_in.sop, cpl_in.eop, cpl_in.hdr}), .cpl_ready_o(cpl_ready[1]),
        .cpl_data_i(cpl_data), .tx_valid_o(rsp_valid[3]), .tx_ready_i(rsp_ready[3]), .tx_sop_o(rsp_sop[3]),
        .tx_eop_o(rsp_eop[3]), .tx_hdr_o(data_rsp_hdr), .tx_data_o(data_rsp_data), .done_valid_o(get_done_valid),
        .done_status_o(get_done_status), .done_meta_o(get_done_meta), .done_nla_o(ev_info[rma_pkg::EV_GET*40+:40]),
        .ev_host_error_o(ev_get_host), .ev_unexpected_o(stray_get), .ev_tag_o(tag_get), .cnt_packets_o(get_packet),
        .busy_o(get_busy), .timer_o(get_timer)
    );
  end else begin : g_no_gets
    assign {get_ready, nt_valid[2], nt_vpid[2*8+:8], nt_pd[2*16+:16], nt_w0[2*64+:64], nt_w1[2*64+:64], rsp_valid[1],
      resp_rsp_hdr, ev_rsp_prot, ev_rsp_off, ev_rsp_bad, ev_node[rma_pkg::EV_RESPONDER*16+:16],
      ev_info[rma_pkg::EV_RESPONDER*40+:40], cnt[TARGET_GETS], responder_busy} = '0;
    assign {tr_valid[1], tr_nla[1*64+:64], tr_pd[1*16+:16], tr_write[1], tr_done[1], rd_valid[1], get_rd_hdr,
      rsp_valid[3], rsp_sop[3], rsp_eop[3], data_rsp_hdr, data_rsp_data, ev_info[rma_pkg::EV_GET*40+:40],
      ev_get_host, stray_get, tag_get, get_packet, get_busy, get_timer} = '0;
    assign cpl_ready[1] = 1'b1;
  end

  // Packets of puts and gets may come at once: one waits.
  logic [5:0] packets_q;
  assign cnt[READ_PACKETS] = packets_q != '0 || put_packet || get_packet;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) packets_q <= '0;
    else packets_q <= packets_q + {5'd0, put_packet} + {5'd0, get_packet} - {5'd0, cnt[READ_PACKETS]};
  end

  // ---------------------------------------------------------------- events
  assign {ev_node[rma_pkg::EV_PUT*16+:16], ev_node[rma_pkg::EV_GET*16+:16]} = '0;
  assign {ev_node[rma_pkg::EV_PAGE*16+:48], ev_node[rma_pkg::EV_LOST*16+:48]} = '0;
  assign ev_info[rma_pkg::EV_STRAY*40+:40] = {30'd0, stray_put ? tag_put : stray_queue ? tag_queue : stray_target
    ? tag_target : stray_atomic ? tag_atomic : stray_get ? tag_get : stray_atu ? tag_atu : cpl_in.hdr.tag};
  logic events_busy;
  rma_events i_events (
      .clk_i, .rst_ni,
      .requester_i({ev_req_unexpected, ev_req_retry, ev_req_unreach, ev_req_timeout, ev_req_prot, ev_req_bad}),
      .answer_i({ev_ans_unexpected, ev_ans_prot, ev_ans_bad}),
      .target_i({ev_target_host, ev_target_off, ev_target_prot, ev_target_bad}),
      .atomic_i({ev_atomic_host, ev_atomic_prot, ev_atomic_bad}), .responder_i({ev_rsp_off, ev_rsp_prot, ev_rsp_bad}),
      .put_i(ev_put_host), .get_i(ev_get_host), .page_i(ev_page), .doorbell_i(ev_doorbell), .queue_i(ev_queue),
      .lost_i(ev_lost), .walk_i(ev_walk), .stray_issue_i(stray_put || stray_queue),
      .stray_serve_i(stray_target || stray_atomic || stray_get), .stray_walk_i(stray_atu), .stray_none_i(stray_none),
      .node_i(ev_node), .info_i(ev_info), .event_valid_o, .event_ready_i, .event_o, .ev_pulse_o, .busy_o(events_busy)
  );

  assign busy_o = time_q[ggas_pkg::TICK_LOG2-1:0] == '0 || context_busy || atu_busy || notify_busy || arm_busy
    || front_busy || requester_busy || put_busy || answer_busy || target_busy || atomic_busy || velo_busy
    || responder_busy || get_busy || events_busy || packets_q != '0
    || page.valid || cpl_in.valid || rx_rma.valid || rx_ans.valid || tx_rma_o.valid || tx_ans_o.valid;
  assign writes_o = wr_valid[6] || notify_writes || status_writes || answer_writes || target_writes || atomic_writes
    || velo_writes;
  assign timer_o = atu_timer || front_timer || requester_timer || put_timer || target_timer || atomic_timer
    || get_timer;
endmodule

`default_nettype wire
