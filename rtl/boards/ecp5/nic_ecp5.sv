// SPDX-License-Identifier: Apache-2.0
// The NIC on an ECP5-85, for its size and clock: every stream of the TLP boundary and of the PHY reaches pins through a
// lane (16 pins, a FIFO between the clock of the pins and that of the core), as it would reach a PCIe core and a
// SERDES. No input is constant, so nothing is optimised away; every path to or from a pin starts or ends in a register.
`default_nettype none

module nic_ecp5 #(
    parameter int unsigned DATA_W = 64
) (
    input  wire logic        clk,          // core
    input  wire logic        pin_clk,      // pins, as a SERDES would give it
    input  wire logic        rst_n,
    input  wire logic [3:0]  in_valid,     // requests, completions, flits, settings
    input  wire logic [63:0] in_data,      // 16 bits each
    output      logic [3:0]  in_ready,
    output      logic [2:0]  out_valid,    // requests, completions, flits
    output      logic [47:0] out_data,
    output      logic        np_credit,
    output      logic        busy,
    output      logic        timer
);
  localparam int unsigned TLP_W   = DATA_W + ggas_pkg::TLP_HDR_W + 2;
  localparam int unsigned FLIT_W  = DATA_W + 2;
  localparam int unsigned SETTING_W = 13 + 13 + 16 + 6;

  // ---------------------------------------------------------------- resets, time
  logic [1:0]  rst_q, pin_rst_q;
  logic [63:0] time_q;
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) rst_q <= '0;
    else rst_q <= {rst_q[0], 1'b1};
  end
  always_ff @(posedge pin_clk or negedge rst_n) begin
    if (!rst_n) pin_rst_q <= '0;
    else pin_rst_q <= {pin_rst_q[0], 1'b1};
  end
  wire rst_ni     = rst_q[1];
  wire pin_rst_ni = pin_rst_q[1];
  always_ff @(posedge clk or negedge rst_ni) begin
    if (!rst_ni) time_q <= '0;
    else time_q <= time_q + 64'd1;
  end

  // ---------------------------------------------------------------- in
  logic                 rx_req_valid, rx_req_ready, rx_cpl_valid, rx_cpl_ready, flit_valid, setting_valid;
  logic [TLP_W-1:0]     rx_req, rx_cpl;
  logic [FLIT_W-1:0]    rx_flit;
  logic [SETTING_W-1:0] setting, setting_q;
  lane_in #(.WIDTH(TLP_W)) u_rx_req (
      .pin_clk_i(pin_clk), .pin_rst_ni, .pin_valid_i(in_valid[0]), .pin_data_i(in_data[15:0]),
      .pin_ready_o(in_ready[0]), .clk_i(clk), .rst_ni, .valid_o(rx_req_valid), .ready_i(rx_req_ready),
      .data_o(rx_req));
  lane_in #(.WIDTH(TLP_W)) u_rx_cpl (
      .pin_clk_i(pin_clk), .pin_rst_ni, .pin_valid_i(in_valid[1]), .pin_data_i(in_data[31:16]),
      .pin_ready_o(in_ready[1]), .clk_i(clk), .rst_ni, .valid_o(rx_cpl_valid), .ready_i(rx_cpl_ready),
      .data_o(rx_cpl));
  lane_in #(.WIDTH(FLIT_W)) u_rx_flit (
      .pin_clk_i(pin_clk), .pin_rst_ni, .pin_valid_i(in_valid[2]), .pin_data_i(in_data[47:32]),
      .pin_ready_o(in_ready[2]), .clk_i(clk), .rst_ni, .valid_o(flit_valid), .ready_i(1'b1), .data_o(rx_flit));
  lane_in #(.WIDTH(SETTING_W)) u_setting (
      .pin_clk_i(pin_clk), .pin_rst_ni, .pin_valid_i(in_valid[3]), .pin_data_i(in_data[63:48]),
      .pin_ready_o(in_ready[3]), .clk_i(clk), .rst_ni, .valid_o(setting_valid), .ready_i(1'b1), .data_o(setting));
  always_ff @(posedge clk or negedge rst_ni) begin
    if (!rst_ni) setting_q <= '0;
    else if (setting_valid) setting_q <= setting;
  end

  // ---------------------------------------------------------------- the NIC
  logic              tx_req_valid, tx_req_ready, tx_cpl_valid, tx_cpl_ready, tx_flit_valid, tx_flit_ready,
    np_credit_now, busy_now, timer_now, flr_done_now;
  logic [TLP_W-1:0]  tx_req, tx_cpl;
  logic [FLIT_W-1:0] tx_flit;
  nic_top #(.DATA_W(DATA_W)) u_nic (
      .clk_i(clk), .rst_ni, .time_i(time_q), .busy_o(busy_now), .timer_o(timer_now), .cfg_mps_i(setting_q[12:0]),
      .cfg_mrrs_i(setting_q[25:13]), .cfg_bus_id_i(setting_q[41:26]), .tx_np_ok_i(setting_q[42]),
      .link_rx_up_i(setting_q[43]), .cfg_msix_enable_i(setting_q[44]), .cfg_msix_mask_i(setting_q[45]),
      .cfg_bus_master_i(setting_q[46]), .cfg_flr_i(setting_q[47]), .flr_done_o(flr_done_now),
      .cfg_clock_khz_i(32'd125000), .cfg_serial_i(64'd0), .np_credit_o(np_credit_now), .rx_req_valid_i(rx_req_valid),
      .rx_req_ready_o(rx_req_ready), .rx_req_sop_i(rx_req[TLP_W-1]), .rx_req_eop_i(rx_req[TLP_W-2]),
      .rx_req_hdr_i(rx_req[TLP_W-3:DATA_W]), .rx_req_data_i(rx_req[DATA_W-1:0]), .rx_cpl_valid_i(rx_cpl_valid),
      .rx_cpl_ready_o(rx_cpl_ready), .rx_cpl_sop_i(rx_cpl[TLP_W-1]), .rx_cpl_eop_i(rx_cpl[TLP_W-2]),
      .rx_cpl_hdr_i(rx_cpl[TLP_W-3:DATA_W]), .rx_cpl_data_i(rx_cpl[DATA_W-1:0]), .tx_req_valid_o(tx_req_valid),
      .tx_req_ready_i(tx_req_ready), .tx_req_sop_o(tx_req[TLP_W-1]), .tx_req_eop_o(tx_req[TLP_W-2]),
      .tx_req_hdr_o(tx_req[TLP_W-3:DATA_W]), .tx_req_data_o(tx_req[DATA_W-1:0]), .tx_cpl_valid_o(tx_cpl_valid),
      .tx_cpl_ready_i(tx_cpl_ready), .tx_cpl_sop_o(tx_cpl[TLP_W-1]), .tx_cpl_eop_o(tx_cpl[TLP_W-2]),
      .tx_cpl_hdr_o(tx_cpl[TLP_W-3:DATA_W]), .tx_cpl_data_o(tx_cpl[DATA_W-1:0]), .link_tx_valid_o(tx_flit_valid),
      .link_tx_ready_i(tx_flit_ready), .link_tx_kind_o(tx_flit[FLIT_W-1:DATA_W]),
      .link_tx_data_o(tx_flit[DATA_W-1:0]), .link_rx_valid_i(flit_valid), .link_rx_kind_i(rx_flit[FLIT_W-1:DATA_W]),
      .link_rx_data_i(rx_flit[DATA_W-1:0]));

  // ---------------------------------------------------------------- out
  lane_out #(.WIDTH(TLP_W)) u_tx_req (
      .clk_i(clk), .rst_ni, .valid_i(tx_req_valid), .ready_o(tx_req_ready), .data_i(tx_req), .pin_clk_i(pin_clk),
      .pin_rst_ni, .pin_valid_o(out_valid[0]), .pin_data_o(out_data[15:0]));
  lane_out #(.WIDTH(TLP_W)) u_tx_cpl (
      .clk_i(clk), .rst_ni, .valid_i(tx_cpl_valid), .ready_o(tx_cpl_ready), .data_i(tx_cpl), .pin_clk_i(pin_clk),
      .pin_rst_ni, .pin_valid_o(out_valid[1]), .pin_data_o(out_data[31:16]));
  lane_out #(.WIDTH(FLIT_W)) u_tx_flit (
      .clk_i(clk), .rst_ni, .valid_i(tx_flit_valid), .ready_o(tx_flit_ready), .data_i(tx_flit), .pin_clk_i(pin_clk),
      .pin_rst_ni, .pin_valid_o(out_valid[2]), .pin_data_o(out_data[47:32]));
  always_ff @(posedge clk) {np_credit, busy, timer} <= {np_credit_now, busy_now, timer_now};

endmodule

`default_nettype wire
