// SPDX-License-Identifier: Apache-2.0
// Requests that wait behind the posted ones that came before them, in order among themselves.
`default_nettype none

module hostif_wait #(
  parameter int unsigned WIDTH  = 64,   // bits of a request
  parameter int unsigned DEPTH  = 32,   // requests, a power of two
  parameter int unsigned MARK_W = 32    // so wide that it cannot wrap half-way while a request waits
) (
  input  wire                clk_i,
  input  wire                rst_ni,
  input  wire  [MARK_W-1:0]  entered_i,    // posted requests that have come, modulo
  input  wire  [MARK_W-1:0]  done_i,       // that were handed over

  input  wire                push_i,
  output logic               full_o,
  input  wire  [WIDTH-1:0]   data_i,

  output logic               valid_o,      // the oldest one, and nothing it waits for
  input  wire                pop_i,
  output logic [WIDTH-1:0]   data_o,
  output logic               empty_o
);
  localparam int unsigned AW = $clog2(DEPTH);

  logic [WIDTH-1:0]  queue [DEPTH];
  logic [MARK_W-1:0] marks [DEPTH];
  logic [AW:0]       wr_q, rd_q;
  wire  [AW:0]       used = wr_q - rd_q;
  wire  [MARK_W-1:0] lead = done_i - marks[rd_q[AW-1:0]];

  assign full_o  = used[AW];
  assign empty_o = used == '0;
  assign valid_o = !empty_o && !lead[MARK_W-1];
  assign data_o  = queue[rd_q[AW-1:0]];

  always_ff @(posedge clk_i) begin
    if (push_i) begin
      queue[wr_q[AW-1:0]] <= data_i;
      marks[wr_q[AW-1:0]] <= entered_i;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q <= '0;
      rd_q <= '0;
    end else begin
      if (push_i) wr_q <= wr_q + 1'b1;
      if (pop_i) rd_q <= rd_q + 1'b1;
    end
  end

`ifndef SYNTHESIS
  initial if (DEPTH < 2 || (1 << AW) != DEPTH) $error("hostif_wait: DEPTH must be a power of two, at least 2");
  always_ff @(posedge clk_i) begin
    if (rst_ni) assert (!(push_i && full_o)) else $error("hostif_wait: more non-posted requests than credits");
    if (rst_ni) assert (!(pop_i && !valid_o)) else $error("hostif_wait: nothing to take");
  end
`endif
endmodule

`default_nettype wire
