// SPDX-License-Identifier: Apache-2.0
// Flits of a link to blocks of 66 bits, one on each lane in the same cycle: 64 bits of the flit, scrambled, and a header
// whose two bits differ. Which of the two, over all lanes, is the code of the flit's kind. Without a flit: idle.
`default_nettype none

module lanes_tx #(
    /// Lanes of 64 bit: 4 or 8.
    parameter int unsigned LANES = 4
) (
    /// The NIC's clock.
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                flit_valid_i,
    output      logic                flit_ready_o,
    input  wire logic [1:0]          flit_kind_i,
    input  wire logic [64*LANES-1:0] flit_data_i,

    /// The transceivers' clock: a block a cycle on every lane.
    input  wire logic                tx_clk_i,
    input  wire logic                tx_rst_ni,
    output      logic [2*LANES-1:0]  tx_header_o,
    output      logic [64*LANES-1:0] tx_data_o
);
  logic                valid, mark;
  logic [1:0]          kind;
  logic [64*LANES-1:0] data;
  logic [3:0]          code;
  logic [lane_pkg::PERIOD_LOG2-1:0] count_q;
  cdc_fifo #(.WIDTH(64 * LANES + 2)) i_fifo (
      .wr_clk_i(clk_i), .wr_rst_ni(rst_ni), .wr_valid_i(flit_valid_i), .wr_ready_o(flit_ready_o),
      .wr_data_i({flit_kind_i, flit_data_i}), .rd_clk_i(tx_clk_i), .rd_rst_ni(tx_rst_ni), .rd_valid_o(valid),
      .rd_ready_i(!mark), .rd_data_o({kind, data})
  );
  assign mark = count_q == '0;
  assign code = valid ? lane_pkg::code(kind) : lane_pkg::CODE_IDLE;
  always_ff @(posedge tx_clk_i or negedge tx_rst_ni) begin
    if (!tx_rst_ni) count_q <= '0;
    else count_q <= count_q + 1'b1;
  end

  for (genvar l = 0; l < LANES; l = l + 1) begin : g_lane
    logic [63:0] scrambled;
    wire one = mark || code[l%4];
    lane_scramble i_scramble (
        .clk_i(tx_clk_i), .rst_ni(tx_rst_ni), .use_i(!mark), .data_i(valid ? data[64*l+:64] : 64'd0), .data_o(scrambled)
    );
    always_ff @(posedge tx_clk_i) begin
      tx_header_o[2*l+:2]  <= {one, !one};
      tx_data_o[64*l+:64] <= mark ? lane_pkg::marker(l[2:0]) : scrambled;
    end
  end
`ifndef SYNTHESIS
  initial if (LANES != 4 && LANES != 8) $error("lanes_tx: LANES must be 4 or 8");
`endif
endmodule

`default_nettype wire
