// SPDX-License-Identifier: Apache-2.0
// Completions of the NIC's reads from the hard block (RC) as `rx_cpl` of the TLP boundary, with the NIC's tags again.
`default_nettype none

module usp_rc #(
    /// Bits of a beat: 256 or 512.
    parameter int unsigned DATA_W = 256,
    /// Bits of tuser: 75 at 256 bit, 161 at 512 bit.
    localparam int unsigned USER_W = DATA_W == 512 ? 161 : 75
) (
    input  wire logic                 clk_i,
    input  wire logic                 rst_ni,

    /// m_axis_rc_*, DWORD aligned, straddling off.
    input  wire logic                 rc_tvalid_i,
    output      logic                 rc_tready_o,
    input  wire logic                 rc_tlast_i,
    input  wire logic [DATA_W/32-1:0] rc_tkeep_i,
    input  wire logic [USER_W-1:0]    rc_tuser_i,
    input  wire logic [DATA_W-1:0]    rc_tdata_i,

    /// Tag of the block, and in the same cycle that of the NIC.
    output      logic [7:0]           look_o,
    input  wire logic [9:0]           look_i,

    /// rx_cpl of the NIC.
    output      logic                 cpl_valid_o,
    input  wire logic                 cpl_ready_i,
    output      logic                 cpl_sop_o,
    output      logic                 cpl_eop_o,
    output      ggas_pkg::tlp_hdr_t   cpl_hdr_o,
    output      logic [DATA_W-1:0]    cpl_data_o,

    /// Pulse: the block could not read the data of a completion from its buffer.
    output      logic                 broken_o
);
  localparam int unsigned DPB = DATA_W / 32, DISCONTINUE = DATA_W == 512 ? 96 : 42;
  logic              valid, ready, last, sop, discontinue;
  logic [DPB-1:0]    keep;
  logic [DATA_W-1:0] data;
  skid #(.WIDTH(2 + DPB + DATA_W)) i_skid (
      .clk_i, .rst_ni, .in_valid_i(rc_tvalid_i), .in_ready_o(rc_tready_o),
      .in_data_i({rc_tlast_i, rc_tuser_i[DISCONTINUE], rc_tkeep_i, rc_tdata_i}), .out_valid_o(valid),
      .out_ready_i(ready), .out_data_o({last, discontinue, keep, data})
  );

  // Result of the PCIe block: 0 fine, 1 poisoned, 2 status other than SC. With any other result the data must not be
  // used. If such a completion ends the read, the NIC gets an error. Otherwise it does not belong to a read, and gets a
  // tag that the NIC reports as unexpected.
  wire [3:0] error = data[15:12];
  wire       fine  = error <= 4'd2;
  wire       ends  = data[30];
  wire       with_data = fine && data[42:32] != '0;
  assign look_o = data[71:64];
  ggas_pkg::tlp_hdr_t hdr;
  always_comb begin
    hdr = '0;
    hdr.kind       = with_data ? ggas_pkg::TLP_CPLD : ggas_pkg::TLP_CPL;
    hdr.bar        = 3'd7;
    hdr.len_dw     = with_data ? data[42:32] : 11'd0;
    hdr.tag        = fine || ends ? look_i : 10'h3ff;
    hdr.requester  = data[63:48];
    hdr.completer  = data[87:72];
    hdr.status     = fine ? data[45:43] : ggas_pkg::CPL_CA;
    hdr.byte_count = data[28:16];
    hdr.lower_addr = data[6:0];
    hdr.attr       = data[94:92];
    hdr.poisoned   = data[46];
  end

  tlp_unpack #(.DATA_W(DATA_W), .DESC(3)) i_unpack (
      .clk_i, .rst_ni, .in_valid_i(valid), .in_ready_o(ready), .in_last_i(last), .in_discontinue_i(discontinue && last),
      .in_keep_i(keep), .in_data_i(data), .in_hdr_i(hdr), .in_payload_i(with_data), .in_sop_o(sop),
      .out_valid_o(cpl_valid_o), .out_ready_i(cpl_ready_i), .out_sop_o(cpl_sop_o), .out_eop_o(cpl_eop_o),
      .out_hdr_o(cpl_hdr_o), .out_data_o(cpl_data_o)
  );
  assign broken_o = valid && ready && last && discontinue;

  wire unused = &{1'b0, sop, data[DATA_W-1:95], data[91:88], data[47], data[31], data[29], data[11:7], rc_tuser_i};
endmodule

`default_nettype wire
