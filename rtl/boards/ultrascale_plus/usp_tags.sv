// SPDX-License-Identifier: Apache-2.0
// Tags of reads. The NIC has 512, the block assigns its own (32 or 256, as the host allows) and reports them in the
// order of the reads. This table finds the NIC's tag again when a completion comes.
`default_nettype none

module usp_tags (
    input  wire logic        clk_i,
    input  wire logic        rst_ni,

    /// A read leaves, with this tag of the NIC.
    input  wire logic        read_valid_i,
    output      logic        read_ready_o,
    input  wire logic [9:0]  read_tag_i,

    /// pcie_rq_tag0 and 1, and their valid bits: the tag that the block gave to the next read, and to the one after it.
    input  wire logic [15:0] rq_tag_i,
    input  wire logic [1:0]  rq_tag_vld_i,

    /// Tag of the block → tag of the NIC, in the same cycle.
    input  wire logic [7:0]  look_i,
    output      logic [9:0]  look_o
);
  localparam int unsigned LOG = 4;  // reads whose tag was not reported: as many fit into both queues

  // ---- reads in their order, and reports
  logic         read, report;
  logic [9:0]   nic_tag;
  logic [LOG:0] wr_q, rd_q, nothing;
  logic [7:0]   report_q [0:2**LOG-1];
  wire [LOG-1:0] first  = wr_q[LOG-1:0];
  wire [LOG-1:0] second = first + {{(LOG - 1){1'b0}}, rq_tag_vld_i[0]};
  assign report = wr_q != rd_q;
  fifo #(.WIDTH(10), .DEPTH(2 ** LOG)) i_reads (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(read_valid_i), .wr_ready_o(read_ready_o), .wr_data_i(read_tag_i),
      .rd_valid_o(read), .rd_ready_i(report), .rd_data_o(nic_tag), .count_o(nothing)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q <= '0;
      rd_q <= '0;
    end else begin
      wr_q <= wr_q + {{LOG{1'b0}}, rq_tag_vld_i[0]} + {{LOG{1'b0}}, rq_tag_vld_i[1]};
      if (report) rd_q <= rd_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (rq_tag_vld_i[0]) report_q[first] <= rq_tag_i[7:0];
    if (rq_tag_vld_i[1]) report_q[second] <= rq_tag_i[15:8];
  end

  // ---- table
  logic [9:0] table_q [0:255];
  assign look_o = table_q[look_i];
  always_ff @(posedge clk_i) if (report) table_q[report_q[rd_q[LOG-1:0]]] <= nic_tag;

  wire unused = ^nothing;
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) assert (!report || read) else $error("usp_tags: a tag for no read");
  end
`endif
endmodule

`default_nettype wire
