// SPDX-License-Identifier: Apache-2.0
// Non-posted requests wait here for the posted ones before them, then go to the SMFU, to the registers, or back as UR.
// Requests to the SMFU wait in a separate queue: a load that hangs blocks no register access. All register accesses,
// also writes, pass through here: one a cycle, writes first.
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

  localparam int unsigned MARK_W = 31;  // with a request four block RAMs wide

  // ---- both queues
  logic [MARK_W-1:0] entered_q, done_q;  // posted requests, modulo
  wire  window = !push_hdr_i.reject && push_hdr_i.bar != ggas_pkg::BAR_REGS;
  logic win_full, win_empty, reg_full, reg_empty, reg_valid, reg_pop;
  hostif_pkg::window_t win;
  hostif_pkg::access_t head;

  hostif_wait #(.WIDTH(hostif_pkg::WINDOW_W), .DEPTH(DEPTH), .MARK_W(MARK_W)) i_window (
    .clk_i(clk_i), .rst_ni(rst_ni), .entered_i(entered_q), .done_i(done_q), .push_i(push_i && window),
    .full_o(win_full),
    .data_i({push_hdr_i.bar == ggas_pkg::BAR_PAGES, push_hdr_i.addr, push_hdr_i.len_dw, push_hdr_i.first_be,
    push_hdr_i.last_be,
             push_hdr_i.tag, push_hdr_i.requester, push_hdr_i.attr}),
    .valid_o(win_valid_o), .pop_i(win_valid_o && win_ready_i), .data_o(win), .empty_o(win_empty)
  );
  hostif_wait #(.WIDTH(hostif_pkg::ACCESS_W), .DEPTH(DEPTH), .MARK_W(MARK_W)) i_access (
    .clk_i(clk_i), .rst_ni(rst_ni), .entered_i(entered_q), .done_i(done_q), .push_i(push_i && !window),
    .full_o(reg_full),
    .data_i({push_hdr_i.reject, push_hdr_i.addr[15:0], push_hdr_i.len_dw, push_hdr_i.first_be, push_hdr_i.last_be,
             push_hdr_i.tag, push_hdr_i.requester, push_hdr_i.attr}),
    .valid_o(reg_valid), .pop_i(reg_pop), .data_o(head), .empty_o(reg_empty)
  );
  assign full_o = win_full || reg_full;

  // ---- whose turn
  wire to_regs  = reg_valid && !head.reject;
  wire to_ur    = reg_valid && head.reject;
  wire cpl_free = !cpl_valid_o || cpl_ready_i;

  logic reading_q;      // a register read is being answered this cycle
  logic writing_q;
  logic [15:0] waddr_q;
  logic [5:0]  left_q;  // requests that left and were not reported yet

  wire read_go = to_regs && !reading_q && !wr_valid_i && cpl_free;
  assign reg_pop = reading_q || (to_ur && cpl_free);
  logic [1:0] popped_q; // that left in the last cycle
  wire [5:0] left = left_q + {5'd0, popped_q[0]} + {5'd0, popped_q[1]};

  always_ff @(posedge clk_i) if (wr_valid_i) waddr_q <= wr_addr_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      entered_q <= '0;
      done_q    <= '0;
      reading_q <= 1'b0;
      writing_q <= 1'b0;
      credit_o  <= 1'b0;
      left_q    <= '0;
      popped_q  <= '0;
    end else begin
      if (p_commit_i) entered_q <= entered_q + 1'b1;
      if (p_done_i) done_q <= done_q + 1'b1;
      reading_q <= read_go;
      writing_q <= wr_valid_i;
      credit_o  <= left != '0;
      left_q    <= left - {5'd0, left != '0};
      popped_q  <= {win_valid_o && win_ready_i, reg_pop};
    end
  end

  // ---- SMFU
  assign win_hdr_o.kind       = ggas_pkg::TLP_MRD;
  assign win_hdr_o.bar        = win.page ? ggas_pkg::BAR_PAGES : ggas_pkg::BAR_WINDOW;
  assign win_hdr_o.addr       = win.addr;
  assign win_hdr_o.len_dw     = win.len_dw;
  assign win_hdr_o.first_be   = win.first_be;
  assign win_hdr_o.last_be    = win.last_be;
  assign win_hdr_o.tag        = win.tag;
  assign win_hdr_o.requester  = win.requester;
  assign win_hdr_o.completer  = 16'd0;
  assign win_hdr_o.status     = ggas_pkg::CPL_SC;
  assign win_hdr_o.byte_count = 13'd0;
  assign win_hdr_o.lower_addr = 7'd0;
  assign win_hdr_o.attr       = win.attr;
  assign win_hdr_o.poisoned   = 1'b0;

  // ---- registers
  assign reg_req_o   = wr_valid_i || read_go;
  assign reg_write_o = wr_valid_i;
  assign reg_addr_o  = wr_valid_i ? wr_addr_i : head.addr;
  assign reg_wdata_o = wr_dword_i ? wr_data_i : {wr_data_i[31:0], wr_data_i[31:0]};
  assign reg_wstrb_o = wr_dword_i ? 8'hff : (wr_addr_i[2] ? 8'hf0 : 8'h0f);

  assign unsupported_o = (reading_q || writing_q) && reg_error_i;
  assign info_o        = {24'd0, reading_q ? head.addr : waddr_q};

  // ---- completions
  // The number of requested bytes, from the first to the last enabled one. A request without enabled bytes counts as
  // one byte.
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

  assign busy_o = !win_empty || !reg_empty || reading_q || writing_q || cpl_valid_o || credit_o
    || left_q != '0 || popped_q != '0;

endmodule

`default_nettype wire
