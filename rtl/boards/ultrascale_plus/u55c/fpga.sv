// SPDX-License-Identifier: Apache-2.0
// The NIC on an Alveo U55C: Gen3 x8, 256 bit at 250 MHz, and one QSFP28 with four lanes of 15.46875 Gb/s.
// NOT RUN, NOT SIMULATED: it needs parts of the vendor (pcie4c_uscale_plus_0, gtwizard_0), which build.tcl makes.
`default_nettype none

module fpga (
    input  wire       pcie_refclk_p,
    input  wire       pcie_refclk_n,
    input  wire       pcie_reset_n,
    input  wire [7:0] pcie_rx_p,
    input  wire [7:0] pcie_rx_n,
    output wire [7:0] pcie_tx_p,
    output wire [7:0] pcie_tx_n,
    input  wire       clk_100mhz_p,
    input  wire       clk_100mhz_n,
    input  wire       qsfp_refclk_p,
    input  wire       qsfp_refclk_n,
    input  wire [3:0] qsfp_rx_p,
    input  wire [3:0] qsfp_rx_n,
    output wire [3:0] qsfp_tx_p,
    output wire [3:0] qsfp_tx_n,
    output wire       led_up,
    output wire       led_bad,
    output wire       hbm_cattrip  // must be low, or the board's controller cuts the power
);
  assign hbm_cattrip = 1'b0;

  // ---- clocks
  wire pcie_sys_clk, pcie_sys_clk_gt, qsfp_refclk, free_pin, free_clk, user_clk, user_reset;
  IBUFDS_GTE4 i_pcie_refclk (
      .I(pcie_refclk_p), .IB(pcie_refclk_n), .CEB(1'b0), .O(pcie_sys_clk_gt), .ODIV2(pcie_sys_clk)
  );
  IBUFDS_GTE4 i_qsfp_refclk (.I(qsfp_refclk_p), .IB(qsfp_refclk_n), .CEB(1'b0), .O(qsfp_refclk), .ODIV2());
  IBUFDS i_free_pin (.I(clk_100mhz_p), .IB(clk_100mhz_n), .O(free_pin));
  BUFG i_free (.I(free_pin), .O(free_clk));

  // ---- lanes
  wire         tx_clk, rx_clk, tx_active, rx_active, tx_done, rx_done;
  wire [7:0]   tx_header, rx_header, rx_data_valid;
  wire [23:0]  tx_header6, rx_header6;
  wire [255:0] tx_data, rx_data;
  wire [3:0]   rx_slip;
  for (genvar l = 0; l < 4; l = l + 1) begin : g_header
    assign tx_header6[6*l+:6] = {4'd0, tx_header[2*l+:2]};
    assign rx_header[2*l+:2]  = rx_header6[6*l+:2];
  end
  // Resets: asserted at once, released in the clock of their domain.
  reg [1:0] tx_rst_q, rx_rst_q;
  always @(posedge tx_clk or negedge tx_done) tx_rst_q <= tx_done ? {tx_rst_q[0], tx_active} : 2'b00;
  always @(posedge rx_clk or negedge rx_done) rx_rst_q <= rx_done ? {rx_rst_q[0], rx_active} : 2'b00;

  gtwizard_0 i_gt (
      .gtwiz_userclk_tx_reset_in(1'b0), .gtwiz_userclk_tx_srcclk_out(), .gtwiz_userclk_tx_usrclk_out(),
      .gtwiz_userclk_tx_usrclk2_out(tx_clk), .gtwiz_userclk_tx_active_out(tx_active), .gtwiz_userclk_rx_reset_in(1'b0),
      .gtwiz_userclk_rx_srcclk_out(), .gtwiz_userclk_rx_usrclk_out(), .gtwiz_userclk_rx_usrclk2_out(rx_clk),
      .gtwiz_userclk_rx_active_out(rx_active), .gtwiz_reset_clk_freerun_in(free_clk), .gtwiz_reset_all_in(user_reset),
      .gtwiz_reset_tx_pll_and_datapath_in(1'b0), .gtwiz_reset_tx_datapath_in(1'b0),
      .gtwiz_reset_rx_pll_and_datapath_in(1'b0), .gtwiz_reset_rx_datapath_in(1'b0), .gtwiz_reset_rx_cdr_stable_out(),
      .gtwiz_reset_tx_done_out(tx_done), .gtwiz_reset_rx_done_out(rx_done), .gtwiz_userdata_tx_in(tx_data),
      .gtwiz_userdata_rx_out(rx_data), .gtrefclk00_in(qsfp_refclk), .qpll0outclk_out(), .qpll0outrefclk_out(),
      .gtyrxn_in(qsfp_rx_n), .gtyrxp_in(qsfp_rx_p), .rxgearboxslip_in(rx_slip), .txheader_in(tx_header6),
      .txsequence_in(28'd0), .gtytxn_out(qsfp_tx_n), .gtytxp_out(qsfp_tx_p), .gtpowergood_out(),
      .rxdatavalid_out(rx_data_valid), .rxheader_out(rx_header6), .rxheadervalid_out(), .rxpmaresetdone_out(),
      .rxstartofseq_out(), .txpmaresetdone_out(), .txprgdivresetdone_out()
  );

  // ---- the hard block
  wire         cq_tvalid, cq_tready, cq_tlast;
  wire [255:0] cq_tdata;
  wire [7:0]   cq_tkeep;
  wire [87:0]  cq_tuser;
  wire         cc_tvalid, cc_tready, cc_tlast;
  wire [255:0] cc_tdata;
  wire [7:0]   cc_tkeep;
  wire [32:0]  cc_tuser;
  wire         rq_tvalid, rq_tready, rq_tlast;
  wire [255:0] rq_tdata;
  wire [7:0]   rq_tkeep;
  wire [61:0]  rq_tuser;
  wire         rc_tvalid, rc_tready, rc_tlast;
  wire [255:0] rc_tdata;
  wire [7:0]   rc_tkeep;
  wire [74:0]  rc_tuser;
  wire [1:0]   cq_np_req, cfg_max_payload;
  wire [2:0]   cfg_max_read_req;
  wire [5:0]   seq_num0, seq_num1;
  wire [7:0]   tag0, tag1, cfg_bus_number;
  wire         seq_num_vld0, seq_num_vld1, tag_vld0, tag_vld1, flr_done, err_uncor, power_change;
  wire [3:0]   tag_av, nph_av, msix_enable, msix_mask, flr_in_process;
  wire [15:0]  function_status;
  pcie4c_uscale_plus_0 i_pcie (
      .pci_exp_txn(pcie_tx_n), .pci_exp_txp(pcie_tx_p), .pci_exp_rxn(pcie_rx_n), .pci_exp_rxp(pcie_rx_p),
      .user_clk(user_clk), .user_reset(user_reset), .user_lnk_up(), .sys_clk(pcie_sys_clk),
      .sys_clk_gt(pcie_sys_clk_gt), .sys_reset(pcie_reset_n), .phy_rdy_out(),
      .s_axis_rq_tdata(rq_tdata), .s_axis_rq_tkeep(rq_tkeep), .s_axis_rq_tlast(rq_tlast),
      .s_axis_rq_tready(rq_tready), .s_axis_rq_tuser(rq_tuser), .s_axis_rq_tvalid(rq_tvalid),
      .m_axis_rc_tdata(rc_tdata), .m_axis_rc_tkeep(rc_tkeep), .m_axis_rc_tlast(rc_tlast),
      .m_axis_rc_tready(rc_tready), .m_axis_rc_tuser(rc_tuser), .m_axis_rc_tvalid(rc_tvalid),
      .m_axis_cq_tdata(cq_tdata), .m_axis_cq_tkeep(cq_tkeep), .m_axis_cq_tlast(cq_tlast),
      .m_axis_cq_tready(cq_tready), .m_axis_cq_tuser(cq_tuser), .m_axis_cq_tvalid(cq_tvalid),
      .s_axis_cc_tdata(cc_tdata), .s_axis_cc_tkeep(cc_tkeep), .s_axis_cc_tlast(cc_tlast),
      .s_axis_cc_tready(cc_tready), .s_axis_cc_tuser(cc_tuser), .s_axis_cc_tvalid(cc_tvalid),
      .pcie_rq_seq_num0(seq_num0), .pcie_rq_seq_num_vld0(seq_num_vld0), .pcie_rq_seq_num1(seq_num1),
      .pcie_rq_seq_num_vld1(seq_num_vld1), .pcie_rq_tag0(tag0), .pcie_rq_tag1(tag1), .pcie_rq_tag_av(tag_av),
      .pcie_rq_tag_vld0(tag_vld0), .pcie_rq_tag_vld1(tag_vld1), .pcie_tfc_nph_av(nph_av), .pcie_tfc_npd_av(),
      .pcie_cq_np_req(cq_np_req), .pcie_cq_np_req_count(), .cfg_max_payload(cfg_max_payload),
      .cfg_max_read_req(cfg_max_read_req), .cfg_function_status(function_status), .cfg_bus_number(cfg_bus_number),
      .cfg_interrupt_msix_enable(msix_enable), .cfg_interrupt_msix_mask(msix_mask), .cfg_interrupt_msix_address(64'd0),
      .cfg_interrupt_msix_data(32'd0), .cfg_interrupt_msix_int(1'b0), .cfg_interrupt_msix_vec_pending(2'd0),
      .cfg_interrupt_int(4'd0), .cfg_interrupt_pending(4'd0), .cfg_interrupt_msi_function_number(8'd0),
      .cfg_flr_in_process(flr_in_process), .cfg_flr_done({3'd0, flr_done}), .cfg_vf_flr_func_num(8'd0),
      .cfg_vf_flr_done(1'b0), .cfg_err_cor_in(1'b0), .cfg_err_uncor_in(err_uncor),
      .cfg_power_state_change_interrupt(power_change), .cfg_power_state_change_ack(power_change), .cfg_dsn(64'd0),
      .cfg_config_space_enable(1'b1), .cfg_link_training_enable(1'b1), .cfg_hot_reset_in(1'b0),
      .cfg_req_pm_transition_l23_ready(1'b0), .cfg_pm_aspm_l1_entry_reject(1'b0),
      .cfg_pm_aspm_tx_l0s_entry_disable(1'b0), .cfg_ds_port_number(8'd0), .cfg_ds_bus_number(8'd0),
      .cfg_ds_device_number(5'd0), .cfg_msg_transmit(1'b0), .cfg_msg_transmit_type(3'd0),
      .cfg_msg_transmit_data(32'd0), .cfg_mgmt_addr(10'd0), .cfg_mgmt_function_number(8'd0), .cfg_mgmt_write(1'b0),
      .cfg_mgmt_write_data(32'd0), .cfg_mgmt_byte_enable(4'd0), .cfg_mgmt_read(1'b0), .cfg_mgmt_debug_access(1'b0),
      .cfg_fc_sel(3'd0)
  );

  // ---- the NIC; each board should have a serial number of its own
  nic_usp #(.DATA_W(256), .CLOCK_KHZ(32'd250_000)) i_nic (
      .clk_i(user_clk), .reset_i(user_reset), .serial_i(64'd1),
      .cq_tvalid_i(cq_tvalid), .cq_tlast_i(cq_tlast), .cq_tkeep_i(cq_tkeep),
      .cq_tuser_i(cq_tuser), .cq_tdata_i(cq_tdata), .cq_tready_o(cq_tready),
      .cc_tvalid_o(cc_tvalid), .cc_tlast_o(cc_tlast), .cc_tkeep_o(cc_tkeep),
      .cc_tuser_o(cc_tuser), .cc_tdata_o(cc_tdata), .cc_tready_i(cc_tready),
      .rq_tvalid_o(rq_tvalid), .rq_tlast_o(rq_tlast), .rq_tkeep_o(rq_tkeep),
      .rq_tuser_o(rq_tuser), .rq_tdata_o(rq_tdata), .rq_tready_i(rq_tready),
      .rc_tvalid_i(rc_tvalid), .rc_tlast_i(rc_tlast), .rc_tkeep_i(rc_tkeep),
      .rc_tuser_i(rc_tuser), .rc_tdata_i(rc_tdata), .rc_tready_o(rc_tready),
      .cq_np_req_o(cq_np_req), .rq_seq_num_i({seq_num1, seq_num0}), .rq_seq_num_vld_i({seq_num_vld1, seq_num_vld0}),
      .rq_tag_i({tag1, tag0}), .rq_tag_vld_i({tag_vld1, tag_vld0}), .rq_tag_av_i(tag_av), .tfc_nph_av_i(nph_av),
      .cfg_max_payload_i(cfg_max_payload), .cfg_max_read_req_i(cfg_max_read_req),
      .cfg_function_status_i(function_status[3:0]), .cfg_bus_number_i(cfg_bus_number),
      .cfg_msix_enable_i(msix_enable[0]), .cfg_msix_mask_i(msix_mask[0]), .cfg_flr_in_process_i(flr_in_process[0]),
      .cfg_flr_done_o(flr_done), .cfg_err_uncor_o(err_uncor), .tx_clk_i(tx_clk), .tx_rst_ni(tx_rst_q[1]),
      .tx_header_o(tx_header), .tx_data_o(tx_data), .rx_clk_i({4{rx_clk}}), .rx_rst_ni({4{rx_rst_q[1]}}),
      .rx_valid_i({rx_data_valid[6], rx_data_valid[4], rx_data_valid[2], rx_data_valid[0]}), .rx_header_i(rx_header),
      .rx_data_i(rx_data), .rx_slip_o(rx_slip), .lanes_up_o(led_up), .lanes_bad_o(led_bad)
  );
endmodule

`default_nettype wire
