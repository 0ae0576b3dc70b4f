// SPDX-License-Identifier: Apache-2.0
// The events of many sources on one port, in turn. With PULSES a source does not wait: one event of each is kept, and
// further ones that occur meanwhile are not logged. With DEPTH some events wait in a queue after the turn, so that each
// is accepted and counted at once; events that find the queue full are counted but not logged.
`default_nettype none

module event_collector #(
    parameter int unsigned SOURCES = 8,     // at least 2
    parameter bit          PULSES  = 1'b0,  // sources pulse valid_i and do not look at ready_o
    parameter bit          HOLD    = 1'b0,  // event_o does not change while it waits
    parameter int unsigned DEPTH   = 0      // of the queue, a power of two; 0: none
) (
    input  wire logic                      clk_i,
    input  wire logic                      rst_ni,

    // bit or slice i is source i
    input  wire logic [SOURCES-1:0]        valid_i,
    output      logic [SOURCES-1:0]        ready_o,
    input  wire logic [64*SOURCES-1:0]     events_i,          // event_t
    input  wire logic [7*SOURCES-1:0]      intervals_i,       // of the SMFU that each concerns; from 64 on none

    output      logic                      event_valid_o,
    input  wire logic                      event_ready_i,
    output      ggas_pkg::event_t          event_o,
    output      logic [6:0]                event_interval_o,
    output      ggas_regs_pkg::event_set_t count_o,           // with DEPTH: one bit a code, for a cycle
    output      logic                      busy_o
);
  localparam int unsigned W = 71;  // interval, event

  logic [SOURCES-1:0]   waits, grant;
  logic [W*SOURCES-1:0] records;
  logic [W-1:0]         chosen;
  logic                 take, unused_locked;

  // ---------------------------------------------------------------- what waits
  if (PULSES) begin : g_pulses
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) waits <= '0;
      else if (valid_i != '0 || waits != '0) waits <= (waits & ~ready_o) | valid_i;
    end
    always_ff @(posedge clk_i) begin
      if (valid_i != '0) begin
        for (int i = 0; i < SOURCES; i = i + 1)
          if (valid_i[i] && (!waits[i] || ready_o[i])) records[W*i+:W] <= {intervals_i[7*i+:7], events_i[64*i+:64]};
      end
    end
  end else begin : g_offers
    assign waits = valid_i;
    always_comb begin
      for (int i = 0; i < SOURCES; i = i + 1) records[W*i+:W] = {intervals_i[7*i+:7], events_i[64*i+:64]};
    end
  end

  // ---------------------------------------------------------------- whose turn
  arbiter_rr #(.N(SOURCES), .HOLD(HOLD)) i_turn (
      .clk_i, .rst_ni, .clear_i(1'b0), .req_i(waits), .take_i(take), .eop_i(1'b1), .grant_o(grant),
      .locked_o(unused_locked)
  );
  assign ready_o = take ? grant : '0;
  always_comb begin
    chosen = '0;
    for (int i = 0; i < SOURCES; i = i + 1) if (grant[i]) chosen = chosen | records[W*i+:W];
  end

  // ---------------------------------------------------------------- to the port
  if (DEPTH != 0) begin : g_queue
    logic                   unused_room;
    logic [$clog2(DEPTH):0] unused_used;
    assign take = waits != '0;
    fifo #(.WIDTH(W), .DEPTH(DEPTH)) i_queue (
        .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(take), .wr_ready_o(unused_room), .wr_data_i(chosen),
        .rd_valid_o(event_valid_o), .rd_ready_i(event_ready_i), .rd_data_o({event_interval_o, event_o}),
        .count_o(unused_used)
    );
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        count_o <= '0;
      end else begin
        count_o <= '0;
        if (take) count_o[chosen[61:56]] <= 1'b1;
      end
    end
  end else begin : g_direct
    assign take          = event_valid_o && event_ready_i;
    assign event_valid_o = grant != '0;
    assign {event_interval_o, event_o} = chosen;
    assign count_o       = '0;
  end
  assign busy_o = waits != '0 || event_valid_o || count_o != '0;
endmodule

`default_nettype wire
