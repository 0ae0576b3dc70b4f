// SPDX-License-Identifier: Apache-2.0
// Store-and-forward packet FIFO: beats become visible when their packet is committed, and vanish when it is aborted.
// A packet that is committed in cycle t is offered in cycle t+2; after that one beat a cycle.
`default_nettype none

module hostif_fifo #(
  parameter int unsigned DATA_W = 64,
  parameter int unsigned BEATS = 512,   // room for the largest packet at least; a power of two
  parameter int unsigned PKTS = 64,     // packets; a power of two
  parameter int unsigned META_W = 32    // bits kept next to each packet
) (
  input  wire               clk_i,
  input  wire               rst_ni,

  output logic              full_o,     // nothing may be written
  input  wire               write_i,    // append a beat to the open packet
  input  wire  [DATA_W-1:0] data_i,
  input  wire               first_i,    // with write_i: this beat begins the packet
  input  wire  [META_W-1:0] meta_i,     // valid with first_i
  input  wire               commit_i,   // with write_i: this beat ends the packet
  input  wire               abort_i,    // forget the open packet; not together with write_i

  output logic              valid_o,
  input  wire               ready_i,
  output logic              sop_o,
  output logic              eop_o,
  output logic [META_W-1:0] meta_o,     // of the packet being offered
  output logic [DATA_W-1:0] data_o,
  output logic              empty_o     // no committed packet inside
);

  localparam int unsigned AW = $clog2(BEATS);
  localparam int unsigned PW = $clog2(PKTS);

  logic [DATA_W:0]   beats [BEATS];  // {eop, data}

  logic [AW:0] wr_q, commit_q, rd_q;
  logic [PW:0] meta_wr_q, meta_at_q, meta_rd_q;  // written; being offered or before it; left
  logic [DATA_W:0] out_q;
  logic valid_q, sop_q, last_eop_q;

  wire [AW:0] used      = wr_q - rd_q;
  wire [PW:0] meta_used = meta_wr_q - meta_rd_q;
  wire        fetch     = rd_q != commit_q && (!valid_q || ready_i);
  wire        commit    = write_i && commit_i;
  wire        starts    = valid_q ? out_q[DATA_W] : last_eop_q;  // the beat before decides

  assign full_o  = used[AW] || meta_used[PW];
  assign empty_o = meta_used == '0;

  always_ff @(posedge clk_i) begin
    if (write_i) beats[wr_q[AW-1:0]] <= {commit_i, data_i};
    if (fetch) out_q <= beats[rd_q[AW-1:0]];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q       <= '0;
      commit_q   <= '0;
      rd_q       <= '0;
      meta_wr_q  <= '0;
      meta_at_q  <= '0;
      meta_rd_q  <= '0;
      valid_q    <= 1'b0;
      sop_q      <= 1'b0;
      last_eop_q <= 1'b1;
    end else begin
      if (write_i) wr_q <= wr_q + 1'b1;
      else if (abort_i) wr_q <= commit_q;
      if (commit) begin
        commit_q  <= wr_q + 1'b1;
        meta_wr_q <= meta_wr_q + 1'b1;
      end
      if (fetch) begin
        rd_q    <= rd_q + 1'b1;
        valid_q <= 1'b1;
        sop_q   <= starts;
        if (starts) meta_at_q <= meta_at_q + 1'b1;
      end else if (ready_i) begin
        valid_q <= 1'b0;
      end
      if (valid_q && ready_i) begin
        last_eop_q <= out_q[DATA_W];
        if (out_q[DATA_W]) meta_rd_q <= meta_rd_q + 1'b1;
      end
    end
  end

  assign valid_o = valid_q;
  assign sop_o   = sop_q;
  assign eop_o   = out_q[DATA_W];
  assign data_o  = out_q[DATA_W-1:0];

  ram_1r1w #(.WIDTH(META_W), .DEPTH(PKTS)) i_metas (
    .clk_i(clk_i), .we_i(write_i && first_i), .waddr_i(meta_wr_q[PW-1:0]), .wdata_i(meta_i),
    .re_i(fetch && starts), .raddr_i(meta_at_q[PW-1:0]), .rdata_o(meta_o)
  );

`ifndef SYNTHESIS
  initial begin
    if ((1 << AW) != BEATS || (1 << PW) != PKTS) $error("hostif_fifo: BEATS and PKTS must be powers of two");
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!(write_i && full_o)) else $error("hostif_fifo: write into a full FIFO");
      assert (!(write_i && abort_i)) else $error("hostif_fifo: write and abort together");
    end
  end
`endif

endmodule

`default_nettype wire
