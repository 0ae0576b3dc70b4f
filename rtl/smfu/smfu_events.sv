// SPDX-License-Identifier: Apache-2.0
// Gathers the events of the SMFU's parts: one a cycle is taken and counted. A few wait in a queue for the event port;
// when
// it is full an event is counted but not logged.
`default_nettype none

module smfu_events #(
    parameter int unsigned SOURCES = 8,
    parameter int unsigned DEPTH   = 8   // a power of two
) (
    input  wire logic                    clk_i,
    input  wire logic                    rst_ni,

    input  wire logic [SOURCES-1:0]      valid_i,
    output      logic [SOURCES-1:0]      ready_o,
    input  wire logic [64*SOURCES-1:0]   events_i,       // event_t of source 0 in the low bits
    input  wire logic [7*SOURCES-1:0]    intervals_i,    // that each concerns

    output      logic                    event_valid_o,
    input  wire logic                    event_ready_i,
    output      ggas_pkg::event_t        event_o,
    output      logic [6:0]              event_interval_o,
    output      ggas_regs_pkg::event_set_t count_o,     // one bit a code, for one cycle
    output      logic                    busy_o
);

  localparam int unsigned AW = $clog2(DEPTH);
  localparam int unsigned SW = $clog2(SOURCES);

  logic [70:0]   queue_q [DEPTH];  // interval, event
  logic [AW:0]   wr_q, rd_q;
  logic [SW-1:0] next_q;  // the source that comes first, round robin
  logic [SW-1:0] pick;
  logic [63:0]   picked;
  logic [6:0]    picked_interval;

  // The highest iteration wins, so count down from the last in turn to the first.
  always_comb begin
    pick    = '0;
    ready_o = '0;
    picked  = '0;
    picked_interval = '0;
    if (valid_i != '0) begin
      for (int i = SOURCES - 1; i >= 0; i--) begin
        if (valid_i[next_q + i[SW-1:0]]) pick = next_q + i[SW-1:0];
      end
      ready_o[pick] = 1'b1;
      picked = events_i[64*pick+:64];
      picked_interval = intervals_i[7*pick+:7];
    end
  end

  wire [AW:0] used = wr_q - rd_q;
  wire        take = valid_i != '0;

  always_ff @(posedge clk_i) begin
    if (take && !used[AW]) queue_q[wr_q[AW-1:0]] <= {picked_interval, picked};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q    <= '0;
      rd_q    <= '0;
      next_q  <= '0;
      count_o <= '0;
    end else begin
      if (take && !used[AW]) wr_q <= wr_q + 1'b1;
      if (take) next_q <= pick + 1'b1;
      if (event_valid_o && event_ready_i) rd_q <= rd_q + 1'b1;
      count_o <= '0;
      if (take) count_o[picked[61:56]] <= 1'b1;
    end
  end

  assign event_valid_o = used != '0;
  assign {event_interval_o, event_o} = queue_q[rd_q[AW-1:0]];
  assign busy_o        = take || event_valid_o || count_o != '0;

endmodule

`default_nettype wire
