// SPDX-License-Identifier: Apache-2.0
// The NIC of a board, with the hard block's side as signals of software.
`default_nettype none

module usp_node #(
    parameter int unsigned DATA_W = 256,
    localparam int unsigned LANES = DATA_W / 64
) (
    input  wire logic                clk_i,
    input  wire logic [63:0]         serial_i,
    output      logic [2*LANES-1:0]  tx_header_o,
    output      logic [64*LANES-1:0] tx_data_o,
    input  wire logic [2*LANES-1:0]  rx_header_i,
    input  wire logic [64*LANES-1:0] rx_data_i
);
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
  logic user_reset, up, bad;
  logic [LANES-1:0] slip;
  block_side #(.DATA_W(DATA_W)) block (
      .clk_i, .reset_o(user_reset), .cq_tvalid_o(cq_tvalid), .cq_tready_i(cq_tready), .cq_tlast_o(cq_tlast),
      .cq_tkeep_o(cq_tkeep), .cq_tuser_o(cq_tuser), .cq_tdata_o(cq_tdata), .cq_np_req_i(cq_np_req),
      .cc_tvalid_i(cc_tvalid), .cc_tready_o(cc_tready), .cc_tlast_i(cc_tlast), .cc_tkeep_i(cc_tkeep),
      .cc_tuser_i(cc_tuser), .cc_tdata_i(cc_tdata), .rq_tvalid_i(rq_tvalid), .rq_tready_o(rq_tready),
      .rq_tlast_i(rq_tlast), .rq_tkeep_i(rq_tkeep), .rq_tuser_i(rq_tuser), .rq_tdata_i(rq_tdata),
      .rq_seq_num_o(rq_seq_num), .rq_seq_num_vld_o(rq_seq_num_vld), .rq_tag_o(rq_tag),
      .rq_tag_vld_o(rq_tag_vld), .rq_tag_av_o(rq_tag_av), .tfc_nph_av_o(tfc_nph_av), .rc_tvalid_o(rc_tvalid),
      .rc_tready_i(rc_tready), .rc_tlast_o(rc_tlast), .rc_tkeep_o(rc_tkeep), .rc_tuser_o(rc_tuser),
      .rc_tdata_o(rc_tdata), .cfg_max_payload_o(cfg_max_payload), .cfg_max_read_req_o(cfg_max_read_req),
      .cfg_function_status_o(cfg_function_status), .cfg_bus_number_o(cfg_bus_number),
      .cfg_msix_enable_o(cfg_msix_enable), .cfg_msix_mask_o(cfg_msix_mask),
      .cfg_flr_in_process_o(cfg_flr_in_process), .cfg_flr_done_i(cfg_flr_done), .cfg_err_uncor_i(cfg_err_uncor)
  );
  nic_usp #(.DATA_W(DATA_W), .CLOCK_KHZ(32'd125_000)) i_nic (
      .clk_i, .reset_i(user_reset), .serial_i, .cq_tvalid_i(cq_tvalid), .cq_tready_o(cq_tready),
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
      .tx_clk_i(clk_i), .tx_rst_ni(!user_reset), .tx_header_o, .tx_data_o, .rx_clk_i({LANES{clk_i}}),
      .rx_rst_ni({LANES{!user_reset}}), .rx_valid_i('1), .rx_header_i, .rx_data_i, .rx_slip_o(slip),
      .lanes_up_o(up), .lanes_bad_o(bad)
  );
endmodule

`default_nettype wire
