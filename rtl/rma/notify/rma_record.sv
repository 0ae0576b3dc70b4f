// SPDX-License-Identifier: Apache-2.0
// A record of a context's ring (notifications, messages): to its place as one write, and then to rma_arm, if the
// context uses interrupts. The phase of the record is its uppermost bit.
`default_nettype none

module rma_record #(
    parameter int unsigned DATA_W   = 64,  // 64, 256 or 512
    parameter int unsigned BYTES    = 16,  // of a record
    parameter int unsigned LOG_MAX  = 16,  // as in ring_slot
    parameter int unsigned LOG_SLOT = 4
) (
    input  wire logic               clk_i,
    input  wire logic               rst_ni,

    // a record; it does not change until it is sent, and begins only when nothing is written_valid_o
    input  wire logic               valid_i,
    input  wire logic [7:0]         vpid_i,
    input  wire logic [63:12]       base_i,
    input  wire logic [4:0]         log_i,
    input  wire logic [31:0]        count_i,        // records before it
    input  wire logic               irq_i,          // its reader is informed
    input  wire logic [8*BYTES-2:0] data_i,
    output      logic [3:0]         beat_o,         // on offer
    output      logic               sent_o,         // pulse

    // host writes
    output      ggas_pkg::tlp_beat_t wr_o,
    input  wire logic               wr_ready_i,
    output      logic [DATA_W-1:0]  wr_data_o,

    // a record was written whose reader is informed: its context, and how many there are
    output      logic               written_valid_o,
    input  wire logic               written_ready_i,
    output      logic [7:0]         written_vpid_o,
    output      logic [31:0]        written_count_o,
    input  wire logic [7:0]         look_vpid_i,
    output      logic               look_busy_o     // that is for this context
);
  logic [63:0] addr;
  logic        phase;
  ring_slot #(.LOG_MAX(LOG_MAX), .LOG_SLOT(LOG_SLOT)) u_slot (
      .base_i, .log_i, .count_i, .addr_o(addr), .phase_o(phase));
  record_writer #(.DATA_W(DATA_W), .BYTES(BYTES)) u_writer (
      .clk_i, .rst_ni, .valid_i, .addr_i(addr), .data_i({phase, data_i}), .beat_o, .sent_o, .wr_o, .wr_ready_i,
      .wr_data_o);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) written_valid_o <= 1'b0;
    else if (sent_o && irq_i) written_valid_o <= 1'b1;
    else if (written_ready_i) written_valid_o <= 1'b0;
  end
  always_ff @(posedge clk_i) if (sent_o) {written_vpid_o, written_count_o} <= {vpid_i, count_i + 32'd1};
  assign look_busy_o = written_valid_o && written_vpid_o == look_vpid_i;
endmodule

`default_nettype wire
