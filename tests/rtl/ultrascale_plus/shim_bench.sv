// SPDX-License-Identifier: Apache-2.0
// The shim between the model of the hard block (`block`) and the software of shim_cases.py, which plays the NIC.
`default_nettype none

module shim_bench #(
    parameter int unsigned DATA_W = 256
) ();
  logic user_clk;
  // ---- written by software
    logic nic_flr_done, np_credit, rx_req_ready, rx_cpl_ready, tx_req_valid, tx_req_sop, tx_req_eop, tx_cpl_valid,
    tx_cpl_sop, tx_cpl_eop;
    logic [ggas_pkg::TLP_HDR_W-1:0] tx_req_hdr, tx_cpl_hdr;
    logic [DATA_W-1:0] tx_req_data, tx_cpl_data;
  // ---- read by it
    logic [12:0] nic_mps, nic_mrrs;
    logic [15:0] nic_bus_id;
    logic nic_msix_enable, nic_msix_mask, nic_bus_master, nic_flr, np_ok, rx_req_valid, rx_req_sop, rx_req_eop,
    rx_cpl_valid, rx_cpl_sop, rx_cpl_eop, tx_req_ready, tx_cpl_ready;
    logic [ggas_pkg::TLP_HDR_W-1:0] rx_req_hdr, rx_cpl_hdr;
    logic [DATA_W-1:0] rx_req_data, rx_cpl_data;
  // ---- what software wrote, see block_side
    logic nic_flr_done_q, np_credit_q, rx_req_ready_q, rx_cpl_ready_q, tx_req_valid_q, tx_req_sop_q, tx_req_eop_q,
    tx_cpl_valid_q, tx_cpl_sop_q, tx_cpl_eop_q;
    logic [ggas_pkg::TLP_HDR_W-1:0] tx_req_hdr_q, tx_cpl_hdr_q;
    logic [DATA_W-1:0] tx_req_data_q, tx_cpl_data_q;

  initial begin
    {user_clk, nic_flr_done, np_credit, rx_req_ready, rx_cpl_ready, tx_req_valid, tx_req_sop, tx_req_eop,
     tx_req_hdr, tx_req_data, tx_cpl_valid, tx_cpl_sop, tx_cpl_eop, tx_cpl_hdr, tx_cpl_data} = '0;
  end
  always_ff @(negedge user_clk) begin
    nic_flr_done_q <= nic_flr_done;
    np_credit_q <= np_credit;
    rx_req_ready_q <= rx_req_ready;
    rx_cpl_ready_q <= rx_cpl_ready;
    tx_req_valid_q <= tx_req_valid;
    tx_req_sop_q <= tx_req_sop;
    tx_req_eop_q <= tx_req_eop;
    tx_req_hdr_q <= tx_req_hdr;
    tx_req_data_q <= tx_req_data;
    tx_cpl_valid_q <= tx_cpl_valid;
    tx_cpl_sop_q <= tx_cpl_sop;
    tx_cpl_eop_q <= tx_cpl_eop;
    tx_cpl_hdr_q <= tx_cpl_hdr;
    tx_cpl_data_q <= tx_cpl_data;
  end

  // ---- the block
  localparam int unsigned CQ_W = DATA_W == 512 ? 183 : 88, CC_W = DATA_W == 512 ? 81 : 33;
  localparam int unsigned RQ_W = DATA_W == 512 ? 137 : 62, RC_W = DATA_W == 512 ? 161 : 75;
  logic cq_tvalid, cq_tready, cq_tlast, cc_tvalid, cc_tready, cc_tlast, rq_tvalid, rq_tready, rq_tlast, rc_tvalid,
  rc_tready, rc_tlast, cfg_msix_enable, cfg_msix_mask, cfg_flr_in_process, cfg_flr_done, cfg_err_uncor;
  logic [DATA_W/32-1:0] cq_tkeep, cc_tkeep, rq_tkeep, rc_tkeep;
  logic [CQ_W-1:0] cq_tuser;
  logic [DATA_W-1:0] cq_tdata, cc_tdata, rq_tdata, rc_tdata;
  logic [1:0] cq_np_req, rq_seq_num_vld, rq_tag_vld, cfg_max_payload;
  logic [CC_W-1:0] cc_tuser;
  logic [RQ_W-1:0] rq_tuser;
  logic [11:0] rq_seq_num;
  logic [15:0] rq_tag;
  logic [3:0] rq_tag_av, tfc_nph_av, cfg_function_status;
  logic [RC_W-1:0] rc_tuser;
  logic [2:0] cfg_max_read_req;
  logic [7:0] cfg_bus_number;
  logic user_reset;
  block_side #(.DATA_W(DATA_W)) block (
      .clk_i(user_clk), .reset_o(user_reset), .cq_tvalid_o(cq_tvalid), .cq_tready_i(cq_tready),
      .cq_tlast_o(cq_tlast), .cq_tkeep_o(cq_tkeep), .cq_tuser_o(cq_tuser), .cq_tdata_o(cq_tdata),
      .cq_np_req_i(cq_np_req), .cc_tvalid_i(cc_tvalid), .cc_tready_o(cc_tready), .cc_tlast_i(cc_tlast),
      .cc_tkeep_i(cc_tkeep), .cc_tuser_i(cc_tuser), .cc_tdata_i(cc_tdata), .rq_tvalid_i(rq_tvalid),
      .rq_tready_o(rq_tready), .rq_tlast_i(rq_tlast), .rq_tkeep_i(rq_tkeep), .rq_tuser_i(rq_tuser),
      .rq_tdata_i(rq_tdata), .rq_seq_num_o(rq_seq_num), .rq_seq_num_vld_o(rq_seq_num_vld), .rq_tag_o(rq_tag),
      .rq_tag_vld_o(rq_tag_vld), .rq_tag_av_o(rq_tag_av), .tfc_nph_av_o(tfc_nph_av), .rc_tvalid_o(rc_tvalid),
      .rc_tready_i(rc_tready), .rc_tlast_o(rc_tlast), .rc_tkeep_o(rc_tkeep), .rc_tuser_o(rc_tuser),
      .rc_tdata_o(rc_tdata), .cfg_max_payload_o(cfg_max_payload), .cfg_max_read_req_o(cfg_max_read_req),
      .cfg_function_status_o(cfg_function_status), .cfg_bus_number_o(cfg_bus_number),
      .cfg_msix_enable_o(cfg_msix_enable), .cfg_msix_mask_o(cfg_msix_mask),
      .cfg_flr_in_process_o(cfg_flr_in_process), .cfg_flr_done_i(cfg_flr_done), .cfg_err_uncor_i(cfg_err_uncor)
  );
  usp_shim #(.DATA_W(DATA_W)) i_shim (
      .clk_i(user_clk), .rst_ni(!user_reset), .cq_tvalid_i(cq_tvalid), .cq_tready_o(cq_tready),
      .cq_tlast_i(cq_tlast), .cq_tkeep_i(cq_tkeep), .cq_tuser_i(cq_tuser), .cq_tdata_i(cq_tdata),
      .cq_np_req_o(cq_np_req), .cc_tvalid_o(cc_tvalid), .cc_tready_i(cc_tready), .cc_tlast_o(cc_tlast),
      .cc_tkeep_o(cc_tkeep), .cc_tuser_o(cc_tuser), .cc_tdata_o(cc_tdata), .rq_tvalid_o(rq_tvalid),
      .rq_tready_i(rq_tready), .rq_tlast_o(rq_tlast), .rq_tkeep_o(rq_tkeep), .rq_tuser_o(rq_tuser),
      .rq_tdata_o(rq_tdata), .rq_seq_num_i(rq_seq_num), .rq_seq_num_vld_i(rq_seq_num_vld), .rq_tag_i(rq_tag),
      .rq_tag_vld_i(rq_tag_vld), .rq_tag_av_i(rq_tag_av), .tfc_nph_av_i(tfc_nph_av), .rc_tvalid_i(rc_tvalid),
      .rc_tready_o(rc_tready), .rc_tlast_i(rc_tlast), .rc_tkeep_i(rc_tkeep), .rc_tuser_i(rc_tuser),
      .rc_tdata_i(rc_tdata), .cfg_max_payload_i(cfg_max_payload), .cfg_max_read_req_i(cfg_max_read_req),
      .cfg_function_status_i(cfg_function_status), .cfg_bus_number_i(cfg_bus_number),
      .cfg_msix_enable_i(cfg_msix_enable), .cfg_msix_mask_i(cfg_msix_mask),
      .cfg_flr_in_process_i(cfg_flr_in_process), .cfg_flr_done_o(cfg_flr_done), .cfg_err_uncor_o(cfg_err_uncor),
      .nic_o({nic_mps, nic_mrrs, nic_bus_id, nic_msix_enable, nic_msix_mask, nic_bus_master}),
      .nic_flr_o(nic_flr), .nic_flr_done_i(nic_flr_done_q), .np_credit_i(np_credit_q), .tx_np_ok_o(np_ok),
      .rx_req_o({rx_req_valid, rx_req_sop, rx_req_eop, rx_req_hdr}), .rx_req_ready_i(rx_req_ready_q),
      .rx_req_data_o(rx_req_data), .rx_cpl_o({rx_cpl_valid, rx_cpl_sop, rx_cpl_eop, rx_cpl_hdr}),
      .rx_cpl_ready_i(rx_cpl_ready_q), .rx_cpl_data_o(rx_cpl_data),
      .tx_req_i({tx_req_valid_q, tx_req_sop_q, tx_req_eop_q, tx_req_hdr_q}), .tx_req_ready_o(tx_req_ready),
      .tx_req_data_i(tx_req_data_q), .tx_cpl_i({tx_cpl_valid_q, tx_cpl_sop_q, tx_cpl_eop_q, tx_cpl_hdr_q}),
      .tx_cpl_ready_o(tx_cpl_ready), .tx_cpl_data_i(tx_cpl_data_q)
  );
endmodule

`default_nettype wire
