// SPDX-License-Identifier: Apache-2.0
// Completer requests of the hard block (CQ) as `rx_req` of the TLP boundary, and the credits for non-posted ones.
`default_nettype none

module usp_cq #(
    /// Bits of a beat: 256 or 512.
    parameter int unsigned DATA_W = 256,
    /// Non-posted requests the NIC has room for, at most 32: the block counts no more.
    parameter int unsigned NP_CREDITS = 32,
    /// Bits of tuser: 88 at 256 bit, 183 at 512 bit.
    localparam int unsigned USER_W = DATA_W == 512 ? 183 : 88
) (
    input  wire logic                 clk_i,
    input  wire logic                 rst_ni,

    /// m_axis_cq_*, DWORD aligned, straddling off.
    input  wire logic                 cq_tvalid_i,
    output      logic                 cq_tready_o,
    input  wire logic                 cq_tlast_i,
    input  wire logic [DATA_W/32-1:0] cq_tkeep_i,
    input  wire logic [USER_W-1:0]    cq_tuser_i,
    input  wire logic [DATA_W-1:0]    cq_tdata_i,
    /// pcie_cq_np_req: a cycle with bit 0 set is one more non-posted request that the block may send.
    output      logic [1:0]           cq_np_req_o,

    /// rx_req of the NIC.
    output      logic                 req_valid_o,
    input  wire logic                 req_ready_i,
    output      logic                 req_sop_o,
    output      logic                 req_eop_o,
    output      ggas_pkg::tlp_hdr_t   req_hdr_o,
    output      logic [DATA_W-1:0]    req_data_o,
    /// Pulse: a non-posted request has left the NIC.
    input  wire logic                 np_credit_i,
    /// flr_done_o of the NIC: it drops what comes, and holds nothing.
    input  wire logic                 flr_done_i,

    /// Pulse: the block could not read the data of a request from its buffer.
    output      logic                 broken_o
);
  // ---- register stage; of tuser only what is needed
  localparam int unsigned LAST_BE = DATA_W == 512 ? 8 : 4, DISCONTINUE = DATA_W == 512 ? 96 : 41;
  localparam int unsigned DPB = DATA_W / 32;
  logic              valid, ready, last, sop, discontinue;
  logic [3:0]        first_be, last_be;
  logic [DPB-1:0]    keep;
  logic [DATA_W-1:0] data;
  skid #(.WIDTH(10 + DPB + DATA_W)) i_skid (
      .clk_i, .rst_ni, .in_valid_i(cq_tvalid_i), .in_ready_o(cq_tready_o),
      .in_data_i({cq_tlast_i, cq_tuser_i[DISCONTINUE], cq_tuser_i[3:0], cq_tuser_i[LAST_BE+:4], cq_tkeep_i,
                  cq_tdata_i}),
      .out_valid_o(valid), .out_ready_i(ready), .out_data_o({last, discontinue, first_be, last_be, keep, data})
  );

  // ---- descriptor
  wire [3:0]  kind     = data[78:75];
  wire [63:0] aperture = (64'd1 << data[120:115]) - 64'd1;  // log2 of the BAR's bytes
  wire is_read  = kind == 4'd0;
  wire is_write = kind == 4'd1;
  wire message  = kind == 4'd12 || kind == 4'd13 || kind == 4'd14;
  ggas_pkg::tlp_hdr_t hdr;
  always_comb begin
    hdr = '0;
    hdr.kind      = is_read ? ggas_pkg::TLP_MRD : is_write ? ggas_pkg::TLP_MWR :
                    message ? ggas_pkg::TLP_OTHER_P : ggas_pkg::TLP_OTHER_NP;
    hdr.bar       = data[114:112];
    hdr.addr      = {data[63:2], 2'b00} & aperture;
    hdr.len_dw    = data[74:64];
    hdr.first_be  = first_be;
    hdr.last_be   = last_be;
    hdr.tag       = {2'b00, data[103:96]};
    hdr.requester = data[95:80];
    hdr.attr      = data[126:124];
  end

  tlp_unpack #(.DATA_W(DATA_W), .DESC(4)) i_unpack (
      .clk_i, .rst_ni, .in_valid_i(valid), .in_ready_o(ready), .in_last_i(last), .in_discontinue_i(discontinue && last),
      .in_keep_i(keep), .in_data_i(data), .in_hdr_i(hdr), .in_payload_i(is_write), .in_sop_o(sop),
      .out_valid_o(req_valid_o), .out_ready_i(req_ready_i), .out_sop_o(req_sop_o), .out_eop_o(req_eop_o),
      .out_hdr_o(req_hdr_o), .out_data_o(req_data_o)
  );
  assign broken_o = valid && ready && last && discontinue;

  // ---- credits: held by the block or on their way to it, by requests inside the NIC, or owed to the block
  logic [5:0] owed_q, inside_q;
  wire  pays   = owed_q != '0;
  wire  enters = req_valid_o && req_ready_i && req_sop_o
    && (req_hdr_o.kind == ggas_pkg::TLP_MRD || req_hdr_o.kind == ggas_pkg::TLP_OTHER_NP);
  assign cq_np_req_o = {1'b0, pays};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owed_q   <= NP_CREDITS[5:0];
      inside_q <= '0;
    end else if (flr_done_i) begin
      owed_q   <= owed_q + inside_q + {5'd0, enters} - {5'd0, pays};
      inside_q <= '0;
    end else begin
      owed_q   <= owed_q + {5'd0, np_credit_i} - {5'd0, pays};
      inside_q <= inside_q + {5'd0, enters} - {5'd0, np_credit_i};
    end
  end

  wire unused = &{1'b0, sop, data[DATA_W-1:127], data[123:121], data[111:104], data[79], data[1:0], cq_tuser_i};
`ifndef SYNTHESIS
  initial if (NP_CREDITS == 0 || NP_CREDITS > 32) $error("usp_cq: NP_CREDITS must be 1 to 32");
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (owed_q <= NP_CREDITS[5:0] && inside_q <= NP_CREDITS[5:0] - owed_q) else $error("usp_cq: credits");
      assert (!np_credit_i || inside_q != '0) else $error("usp_cq: a credit for no request");
    end
  end
`endif
endmodule

`default_nettype wire
