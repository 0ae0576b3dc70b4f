// SPDX-License-Identifier: Apache-2.0
// Words of any width from 16 pins: pieces of 16 bits, the first ones first, and a FIFO into the core's clock. A word
// that arrives while the FIFO is full is lost: the other side must obey ready_o.
`default_nettype none

module lane_in #(
    parameter int unsigned WIDTH = 66  // bits of a word
) (
    input  wire logic             pin_clk_i,
    input  wire logic             pin_rst_ni,
    input  wire logic             pin_valid_i,
    input  wire logic [15:0]      pin_data_i,
    output      logic             pin_ready_o,

    input  wire logic             clk_i,
    input  wire logic             rst_ni,
    output      logic             valid_o,
    input  wire logic             ready_i,
    output      logic [WIDTH-1:0] data_o
);
  localparam int unsigned PIECES = (WIDTH + 15) / 16;
  localparam int unsigned COUNT_W = $clog2(PIECES + 1);

  logic                 pin_valid_q, word_q;
  logic [15:0]          pin_data_q;
  logic [16*PIECES-1:0] word_data_q;
  logic [COUNT_W-1:0]   count_q;

  always_ff @(posedge pin_clk_i or negedge pin_rst_ni) begin
    if (!pin_rst_ni) begin
      pin_valid_q <= 1'b0;
      word_q      <= 1'b0;
      count_q     <= '0;
    end else begin
      pin_valid_q <= pin_valid_i;
      word_q      <= pin_valid_q && count_q == PIECES[COUNT_W-1:0] - 1'b1;
      if (pin_valid_q) count_q <= count_q == PIECES[COUNT_W-1:0] - 1'b1 ? '0 : count_q + 1'b1;
    end
  end
  always_ff @(posedge pin_clk_i) begin
    pin_data_q <= pin_data_i;
    if (pin_valid_q) word_data_q <= {pin_data_q, word_data_q[16*PIECES-1:16]};
  end

  cdc_fifo #(.WIDTH(WIDTH)) u_fifo (
      .wr_clk_i(pin_clk_i), .wr_rst_ni(pin_rst_ni), .wr_valid_i(word_q), .wr_ready_o(pin_ready_o),
      .wr_data_i(word_data_q[WIDTH-1:0]), .rd_clk_i(clk_i), .rd_rst_ni(rst_ni), .rd_valid_o(valid_o),
      .rd_ready_i(ready_i), .rd_data_o(data_o));
endmodule

`default_nettype wire
