// SPDX-License-Identifier: Apache-2.0
// Checks the header of an inbound memory request against the rules of docs/tlp-boundary.md, and whether the NIC serves
// it. Combinational.
`default_nettype none

module hostif_check #(
  parameter int unsigned PAGE_LOG2 = 12  // log2 of the distance of two pages in BAR4, bytes: 12 or 16
) (
  input  ggas_pkg::tlp_hdr_t hdr_i,
  input  wire  [12:0] cfg_mps_i,
  output logic        malformed_o,    // breaks a PCIe rule (memory requests only)
  output logic        write_ok_o,     // well-formed write that the NIC serves
  output logic        read_ok_o,      // well-formed read that the NIC serves
  output logic        non_posted_o    // needs a completion
);

  wire [10:0] len  = hdr_i.len_dw;
  wire [3:0]  fbe  = hdr_i.first_be;
  wire [3:0]  lbe  = hdr_i.last_be;
  wire        is_write = hdr_i.kind == ggas_pkg::TLP_MWR;
  wire        is_read  = hdr_i.kind == ggas_pkg::TLP_MRD;

  // ---- rules
  wire [11:0] end_dw   = {2'b00, hdr_i.addr[11:2]} + {1'b0, len};
  wire        bad_len  = len == 11'd0 || len > 11'd1024 || (is_write && {len, 2'b00} > cfg_mps_i);
  wire        bad_addr = hdr_i.addr[1:0] != 2'b00 || end_dw > 12'd1024;
  wire        fbe_run  = fbe == 4'h8 || fbe == 4'hc || fbe == 4'he || fbe == 4'hf;
  wire        lbe_run  = lbe == 4'h1 || lbe == 4'h3 || lbe == 4'h7 || lbe == 4'hf;
  // Holes are allowed in one DW, and in two DWs on an 8-byte address.
  wire        holes_ok = len == 11'd2 && !hdr_i.addr[2] && fbe != 4'h0 && lbe != 4'h0;
  wire        bad_be   = (len == 11'd1) ? lbe != 4'h0 : !(holes_ok || (fbe_run && lbe_run));

  // ---- what is served
  wire word = len == 11'd1 && fbe == 4'hf;
  wire dword = len == 11'd2 && fbe == 4'hf && lbe == 4'hf && !hdr_i.addr[2];
  wire sized = word || dword;
  wire on_regs   = hdr_i.bar == ggas_pkg::BAR_REGS && hdr_i.addr[63:16] == '0 && sized;
  wire on_window = hdr_i.bar == ggas_pkg::BAR_WINDOW;

  // Each context has two pages. The page of doorbells has registers of whole DWs from 0x010 to 0x03f, and in its upper
  // half the blocks for collectives. The page after it has descriptor slots, from 0x000 to 0x1ff. Only the first 4 KB
  // of a page are used.
  localparam logic [63:0] NO_PAGE = ~((64'd1 << (PAGE_LOG2 + 9)) - 64'd1) | (((64'd1 << PAGE_LOG2) - 64'd1) & ~64'hfff);
  wire in_pages  = hdr_i.bar == ggas_pkg::BAR_PAGES && (hdr_i.addr & NO_PAGE) == '0;
  wire slots     = hdr_i.addr[PAGE_LOG2];
  wire on_pages  = hdr_i.bar == ggas_pkg::BAR_PAGES;  // the SMFU answers every read: users make them
  wire in_blocks = ggas_pkg::COLL && hdr_i.addr[11] && end_dw <= 12'd1024;
  wire on_page   = in_pages && (slots ? end_dw <= 12'd128 : hdr_i.addr[11:4] != '0 && (end_dw <= 12'd16 || in_blocks))
      && fbe == 4'hf && (len == 11'd1 || lbe == 4'hf);

  assign malformed_o  = (is_write || is_read) && (bad_len || bad_addr || bad_be || hdr_i.poisoned);
  assign write_ok_o   = is_write && !malformed_o && (on_regs || on_window || on_page);
  assign read_ok_o    = is_read && !malformed_o && (on_regs || on_window || on_pages);
  assign non_posted_o = is_read || hdr_i.kind == ggas_pkg::TLP_OTHER_NP;

  wire unused = &{1'b0, hdr_i.tag, hdr_i.requester, hdr_i.completer, hdr_i.status, hdr_i.byte_count, hdr_i.lower_addr,
    hdr_i.attr};

endmodule

`default_nettype wire
