// SPDX-License-Identifier: Apache-2.0
// Notification of software by the NIC (docs/interrupts.md): event ring, ring of fired contexts, MSI-X. Records of both
// rings go to the host in turns; each raises its vector after its record.
`default_nettype none

module interrupts #(
  parameter int unsigned SOURCES = 2     // units that send events, at most 8
) (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire  [63:0] time_i,
  input  wire         stop_i,            // the NIC is stopped: no record, no message
  input  wire         msix_enable_i,     // MSI-X is enabled and the function not masked
  // verilator lint_off UNUSEDSIGNAL
  input  ggas_regs_pkg::cfg_t cfg_i,
  // verilator lint_on UNUSEDSIGNAL

  // table and moderation of MSI-X, over the register bus
  input  wire         ext_msix_req_i,
  input  wire         ext_moderation_req_i,
  input  wire         ext_write_i,
  input  wire  [15:0] ext_addr_i,
  input  wire  [63:0] ext_wdata_i,
  input  wire  [7:0]  ext_wstrb_i,
  output logic [63:0] ext_msix_rdata_o,
  output logic [63:0] ext_moderation_rdata_o,

  // events of the units
  input  wire  [SOURCES-1:0]    ev_valid_i,
  output logic [SOURCES-1:0]    ev_ready_o,
  input  wire  [64*SOURCES-1:0] ev_i,    // event_t of each source
  input  wire  [7*SOURCES-1:0]  ev_interval_i,  // interval each concerns; from 64 on none
  output ggas_regs_pkg::event_set_t ev_pulse_o,  // EVENT_OVERFLOW, EVENT_LIMITED occurrences

  // contexts that fire
  input  wire          fire_valid_i,
  output logic         fire_ready_o,
  input  wire  [7:0]   fire_vpid_i,
  input  wire  [3:0]   fire_vector_i,
  input  wire          fire_list_i,

  // to the host
  output logic         rec_valid_o,
  input  wire          rec_ready_i,
  output logic [63:0]  rec_addr_o,
  output logic [127:0] rec_data_o,
  output logic         msg_valid_o,      // may fall before msg_ready_i
  input  wire          msg_ready_i,
  output logic [63:0]  msg_addr_o,
  output logic [31:0]  msg_data_o,

  output logic [31:0]  evq_head_o,
  output logic [31:0]  fired_head_o,
  output logic [15:0]  pending_o,
  output logic         events_stopped_o,
  output logic         fired_stopped_o,
  output logic         cnt_sent_o,
  output logic         busy_o,
  output logic         timer_o
);

  logic [1:0]   rec_valid, rec_grant;    // 0 events, 1 fired contexts
  logic [63:0]  event_addr, fired_addr;
  logic [127:0] event_data, fired_data;
  logic [15:0]  event_raise, fired_raise;
  logic         queue_busy, fired_busy, msix_busy, unused_locked;

  event_queue #(.SOURCES(SOURCES)) i_events (
    .clk_i(clk_i), .rst_ni(rst_ni), .enable_i(cfg_i.evq_ctrl_enable && !stop_i), .stopped_o(events_stopped_o),
    .base_i(cfg_i.evq_base_base[63:12]), .log2_size_i(cfg_i.evq_ctrl_log2_size), .vector_i(cfg_i.evq_ctrl_vector),
    .tail_i(cfg_i.evq_tail_count), .mask_i(cfg_i.evq_mask_codes), .limit_i(cfg_i.evq_limit_count),
    .log2_ticks_i(cfg_i.evq_limit_log2_ticks), .time_i(time_i), .ev_valid_i(ev_valid_i), .ev_ready_o(ev_ready_o),
    .ev_i(ev_i), .ev_interval_i(ev_interval_i),
    .rec_valid_o(rec_valid[0]), .rec_ready_i(rec_ready_i && rec_grant[0]), .rec_addr_o(event_addr),
    .rec_data_o(event_data), .raise_o(event_raise), .head_o(evq_head_o), .ev_pulse_o(ev_pulse_o), .busy_o(queue_busy)
  );

  fired_ring i_fired (
    .clk_i(clk_i), .rst_ni(rst_ni), .enable_i(cfg_i.fired_ctrl_enable && !stop_i), .stopped_o(fired_stopped_o),
    .base_i(cfg_i.fired_base_base[63:12]), .tail_i(cfg_i.fired_tail_count), .fire_valid_i(fire_valid_i),
    .fire_ready_o(fire_ready_o), .fire_vpid_i(fire_vpid_i), .fire_vector_i(fire_vector_i), .fire_list_i(fire_list_i),
    .rec_valid_o(rec_valid[1]), .rec_ready_i(rec_ready_i && rec_grant[1]), .rec_addr_o(fired_addr),
    .rec_data_o(fired_data), .raise_o(fired_raise), .head_o(fired_head_o), .busy_o(fired_busy)
  );

  arbiter_rr #(.N(2), .HOLD(1'b1)) i_turn (
    .clk_i(clk_i), .rst_ni(rst_ni), .clear_i(1'b0), .req_i(rec_valid), .take_i(rec_valid_o && rec_ready_i),
    .eop_i(1'b1),
    .grant_o(rec_grant), .locked_o(unused_locked)
  );
  assign rec_valid_o = rec_valid != '0;
  assign rec_addr_o  = rec_grant[1] ? fired_addr : event_addr;
  assign rec_data_o  = rec_grant[1] ? fired_data : event_data;

  msix i_msix (
    .clk_i(clk_i), .rst_ni(rst_ni), .time_i(time_i), .enable_i(msix_enable_i && !stop_i),
    .raise_i(event_raise | fired_raise),
    .ext_req_i(ext_msix_req_i), .ext_moderation_req_i(ext_moderation_req_i), .ext_write_i(ext_write_i),
    .ext_addr_i(ext_addr_i), .ext_wdata_i(ext_wdata_i), .ext_wstrb_i(ext_wstrb_i), .ext_rdata_o(ext_msix_rdata_o),
    .ext_moderation_rdata_o(ext_moderation_rdata_o), .pending_o(pending_o), .msg_valid_o(msg_valid_o),
    .msg_ready_i(msg_ready_i), .msg_addr_o(msg_addr_o), .msg_data_o(msg_data_o), .cnt_sent_o(cnt_sent_o),
    .busy_o(msix_busy), .timer_o(timer_o)
  );

  assign busy_o = queue_busy || fired_busy || msix_busy;

endmodule

`default_nettype wire
