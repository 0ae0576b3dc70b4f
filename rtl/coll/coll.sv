// SPDX-License-Identifier: Apache-2.0
// Collectives: barrier, reduce, allreduce and broadcast among the nodes of a group, along a tree that software writes
// into registers. A store of a GPU starts an operation; the result and a flag are written into its memory
// (docs/coll.md).
`default_nettype none

module coll #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                stop_i,         // what comes is refused, nothing is written to the host
    input  wire logic [12:0]         cfg_mps_i,      // largest payload of a host write, bytes
    input  wire logic [15:0]         cfg_node_i,     // number of this node
    input  wire logic                route_i,        // packets leave; else net drops them

    // COLL registers: group, word; the answer in the next cycle
    input  wire logic                ext_req_i,
    input  wire logic                ext_write_i,
    input  wire logic [8:3]          ext_addr_i,
    input  wire logic [63:0]         ext_wdata_i,
    input  wire logic [7:0]          ext_wstrb_i,
    output      logic [63:0]         ext_rdata_o,

    // writes to blocks of context pages; header as on `page` of hostif
    input  wire logic                page_valid_i,
    output      logic                page_ready_o,
    input  wire logic                page_eop_i,
    input  wire ggas_pkg::tlp_hdr_t  page_hdr_i,
    input  wire logic [DATA_W-1:0]   page_data_i,

    // packets of the channel RMA whose op is OP_COLL_UP or OP_COLL_DOWN; taken in finite time whatever the outputs do
    input  wire logic                rx_valid_i,
    output      logic                rx_ready_o,
    input  wire logic                rx_eop_i,
    input  wire ggas_pkg::net_hdr_t  rx_hdr_i,
    input  wire logic [DATA_W-1:0]   rx_data_i,
    output      logic                tx_valid_o,
    input  wire logic                tx_ready_i,
    output      logic                tx_sop_o,
    output      logic                tx_eop_o,
    output      ggas_pkg::net_hdr_t  tx_hdr_o,
    output      logic [DATA_W-1:0]   tx_data_o,

    // quiet: pulse, page whose errors are asked for; not again before the answer (pulse, ST_*)
    output      logic                quiet_o,
    output      logic [7:0]          quiet_page_o,
    input  wire logic                quiet_done_i,
    input  wire logic [3:0]          quiet_status_i,

    // host writes
    output      logic                wr_valid_o,
    input  wire logic                wr_ready_i,
    output      logic                wr_sop_o,
    output      logic                wr_eop_o,
    output      ggas_pkg::tlp_hdr_t  wr_hdr_o,
    output      logic [DATA_W-1:0]   wr_data_o,

    // events PAGE_ACCESS and BAD_PACKET; one record waits, pulses count all
    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o,
    output      ggas_regs_pkg::event_set_t ev_pulse_o,
    output      logic                writes_o,       // a host write is in flight
    output      logic                busy_o
);
  localparam int unsigned LANES = DATA_W / 64;
  localparam int unsigned ROW_W = $clog2(2048 / DATA_W);

  logic [7:0]  enable, stopped, alone, waits, broken, in_active, page_vpid, rx_epoch, in_page, fences;
  logic [63:0] have, look_state, word;
  logic [2:0]  look_group, page_group, rx_group, rx_from, job_group, job_child, group, slot, in_group, in_slot;
  logic [2:0]  op, kind, out_group;
  logic [1:0]  page_block;
  logic        page_found, rx_known, in_arrive, in_result, in_fenced, in_breaks, open, fence_busy, arrive, is_result,
    in_we_child, engine_re, engine_we, alu, engine_busy, in_busy, go, is_write, given, done, out_re, sop, eop;
  logic [15:0] rx_src, rx_domain, job_node;
  logic [63:10] job_result;
  logic [5:0]  words;
  logic [LANES-1:0]  in_we_own;
  logic [ROW_W-1:0]  in_row, from;
  logic [ROW_W:0]    open_rows, readable;
  logic [ROW_W+2:0]  own_at, engine_waddr, out_at;
  logic [ROW_W+4:0]  child_at;
  logic [DATA_W-1:0] in_wdata, own_row, child_row, result, out_row, data;
  coll_pkg::group_t job;
  coll_pkg::ask_t   in_ask, ask, open_ask;

  coll_groups u_groups (
      .clk_i, .rst_ni, .ext_req_i, .ext_write_i, .ext_addr_i, .ext_wdata_i, .ext_wstrb_i, .ext_rdata_o,
      .look_group_o(look_group), .look_state_i(look_state), .stopped_i(stopped), .enable_o(enable), .alone_o(alone),
      .page_vpid_i(page_vpid), .page_block_i(page_block), .page_found_o(page_found), .page_group_o(page_group),
      .rx_group_i(rx_group), .rx_src_i(rx_src), .rx_domain_i(rx_domain), .rx_epoch_i(rx_epoch), .rx_known_o(rx_known),
      .rx_from_o(rx_from), .job_group_i(job_group), .job_child_i(job_child), .job_o(job), .job_node_o(job_node),
      .job_result_o(job_result));

  logic ev_page, ev_packet;
  logic [15:0] ev_node;
  logic [39:0] ev_info;
  coll_in #(.DATA_W(DATA_W)) u_in (
      .clk_i, .rst_ni, .stop_i, .page_valid_i, .page_ready_o, .page_eop_i, .page_hdr_i, .page_data_i, .rx_valid_i,
      .rx_ready_o, .rx_eop_i, .rx_hdr_i, .rx_data_i, .enable_i(enable), .page_vpid_o(page_vpid),
      .page_block_o(page_block),
      .page_found_i(page_found), .page_group_i(page_group), .rx_group_o(rx_group), .rx_src_o(rx_src),
      .rx_domain_o(rx_domain), .rx_epoch_o(rx_epoch), .rx_known_i(rx_known), .rx_from_i(rx_from), .have_i(have),
      .waits_i(waits), .fences_i(fences), .broken_i(broken), .breaks_o(in_breaks), .arrive_o(in_arrive),
      .result_o(in_result), .group_o(in_group), .slot_o(in_slot), .ask_o(in_ask), .fenced_o(in_fenced),
      .page_o(in_page), .open_o(open), .rows_o(open_rows), .open_ask_o(open_ask),
      .room_i(!engine_we), .we_own_o(in_we_own), .we_child_o(in_we_child), .row_o(in_row), .wdata_o(in_wdata),
      .ev_page_o(ev_page), .ev_packet_o(ev_packet), .ev_node_o(ev_node), .ev_info_o(ev_info), .active_o(in_active),
      .busy_o(in_busy));

  coll_fence u_fence (
      .clk_i, .rst_ni, .enable_i(enable), .arrive_i(in_arrive), .result_i(in_result), .group_i(in_group),
      .slot_i(in_slot), .ask_i(in_ask), .fenced_i(in_fenced), .page_i(in_page), .arrive_o(arrive),
      .result_o(is_result), .group_o(group), .slot_o(slot), .ask_o(ask), .waits_o(fences), .quiet_o,
      .quiet_page_o, .quiet_done_i, .quiet_status_i, .busy_o(fence_busy));

  coll_engine #(.DATA_W(DATA_W)) u_engine (
      .clk_i, .rst_ni, .stop_i, .cfg_mps128_i(cfg_mps_i < 13'd256), .cfg_node_i, .route_i, .enable_i(enable),
      .alone_i(alone), .broken_o(broken), .breaks_i(in_breaks), .job_group_o(job_group), .job_child_o(job_child),
      .job_i(job), .job_node_i(job_node), .job_result_i(job_result),
      .look_group_i(look_group), .look_state_o(look_state), .in_active_i(in_active), .stopped_o(stopped),
      .arrive_i(arrive), .result_i(is_result), .group_i(group), .slot_i(slot), .ask_i(ask), .have_o(have),
      .waits_o(waits), .fences_i(fences), .open_i(open), .open_result_i(in_result), .open_group_i(in_group),
      .open_slot_i(in_slot),
      .open_rows_i(open_rows), .open_ask_i(open_ask), .re_o(engine_re), .own_o(own_at), .child_o(child_at), .op_o(op),
      .kind_o(kind), .we_o(engine_we), .waddr_o(engine_waddr), .alu_o(alu), .go_o(go), .write_o(is_write),
      .words_o(words), .group_o(out_group), .from_o(from), .readable_o(readable), .given_o(given), .word_o(word),
      .done_i(done), .tx_hdr_o, .wr_hdr_o, .writes_o, .busy_o(engine_busy));

  // ---------------------------------------------------------------- buffers and arithmetic, lane by lane
  // Own rows are stored twice: one copy is read to be combined while the other one leaves.
  logic clk_alu;
  clock_gate u_alu_clock (.clk_i, .en_i(alu), .clk_o(clk_alu));
  wire [1:0] in_child = in_slot[1:0] - 2'd1;
  for (genvar l = 0; l < LANES; l = l + 1) begin : g_lane
    wire we = engine_we || in_we_own[l];
    wire [ROW_W+2:0] waddr = engine_we ? engine_waddr : {in_group, in_row};
    wire [63:0]      wdata = engine_we ? result[64*l+:64] : in_wdata[64*l+:64];
    ram_1r1w #(.WIDTH(64), .DEPTH(8 << ROW_W)) u_own (
        .clk_i, .we_i(we), .waddr_i(waddr), .wdata_i(wdata), .re_i(engine_re), .raddr_i(own_at),
        .rdata_o(own_row[64*l+:64]));
    ram_1r1w #(.WIDTH(64), .DEPTH(8 << ROW_W)) u_out (
        .clk_i, .we_i(we), .waddr_i(waddr), .wdata_i(wdata), .re_i(out_re), .raddr_i(out_at),
        .rdata_o(out_row[64*l+:64]));
    ram_1r1w #(.WIDTH(64), .DEPTH(32 << ROW_W)) u_child (
        .clk_i, .we_i(in_we_child), .waddr_i({in_group, in_child, in_row}), .wdata_i(in_wdata[64*l+:64]),
        .re_i(engine_re), .raddr_i(child_at), .rdata_o(child_row[64*l+:64]));
    coll_alu u_alu (
        .clk_i(clk_alu), .op_i(op), .kind_i(kind), .a_i(own_row[64*l+:64]), .b_i(child_row[64*l+:64]),
        .out_o(result[64*l+:64]));
  end

  coll_out #(.DATA_W(DATA_W)) u_out (
      .clk_i, .rst_ni, .go_i(go), .write_i(is_write), .words_i(words), .group_i(out_group), .from_i(from),
      .readable_i(readable), .given_i(given), .word_i(word), .done_o(done), .re_o(out_re), .raddr_o(out_at),
      .rdata_i(out_row), .tx_valid_o, .tx_ready_i, .wr_valid_o, .wr_ready_i, .sop_o(sop), .eop_o(eop), .data_o(data));
  assign {tx_sop_o, tx_eop_o, tx_data_o} = {sop, eop, data};
  assign {wr_sop_o, wr_eop_o, wr_data_o} = {sop, eop, data};

  // ---------------------------------------------------------------- events
  logic [7:0] code;
  assign code = ev_page ? ggas_regs_pkg::EV_PAGE_ACCESS : ggas_regs_pkg::EV_BAD_PACKET;
  always_comb begin
    ev_pulse_o = '0;
    ev_pulse_o[ggas_regs_pkg::EV_PAGE_ACCESS[5:0]] = ev_page;
    ev_pulse_o[ggas_regs_pkg::EV_BAD_PACKET[5:0]]  = ev_packet;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) event_valid_o <= 1'b0;
    else event_valid_o <= event_valid_o ? !event_ready_i : ev_page || ev_packet;
  end
  always_ff @(posedge clk_i) begin
    if (!event_valid_o && (ev_page || ev_packet)) event_o <= {code, ev_node, ev_info};
  end
  assign busy_o = in_busy || fence_busy || engine_busy || event_valid_o;
endmodule

`default_nettype wire
