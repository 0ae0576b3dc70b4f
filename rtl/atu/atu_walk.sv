// SPDX-License-Identifier: Apache-2.0
// Table walks: one 16-byte read each, at most one of each client at a time. Results arrive in any order and wait until
// they are accepted.
`default_nettype none

module atu_walk #(
    parameter int unsigned DATA_W   = 64,   // 64, 256 or 512
    parameter int unsigned TAG_BASE = 208,  // 8 tags from there on
    parameter int unsigned SET_W    = 6     // bits of a set of the TLB
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,
    input  wire logic [15:0]         cfg_timeout_i,   // RMA_TIMEOUT.host
    input  wire logic [159:0]        cfg_table_i,     // ATU_TABLE0 ... 3: first piece, entries

    // ATU_PIECE registers: answer in the next cycle
    input  wire logic                ext_req_i,
    input  wire logic                ext_write_i,
    input  wire logic [7:0]          ext_index_i,
    input  wire logic [63:0]         ext_wdata_i,
    input  wire logic [7:0]          ext_wstrb_i,     // halves as a whole
    output      logic [63:0]         ext_rdata_o,

    // what is looked up in the TLB; in the cycle after it, that it was not found
    input  wire logic                ask_i,
    input  wire logic [2:0]          ask_client_i,
    input  wire logic [47:0]         ask_nla_i,
    input  wire logic [SET_W-1:0]    ask_set_i,
    input  wire logic [15:0]         ask_pd_i,
    input  wire logic                ask_write_i,
    input  wire logic                start_i,
    input  wire logic [2:0]          start_client_i,

    // what was found, and the request again
    output      logic                res_valid_o,
    input  wire logic                res_ready_i,
    output      logic                res_failed_o,    // not read: ATU_WALK
    output      logic                res_present_o,   // the entry is valid
    output      logic [69:0]         res_entry_o,     // as in the TLB
    output      logic [2:0]          res_client_o,
    output      logic [47:0]         res_nla_o,
    output      logic [SET_W-1:0]    res_set_o,
    output      logic [15:0]         res_pd_o,
    output      logic                res_write_o,

    // host reads
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire ggas_pkg::tlp_beat_t cpl_i,
    output      logic                cpl_ready_o,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    output      logic                ev_unexpected_o,
    output      logic [9:0]          ev_tag_o,
    output      logic                busy_o,
    output      logic                timer_o
);
  localparam int unsigned BEAT_DW = DATA_W / 32;

  // ---------------------------------------------------------------- requests, by client
  localparam int unsigned REQUEST_W = SET_W + 65;
  logic [REQUEST_W-1:0] request_q [8];  // set, write, pd, nla
  always_ff @(posedge clk_i) if (ask_i) request_q[ask_client_i] <= {ask_set_i, ask_write_i, ask_pd_i, ask_nla_i};

  logic       head_valid;
  logic [2:0] head;
  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(3), .DEPTH(8)) u_start (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(start_i), .wr_ready_o(), .wr_data_i(start_client_i),
      .rd_valid_o(head_valid),
      .rd_ready_i(head_take), .rd_data_o(head), .count_o());
  // verilator lint_on PINCONNECTEMPTY

  // ---------------------------------------------------------------- where the entry is
  // verilator lint_off UNUSEDSIGNAL
  logic [REQUEST_W-1:0] request;
  // verilator lint_on UNUSEDSIGNAL
  logic [33:0] index;
  logic [39:0] where;
  always_comb begin
    request = '0;
    index   = '0;
    where   = '0;
    if (head_valid) begin
      request = request_q[head];
      where   = cfg_table_i[40*request[47:46]+:40];
      case (request[47:46])
        2'd0:    index = request[45:12];
        2'd1:    index = {4'd0, request[45:16]};
        2'd2:    index = {9'd0, request[45:21]};
        default: index = {18'd0, request[45:30]};
      endcase
    end
  end
  // The piece's base is read in one cycle; in the next the walk goes on.
  wire [18:0] piece   = {11'd0, where[39:32]} + {1'b0, index[33:16]};
  logic        known_q;   // base_raw is that of the head's piece
  logic        beyond_q;  // no such entry, or piece
  logic [15:0] index_q;   // of the entry in its piece
  logic        head_take;
  always_ff @(posedge clk_i) begin
    beyond_q <= index >= {2'd0, where[31:0]} || piece[18:8] != '0;
    index_q  <= index[15:0];
  end
  wire        look    = head_valid && !known_q && !ext_req_i;
  logic [63:0] base_raw;
  logic [1:0]  nonzero;    // a half of the base is not 0: found out as it is written
  for (genvar i = 0; i < 2; i = i + 1) begin : gen_half
    wire [31:0] half = ext_wdata_i[32*i+:32];
    ram_1r1w #(.WIDTH(33), .DEPTH(256)) u_pieces (
        .clk_i, .we_i(ext_req_i && ext_write_i && ext_wstrb_i[4*i]), .waddr_i(ext_index_i),
        .wdata_i({half >> (i == 0 ? 12 : 0) != '0, half}),
        .re_i(look || (ext_req_i && !ext_write_i)), .raddr_i(ext_req_i ? ext_index_i : piece[7:0]),
        .rdata_o({nonzero[i], base_raw[32*i+:32]}));
  end
  assign ext_rdata_o = base_raw;
  wire unused = &{1'b0, ext_wstrb_i[7:5], ext_wstrb_i[3:1]};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= 1'b0;
    else known_q <= look || (known_q && !head_take && !ext_req_i);
  end
  wire        outside = beyond_q || nonzero == '0;
  wire [63:0] addr    = {base_raw[63:12], 12'd0} + {44'd0, index_q, 4'd0};

  // ---------------------------------------------------------------- reads: an entry is one completion
  logic        cmd_ready, out_valid, end_valid, read_busy;
  logic [2:0]  out_meta, end_meta;
  logic [3:0]  end_status;
  // verilator lint_off UNUSEDSIGNAL
  logic [9:0]  out_offset;
  logic [4:0]  out_dws;
  logic [DATA_W-1:0] out_data;
  // verilator lint_on UNUSEDSIGNAL
  // verilator lint_off PINCONNECTEMPTY
  rma_read #(.DATA_W(DATA_W), .TAG_BASE(TAG_BASE), .TAGS(8), .META_W(3)) u_read (
      .clk_i, .rst_ni, .time_i, .cfg_timeout_i, .cmd_valid_i(known_q && !outside), .cmd_ready_o(cmd_ready),
      .cmd_addr_i(addr), .cmd_len_dw_i(11'd4), .cmd_first_be_i(4'hf), .cmd_last_be_i(4'hf), .cmd_meta_i(head),
      .rd_valid_o, .rd_ready_i, .rd_hdr_o, .cpl_i, .cpl_ready_o, .cpl_data_i, .out_valid_o(out_valid),
      .out_ready_i(1'b1), .out_meta_o(out_meta), .out_offset_dw_o(out_offset), .out_dws_o(out_dws),
      .out_data_o(out_data), .out_final_o(), .out_last_o(), .end_valid_o(end_valid), .end_meta_o(end_meta),
      .end_status_o(end_status), .ev_unexpected_o, .ev_tag_o, .busy_o(read_busy), .timer_o);
  // verilator lint_on PINCONNECTEMPTY

  // verilator lint_off UNUSEDSIGNAL
  logic [127:0] word_q;              // the entry
  // verilator lint_on UNUSEDSIGNAL
  logic         whole_q;             // all of it, of read_q
  logic [2:0]   read_q;
  wire          begins = out_offset == '0;
  wire          ends   = out_offset[4:0] + out_dws == 5'd4;
  if (BEAT_DW == 2) begin : gen_narrow
    always_ff @(posedge clk_i) if (out_valid) word_q[64*out_offset[1]+:64] <= out_data;
  end else begin : gen_wide
    always_ff @(posedge clk_i) if (out_valid) word_q <= out_data[127:0];
  end
  // A completer may cut only at 64-byte addresses, so the two halves of an entry arrive together; otherwise the walk
  // fails.
  logic         half_q;
  wire          in_order = begins ? ends || out_dws == 5'd2 : half_q && read_q == out_meta && ends;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      whole_q <= 1'b0;
      half_q  <= 1'b0;
      read_q  <= '0;
    end else if (out_valid) begin
      whole_q <= in_order && ends;
      half_q  <= begins;
      read_q  <= out_meta;
    end
  end

  // ---------------------------------------------------------------- results
  wire         good   = end_status == ggas_pkg::ST_OK && whole_q;  // a read ends before a beat of the next one
  wire         refuse = known_q && outside && !end_valid;
  wire [69:0]  entry  = {word_q[79:64], word_q[2], word_q[1], word_q[63:12]};
  assign head_take = refuse || (known_q && !outside && cmd_ready);

  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(75), .DEPTH(8)) u_results (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(end_valid || refuse), .wr_ready_o(),
      .wr_data_i(end_valid ? {end_meta, !good, good && word_q[0], entry} : {head, 1'b1, 1'b0, 70'd0}),
      .rd_valid_o(res_valid_o),
      .rd_ready_i(res_ready_i), .rd_data_o({res_client_o, res_failed_o, res_present_o, res_entry_o}), .count_o());
  // verilator lint_on PINCONNECTEMPTY
  assign {res_set_o, res_write_o, res_pd_o, res_nla_o} = res_valid_o ? request_q[res_client_o] : '0;

  assign busy_o = read_busy || res_valid_o || (head_valid && (!known_q || outside || cmd_ready));

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && end_valid && end_status == ggas_pkg::ST_OK) assert (read_q == end_meta)
      else $error("atu_walk: the end of another read");
  end
`endif
endmodule

`default_nettype wire
