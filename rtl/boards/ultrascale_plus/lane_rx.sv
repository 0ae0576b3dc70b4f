// SPDX-License-Identifier: Apache-2.0
// One lane in its recovered clock: block lock, markers, descrambler, and the elastic buffer into the NIC's clock. A block
// that finds the buffer full is reported.
`default_nettype none

module lane_rx #(
    /// Number of the lane, as the sender counts.
    parameter logic [2:0] LANE = 3'd0
) (
    /// Recovered clock of the lane: a block when `valid`.
    input  wire logic        rx_clk_i,
    input  wire logic        rx_rst_ni,
    input  wire logic        rx_valid_i,
    input  wire logic [1:0]  rx_header_i,
    input  wire logic [63:0] rx_data_i,
    output      logic        rx_slip_o,

    /// The NIC's clock.
    input  wire logic        clk_i,
    input  wire logic        rst_ni,
    /// Nothing new enters the buffer.
    input  wire logic        hold_i,
    /// Markers are found; and a block was lost since `hold`.
    output      logic        aligned_o,
    output      logic        overflow_o,
    output      logic        valid_o,
    input  wire logic        ready_i,
    /// The first block after a marker.
    output      logic        first_o,
    /// The header was neither 01 nor 10.
    output      logic        bad_o,
    output      logic        code_o,
    output      logic [63:0] data_o
);
  localparam int unsigned LOG = lane_pkg::PERIOD_LOG2;

  // ---- block lock
  logic locked;
  lane_lock i_lock (
      .clk_i(rx_clk_i), .rst_ni(rx_rst_ni), .valid_i(rx_valid_i), .header_i(rx_header_i), .slip_o(rx_slip_o),
      .locked_o(locked)
  );

  // ---- markers: aligned after two at the right distance, lost after four that are missing
  logic [LOG-1:0] count_q;              // blocks since the last marker
  logic           aligned_q, once_q, first_q;
  logic [1:0]     missed_q;
  wire due     = count_q == '1;         // a marker should come now
  wire is_mark = rx_header_i == 2'b10 && rx_data_i == lane_pkg::marker(LANE);
  wire marker  = aligned_q ? due : is_mark;
  always_ff @(posedge rx_clk_i or negedge rx_rst_ni) begin
    if (!rx_rst_ni) begin
      count_q   <= '0;
      aligned_q <= 1'b0;
      once_q    <= 1'b0;
      first_q   <= 1'b0;
      missed_q  <= '0;
    end else if (!locked) begin
      aligned_q <= 1'b0;
      once_q    <= 1'b0;
    end else if (rx_valid_i) begin
      count_q <= marker ? '0 : count_q + 1'b1;
      first_q <= marker;
      if (marker) missed_q <= is_mark ? '0 : missed_q + 2'd1;
      if (!aligned_q && is_mark) begin
        aligned_q <= once_q && due;
        once_q    <= 1'b1;
      end else if (aligned_q && due && !is_mark && missed_q == '1) begin
        aligned_q <= 1'b0;
        once_q    <= 1'b0;
      end
    end
  end

  logic [63:0] plain;
  lane_scramble #(.DESCRAMBLE(1'b1)) i_descramble (
      .clk_i(rx_clk_i), .rst_ni(rx_rst_ni), .use_i(rx_valid_i && !marker), .data_i(rx_data_i), .data_o(plain)
  );

  // ---- elastic buffer
  logic        write_q, ready, lost_q;
  logic [1:0]  hold_q;
  logic [66:0] block_q;
  always_ff @(posedge rx_clk_i or negedge rx_rst_ni) begin
    if (!rx_rst_ni) begin
      write_q <= 1'b0;
      lost_q  <= 1'b0;
      hold_q  <= '1;
    end else begin
      hold_q  <= {hold_q[0], hold_i};
      write_q <= aligned_q && locked && rx_valid_i && !marker && !hold_q[1];
      lost_q  <= !hold_q[1] && (lost_q || (write_q && !ready));
    end
  end
  always_ff @(posedge rx_clk_i) block_q <= {first_q, rx_header_i[0] == rx_header_i[1], rx_header_i[1], plain};
  cdc_fifo #(.WIDTH(67)) i_fifo (
      .wr_clk_i(rx_clk_i), .wr_rst_ni(rx_rst_ni), .wr_valid_i(write_q), .wr_ready_o(ready), .wr_data_i(block_q),
      .rd_clk_i(clk_i), .rd_rst_ni(rst_ni), .rd_valid_o(valid_o), .rd_ready_i(ready_i),
      .rd_data_o({first_o, bad_o, code_o, data_o})
  );

  logic [1:0] aligned_seen_q, lost_seen_q;
  assign {overflow_o, aligned_o} = {lost_seen_q[1], aligned_seen_q[1]};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aligned_seen_q <= '0;
      lost_seen_q    <= '0;
    end else begin
      aligned_seen_q <= {aligned_seen_q[0], aligned_q};
      lost_seen_q    <= {lost_seen_q[0], lost_q};
    end
  end
endmodule

`default_nettype wire
