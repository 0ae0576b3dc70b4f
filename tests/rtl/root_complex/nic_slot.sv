// SPDX-License-Identifier: Apache-2.0
// A NIC after a tlp_port. The signals with suffix _s belong to software: nothing else drives or reads them.
`default_nettype none

module nic_slot #(
  parameter int unsigned DATA_W = 64,
  parameter logic [63:0] SERIAL = 64'd0
) (
  input  wire                clk_i,
  input  wire                rst_ni,
  input  wire  [63:0]        time_i,
  output logic               flit_valid_o,
  output logic [1:0]         flit_kind_o,
  output logic [DATA_W-1:0]  flit_data_o,
  input  wire                flit_valid_i,
  input  wire  [1:0]         flit_kind_i,
  input  wire  [DATA_W-1:0]  flit_data_i
);
  // ---- written by software
  logic [12:0]   mps_s, mrrs_s;
  logic [15:0]   bus_id_s;
  logic          msix_enable_s, msix_mask_s, bus_master_s, flr_s, req_go_s, cpl_go_s, out_seen_s;
  logic [159:0]  req_hdr_s, cpl_hdr_s;
  logic [2047:0] req_data_s, cpl_data_s;
  // ---- read by it
  logic          flr_done_s, req_gone_s, cpl_gone_s, out_new_s;
  logic [159:0]  out_hdr_s;
  logic [2047:0] out_data_s;
  initial begin
    {mps_s, mrrs_s, bus_id_s, msix_enable_s, msix_mask_s, bus_master_s, flr_s} = '0;
    {req_go_s, cpl_go_s, out_seen_s, req_hdr_s, cpl_hdr_s, req_data_s, cpl_data_s} = '0;
  end

  logic rx_req_valid, rx_req_ready, rx_req_sop, rx_req_eop, rx_cpl_valid, rx_cpl_ready, rx_cpl_sop, rx_cpl_eop,
    tx_req_valid, tx_req_ready, tx_req_sop, tx_req_eop, tx_cpl_valid, tx_cpl_ready, tx_cpl_sop, tx_cpl_eop,
    np_credit, busy, timer;
  logic [DATA_W-1:0]  rx_req_data, rx_cpl_data, tx_req_data, tx_cpl_data;
  ggas_pkg::tlp_hdr_t req_hdr, cpl_hdr, tx_req_hdr, tx_cpl_hdr, out_hdr;
  assign req_hdr   = req_hdr_s[ggas_pkg::TLP_HDR_W-1:0];
  assign cpl_hdr   = cpl_hdr_s[ggas_pkg::TLP_HDR_W-1:0];
  assign out_hdr_s = 160'(out_hdr);

  tlp_port #(.DATA_W(DATA_W)) i_port (
    .clk_i(clk_i), .rst_ni(rst_ni), .flr_done_i(flr_done_s), .req_go_i(req_go_s), .req_gone_o(req_gone_s),
    .req_hdr_i(req_hdr), .req_data_i(req_data_s), .cpl_go_i(cpl_go_s), .cpl_gone_o(cpl_gone_s),
    .cpl_hdr_i(cpl_hdr), .cpl_data_i(cpl_data_s), .out_new_o(out_new_s), .out_seen_i(out_seen_s),
    .out_hdr_o(out_hdr), .out_data_o(out_data_s), .rx_req_valid_o(rx_req_valid), .rx_req_ready_i(rx_req_ready),
    .rx_req_sop_o(rx_req_sop), .rx_req_eop_o(rx_req_eop), .rx_req_data_o(rx_req_data), .np_credit_i(np_credit),
    .rx_cpl_valid_o(rx_cpl_valid), .rx_cpl_ready_i(rx_cpl_ready), .rx_cpl_sop_o(rx_cpl_sop),
    .rx_cpl_eop_o(rx_cpl_eop), .rx_cpl_data_o(rx_cpl_data), .tx_req_valid_i(tx_req_valid),
    .tx_req_ready_o(tx_req_ready), .tx_req_eop_i(tx_req_eop), .tx_req_hdr_i(tx_req_hdr),
    .tx_req_data_i(tx_req_data), .tx_cpl_valid_i(tx_cpl_valid), .tx_cpl_ready_o(tx_cpl_ready),
    .tx_cpl_eop_i(tx_cpl_eop), .tx_cpl_hdr_i(tx_cpl_hdr), .tx_cpl_data_i(tx_cpl_data)
  );

  nic_top #(.DATA_W(DATA_W)) i_nic (
    .clk_i(clk_i), .rst_ni(rst_ni), .time_i(time_i), .busy_o(busy), .timer_o(timer), .cfg_mps_i(mps_s),
    .cfg_mrrs_i(mrrs_s), .cfg_bus_id_i(bus_id_s), .cfg_msix_enable_i(msix_enable_s), .cfg_msix_mask_i(msix_mask_s),
    .cfg_bus_master_i(bus_master_s), .cfg_flr_i(flr_s), .flr_done_o(flr_done_s), .cfg_clock_khz_i(32'd125_000),
    .cfg_serial_i(SERIAL), .rx_req_valid_i(rx_req_valid), .rx_req_ready_o(rx_req_ready), .rx_req_sop_i(rx_req_sop),
    .rx_req_eop_i(rx_req_eop), .rx_req_hdr_i(req_hdr), .rx_req_data_i(rx_req_data), .np_credit_o(np_credit),
    .rx_cpl_valid_i(rx_cpl_valid), .rx_cpl_ready_o(rx_cpl_ready), .rx_cpl_sop_i(rx_cpl_sop),
    .rx_cpl_eop_i(rx_cpl_eop), .rx_cpl_hdr_i(cpl_hdr), .rx_cpl_data_i(rx_cpl_data), .tx_req_valid_o(tx_req_valid),
    .tx_req_ready_i(tx_req_ready), .tx_req_sop_o(tx_req_sop), .tx_req_eop_o(tx_req_eop), .tx_req_hdr_o(tx_req_hdr),
    .tx_req_data_o(tx_req_data), .tx_np_ok_i(1'b1), .tx_cpl_valid_o(tx_cpl_valid), .tx_cpl_ready_i(tx_cpl_ready),
    .tx_cpl_sop_o(tx_cpl_sop), .tx_cpl_eop_o(tx_cpl_eop), .tx_cpl_hdr_o(tx_cpl_hdr), .tx_cpl_data_o(tx_cpl_data),
    .link_tx_valid_o(flit_valid_o), .link_tx_ready_i(1'b1), .link_tx_kind_o(flit_kind_o),
    .link_tx_data_o(flit_data_o), .link_rx_valid_i(flit_valid_i), .link_rx_kind_i(flit_kind_i),
    .link_rx_data_i(flit_data_i), .link_rx_up_i(1'b1)
  );
endmodule

`default_nettype wire
