// SPDX-License-Identifier: Apache-2.0
// Status blocks: counts of 256 contexts; a block is written when something changed, contexts in turn. Changes while a
// context waits for its turn share a write. One input a cycle (slots consumed, counts of the requester, a context's
// turn): accepted in one cycle, processed in the next. Latency: change to write 4 cycles.
`default_nettype none

module rma_status #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                stop_i,  // the NIC is stopped: nothing is written

    // writes of CONTEXT[]; is a block of a context still to be written?
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::context_write_t context_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [7:0]          look_vpid_i,
    output      logic                look_busy_o,

    // slots consumed: pulse, always taken
    input  wire logic                sl_valid_i,
    input  wire logic [7:0]          sl_vpid_i,
    input  wire logic [1:0]          sl_count_i,

    // counts of the requester
    input  wire logic                st_valid_i,
    output      logic                st_ready_o,
    input  wire logic [7:0]          st_vpid_i,
    input  wire logic [0:0]          st_local_i,
    input  wire logic [7:0]          st_remote_i,
    input  wire logic                st_error_i,
    input  wire logic [3:0]          st_status_i,

    // host writes
    output      ggas_pkg::tlp_beat_t wr_o,
    input  wire logic                wr_ready_i,
    output      logic [DATA_W-1:0]   wr_data_o,

    output      logic                cnt_writes_o,  // pulse
    output      logic                busy_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;

  typedef struct packed {
    logic [7:0]  status;    // of the last error
    logic [23:0] errors;
    logic [31:0] remote_done;
    logic [31:0] local_done;
    logic [31:0] consumed;
  } counts_t;

  // ---------------------------------------------------------------- contexts
  logic         on;                   // enabled
  logic         placed;               // has a block
  logic         counted;              // something was, since CTRL
  logic         listed, look_listed;  // in the list of those that changed
  wire          ctrl = context_i.we && context_i.word == 3'd0;
  wire          base_we = context_i.we && context_i.word == 3'd3;

  // ---------------------------------------------------------------- whose turn
  logic       pick_valid, pick_q, valid_q, pick_last_q, writing_q, sent;
  logic [7:0] pick_vpid;
  wire        pick_due = pick_valid && !pick_q && (!writing_q || sent);
  wire        pick_now = pick_due && !(st_valid_i && pick_last_q);
  assign st_ready_o    = !sl_valid_i && !pick_now;
  wire        do_st    = st_valid_i && st_ready_o;
  wire        do_pick  = pick_now && !sl_valid_i;
  wire        take     = sl_valid_i || do_st || do_pick;
  wire [7:0]  take_vpid = sl_valid_i ? sl_vpid_i : do_st ? st_vpid_i : pick_vpid;

  // ---------------------------------------------------------------- the thing under way
  logic [7:0] vpid_q, remote_q;
  logic [1:0] slots_q;
  logic       local_q, error_q;
  logic [3:0] status_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {valid_q, pick_q, pick_last_q} <= '0;
    end else begin
      valid_q <= take;
      pick_q  <= do_pick;
      if (do_st || do_pick) pick_last_q <= do_pick;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      vpid_q   <= take_vpid;
      slots_q  <= sl_valid_i ? sl_count_i : 2'd0;
      local_q  <= do_st && st_local_i[0];
      remote_q <= do_st ? st_remote_i : '0;
      error_q  <= do_st && st_error_i;
      status_q <= st_status_i;
    end
  end

  // ---------------------------------------------------------------- counts
  counts_t     counts, counts_r, counts_w_q, counts_w;
  logic        fwd_q;
  logic [63:4] base;
  wire         change = valid_q && !pick_q;
  ram_1r1w #(.WIDTH(128), .DEPTH(ggas_pkg::CONTEXTS)) u_counts (
      .clk_i, .we_i(change), .waddr_i(vpid_q[CW-1:0]), .wdata_i(counts_w), .re_i(take), .raddr_i(take_vpid[CW-1:0]),
      .rdata_o(counts_r));
  context_fields #(.WIDTH(60), .WORD(3)) u_base (
      .clk_i, .context_i, .fields_i(context_i.data[63:4]), .re_i(do_pick), .vpid_i(pick_vpid), .fields_o(base));

  always_comb begin
    counts = '0;
    if (counted) counts = fwd_q ? counts_w_q : counts_r;
    counts_w.consumed    = counts.consumed + {30'd0, slots_q};
    counts_w.local_done  = counts.local_done + {31'd0, local_q};
    counts_w.remote_done = counts.remote_done + {24'd0, remote_q};
    counts_w.errors      = counts.errors + {23'd0, error_q};
    counts_w.status      = error_q ? {4'd0, status_q} : counts.status;
  end
  always_ff @(posedge clk_i) begin
    if (take) fwd_q <= change && vpid_q == take_vpid;
    if (change) counts_w_q <= counts_w;
  end

  // ---------------------------------------------------------------- the list
  wire push = change && on && placed && !listed;
  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(8), .DEPTH(ggas_pkg::CONTEXTS), .BLOCK(1'b1)) u_list (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(push), .wr_ready_o(), .wr_data_i(vpid_q), .rd_valid_o(pick_valid),
      .rd_ready_i(do_pick), .rd_data_o(pick_vpid), .count_o());
  // verilator lint_on PINCONNECTEMPTY

  context_flags u_on (.clk_i, .rst_ni, .context_i, .flags_i(context_i.data[0]), .vpid_i(vpid_q), .flags_o(on));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS)) u_placed (
      .clk_i, .rst_ni, .we_i(base_we), .waddr_i(context_i.vpid[CW-1:0]), .wdata_i(context_i.data[63:4] != '0),
      .raddr_i(vpid_q[CW-1:0]), .rdata_o(placed));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2)) u_counted (
      .clk_i, .rst_ni, .we_i({ctrl, change}), .waddr_i({context_i.vpid[CW-1:0], vpid_q[CW-1:0]}), .wdata_i(2'b01),
      .raddr_i(vpid_q[CW-1:0]), .rdata_o(counted));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2), .READS(2)) u_listed (
      .clk_i, .rst_ni, .we_i({push, do_pick}), .waddr_i({vpid_q[CW-1:0], pick_vpid[CW-1:0]}), .wdata_i(2'b10),
      .raddr_i({look_vpid_i[CW-1:0], vpid_q[CW-1:0]}), .rdata_o({look_listed, listed}));

  // ---------------------------------------------------------------- writes
  logic [7:0]   write_vpid_q;
  logic [63:4]  addr_q;
  logic [127:0] block_q;
  wire          start = pick_q && !stop_i && on && placed;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) writing_q <= 1'b0;
    else if (start) writing_q <= 1'b1;
    else if (sent) writing_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      write_vpid_q <= vpid_q;
      addr_q       <= base;
      block_q      <= counts;
    end
  end

  // verilator lint_off PINCONNECTEMPTY
  record_writer #(.DATA_W(DATA_W)) u_writer (
      .clk_i, .rst_ni, .valid_i(writing_q), .addr_i({addr_q, 4'd0}), .data_i(block_q), .beat_o(), .sent_o(sent),
      .wr_o, .wr_ready_i, .wr_data_o);
  // verilator lint_on PINCONNECTEMPTY

  assign cnt_writes_o = sent;
  assign look_busy_o  = look_listed || (valid_q && vpid_q == look_vpid_i)
    || (writing_q && write_vpid_q == look_vpid_i);
  assign busy_o       = valid_q || writing_q || pick_due;

`ifndef SYNTHESIS
  initial if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("rma_status: DATA_W must be 64, 256 or 512");
`endif
endmodule

`default_nettype wire
