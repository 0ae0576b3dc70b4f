// SPDX-License-Identifier: Apache-2.0
// The NIC for UltraScale+ without any part of the vendor: the NIC, the shim to the hard PCIe block, and the lanes of
// its link. A board's top module (fpga.sv) joins it to the block and to the transceivers.
`default_nettype none

module nic_usp #(
    /// Bits of a beat and of a flit: 256 or 512; 4 or 8 lanes.
    parameter int unsigned DATA_W = 256,
    /// log2 of the distance of two pages in BAR4, bytes: 12 or 16.
    parameter int unsigned PAGE_LOG2 = 12,
    /// clk_i, kHz.
    parameter logic [31:0] CLOCK_KHZ = 32'd250_000,
    localparam int unsigned LANES = DATA_W / 64,
    localparam int unsigned CQ_W = DATA_W == 512 ? 183 : 88,
    localparam int unsigned CC_W = DATA_W == 512 ? 81 : 33,
    localparam int unsigned RQ_W = DATA_W == 512 ? 137 : 62,
    localparam int unsigned RC_W = DATA_W == 512 ? 161 : 75
) (
    /// user_clk of the block, and user_reset.
    input  wire logic                 clk_i,
    input  wire logic                 reset_i,
    /// Serial number of the board.
    input  wire logic [63:0]          serial_i,

    /// The block: see usp_shim.
    input  wire logic                 cq_tvalid_i,
    output      logic                 cq_tready_o,
    input  wire logic                 cq_tlast_i,
    input  wire logic [DATA_W/32-1:0] cq_tkeep_i,
    input  wire logic [CQ_W-1:0]      cq_tuser_i,
    input  wire logic [DATA_W-1:0]    cq_tdata_i,
    output      logic [1:0]           cq_np_req_o,
    output      logic                 cc_tvalid_o,
    input  wire logic                 cc_tready_i,
    output      logic                 cc_tlast_o,
    output      logic [DATA_W/32-1:0] cc_tkeep_o,
    output      logic [CC_W-1:0]      cc_tuser_o,
    output      logic [DATA_W-1:0]    cc_tdata_o,
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
    input  wire logic                 rc_tvalid_i,
    output      logic                 rc_tready_o,
    input  wire logic                 rc_tlast_i,
    input  wire logic [DATA_W/32-1:0] rc_tkeep_i,
    input  wire logic [RC_W-1:0]      rc_tuser_i,
    input  wire logic [DATA_W-1:0]    rc_tdata_i,
    input  wire logic [1:0]           cfg_max_payload_i,
    input  wire logic [2:0]           cfg_max_read_req_i,
    input  wire logic [3:0]           cfg_function_status_i,
    input  wire logic [7:0]           cfg_bus_number_i,
    input  wire logic                 cfg_msix_enable_i,
    input  wire logic                 cfg_msix_mask_i,
    input  wire logic                 cfg_flr_in_process_i,
    output      logic                 cfg_flr_done_o,
    output      logic                 cfg_err_uncor_o,

    /// Transceivers: blocks of 66 bits (docs/board.md). Resets are released synchronously to their clocks.
    input  wire logic                 tx_clk_i,
    input  wire logic                 tx_rst_ni,
    output      logic [2*LANES-1:0]   tx_header_o,
    output      logic [64*LANES-1:0]  tx_data_o,
    input  wire logic [LANES-1:0]     rx_clk_i,
    input  wire logic [LANES-1:0]     rx_rst_ni,
    input  wire logic [LANES-1:0]     rx_valid_i,
    input  wire logic [2*LANES-1:0]   rx_header_i,
    input  wire logic [64*LANES-1:0]  rx_data_i,
    output      logic [LANES-1:0]     rx_slip_o,
    /// For lamps: the lanes are aligned; a block was not usable.
    output      logic                 lanes_up_o,
    output      logic                 lanes_bad_o
);
`ifndef SYNTHESIS
  initial if (ggas_pkg::LINKS != 1) $error("nic_usp: one link, on all lanes");
