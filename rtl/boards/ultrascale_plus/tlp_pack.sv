// SPDX-License-Identifier: Apache-2.0
// Puts the descriptor of the hard block before the payload of a TLP, which moves up in its beats. A TLP may need one
// beat more than at the TLP boundary.
`default_nettype none

module tlp_pack #(
    /// Bits of a beat: 256 or 512.
    parameter int unsigned DATA_W = 256,
    /// DW of the descriptor: 4 (RQ) or 3 (CC).
    parameter int unsigned DESC = 4,
    /// Bits that go with a TLP's first beat.
    parameter int unsigned SIDE_W = 1
) (
    input  wire logic                 clk_i,
    input  wire logic                 rst_ni,

    /// A stream of the TLP boundary: framed as its header says.
    input  wire logic                 in_valid_i,
    output      logic                 in_ready_o,
    input  wire logic                 in_sop_i,
    input  wire logic                 in_eop_i,
    input  wire logic [DATA_W-1:0]    in_data_i,
    /// With sop: DW of payload in the whole TLP, 0 … 1024.
    input  wire logic [10:0]          in_payload_i,
    /// With sop.
    input  wire logic [32*DESC-1:0]   in_desc_i,
    input  wire logic [SIDE_W-1:0]    in_side_i,

    /// Beats for the block.
    output      logic                 out_valid_o,
    input  wire logic                 out_ready_i,
    output      logic                 out_sop_o,
    output      logic                 out_last_o,
    /// One bit a DW, not full only with `last`.
    output      logic [DATA_W/32-1:0] out_keep_o,
    output      logic [DATA_W-1:0]    out_data_o,
    output      logic [SIDE_W-1:0]    out_side_o
);
  localparam int unsigned DPB = DATA_W / 32, MOVED = DPB - DESC;
  localparam int unsigned LOG_DPB = $clog2(DPB);

  logic               rest_q;   // only kept_q is left of a TLP
  logic [10:0]        left_q;   // DW of payload that are to come
  logic [LOG_DPB:0]   kept_n_q; // DW in kept_q, of the rest
  logic [32*DESC-1:0] kept_q;   // what did not fit

  wire [10:0]      left   = in_sop_i ? in_payload_i : left_q;
  wire [LOG_DPB:0] here   = left >= DPB[10:0] ? DPB[LOG_DPB:0] : left[LOG_DPB:0];  // DW in this beat
  wire             longer = in_eop_i && here > MOVED[LOG_DPB:0];
  wire [LOG_DPB:0] filled = rest_q ? kept_n_q : longer || !in_eop_i ? DPB[LOG_DPB:0] : here + DESC[LOG_DPB:0];
  wire [DPB:0]     keep   = ({{DPB{1'b0}}, 1'b1} << filled) - 1'b1;
  wire             in     = in_valid_i && in_ready_o;

  assign in_ready_o  = !rest_q && out_ready_i;
  assign out_valid_o = rest_q || in_valid_i;
  assign out_sop_o   = !rest_q && in_sop_i;
  assign out_last_o  = rest_q || (in_eop_i && !longer);
  assign out_keep_o  = keep[DPB-1:0];
  assign out_data_o  = rest_q ? {{(32 * MOVED){1'b0}}, kept_q} :
                       {in_data_i[32*MOVED-1:0], in_sop_i ? in_desc_i : kept_q};
  assign out_side_o  = in_side_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rest_q <= 1'b0;
    else if (rest_q) rest_q <= !out_ready_i;
    else rest_q <= in && longer;
  end
  always_ff @(posedge clk_i) begin
    if (in) begin
      left_q   <= left - {{(10 - LOG_DPB){1'b0}}, here};
      kept_q   <= in_data_i[DATA_W-1:32*MOVED];
      kept_n_q <= here - MOVED[LOG_DPB:0];
    end
  end

  wire unused = keep[DPB];
`ifndef SYNTHESIS
  initial if (DATA_W != 256 && DATA_W != 512) $error("tlp_pack: DATA_W must be 256 or 512");
  always_ff @(posedge clk_i) begin
    if (rst_ni && in_valid_i) assert (in_eop_i == (left <= DPB[10:0])) else $error("tlp_pack: not as long as it says");
  end
`endif
endmodule

`default_nettype wire
