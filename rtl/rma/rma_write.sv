// SPDX-License-Identifier: Apache-2.0
// The payload of a packet as host writes to one bus address, cut at MPS from its first DW. A beat a cycle, no latency
// of its own.
`default_nettype none

module rma_write #(
    parameter int unsigned DATA_W = 64  // bits of a beat
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [12:0]         cfg_mps_i,    // bytes, at least 128

    // a new packet; from the next cycle on its beats pass
    input  wire logic                start_i,
    input  wire logic [63:2]         addr_i,       // bus address of its first DW
    input  wire logic [6:0]          len_dw_i,     // 1 ... 64
    input  wire logic [3:0]          first_be_i,
    input  wire logic [3:0]          last_be_i,    // 0 when len_dw_i = 1

    // payload
    input  wire logic                in_valid_i,
    output      logic                in_ready_o,
    input  wire logic [DATA_W-1:0]   in_data_i,
    output      logic                in_last_o,    // this beat is the packet's last one

    // host writes
    output      logic                wr_valid_o,
    input  wire logic                wr_ready_i,
    output      logic                wr_sop_o,
    output      logic                wr_eop_o,
    output      ggas_pkg::tlp_hdr_t  wr_hdr_o,
    output      logic [DATA_W-1:0]   wr_data_o
);

  localparam int unsigned BEAT_DW = DATA_W / 32;

  logic [63:2] addr_q;                 // of the piece
  logic [6:0]  left_q;                 // DW of the packet from there on
  logic [6:0]  in_piece_q;             // DW of the piece that have passed
  logic [3:0]  first_be_q, last_be_q;

  logic      half_q;                   // the piece that was begun is one of 128 bytes, whatever MPS becomes
  wire       half     = in_piece_q == '0 ? cfg_mps_i < 13'd256 : half_q;
  wire [6:0] most     = half ? 7'd32 : 7'd64;
  wire       final_piece = left_q <= most;
  wire [6:0] len      = final_piece ? left_q : most;
  wire       end_of_piece = in_piece_q + BEAT_DW[6:0] >= len;
  wire       pass     = in_valid_i && wr_ready_i;

  assign wr_valid_o = in_valid_i;
  assign in_ready_o = wr_ready_i;
  assign in_last_o  = final_piece && end_of_piece;
  assign wr_sop_o   = in_piece_q == '0;
  assign wr_eop_o   = end_of_piece;
  assign wr_data_o  = in_data_i;
  always_comb begin
    wr_hdr_o = '0;
    if (in_valid_i) begin
      wr_hdr_o.kind     = ggas_pkg::TLP_MWR;
      wr_hdr_o.bar      = 3'd7;
      wr_hdr_o.addr     = {addr_q, 2'b00};
      wr_hdr_o.len_dw   = {4'd0, len};
      wr_hdr_o.first_be = first_be_q;
      wr_hdr_o.last_be  = len == 7'd1 ? 4'h0 : final_piece ? last_be_q : 4'hf;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      addr_q     <= '0;
      left_q     <= '0;
      in_piece_q <= '0;
      first_be_q <= '0;
      last_be_q  <= '0;
      half_q     <= 1'b0;
    end else begin
      if (pass) begin
        half_q     <= half;
        in_piece_q <= end_of_piece ? '0 : in_piece_q + BEAT_DW[6:0];
        if (end_of_piece) begin
          addr_q     <= addr_q + {55'd0, len};
          left_q     <= left_q - len;
          // The last piece may be one DW long: its enables go into first_be.
          first_be_q <= left_q - len == 7'd1 ? last_be_q : 4'hf;
        end
      end
      if (start_i) begin
        addr_q     <= addr_i;
        left_q     <= len_dw_i;
        in_piece_q <= '0;
        first_be_q <= first_be_i;
        last_be_q  <= last_be_i;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && start_i) assert (len_dw_i != '0 && len_dw_i <= 7'd64);
`endif

endmodule

`default_nettype wire
