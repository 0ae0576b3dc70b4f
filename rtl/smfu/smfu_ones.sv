// SPDX-License-Identifier: Apache-2.0
// The rest of a read that failed, or a read that was refused, reads as all ones: the host must not get an error
// completion for an action of a user. Completions are cut where answers are. One read at a time.
`default_nettype none

module smfu_ones #(
    parameter int unsigned DATA_W = 64
) (
    input  wire logic                 clk_i,
    input  wire logic                 rst_ni,
    input  wire logic [12:0]          cfg_mps_i,

    // loads that failed, from the matching store
    input  wire logic                 failed_valid_i,
    output      logic                 failed_ready_o,
    input  wire smfu_pkg::left_t      failed_i,
    // reads that were refused
    input  wire logic                 refused_valid_i,
    output      logic                 refused_ready_o,
    input  wire smfu_pkg::left_t      refused_i,

    // completions; the data of every beat is all ones
    output      logic                 cpl_valid_o,
    input  wire logic                 cpl_ready_i,
    output      logic                 cpl_sop_o,
    output      logic                 cpl_eop_o,
    output      ggas_pkg::tlp_hdr_t   cpl_hdr_o,

    output      logic                 cnt_load_errors_o
);
  localparam int unsigned DPB = DATA_W / 32;  // DW of a beat

  smfu_pkg::left_t left_q;
  logic            busy_q;
  logic            half_q;  // cut at 128 bytes, as MPS was when it was taken
  logic [10:0]     sent_q;  // DW of this completion already sent

  // A failed load comes first: after it wait the answers of all others.
  assign failed_ready_o    = !busy_q;
  assign refused_ready_o   = !busy_q && !failed_valid_i;
  wire take                = !busy_q && (failed_valid_i || refused_valid_i);
  assign cnt_load_errors_o = take;

  wire [10:0] chunk    = smfu_pkg::chunk_dw(left_q.addr[7:2], left_q.len_dw, half_q);
  wire        final_chunk = chunk == left_q.len_dw;
  wire        advance  = cpl_valid_o && cpl_ready_i;
  wire [7:2]  behind   = left_q.addr[7:2] + chunk[5:0];
  assign cpl_valid_o   = busy_q;
  assign cpl_sop_o     = sent_q == '0;
  assign cpl_eop_o     = chunk - sent_q <= DPB[10:0];
  always_comb begin
    cpl_hdr_o = '0;
    if (busy_q) begin
      cpl_hdr_o.kind       = ggas_pkg::TLP_CPLD;
      cpl_hdr_o.bar        = 3'd7;
      cpl_hdr_o.len_dw     = chunk;
      cpl_hdr_o.tag        = left_q.tag;
      cpl_hdr_o.requester  = left_q.requester;
      cpl_hdr_o.status     = ggas_pkg::CPL_SC;
      cpl_hdr_o.byte_count = left_q.bytes;
      cpl_hdr_o.lower_addr = left_q.addr[6:0];
      cpl_hdr_o.attr       = left_q.attr;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      sent_q <= '0;
    end else if (take) begin
      busy_q <= 1'b1;
      sent_q <= '0;
    end else if (advance) begin
      sent_q <= cpl_eop_o ? '0 : sent_q + DPB[10:0];
      if (cpl_eop_o && final_chunk) busy_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      half_q <= smfu_pkg::is_half(cfg_mps_i);
      left_q <= failed_valid_i ? failed_i : refused_i;
    end else if (advance && cpl_eop_o) begin
      left_q.bytes  <= left_q.bytes - {chunk, 2'b00} + {11'd0, left_q.addr[1:0]};
      left_q.len_dw <= left_q.len_dw - chunk;
      left_q.addr   <= {behind, 2'b00};
    end
  end

endmodule

`default_nettype wire
