// SPDX-License-Identifier: Apache-2.0
// The CONTEXT registers, in RAM, and their broadcast: every write is reported to all units in the next cycle, as a
// whole 64-bit word even if the write was shorter. After reset CTRL reads 0; the other words are undefined until they
// are written. Contexts that the build does not have read 0, and as stopped. With CTRL units also get the number of
// starts of the context, modulo 32, so that packets of different owners differ.
`default_nettype none

module rma_context (
    input  wire logic         clk_i,
    input  wire logic         rst_ni,

    // register bus, answer in the next cycle
    input  wire logic         ext_req_i,
    input  wire logic         ext_write_i,
    input  wire logic [13:3]  ext_addr_i,    // offset in CONTEXT
    input  wire logic [63:0]  ext_wdata_i,
    input  wire logic [7:0]   ext_wstrb_i,   // one half, or all
    output      logic [63:0]  ext_rdata_o,

    // writes of CONTEXT[]
    output      ggas_pkg::context_write_t context_o,

    // is anything of a context under way? Asked two cycles after a write of CTRL at the earliest.
    output      logic [7:0]   look_vpid_o,
    input  wire logic         look_busy_i,   // of look_vpid_o, in the same cycle
    output      logic         busy_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;
  localparam int unsigned WORDS = 5;
  localparam logic [2:0]  CTRL  = ggas_regs_pkg::CONTEXT_CTRL[5:3];
  localparam logic [2:0]  STATE = ggas_regs_pkg::CONTEXT_STATE[5:3];
  localparam logic [63:0] CTRL_FIELDS = 64'h0000_ffff_1f1f_3fff;  // the rest reads 0

  logic         we_q;
  logic [7:0]   vpid, vpid_q;
  logic [2:0]   word, word_q;
  logic [CW+2:0] row;
  logic [63:0]  wdata, rdata, wdata_q;
  logic [1:0]   half, half_q;     // halves that are written
  logic         write;
  logic         known;            // CTRL was written since reset
  logic         none_q, zero_q, state_q, state_busy_q;
  logic [4:0]   starts_r, starts;

  assign vpid  = ext_addr_i[13:6];
  assign word  = ext_addr_i[5:3];
  assign row   = {word == STATE ? CTRL : word, vpid[CW-1:0]};
  assign half  = {ext_wstrb_i[4], ext_wstrb_i[0]};
  assign write = ext_req_i && ext_write_i && word < WORDS[2:0] && ggas_pkg::is_context(vpid);
  assign wdata = (word == CTRL) ? ext_wdata_i & CTRL_FIELDS : ext_wdata_i;
  assign look_vpid_o = vpid;

  for (genvar i = 0; i < 2; i = i + 1) begin : g_half
    ram_1r1w #(.WIDTH(32), .DEPTH(ggas_pkg::CONTEXTS * WORDS)) i_ram (
        .clk_i,
        .we_i(write && half[i]), .waddr_i(row), .wdata_i(wdata[32*i+:32]),
        .re_i(ext_req_i && (word < WORDS[2:0] || word == STATE)), .raddr_i(row), .rdata_o(rdata[32*i+:32])
    );
  end

  logic [63:0] held, whole;  // the word before this access, and after it
  assign held  = zero_q ? '0 : rdata;
  assign whole = {half_q[1] ? wdata_q[63:32] : held[63:32], half_q[0] ? wdata_q[31:0] : held[31:0]};

  // Starts are counted a cycle after the write. Two in a row count as one: no one owned the context between them.
  ram_1r1w #(.WIDTH(5), .DEPTH(ggas_pkg::CONTEXTS), .OLD(1'b1)) u_starts (
      .clk_i, .we_i(we_q && word_q == CTRL && whole[0]), .waddr_i(vpid_q[CW-1:0]), .wdata_i(starts),
      .re_i(ext_req_i), .raddr_i(vpid[CW-1:0]),
      .rdata_o(starts_r)
  );
  assign starts = (zero_q ? 5'd0 : starts_r) + {4'd0, whole[0]};

  always_ff @(posedge clk_i) begin
    if (ext_req_i) begin
      vpid_q       <= vpid;
      word_q       <= word;
      wdata_q      <= wdata;
      half_q       <= half;
      none_q       <= !ggas_pkg::is_context(vpid);
      zero_q       <= (word == CTRL || word == STATE) && !known;
      state_q      <= word == STATE;
      state_busy_q <= look_busy_i || (we_q && vpid_q == vpid);
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) we_q <= 1'b0;
    else we_q <= write;
  end
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS)) u_known (
      .clk_i, .rst_ni, .we_i(write && word == CTRL), .waddr_i(vpid[CW-1:0]), .wdata_i(1'b1), .raddr_i(vpid[CW-1:0]),
      .rdata_o(known));

  logic [63:0] data;
  always_comb begin
    data = whole;
    if (word_q == CTRL) data[52:48] = starts;
  end
  assign context_o = {we_q, vpid_q, word_q, data};
  assign ext_rdata_o = none_q ? {63'd0, state_q} : state_q ? {63'd0, !held[0] && !state_busy_q} : held;
  assign busy_o      = we_q;

  logic unused;
  assign unused = ^{ext_wstrb_i[7:5], ext_wstrb_i[3:1]};
endmodule

`default_nettype wire
