// SPDX-License-Identifier: Apache-2.0
// One-shot interrupts of contexts (docs/interrupts.md). A reader that goes to sleep arms its context with the number of
// records it has seen. If the NIC has written more the context fires at once, else with the next record. Both are
// decided here, one after the other, on the same count: so no record is missed between the reader's check and its
// sleep. Arms and counts belong to one start of the context.
`default_nettype none

module rma_arm (
    input  wire logic         clk_i,
    input  wire logic         rst_ni,

    // writes of CONTEXT[]
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::context_write_t context_i,
    // verilator lint_on UNUSEDSIGNAL

    // the reader: arms one of its rings (0 notifications, 1 messages); taken in finite time
    input  wire logic         arm_valid_i,
    output      logic         arm_ready_o,
    input  wire logic         arm_ring_i,
    input  wire logic [7:0]   arm_vpid_i,
    input  wire logic [31:0]  arm_count_i,     // records it has seen since the start

    // the NIC has written a record; a bit or slice for each ring
    input  wire logic [1:0]   rec_valid_i,
    output      logic [1:0]   rec_ready_o,
    input  wire logic [15:0]  rec_vpid_i,
    input  wire logic [63:0]  rec_count_i,     // with it, since the start

    // a context fires
    output      logic         fire_valid_o,
    input  wire logic         fire_ready_i,
    output      logic [7:0]   fire_vpid_o,
    output      logic [3:0]   fire_vector_o,
    output      logic         fire_list_o,     // into the ring of fired contexts

    input  wire logic [7:0]   look_vpid_i,     // is anything of that context in progress?
    output      logic         look_busy_o,
    output      logic         busy_o
);
  localparam int unsigned CW    = ggas_pkg::CONTEXT_W;
  localparam int unsigned CFG_W = 6;   // vector 4, list, on
  localparam int unsigned ROW_W = 66;  // armed 2, counts 2 * 32

  // ---------------------------------------------------------------- whose turn
  logic [2:0]  grant;
  logic        take, act_q;   // act: the item is in progress, its rows stand at the RAMs
  wire [2:0]   offers = {arm_valid_i, rec_valid_i};
  assign take = !act_q && offers != '0;
  // verilator lint_off PINCONNECTEMPTY
  arbiter_rr #(.N(3)) u_turn (
      .clk_i, .rst_ni, .clear_i(1'b0), .req_i(offers), .take_i(take), .eop_i(1'b1), .grant_o(grant), .locked_o());
  // verilator lint_on PINCONNECTEMPTY
  assign {arm_ready_o, rec_ready_o} = act_q ? '0 : grant;

  wire [7:0] vpid = grant[2] ? arm_vpid_i : grant[1] ? rec_vpid_i[15:8] : rec_vpid_i[7:0];
  logic        is_arm_q, ring_q;
  logic [7:0]  vpid_q;
  logic [31:0] count_q;
  always_ff @(posedge clk_i) begin
    if (take) begin
      is_arm_q <= grant[2];
      ring_q   <= grant[2] ? arm_ring_i : grant[1];
      vpid_q   <= vpid;
      count_q  <= grant[2] ? arm_count_i : grant[1] ? rec_count_i[63:32] : rec_count_i[31:0];
    end
  end

  // ---------------------------------------------------------------- does the row belong to this start?
  // A start leaves the row unchanged and marks it as unused. Operations in progress at that time belong to the start
  // before: they have no row.
  wire         start = context_i.we && context_i.word == 3'd0 && context_i.data[0];
  logic        done, used, used_q, stale_q;
  wire         uses    = done && !stale_q;
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2)) u_used (
      .clk_i, .rst_ni, .we_i({start, uses}), .waddr_i({context_i.vpid[CW-1:0], vpid_q[CW-1:0]}),
      .wdata_i(2'b01), .raddr_i(vpid[CW-1:0]), .rdata_o(used));
  always_ff @(posedge clk_i) begin
    if (take) begin
      used_q  <= used;
      stale_q <= start && context_i.vpid == vpid;
    end else if (start && context_i.vpid == vpid_q) begin
      stale_q <= 1'b1;
    end
  end

  // ---------------------------------------------------------------- rows; before the first start nothing is asked for
  logic        on, list;
  logic [3:0]  vector;
  logic [1:0]  row_armed, armed, now_armed;
  logic [63:0] row_counts, counts, now_counts;
  context_fields #(.WIDTH(CFG_W)) u_cfg (
      .clk_i, .context_i, .re_i(take), .vpid_i(vpid), .fields_o({vector, list, on}),
      .fields_i({context_i.data[7:4], context_i.data[13], context_i.data[0] && context_i.data[3]}));
  ram_1r1w #(.WIDTH(ROW_W), .DEPTH(ggas_pkg::CONTEXTS)) u_rows (
      .clk_i, .we_i(done), .waddr_i(vpid_q[CW-1:0]), .wdata_i({now_armed, now_counts}),
      .re_i(take), .raddr_i(vpid[CW-1:0]), .rdata_o({row_armed, row_counts}));

  wire [31:0]  known = ring_q ? counts[63:32] : counts[31:0];
  wire         newer = known != count_q;   // than what the reader has seen
  wire         fire  = on && (is_arm_q ? newer : armed[ring_q]);
  assign armed  = used_q ? row_armed : '0;
  assign counts = used_q ? row_counts : '0;
  wire         waits = is_arm_q && on && !newer;  // for the next record
  assign now_armed          = ring_q ? {waits, armed[0]} : {armed[1], waits};
  assign now_counts[31:0]   = is_arm_q || ring_q ? counts[31:0] : count_q;
  assign now_counts[63:32]  = is_arm_q || !ring_q ? counts[63:32] : count_q;
  assign done = act_q && (!fire || fire_ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) act_q <= 1'b0;
    else act_q <= take || (act_q && !done);
  end

  assign fire_valid_o  = act_q && fire;
  assign fire_vpid_o   = vpid_q;
  assign fire_vector_o = vector;
  assign fire_list_o   = list;
  assign look_busy_o   = act_q && vpid_q == look_vpid_i;
  assign busy_o        = act_q || offers != '0;

endmodule

`default_nettype wire
