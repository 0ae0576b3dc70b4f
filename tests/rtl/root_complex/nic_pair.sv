// SPDX-License-Identifier: Apache-2.0
// Two NICs linked back to back: the design under test of the second root complex. The clock is generated here, so that
// the simulation runs by itself between TLPs.
`default_nettype none

module nic_pair #(
  parameter int unsigned DATA_W = 64
) ();

  logic        clk = 1'b0;
  logic        rst_n = 1'b0;
  logic [63:0] cycle = '0;
  always #4 clk = !clk;  // 125 MHz
  always_ff @(posedge clk) begin
    cycle <= cycle + 64'd1;
    rst_n <= cycle > 64'd8;
  end

  logic              valid0, valid1;
  logic [1:0]        kind0, kind1;
  logic [DATA_W-1:0] data0, data1;
  nic_slot #(.DATA_W(DATA_W), .SERIAL(64'h0123_4567_89ab_cde0)) nic0 (
    .clk_i(clk), .rst_ni(rst_n), .time_i(cycle), .flit_valid_o(valid0), .flit_kind_o(kind0), .flit_data_o(data0),
    .flit_valid_i(valid1), .flit_kind_i(kind1), .flit_data_i(data1)
  );
  nic_slot #(.DATA_W(DATA_W), .SERIAL(64'h0123_4567_89ab_cde1)) nic1 (
    .clk_i(clk), .rst_ni(rst_n), .time_i(cycle), .flit_valid_o(valid1), .flit_kind_o(kind1), .flit_data_o(data1),
    .flit_valid_i(valid0), .flit_kind_i(kind0), .flit_data_i(data0)
  );
endmodule

`default_nettype wire
