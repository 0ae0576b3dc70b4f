// SPDX-License-Identifier: Apache-2.0
// Shadow of a short queue: has a context an entry in it?
`default_nettype none

module rma_queued #(
    parameter int unsigned DEPTH = 4  // entries of the queue, a power of two
) (
    input  wire logic        clk_i,
    input  wire logic        rst_ni,
    input  wire logic        push_i,
    input  wire logic [7:0]  vpid_i,
    input  wire logic        pop_i,
    input  wire logic [7:0]  look_i,
    output      logic        found_o
);
  localparam int unsigned PTR_W = $clog2(DEPTH);

  logic [7:0]       vpid_q [0:DEPTH-1];
  logic [DEPTH-1:0] valid_q;
  logic [PTR_W-1:0] head_q, tail_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      head_q  <= '0;
      tail_q  <= '0;
    end else begin
      if (pop_i) begin
        valid_q[head_q] <= 1'b0;
        head_q <= head_q + 1'b1;
      end
      if (push_i) begin
        valid_q[tail_q] <= 1'b1;
        tail_q <= tail_q + 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) if (push_i) vpid_q[tail_q] <= vpid_i;

  always_comb begin
    found_o = 1'b0;
    for (int i = 0; i < DEPTH; i++) if (valid_q[i] && vpid_q[i] == look_i) found_o = 1'b1;
  end

`ifndef SYNTHESIS
  initial if (DEPTH < 2 || (DEPTH & (DEPTH - 1)) != 0) $error("rma_queued: DEPTH must be a power of two, at least 2");
  always_ff @(posedge clk_i) begin
    if (rst_ni && push_i) assert (!valid_q[tail_q]) else $error("rma_queued: more entries than DEPTH");
    if (rst_ni && pop_i) assert (valid_q[head_q]) else $error("rma_queued: nothing to take");
  end
`endif
endmodule

`default_nettype wire
