// SPDX-License-Identifier: Apache-2.0
// The issuing half of the RMA: wiring of everything that works for the contexts of this NIC. Descriptors from pages and
// work
// queues become packets on VC_RMA; answers come back; status blocks are written.
`default_nettype none

module rma_issue #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                stop_i,            // the NIC is stopped: nothing is written
    output      logic                writes_o,          // something is on its way to the host
    input  wire logic [63:0]         time_i,
    output      logic                busy_o,
    output      logic                timer_o,

    input  wire logic                cfg_requester_i,   // RMA_CTRL.requester
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [1:0]          cfg_mtu_i,         // RMA_CTRL.mtu
    input  wire logic [15:0]         cfg_retry_ticks_i, // RMA_CTRL.retry_ticks
    input  wire logic [15:0]         cfg_retry_limit_i, // RMA_CTRL.retry_limit
    input  wire logic [15:0]         cfg_answer_i,      // RMA_TIMEOUT.answer
    input  wire logic [15:0]         cfg_timeout_i,     // RMA_TIMEOUT.host
    input  wire logic [12:0]         cfg_mps_i,
    input  wire logic [12:0]         cfg_mrrs_i,
    input  wire logic [15:0]         peer_node_i,
    input  wire logic                peer_valid_i,
    input  wire logic                link_up_i,

    // writes of CONTEXT[]; is anything of a context under way?
    input  wire logic                cfg_we_i,
    input  wire logic [7:0]          cfg_vpid_i,
    input  wire logic [2:0]          cfg_word_i,
    input  wire logic [63:0]         cfg_data_i,
    input  wire logic [7:0]          look_vpid_i,
    output      logic                look_busy_o,

    // writes to context pages; doorbells that they hold
    input  wire logic                page_valid_i,
    output      logic                page_ready_o,
    input  wire logic                page_sop_i,
    input  wire logic                page_eop_i,
    input  wire ggas_pkg::tlp_hdr_t  page_hdr_i,
    input  wire logic [DATA_W-1:0]   page_data_i,
    output      logic                db_valid_o,
    output      logic [1:0]          db_kind_o,
    output      logic                db_arm_o,            // kinds 1 and 2: and arm
    input  wire logic                db_arm_ready_i,
    output      logic [7:0]          db_vpid_o,
    output      logic [31:0]         db_count_o,

    // packets and their answers
    output      logic                tx_valid_o,
    input  wire logic                tx_ready_i,
    output      logic                tx_sop_o,
    output      logic                tx_eop_o,
    output      ggas_pkg::rma_hdr_t  tx_hdr_o,
    output      logic [DATA_W-1:0]   tx_data_o,
    input  wire logic                rx_valid_i,
    output      logic                rx_ready_o,
    input  wire logic                rx_sop_i,
    input  wire logic                rx_eop_i,
    input  wire ggas_pkg::rma_hdr_t  rx_hdr_i,
    input  wire logic [DATA_W-1:0]   rx_data_i,

    // translation; bit or slice 0 puts, 1 answers
    output      logic [1:0]          tr_valid_o,
    input  wire logic [1:0]          tr_ready_i,
    output      logic [2*64-1:0]     tr_nla_o,
    output      logic [2*16-1:0]     tr_pd_o,
    output      logic [1:0]          tr_write_o,
    input  wire logic [1:0]          tr_rsp_valid_i,
    input  wire logic [63:0]         tr_rsp_addr_i,
    input  wire logic [3:0]          tr_rsp_status_i,
    output      logic [1:0]          tr_done_o,

    // notifications
    output      logic                nt_valid_o,
    input  wire logic                nt_ready_i,
    output      logic [7:0]          nt_vpid_o,
    output      logic                nt_drop_o,
    output      logic [63:0]         nt_w0_o,
    output      ggas_pkg::note_w1_t  nt_w1_o,
    input  wire logic                nt_rsp_valid_i,
    input  wire logic [3:0]          nt_rsp_status_i,

    // host
    output      logic                wr_valid_o,
    input  wire logic                wr_ready_i,
    output      logic                wr_sop_o,
    output      logic                wr_eop_o,
    output      ggas_pkg::tlp_hdr_t  wr_hdr_o,
    output      logic [DATA_W-1:0]   wr_data_o,
    output      logic                data_write_o,      // a write of an answer was accepted
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire logic [1:0]          cpl_valid_i,       // one at a time: 0 puts, 1 work queues
    output      logic [1:0]          cpl_ready_o,
    input  wire logic                cpl_sop_i,
    input  wire logic                cpl_eop_i,
    input  wire ggas_pkg::tlp_hdr_t  cpl_hdr_i,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    // events: 0 requester, 1 puts, 2 answers, 3 pages, 4 doorbells, 5 work queues; a code of 0 is none
    output      logic [6*8-1:0]      ev_code_o,
    output      logic [6*16-1:0]     ev_node_o,
    output      logic [6*40-1:0]     ev_info_o,
    output      logic                ev_unexpected_o,   // UNEXPECTED_CPL
    output      logic [9:0]          ev_tag_o,
    output      logic                cnt_descriptors_o,
    output      logic                cnt_tx_packets_o,
    output      logic                cnt_packets_o,     // of puts
    output      logic                cnt_retries_o,
    output      logic                cnt_acks_o,
    output      logic                cnt_get_packets_o,
    output      logic                cnt_status_o,
    output      logic                cnt_queue_reads_o
);
  localparam int unsigned TAG_BASE = (DATA_W == 64) ? ggas_pkg::TAG_FETCH_PUT : ggas_pkg::TAG_WIDE_PUT;
  localparam int unsigned TAGS     = (DATA_W == 64) ? 32 : 128;
  localparam int unsigned TLP_W    = ggas_pkg::TLP_HDR_W;
  localparam int unsigned NET_W    = ggas_pkg::NET_HDR_W;

  // ---------------------------------------------------------------- packets, host writes, host reads: whole packets in
  // turn
  logic [1:0] tx_valid, tx_ready, tx_sop, tx_eop;  // 0 requester, 1 puts
  ggas_pkg::rma_hdr_t req_tx_hdr, put_tx_hdr;
  logic [DATA_W-1:0]  req_tx_data, put_tx_data;
  stream_mux #(.N(2), .HDR_W(NET_W), .DATA_W(DATA_W)) i_tx (
      .clk_i, .rst_ni, .in_valid_i(tx_valid), .in_ready_o(tx_ready), .in_sop_i(tx_sop), .in_eop_i(tx_eop),
      .in_hdr_i({put_tx_hdr, req_tx_hdr}), .in_data_i({put_tx_data, req_tx_data}),
      .out_valid_o(tx_valid_o), .out_ready_i(tx_ready_i), .out_sop_o(tx_sop_o), .out_eop_o(tx_eop_o),
      .out_hdr_o(tx_hdr_o),
      .out_data_o(tx_data_o)
  );
  assign cnt_tx_packets_o = tx_valid_o && tx_ready_i && tx_eop_o;

  logic [1:0] wr_valid, wr_ready, wr_sop, wr_eop;  // 0 answers, 1 status blocks
  ggas_pkg::tlp_hdr_t answer_wr_hdr, status_wr_hdr;
  logic [DATA_W-1:0]  answer_wr_data, status_wr_data;
  stream_mux #(.N(2), .HDR_W(TLP_W), .DATA_W(DATA_W)) i_wr (
      .clk_i, .rst_ni, .in_valid_i(wr_valid), .in_ready_o(wr_ready), .in_sop_i(wr_sop), .in_eop_i(wr_eop),
      .in_hdr_i({status_wr_hdr, answer_wr_hdr}), .in_data_i({status_wr_data, answer_wr_data}),
      .out_valid_o(wr_valid_o), .out_ready_i(wr_ready_i), .out_sop_o(wr_sop_o), .out_eop_o(wr_eop_o),
      .out_hdr_o(wr_hdr_o),
      .out_data_o(wr_data_o)
  );

  assign data_write_o = wr_valid[0] && wr_ready[0];

  logic [1:0] rd_valid, rd_ready;  // 0 puts, 1 work queues
  ggas_pkg::tlp_hdr_t put_rd_hdr, queue_rd_hdr;
  logic unused_rd_sop, unused_rd_eop, unused_rd_data;
  stream_mux #(.N(2), .HDR_W(TLP_W), .DATA_W(1)) i_rd (
      .clk_i, .rst_ni, .in_valid_i(rd_valid), .in_ready_o(rd_ready), .in_sop_i('1), .in_eop_i('1),
      .in_hdr_i({queue_rd_hdr, put_rd_hdr}), .in_data_i('0),
      .out_valid_o(rd_valid_o), .out_ready_i(rd_ready_i), .out_sop_o(unused_rd_sop), .out_eop_o(unused_rd_eop),
      .out_hdr_o(rd_hdr_o), .out_data_o(unused_rd_data)
  );

  // ---------------------------------------------------------------- pages, work queues, status blocks
  logic status_writes, answer_writes, answer_look;
  logic st_valid, st_ready, st_error, requester_look, stray_fetch, stray_queue;
  logic [7:0] st_vpid, st_remote;
  logic [0:0] st_local;
  logic [3:0] st_status;
  logic [9:0] tag_fetch, tag_queue;
  logic desc_valid, desc_ready, desc_sop, desc_eop, desc_done, front_busy, front_timer, front_look, ev_page,
    ev_doorbell, ev_queue;
  logic [7:0]   desc_vpid, desc_done_vpid;
  logic [15:0]  desc_pd;
  logic [4:0]   desc_starts;
  logic [255:0] desc_data;

  rma_front #(.DATA_W(DATA_W)) i_front (
      .clk_i, .rst_ni, .stop_i, .writes_o(status_writes), .time_i, .cfg_mrrs_i, .cfg_requester_i, .cfg_timeout_i,
      .cfg_we_i, .cfg_vpid_i, .cfg_word_i, .cfg_data_i,
      .look_vpid_i, .look_busy_o(front_look),
      .page_valid_i, .page_ready_o, .page_sop_i, .page_eop_i, .page_hdr_i, .page_data_i,
      .db_valid_o, .db_kind_o, .db_arm_o, .db_arm_ready_i, .db_vpid_o, .db_count_o,
      .desc_valid_o(desc_valid), .desc_ready_i(desc_ready), .desc_sop_o(desc_sop), .desc_eop_o(desc_eop),
      .desc_vpid_o(desc_vpid), .desc_pd_o(desc_pd), .desc_starts_o(desc_starts), .desc_data_o(desc_data),
      .desc_done_i(desc_done),
      .desc_done_vpid_i(desc_done_vpid),
      .st_valid_i(st_valid), .st_ready_o(st_ready), .st_vpid_i(st_vpid), .st_local_i(st_local), .st_remote_i(st_remote),
      .st_error_i(st_error), .st_status_i(st_status),
      .wr_valid_o(wr_valid[1]), .wr_ready_i(wr_ready[1]), .wr_sop_o(wr_sop[1]), .wr_eop_o(wr_eop[1]),
      .wr_hdr_o(status_wr_hdr),
      .wr_data_o(status_wr_data), .rd_valid_o(rd_valid[1]), .rd_ready_i(rd_ready[1]), .rd_hdr_o(queue_rd_hdr),
      .cpl_valid_i(cpl_valid_i[1]), .cpl_ready_o(cpl_ready_o[1]), .cpl_sop_i, .cpl_eop_i, .cpl_hdr_i, .cpl_data_i,
      .ev_page_access_o(ev_page), .ev_page_info_o(ev_info_o[120+:40]),
      .ev_bad_descriptor_o(ev_doorbell), .ev_doorbell_info_o(ev_info_o[160+:40]),
      .ev_host_error_o(ev_queue), .ev_queue_info_o(ev_info_o[200+:40]), .ev_unexpected_o(stray_queue),
      .ev_tag_o(tag_queue),
      .cnt_status_writes_o(cnt_status_o), .cnt_queue_reads_o, .busy_o(front_busy), .timer_o(front_timer)
  );
  assign ev_code_o[24+:8]  = ev_page ? ggas_regs_pkg::EV_PAGE_ACCESS : ggas_regs_pkg::EV_NONE;
  assign ev_code_o[32+:8]  = ev_doorbell ? ggas_regs_pkg::EV_BAD_DESCRIPTOR : ggas_regs_pkg::EV_NONE;
  assign ev_code_o[40+:8]  = ev_queue ? ggas_regs_pkg::EV_RMA_HOST_ERROR : ggas_regs_pkg::EV_NONE;
  assign ev_node_o[48+:48] = '0;
  assign look_busy_o       = front_look || requester_look || answer_look;
  assign writes_o          = status_writes || answer_writes;

  // ---------------------------------------------------------------- requester
  logic cmd_valid, cmd_ready, done_valid, ans_valid, ans_ready, ans_asked, ans_writes, ep_valid, requester_busy,
    requester_timer;
  logic [63:0] cmd_nla, ans_addr;
  logic [15:0] cmd_pd, ans_node;
  logic [8:0]  cmd_bytes;
  ggas_pkg::rma_hdr_t cmd_hdr;
  logic [7:0]  cmd_meta, done_meta, ans_op, ans_vpid, ans_epoch, ans_dvpid, ans_look_vpid, ep_vpid;
  logic [4:0]  ep_epoch;
  logic [3:0]  done_status, ans_status;
  logic ev_req_bad, ev_req_prot, ev_req_timeout, ev_req_unreach, ev_req_retry, ev_req_unexpected;

  rma_requester #(.DATA_W(DATA_W)) i_requester (
      .clk_i, .rst_ni, .time_i, .cfg_node_i, .cfg_mtu_i, .cfg_retry_ticks_i, .cfg_retry_limit_i,
      .cfg_timeout_i(cfg_answer_i),
      .peer_node_i, .peer_valid_i, .link_up_i, .cfg_we_i, .cfg_vpid_i, .cfg_word_i, .cfg_data_i, .look_vpid_i,
      .look_busy_o(requester_look),
      .desc_valid_i(desc_valid), .desc_ready_o(desc_ready), .desc_sop_i(desc_sop), .desc_eop_i(desc_eop),
      .desc_vpid_i(desc_vpid), .desc_pd_i(desc_pd), .desc_starts_i(desc_starts), .desc_data_i(desc_data),
      .desc_done_o(desc_done),
      .desc_done_vpid_o(desc_done_vpid),
      .st_valid_o(st_valid), .st_ready_i(st_ready), .st_vpid_o(st_vpid), .st_local_o(st_local), .st_remote_o(st_remote),
      .st_error_o(st_error), .st_status_o(st_status),
      .tx_valid_o(tx_valid[0]), .tx_ready_i(tx_ready[0]), .tx_sop_o(tx_sop[0]), .tx_eop_o(tx_eop[0]),
      .tx_hdr_o(req_tx_hdr),
      .tx_data_o(req_tx_data),
      .cmd_valid_o(cmd_valid), .cmd_ready_i(cmd_ready), .cmd_nla_o(cmd_nla), .cmd_pd_o(cmd_pd), .cmd_bytes_o(cmd_bytes),
      .cmd_hdr_o(cmd_hdr), .cmd_meta_o(cmd_meta), .done_valid_i(done_valid), .done_status_i(done_status),
      .done_meta_i(done_meta),
      .nt_valid_o, .nt_ready_i, .nt_vpid_o, .nt_drop_o, .nt_w0_o, .nt_w1_o, .nt_rsp_valid_i, .nt_rsp_status_i,
      .ans_valid_i(ans_valid), .ans_ready_o(ans_ready), .ans_op_i(ans_op), .ans_vpid_i(ans_vpid),
      .ans_epoch_i(ans_epoch),
      .ans_asked_i(ans_asked), .ans_status_i(ans_status), .ans_addr_i(ans_addr), .ans_node_i(ans_node),
      .ans_dvpid_i(ans_dvpid),
      .ans_progress_i(cnt_get_packets_o), .ans_look_vpid_o(ans_look_vpid), .ans_writes_i(ans_writes),
      .ep_valid_o(ep_valid), .ep_vpid_o(ep_vpid), .ep_epoch_o(ep_epoch),
      .ev_bad_descriptor_o(ev_req_bad), .ev_protection_o(ev_req_prot), .ev_timeout_o(ev_req_timeout),
      .ev_unreachable_o(ev_req_unreach), .ev_retry_limit_o(ev_req_retry), .ev_unexpected_o(ev_req_unexpected),
      .ev_node_o(ev_node_o[0+:16]), .ev_info_o(ev_info_o[0+:40]), .cnt_descriptors_o, .cnt_retries_o, .cnt_acks_o,
      .busy_o(requester_busy), .timer_o(requester_timer)
  );
  always_comb begin
    ev_code_o[0+:8] = ggas_regs_pkg::EV_NONE;
    if (ev_req_bad) ev_code_o[0+:8] = ggas_regs_pkg::EV_BAD_DESCRIPTOR;
    if (ev_req_prot) ev_code_o[0+:8] = ggas_regs_pkg::EV_RMA_PROTECTION;
    if (ev_req_timeout) ev_code_o[0+:8] = ggas_regs_pkg::EV_RMA_TIMEOUT;
    if (ev_req_unreach) ev_code_o[0+:8] = ggas_regs_pkg::EV_RMA_UNREACHABLE;
    if (ev_req_retry) ev_code_o[0+:8] = ggas_regs_pkg::EV_RMA_RETRY_LIMIT;
    if (ev_req_unexpected) ev_code_o[0+:8] = ggas_regs_pkg::EV_UNEXPECTED_RSP;
  end

  // ---------------------------------------------------------------- payload of puts
  logic fetch_busy, fetch_timer, ev_fetch_host;
  logic [39:0] done_nla;
  rma_fetch #(.DATA_W(DATA_W), .TAG_BASE(TAG_BASE), .TAGS(TAGS), .META_W(8)) i_fetch (
      .clk_i, .rst_ni, .time_i, .cfg_mrrs_i, .cfg_timeout_i,
      .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_ready), .cmd_nla_i(cmd_nla), .cmd_pd_i(cmd_pd), .cmd_bytes_i(cmd_bytes),
      .cmd_hdr_i(cmd_hdr), .cmd_meta_i(cmd_meta),
      .tr_valid_o(tr_valid_o[0]), .tr_ready_i(tr_ready_i[0]), .tr_nla_o(tr_nla_o[0+:64]), .tr_pd_o(tr_pd_o[0+:16]),
      .tr_write_o(tr_write_o[0]), .tr_rsp_valid_i(tr_rsp_valid_i[0]), .tr_rsp_addr_i, .tr_rsp_status_i,
      .tr_done_o(tr_done_o[0]),
      .rd_valid_o(rd_valid[0]), .rd_ready_i(rd_ready[0]), .rd_hdr_o(put_rd_hdr),
      .cpl_valid_i(cpl_valid_i[0]), .cpl_ready_o(cpl_ready_o[0]), .cpl_sop_i, .cpl_eop_i, .cpl_hdr_i, .cpl_data_i,
      .tx_valid_o(tx_valid[1]), .tx_ready_i(tx_ready[1]), .tx_sop_o(tx_sop[1]), .tx_eop_o(tx_eop[1]),
      .tx_hdr_o(put_tx_hdr),
      .tx_data_o(put_tx_data),
      .done_valid_o(done_valid), .done_status_o(done_status), .done_meta_o(done_meta), .done_nla_o(done_nla),
      .ev_host_error_o(ev_fetch_host), .ev_unexpected_o(stray_fetch), .ev_tag_o(tag_fetch), .cnt_packets_o,
      .busy_o(fetch_busy), .timer_o(fetch_timer)
  );
  assign ev_code_o[8+:8]   = ev_fetch_host ? ggas_regs_pkg::EV_RMA_HOST_ERROR : ggas_regs_pkg::EV_NONE;
  assign ev_node_o[16+:16] = '0;
  assign ev_info_o[40+:40] = done_nla;

  // ---------------------------------------------------------------- answers
  logic answer_busy, ev_ans_bad, ev_ans_prot, ev_ans_unexpected;
  rma_answer #(.DATA_W(DATA_W)) i_answer (
      .clk_i, .rst_ni, .stop_i, .writes_o(answer_writes), .busy_vpid_i(look_vpid_i), .busy_vpid_o(answer_look),
      .cfg_mps_i, .cfg_we_i, .cfg_vpid_i, .cfg_word_i, .cfg_data_i,
      .ep_valid_i(ep_valid), .ep_vpid_i(ep_vpid), .ep_epoch_i(ep_epoch), .look_vpid_i(ans_look_vpid),
      .look_writes_o(ans_writes),
      .rx_valid_i, .rx_ready_o, .rx_sop_i, .rx_eop_i, .rx_hdr_i, .rx_data_i,
      .tr_valid_o(tr_valid_o[1]), .tr_ready_i(tr_ready_i[1]), .tr_nla_o(tr_nla_o[64+:64]), .tr_pd_o(tr_pd_o[16+:16]),
      .tr_write_o(tr_write_o[1]), .tr_rsp_valid_i(tr_rsp_valid_i[1]), .tr_rsp_addr_i, .tr_rsp_status_i,
      .tr_done_o(tr_done_o[1]),
      .wr_valid_o(wr_valid[0]), .wr_ready_i(wr_ready[0]), .wr_sop_o(wr_sop[0]), .wr_eop_o(wr_eop[0]),
      .wr_hdr_o(answer_wr_hdr),
      .wr_data_o(answer_wr_data),
      .ans_valid_o(ans_valid), .ans_ready_i(ans_ready), .ans_op_o(ans_op), .ans_vpid_o(ans_vpid),
      .ans_epoch_o(ans_epoch),
      .ans_dvpid_o(ans_dvpid), .ans_node_o(ans_node), .ans_status_o(ans_status), .ans_addr_o(ans_addr),
      .ans_asked_o(ans_asked),
      .ev_bad_packet_o(ev_ans_bad), .ev_protection_o(ev_ans_prot), .ev_unexpected_o(ev_ans_unexpected),
      .ev_node_o(ev_node_o[32+:16]), .ev_info_o(ev_info_o[80+:40]), .cnt_get_packets_o, .busy_o(answer_busy)
  );
  always_comb begin
    ev_code_o[16+:8] = ggas_regs_pkg::EV_NONE;
    if (ev_ans_bad) ev_code_o[16+:8] = ggas_regs_pkg::EV_BAD_PACKET;
    if (ev_ans_prot) ev_code_o[16+:8] = ggas_regs_pkg::EV_RMA_PROTECTION;
    if (ev_ans_unexpected) ev_code_o[16+:8] = ggas_regs_pkg::EV_UNEXPECTED_RSP;
  end

  // Completions come one at a time, so does what is wrong with them.
  assign ev_unexpected_o = stray_fetch || stray_queue;
  assign ev_tag_o        = stray_fetch ? tag_fetch : tag_queue;

  assign busy_o  = front_busy || requester_busy || fetch_busy || answer_busy;
  assign timer_o = front_timer || requester_timer || fetch_timer;
endmodule

`default_nettype wire
