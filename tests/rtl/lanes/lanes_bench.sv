// SPDX-License-Identifier: Apache-2.0
// One direction of a link over lanes; the wire is C++ (wire.hpp).
`default_nettype none

module lanes_bench #(
    parameter int unsigned LANES = 4
) (
    input  wire logic                rst_ni,
    input  wire logic                from_clk_i,    // of the NIC that sends
    input  wire logic                wire_clk_i,    // of its transceivers, recovered by the other side
    input  wire logic                to_clk_i,      // of the NIC that receives
    input  wire logic                flit_valid_i,
    output      logic                flit_ready_o,
    input  wire logic [1:0]          flit_kind_i,
    input  wire logic [64*LANES-1:0] flit_data_i,
    output      logic [2*LANES-1:0]  tx_header_o,
    output      logic [64*LANES-1:0] tx_data_o,
    input  wire logic [2*LANES-1:0]  rx_header_i,
    input  wire logic [64*LANES-1:0] rx_data_i,
    output      logic [LANES-1:0]    rx_slip_o,
    output      logic                up_o,
    output      logic                flit_valid_o,
    output      logic [1:0]          flit_kind_o,
    output      logic [64*LANES-1:0] flit_data_o,
    output      logic                bad_o
);
  lanes_tx #(.LANES(LANES)) i_tx (
      .clk_i(from_clk_i), .rst_ni, .flit_valid_i, .flit_ready_o, .flit_kind_i, .flit_data_i, .tx_clk_i(wire_clk_i),
      .tx_rst_ni(rst_ni), .tx_header_o, .tx_data_o
  );
  lanes_rx #(.LANES(LANES)) i_rx (
      .rx_clk_i({LANES{wire_clk_i}}), .rx_rst_ni({LANES{rst_ni}}), .rx_valid_i('1), .rx_header_i, .rx_data_i,
      .rx_slip_o, .clk_i(to_clk_i), .rst_ni, .up_o, .flit_valid_o, .flit_kind_o, .flit_data_o, .bad_o
  );
endmodule

`default_nettype wire
