// SPDX-License-Identifier: Apache-2.0
// Requests that wait after the posted ones that came before them, in order among themselves.
`default_nettype none

module hostif_wait #(
  parameter int unsigned WIDTH  = 64,   // bits of a request
  parameter int unsigned DEPTH  = 32,   // requests, a power of two
  parameter int unsigned MARK_W = 31    // so wide that it cannot wrap half-way while a request waits
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
  logic [MARK_W-1:0] mark;
  logic              head, room;
  wire  [MARK_W-1:0] lead = done_i - mark;
  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(MARK_W + WIDTH), .DEPTH(DEPTH), .BLOCK(1'b1)) i_queue (
    .clk_i(clk_i), .rst_ni(rst_ni), .clear_i(1'b0), .wr_valid_i(push_i), .wr_ready_o(room),
    .wr_data_i({entered_i, data_i}), .rd_valid_o(head), .rd_ready_i(pop_i), .rd_data_o({mark, data_o}), .count_o()
  );
  // verilator lint_on PINCONNECTEMPTY
  assign full_o  = !room;
  assign empty_o = !head;
  assign valid_o = head && !lead[MARK_W-1];

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) assert (!(push_i && full_o)) else $error("hostif_wait: more non-posted requests than credits");
    if (rst_ni) assert (!(pop_i && !valid_o)) else $error("hostif_wait: nothing to take");
  end
`endif
endmodule

`default_nettype wire
