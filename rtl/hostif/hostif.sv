// SPDX-License-Identifier: Apache-2.0
// The host interface: between the TLP boundary and the units (docs/tlp-boundary.md, docs/rtl-structure.md).
`default_nettype none

module hostif #(
  parameter int unsigned DATA_W = 64,
  parameter int unsigned NP_CREDITS = 32,
  parameter int unsigned PAGE_LOG2 = 12       // log2 of the distance of two pages in BAR4, bytes: 12 or 16
) (
  input  wire               clk_i,
  input  wire               rst_ni,
  input  wire  [12:0]       cfg_mps_i,
  input  wire  [15:0]       cfg_bus_id_i,
  input  wire               bus_master_i,     // requests may begin to leave; else they are dropped
  input  wire               closing_i,        // no TLP begins to leave
  output logic              open_o,           // one that began has not ended

  // ---- TLP boundary
  input  ggas_pkg::tlp_beat_t rx_req_i,
  output logic              rx_req_ready_o,
  input  wire  [DATA_W-1:0] rx_req_data_i,
  output logic              np_credit_o,

  input  ggas_pkg::tlp_beat_t rx_cpl_i,
  output logic              rx_cpl_ready_o,
  input  wire  [DATA_W-1:0] rx_cpl_data_i,

  output ggas_pkg::tlp_beat_t tx_req_o,
  input  wire               tx_req_ready_i,
  output logic [DATA_W-1:0] tx_req_data_o,

  output ggas_pkg::tlp_beat_t tx_cpl_o,
  input  wire               tx_cpl_ready_i,
  output logic [DATA_W-1:0] tx_cpl_data_o,

  // ---- SMFU
  output ggas_pkg::tlp_beat_t win_p_o,
  input  wire               win_p_ready_i,
  output logic [DATA_W-1:0] win_p_data_o,

  output ggas_pkg::tlp_head_t win_np_o,
  input  wire               win_np_ready_i,

  input  ggas_pkg::tlp_beat_t ld_cpl_i,
  output logic              ld_cpl_ready_o,
  input  wire  [DATA_W-1:0] ld_cpl_data_i,

  // ---- SMFU: requests to the host, their completions
  input  ggas_pkg::tlp_beat_t tgt_req_i,
  output logic              tgt_req_ready_o,
  input  wire  [DATA_W-1:0] tgt_req_data_i,

  output ggas_pkg::tlp_beat_t tgt_cpl_o,
  input  wire               tgt_cpl_ready_i,
  output logic [DATA_W-1:0] tgt_cpl_data_o,

  // ---- RMA: writes to context pages, requests to the host, completions
  output ggas_pkg::tlp_beat_t page_o,
  input  wire               page_ready_i,
  output logic [DATA_W-1:0] page_data_o,

  input  wire               tx_np_ok_i,       // the host takes non-posted requests
  output logic              reads_ok_o,       // units may offer reads: they leave, or are dropped
  input  ggas_pkg::tlp_beat_t rma_wr_i,
  output logic              rma_wr_ready_o,
  input  wire  [DATA_W-1:0] rma_wr_data_i,
  input  ggas_pkg::tlp_head_t rma_rd_i,
  output logic              rma_rd_ready_o,

  output ggas_pkg::tlp_beat_t rma_cpl_o,
  input  wire               rma_cpl_ready_i,
  output logic [DATA_W-1:0] rma_cpl_data_o,

  // ---- registers: access, answer in the next cycle
  output ggas_pkg::reg_access_t reg_o,
  input  wire  [63:0]       reg_rdata_i,
  input  wire               reg_error_i,

  // ---- event records and MSI-X messages, sent in the order they are taken
  input  ggas_pkg::host_record_t evt_i,
  output logic              evt_ready_o,
  input  ggas_pkg::host_message_t msix_i,
  output logic              msix_ready_o,

  // ---- events and counters
  output logic              event_valid_o,
  input  wire               event_ready_i,
  output ggas_pkg::event_t  event_o,
  // every occurrence, by code: 0 requests, 1 completions, 2 register accesses
  output ggas_regs_pkg::event_set_t [2:0] ev_pulse_o,
  output logic [2:0]        cnt_o,            // CNT_HOST_RX_REQS, TX_REQS, TX_CPLS
  output logic              busy_o
);

  // ---- requests in
  logic p_valid, p_ready, p_sop, p_eop, p_commit;
  hostif_pkg::posted_t p_hdr;
  logic [DATA_W-1:0] p_data;
  logic np_full, np_push;
  hostif_pkg::non_posted_t np_hdr;
  logic rx_malformed, rx_unsupported, rx_busy;
  logic [39:0] rx_info;

  hostif_rx #(.DATA_W(DATA_W), .PAGE_LOG2(PAGE_LOG2)) i_rx (
    .clk_i, .rst_ni, .cfg_mps_i, .rx_i(rx_req_i), .rx_ready_o(rx_req_ready_o), .rx_data_i(rx_req_data_i),
    .p_valid_o(p_valid), .p_ready_i(p_ready), .p_sop_o(p_sop), .p_eop_o(p_eop), .p_hdr_o(p_hdr), .p_data_o(p_data),
    .p_commit_o(p_commit), .np_full_i(np_full), .np_push_o(np_push), .np_o(np_hdr), .malformed_o(rx_malformed),
    .unsupported_o(rx_unsupported), .info_o(rx_info), .cnt_req_o(cnt_o[0]), .busy_o(rx_busy)
  );

  wire p_regs   = p_hdr.dest == hostif_pkg::TO_REGS;
  wire p_page   = p_hdr.dest == hostif_pkg::TO_PAGE;
  wire p_window = p_hdr.dest == hostif_pkg::TO_WINDOW;

  assign p_ready       = p_window ? win_p_ready_i : p_page ? page_ready_i : 1'b1;
  assign win_p_o.valid = p_valid && p_window;
  assign win_p_o.sop   = p_sop;
  assign win_p_o.eop   = p_eop;
  assign win_p_data_o  = p_data;

  assign win_p_o.hdr.kind       = ggas_pkg::TLP_MWR;
  assign win_p_o.hdr.bar        = ggas_pkg::BAR_WINDOW;
  assign win_p_o.hdr.addr       = p_hdr.addr;
  assign win_p_o.hdr.len_dw     = p_hdr.len_dw;
  assign win_p_o.hdr.first_be   = p_hdr.first_be;
  assign win_p_o.hdr.last_be    = p_hdr.last_be;
  assign win_p_o.hdr.tag        = 10'd0;
  assign win_p_o.hdr.requester  = p_hdr.requester;
  assign win_p_o.hdr.completer  = 16'd0;
  assign win_p_o.hdr.status     = ggas_pkg::CPL_SC;
  assign win_p_o.hdr.byte_count = 13'd0;
  assign win_p_o.hdr.lower_addr = 7'd0;
  assign win_p_o.hdr.attr       = p_hdr.attr;
  assign win_p_o.hdr.poisoned   = 1'b0;

  assign page_o.valid = p_valid && p_page;
  assign page_o.sop   = p_sop;
  assign page_o.eop   = p_eop;
  assign page_data_o  = p_data;
  always_comb begin
    page_o.hdr      = win_p_o.hdr;
    page_o.hdr.bar  = ggas_pkg::BAR_PAGES;
    page_o.hdr.addr = in_pages(p_hdr.addr);
  end

  // Units see pages 4 KB apart, whatever their distance is on the bus.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [63:0] in_pages(input logic [63:0] addr);
    logic beyond;  // where no page is: after the first 4 KB of one, after the last one
    beyond   = (addr >> (PAGE_LOG2 + 9)) != '0 || (addr[PAGE_LOG2-1:0] >> 12) != '0;
    in_pages = {42'd0, beyond, addr[PAGE_LOG2+:9], addr[11:0]};
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // ---- non-posted requests and registers
  logic np_cpl_valid, np_cpl_ready, np_win_valid, np_busy, reg_unsupported;
  ggas_pkg::tlp_hdr_t np_cpl_hdr, np_win_hdr;
  logic [63:0] np_cpl_data;
  logic [39:0] reg_info;

  hostif_np #(.DEPTH(NP_CREDITS)) i_np (
    .clk_i, .rst_ni, .p_commit_i(p_commit), .p_done_i(p_valid && p_ready && p_eop), .full_o(np_full), .push_i(np_push),
    .push_hdr_i(np_hdr), .credit_o(np_credit_o), .win_valid_o(np_win_valid), .win_ready_i(win_np_ready_i),
    .win_hdr_o(np_win_hdr), .wr_valid_i(p_valid && p_regs), .wr_addr_i(p_hdr.addr[15:0]), .wr_dword_i(p_hdr.len_dw[1]),
    .wr_data_i(p_data[63:0]), .reg_req_o(reg_o.req), .reg_write_o(reg_o.write), .reg_addr_o(reg_o.addr),
    .reg_wdata_o(reg_o.wdata), .reg_wstrb_o(reg_o.wstrb), .reg_rdata_i, .reg_error_i, .cpl_valid_o(np_cpl_valid),
    .cpl_ready_i(np_cpl_ready), .cpl_hdr_o(np_cpl_hdr),
    .cpl_data_o(np_cpl_data), .unsupported_o(reg_unsupported), .info_o(reg_info), .busy_o(np_busy)
  );

  always_comb begin
    win_np_o = {np_win_valid, np_win_hdr};
    if (np_win_hdr.bar == ggas_pkg::BAR_PAGES) win_np_o.hdr.addr = in_pages(np_win_hdr.addr);
  end

  // ---- completions in
  logic cpl_malformed, cpl_unexpected, cpl_busy;
  logic [39:0] cpl_info;

  hostif_cpl #(.DATA_W(DATA_W)) i_cpl (
    .clk_i, .rst_ni, .rx_i(rx_cpl_i), .rx_ready_o(rx_cpl_ready_o), .rx_data_i(rx_cpl_data_i),
    .tgt_valid_o(tgt_cpl_o.valid), .tgt_ready_i(tgt_cpl_ready_i), .tgt_sop_o(tgt_cpl_o.sop), .tgt_eop_o(tgt_cpl_o.eop),
    .tgt_hdr_o(tgt_cpl_o.hdr), .tgt_data_o(tgt_cpl_data_o), .rma_valid_o(rma_cpl_o.valid),
    .rma_ready_i(rma_cpl_ready_i), .malformed_o(cpl_malformed), .unexpected_o(cpl_unexpected), .info_o(cpl_info),
    .busy_o(cpl_busy)
  );

  assign rma_cpl_o.sop  = tgt_cpl_o.sop;
  assign rma_cpl_o.eop  = tgt_cpl_o.eop;
  assign rma_cpl_o.hdr  = tgt_cpl_o.hdr;
  assign rma_cpl_data_o = tgt_cpl_data_o;

  // ---- out
  assign reads_ok_o = tx_np_ok_i || !bus_master_i;
  logic tx_busy, tx_dropped;

  hostif_tx #(.DATA_W(DATA_W)) i_tx (
    .clk_i, .rst_ni, .cfg_bus_id_i, .bus_master_i, .closing_i, .open_o, .dropped_o(tx_dropped), .tgt_i(tgt_req_i),
    .tgt_ready_o(tgt_req_ready_o), .tgt_data_i(tgt_req_data_i), .wr_i(rma_wr_i), .wr_ready_o(rma_wr_ready_o),
    .wr_data_i(rma_wr_data_i), .rd_valid_i(rma_rd_i.valid), .rd_ready_o(rma_rd_ready_o), .rd_hdr_i(rma_rd_i.hdr),
    .np_ok_i(reads_ok_o), .evt_valid_i(evt_i.valid), .evt_ready_o, .evt_addr_i(evt_i.addr), .evt_data_i(evt_i.data),
    .msix_valid_i(msix_i.valid), .msix_ready_o, .msix_addr_i(msix_i.addr), .msix_data_i(msix_i.data),
    .ld_i(ld_cpl_i), .ld_ready_o(ld_cpl_ready_o), .ld_data_i(ld_cpl_data_i),
    .np_valid_i(np_cpl_valid), .np_ready_o(np_cpl_ready), .np_hdr_i(np_cpl_hdr), .np_data_i(np_cpl_data),
    .req_valid_o(tx_req_o.valid), .req_ready_i(tx_req_ready_i), .req_sop_o(tx_req_o.sop), .req_eop_o(tx_req_o.eop),
    .req_hdr_o(tx_req_o.hdr), .req_data_o(tx_req_data_o), .cpl_valid_o(tx_cpl_o.valid), .cpl_ready_i(tx_cpl_ready_i),
    .cpl_sop_o(tx_cpl_o.sop), .cpl_eop_o(tx_cpl_o.eop), .cpl_hdr_o(tx_cpl_o.hdr), .cpl_data_o(tx_cpl_data_o),
    .cnt_req_o(cnt_o[1]), .cnt_cpl_o(cnt_o[2]), .busy_o(tx_busy)
  );

  // ---- events: one record waits; events that occur while it waits are only counted
  // Writes to a page come from its user.
  wire page_write = rx_req_i.hdr.kind == ggas_pkg::TLP_MWR && rx_req_i.hdr.bar == ggas_pkg::BAR_PAGES && rx_unsupported;
  // verilator lint_off UNUSEDSIGNAL
  wire [63:0] page_info = in_pages(rx_req_i.hdr.addr);
  // verilator lint_on UNUSEDSIGNAL
  ggas_regs_pkg::event_set_t req_pulse, cpl_pulse, reg_pulse;
  assign ev_pulse_o = {reg_pulse, cpl_pulse, req_pulse};
  always_comb begin
    {req_pulse, cpl_pulse, reg_pulse} = '0;
    req_pulse[ggas_regs_pkg::EV_MALFORMED_TLP[5:0]]    = rx_malformed;
    req_pulse[ggas_regs_pkg::EV_UNSUPPORTED_TLP[5:0]]  = rx_unsupported && !page_write;
    req_pulse[ggas_regs_pkg::EV_PAGE_ACCESS[5:0]]      = rx_unsupported && page_write;
    req_pulse[ggas_regs_pkg::EV_REQUEST_DROPPED[5:0]]  = tx_dropped;
    cpl_pulse[ggas_regs_pkg::EV_MALFORMED_TLP[5:0]]   = cpl_malformed;
    cpl_pulse[ggas_regs_pkg::EV_UNEXPECTED_CPL[5:0]]  = cpl_unexpected;
    reg_pulse[ggas_regs_pkg::EV_UNSUPPORTED_TLP[5:0]] = reg_unsupported;
  end

  wire event_new = rx_malformed || rx_unsupported || cpl_malformed || cpl_unexpected || reg_unsupported;

  always_ff @(posedge clk_i) begin
    if (event_new && !event_valid_o) begin
      event_o.node <= 16'd0;
      if (rx_malformed || rx_unsupported) begin
        event_o.code <= rx_malformed ? ggas_regs_pkg::EV_MALFORMED_TLP :
                        page_write ? ggas_regs_pkg::EV_PAGE_ACCESS : ggas_regs_pkg::EV_UNSUPPORTED_TLP;
        event_o.info <= page_write ? page_info[39:0] : rx_info;
      end else if (cpl_malformed || cpl_unexpected) begin
        event_o.code <= cpl_malformed ? ggas_regs_pkg::EV_MALFORMED_TLP : ggas_regs_pkg::EV_UNEXPECTED_CPL;
        event_o.info <= cpl_info;
      end else begin
        event_o.code <= ggas_regs_pkg::EV_UNSUPPORTED_TLP;
        event_o.info <= reg_info;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) event_valid_o <= 1'b0;
    else if (event_valid_o) event_valid_o <= !event_ready_i;
    else event_valid_o <= event_new;
  end

  assign busy_o = rx_busy || np_busy || cpl_busy || tx_busy || event_valid_o;

`ifndef SYNTHESIS
  initial begin
    if ($bits(p_hdr) != hostif_pkg::POSTED_W) $error("hostif_pkg::POSTED_W is wrong");
    if (PAGE_LOG2 != 12 && PAGE_LOG2 != 16) $error("hostif: PAGE_LOG2 must be 12 or 16");
  end
`endif

endmodule

`default_nettype wire
