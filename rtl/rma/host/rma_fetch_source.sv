// SPDX-License-Identifier: Apache-2.0
// Source of a fetch command: translated at its start and, if it crosses 4 KB, once more after the border; each piece is
// cut at multiples of MRRS into reads. One command is translated while reads of the piece before it are made. No page
// is smaller than 4 KB, so the ends of a piece and of its first read are known before the translation.
`default_nettype none

module rma_fetch_source #(
    parameter int unsigned SLOTS = 16  // a power of two
) (
    input  wire logic                      clk_i,
    input  wire logic                      rst_ni,
    input  wire logic [12:0]               cfg_mrrs_i,      // bytes, at least 128

    // commands
    input  wire logic                      cmd_valid_i,
    output      logic                      cmd_ready_o,
    input  wire logic [$clog2(SLOTS)-1:0]  cmd_slot_i,
    input  wire logic [63:0]               cmd_nla_i,
    input  wire logic [15:0]               cmd_pd_i,
    input  wire logic [8:0]                cmd_bytes_i,     // 1 ... 256
    input  wire logic [1:0]                cmd_at_i,        // byte of the slot where the first one goes

    // translation
    output      rma_pkg::tr_req_t    tr_o,
    input  wire logic                      tr_ready_i,
    input  wire rma_pkg::tr_rsp_t    tr_rsp_i,

    // reads
    output      logic                      rd_valid_o,
    input  wire logic                      rd_ready_i,
    output      logic [63:0]               rd_addr_o,
    output      logic [10:0]               rd_len_dw_o,
    output      logic [3:0]                rd_first_be_o,
    output      logic [3:0]                rd_last_be_o,
    output      logic [$clog2(SLOTS)-1:0]  rd_slot_o,
    // byte of the slot that byte 0 of its first DW belongs to, modulo 256
    output      logic [7:0]                rd_at_o,
    output      logic [1:0]                rd_skip_o,       // unwanted bytes of its first DW
    output      logic [1:0]                rd_trim_o,       // and of its last one, at the end

    // pulse, a cycle late: the command's last read was taken, or it failed
    output      logic                      close_o,
    output      logic [2:0]                close_reads_o,
    output      logic [1:0]                close_uses_o,
    output      logic [3:0]                close_status_o,
    output      logic                      busy_o
);
  localparam int unsigned SW = $clog2(SLOTS);

  // Bytes from n on; bytes up to and including n.
  function logic [3:0] be_from(input logic [1:0] n);
    be_from = 4'hf << n;
  endfunction
  function logic [3:0] be_up_to(input logic [1:0] n);
    be_up_to = 4'hf >> (2'd3 - n);
  endfunction

  // ---------------------------------------------------------------- translation
  logic          x_valid_q, x_second_q, x_asked, x_kept, reported;
  logic          x_more_q;            // it crosses 4 KB
  logic [8:0]    x_n_q, x_len_q;      // bytes of the piece, of its first read; known as the translation is asked for
  logic [SW-1:0] x_slot_q;
  logic [63:0]   x_nla_q, addr;
  logic [15:0]   x_pd_q;
  logic [8:0]    x_bytes_q;
  logic [7:0]    x_at_q;
  logic [3:0]    status;

  wire         good   = status == ggas_pkg::ST_OK;
  wire [12:0]  to_end = ggas_pkg::to_border(x_nla_q[11:0], 13'd4096);
  wire [12:0]  border = ggas_pkg::to_border(x_nla_q[11:0], cfg_mrrs_i);
  wire         more   = {4'd0, x_bytes_q} > to_end;
  wire         second  = x_more_q && good;   // the second page follows
  logic        p_valid_q, p_leaves;
  wire         push   = x_valid_q && reported && (!p_valid_q || p_leaves);
  wire         take   = cmd_valid_i && cmd_ready_o;

  rma_translate #(.WRITE(1'b0)) u_translate (
      .clk_i, .rst_ni, .want_i(x_valid_q), .nla_i(x_nla_q), .pd_i(x_pd_q), .done_i(push), .asked_o(x_asked),
      .kept_o(x_kept), .known_o(reported), .addr_o(addr), .status_o(status), .tr_o, .tr_ready_i, .tr_rsp_i);
  assign cmd_ready_o = !x_valid_q || (push && !second);

  always_ff @(posedge clk_i) begin
    x_more_q <= more;
    x_n_q    <= more ? to_end[8:0] : x_bytes_q;
    x_len_q  <= {4'd0, x_bytes_q} > border ? border[8:0] : x_bytes_q;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      x_valid_q  <= 1'b0;
      x_second_q <= 1'b0;
      x_slot_q   <= '0;
      x_nla_q    <= '0;
      x_pd_q     <= '0;
      x_bytes_q  <= '0;
      x_at_q     <= '0;
    end else begin
      if (push) begin
        x_valid_q  <= second;
        x_second_q <= 1'b1;
        x_nla_q    <= {x_nla_q[63:12] + 1'b1, 12'd0};
        x_bytes_q  <= x_bytes_q - x_n_q;
        x_at_q     <= x_at_q + x_n_q[7:0];
      end
      if (take) begin
        x_valid_q  <= 1'b1;
        x_second_q <= 1'b0;
        x_slot_q   <= cmd_slot_i;
        x_nla_q    <= cmd_nla_i;
        x_pd_q     <= cmd_pd_i;
        x_bytes_q  <= cmd_bytes_i;
        x_at_q     <= {6'd0, cmd_at_i};
      end
    end
  end

  // ---------------------------------------------------------------- reads of a piece
  logic          p_close_q, p_none_q; // none: the translation failed
  logic [SW-1:0] p_slot_q;
  logic [63:0]   p_addr_q;
  logic [8:0]    p_len_q, p_behind_q; // bytes of the next read, and of the piece after it
  logic [7:0]    p_at_q;
  logic [2:0]    p_reads_q;           // made for this command
  logic [1:0]    p_uses_q;
  logic [3:0]    p_status_q;

  wire         whole  = p_behind_q == '0;
  // The read after it begins at a multiple of MRRS: of fewer than 256 bytes only 128 leave any for one more.
  wire [8:0]   next   = p_behind_q > 9'd128 && cfg_mrrs_i == 13'd128 ? 9'd128 : p_behind_q;
  wire [1:0]   skip   = p_addr_q[1:0];
  // verilator lint_off UNUSEDSIGNAL
  wire [8:0]   span   = p_len_q + {7'd0, skip} + 9'd3;  // at most 262; DW = span / 4
  // verilator lint_on UNUSEDSIGNAL
  wire [1:0]   last   = skip + p_len_q[1:0] - 2'd1;  // its last byte's place in its DW
  wire         single = span[8:2] == 7'd1;
  wire         issue  = rd_valid_o && rd_ready_i;
  assign p_leaves = p_valid_q && (p_none_q || (issue && whole));

  assign rd_valid_o    = p_valid_q && !p_none_q;
  assign rd_addr_o     = {p_addr_q[63:2], 2'b00};
  assign rd_len_dw_o   = {4'd0, span[8:2]};
  assign rd_first_be_o = single ? be_from(skip) & be_up_to(last) : be_from(skip);
  assign rd_last_be_o  = single ? 4'h0 : be_up_to(last);
  assign rd_slot_o     = p_slot_q;
  assign rd_at_o       = p_at_q - {6'd0, skip};
  assign rd_skip_o     = skip;
  assign rd_trim_o     = 2'd3 - last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) close_o <= 1'b0;
    else close_o <= p_leaves && p_close_q;
  end
  always_ff @(posedge clk_i) begin
    close_reads_o  <= p_reads_q + {2'd0, !p_none_q};
    close_uses_o   <= p_uses_q;
    close_status_o <= p_status_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      p_valid_q  <= 1'b0;
      p_close_q  <= 1'b0;
      p_none_q   <= 1'b0;
      p_slot_q   <= '0;
      p_addr_q   <= '0;
      p_len_q    <= '0;
      p_behind_q <= '0;
      p_at_q     <= '0;
      p_reads_q  <= '0;
      p_uses_q   <= '0;
      p_status_q <= '0;
    end else begin
      if (issue) begin
        p_addr_q[11:0] <= p_addr_q[11:0] + {3'd0, p_len_q};
        p_len_q        <= next;
        p_behind_q     <= p_behind_q - next;
        p_at_q         <= p_at_q + p_len_q[7:0];
        p_reads_q      <= p_reads_q + 3'd1;
      end
      if (p_leaves) begin
        p_valid_q <= 1'b0;
        if (p_close_q) p_reads_q <= '0;
      end
      if (push) begin
        p_valid_q  <= 1'b1;
        p_close_q  <= !second;
        p_slot_q   <= x_slot_q;
        p_addr_q   <= addr;
        p_none_q   <= !good;
        p_len_q    <= x_len_q;
        p_behind_q <= x_n_q - x_len_q;
        p_at_q     <= x_at_q;
        p_uses_q   <= {1'b0, x_second_q} + {1'b0, good};
        p_status_q <= status;
      end
    end
  end

  assign busy_o = (x_valid_q && (!x_asked || x_kept)) || (p_valid_q && (p_none_q || rd_ready_i))
    || close_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && take) assert (cmd_bytes_i != '0 && cmd_bytes_i <= 9'd256 && {7'd0, cmd_at_i} + cmd_bytes_i <= 9'd256);
    if (rst_ni && tr_rsp_i.valid) assert (x_valid_q);
  end
`endif
endmodule

`default_nettype wire
