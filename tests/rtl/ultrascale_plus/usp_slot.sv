// SPDX-License-Identifier: Apache-2.0
// The shim with the hard block's side as signals of software. Verilator does not see when VPI writes a variable, so
// what software writes after an edge is taken at the next falling edge: as if it had been there from the rising edge on.
`default_nettype none

module usp_slot #(
    parameter int unsigned DATA_W = 256
) (
    input  wire logic clk_i,
    output      logic rst_no,
    // ---- the NIC
    output      logic [12:0]                         nic_mps_o,
    output      logic [12:0]                         nic_mrrs_o,
    output      logic [15:0]                         nic_bus_id_o,
    output      logic                                nic_msix_enable_o,
    output      logic                                nic_msix_mask_o,
    output      logic                                nic_bus_master_o,
    output      logic                                nic_flr_o,
    input  wire logic                                nic_flr_done_i,
    input  wire logic                                np_credit_i,
    output      logic                                np_ok_o,
    output      logic                                rx_req_valid_o,
    input  wire logic                                rx_req_ready_i,
    output      logic                                rx_req_sop_o,
    output      logic                                rx_req_eop_o,
    output      logic [ggas_pkg::TLP_HDR_W-1:0]      rx_req_hdr_o,
    output      logic [DATA_W-1:0]                   rx_req_data_o,
    output      logic                                rx_cpl_valid_o,
    input  wire logic                                rx_cpl_ready_i,
    output      logic                                rx_cpl_sop_o,
    output      logic                                rx_cpl_eop_o,
    output      logic [ggas_pkg::TLP_HDR_W-1:0]      rx_cpl_hdr_o,
    output      logic [DATA_W-1:0]                   rx_cpl_data_o,
    input  wire logic                                tx_req_valid_i,
    output      logic                                tx_req_ready_o,
    input  wire logic                                tx_req_sop_i,
    input  wire logic                                tx_req_eop_i,
    input  wire logic [ggas_pkg::TLP_HDR_W-1:0]      tx_req_hdr_i,
    input  wire logic [DATA_W-1:0]                   tx_req_data_i,
    input  wire logic                                tx_cpl_valid_i,
    output      logic                                tx_cpl_ready_o,
    input  wire logic                                tx_cpl_sop_i,
    input  wire logic                                tx_cpl_eop_i,
    input  wire logic [ggas_pkg::TLP_HDR_W-1:0]      tx_cpl_hdr_i,
    input  wire logic [DATA_W-1:0]                   tx_cpl_data_i
);
  localparam int unsigned CQ_W = DATA_W == 512 ? 183 : 88, CC_W = DATA_W == 512 ? 81 : 33;
  localparam int unsigned RQ_W = DATA_W == 512 ? 137 : 62, RC_W = DATA_W == 512 ? 161 : 75;
  // ---- written by software
    logic user_reset, cq_tvalid, cq_tlast, cc_tready, rq_tready, rc_tvalid, rc_tlast, pcie_rq_seq_num_vld0,
    pcie_rq_seq_num_vld1, pcie_rq_tag_vld0, pcie_rq_tag_vld1, cfg_flr_in_process;
    logic [DATA_W/32-1:0] cq_tkeep, rc_tkeep;
    logic [CQ_W-1:0] cq_tuser;
    logic [DATA_W-1:0] cq_tdata, rc_tdata;
    logic [RC_W-1:0] rc_tuser;
    logic [5:0] pcie_rq_seq_num0, pcie_rq_seq_num1;
    logic [7:0] pcie_rq_tag0, pcie_rq_tag1, cfg_bus_number;
    logic [3:0] pcie_rq_tag_av, pcie_tfc_nph_av, cfg_interrupt_msix_enable, cfg_interrupt_msix_mask;
    logic [1:0] cfg_max_payload;
    logic [2:0] cfg_max_read_req;
    logic [15:0] cfg_function_status;
  // ---- read by it
    logic cq_tready, cc_tvalid, cc_tlast, rq_tvalid, rq_tlast, rc_tready, cfg_flr_done, cfg_err_uncor;
    logic [DATA_W/32-1:0] cc_tkeep, rq_tkeep;
    logic [CC_W-1:0] cc_tuser;
    logic [DATA_W-1:0] cc_tdata, rq_tdata;
    logic [RQ_W-1:0] rq_tuser;
    logic [1:0] pcie_cq_np_req;
  // ---- what software wrote
    logic user_reset_q, cq_tvalid_q, cq_tlast_q, cc_tready_q, rq_tready_q, rc_tvalid_q, rc_tlast_q,
    pcie_rq_seq_num_vld0_q, pcie_rq_seq_num_vld1_q, pcie_rq_tag_vld0_q, pcie_rq_tag_vld1_q, cfg_flr_in_process_q;
    logic [DATA_W/32-1:0] cq_tkeep_q, rc_tkeep_q;
    logic [CQ_W-1:0] cq_tuser_q;
    logic [DATA_W-1:0] cq_tdata_q, rc_tdata_q;
    logic [RC_W-1:0] rc_tuser_q;
    logic [5:0] pcie_rq_seq_num0_q, pcie_rq_seq_num1_q;
    logic [7:0] pcie_rq_tag0_q, pcie_rq_tag1_q, cfg_bus_number_q;
    logic [3:0] pcie_rq_tag_av_q, pcie_tfc_nph_av_q, cfg_interrupt_msix_enable_q, cfg_interrupt_msix_mask_q;
    logic [1:0] cfg_max_payload_q;
    logic [2:0] cfg_max_read_req_q;
    logic [15:0] cfg_function_status_q;

  initial begin
    {user_reset, cq_tvalid, cq_tlast, cq_tkeep, cq_tuser, cq_tdata, cc_tready, rq_tready, rc_tvalid, rc_tlast,
     rc_tkeep, rc_tuser, rc_tdata, pcie_rq_seq_num0, pcie_rq_seq_num_vld0, pcie_rq_seq_num1,
     pcie_rq_seq_num_vld1, pcie_rq_tag0, pcie_rq_tag_vld0, pcie_rq_tag1, pcie_rq_tag_vld1, pcie_rq_tag_av,
     pcie_tfc_nph_av, cfg_max_payload, cfg_max_read_req, cfg_function_status, cfg_bus_number,
     cfg_interrupt_msix_enable, cfg_interrupt_msix_mask, cfg_flr_in_process} = '0;
    user_reset = 1'b1;
  end
  always_ff @(negedge clk_i) begin
    user_reset_q <= user_reset;
    cq_tvalid_q <= cq_tvalid;
    cq_tlast_q <= cq_tlast;
    cq_tkeep_q <= cq_tkeep;
    cq_tuser_q <= cq_tuser;
    cq_tdata_q <= cq_tdata;
    cc_tready_q <= cc_tready;
    rq_tready_q <= rq_tready;
    rc_tvalid_q <= rc_tvalid;
    rc_tlast_q <= rc_tlast;
    rc_tkeep_q <= rc_tkeep;
    rc_tuser_q <= rc_tuser;
    rc_tdata_q <= rc_tdata;
    pcie_rq_seq_num0_q <= pcie_rq_seq_num0;
    pcie_rq_seq_num_vld0_q <= pcie_rq_seq_num_vld0;
    pcie_rq_seq_num1_q <= pcie_rq_seq_num1;
    pcie_rq_seq_num_vld1_q <= pcie_rq_seq_num_vld1;
    pcie_rq_tag0_q <= pcie_rq_tag0;
    pcie_rq_tag_vld0_q <= pcie_rq_tag_vld0;
    pcie_rq_tag1_q <= pcie_rq_tag1;
    pcie_rq_tag_vld1_q <= pcie_rq_tag_vld1;
    pcie_rq_tag_av_q <= pcie_rq_tag_av;
    pcie_tfc_nph_av_q <= pcie_tfc_nph_av;
    cfg_max_payload_q <= cfg_max_payload;
    cfg_max_read_req_q <= cfg_max_read_req;
    cfg_function_status_q <= cfg_function_status;
    cfg_bus_number_q <= cfg_bus_number;
    cfg_interrupt_msix_enable_q <= cfg_interrupt_msix_enable;
    cfg_interrupt_msix_mask_q <= cfg_interrupt_msix_mask;
    cfg_flr_in_process_q <= cfg_flr_in_process;
  end
  assign rst_no = !user_reset_q;

  usp_shim #(.DATA_W(DATA_W)) i_shim (
      .clk_i, .rst_ni(!user_reset_q), .cq_tvalid_i(cq_tvalid_q), .cq_tready_o(cq_tready),
      .cq_tlast_i(cq_tlast_q), .cq_tkeep_i(cq_tkeep_q), .cq_tuser_i(cq_tuser_q), .cq_tdata_i(cq_tdata_q),
      .cq_np_req_o(pcie_cq_np_req), .cc_tvalid_o(cc_tvalid), .cc_tready_i(cc_tready_q), .cc_tlast_o(cc_tlast),
      .cc_tkeep_o(cc_tkeep), .cc_tuser_o(cc_tuser), .cc_tdata_o(cc_tdata), .rq_tvalid_o(rq_tvalid),
      .rq_tready_i(rq_tready_q), .rq_tlast_o(rq_tlast), .rq_tkeep_o(rq_tkeep), .rq_tuser_o(rq_tuser),
      .rq_tdata_o(rq_tdata), .rq_seq_num_i({pcie_rq_seq_num1_q, pcie_rq_seq_num0_q}),
      .rq_seq_num_vld_i({pcie_rq_seq_num_vld1_q, pcie_rq_seq_num_vld0_q}), .rq_tag_i({pcie_rq_tag1_q,
      pcie_rq_tag0_q}), .rq_tag_vld_i({pcie_rq_tag_vld1_q, pcie_rq_tag_vld0_q}), .rq_tag_av_i(pcie_rq_tag_av_q),
      .tfc_nph_av_i(pcie_tfc_nph_av_q), .rc_tvalid_i(rc_tvalid_q), .rc_tready_o(rc_tready),
      .rc_tlast_i(rc_tlast_q), .rc_tkeep_i(rc_tkeep_q), .rc_tuser_i(rc_tuser_q), .rc_tdata_i(rc_tdata_q),
      .cfg_max_payload_i(cfg_max_payload_q), .cfg_max_read_req_i(cfg_max_read_req_q),
      .cfg_function_status_i(cfg_function_status_q[3:0]), .cfg_bus_number_i(cfg_bus_number_q),
      .cfg_msix_enable_i(cfg_interrupt_msix_enable_q[0]), .cfg_msix_mask_i(cfg_interrupt_msix_mask_q[0]),
      .cfg_flr_in_process_i(cfg_flr_in_process_q), .cfg_flr_done_o(cfg_flr_done),
      .cfg_err_uncor_o(cfg_err_uncor), .nic_mps_o(nic_mps_o), .nic_mrrs_o(nic_mrrs_o),
      .nic_bus_id_o(nic_bus_id_o), .nic_msix_enable_o(nic_msix_enable_o), .nic_msix_mask_o(nic_msix_mask_o),
      .nic_bus_master_o(nic_bus_master_o), .nic_flr_o(nic_flr_o), .nic_flr_done_i(nic_flr_done_i),
      .rx_req_valid_o(rx_req_valid_o), .rx_req_ready_i(rx_req_ready_i), .rx_req_sop_o(rx_req_sop_o),
      .rx_req_eop_o(rx_req_eop_o), .rx_req_hdr_o(rx_req_hdr_o), .rx_req_data_o(rx_req_data_o),
      .np_credit_i(np_credit_i), .rx_cpl_valid_o(rx_cpl_valid_o), .rx_cpl_ready_i(rx_cpl_ready_i),
      .rx_cpl_sop_o(rx_cpl_sop_o), .rx_cpl_eop_o(rx_cpl_eop_o), .rx_cpl_hdr_o(rx_cpl_hdr_o),
      .rx_cpl_data_o(rx_cpl_data_o), .tx_req_valid_i(tx_req_valid_i), .tx_req_ready_o(tx_req_ready_o),
      .tx_req_sop_i(tx_req_sop_i), .tx_req_eop_i(tx_req_eop_i), .tx_req_hdr_i(tx_req_hdr_i),
      .tx_req_data_i(tx_req_data_i), .tx_np_ok_o(np_ok_o), .tx_cpl_valid_i(tx_cpl_valid_i),
      .tx_cpl_ready_o(tx_cpl_ready_o), .tx_cpl_sop_i(tx_cpl_sop_i), .tx_cpl_eop_i(tx_cpl_eop_i),
      .tx_cpl_hdr_i(tx_cpl_hdr_i), .tx_cpl_data_i(tx_cpl_data_i)
  );
endmodule

`default_nettype wire
