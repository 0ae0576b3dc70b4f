// SPDX-License-Identifier: Apache-2.0
// State of a ring in host or GPU memory that the NIC writes, for 256 contexts: its configuration, and the numbers of
// records written and consumed. A context is looked up in one cycle and updated later; one lookup is in progress at a
// time.
`default_nettype none

module rma_ring #(
    parameter int unsigned BASE_WORD = 1,   // word of CONTEXT[] with the ring's base
    parameter int unsigned LOG_LSB   = 8,   // where CONTEXT[].CTRL keeps log2 of its records
    parameter int unsigned LOG_MIN   = 4,   // least such value; below there is no ring
    parameter int unsigned LOG_MAX   = 16,  // greatest
    parameter int unsigned DB_KIND   = 1,   // doorbell that counts what was consumed
    parameter int unsigned EXTRA_W   = 32   // bits the user keeps next to the count of records
) (
    input  wire logic               clk_i,
    input  wire logic               rst_ni,
    input  wire logic               stop_i,          // the NIC is stopped: no ring exists

    // writes of CONTEXT[]; doorbells
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::context_write_t context_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic               db_valid_i,
    input  wire logic [1:0]         db_kind_i,
    input  wire logic [7:0]         db_vpid_i,
    input  wire logic [31:0]        db_count_i,

    // lookup; the answer stands from the next cycle until the next lookup, whether there is a ring and room one later
    input  wire logic               re_i,
    input  wire logic [7:0]         vpid_i,
    output      logic               exists_o,        // enabled, and it has a ring
    output      logic               backpressure_o,
    output      logic               irq_o,
    output      logic [15:0]        pd_o,
    output      logic [63:12]       base_o,
    output      logic [4:0]         log_o,           // log2 of the records
    output      logic [31:0]        count_o,         // records written since the start
    output      logic [EXTRA_W-1:0] extra_o,         // the user's, 0 at the start
    output      logic               room_o,          // for one more record
    output      logic               room2_o,         // for two

    // new counts of the context looked up last
    input  wire logic               we_i,
    input  wire logic [31:0]        count_i,
    input  wire logic [EXTRA_W-1:0] extra_i
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;

  localparam int unsigned CTRL_W = 23;  // pd 16, log2 5, irq, backpressure

  wire ctrl_we = context_i.we && context_i.word == 3'd0;
  wire db_we   = db_valid_i && db_kind_i == DB_KIND[1:0];

  logic [7:0]   vpid_q;     // looked up last
  logic         stale_q;    // and configured again since
  logic         enabled_q, consumed_known_q, count_known_q;  // of it
  logic         on;         // enabled
  logic         rung;       // had a doorbell since its start
  logic         used;       // had an update since its start
  wire          update = we_i && !stale_q;
  wire          start  = ctrl_we && context_i.data[0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      vpid_q           <= '0;
      stale_q          <= 1'b0;
      enabled_q        <= 1'b0;
      consumed_known_q <= 1'b0;
      count_known_q    <= 1'b0;
    end else begin
      if (re_i) begin
        vpid_q           <= vpid_i;
        enabled_q        <= on;
        consumed_known_q <= rung;
        count_known_q    <= used;
        stale_q          <= ctrl_we && context_i.vpid == vpid_i;
      end else if (ctrl_we && context_i.vpid == vpid_q) begin
        stale_q <= 1'b1;
      end
    end
  end
  context_flags u_on (.clk_i, .rst_ni, .context_i, .flags_i(context_i.data[0]), .vpid_i, .flags_o(on));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2)) u_rung (
      .clk_i, .rst_ni, .we_i({start, db_we}), .waddr_i({context_i.vpid[CW-1:0], db_vpid_i[CW-1:0]}), .wdata_i(2'b01),
      .raddr_i(vpid_i[CW-1:0]), .rdata_o(rung));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2)) u_used (
      .clk_i, .rst_ni, .we_i({start, update}), .waddr_i({context_i.vpid[CW-1:0], vpid_q[CW-1:0]}), .wdata_i(2'b01),
      .raddr_i(vpid_i[CW-1:0]), .rdata_o(used));

  // ---------------------------------------------------------------- tables
  logic [51:0]       base;
  logic [31:0]       consumed_raw, count_raw;
  logic [EXTRA_W-1:0] extra_raw;
  wire [CTRL_W-1:0]  ctrl = {context_i.data[47:32], context_i.data[LOG_LSB+:5], context_i.data[3], context_i.data[2]};

  context_fields #(.WIDTH(CTRL_W)) u_ctrl (
      .clk_i, .context_i, .fields_i(ctrl), .re_i, .vpid_i, .fields_o({pd_o, log_o, irq_o, backpressure_o}));
  context_fields #(.WIDTH(52), .WORD(BASE_WORD)) u_base (
      .clk_i, .context_i, .fields_i(context_i.data[63:12]), .re_i, .vpid_i, .fields_o(base));
  ram_1r1w #(.WIDTH(32), .DEPTH(ggas_pkg::CONTEXTS), .OLD(1'b1)) u_consumed (
      .clk_i, .we_i(db_we), .waddr_i(db_vpid_i[CW-1:0]), .wdata_i(db_count_i), .re_i, .raddr_i(vpid_i[CW-1:0]),
      .rdata_o(consumed_raw));
  ram_1r1w #(.WIDTH(32 + EXTRA_W), .DEPTH(ggas_pkg::CONTEXTS)) u_count (
      .clk_i, .we_i(update), .waddr_i(vpid_q[CW-1:0]), .wdata_i({extra_i, count_i}), .re_i, .raddr_i(vpid_i[CW-1:0]),
      .rdata_o({extra_raw, count_raw}));

  // ---------------------------------------------------------------- answer
  wire [31:0] unread = count_o - (consumed_known_q ? consumed_raw : '0);
  wire [31:0] size   = 32'd1 << log_o;
  logic       re_q, ring_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) re_q <= 1'b0;
    else re_q <= re_i;
  end
  always_ff @(posedge clk_i) begin
    if (re_q) begin
      ring_q  <= enabled_q && base != '0 && log_o >= LOG_MIN[4:0] && log_o <= LOG_MAX[4:0];
      room_o  <= unread < size;
      room2_o <= unread < size - 1'b1;
    end
  end
  assign base_o   = base;
  assign exists_o = ring_q && !stop_i;
  assign count_o  = count_known_q ? count_raw : '0;
  assign extra_o  = count_known_q ? extra_raw : '0;

endmodule

`default_nettype wire
