// SPDX-License-Identifier: Apache-2.0
// Words of any width to 16 pins: a FIFO out of the core's clock, then pieces of 16 bits, the first ones first.
`default_nettype none

module lane_out #(
    parameter int unsigned WIDTH = 66  // bits of a word
) (
    input  wire logic             clk_i,
    input  wire logic             rst_ni,
    input  wire logic             valid_i,
    output      logic             ready_o,
    input  wire logic [WIDTH-1:0] data_i,

    input  wire logic             pin_clk_i,
    input  wire logic             pin_rst_ni,
    output      logic             pin_valid_o,
    output      logic [15:0]      pin_data_o
);
  localparam int unsigned PIECES = (WIDTH + 15) / 16;
  localparam int unsigned COUNT_W = $clog2(PIECES + 1);

  logic                 valid, take;
  logic [WIDTH-1:0]     data;
  logic [16*PIECES-1:0] word_q;
  logic [COUNT_W-1:0]   left_q;

  cdc_fifo #(.WIDTH(WIDTH)) u_fifo (
      .wr_clk_i(clk_i), .wr_rst_ni(rst_ni), .wr_valid_i(valid_i), .wr_ready_o(ready_o), .wr_data_i(data_i),
      .rd_clk_i(pin_clk_i), .rd_rst_ni(pin_rst_ni), .rd_valid_o(valid), .rd_ready_i(take), .rd_data_o(data));

  assign take = valid && left_q == '0;
  always_ff @(posedge pin_clk_i or negedge pin_rst_ni) begin
    if (!pin_rst_ni) begin
      left_q      <= '0;
      pin_valid_o <= 1'b0;
    end else begin
      pin_valid_o <= left_q != '0;
      if (take) left_q <= PIECES[COUNT_W-1:0];
      else if (left_q != '0) left_q <= left_q - 1'b1;
    end
  end
  always_ff @(posedge pin_clk_i) begin
    pin_data_o <= word_q[15:0];
    if (take) word_q <= {{(16 * PIECES - WIDTH){1'b0}}, data};
    else word_q <= word_q >> 16;
  end
endmodule

`default_nettype wire
