// SPDX-License-Identifier: Apache-2.0
// Non-posted requests wait here behind the posted ones that came before them, then go to the SMFU, to the registers or back as UR.
// Register accesses, writes too, pass through here: one a cycle, writes first.
`default_nettype none

module hostif_np #(
  parameter int unsigned DEPTH = 32     // NP credits; a power of two
) (
  input  wire         clk_i,
  input  wire         rst_ni,

  // arrivals
  input  wire         p_commit_i,       // a posted request entered
  input  wire         p_done_i,         // a posted request was handed over
  output logic        full_o,
  input  wire         push_i,
  input  hostif_pkg::non_posted_t push_hdr_i,
  output logic        credit_o,         // a request left

  // window loads and quiets
  output logic        win_valid_o,
  input  wire         win_ready_i,
  output ggas_pkg::tlp_hdr_t win_hdr_o,

  // register writes (posted)
  input  wire         wr_valid_i,       // always taken
  input  wire  [15:0] wr_addr_i,
  input  wire         wr_dword_i,       // 8 bytes, else 4
  input  wire  [63:0] wr_data_i,

  // register bus; the answer comes in the next cycle
  output logic        reg_req_o,
  output logic        reg_write_o,
  output logic [15:0] reg_addr_o,
  output logic [63:0] reg_wdata_o,
  output logic [7:0]  reg_wstrb_o,
  input  wire  [63:0] reg_rdata_i,
  input  wire         reg_error_i,

  // completions of register reads and rejected requests, one beat each
  output logic        cpl_valid_o,
  input  wire         cpl_ready_i,
  output ggas_pkg::tlp_hdr_t cpl_hdr_o,
  output logic [63:0] cpl_data_o,

  output logic        unsupported_o,    // event pulse: no such register
  output logic [39:0] info_o,
  output logic        busy_o
);

  localparam int unsigned AW = $clog2(DEPTH);
  // Wide enough that it cannot wrap half-way while one request waits, however many posted ones pass it.
  localparam int unsigned MARK_W = 32;

  hostif_pkg::non_posted_t queue [DEPTH];
  logic [MARK_W-1:0] marks [DEPTH];

  logic [AW:0]       wr_q, rd_q;
  logic [MARK_W-1:0] entered_q, done_q;  // posted requests, modulo
  wire  [AW:0]       used = wr_q - rd_q;

  hostif_pkg::non_posted_t head;
  assign head = queue[rd_q[AW-1:0]];
  wire [MARK_W-1:0] lead = done_q - marks[rd_q[AW-1:0]];
  wire ready_head = used != '0 && !lead[MARK_W-1];

  assign full_o = used[AW];

  // ---- where the head goes
  wire to_regs = ready_head && !head.reject && head.bar == ggas_pkg::BAR_REGS;
  wire to_smfu = ready_head && !head.reject && head.bar != ggas_pkg::BAR_REGS;
  wire to_ur   = ready_head && head.reject;
  wire cpl_free = !cpl_valid_o || cpl_ready_i;

  logic reading_q;      // a register read is being answered this cycle
  logic writing_q;
  logic [15:0] waddr_q;

  wire read_go = to_regs && !reading_q && !wr_valid_i && cpl_free;
  wire pop     = (win_valid_o && win_ready_i) || reading_q || (to_ur && cpl_free);

  always_ff @(posedge clk_i) begin
    if (push_i) begin
      queue[wr_q[AW-1:0]] <= push_hdr_i;
      marks[wr_q[AW-1:0]] <= entered_q;
    end
    if (wr_valid_i) waddr_q <= wr_addr_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q      <= '0;
      rd_q      <= '0;
      entered_q <= '0;
      done_q    <= '0;
      reading_q <= 1'b0;
      writing_q <= 1'b0;
      credit_o  <= 1'b0;
    end else begin
      if (push_i) wr_q <= wr_q + 1'b1;
      if (pop) rd_q <= rd_q + 1'b1;
      if (p_commit_i) entered_q <= entered_q + 1'b1;
      if (p_done_i) done_q <= done_q + 1'b1;
      reading_q <= read_go;
      writing_q <= wr_valid_i;
      credit_o  <= pop;
    end
  end

  // ---- SMFU
  assign win_valid_o          = to_smfu;
  assign win_hdr_o.kind       = ggas_pkg::TLP_MRD;
  assign win_hdr_o.bar        = head.bar;
  assign win_hdr_o.addr       = head.addr;
  assign win_hdr_o.len_dw     = head.len_dw;
  assign win_hdr_o.first_be   = head.first_be;
  assign win_hdr_o.last_be    = head.last_be;
  assign win_hdr_o.tag        = head.tag;
  assign win_hdr_o.requester  = head.requester;
  assign win_hdr_o.completer  = 16'd0;
  assign win_hdr_o.status     = ggas_pkg::CPL_SC;
  assign win_hdr_o.byte_count = 13'd0;
  assign win_hdr_o.lower_addr = 7'd0;
  assign win_hdr_o.attr       = head.attr;
  assign win_hdr_o.poisoned   = 1'b0;

  // ---- registers
  assign reg_req_o   = wr_valid_i || read_go;
  assign reg_write_o = wr_valid_i;
  assign reg_addr_o  = wr_valid_i ? wr_addr_i : head.addr[15:0];
  assign reg_wdata_o = wr_dword_i ? wr_data_i : {wr_data_i[31:0], wr_data_i[31:0]};
  assign reg_wstrb_o = wr_dword_i ? 8'hff : (wr_addr_i[2] ? 8'hf0 : 8'h0f);

  assign unsupported_o = (reading_q || writing_q) && reg_error_i;
  assign info_o        = reading_q ? head.addr[39:0] : {24'd0, waddr_q};

  // ---- completions
  // Bytes asked for, from the first to the last enabled one; a request without any counts as one.
  logic [1:0] lead_bytes, tail_bytes;
  wire  [3:0] final_be = (head.len_dw == 11'd1) ? head.first_be : head.last_be;
  always_comb begin
    casez (head.first_be)
      4'b???1: lead_bytes = 2'd0;
      4'b??10: lead_bytes = 2'd1;
      4'b?100: lead_bytes = 2'd2;
      4'b1000: lead_bytes = 2'd3;
      default: lead_bytes = 2'd0;
    endcase
    casez (final_be)
      4'b1???: tail_bytes = 2'd0;
      4'b01??: tail_bytes = 2'd1;
      4'b001?: tail_bytes = 2'd2;
      4'b0001: tail_bytes = 2'd3;
      default: tail_bytes = 2'd3;
    endcase
  end
  // A malformed length may say anything; its completion stays within the field's range.
  wire        len_odd = head.len_dw == 11'd0 || head.len_dw > 11'd1024;
  wire [12:0] bytes   = len_odd ? 13'd4 : {head.len_dw, 2'b00} - {11'd0, lead_bytes} - {11'd0, tail_bytes};
  wire        cpl_ok  = reading_q && !reg_error_i;
  wire        cpl_new = reading_q || (to_ur && cpl_free);

  ggas_pkg::tlp_hdr_t cpl;
  assign cpl.kind       = cpl_ok ? ggas_pkg::TLP_CPLD : ggas_pkg::TLP_CPL;
  assign cpl.bar        = 3'd7;
  assign cpl.addr       = 64'd0;
  assign cpl.len_dw     = cpl_ok ? head.len_dw : 11'd0;
  assign cpl.first_be   = 4'd0;
  assign cpl.last_be    = 4'd0;
  assign cpl.tag        = head.tag;
  assign cpl.requester  = head.requester;
  assign cpl.completer  = 16'd0;
  assign cpl.status     = cpl_ok ? ggas_pkg::CPL_SC : ggas_pkg::CPL_UR;
  assign cpl.byte_count = bytes;
  assign cpl.lower_addr = {head.addr[6:2], lead_bytes};
  assign cpl.attr       = head.attr;
  assign cpl.poisoned   = 1'b0;

  always_ff @(posedge clk_i) begin
    if (cpl_new) begin
      cpl_hdr_o  <= cpl;
      cpl_data_o <= (head.addr[2] && head.len_dw == 11'd1) ? {32'd0, reg_rdata_i[63:32]} : reg_rdata_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cpl_valid_o <= 1'b0;
    else if (cpl_new) cpl_valid_o <= 1'b1;
    else if (cpl_ready_i) cpl_valid_o <= 1'b0;
  end

  assign busy_o = used != '0 || reading_q || writing_q || cpl_valid_o || credit_o;

`ifndef SYNTHESIS
  initial begin
    if ((1 << AW) != DEPTH) $error("hostif_np: DEPTH must be a power of two");
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) assert (!(push_i && full_o)) else $error("hostif_np: more non-posted requests than credits");
  end
`endif

endmodule

`default_nettype wire
