// SPDX-License-Identifier: Apache-2.0
// Two NICs with shim and lanes, linked back to back. Software generates the clock, as for the shim alone.
`default_nettype none

module usp_pair #(
    parameter int unsigned DATA_W = 256
) ();
  localparam int unsigned LANES = DATA_W / 64;
  logic                user_clk;
  logic [2*LANES-1:0]  header0, header1;
  logic [64*LANES-1:0] data0, data1;
  initial user_clk = 1'b0;

  usp_node #(.DATA_W(DATA_W)) nic0 (
      .clk_i(user_clk), .serial_i(64'h0123_4567_89ab_cde0), .tx_header_o(header0), .tx_data_o(data0),
      .rx_header_i(header1), .rx_data_i(data1)
  );
  usp_node #(.DATA_W(DATA_W)) nic1 (
      .clk_i(user_clk), .serial_i(64'h0123_4567_89ab_cde1), .tx_header_o(header1), .tx_data_o(data1),
      .rx_header_i(header0), .rx_data_i(data0)
  );
endmodule

`default_nettype wire
