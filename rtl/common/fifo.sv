// SPDX-License-Identifier: Apache-2.0
// Small first-word fall-through FIFO: the oldest entry is on rd_data_o while rd_valid_o. Asynchronous read, so it
// becomes registers or distributed RAM. With BLOCK it is block RAM, plus a register for an entry that is needed before
// it can be read back: one LUT a bit for any depth, where distributed RAM needs 1.5 for 16 entries and 4 for 32.
`default_nettype none

module fifo #(
    parameter int unsigned WIDTH = 8,    // bits of an entry
    parameter int unsigned DEPTH = 4,    // entries, a power of two, at least 2
    parameter bit          BLOCK = 1'b0  // in block RAM
) (
    input  wire logic                       clk_i,
    input  wire logic                       rst_ni,
    input  wire logic                       clear_i,     // drop everything at the next edge
    input  wire logic                       wr_valid_i,
    output      logic                       wr_ready_o,  // not full; does not depend on rd_ready_i
    input  wire logic [WIDTH-1:0]           wr_data_i,
    output      logic                       rd_valid_o,
    input  wire logic                       rd_ready_i,
    output      logic [WIDTH-1:0]           rd_data_o,
    output      logic [$clog2(DEPTH):0]     count_o      // entries held
);
  localparam int unsigned PTR_W = $clog2(DEPTH);

  logic [PTR_W:0] wr_q, rd_q;  // one bit more than an address: full and empty differ in it
  wire            push = wr_valid_i && wr_ready_o;
  wire            pop  = rd_valid_o && rd_ready_i;

  assign count_o    = wr_q - rd_q;
  assign wr_ready_o = !count_o[PTR_W];
  assign rd_valid_o = wr_q != rd_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q <= '0;
      rd_q <= '0;
    end else if (clear_i) begin
      wr_q <= '0;
      rd_q <= '0;
    end else begin
      if (push) wr_q <= wr_q + 1'b1;
      if (pop) rd_q <= rd_q + 1'b1;
    end
  end

  if (BLOCK) begin : g_block
    wire [PTR_W-1:0]  next = rd_q[PTR_W-1:0] + 1'b1;
    wire [PTR_W-1:0]  head = pop ? next : rd_q[PTR_W-1:0];  // of the next cycle; pop comes late
    logic [WIDTH-1:0] stored, late_q;
    logic             is_late_q;  // the head was written as it was read
    (* ram_style = "block", no_rw_check *) logic [WIDTH-1:0] ram_q [0:DEPTH-1];
    always_ff @(posedge clk_i) begin
      if (push) ram_q[wr_q[PTR_W-1:0]] <= wr_data_i;
      stored    <= ram_q[head];
      late_q    <= wr_data_i;
      is_late_q <= push && wr_q[PTR_W-1:0] == head;
    end
    assign rd_data_o = is_late_q ? late_q : stored;
  end else begin : g_luts
    logic [WIDTH-1:0] mem_q [0:DEPTH-1];
    assign rd_data_o  = mem_q[rd_q[PTR_W-1:0]];
    always_ff @(posedge clk_i) if (push) mem_q[wr_q[PTR_W-1:0]] <= wr_data_i;
  end

`ifndef SYNTHESIS
  initial begin
    if (DEPTH < 2 || (DEPTH & (DEPTH - 1)) != 0) $error("fifo: DEPTH must be a power of two, at least 2");
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) assert (count_o <= DEPTH[PTR_W:0]) else $error("fifo: more entries than DEPTH");
  end
`endif
endmodule

`default_nettype wire
