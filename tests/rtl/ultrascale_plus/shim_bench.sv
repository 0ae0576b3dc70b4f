// SPDX-License-Identifier: Apache-2.0
// The shim between the model of the hard block (`slot`) and the software of shim_cases.py, which plays the NIC.
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
  // ---- what software wrote, see usp_slot
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

  logic rst_n;
  usp_slot #(.DATA_W(DATA_W)) slot (
      .clk_i(user_clk), .rst_no(rst_n), .nic_mps_o(nic_mps), .nic_mrrs_o(nic_mrrs), .nic_bus_id_o(nic_bus_id),
      .nic_msix_enable_o(nic_msix_enable), .nic_msix_mask_o(nic_msix_mask), .nic_bus_master_o(nic_bus_master),
      .nic_flr_o(nic_flr), .nic_flr_done_i(nic_flr_done_q), .np_credit_i(np_credit_q), .np_ok_o(np_ok),
      .rx_req_valid_o(rx_req_valid), .rx_req_ready_i(rx_req_ready_q), .rx_req_sop_o(rx_req_sop),
      .rx_req_eop_o(rx_req_eop), .rx_req_hdr_o(rx_req_hdr), .rx_req_data_o(rx_req_data),
      .rx_cpl_valid_o(rx_cpl_valid), .rx_cpl_ready_i(rx_cpl_ready_q), .rx_cpl_sop_o(rx_cpl_sop),
      .rx_cpl_eop_o(rx_cpl_eop), .rx_cpl_hdr_o(rx_cpl_hdr), .rx_cpl_data_o(rx_cpl_data),
      .tx_req_valid_i(tx_req_valid_q), .tx_req_ready_o(tx_req_ready), .tx_req_sop_i(tx_req_sop_q),
      .tx_req_eop_i(tx_req_eop_q), .tx_req_hdr_i(tx_req_hdr_q), .tx_req_data_i(tx_req_data_q),
      .tx_cpl_valid_i(tx_cpl_valid_q), .tx_cpl_ready_o(tx_cpl_ready), .tx_cpl_sop_i(tx_cpl_sop_q),
      .tx_cpl_eop_i(tx_cpl_eop_q), .tx_cpl_hdr_i(tx_cpl_hdr_q), .tx_cpl_data_i(tx_cpl_data_q)
  );
endmodule

`default_nettype wire
