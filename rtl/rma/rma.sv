// SPDX-License-Identifier: Apache-2.0
// One-sided communication: RMA, ATU, notifications, atomics, VELO (docs/rma.md). Wiring of its two halves and of what
// they share:
// contexts, translation, notification rings, the ways to the host, events.
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

    // configuration: NODE, RMA_CTRL, RMA_TIMEOUT, ATU_TABLE0 ... 3, ATU_ACK, configuration space
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic                cfg_requester_i,
    input  wire logic                cfg_target_i,
    input  wire logic [1:0]          cfg_mtu_i,
    input  wire logic [15:0]         cfg_retry_ticks_i,
    input  wire logic [15:0]         cfg_retry_limit_i,
    input  wire logic [15:0]         cfg_timeout_answer_i,
    input  wire logic [15:0]         cfg_timeout_host_i,
    input  wire logic [4*40-1:0]     cfg_atu_table_i,
    input  wire logic [63:3]         cfg_atu_ack_i,
    input  wire logic [12:0]         cfg_mps_i,
    input  wire logic [12:0]         cfg_mrrs_i,
    // route
    input  wire logic [15:0]         peer_node_i,
    input  wire logic                peer_valid_i,
    input  wire logic                link_up_i,

    // ATU_INVALIDATE, ATU_STATUS
    input  wire logic                inv_start_i,
    input  wire logic                inv_all_i,
    input  wire logic                inv_range_i,
    input  wire logic [63:12]        inv_page_i,
    input  wire logic [63:12]        inv_last_i,
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

    // host: page writes, writes, reads, completions of tags 128 ... 511 (the header stands for the whole packet)
    input  wire logic                page_valid_i,
    output      logic                page_ready_o,
    input  wire logic                page_sop_i,
    input  wire logic                page_eop_i,
    input  wire ggas_pkg::tlp_hdr_t  page_hdr_i,
    input  wire logic [DATA_W-1:0]   page_data_i,
    output      logic                wr_valid_o,
    input  wire logic                wr_ready_i,
    output      logic                wr_sop_o,
    output      logic                wr_eop_o,
    output      ggas_pkg::tlp_hdr_t  wr_hdr_o,
    output      logic [DATA_W-1:0]   wr_data_o,
    input  wire logic                wr_snoop_i,        // a write of another unit was accepted
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire logic                cpl_valid_i,
    output      logic                cpl_ready_o,
    input  wire logic                cpl_sop_i,
    input  wire logic                cpl_eop_i,
    input  wire ggas_pkg::tlp_hdr_t  cpl_hdr_i,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    // network: requests on VC_RMA, their answers on VC_RSP
    output      logic                tx_rma_valid_o,
    input  wire logic                tx_rma_ready_i,
    output      logic                tx_rma_sop_o,
    output      logic                tx_rma_eop_o,
    output      ggas_pkg::rma_hdr_t  tx_rma_hdr_o,
    output      logic [DATA_W-1:0]   tx_rma_data_o,
    output      logic                tx_ans_valid_o,
    input  wire logic                tx_ans_ready_i,
    output      logic                tx_ans_sop_o,
    output      logic                tx_ans_eop_o,
    output      ggas_pkg::rma_hdr_t  tx_ans_hdr_o,
    output      logic [DATA_W-1:0]   tx_ans_data_o,
    input  wire logic                rx_rma_valid_i,
    output      logic                rx_rma_ready_o,
    input  wire logic                rx_rma_sop_i,
    input  wire logic                rx_rma_eop_i,
    input  wire ggas_pkg::rma_hdr_t  rx_rma_hdr_i,
    input  wire logic [DATA_W-1:0]   rx_rma_data_i,
    input  wire logic                rx_ans_valid_i,
    output      logic                rx_ans_ready_o,
    input  wire logic                rx_ans_sop_i,
    input  wire logic                rx_ans_eop_i,
    input  wire ggas_pkg::rma_hdr_t  rx_ans_hdr_i,
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
  localparam int unsigned TLP_W = ggas_pkg::TLP_HDR_W;

  // ---------------------------------------------------------------- counters, in the order of the registers
  localparam int unsigned DESCRIPTORS = 0, TX_PACKETS = 1, READ_PACKETS = 2, RETRIES = 3, TARGET_PUTS = 4,
    TARGET_GETS = 5,
    TARGET_ATOMICS = 6, GET_PACKETS = 7, ACKS = 8, NOTIFICATIONS = 9, NOTIFY_FULL = 10, STATUS_WRITES = 11,
      QUEUE_READS = 12,
    HITS = 13, MISSES = 14, MESSAGES = 15, MAILBOX_FULL = 16;
  logic [16:0] cnt;
  assign cnt_o = cnt;

  // ---------------------------------------------------------------- register stages at the border
  // A unit that is not clocked costs nothing only if it hangs on nothing that is.
  localparam int unsigned HOST_W = 2 + TLP_W + DATA_W, NET_W = 2 + ggas_pkg::NET_HDR_W + DATA_W;
  logic page_valid, page_ready, page_sop, page_eop, cpl_in_valid, cpl_in_ready, cpl_sop, cpl_eop, rx_rma_valid,
    rx_rma_ready,
    rx_rma_sop, rx_rma_eop, rx_ans_valid, rx_ans_ready, rx_ans_sop, rx_ans_eop, tx_rma_valid, tx_rma_ready, tx_rma_sop,
    tx_rma_eop, tx_ans_valid, tx_ans_ready, tx_ans_sop, tx_ans_eop;
  ggas_pkg::tlp_hdr_t page_hdr, cpl_hdr;
  ggas_pkg::rma_hdr_t rx_rma_hdr, rx_ans_hdr, tx_rma_hdr, tx_ans_hdr;
  logic [DATA_W-1:0]  page_data, cpl_data, rx_rma_data, rx_ans_data, tx_rma_data, tx_ans_data;
  stage #(.WIDTH(HOST_W)) i_page (
      .clk_i, .rst_ni, .in_valid_i(page_valid_i), .in_ready_o(page_ready_o),
      .in_data_i({page_sop_i, page_eop_i, page_hdr_i, page_data_i}), .out_valid_o(page_valid), .out_ready_i(page_ready),
      .out_data_o({page_sop, page_eop, page_hdr, page_data})
  );
  stage #(.WIDTH(HOST_W)) i_cpl (
      .clk_i, .rst_ni, .in_valid_i(cpl_valid_i), .in_ready_o(cpl_ready_o),
      .in_data_i({cpl_sop_i, cpl_eop_i, cpl_hdr_i, cpl_data_i}), .out_valid_o(cpl_in_valid), .out_ready_i(cpl_in_ready),
      .out_data_o({cpl_sop, cpl_eop, cpl_hdr, cpl_data})
  );
  stage #(.WIDTH(NET_W)) i_rx_rma (
      .clk_i, .rst_ni, .in_valid_i(rx_rma_valid_i), .in_ready_o(rx_rma_ready_o),
      .in_data_i({rx_rma_sop_i, rx_rma_eop_i, rx_rma_hdr_i, rx_rma_data_i}), .out_valid_o(rx_rma_valid),
      .out_ready_i(rx_rma_ready), .out_data_o({rx_rma_sop, rx_rma_eop, rx_rma_hdr, rx_rma_data})
  );
  stage #(.WIDTH(NET_W)) i_rx_ans (
      .clk_i, .rst_ni, .in_valid_i(rx_ans_valid_i), .in_ready_o(rx_ans_ready_o),
      .in_data_i({rx_ans_sop_i, rx_ans_eop_i, rx_ans_hdr_i, rx_ans_data_i}), .out_valid_o(rx_ans_valid),
      .out_ready_i(rx_ans_ready), .out_data_o({rx_ans_sop, rx_ans_eop, rx_ans_hdr, rx_ans_data})
  );
  stage #(.WIDTH(NET_W)) i_tx_rma (
      .clk_i, .rst_ni, .in_valid_i(tx_rma_valid), .in_ready_o(tx_rma_ready),
      .in_data_i({tx_rma_sop, tx_rma_eop, tx_rma_hdr, tx_rma_data}), .out_valid_o(tx_rma_valid_o),
      .out_ready_i(tx_rma_ready_i), .out_data_o({tx_rma_sop_o, tx_rma_eop_o, tx_rma_hdr_o, tx_rma_data_o})
  );
  stage #(.WIDTH(NET_W)) i_tx_ans (
      .clk_i, .rst_ni, .in_valid_i(tx_ans_valid), .in_ready_o(tx_ans_ready),
      .in_data_i({tx_ans_sop, tx_ans_eop, tx_ans_hdr, tx_ans_data}), .out_valid_o(tx_ans_valid_o),
      .out_ready_i(tx_ans_ready_i), .out_data_o({tx_ans_sop_o, tx_ans_eop_o, tx_ans_hdr_o, tx_ans_data_o})
  );

  // Configuration, route and time: as the units see them, a cycle late.
  typedef struct packed {
    logic         stop;
    logic [15:0]  node;
    logic         requester;
    logic         target;
    logic [1:0]   mtu;
    logic [15:0]  retry_ticks;
    logic [15:0]  retry_limit;
    logic [15:0]  timeout_answer;
    logic [15:0]  timeout_host;
    logic [159:0] atu_table;
    logic [63:3]  atu_ack;
    logic [12:0]  mps;
    logic [12:0]  mrrs;
    logic [15:0]  peer_node;
    logic         peer_valid;
    logic         link_up;
  } config_t;
  config_t     cfg_q;
  logic [63:0] time_q;
  always_ff @(posedge clk_i) begin
    cfg_q <= {stop_i, cfg_node_i, cfg_requester_i && !stop_i, cfg_target_i
      && !stop_i, cfg_mtu_i, cfg_retry_ticks_i, cfg_retry_limit_i, cfg_timeout_answer_i,
              cfg_timeout_host_i, cfg_atu_table_i, cfg_atu_ack_i, cfg_mps_i, cfg_mrrs_i, peer_node_i, peer_valid_i,
                link_up_i};
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) time_q <= 64'd1;  // no tick
    else time_q <= time_i;
  end

  // ---------------------------------------------------------------- contexts
  logic        cfg_we, context_busy, issue_look, serve_look, note_look, arm_look, page_look;
  logic [7:0]  cfg_vpid, look_vpid;
  logic [2:0]  cfg_word;
  logic [63:0] cfg_data;
  rma_context i_context (
      .clk_i, .rst_ni, .ext_req_i, .ext_write_i, .ext_addr_i, .ext_wdata_i, .ext_wstrb_i, .ext_rdata_o,
      .cfg_we_o(cfg_we), .cfg_vpid_o(cfg_vpid), .cfg_word_o(cfg_word), .cfg_data_o(cfg_data),
      .look_vpid_o(look_vpid), .look_busy_i(issue_look || serve_look || note_look || arm_look || page_look),
      .busy_o(context_busy)
  );

  // The page write at the end of the register stage, if that holds two.
  logic [7:0] page_vpid_q;
  always_ff @(posedge clk_i) if (page_valid_i && page_ready_o && page_sop_i) page_vpid_q <= page_hdr_i.addr[20:13];
  assign page_look = !page_ready_o && page_vpid_q == look_vpid;

  // ---------------------------------------------------------------- translation: 0 puts, 1 gets, 2 target, 3 answers,
  // 4 atomics
  logic [4:0]   tr_valid, tr_ready, tr_write, tr_rsp_valid, tr_done, unused_shift;
  logic [319:0] tr_nla;
  logic [79:0]  tr_pd;
  logic [63:0]  tr_rsp_addr;
  logic [3:0]   tr_rsp_status;
  logic         atu_rd_valid, atu_rd_ready, ev_walk, stray_atu, atu_busy, atu_timer;
  ggas_pkg::tlp_hdr_t atu_rd_hdr, atu_wr_hdr;
  logic [DATA_W-1:0]  atu_wr_data;
  logic [3:0] wr_valid, wr_ready, wr_sop, wr_eop;  // to the host: 0 issue, 1 serve, 2 notifications, 3 translation
  assign wr_sop[3] = 1'b1;
  assign wr_eop[3] = 1'b1;
  logic [39:0]  walk_info;
  logic [9:0]   tag_atu;

  // Completions by tag; 0 puts, 1 gets, 2 target, 3 atomics, 4 translation, 5 work queues, 6 nobody.
  logic [6:0] cpl_to, cpl_valid, cpl_ready;
  logic [9:0] tag;
  assign tag = cpl_hdr.tag;
  always_comb begin
    cpl_to = '0;
    if (tag[9:8] != 2'd0) begin
      if (DATA_W == 64) cpl_to[6] = 1'b1;
      else cpl_to[{2'd0, tag[7]}] = 1'b1;
    end else if (tag[7:5] == 3'b100) cpl_to[0] = 1'b1;
    else if (tag[7:5] == 3'b101) cpl_to[1] = 1'b1;
    else if (tag[7:3] == 5'b11000) cpl_to[3] = 1'b1;
    else if (tag[7:3] == 5'b11001) cpl_to[2] = 1'b1;
    else if (tag[7:3] == 5'b11010) cpl_to[4] = 1'b1;
    else if (tag[7:4] == 4'b1110) cpl_to[5] = 1'b1;
    else cpl_to[6] = 1'b1;
  end
  assign cpl_valid    = cpl_in_valid ? cpl_to : '0;
  assign cpl_ready[6] = 1'b1;
  assign cpl_in_ready = (cpl_to & cpl_ready) != '0;

  atu #(.DATA_W(DATA_W)) i_atu (
      .clk_i, .rst_ni, .time_i(time_q), .cfg_timeout_i(cfg_q.timeout_host), .cfg_table_i(cfg_q.atu_table),
      .cfg_ack_i(cfg_q.atu_ack), .stop_i(cfg_q.stop), .ext_req_i(ext_piece_i), .ext_write_i,
      .ext_index_i(ext_addr_i[10:3]),
      .ext_wdata_i, .ext_wstrb_i, .ext_rdata_o(ext_piece_rdata_o),
      .inv_start_i, .inv_all_i, .inv_range_i, .inv_page_i, .inv_last_i, .inv_done_o, .inv_busy_o,
      .tr_valid_i(tr_valid), .tr_ready_o(tr_ready), .tr_nla_i(tr_nla), .tr_pd_i(tr_pd), .tr_write_i(tr_write),
      .tr_rsp_valid_o(tr_rsp_valid), .tr_rsp_addr_o(tr_rsp_addr), .tr_rsp_shift_o(unused_shift),
      .tr_rsp_status_o(tr_rsp_status),
      .tr_done_i(tr_done),
      .rd_valid_o(atu_rd_valid), .rd_ready_i(atu_rd_ready), .rd_hdr_o(atu_rd_hdr),
      .cpl_valid_i(cpl_valid[4]), .cpl_ready_o(cpl_ready[4]), .cpl_sop_i(cpl_sop), .cpl_eop_i(cpl_eop),
      .cpl_hdr_i(cpl_hdr),
      .cpl_data_i(cpl_data), .wr_valid_o(wr_valid[3]), .wr_ready_i(wr_ready[3]), .wr_hdr_o(atu_wr_hdr),
      .wr_data_o(atu_wr_data),
      .ev_walk_o(ev_walk), .ev_info_o(walk_info), .ev_unexpected_o(stray_atu), .ev_tag_o(tag_atu),
      .cnt_hits_o(cnt[HITS]), .cnt_misses_o(cnt[MISSES]), .busy_o(atu_busy), .timer_o(atu_timer)
  );

  // ---------------------------------------------------------------- ways to the host: whole packets in turn
  // verilator lint_off UNUSEDSIGNAL
  ggas_pkg::tlp_hdr_t wr_hdr, rd_hdr;
  // verilator lint_on UNUSEDSIGNAL
  ggas_pkg::tlp_hdr_t issue_wr_hdr, serve_wr_hdr, note_wr_hdr;
  logic [DATA_W-1:0]  issue_wr_data, serve_wr_data, note_wr_data;
  stream_mux #(.N(4), .HDR_W(TLP_W), .DATA_W(DATA_W)) i_wr (
      .clk_i, .rst_ni, .in_valid_i(wr_valid), .in_ready_o(wr_ready), .in_sop_i(wr_sop), .in_eop_i(wr_eop),
      .in_hdr_i({atu_wr_hdr, note_wr_hdr, serve_wr_hdr, issue_wr_hdr}),
      .in_data_i({atu_wr_data, note_wr_data, serve_wr_data, issue_wr_data}),
      .out_valid_o(wr_valid_o), .out_ready_i(wr_ready_i), .out_sop_o(wr_sop_o), .out_eop_o(wr_eop_o),
      .out_hdr_o(wr_hdr), .out_data_o(wr_data_o)
  );
  logic issue_rd_valid, issue_rd_ready, serve_rd_valid, serve_rd_ready, unused_rd_sop, unused_rd_eop, unused_rd_data;
  ggas_pkg::tlp_hdr_t issue_rd_hdr, serve_rd_hdr;
  stream_mux #(.N(3), .HDR_W(TLP_W), .DATA_W(1)) i_rd (
      .clk_i, .rst_ni, .in_valid_i({atu_rd_valid, serve_rd_valid, issue_rd_valid}),
      .in_ready_o({atu_rd_ready, serve_rd_ready, issue_rd_ready}), .in_sop_i('1), .in_eop_i('1),
      .in_hdr_i({atu_rd_hdr, serve_rd_hdr, issue_rd_hdr}), .in_data_i('0),
      .out_valid_o(rd_valid_o), .out_ready_i(rd_ready_i), .out_sop_o(unused_rd_sop), .out_eop_o(unused_rd_eop),
      .out_hdr_o(rd_hdr), .out_data_o(unused_rd_data)
  );
  // All that their headers may differ in.
  always_comb begin
    wr_hdr_o          = '0;
    wr_hdr_o.kind     = ggas_pkg::TLP_MWR;
    wr_hdr_o.bar      = 3'd7;
    wr_hdr_o.addr     = wr_hdr.addr;
    wr_hdr_o.len_dw   = wr_hdr.len_dw;
    wr_hdr_o.first_be = wr_hdr.first_be;
    wr_hdr_o.last_be  = wr_hdr.last_be;
    rd_hdr_o          = '0;
    rd_hdr_o.kind     = ggas_pkg::TLP_MRD;
    rd_hdr_o.bar      = 3'd7;
    rd_hdr_o.addr     = rd_hdr.addr;
    rd_hdr_o.len_dw   = rd_hdr.len_dw;
    rd_hdr_o.first_be = rd_hdr.first_be;
    rd_hdr_o.last_be  = rd_hdr.last_be;
    rd_hdr_o.tag      = rd_hdr.tag;
  end

  // ---------------------------------------------------------------- notification rings: 0 requester, 1 target, 2
  // responder
  logic        db_valid, db_arm, db_arm_ready, ev_lost, notify_busy, notify_writes, issue_writes, serve_writes;
  logic [1:0]  db_kind;
  logic [7:0]  db_vpid;
  logic [31:0] db_count;
  logic [2:0]  nt_valid, nt_ready, nt_rsp_valid;
  logic        nt_drop;
  logic [23:0] nt_vpid;
  logic [31:0] nt_pd;  // target, responder: their context must be of this domain
  logic [191:0] nt_w0, nt_w1;
  logic [3:0]  nt_rsp_status;
  logic [1:0]  tell_valid, tell_ready;  // 0 notifications, 1 messages
  logic [15:0] tell_vpid;
  logic [63:0] tell_count;
  logic        arm_busy;
  logic [39:0] lost_info;
  rma_notify #(.DATA_W(DATA_W)) i_notify (
      .clk_i, .rst_ni, .stop_i(cfg_q.stop), .writes_o(notify_writes), .look_vpid_i(look_vpid), .look_busy_o(note_look),
      .cfg_we_i(cfg_we), .cfg_vpid_i(cfg_vpid), .cfg_word_i(cfg_word), .cfg_data_i(cfg_data),
      .db_valid_i(db_valid), .db_kind_i(db_kind), .db_vpid_i(db_vpid), .db_count_i(db_count),
      .nt_valid_i(nt_valid), .nt_ready_o(nt_ready), .nt_vpid_i(nt_vpid), .nt_check_pd_i(3'b110),
      .nt_pd_i({nt_pd, 16'd0}),
      .nt_drop_i({1'b1, 1'b0, nt_drop}), .nt_w0_i(nt_w0), .nt_w1_i(nt_w1), .nt_rsp_valid_o(nt_rsp_valid),
      .nt_rsp_status_o(nt_rsp_status),
      .wr_valid_o(wr_valid[2]), .wr_ready_i(wr_ready[2]), .wr_sop_o(wr_sop[2]), .wr_eop_o(wr_eop[2]),
      .wr_hdr_o(note_wr_hdr),
      .wr_data_o(note_wr_data), .tell_valid_o(tell_valid[0]), .tell_ready_i(tell_ready[0]),
      .tell_vpid_o(tell_vpid[7:0]), .tell_count_o(tell_count[31:0]), .ev_lost_o(ev_lost), .ev_info_o(lost_info),
      .cnt_notifications_o(cnt[NOTIFICATIONS]), .cnt_full_o(cnt[NOTIFY_FULL]), .busy_o(notify_busy)
  );

  rma_arm i_arm (
      .clk_i, .rst_ni, .cfg_we_i(cfg_we), .cfg_vpid_i(cfg_vpid), .cfg_word_i(cfg_word), .cfg_data_i(cfg_data),
      .arm_valid_i(db_arm), .arm_ready_o(db_arm_ready), .arm_ring_i(db_kind[1]), .arm_vpid_i(db_vpid),
      .arm_count_i(db_count),
      .rec_valid_i(tell_valid), .rec_ready_o(tell_ready), .rec_vpid_i(tell_vpid), .rec_count_i(tell_count),
      .fire_valid_o, .fire_ready_i, .fire_vpid_o, .fire_vector_o, .fire_list_o,
      .look_vpid_i(look_vpid), .look_busy_o(arm_look), .busy_o(arm_busy)
  );

  // ---------------------------------------------------------------- the two halves
  logic issue_busy, issue_timer, serve_busy, serve_timer, data_write, put_packet, get_packet, stray_issue, stray_serve;
  logic [9:0]   tag_issue, tag_serve;
  logic [47:0]  issue_code;
  logic [95:0]  issue_node;
  logic [239:0] issue_info;
  logic [31:0]  serve_code;
  logic [63:0]  serve_node;
  logic [159:0] serve_info;

  rma_issue #(.DATA_W(DATA_W)) i_issue (
      .clk_i, .rst_ni, .stop_i(cfg_q.stop), .writes_o(issue_writes), .time_i(time_q), .busy_o(issue_busy),
      .timer_o(issue_timer), .cfg_requester_i(cfg_q.requester), .cfg_node_i(cfg_q.node),
      .cfg_mtu_i(cfg_q.mtu), .cfg_retry_ticks_i(cfg_q.retry_ticks), .cfg_retry_limit_i(cfg_q.retry_limit),
      .cfg_answer_i(cfg_q.timeout_answer), .cfg_timeout_i(cfg_q.timeout_host), .cfg_mps_i(cfg_q.mps),
      .cfg_mrrs_i(cfg_q.mrrs),
      .peer_node_i(cfg_q.peer_node), .peer_valid_i(cfg_q.peer_valid), .link_up_i(cfg_q.link_up),
      .cfg_we_i(cfg_we), .cfg_vpid_i(cfg_vpid), .cfg_word_i(cfg_word), .cfg_data_i(cfg_data), .look_vpid_i(look_vpid),
      .look_busy_o(issue_look),
      .page_valid_i(page_valid), .page_ready_o(page_ready), .page_sop_i(page_sop), .page_eop_i(page_eop),
      .page_hdr_i(page_hdr),
      .page_data_i(page_data),
      .db_valid_o(db_valid), .db_kind_o(db_kind), .db_arm_o(db_arm), .db_arm_ready_i(db_arm_ready),
      .db_vpid_o(db_vpid), .db_count_o(db_count),
      .tx_valid_o(tx_rma_valid), .tx_ready_i(tx_rma_ready), .tx_sop_o(tx_rma_sop), .tx_eop_o(tx_rma_eop),
      .tx_hdr_o(tx_rma_hdr), .tx_data_o(tx_rma_data),
      .rx_valid_i(rx_ans_valid), .rx_ready_o(rx_ans_ready), .rx_sop_i(rx_ans_sop), .rx_eop_i(rx_ans_eop),
      .rx_hdr_i(rx_ans_hdr), .rx_data_i(rx_ans_data),
      .tr_valid_o({tr_valid[3], tr_valid[0]}), .tr_ready_i({tr_ready[3], tr_ready[0]}),
      .tr_nla_o({tr_nla[3*64+:64], tr_nla[0+:64]}), .tr_pd_o({tr_pd[3*16+:16], tr_pd[0+:16]}),
      .tr_write_o({tr_write[3], tr_write[0]}), .tr_rsp_valid_i({tr_rsp_valid[3], tr_rsp_valid[0]}),
      .tr_rsp_addr_i(tr_rsp_addr), .tr_rsp_status_i(tr_rsp_status), .tr_done_o({tr_done[3], tr_done[0]}),
      .nt_valid_o(nt_valid[0]), .nt_ready_i(nt_ready[0]), .nt_vpid_o(nt_vpid[0+:8]), .nt_drop_o(nt_drop),
      .nt_w0_o(nt_w0[0+:64]),
      .nt_w1_o(nt_w1[0+:64]), .nt_rsp_valid_i(nt_rsp_valid[0]), .nt_rsp_status_i(nt_rsp_status),
      .wr_valid_o(wr_valid[0]), .wr_ready_i(wr_ready[0]), .wr_sop_o(wr_sop[0]), .wr_eop_o(wr_eop[0]),
      .wr_hdr_o(issue_wr_hdr),
      .wr_data_o(issue_wr_data), .data_write_o(data_write),
      .rd_valid_o(issue_rd_valid), .rd_ready_i(issue_rd_ready), .rd_hdr_o(issue_rd_hdr),
      .cpl_valid_i({cpl_valid[5], cpl_valid[0]}), .cpl_ready_o({cpl_ready[5], cpl_ready[0]}), .cpl_sop_i(cpl_sop),
      .cpl_eop_i(cpl_eop),
      .cpl_hdr_i(cpl_hdr), .cpl_data_i(cpl_data),
      .ev_code_o(issue_code), .ev_node_o(issue_node), .ev_info_o(issue_info), .ev_unexpected_o(stray_issue),
      .ev_tag_o(tag_issue),
      .cnt_descriptors_o(cnt[DESCRIPTORS]), .cnt_tx_packets_o(cnt[TX_PACKETS]), .cnt_packets_o(put_packet),
      .cnt_retries_o(cnt[RETRIES]), .cnt_acks_o(cnt[ACKS]), .cnt_get_packets_o(cnt[GET_PACKETS]),
      .cnt_status_o(cnt[STATUS_WRITES]), .cnt_queue_reads_o(cnt[QUEUE_READS])
  );

  rma_serve #(.DATA_W(DATA_W)) i_serve (
      .clk_i, .rst_ni, .stop_i(cfg_q.stop), .writes_o(serve_writes), .look_vpid_i(look_vpid), .look_busy_o(serve_look),
      .time_i(time_q), .busy_o(serve_busy), .timer_o(serve_timer), .cfg_target_i(cfg_q.target),
      .cfg_node_i(cfg_q.node), .cfg_mtu_i(cfg_q.mtu), .cfg_mps_i(cfg_q.mps), .cfg_mrrs_i(cfg_q.mrrs),
      .cfg_timeout_i(cfg_q.timeout_host),
      .cfg_we_i(cfg_we), .cfg_vpid_i(cfg_vpid), .cfg_word_i(cfg_word), .cfg_data_i(cfg_data),
      .db_valid_i(db_valid), .db_kind_i(db_kind), .db_vpid_i(db_vpid), .db_count_i(db_count),
      .rx_valid_i(rx_rma_valid), .rx_ready_o(rx_rma_ready), .rx_sop_i(rx_rma_sop), .rx_eop_i(rx_rma_eop),
      .rx_hdr_i(rx_rma_hdr), .rx_data_i(rx_rma_data),
      .tx_valid_o(tx_ans_valid), .tx_ready_i(tx_ans_ready), .tx_sop_o(tx_ans_sop), .tx_eop_o(tx_ans_eop),
      .tx_hdr_o(tx_ans_hdr), .tx_data_o(tx_ans_data),
      .tr_valid_o({tr_valid[4], tr_valid[2:1]}), .tr_ready_i({tr_ready[4], tr_ready[2:1]}),
      .tr_nla_o({tr_nla[4*64+:64], tr_nla[1*64+:128]}), .tr_pd_o({tr_pd[4*16+:16], tr_pd[1*16+:32]}),
      .tr_write_o({tr_write[4], tr_write[2:1]}), .tr_rsp_valid_i({tr_rsp_valid[4], tr_rsp_valid[2:1]}),
      .tr_rsp_addr_i(tr_rsp_addr), .tr_rsp_status_i(tr_rsp_status), .tr_done_o({tr_done[4], tr_done[2:1]}),
      .nt_valid_o(nt_valid[2:1]), .nt_ready_i(nt_ready[2:1]), .nt_vpid_o(nt_vpid[8+:16]), .nt_pd_o(nt_pd),
      .nt_w0_o(nt_w0[64+:128]),
      .nt_w1_o(nt_w1[64+:128]), .nt_rsp_valid_i(nt_rsp_valid[2:1]), .nt_rsp_status_i(nt_rsp_status),
      .wr_valid_o(wr_valid[1]), .wr_ready_i(wr_ready[1]), .wr_sop_o(wr_sop[1]), .wr_eop_o(wr_eop[1]),
      .wr_hdr_o(serve_wr_hdr),
      .wr_data_o(serve_wr_data), .wr_snoop_i(wr_snoop_i || data_write),
      .rd_valid_o(serve_rd_valid), .rd_ready_i(serve_rd_ready), .rd_hdr_o(serve_rd_hdr),
      .cpl_valid_i(cpl_valid[3:1]), .cpl_ready_o(cpl_ready[3:1]), .cpl_sop_i(cpl_sop), .cpl_eop_i(cpl_eop),
      .cpl_hdr_i(cpl_hdr),
      .cpl_data_i(cpl_data),
      .tell_valid_o(tell_valid[1]), .tell_ready_i(tell_ready[1]), .tell_vpid_o(tell_vpid[15:8]),
      .tell_count_o(tell_count[63:32]), .ev_code_o(serve_code), .ev_node_o(serve_node), .ev_info_o(serve_info),
      .ev_unexpected_o(stray_serve), .ev_tag_o(tag_serve), .cnt_puts_o(cnt[TARGET_PUTS]), .cnt_gets_o(cnt[TARGET_GETS]),
      .cnt_atomics_o(cnt[TARGET_ATOMICS]), .cnt_packets_o(get_packet), .cnt_messages_o(cnt[MESSAGES]),
      .cnt_full_o(cnt[MAILBOX_FULL])
  );

  // Packets of puts and gets may come at once: one waits.
  logic [5:0] packets_q;
  assign cnt[READ_PACKETS] = packets_q != '0 || put_packet || get_packet;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) packets_q <= '0;
    else packets_q <= packets_q + {5'd0, put_packet} + {5'd0, get_packet} - {5'd0, cnt[READ_PACKETS]};
  end

  // ---------------------------------------------------------------- events
  function automatic ggas_regs_pkg::event_set_t pulse(input logic [7:0] code);
    pulse = '0;
    if (code != '0) pulse[code[5:0]] = 1'b1;
  endfunction

  logic [7:0] code_lost, code_walk, code_stray_issue, code_stray_serve, code_stray_atu, code_stray;
  logic       stray;
  assign stray            = cpl_valid[6] && cpl_eop;
  assign code_lost        = ev_lost ? ggas_regs_pkg::EV_NOTIFY_LOST : '0;
  assign code_walk        = ev_walk ? ggas_regs_pkg::EV_ATU_WALK : '0;
  assign code_stray_issue = stray_issue ? ggas_regs_pkg::EV_UNEXPECTED_CPL : '0;
  assign code_stray_serve = stray_serve ? ggas_regs_pkg::EV_UNEXPECTED_CPL : '0;
  assign code_stray_atu   = stray_atu ? ggas_regs_pkg::EV_UNEXPECTED_CPL : '0;
  assign code_stray       = stray ? ggas_regs_pkg::EV_UNEXPECTED_CPL : '0;

  // Units in one vector never share a code.
  assign ev_pulse_o = {
    pulse(issue_code[32+:8]) | pulse(issue_code[40+:8]) | pulse(serve_code[24+:8]) | pulse(code_stray),
    pulse(serve_code[8+:8]),
    pulse(serve_code[0+:8]) | pulse(code_stray_atu),
    pulse(issue_code[16+:8]) | pulse(serve_code[16+:8]) | pulse(code_stray_serve),
    pulse(issue_code[0+:8]) | pulse(issue_code[8+:8]) | pulse(issue_code[24+:8]) | pulse(code_lost) | pulse(code_walk)
      | pulse(code_stray_issue)
  };

  logic [9:0] stray_tag;
  logic [7:0] code_any_stray;
  assign stray_tag      = stray_issue ? tag_issue : stray_serve ? tag_serve : stray_atu ? tag_atu : tag;
  assign code_any_stray = code_stray_issue | code_stray_serve | code_stray_atu | code_stray;
  logic events_busy;
  rma_events #(.SOURCES(13)) i_events (
      .clk_i, .rst_ni, .code_i({code_any_stray, code_walk, code_lost, serve_code, issue_code}),
      .node_i({16'd0, 16'd0, 16'd0, serve_node, issue_node}),
      .info_i({{30'd0, stray_tag}, walk_info, lost_info, serve_info, issue_info}),
      .event_valid_o, .event_ready_i, .event_o, .busy_o(events_busy)
  );

  assign busy_o  = time_q[ggas_pkg::TICK_LOG2-1:0] == '0 || context_busy || atu_busy || notify_busy || arm_busy
    || issue_busy || serve_busy || events_busy || packets_q != '0
    || page_valid || cpl_in_valid || rx_rma_valid || rx_ans_valid || tx_rma_valid_o || tx_ans_valid_o;
  assign writes_o = wr_valid[3] || notify_writes || issue_writes || serve_writes;
  assign timer_o = atu_timer || issue_timer || serve_timer;
endmodule

`default_nettype wire
