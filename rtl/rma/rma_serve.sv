// SPDX-License-Identifier: Apache-2.0
// The serving half of the RMA: wiring of everything that works for packets of other contexts. Puts, gets, atomics and
// messages
// from VC_RMA; answers to VC_RSP.
`default_nettype none

module rma_serve #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                stop_i,           // the NIC is stopped: no message is written
    output      logic                writes_o,         // something that may still write is in hand
    input  wire logic [63:0]         time_i,
    output      logic                busy_o,
    output      logic                timer_o,

    input  wire logic                cfg_target_i,     // RMA_CTRL.target
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [1:0]          cfg_mtu_i,        // RMA_CTRL.mtu
    input  wire logic [12:0]         cfg_mps_i,
    input  wire logic [12:0]         cfg_mrrs_i,
    input  wire logic [15:0]         cfg_timeout_i,    // RMA_TIMEOUT.host

    // writes of CONTEXT[]; doorbells; is a message to a context in hand?
    input  wire logic                cfg_we_i,
    input  wire logic [7:0]          cfg_vpid_i,
    input  wire logic [2:0]          cfg_word_i,
    input  wire logic [63:0]         cfg_data_i,
    input  wire logic                db_valid_i,
    input  wire logic [1:0]          db_kind_i,
    input  wire logic [7:0]          db_vpid_i,
    input  wire logic [31:0]         db_count_i,
    input  wire logic [7:0]          look_vpid_i,
    output      logic                look_busy_o,

    // requests and their answers
    input  wire logic                rx_valid_i,
    output      logic                rx_ready_o,
    input  wire logic                rx_sop_i,
    input  wire logic                rx_eop_i,
    input  wire ggas_pkg::rma_hdr_t  rx_hdr_i,
    input  wire logic [DATA_W-1:0]   rx_data_i,
    output      logic                tx_valid_o,
    input  wire logic                tx_ready_i,
    output      logic                tx_sop_o,
    output      logic                tx_eop_o,
    output      ggas_pkg::rma_hdr_t  tx_hdr_o,
    output      logic [DATA_W-1:0]   tx_data_o,

    // translation; bit or slice 0 gets, 1 target, 2 atomics
    output      logic [2:0]          tr_valid_o,
    input  wire logic [2:0]          tr_ready_i,
    output      logic [3*64-1:0]     tr_nla_o,
    output      logic [3*16-1:0]     tr_pd_o,
    output      logic [2:0]          tr_write_o,
    input  wire logic [2:0]          tr_rsp_valid_i,
    input  wire logic [63:0]         tr_rsp_addr_i,
    input  wire logic [3:0]          tr_rsp_status_i,
    output      logic [2:0]          tr_done_o,

    // notifications; bit or slice 0 target, 1 responder
    output      logic [1:0]          nt_valid_o,
    input  wire logic [1:0]          nt_ready_i,
    output      logic [2*8-1:0]      nt_vpid_o,
    output      logic [2*16-1:0]     nt_pd_o,
    output      logic [2*64-1:0]     nt_w0_o,
    output      logic [2*64-1:0]     nt_w1_o,
    input  wire logic [1:0]          nt_rsp_valid_i,
    input  wire logic [3:0]          nt_rsp_status_i,

    // host
    output      logic                wr_valid_o,
    input  wire logic                wr_ready_i,
    output      logic                wr_sop_o,
    output      logic                wr_eop_o,
    output      ggas_pkg::tlp_hdr_t  wr_hdr_o,
    output      logic [DATA_W-1:0]   wr_data_o,
    input  wire logic                wr_snoop_i,       // a write of another unit was accepted
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire logic [2:0]          cpl_valid_i,      // one at a time: 0 gets, 1 target, 2 atomics
    output      logic [2:0]          cpl_ready_o,
    input  wire logic                cpl_sop_i,
    input  wire logic                cpl_eop_i,
    input  wire ggas_pkg::tlp_hdr_t  cpl_hdr_i,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    output      logic                tell_valid_o,     // a message was written, as in velo_mailbox
    input  wire logic                tell_ready_i,
    output      logic [7:0]          tell_vpid_o,
    output      logic [31:0]         tell_count_o,

    // events: 0 target, 1 atomics, 2 gets, 3 responder; a code of 0 is none
    output      logic [4*8-1:0]      ev_code_o,
    output      logic [4*16-1:0]     ev_node_o,
    output      logic [4*40-1:0]     ev_info_o,
    output      logic                ev_unexpected_o,  // UNEXPECTED_CPL
    output      logic [9:0]          ev_tag_o,
    output      logic                cnt_puts_o,
    output      logic                cnt_gets_o,
    output      logic                cnt_atomics_o,
    output      logic                cnt_packets_o,    // of gets
    output      logic                cnt_messages_o,
    output      logic                cnt_full_o
);
  localparam int unsigned TAG_BASE = (DATA_W == 64) ? ggas_pkg::TAG_FETCH_GET : ggas_pkg::TAG_WIDE_GET;
  localparam int unsigned TAGS     = (DATA_W == 64) ? 32 : 128;
  localparam int unsigned META_W   = 8;
  localparam int unsigned TLP_W    = ggas_pkg::TLP_HDR_W;
  localparam int unsigned NET_W    = ggas_pkg::NET_HDR_W;

  // ---------------------------------------------------------------- responses, host writes, host reads: whole packets
  // in turn
  logic [3:0] rsp_valid, rsp_ready, rsp_sop, rsp_eop;  // 0 target, 1 responder, 2 atomics, 3 gets
  ggas_pkg::rma_hdr_t rsp_hdr, target_rsp_hdr, resp_rsp_hdr, atomic_rsp_hdr, fetch_rsp_hdr;
  logic [DATA_W-1:0]  atomic_rsp_data, fetch_rsp_data;
  assign {rsp_sop[1:0], rsp_eop[1:0]} = '1;
  stream_mux #(.N(4), .HDR_W(NET_W), .DATA_W(DATA_W)) i_rsp (
      .clk_i, .rst_ni, .in_valid_i(rsp_valid), .in_ready_o(rsp_ready), .in_sop_i(rsp_sop), .in_eop_i(rsp_eop),
      .in_hdr_i({fetch_rsp_hdr, atomic_rsp_hdr, resp_rsp_hdr, target_rsp_hdr}),
      .in_data_i({fetch_rsp_data, atomic_rsp_data, {2*DATA_W{1'b0}}}),
      .out_valid_o(tx_valid_o), .out_ready_i(tx_ready_i), .out_sop_o(tx_sop_o), .out_eop_o(tx_eop_o),
      .out_hdr_o(rsp_hdr),
      .out_data_o(tx_data_o)
  );

  // With the NIC stopped nobody is told OK: what was written may have been dropped behind us (bus master off).
  always_comb begin
    tx_hdr_o = rsp_hdr;
    if (stop_i && rsp_hdr.op != ggas_pkg::OP_RMA_GET_DATA && rsp_hdr.status == ggas_pkg::ST_OK)
      tx_hdr_o.status = ggas_pkg::ST_DISABLED;
  end

  logic [2:0] wr_valid, wr_ready, wr_sop, wr_eop;  // 0 target, 1 atomics, 2 messages
  ggas_pkg::tlp_hdr_t target_wr_hdr, atomic_wr_hdr, velo_wr_hdr;
  logic [DATA_W-1:0]  target_wr_data, atomic_wr_data, velo_wr_data;
  stream_mux #(.N(3), .HDR_W(TLP_W), .DATA_W(DATA_W)) i_wr (
      .clk_i, .rst_ni, .in_valid_i(wr_valid), .in_ready_o(wr_ready), .in_sop_i(wr_sop), .in_eop_i(wr_eop),
      .in_hdr_i({velo_wr_hdr, atomic_wr_hdr, target_wr_hdr}),
      .in_data_i({velo_wr_data, atomic_wr_data, target_wr_data}),
      .out_valid_o(wr_valid_o), .out_ready_i(wr_ready_i), .out_sop_o(wr_sop_o), .out_eop_o(wr_eop_o),
      .out_hdr_o(wr_hdr_o),
      .out_data_o(wr_data_o)
  );

  logic [2:0] rd_valid, rd_ready;  // 0 gets, 1 target, 2 atomics
  ggas_pkg::tlp_hdr_t fetch_rd_hdr, target_rd_hdr, atomic_rd_hdr;
  logic unused_rd_sop, unused_rd_eop, unused_rd_data;
  stream_mux #(.N(3), .HDR_W(TLP_W), .DATA_W(1)) i_rd (
      .clk_i, .rst_ni, .in_valid_i(rd_valid), .in_ready_o(rd_ready), .in_sop_i('1), .in_eop_i('1),
      .in_hdr_i({atomic_rd_hdr, target_rd_hdr, fetch_rd_hdr}), .in_data_i('0),
      .out_valid_o(rd_valid_o), .out_ready_i(rd_ready_i), .out_sop_o(unused_rd_sop), .out_eop_o(unused_rd_eop),
      .out_hdr_o(rd_hdr_o), .out_data_o(unused_rd_data)
  );

  // ---------------------------------------------------------------- requests
  logic target_writes, atomic_writes, velo_writes;
  logic target_busy, target_timer, ev_target_bad, ev_target_prot, ev_target_off, ev_target_host;
  logic at_valid, at_ready, at_sop, at_eop, get_valid, get_ready, get_sop, get_eop, mb_valid, mb_ready, mb_eop,
    mb_rsp_valid;
  ggas_pkg::rma_hdr_t at_hdr, get_hdr, mb_hdr;
  logic [DATA_W-1:0] at_data, get_data, mb_data;
  logic [3:0] at_status, mb_rsp_status;
  logic       stray_target, stray_atomic, stray_fetch;
  logic [9:0] tag_target, tag_atomic, tag_fetch;

  rma_target #(.DATA_W(DATA_W)) i_target (
      .clk_i, .rst_ni, .writes_o(target_writes), .time_i, .cfg_target_i, .cfg_node_i, .cfg_mps_i, .cfg_timeout_i,
      .rx_valid_i, .rx_ready_o, .rx_sop_i, .rx_eop_i, .rx_hdr_i, .rx_data_i,
      .tr_valid_o(tr_valid_o[1]), .tr_ready_i(tr_ready_i[1]), .tr_nla_o(tr_nla_o[64+:64]), .tr_pd_o(tr_pd_o[16+:16]),
      .tr_write_o(tr_write_o[1]), .tr_rsp_valid_i(tr_rsp_valid_i[1]), .tr_rsp_addr_i, .tr_rsp_status_i,
      .tr_done_o(tr_done_o[1]),
      .wr_valid_o(wr_valid[0]), .wr_ready_i(wr_ready[0]), .wr_sop_o(wr_sop[0]), .wr_eop_o(wr_eop[0]),
      .wr_hdr_o(target_wr_hdr),
      .wr_data_o(target_wr_data), .rd_valid_o(rd_valid[1]), .rd_ready_i(rd_ready[1]), .rd_hdr_o(target_rd_hdr),
      .cpl_valid_i(cpl_valid_i[1]), .cpl_ready_o(cpl_ready_o[1]), .cpl_sop_i, .cpl_eop_i, .cpl_hdr_i, .cpl_data_i,
      .get_valid_o(get_valid), .get_ready_i(get_ready), .get_sop_o(get_sop), .get_eop_o(get_eop), .get_hdr_o(get_hdr),
      .get_data_o(get_data),
      .at_valid_o(at_valid), .at_ready_i(at_ready), .at_sop_o(at_sop), .at_eop_o(at_eop), .at_hdr_o(at_hdr),
      .at_data_o(at_data),
      .at_status_o(at_status),
      .mb_valid_o(mb_valid), .mb_ready_i(mb_ready), .mb_eop_o(mb_eop), .mb_hdr_o(mb_hdr), .mb_data_o(mb_data),
      .mb_rsp_valid_i(mb_rsp_valid), .mb_rsp_status_i(mb_rsp_status),
      .nt_valid_o(nt_valid_o[0]), .nt_ready_i(nt_ready_i[0]), .nt_vpid_o(nt_vpid_o[0+:8]), .nt_pd_o(nt_pd_o[0+:16]),
      .nt_w0_o(nt_w0_o[0+:64]), .nt_w1_o(nt_w1_o[0+:64]), .nt_rsp_valid_i(nt_rsp_valid_i[0]), .nt_rsp_status_i,
      .rsp_valid_o(rsp_valid[0]), .rsp_ready_i(rsp_ready[0]), .rsp_hdr_o(target_rsp_hdr),
      .ev_bad_packet_o(ev_target_bad), .ev_protection_o(ev_target_prot), .ev_context_off_o(ev_target_off),
      .ev_host_error_o(ev_target_host), .ev_node_o(ev_node_o[0+:16]), .ev_info_o(ev_info_o[0+:40]),
      .ev_unexpected_o(stray_target), .ev_tag_o(tag_target), .cnt_puts_o, .busy_o(target_busy), .timer_o(target_timer)
  );
  always_comb begin
    ev_code_o[0+:8] = ggas_regs_pkg::EV_NONE;
    if (ev_target_bad) ev_code_o[0+:8] = ggas_regs_pkg::EV_BAD_PACKET;
    if (ev_target_prot) ev_code_o[0+:8] = ggas_regs_pkg::EV_TARGET_PROTECTION;
    if (ev_target_off) ev_code_o[0+:8] = ggas_regs_pkg::EV_CONTEXT_OFF;
    if (ev_target_host) ev_code_o[0+:8] = ggas_regs_pkg::EV_RMA_HOST_ERROR;
  end

  // ---------------------------------------------------------------- atomics
  // Writes of the target, of messages and of the rest of the NIC may touch a word that an atomic has in hand.
  logic atomic_busy, atomic_timer, ev_atomic_bad, ev_atomic_prot, ev_atomic_host, snoop;
  assign snoop = wr_snoop_i || (wr_valid[0] && wr_ready[0]);

  rma_atomic #(.DATA_W(DATA_W)) i_atomic (
      .clk_i, .rst_ni, .writes_o(atomic_writes), .time_i, .cfg_node_i, .cfg_timeout_i,
      .at_valid_i(at_valid), .at_ready_o(at_ready), .at_sop_i(at_sop), .at_eop_i(at_eop), .at_hdr_i(at_hdr),
      .at_data_i(at_data),
      .at_status_i(at_status),
      .tr_valid_o(tr_valid_o[2]), .tr_ready_i(tr_ready_i[2]), .tr_nla_o(tr_nla_o[128+:64]), .tr_pd_o(tr_pd_o[32+:16]),
      .tr_write_o(tr_write_o[2]), .tr_rsp_valid_i(tr_rsp_valid_i[2]), .tr_rsp_addr_i, .tr_rsp_status_i,
      .tr_done_o(tr_done_o[2]),
      .rd_valid_o(rd_valid[2]), .rd_ready_i(rd_ready[2]), .rd_hdr_o(atomic_rd_hdr),
      .cpl_valid_i(cpl_valid_i[2]), .cpl_ready_o(cpl_ready_o[2]), .cpl_sop_i, .cpl_eop_i, .cpl_hdr_i, .cpl_data_i,
      .wr_valid_o(wr_valid[1]), .wr_ready_i(wr_ready[1]), .wr_sop_o(wr_sop[1]), .wr_eop_o(wr_eop[1]),
      .wr_hdr_o(atomic_wr_hdr),
      .wr_data_o(atomic_wr_data), .wr_snoop_i(snoop),
      .rsp_valid_o(rsp_valid[2]), .rsp_ready_i(rsp_ready[2]), .rsp_sop_o(rsp_sop[2]), .rsp_eop_o(rsp_eop[2]),
      .rsp_hdr_o(atomic_rsp_hdr), .rsp_data_o(atomic_rsp_data),
      .ev_bad_packet_o(ev_atomic_bad), .ev_protection_o(ev_atomic_prot), .ev_host_error_o(ev_atomic_host),
      .ev_node_o(ev_node_o[16+:16]), .ev_info_o(ev_info_o[40+:40]), .ev_unexpected_o(stray_atomic),
      .ev_tag_o(tag_atomic),
      .cnt_atomics_o, .busy_o(atomic_busy), .timer_o(atomic_timer)
  );
  always_comb begin
    ev_code_o[8+:8] = ggas_regs_pkg::EV_NONE;
    if (ev_atomic_bad) ev_code_o[8+:8] = ggas_regs_pkg::EV_BAD_PACKET;
    if (ev_atomic_prot) ev_code_o[8+:8] = ggas_regs_pkg::EV_TARGET_PROTECTION;
    if (ev_atomic_host) ev_code_o[8+:8] = ggas_regs_pkg::EV_RMA_HOST_ERROR;
  end

  // ---------------------------------------------------------------- messages
  logic velo_busy;
  velo_mailbox #(.DATA_W(DATA_W)) i_velo (
      .clk_i, .rst_ni, .stop_i, .writes_o(velo_writes), .look_vpid_i, .look_busy_o, .cfg_we_i, .cfg_vpid_i,
      .cfg_word_i, .cfg_data_i, .db_valid_i, .db_kind_i, .db_vpid_i, .db_count_i,
      .mb_valid_i(mb_valid), .mb_ready_o(mb_ready), .mb_eop_i(mb_eop), .mb_hdr_i(mb_hdr), .mb_data_i(mb_data),
      .mb_rsp_valid_o(mb_rsp_valid), .mb_rsp_status_o(mb_rsp_status),
      .wr_valid_o(wr_valid[2]), .wr_ready_i(wr_ready[2]), .wr_sop_o(wr_sop[2]), .wr_eop_o(wr_eop[2]),
      .wr_hdr_o(velo_wr_hdr),
      .wr_data_o(velo_wr_data), .tell_valid_o, .tell_ready_i, .tell_vpid_o, .tell_count_o, .cnt_messages_o,
      .cnt_full_o, .busy_o(velo_busy)
  );

  // ---------------------------------------------------------------- gets
  logic responder_busy, fetch_busy, fetch_timer, ev_get_prot, ev_get_off, ev_get_bad, ev_fetch_host;
  logic cmd_valid, cmd_ready, done_valid;
  logic [63:0] cmd_nla;
  logic [15:0] cmd_pd;
  logic [8:0]  cmd_bytes;
  ggas_pkg::rma_hdr_t cmd_hdr;
  logic [META_W-1:0] cmd_meta, done_meta;
  logic [3:0]  done_status;
  logic [39:0] done_nla;

  rma_responder #(.DATA_W(DATA_W)) i_responder (
      .clk_i, .rst_ni, .cfg_node_i, .cfg_mtu_i,
      .get_valid_i(get_valid), .get_ready_o(get_ready), .get_sop_i(get_sop), .get_eop_i(get_eop), .get_hdr_i(get_hdr),
      .get_data_i(get_data),
      .cmd_valid_o(cmd_valid), .cmd_ready_i(cmd_ready), .cmd_nla_o(cmd_nla), .cmd_pd_o(cmd_pd), .cmd_bytes_o(cmd_bytes),
      .cmd_hdr_o(cmd_hdr), .cmd_meta_o(cmd_meta), .done_valid_i(done_valid), .done_status_i(done_status),
      .done_meta_i(done_meta),
      .done_nla_i(done_nla),
      .nt_valid_o(nt_valid_o[1]), .nt_ready_i(nt_ready_i[1]), .nt_vpid_o(nt_vpid_o[8+:8]), .nt_pd_o(nt_pd_o[16+:16]),
      .nt_w0_o(nt_w0_o[64+:64]), .nt_w1_o(nt_w1_o[64+:64]), .nt_rsp_valid_i(nt_rsp_valid_i[1]), .nt_rsp_status_i,
      .rsp_valid_o(rsp_valid[1]), .rsp_ready_i(rsp_ready[1]), .rsp_hdr_o(resp_rsp_hdr),
      .ev_protection_o(ev_get_prot), .ev_context_off_o(ev_get_off), .ev_bad_packet_o(ev_get_bad),
      .ev_node_o(ev_node_o[48+:16]), .ev_info_o(ev_info_o[120+:40]),
      .cnt_gets_o, .busy_o(responder_busy)
  );
  rma_fetch #(.DATA_W(DATA_W), .TAG_BASE(TAG_BASE), .TAGS(TAGS), .META_W(META_W)) i_fetch (
      .clk_i, .rst_ni, .time_i, .cfg_mrrs_i, .cfg_timeout_i,
      .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_ready), .cmd_nla_i(cmd_nla), .cmd_pd_i(cmd_pd), .cmd_bytes_i(cmd_bytes),
      .cmd_hdr_i(cmd_hdr), .cmd_meta_i(cmd_meta),
      .tr_valid_o(tr_valid_o[0]), .tr_ready_i(tr_ready_i[0]), .tr_nla_o(tr_nla_o[0+:64]), .tr_pd_o(tr_pd_o[0+:16]),
      .tr_write_o(tr_write_o[0]), .tr_rsp_valid_i(tr_rsp_valid_i[0]), .tr_rsp_addr_i, .tr_rsp_status_i,
      .tr_done_o(tr_done_o[0]),
      .rd_valid_o(rd_valid[0]), .rd_ready_i(rd_ready[0]), .rd_hdr_o(fetch_rd_hdr),
      .cpl_valid_i(cpl_valid_i[0]), .cpl_ready_o(cpl_ready_o[0]), .cpl_sop_i, .cpl_eop_i, .cpl_hdr_i, .cpl_data_i,
      .tx_valid_o(rsp_valid[3]), .tx_ready_i(rsp_ready[3]), .tx_sop_o(rsp_sop[3]), .tx_eop_o(rsp_eop[3]),
      .tx_hdr_o(fetch_rsp_hdr), .tx_data_o(fetch_rsp_data),
      .done_valid_o(done_valid), .done_status_o(done_status), .done_meta_o(done_meta), .done_nla_o(done_nla),
      .ev_host_error_o(ev_fetch_host), .ev_unexpected_o(stray_fetch), .ev_tag_o(tag_fetch), .cnt_packets_o,
      .busy_o(fetch_busy), .timer_o(fetch_timer)
  );
  assign ev_code_o[16+:8]  = ev_fetch_host ? ggas_regs_pkg::EV_RMA_HOST_ERROR : ggas_regs_pkg::EV_NONE;
  assign ev_node_o[32+:16] = '0;
  assign ev_info_o[80+:40] = done_nla;
  always_comb begin
    ev_code_o[24+:8] = ggas_regs_pkg::EV_NONE;
    if (ev_get_bad) ev_code_o[24+:8] = ggas_regs_pkg::EV_BAD_PACKET;
    if (ev_get_prot) ev_code_o[24+:8] = ggas_regs_pkg::EV_TARGET_PROTECTION;
    if (ev_get_off) ev_code_o[24+:8] = ggas_regs_pkg::EV_CONTEXT_OFF;
  end

  // Completions come one at a time, so does what is wrong with them.
  assign ev_unexpected_o = stray_target || stray_atomic || stray_fetch;
  assign ev_tag_o        = stray_target ? tag_target : stray_atomic ? tag_atomic : tag_fetch;

  assign busy_o  = target_busy || atomic_busy || velo_busy || responder_busy || fetch_busy;
  assign timer_o = target_timer || atomic_timer || fetch_timer;
  assign writes_o = target_writes || atomic_writes || velo_writes;
endmodule

`default_nettype wire
