// SPDX-License-Identifier: Apache-2.0
// Between the TLP boundary of the NIC (docs/tlp-boundary.md) and the hard PCIe block of UltraScale+ (PCIE4, PCIE4C):
// wiring of its streams, tags and configuration. The block's settings that this needs are in docs/board.md.
`default_nettype none

module usp_shim #(
    /// Bits of a beat on both sides: 256 or 512.
    parameter int unsigned DATA_W = 256,
    /// As of nic_top, at most 32.
    parameter int unsigned NP_CREDITS = 32,
    /// Bits of tuser of each stream.
    localparam int unsigned CQ_W = DATA_W == 512 ? 183 : 88,
    localparam int unsigned CC_W = DATA_W == 512 ? 81 : 33,
    localparam int unsigned RQ_W = DATA_W == 512 ? 137 : 62,
    localparam int unsigned RC_W = DATA_W == 512 ? 161 : 75
) (
    /// user_clk, and its reset released synchronously.
    input  wire logic                 clk_i,
    input  wire logic                 rst_ni,

    /// Completer requests.
    input  wire logic                 cq_tvalid_i,
    output      logic                 cq_tready_o,
    input  wire logic                 cq_tlast_i,
    input  wire logic [DATA_W/32-1:0] cq_tkeep_i,
    input  wire logic [CQ_W-1:0]      cq_tuser_i,
    input  wire logic [DATA_W-1:0]    cq_tdata_i,
    output      logic [1:0]           cq_np_req_o,
    /// Completer completions.
    output      logic                 cc_tvalid_o,
    input  wire logic                 cc_tready_i,
    output      logic                 cc_tlast_o,
    output      logic [DATA_W/32-1:0] cc_tkeep_o,
    output      logic [CC_W-1:0]      cc_tuser_o,
    output      logic [DATA_W-1:0]    cc_tdata_o,
    /// Requester requests.
    output      logic                 rq_tvalid_o,
    input  wire logic                 rq_tready_i,
    output      logic                 rq_tlast_o,
    output      logic [DATA_W/32-1:0] rq_tkeep_o,
    output      logic [RQ_W-1:0]      rq_tuser_o,
    output      logic [DATA_W-1:0]    rq_tdata_o,
    input  wire logic [11:0]          rq_seq_num_i,
    input  wire logic [1:0]           rq_seq_num_vld_i,
    input  wire logic [15:0]          rq_tag_i,
    input  wire logic [1:0]           rq_tag_vld_i,
    input  wire logic [3:0]           rq_tag_av_i,
    input  wire logic [3:0]           tfc_nph_av_i,
    /// Requester completions.
    input  wire logic                 rc_tvalid_i,
    output      logic                 rc_tready_o,
    input  wire logic                 rc_tlast_i,
    input  wire logic [DATA_W/32-1:0] rc_tkeep_i,
    input  wire logic [RC_W-1:0]      rc_tuser_i,
    input  wire logic [DATA_W-1:0]    rc_tdata_i,

    /// Configuration: see usp_cfg.
    input  wire logic [1:0]           cfg_max_payload_i,
    input  wire logic [2:0]           cfg_max_read_req_i,
    input  wire logic [3:0]           cfg_function_status_i,
    input  wire logic [7:0]           cfg_bus_number_i,
    input  wire logic                 cfg_msix_enable_i,
    input  wire logic                 cfg_msix_mask_i,
    input  wire logic                 cfg_flr_in_process_i,
    output      logic                 cfg_flr_done_o,
    /// cfg_err_uncor_in: a pulse for data that the block's buffer has lost.
    output      logic                 cfg_err_uncor_o,

    /// The NIC: its configuration, its function-level reset, and its streams of TLPs.
    output      ggas_pkg::host_config_t nic_o,
    output      logic                 nic_flr_o,
    input  wire logic                 nic_flr_done_i,
    output      ggas_pkg::tlp_beat_t  rx_req_o,
    input  wire logic                 rx_req_ready_i,
    output      logic [DATA_W-1:0]    rx_req_data_o,
    input  wire logic                 np_credit_i,
    output      ggas_pkg::tlp_beat_t  rx_cpl_o,
    input  wire logic                 rx_cpl_ready_i,
    output      logic [DATA_W-1:0]    rx_cpl_data_o,
    input  wire ggas_pkg::tlp_beat_t  tx_req_i,
    output      logic                 tx_req_ready_o,
    input  wire logic [DATA_W-1:0]    tx_req_data_i,
    output      logic                 tx_np_ok_o,
    input  wire ggas_pkg::tlp_beat_t  tx_cpl_i,
    output      logic                 tx_cpl_ready_o,
    input  wire logic [DATA_W-1:0]    tx_cpl_data_i
);
  logic       cq_broken, rc_broken, tag_valid, tag_ready;
  logic [9:0] tag, look_nic;
  logic [7:0] look;
  logic [4:0] writes_open, writes_ahead;

  usp_cq #(.DATA_W(DATA_W), .NP_CREDITS(NP_CREDITS)) i_cq (
      .clk_i, .rst_ni, .cq_tvalid_i, .cq_tready_o, .cq_tlast_i, .cq_tkeep_i, .cq_tuser_i, .cq_tdata_i, .cq_np_req_o,
      .req_valid_o(rx_req_o.valid), .req_ready_i(rx_req_ready_i), .req_sop_o(rx_req_o.sop), .req_eop_o(rx_req_o.eop),
      .req_hdr_o(rx_req_o.hdr), .req_data_o(rx_req_data_o), .np_credit_i, .flr_done_i(nic_flr_done_i),
      .broken_o(cq_broken)
  );
  usp_cc #(.DATA_W(DATA_W)) i_cc (
      .clk_i, .rst_ni, .cpl_i(tx_cpl_i), .cpl_ready_o(tx_cpl_ready_o), .cpl_data_i(tx_cpl_data_i),
      .writes_open_i(writes_open), .writes_ahead_i(writes_ahead), .cc_tvalid_o, .cc_tready_i, .cc_tlast_o, .cc_tkeep_o,
      .cc_tuser_o, .cc_tdata_o
  );
  usp_rq #(.DATA_W(DATA_W)) i_rq (
      .clk_i, .rst_ni, .req_i(tx_req_i), .req_ready_o(tx_req_ready_o), .req_data_i(tx_req_data_i), .np_ok_o(tx_np_ok_o),
      .tag_valid_o(tag_valid), .tag_ready_i(tag_ready), .tag_o(tag), .writes_open_o(writes_open),
      .writes_ahead_o(writes_ahead), .rq_tvalid_o, .rq_tready_i, .rq_tlast_o, .rq_tkeep_o, .rq_tuser_o, .rq_tdata_o,
      .rq_seq_num_i, .rq_seq_num_vld_i, .rq_tag_av_i, .tfc_nph_av_i
  );
  usp_tags i_tags (
      .clk_i, .rst_ni, .read_valid_i(tag_valid), .read_ready_o(tag_ready), .read_tag_i(tag), .rq_tag_i, .rq_tag_vld_i,
      .look_i(look), .look_o(look_nic)
  );
  usp_rc #(.DATA_W(DATA_W)) i_rc (
      .clk_i, .rst_ni, .rc_tvalid_i, .rc_tready_o, .rc_tlast_i, .rc_tkeep_i, .rc_tuser_i, .rc_tdata_i, .look_o(look),
      .look_i(look_nic), .cpl_valid_o(rx_cpl_o.valid), .cpl_ready_i(rx_cpl_ready_i), .cpl_sop_o(rx_cpl_o.sop),
      .cpl_eop_o(rx_cpl_o.eop), .cpl_hdr_o(rx_cpl_o.hdr), .cpl_data_o(rx_cpl_data_o), .broken_o(rc_broken)
  );
  usp_cfg i_cfg (
      .clk_i, .rst_ni, .max_payload_i(cfg_max_payload_i), .max_read_req_i(cfg_max_read_req_i),
      .function_status_i(cfg_function_status_i), .bus_number_i(cfg_bus_number_i), .msix_enable_i(cfg_msix_enable_i),
      .msix_mask_i(cfg_msix_mask_i), .flr_in_process_i(cfg_flr_in_process_i), .flr_done_o(cfg_flr_done_o), .nic_o,
      .nic_flr_o, .nic_flr_done_i
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cfg_err_uncor_o <= 1'b0;
    else cfg_err_uncor_o <= cq_broken || rc_broken;
  end
endmodule

`default_nettype wire