`endif

  // ---- reset: 64 cycles or more; time
  logic [6:0]  hold_q;
  logic [63:0] time_q;
  wire rst_n = hold_q[6];
  always_ff @(posedge clk_i or posedge reset_i) begin
    if (reset_i) hold_q <= '0;
    else if (!hold_q[6]) hold_q <= hold_q + 7'd1;
  end
  always_ff @(posedge clk_i or negedge rst_n) begin
    if (!rst_n) time_q <= '0;
    else time_q <= time_q + 64'd1;
  end

  // ---- the NIC; its clock is never stopped
  ggas_pkg::host_config_t host;
  ggas_pkg::tlp_beat_t rx_req, rx_cpl, tx_req, tx_cpl;
  logic flr, flr_done, busy, timer, np_credit, np_ok, rx_req_ready, rx_cpl_ready, tx_req_ready, tx_cpl_ready;
  logic [DATA_W-1:0] rx_req_data, rx_cpl_data, tx_req_data, tx_cpl_data, flit_out_data, flit_in_data;
  logic flit_out_valid, flit_out_ready, flit_in_valid;
  logic [1:0] flit_out_kind, flit_in_kind;
  nic_top #(.DATA_W(DATA_W), .PAGE_LOG2(PAGE_LOG2)) i_nic (
      .clk_i, .rst_ni(rst_n), .time_i(time_q), .busy_o(busy), .timer_o(timer), .cfg_mps_i(host.mps),
      .cfg_mrrs_i(host.mrrs),
      .cfg_bus_id_i(host.bus_id), .cfg_msix_enable_i(host.msix_enable), .cfg_msix_mask_i(host.msix_mask),
      .cfg_bus_master_i(host.bus_master), .cfg_flr_i(flr),
      .flr_done_o(flr_done), .cfg_clock_khz_i(CLOCK_KHZ), .cfg_serial_i(serial_i),
      .rx_req_valid_i(rx_req.valid), .rx_req_ready_o(rx_req_ready), .rx_req_sop_i(rx_req.sop),
      .rx_req_eop_i(rx_req.eop), .rx_req_hdr_i(rx_req.hdr), .rx_req_data_i(rx_req_data), .np_credit_o(np_credit),
      .rx_cpl_valid_i(rx_cpl.valid), .rx_cpl_ready_o(rx_cpl_ready), .rx_cpl_sop_i(rx_cpl.sop),
      .rx_cpl_eop_i(rx_cpl.eop), .rx_cpl_hdr_i(rx_cpl.hdr), .rx_cpl_data_i(rx_cpl_data), .tx_req_valid_o(tx_req.valid),
      .tx_req_ready_i(tx_req_ready), .tx_req_sop_o(tx_req.sop), .tx_req_eop_o(tx_req.eop), .tx_req_hdr_o(tx_req.hdr),
      .tx_req_data_o(tx_req_data), .tx_np_ok_i(np_ok), .tx_cpl_valid_o(tx_cpl.valid), .tx_cpl_ready_i(tx_cpl_ready),
      .tx_cpl_sop_o(tx_cpl.sop), .tx_cpl_eop_o(tx_cpl.eop), .tx_cpl_hdr_o(tx_cpl.hdr), .tx_cpl_data_o(tx_cpl_data),
      .link_tx_valid_o(flit_out_valid), .link_tx_ready_i(flit_out_ready), .link_tx_kind_o(flit_out_kind),
      .link_tx_data_o(flit_out_data), .link_rx_valid_i(flit_in_valid), .link_rx_kind_i(flit_in_kind),
      .link_rx_data_i(flit_in_data), .link_rx_up_i(lanes_up_o)
  );

  usp_shim #(.DATA_W(DATA_W)) i_shim (
      .clk_i, .rst_ni(rst_n), .cq_tvalid_i, .cq_tready_o, .cq_tlast_i, .cq_tkeep_i, .cq_tuser_i, .cq_tdata_i,
      .cq_np_req_o, .cc_tvalid_o, .cc_tready_i, .cc_tlast_o, .cc_tkeep_o, .cc_tuser_o, .cc_tdata_o, .rq_tvalid_o,
      .rq_tready_i, .rq_tlast_o, .rq_tkeep_o, .rq_tuser_o, .rq_tdata_o, .rq_seq_num_i, .rq_seq_num_vld_i, .rq_tag_i,
      .rq_tag_vld_i, .rq_tag_av_i, .tfc_nph_av_i, .rc_tvalid_i, .rc_tready_o, .rc_tlast_i, .rc_tkeep_i, .rc_tuser_i,
      .rc_tdata_i, .cfg_max_payload_i, .cfg_max_read_req_i, .cfg_function_status_i, .cfg_bus_number_i,
      .cfg_msix_enable_i, .cfg_msix_mask_i, .cfg_flr_in_process_i, .cfg_flr_done_o, .cfg_err_uncor_o, .nic_o(host),
      .nic_flr_o(flr), .nic_flr_done_i(flr_done), .rx_req_o(rx_req), .rx_req_ready_i(rx_req_ready),
      .rx_req_data_o(rx_req_data), .np_credit_i(np_credit), .rx_cpl_o(rx_cpl), .rx_cpl_ready_i(rx_cpl_ready),
      .rx_cpl_data_o(rx_cpl_data), .tx_req_i(tx_req), .tx_req_ready_o(tx_req_ready), .tx_req_data_i(tx_req_data),
      .tx_np_ok_o(np_ok), .tx_cpl_i(tx_cpl), .tx_cpl_ready_o(tx_cpl_ready), .tx_cpl_data_i(tx_cpl_data)
  );

  // ---- the link
  lanes_tx #(.LANES(LANES)) i_tx (
      .clk_i, .rst_ni(rst_n), .flit_valid_i(flit_out_valid), .flit_ready_o(flit_out_ready), .flit_kind_i(flit_out_kind),
      .flit_data_i(flit_out_data), .tx_clk_i, .tx_rst_ni, .tx_header_o, .tx_data_o
  );
  lanes_rx #(.LANES(LANES)) i_rx (
      .rx_clk_i, .rx_rst_ni, .rx_valid_i, .rx_header_i, .rx_data_i, .rx_slip_o, .clk_i, .rst_ni(rst_n),
      .up_o(lanes_up_o), .flit_valid_o(flit_in_valid), .flit_kind_o(flit_in_kind), .flit_data_o(flit_in_data),
      .bad_o(lanes_bad_o)
  );

  wire unused = busy ^ timer;
endmodule

`default_nettype wire
