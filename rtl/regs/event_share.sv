// SPDX-License-Identifier: Apache-2.0
// Limits the event records of each cause in a period: a context, an interval, a node for packets of the network, else
// all events of a code together. So no cause fills the ring for the others. The rest of a share is in RAM next to its
// period; a new period needs no clearing.
`default_nettype none

module event_share (
  input  wire         clk_i,
  input  wire  [7:0]  limit_i,       // records of a share in a period; 0: no limit
  input  wire  [3:0]  log2_ticks_i,  // ticks of a period
  // verilator lint_off UNUSEDSIGNAL
  input  wire  [63:0] time_i,        // core cycles

  input  wire         ask_i,         // an event
  input  ggas_pkg::event_t event_i,
  // verilator lint_on UNUSEDSIGNAL
  input  wire  [6:0]  interval_i,    // that it concerns; from 64 on none
  input  wire         check_i,       // the cycle after ask_i: it takes of its share what granted_o says
  output logic        granted_o       // with check_i: a record may be written
);

  // Owner of the share: contexts from 0, intervals from 256, codes from 320, nodes (modulo 64) from 384 on.
  logic [8:0] share, share_q;
  always_comb begin
    case (event_i.code)
      ggas_regs_pkg::EV_BAD_DESCRIPTOR, ggas_regs_pkg::EV_RMA_PROTECTION, ggas_regs_pkg::EV_RMA_TIMEOUT,
      ggas_regs_pkg::EV_NOTIFY_LOST, ggas_regs_pkg::EV_RMA_UNREACHABLE, ggas_regs_pkg::EV_RMA_RETRY_LIMIT:
        share = {1'b0, event_i.info[7:0]};
      ggas_regs_pkg::EV_PAGE_ACCESS:
        share = {1'b0, event_i.info[20:13]};  // two pages each
      ggas_regs_pkg::EV_TARGET_RANGE, ggas_regs_pkg::EV_TARGET_HOST_ERROR, ggas_regs_pkg::EV_TARGET_TIMEOUT,
      ggas_regs_pkg::EV_BAD_PACKET, ggas_regs_pkg::EV_TARGET_PROTECTION, ggas_regs_pkg::EV_CONTEXT_OFF:
        share = {3'b110, event_i.node[5:0]};
      default:
        share = interval_i[6] ? {3'b101, event_i.code[5:0]} : {3'b100, interval_i[5:0]};
    endcase
  end

  // Names a period among 16 million, and its length.
  logic [27:0]        period, period_q, stamp;
  logic [7:0]         used;
  // verilator lint_off UNUSEDSIGNAL
  wire  [63:0]        periods = time_i >> ggas_pkg::TICK_LOG2 >> log2_ticks_i;
  // verilator lint_on UNUSEDSIGNAL
  assign period = {log2_ticks_i, periods[23:0]};
  always_ff @(posedge clk_i) begin
    if (ask_i) begin
      share_q  <= share;
      period_q <= period;
    end
  end

  wire [7:0] so_far = stamp == period_q ? used : 8'd0;
  assign granted_o = limit_i == 8'd0 || so_far < limit_i;
  ram_1r1w #(.WIDTH(36), .DEPTH(512)) i_ram (
    .clk_i(clk_i), .we_i(check_i && limit_i != 8'd0 && granted_o), .waddr_i(share_q),
    .wdata_i({period_q, so_far + 8'd1}),
    .re_i(ask_i), .raddr_i(share), .rdata_o({stamp, used})
  );

endmodule

`default_nettype wire
