// SPDX-License-Identifier: Apache-2.0
// Merges the completions of host reads into one stream: answers with data and their errors (a packet stream), refused loads (UR)
// and quiet reads (one beat each). One register stage; whole packets.
`default_nettype none

module smfu_cpl_mux #(
    parameter int unsigned DATA_W = 64
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // matching store
    input  wire logic                m_valid_i,
    output      logic                m_ready_o,
    input  wire logic                m_sop_i,
    input  wire logic                m_eop_i,
    input  wire ggas_pkg::tlp_hdr_t  m_hdr_i,
    input  wire logic [DATA_W-1:0]   m_data_i,
    // refused loads
    input  wire logic                ur_valid_i,
    output      logic                ur_ready_o,
    input  wire ggas_pkg::tlp_hdr_t  ur_hdr_i,
    // quiet reads
    input  wire logic                quiet_valid_i,
    output      logic                quiet_ready_o,
    input  wire ggas_pkg::tlp_hdr_t  quiet_hdr_i,
    input  wire logic [63:0]         quiet_data_i,

    output      logic                ld_cpl_valid_o,
    input  wire logic                ld_cpl_ready_i,
    output      logic                ld_cpl_sop_o,
    output      logic                ld_cpl_eop_o,
    output      ggas_pkg::tlp_hdr_t  ld_cpl_hdr_o,
    output      logic [DATA_W-1:0]   ld_cpl_data_o,

    output      logic                cnt_load_cpls_o,
    output      logic                cnt_load_errors_o,
    output      logic                cnt_quiets_o
);

  logic inside_q;  // within a packet of the matching store
  logic turn_q;    // the single ones come first next time

  wire free    = !ld_cpl_valid_o || ld_cpl_ready_i;
  wire single  = !inside_q && (ur_valid_i || quiet_valid_i) && (turn_q || !m_valid_i);
  assign ur_ready_o    = free && single && ur_valid_i;
  assign quiet_ready_o = free && single && !ur_valid_i;
  assign m_ready_o     = free && !single;
  wire m_take = m_valid_i && m_ready_o;

  assign cnt_load_cpls_o   = m_take && m_sop_i && m_hdr_i.kind == ggas_pkg::TLP_CPLD;
  assign cnt_load_errors_o = ur_ready_o || (m_take && m_hdr_i.kind == ggas_pkg::TLP_CPL);
  assign cnt_quiets_o      = quiet_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q       <= 1'b0;
      turn_q         <= 1'b0;
      ld_cpl_valid_o <= 1'b0;
      ld_cpl_sop_o   <= 1'b0;
      ld_cpl_eop_o   <= 1'b0;
      ld_cpl_hdr_o   <= '0;
      ld_cpl_data_o  <= '0;
    end else if (free) begin
      ld_cpl_valid_o <= m_take || single;
      if (single) begin
        turn_q              <= 1'b0;
        ld_cpl_sop_o        <= 1'b1;
        ld_cpl_eop_o        <= 1'b1;
        ld_cpl_hdr_o        <= ur_valid_i ? ur_hdr_i : quiet_hdr_i;
        ld_cpl_data_o       <= '0;
        ld_cpl_data_o[63:0] <= ur_valid_i ? 64'd0 : quiet_data_i;
      end else if (m_take) begin
        inside_q      <= !m_eop_i;
        turn_q        <= 1'b1;
        ld_cpl_sop_o  <= m_sop_i;
        ld_cpl_eop_o  <= m_eop_i;
        ld_cpl_data_o <= m_data_i;
        if (m_sop_i) ld_cpl_hdr_o <= m_hdr_i;
      end
    end
  end

endmodule

`default_nettype wire
