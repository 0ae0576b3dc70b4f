// SPDX-License-Identifier: Apache-2.0
// The hard block's side of the streams as signals of software. Verilator does not see when VPI writes a variable. So a
// value that software writes after a rising edge is taken at the next falling edge, as if it had been there since then.
`default_nettype none

module block_side #(
    parameter int unsigned DATA_W = 256,
    localparam int unsigned CQ_W = DATA_W == 512 ? 183 : 88, CC_W = DATA_W == 512 ? 81 : 33,
    localparam int unsigned RQ_W = DATA_W == 512 ? 137 : 62, RC_W = DATA_W == 512 ? 161 : 75
) (
    input  wire logic clk_i,
    output      logic reset_o,
    // ---- ports of usp_shim with these names
    output      logic                        cq_tvalid_o,
    input  wire logic                        cq_tready_i,
    output      logic                        cq_tlast_o,
    output      logic [DATA_W/32-1:0]        cq_tkeep_o,
    output      logic [CQ_W-1:0]             cq_tuser_o,
    output      logic [DATA_W-1:0]           cq_tdata_o,
    input  wire logic [1:0]                  cq_np_req_i,
    input  wire logic                        cc_tvalid_i,
    output      logic                        cc_tready_o,
    input  wire logic                        cc_tlast_i,
    input  wire logic [DATA_W/32-1:0]        cc_tkeep_i,
    input  wire logic [CC_W-1:0]             cc_tuser_i,
    input  wire logic [DATA_W-1:0]           cc_tdata_i,
    input  wire logic                        rq_tvalid_i,
    output      logic                        rq_tready_o,
    input  wire logic                        rq_tlast_i,
    input  wire logic [DATA_W/32-1:0]        rq_tkeep_i,
    input  wire logic [RQ_W-1:0]             rq_tuser_i,
    input  wire logic [DATA_W-1:0]           rq_tdata_i,
    output      logic [11:0]                 rq_seq_num_o,
    output      logic [1:0]                  rq_seq_num_vld_o,
    output      logic [15:0]                 rq_tag_o,
    output      logic [1:0]                  rq_tag_vld_o,
    output      logic [3:0]                  rq_tag_av_o,
    output      logic [3:0]                  tfc_nph_av_o,
    output      logic                        rc_tvalid_o,
    input  wire logic                        rc_tready_i,
    output      logic                        rc_tlast_o,
    output      logic [DATA_W/32-1:0]        rc_tkeep_o,
    output      logic [RC_W-1:0]             rc_tuser_o,
    output      logic [DATA_W-1:0]           rc_tdata_o,
    output      logic [1:0]                  cfg_max_payload_o,
    output      logic [2:0]                  cfg_max_read_req_o,
    output      logic [3:0]                  cfg_function_status_o,
    output      logic [7:0]                  cfg_bus_number_o,
    output      logic                        cfg_msix_enable_o,
    output      logic                        cfg_msix_mask_o,
    output      logic                        cfg_flr_in_process_o,
    input  wire logic                        cfg_flr_done_i,
    input  wire logic                        cfg_err_uncor_i
);
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
  assign reset_o = user_reset_q;
  assign cq_tvalid_o = cq_tvalid_q;
  assign cq_tready = cq_tready_i;
  assign cq_tlast_o = cq_tlast_q;
  assign cq_tkeep_o = cq_tkeep_q;
  assign cq_tuser_o = cq_tuser_q;
  assign cq_tdata_o = cq_tdata_q;
  assign pcie_cq_np_req = cq_np_req_i;
  assign cc_tvalid = cc_tvalid_i;
  assign cc_tready_o = cc_tready_q;
  assign cc_tlast = cc_tlast_i;
  assign cc_tkeep = cc_tkeep_i;
  assign cc_tuser = cc_tuser_i;
  assign cc_tdata = cc_tdata_i;
  assign rq_tvalid = rq_tvalid_i;
  assign rq_tready_o = rq_tready_q;
  assign rq_tlast = rq_tlast_i;
  assign rq_tkeep = rq_tkeep_i;
  assign rq_tuser = rq_tuser_i;
  assign rq_tdata = rq_tdata_i;
  assign rq_seq_num_o = {pcie_rq_seq_num1_q, pcie_rq_seq_num0_q};
  assign rq_seq_num_vld_o = {pcie_rq_seq_num_vld1_q, pcie_rq_seq_num_vld0_q};
  assign rq_tag_o = {pcie_rq_tag1_q, pcie_rq_tag0_q};
  assign rq_tag_vld_o = {pcie_rq_tag_vld1_q, pcie_rq_tag_vld0_q};
  assign rq_tag_av_o = pcie_rq_tag_av_q;
  assign tfc_nph_av_o = pcie_tfc_nph_av_q;
  assign rc_tvalid_o = rc_tvalid_q;
  assign rc_tready = rc_tready_i;
  assign rc_tlast_o = rc_tlast_q;
  assign rc_tkeep_o = rc_tkeep_q;
  assign rc_tuser_o = rc_tuser_q;
  assign rc_tdata_o = rc_tdata_q;
  assign cfg_max_payload_o = cfg_max_payload_q;
  assign cfg_max_read_req_o = cfg_max_read_req_q;
  assign cfg_function_status_o = cfg_function_status_q[3:0];
  assign cfg_bus_number_o = cfg_bus_number_q;
  assign cfg_msix_enable_o = cfg_interrupt_msix_enable_q[0];
  assign cfg_msix_mask_o = cfg_interrupt_msix_mask_q[0];
  assign cfg_flr_in_process_o = cfg_flr_in_process_q;
  assign cfg_flr_done = cfg_flr_done_i;
  assign cfg_err_uncor = cfg_err_uncor_i;
endmodule

`default_nettype wire
