// SPDX-License-Identifier: Apache-2.0
// First stage of a unit that serves packets: the header of the next packet is on head_* while its beats, and those of
// the packet before it, wait in a small FIFO. So a packet can be checked and translated while the one before it is
// still being written.
`default_nettype none

module rma_rx #(
    parameter int unsigned DATA_W = 64,  // bits of a beat
    parameter int unsigned DEPTH  = 8    // beats, a power of two
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // packets
    input  wire ggas_pkg::rma_beat_t rx_i,
    output      logic                rx_ready_o,
    input  wire logic [DATA_W-1:0]   rx_data_i,
    output      logic                rx_head_o,     // a header is taken in this cycle

    // the next packet's header
    output      logic                head_valid_o,
    input  wire logic                head_take_i,
    output      ggas_pkg::rma_hdr_t  head_o,

    // beats of the packets, in order
    output      logic                beat_valid_o,
    input  wire logic                beat_ready_i,
    output      logic                beat_eop_o,
    output      logic [DATA_W-1:0]   beat_data_o
);

  logic room;
  wire  free = !head_valid_o || head_take_i;
  assign rx_ready_o = room && (free || !rx_i.sop);
  assign rx_head_o  = rx_i.valid && rx_ready_o && rx_i.sop;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_valid_o <= 1'b0;
      head_o       <= '0;
    end else if (free) begin
      head_valid_o <= rx_head_o;
      head_o       <= rx_i.hdr;  // whether one comes is known too late to enable so many registers
    end
  end

  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(DATA_W + 1), .DEPTH(DEPTH)) u_beats (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(rx_i.valid && rx_ready_o), .wr_ready_o(room),
      .wr_data_i({rx_i.eop, rx_data_i}),
      .rd_valid_o(beat_valid_o), .rd_ready_i(beat_ready_i), .rd_data_o({beat_eop_o, beat_data_o}), .count_o());
  // verilator lint_on PINCONNECTEMPTY

endmodule

`default_nettype wire
