// SPDX-License-Identifier: Apache-2.0
// Merges the completions of host reads into one stream, packet by packet in turn: answers with data, all ones for
// failed or refused reads, and quiet reads (one beat each). One register stage.
`default_nettype none

module smfu_cpl_mux #(
    parameter int unsigned DATA_W = 64
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // matching store
    input  wire ggas_pkg::tlp_beat_t m_i,
    output      logic                m_ready_o,
    input  wire logic [DATA_W-1:0]   m_data_i,
    // all ones
    input  wire ggas_pkg::tlp_beat_t o_i,
    output      logic                o_ready_o,
    // quiet reads
    input  wire logic                quiet_valid_i,
    output      logic                quiet_ready_o,
    input  wire ggas_pkg::tlp_hdr_t  quiet_hdr_i,
    input  wire logic [63:0]         quiet_data_i,

    output      ggas_pkg::tlp_beat_t ld_cpl_o,
    input  wire logic                ld_cpl_ready_i,
    output      logic [DATA_W-1:0]   ld_cpl_data_o,

    output      logic                cnt_load_cpls_o,
    output      logic                cnt_quiets_o
);
  localparam int unsigned M = 0, O = 1, Q = 2;

  logic [2:0] src;
  logic       unused_locked;
  wire free = !ld_cpl_o.valid || ld_cpl_ready_i;
  wire take = free && src != '0;
  wire sop  = src[M] ? m_i.sop : src[O] ? o_i.sop : 1'b1;
  wire eop  = src[M] ? m_i.eop : src[O] ? o_i.eop : 1'b1;
  arbiter_rr #(.N(3)) u_arbiter (
      .clk_i, .rst_ni, .clear_i(1'b0), .req_i({quiet_valid_i, o_i.valid, m_i.valid}), .take_i(take), .eop_i(eop),
      .grant_o(src), .locked_o(unused_locked));

  assign m_ready_o     = free && src[M];
  assign o_ready_o     = free && src[O];
  assign quiet_ready_o = free && src[Q];
  assign cnt_load_cpls_o = m_ready_o && m_i.sop;
  assign cnt_quiets_o    = quiet_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ld_cpl_o.valid <= 1'b0;
      ld_cpl_o.sop   <= 1'b0;
      ld_cpl_o.eop   <= 1'b0;
      ld_cpl_o.hdr   <= '0;
      ld_cpl_data_o  <= '0;
    end else if (free) begin
      ld_cpl_o.valid <= take;
      if (take) begin
        ld_cpl_o.sop <= sop;
        ld_cpl_o.eop <= eop;
        if (sop) ld_cpl_o.hdr <= src[M] ? m_i.hdr : src[O] ? o_i.hdr : quiet_hdr_i;
        ld_cpl_data_o <= src[M] ? m_data_i : '1;
        if (src[Q]) ld_cpl_data_o[63:0] <= quiet_data_i;
      end
    end
  end

endmodule

`default_nettype wire
