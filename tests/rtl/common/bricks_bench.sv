// SPDX-License-Identifier: Apache-2.0
// All bricks side by side, each on pins of its own, for one C++ bench.
`default_nettype none

module bricks_bench (
    input  wire logic         clk_i,
    input  wire logic         rst_ni,
    // fifo: WIDTH 16, DEPTH 8
    input  wire logic         fifo_clear_i,
    input  wire logic         fifo_wr_valid_i,
    output      logic         fifo_wr_ready_o,
    input  wire logic [15:0]  fifo_wr_data_i,
    output      logic         fifo_rd_valid_o,
    input  wire logic         fifo_rd_ready_i,
    output      logic [15:0]  fifo_rd_data_o,
    output      logic [3:0]   fifo_count_o,
    output      logic         block_rd_valid_o,  // the same in block RAM
    output      logic [15:0]  block_rd_data_o,
    // arbiter_rr: N 5, both kinds of lock
    input  wire logic         arb_clear_i,
    input  wire logic [4:0]   arb_req_i,
    input  wire logic         arb_take_i,
    input  wire logic         arb_eop_i,
    output      logic [4:0]   arb_grant_o,
    output      logic         arb_locked_o,
    input  wire logic [4:0]   hold_req_i,
    input  wire logic         hold_ready_i,
    input  wire logic         hold_eop_i,
    output      logic [4:0]   hold_grant_o,
    // stream_mux: 3 streams, header 16, beat 32
    input  wire logic [2:0]   mux_valid_i,
    output      logic [2:0]   mux_ready_o,
    input  wire logic [2:0]   mux_sop_i,
    input  wire logic [2:0]   mux_eop_i,
    input  wire logic [47:0]  mux_hdr_i,
    input  wire logic [95:0]  mux_data_i,
    output      logic         mux_valid_o,
    input  wire logic         mux_ready_i,
    output      logic         mux_sop_o,
    output      logic         mux_eop_o,
    output      logic [15:0]  mux_hdr_o,
    output      logic [31:0]  mux_data_o,
    // ram_1r1w: 16 x 32
    input  wire logic         ram_we_i,
    input  wire logic [4:0]   ram_waddr_i,
    input  wire logic [15:0]  ram_wdata_i,
    input  wire logic         ram_re_i,
    input  wire logic [4:0]   ram_raddr_i,
    output      logic [15:0]  ram_rdata_o,
    // flag_ram: 64 bits, 2 readers, one writer and two
    input  wire logic [1:0]   flag_we_i,
    input  wire logic [11:0]  flag_waddr_i,
    input  wire logic [1:0]   flag_wdata_i,
    input  wire logic [11:0]  flag_raddr_i,
    output      logic [1:0]   flag_one_o,
    output      logic [1:0]   flag_two_o,
    // crc32 at every width
    input  wire logic         crc_en_i,
    input  wire logic [31:0]  crc_i,
    input  wire logic [511:0] crc_data_i,
    output      logic [31:0]  crc_32_o,
    output      logic [31:0]  crc_64_o,
    output      logic [31:0]  crc_256_o,
    output      logic [31:0]  crc_512_o
);
  fifo #(.WIDTH(16), .DEPTH(8)) i_fifo (
      .clk_i, .rst_ni, .clear_i(fifo_clear_i),
      .wr_valid_i(fifo_wr_valid_i), .wr_ready_o(fifo_wr_ready_o), .wr_data_i(fifo_wr_data_i),
      .rd_valid_o(fifo_rd_valid_o), .rd_ready_i(fifo_rd_ready_i), .rd_data_o(fifo_rd_data_o), .count_o(fifo_count_o)
  );
  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(16), .DEPTH(8), .BLOCK(1'b1)) i_block (
      .clk_i, .rst_ni, .clear_i(fifo_clear_i), .wr_valid_i(fifo_wr_valid_i), .wr_ready_o(),
      .wr_data_i(fifo_wr_data_i), .rd_valid_o(block_rd_valid_o), .rd_ready_i(fifo_rd_ready_i),
      .rd_data_o(block_rd_data_o), .count_o()
  );
  // verilator lint_on PINCONNECTEMPTY
  arbiter_rr #(.N(5)) i_arbiter (
      .clk_i, .rst_ni, .clear_i(arb_clear_i), .req_i(arb_req_i), .take_i(arb_take_i && arb_grant_o != '0),
      .eop_i(arb_eop_i), .grant_o(arb_grant_o), .locked_o(arb_locked_o)
  );
  logic unused_locked;
  arbiter_rr #(.N(5), .HOLD(1'b1)) i_hold (
      .clk_i, .rst_ni, .clear_i(1'b0), .req_i(hold_req_i), .take_i(hold_ready_i && hold_grant_o != '0),
      .eop_i(hold_eop_i), .grant_o(hold_grant_o), .locked_o(unused_locked)
  );
  stream_mux #(.N(3), .HDR_W(16), .DATA_W(32)) i_mux (
      .clk_i, .rst_ni,
      .in_valid_i(mux_valid_i), .in_ready_o(mux_ready_o), .in_sop_i(mux_sop_i), .in_eop_i(mux_eop_i), .in_hdr_i(mux_hdr_i),
      .in_data_i(mux_data_i),
      .out_valid_o(mux_valid_o), .out_ready_i(mux_ready_i), .out_sop_o(mux_sop_o), .out_eop_o(mux_eop_o), .out_hdr_o(mux_hdr_o),
      .out_data_o(mux_data_o)
  );
  ram_1r1w #(.WIDTH(16), .DEPTH(32)) i_ram (
      .clk_i, .we_i(ram_we_i), .waddr_i(ram_waddr_i), .wdata_i(ram_wdata_i),
      .re_i(ram_re_i), .raddr_i(ram_raddr_i), .rdata_o(ram_rdata_o)
  );
  flag_ram #(.DEPTH(64), .READS(2)) i_flag_one (
      .clk_i, .rst_ni, .we_i(flag_we_i[0]), .waddr_i(flag_waddr_i[5:0]), .wdata_i(flag_wdata_i[0]),
      .raddr_i(flag_raddr_i), .rdata_o(flag_one_o)
  );
  flag_ram #(.DEPTH(64), .WRITERS(2), .READS(2)) i_flag_two (
      .clk_i, .rst_ni, .we_i(flag_we_i), .waddr_i(flag_waddr_i), .wdata_i(flag_wdata_i),
      .raddr_i(flag_raddr_i), .rdata_o(flag_two_o)
  );
  crc32 #(.DATA_W(32)) i_crc_32 (.en_i(crc_en_i), .crc_i, .data_i(crc_data_i[31:0]), .crc_o(crc_32_o));
  crc32 #(.DATA_W(64)) i_crc_64 (.en_i(crc_en_i), .crc_i, .data_i(crc_data_i[63:0]), .crc_o(crc_64_o));
  crc32 #(.DATA_W(256)) i_crc_256 (.en_i(crc_en_i), .crc_i, .data_i(crc_data_i[255:0]), .crc_o(crc_256_o));
  crc32 #(.DATA_W(512)) i_crc_512 (.en_i(crc_en_i), .crc_i, .data_i(crc_data_i), .crc_o(crc_512_o));
endmodule

`default_nettype wire
