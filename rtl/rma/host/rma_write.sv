// SPDX-License-Identifier: Apache-2.0
// The payload of a packet as host writes to one bus address, cut at MPS from its first DW. A beat a cycle, without
// additional latency.
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
    output      ggas_pkg::tlp_beat_t wr_o,
    input  wire logic                wr_ready_i,
    output      logic [DATA_W-1:0]   wr_data_o
);

  localparam int unsigned BEAT_DW = DATA_W / 32;

  logic [63:2] addr_q;                 // of the piece
  logic [6:0]  len_q, behind_q;        // DW of the piece, and of the packet after it
  logic [6:0]  to_pass_q;              // DW of the piece that have not passed
  logic        sop_q, eop_q, final_q;  // first, last beat of the piece; last piece
  logic [3:0]  first_be_q, last_be_q;

  // The piece after this one, or the first one: worked out before its first beat, whatever MPS becomes.
  wire       pass  = in_valid_i && wr_ready_i;
  wire [6:0] most  = cfg_mps_i < 13'd256 ? 7'd32 : 7'd64;
  wire       start_final = len_dw_i <= most;
  wire [6:0] start_len   = start_final ? len_dw_i : most;
  wire       next_final  = behind_q <= most;
  wire [6:0] next_len    = next_final ? behind_q : most;
  wire [6:0] to_pass = to_pass_q - BEAT_DW[6:0];

  assign wr_o.valid = in_valid_i;
  assign in_ready_o = wr_ready_i;
  assign in_last_o  = final_q && eop_q;
  assign wr_o.sop   = sop_q;
  assign wr_o.eop   = eop_q;
  assign wr_data_o  = in_data_i;
  ggas_pkg::tlp_hdr_t hdr;
  assign wr_o.hdr = hdr;
  always_comb begin
    hdr = '0;
    if (in_valid_i) begin
      hdr.kind     = ggas_pkg::TLP_MWR;
      hdr.bar      = 3'd7;
      hdr.addr     = {addr_q, 2'b00};
      hdr.len_dw   = {4'd0, len_q};
      hdr.first_be = first_be_q;
      hdr.last_be  = len_q == 7'd1 ? 4'h0 : final_q ? last_be_q : 4'hf;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      addr_q     <= '0;
      len_q      <= '0;
      behind_q   <= '0;
      to_pass_q  <= '0;
      sop_q      <= 1'b0;
      eop_q      <= 1'b0;
      final_q    <= 1'b0;
      first_be_q <= '0;
      last_be_q  <= '0;
    end else begin
      if (start_i || (pass && eop_q)) begin
        len_q     <= start_i ? start_len : next_len;
        behind_q  <= start_i ? len_dw_i - start_len : behind_q - next_len;
        to_pass_q <= start_i ? start_len : next_len;
        sop_q     <= 1'b1;
        eop_q     <= start_i ? start_len <= BEAT_DW[6:0] : next_len <= BEAT_DW[6:0];
        final_q   <= start_i ? start_final : next_final;
        // The last piece may be one DW long: its enables go into first_be.
        first_be_q <= start_i ? first_be_i : next_len == 7'd1 ? last_be_q : 4'hf;
        addr_q     <= start_i ? addr_i : addr_q + {55'd0, len_q};
      end else if (pass) begin
        to_pass_q <= to_pass;
        sop_q     <= 1'b0;
        eop_q     <= to_pass <= BEAT_DW[6:0];
      end
      if (start_i) last_be_q <= last_be_i;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && start_i) assert (len_dw_i != '0 && len_dw_i <= 7'd64);
`endif

endmodule

`default_nettype wire
