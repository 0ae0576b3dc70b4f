// SPDX-License-Identifier: Apache-2.0
// Prevents a unit that accepts nothing from blocking packets of others (docs/network.md#units-that-take-nothing): one
// instance for each virtual channel. If an offer waits too long the own units are cut off: the rest of the offered
// packet is kept here, so that its buffer is free, and later packets are lost.
`default_nettype none

module net_watchdog #(
    parameter int unsigned DATA_W = 64,  // 64, 256 or 512
    parameter int unsigned TIMES  = 1    // limits that a unit may take: what waits for other channels gets more
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    output      logic                busy_o,      // a packet is kept here
    input  wire logic                tick_i,
    input  wire logic [15:0]         limit_i,     // ticks; 0: none
    input  wire logic                cut_i,       // the own units are cut off
    output      logic                late_o,      // pulse: cut them off
    output      logic                lost_o,      // pulse: a packet was lost
    output      logic [39:0]         lost_who_o,  // {op, source, destination}

    // packets for the unit; a header is valid on every beat
    input  wire logic                in_valid_i,
    output      logic                in_ready_o,
    input  wire logic                in_sop_i,
    input  wire logic                in_eop_i,
    input  wire logic [ggas_pkg::NET_HDR_W-1:0] in_hdr_i,
    input  wire logic [DATA_W-1:0]   in_data_i,
    output      logic                out_valid_o,
    input  wire logic                out_ready_i,
    output      logic                out_sop_o,
    output      logic                out_eop_o,
    output      logic [ggas_pkg::NET_HDR_W-1:0] out_hdr_o,
    output      logic [DATA_W-1:0]   out_data_o
);
  localparam int unsigned HW = ggas_pkg::NET_HDR_W;
  localparam int unsigned W  = 16 + $clog2(TIMES);

  // PASS: nothing is kept. KEEP: the rest of the packet on offer comes here. CUT: what comes is lost.
  typedef enum logic [1:0] {PASS, KEEP, CUT} state_t;
  state_t        state_q;
  logic          inside_q;  // the first beat of a packet was taken from the input
  logic          first_q;   // KEEP: the beat at the input is kept already
  logic          keeps;     // the beat on offer is kept, from the next cycle on it is offered from here
  logic          kept, kept_eop, sop_q;
  logic [HW-1:0]     hdr_q;
  logic [DATA_W-1:0] kept_data;
  wire           taken  = in_valid_i && in_ready_o;
  wire           passes = state_q == PASS;
  assign keeps = passes && cut_i && in_valid_i && !out_ready_i;

  logic unused_room;
  logic [$clog2(ggas_pkg::MTU * 8 / DATA_W):0] unused_count;
  fifo #(.WIDTH(DATA_W + 1), .DEPTH(ggas_pkg::MTU * 8 / DATA_W), .BLOCK(1'b1)) i_kept (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(keeps || (state_q == KEEP && in_valid_i && !first_q)),
      .wr_ready_o(unused_room), .wr_data_i({in_eop_i, in_data_i}), .rd_valid_o(kept),
      .rd_ready_i(out_ready_i), .rd_data_o({kept_eop, kept_data}), .count_o(unused_count)
  );
  assign in_ready_o  = passes ? out_ready_i : 1'b1;
  assign out_valid_o = passes ? in_valid_i : kept;
  assign out_sop_o   = passes ? in_sop_i : sop_q;
  assign out_eop_o   = passes ? in_eop_i : kept_eop;
  assign out_hdr_o   = passes ? in_hdr_i : hdr_q;
  assign out_data_o  = passes ? in_data_i : kept_data;
  assign lost_o      = state_q == CUT && taken && in_sop_i;
  assign lost_who_o  = net_pkg::hdr_who(in_hdr_i);
  assign busy_o      = kept;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= PASS;
      inside_q <= 1'b0;
      first_q  <= 1'b0;
      sop_q    <= 1'b0;
    end else begin
      if (taken) inside_q <= !in_eop_i;
      first_q <= keeps;
      if (keeps) sop_q <= in_sop_i;
      else if (out_valid_o && out_ready_i) sop_q <= 1'b0;
      case (state_q)
        PASS: begin
          if (keeps) state_q <= KEEP;
          else if (cut_i && !in_valid_i && !inside_q) state_q <= CUT;
        end
        KEEP: if (taken && in_eop_i) state_q <= CUT;
        // Open again between two packets, when the kept one was taken.
        default: if (!cut_i && !kept && !in_valid_i && !inside_q) state_q <= PASS;
      endcase
    end
  end
  always_ff @(posedge clk_i) if (passes) hdr_q <= in_hdr_i;

  // ---------------------------------------------------------------- how long an offer stands
  logic [W-1:0] ticks_q, limit;
  logic         limited_q;
  assign limit  = {{(W - 16) {1'b0}}, limit_i} * TIMES[W-1:0];
  assign late_o = limited_q && tick_i && ticks_q >= limit;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ticks_q   <= '0;
      limited_q <= 1'b0;
    end else begin
      limited_q <= limit_i != '0 && !cut_i && out_valid_o && !out_ready_i;
      if (!out_valid_o || out_ready_i) ticks_q <= '0;
      else if (tick_i && !cut_i) ticks_q <= ticks_q + 1'b1;
    end
  end

`ifndef SYNTHESIS
  initial if (TIMES != 1 && TIMES != 4) $error("net_watchdog: TIMES must be 1 or 4");
`endif
endmodule

`default_nettype wire
