// SPDX-License-Identifier: Apache-2.0
// Registers, contexts, counters, event queue and MSI-X joined as in nic_top, with the rest of the NIC at the pins.
`default_nettype none

module regs_bench (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire  [63:0]  time_i,

  input  wire          req_i,
  input  wire          write_i,
  input  wire  [15:0]  addr_i,
  input  wire  [63:0]  wdata_i,
  input  wire  [7:0]   wstrb_i,
  output logic         ack_o,
  output logic [63:0]  rdata_o,
  output logic         error_o,

  input  wire  [1:0]   link_state_i,
  output logic         retrain_o,
  output logic         interval_req_o,
  output logic         interval_write_o,
  output logic [15:0]  interval_addr_o,
  input  wire  [63:0]  interval_rdata_i,

  output logic         context_we_o,
  output logic [7:0]   context_vpid_o,
  output logic [2:0]   context_word_o,
  output logic [63:0]  context_data_o,
  output logic [7:0]   look_vpid_o,
  input  wire          look_busy_i,
  output logic         piece_req_o,
  output logic         invalidate_o,
  output logic         invalidate_all_o,
  output logic [51:0]  invalidate_page_o,

  input  wire  [34:0]  cnt_i,
  input  ggas_regs_pkg::event_set_t pulse_a_i,
  input  ggas_regs_pkg::event_set_t pulse_b_i,

  input  wire  [2:0]   ev_valid_i,
  output logic [2:0]   ev_ready_o,
  input  wire  [191:0] ev_i,
  input  wire  [20:0]  ev_interval_i,

  output logic         rec_valid_o,
  input  wire          rec_ready_i,
  output logic [63:0]  rec_addr_o,
  output logic [127:0] rec_data_o,

  input  wire          msix_enable_i,
  input  wire          fire_i,         // raise a vector
  input  wire  [3:0]   fire_vector_i,
  output logic         fire_ready_o,
  input  wire          arm_valid_i,
  output logic         arm_ready_o,
  input  wire          arm_ring_i,
  input  wire  [7:0]   arm_vpid_i,
  input  wire  [31:0]  arm_count_i,
  input  wire  [1:0]   written_valid_i,
  output logic [1:0]   written_ready_o,
  input  wire  [15:0]  written_vpid_i,
  input  wire  [63:0]  written_count_i,
  output logic         msg_valid_o,
  input  wire          msg_ready_i,
  output logic [63:0]  msg_addr_o,
  output logic [31:0]  msg_data_o,
  output logic         busy_o,
  output logic         timer_o
);

  ggas_regs_pkg::cfg_t cfg;
  ggas_regs_pkg::sts_t sts;
  logic        ext_counter_req, ext_msix_req, ext_context_req, regs_busy, counters_busy, context_busy;
  logic        interrupts_busy, ext_moderation_req, sent;
  logic [63:0] ext_counter_rdata, ext_msix_rdata, ext_context_rdata, ext_moderation_rdata, ext_wdata;
  logic [7:0]  ext_wstrb;
  ggas_regs_pkg::event_set_t pulse_queue;
  logic        unused_export_req, unused_coll_req;

  assign sts.caps_data_w         = 10'd64;
  assign sts.caps_mtu            = 13'd256;
  assign sts.caps_loads          = 8'd64;
  assign sts.caps_intervals      = 8'd64;
  assign sts.caps_exports        = 8'd64;
  assign sts.caps_vectors        = 8'd16;
  assign sts.time_cycles         = time_i;
  assign sts.build_contexts      = 9'd256;
  assign sts.build_page_log2     = 5'd12;
  assign sts.build_rma           = 1'b1;
  assign sts.build_velo          = 1'b0;
  assign sts.build_without       = '0;
  assign sts.build_nodes         = 17'd64;
  assign sts.clock_khz           = 32'd125000;
  assign sts.serial_id           = 64'h0123456789abcdef;
  assign sts.link_status_state   = link_state_i;
  assign sts.link_status_unacked = 8'h5a;
  assign retrain_o               = cfg.link_ctrl_retrain;
  assign sts.atu_status_done     = 32'h89abcdef;
  assign sts.atu_status_busy     = 1'b1;
  assign invalidate_o            = cfg.atu_invalidate_start;
  assign invalidate_all_o        = cfg.atu_invalidate_everything;
  assign invalidate_page_o       = cfg.atu_invalidate_page;
  ggas_pkg::context_write_t context_write;
  assign {context_we_o, context_vpid_o, context_word_o, context_data_o} = context_write;
  assign busy_o                  = regs_busy || counters_busy || context_busy || arm_busy || interrupts_busy;

  regs i_regs (
    .clk_i(clk_i), .rst_ni(rst_ni), .req_i(req_i), .write_i(write_i), .addr_i(addr_i), .wdata_i(wdata_i),
    .wstrb_i(wstrb_i), .ack_o(ack_o), .rdata_o(rdata_o), .error_o(error_o), .busy_o(regs_busy),
    .ext_counter_req_o(ext_counter_req), .ext_counter_rdata_i(ext_counter_rdata),
    .ext_interval_req_o(interval_req_o), .ext_interval_rdata_i(interval_rdata_i),
    .ext_export_req_o(unused_export_req), .ext_export_rdata_i(64'h0),
    .ext_coll_req_o(unused_coll_req), .ext_coll_rdata_i(64'h0),
    .ext_context_req_o(ext_context_req), .ext_context_rdata_i(ext_context_rdata),
    .ext_msix_req_o(ext_msix_req), .ext_msix_rdata_i(ext_msix_rdata),
    .ext_moderation_req_o(ext_moderation_req), .ext_moderation_rdata_i(ext_moderation_rdata),
    .ext_atu_piece_req_o(piece_req_o), .ext_atu_piece_rdata_i(64'h0),
    .ext_write_o(interval_write_o), .ext_addr_o(interval_addr_o), .ext_wdata_o(ext_wdata), .ext_wstrb_o(ext_wstrb),
    .cfg_o(cfg), .sts_i(sts)
  );

  rma_context i_context (
    .clk_i(clk_i), .rst_ni(rst_ni), .ext_req_i(ext_context_req), .ext_write_i(interval_write_o),
    .ext_addr_i(interval_addr_o[13:3]), .ext_wdata_i(ext_wdata), .ext_wstrb_i(ext_wstrb),
    .ext_rdata_o(ext_context_rdata), .context_o(context_write),
    .look_vpid_o(look_vpid_o), .look_busy_i(look_busy_i || arm_look), .busy_o(context_busy)
  );

  counters #(.EV_SOURCES(3)) i_counters (
    .clk_i(clk_i), .rst_ni(rst_ni), .cnt_i(cnt_i | {17'd0, sent, 17'd0}), .ev_i({pulse_queue, pulse_b_i, pulse_a_i}),
    .ext_req_i(ext_counter_req), .ext_addr_i(interval_addr_o), .ext_rdata_o(ext_counter_rdata),
    .busy_o(counters_busy)
  );

  interrupts #(.SOURCES(3)) i_interrupts (
    .clk_i(clk_i), .rst_ni(rst_ni), .time_i(time_i), .stop_i(cfg.stop_nic), .msix_enable_i(msix_enable_i), .cfg_i(cfg),
    .ext_msix_req_i(ext_msix_req),
    .ext_moderation_req_i(ext_moderation_req), .ext_write_i(interval_write_o), .ext_addr_i(interval_addr_o),
    .ext_wdata_i(ext_wdata), .ext_wstrb_i(ext_wstrb), .ext_msix_rdata_o(ext_msix_rdata),
    .ext_moderation_rdata_o(ext_moderation_rdata), .ev_valid_i(ev_valid_i), .ev_ready_o(ev_ready_o), .ev_i(ev_i),
    .ev_interval_i(ev_interval_i),
    .ev_pulse_o(pulse_queue), .fire_valid_i(fire_valid), .fire_ready_o(fire_ready), .fire_vpid_i(fire_vpid),
    .fire_vector_i(fire_vector), .fire_list_i(fire_list), .rec_valid_o(rec_valid_o), .rec_ready_i(rec_ready_i),
    .rec_addr_o(rec_addr_o), .rec_data_o(rec_data_o), .msg_valid_o(msg_valid_o), .msg_ready_i(msg_ready_i),
    .msg_addr_o(msg_addr_o), .msg_data_o(msg_data_o), .evq_head_o(sts.evq_head_count),
    .fired_head_o(sts.fired_head_count), .pending_o(sts.msix_pba_bits), .events_stopped_o(sts.stopped_events),
    .fired_stopped_o(sts.stopped_fired), .cnt_sent_o(sent), .busy_o(interrupts_busy), .timer_o(timer_o)
  );

  // A test may fire a context, or arm and write records as the RMA does.
  logic        arm_fire_valid, arm_fire_list, fire_valid, fire_ready, fire_list, arm_busy, arm_look;
  logic [7:0]  arm_fire_vpid, fire_vpid;
  logic [3:0]  arm_fire_vector, fire_vector;
  rma_arm i_arm (
    .clk_i(clk_i), .rst_ni(rst_ni), .context_i(context_write),
    .arm_valid_i(arm_valid_i), .arm_ready_o(arm_ready_o), .arm_ring_i(arm_ring_i),
    .arm_vpid_i(arm_vpid_i), .arm_count_i(arm_count_i), .rec_valid_i(written_valid_i), .rec_ready_o(written_ready_o),
    .rec_vpid_i(written_vpid_i), .rec_count_i(written_count_i), .fire_valid_o(arm_fire_valid),
    .fire_ready_i(fire_ready && !fire_i), .fire_vpid_o(arm_fire_vpid), .fire_vector_o(arm_fire_vector),
    .fire_list_o(arm_fire_list), .look_vpid_i(look_vpid_o), .look_busy_o(arm_look), .busy_o(arm_busy)
  );
  assign fire_valid  = fire_i || arm_fire_valid;
  assign fire_vpid   = fire_i ? 8'd0 : arm_fire_vpid;
  assign fire_vector = fire_i ? fire_vector_i : arm_fire_vector;
  assign fire_list   = !fire_i && arm_fire_list;
  assign fire_ready_o = fire_ready;

endmodule

`default_nettype wire
