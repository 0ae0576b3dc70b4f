// SPDX-License-Identifier: Apache-2.0
// Takes the descriptor off a TLP of the hard block: the payload that follows it moves to bits 31:0 of the first beat.
// A TLP whose data the block found broken (`discontinue`) ends without eop, so that the NIC drops and reports it.
`default_nettype none

module tlp_unpack #(
    /// Bits of a beat: 256 or 512.
    parameter int unsigned DATA_W = 256,
    /// DW of the descriptor: 4 (CQ) or 3 (RC).
    parameter int unsigned DESC = 4
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    /// Beats of the block. A TLP begins with the beat after `last`.
    input  wire logic                in_valid_i,
    output      logic                in_ready_o,
    input  wire logic                in_last_i,
    /// With `last`: the data is not to be used.
    input  wire logic                in_discontinue_i,
    /// One bit a DW, from bit 0 on without holes; not full only with `last`.
    input  wire logic [DATA_W/32-1:0] in_keep_i,
    input  wire logic [DATA_W-1:0]   in_data_i,
    /// Of the descriptor in in_data_i, with the first beat.
    input  wire ggas_pkg::tlp_hdr_t  in_hdr_i,
    /// With the first beat: what follows the descriptor is passed on; else the TLP leaves as one beat.
    input  wire logic                in_payload_i,
    /// The next beat begins a TLP.
    output      logic                in_sop_o,

    /// A stream of the TLP boundary.
    output      logic                out_valid_o,
    input  wire logic                out_ready_i,
    output      logic                out_sop_o,
    output      logic                out_eop_o,
    output      ggas_pkg::tlp_hdr_t  out_hdr_o,
    output      logic [DATA_W-1:0]   out_data_o
);
  localparam int unsigned KEPT = DATA_W - 32 * DESC;  // bits of a beat after a descriptor's worth

  logic               inside_q;  // between the first beat and `last`
  logic               skip_q;    // the rest of the TLP is dropped
  logic               first_q;   // nothing of the TLP has left
  logic               rest_q;    // only kept_q is left of a TLP
  logic               broken_q;  // which was discontinued
  logic [KEPT-1:0]    kept_q;
  ggas_pkg::tlp_hdr_t hdr_q;

  // The first beat of several goes into kept_q, which is free as soon as the rest before it leaves.
  wire sop    = !inside_q;
  wire silent = sop ? in_payload_i && !in_last_i : skip_q;
  wire longer = in_last_i && !sop && !skip_q && in_keep_i[DESC];  // the last beat needs two
  wire in     = in_valid_i && in_ready_o;

  assign in_sop_o   = sop;
  assign in_ready_o = silent ? !rest_q || out_ready_i : !rest_q && out_ready_i;
  assign out_valid_o = rest_q || (in_valid_i && !silent);
  assign out_sop_o   = first_q;
  assign out_eop_o   = rest_q ? !broken_q :
                       sop    ? !in_payload_i || !in_discontinue_i : in_last_i && !longer && !in_discontinue_i;
  assign out_hdr_o   = rest_q || !sop ? hdr_q : in_hdr_i;
  assign out_data_o  = rest_q ? {{(32 * DESC){1'b0}}, kept_q} :
                       sop    ? {{(32 * DESC){1'b0}}, in_data_i[DATA_W-1:32*DESC]} : {in_data_i[32*DESC-1:0], kept_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      skip_q   <= 1'b0;
      first_q  <= 1'b1;
      rest_q   <= 1'b0;
    end else begin
      if (rest_q && out_ready_i) rest_q <= 1'b0;
      if (in) begin
        inside_q <= !in_last_i;
        skip_q   <= !in_last_i && (sop ? !in_payload_i : skip_q);
        if (longer) rest_q <= 1'b1;
      end
      // What leaves is a TLP's last beat unless more of it is to come.
      if (out_valid_o && out_ready_i) first_q <= rest_q || (sop ? 1'b1 : in_last_i && !longer);
    end
  end
  always_ff @(posedge clk_i) begin
    if (in && !(sop ? !in_payload_i : skip_q)) begin
      kept_q   <= in_data_i[DATA_W-1:32*DESC];
      broken_q <= in_discontinue_i;
    end
    if (in && sop) hdr_q <= in_hdr_i;
  end

`ifndef SYNTHESIS
  initial if (DATA_W != 256 && DATA_W != 512) $error("tlp_unpack: DATA_W must be 256 or 512");
  always_ff @(posedge clk_i) begin
    if (rst_ni && in_valid_i && !in_last_i) assert (&in_keep_i) else $error("tlp_unpack: a beat with holes");
  end
`endif
endmodule

`default_nettype wire
