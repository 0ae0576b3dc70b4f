// SPDX-License-Identifier: Apache-2.0
// Front end of the requester: pages of contexts and work queues fill slots, whole descriptors leave them, and status
// blocks report their results. Contexts with a complete descriptor take turns: each is listed at most once, and not
// while one of its descriptors is with the requester. If nothing else waits a descriptor is offered three cycles after
// its last DW arrived.
`default_nettype none

module rma_front #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                stop_i,              // the NIC is stopped: nothing is written
    input  wire logic [63:0]         time_i,
    input  wire logic [12:0]         cfg_mrrs_i,          // bytes
    input  wire logic                cfg_requester_i,     // RMA_CTRL.requester: descriptors may start
    input  wire logic [15:0]         cfg_timeout_i,       // RMA_TIMEOUT.host

    // writes of CONTEXT[]; is anything of a context under way?
    input  wire ggas_pkg::context_write_t context_i,
    input  wire logic [7:0]          look_vpid_i,
    output      logic                look_busy_o,

    // BAR4 writes
    input  wire ggas_pkg::tlp_beat_t page_i,
    output      logic                page_ready_o,
    input  wire logic [DATA_W-1:0]   page_data_i,

    // doorbells, to the rings of notifications and messages too
    output      logic                db_valid_o,          // pulse
    output      logic [1:0]          db_kind_o,           // 0 queue, 1 notifications, 2 messages
    output      logic                db_arm_o,            // kinds 1 and 2: and arm
    input  wire logic                db_arm_ready_i,
    output      logic [7:0]          db_vpid_o,
    output      logic [31:0]         db_count_o,

    // descriptors: a beat a slot, one of a context at a time
    output      logic                desc_valid_o,
    input  wire logic                desc_ready_i,
    output      logic                desc_sop_o,
    output      logic                desc_eop_o,
    output      logic [7:0]          desc_vpid_o,
    output      logic [15:0]         desc_pd_o,
    output      logic [4:0]          desc_starts_o,       // times the context was started
    output      logic [255:0]        desc_data_o,
    input  wire logic                desc_done_i,         // pulse: the context's next one may come
    input  wire logic [7:0]          desc_done_vpid_i,

    // counts of the requester
    input  wire logic                st_valid_i,
    output      logic                st_ready_o,
    input  wire rma_pkg::rma_counts_t st_i,

    // host writes: status blocks
    output      ggas_pkg::tlp_beat_t wr_o,
    input  wire logic                wr_ready_i,
    output      logic [DATA_W-1:0]   wr_data_o,

    // host reads: work queues; completions of tags TAG_QUEUE and up
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire ggas_pkg::tlp_beat_t cpl_i,
    output      logic                cpl_ready_o,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    // events and counters: pulses
    output      logic                ev_page_access_o,
    output      logic [39:0]         ev_page_info_o,      // place, as in rma_page
    output      logic                ev_bad_descriptor_o,
    output      logic [39:0]         ev_doorbell_info_o,  // context
    output      logic                ev_host_error_o,
    output      logic [39:0]         ev_queue_info_o,     // low bits of the address
    output      logic                ev_unexpected_o,
    output      logic [9:0]          ev_tag_o,
    output      logic                cnt_status_writes_o,
    output      logic                cnt_queue_reads_o,
    output      logic                writes_o,            // a status block is in flight
    output      logic                busy_o,
    output      logic                timer_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;

  // ---------------------------------------------------------------- pages
  logic         row_valid, row_ready, row_sop, row_bad, doorbell_ready, page_look, page_busy;
  logic [20:0]  row_info;
  logic [7:0]   row_vpid, row_mask;
  logic [3:0]   row_slot;
  logic [255:0] row_data;
  rma_page #(.DATA_W(DATA_W)) i_page (
      .clk_i, .rst_ni, .context_i, .look_vpid_i, .look_busy_o(page_look), .page_i, .page_ready_o, .page_data_i,
      .row_valid_o(row_valid), .row_ready_i(row_ready), .row_sop_o(row_sop), .row_bad_o(row_bad),
      .row_info_o(row_info), .row_vpid_o(row_vpid), .row_slot_o(row_slot), .row_mask_o(row_mask),
      .row_data_o(row_data), .db_valid_o, .db_kind_o, .db_arm_o, .db_arm_ready_i, .db_vpid_o, .db_count_o,
      .db_queue_ready_i(doorbell_ready), .busy_o(page_busy));

  // ---------------------------------------------------------------- slots
  logic         fill_valid, fill_ready, kick_valid, kick_consume, sl_valid, head_valid, next_valid, read, slots_look,
    slots_busy;
  logic [7:0]   fill_vpid, fill_mask, kick_vpid, sl_vpid, head_vpid, read_vpid;
  logic [3:0]   fill_slot, head_slot, next_slot, read_slot;
  logic [1:0]   sl_count, head_more, next_more, read_more;
  logic [255:0] fill_data;
  rma_slots i_slots (
      .clk_i, .rst_ni, .context_i, .look_vpid_i, .look_busy_o(slots_look), .row_valid_i(row_valid),
      .row_ready_o(row_ready), .row_sop_i(row_sop), .row_bad_i(row_bad), .row_info_i(row_info), .row_vpid_i(row_vpid),
      .row_slot_i(row_slot), .row_mask_i(row_mask), .row_data_i(row_data), .fill_valid_i(fill_valid),
      .fill_ready_o(fill_ready), .fill_vpid_i(fill_vpid), .fill_slot_i(fill_slot), .fill_mask_i(fill_mask),
      .fill_data_i(fill_data), .kick_valid_i(kick_valid), .kick_vpid_i(kick_vpid), .kick_consume_i(kick_consume),
      .sl_valid_o(sl_valid), .sl_vpid_o(sl_vpid), .sl_count_o(sl_count), .head_valid_o(head_valid),
      .head_vpid_o(head_vpid), .head_slot_o(head_slot), .head_more_o(head_more), .next_valid_o(next_valid),
      .next_slot_o(next_slot), .next_more_o(next_more), .read_i(read), .read_vpid_i(read_vpid),
      .read_slot_i(read_slot), .read_data_o(desc_data_o), .ev_page_access_o, .ev_info_o(ev_page_info_o),
      .busy_o(slots_busy));

  // ---------------------------------------------------------------- contexts with a complete descriptor
  logic dispatch_look, dispatch_busy;
  // State of four contexts: the one whose head is reported, that is configured, that is first in the list, or whose
  // descriptor is done.
  logic         head_on;                  // enabled
  logic         head_listed, cfg_listed;  // in the list
  logic         head_out, cfg_out;        // with the requester; never both
  logic         first_old, done_old;      // listed or out since before the last write of CTRL
  // verilator lint_off UNUSEDSIGNAL
  logic         first_out, done_out;
  // verilator lint_on UNUSEDSIGNAL
  wire          ctrl = context_i.we && context_i.word == 3'd0;

  // ---------------------------------------------------------------- the list, its first entry in a register
  logic       listed, listed_ready, first_valid, dead_q;
  logic [7:0] first_vpid;
  logic [3:0] first_slot;
  logic [1:0] first_more;
  logic [13:0] listed_data;
  wire        more  = desc_valid_o && !desc_eop_o;  // slots of the descriptor on its way
  wire        free  = read && !more && cfg_requester_i;
  wire        dead  = first_valid && first_old;
  wire        drop  = dead_q && !desc_done_i;       // a look at a dead context waits for the port
  wire        start = first_valid && !first_old && free;
  wire        fresh = head_valid && head_on && !head_listed && !head_out;
  wire        waits = first_valid || listed;
  wire        direct = !waits && free && (next_valid || fresh);
  wire        push   = fresh && !(direct && !next_valid);
  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(14), .DEPTH(ggas_pkg::CONTEXTS), .BLOCK(1'b1)) u_list (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(push), .wr_ready_o(),
      .wr_data_i({head_more, head_slot, head_vpid}), .rd_valid_o(listed), .rd_ready_i(listed_ready),
      .rd_data_o(listed_data), .count_o());
  // verilator lint_on PINCONNECTEMPTY
  queue_head #(.WIDTH(14)) u_first (
      .clk_i, .rst_ni, .queue_valid_i(listed), .queue_ready_o(listed_ready), .queue_data_i(listed_data),
      .valid_o(first_valid), .ready_i(start || drop), .data_o({first_more, first_slot, first_vpid}));

  assign kick_valid   = desc_done_i || dead_q;
  assign kick_vpid    = desc_done_i ? desc_done_vpid_i : first_vpid;
  assign kick_consume = desc_done_i && !done_old;

  // A look takes effect a cycle later, when nothing of what was before it can name its descriptor again.
  logic       kick_q;
  logic [7:0] kick_vpid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {dead_q, kick_q} <= '0;
    else {dead_q, kick_q} <= {dead && !drop, kick_valid};
  end
  always_ff @(posedge clk_i) kick_vpid_q <= kick_vpid;

  wire load    = direct || start;
  wire pending = (cfg_listed || cfg_out) && !(kick_q && kick_vpid_q == context_i.vpid);  // still so in the next cycle
  context_flags u_on (
      .clk_i, .rst_ni, .context_i, .flags_i(context_i.data[0]), .vpid_i(head_vpid), .flags_o(head_on));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2), .READS(2)) u_listed (
      .clk_i, .rst_ni, .we_i({push, start || drop}), .waddr_i({head_vpid[CW-1:0], first_vpid[CW-1:0]}),
      .wdata_i(2'b10), .raddr_i({context_i.vpid[CW-1:0], head_vpid[CW-1:0]}), .rdata_o({cfg_listed, head_listed}));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2), .READS(5)) u_out (
      .clk_i, .rst_ni, .we_i({load, kick_q}), .waddr_i({read_vpid[CW-1:0], kick_vpid_q[CW-1:0]}),
      .wdata_i(2'b10),
      .raddr_i({first_vpid[CW-1:0], desc_done_vpid_i[CW-1:0], look_vpid_i[CW-1:0], context_i.vpid[CW-1:0],
      head_vpid[CW-1:0]}),
      .rdata_o({first_out, done_out, dispatch_look, cfg_out, head_out}));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2), .READS(2)) u_old (
      .clk_i, .rst_ni, .we_i({ctrl, kick_q}), .waddr_i({context_i.vpid[CW-1:0], kick_vpid_q[CW-1:0]}),
      .wdata_i({pending, 1'b0}), .raddr_i({desc_done_vpid_i[CW-1:0], first_vpid[CW-1:0]}),
      .rdata_o({done_old, first_old}));

  // ---------------------------------------------------------------- the descriptor to the requester
  // Whenever there is room for a beat, one is read; whether it is valid is known at the end of the cycle.
  logic [3:0] slot_q;  // of the beat after this one
  logic [1:0] left_q;  // slots after this one
  assign read       = !desc_valid_o || desc_ready_i;
  assign desc_eop_o = left_q == 2'd0;
  always_comb begin
    {read_more, read_slot, read_vpid} = {head_more, head_slot, head_vpid};
    if (next_valid) {read_more, read_slot, read_vpid} = {next_more, next_slot, kick_vpid_q};
    if (first_valid) {read_more, read_slot, read_vpid} = {first_more, first_slot, first_vpid};
    if (more) {read_more, read_slot, read_vpid} = {left_q - 2'd1, slot_q, desc_vpid_o};
  end

  context_fields #(.WIDTH(21)) u_owner (
      .clk_i, .context_i, .fields_i(context_i.data[52:32]), .re_i(read && !more), .vpid_i(read_vpid),
      .fields_o({desc_starts_o, desc_pd_o}));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      desc_valid_o <= 1'b0;
      desc_sop_o   <= 1'b0;
      desc_vpid_o  <= '0;
      slot_q       <= '0;
      left_q       <= '0;
    end else if (read) begin
      desc_valid_o <= more || load;
      desc_sop_o   <= !more;
      desc_vpid_o  <= read_vpid;
      slot_q       <= read_slot + 4'd1;
      left_q       <= read_more;
    end
  end

  assign dispatch_busy = desc_valid_o || start || dead || (listed && listed_ready);

  // ---------------------------------------------------------------- work queues
  logic queue_look, queue_busy;
  if (ggas_pkg::QUEUES) begin : g_queue
    rma_queue #(.DATA_W(DATA_W)) i_queue (
        .clk_i, .rst_ni, .time_i, .cfg_mrrs_i, .cfg_timeout_i, .context_i, .look_vpid_i, .look_busy_o(queue_look),
        .db_valid_i(db_valid_o && db_kind_o == 2'd0), .db_ready_o(doorbell_ready), .db_vpid_i(db_vpid_o),
        .db_count_i(db_count_o), .sl_valid_i(sl_valid), .sl_vpid_i(sl_vpid), .sl_count_i(sl_count),
        .fill_valid_o(fill_valid), .fill_ready_i(fill_ready), .fill_vpid_o(fill_vpid), .fill_slot_o(fill_slot),
        .fill_mask_o(fill_mask), .fill_data_o(fill_data), .rd_valid_o, .rd_ready_i, .rd_hdr_o, .cpl_i, .cpl_ready_o,
        .cpl_data_i, .ev_bad_descriptor_o, .ev_doorbell_info_o, .ev_host_error_o, .ev_queue_info_o, .ev_unexpected_o,
        .ev_tag_o, .cnt_queue_reads_o, .busy_o(queue_busy), .timer_o);
  end else begin : g_no_queue
    assign ev_bad_descriptor_o = db_valid_o && db_kind_o == 2'd0;
    assign ev_doorbell_info_o  = {32'd0, db_vpid_o};
    assign {doorbell_ready, cpl_ready_o} = '1;
    assign {fill_valid, fill_vpid, fill_slot, fill_mask, fill_data, rd_valid_o, rd_hdr_o, ev_host_error_o,
      ev_queue_info_o, ev_unexpected_o, ev_tag_o, cnt_queue_reads_o, queue_look, queue_busy, timer_o} = '0;
  end

  // ---------------------------------------------------------------- status blocks
  logic status_look, status_busy;
  rma_status #(.DATA_W(DATA_W)) i_status (
      .clk_i, .rst_ni, .stop_i, .context_i, .look_vpid_i, .look_busy_o(status_look), .sl_valid_i(sl_valid),
      .sl_vpid_i(sl_vpid), .sl_count_i(sl_count), .st_valid_i, .st_ready_o, .st_vpid_i(st_i.vpid),
      .st_local_i(st_i.local_done), .st_remote_i(st_i.remote_done), .st_error_i(st_i.error),
      .st_status_i(st_i.status), .wr_o, .wr_ready_i, .wr_data_o, .cnt_writes_o(cnt_status_writes_o),
      .busy_o(status_busy));

  assign look_busy_o = page_look || slots_look || dispatch_look || queue_look || status_look;
  assign writes_o    = wr_o.valid;
  assign busy_o      = page_busy || slots_busy || dispatch_busy || queue_busy || status_busy;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && desc_done_i) assert (done_out) else $error("rma_front: done without a descriptor");
    if (rst_ni && start) assert (!first_out) else $error("rma_front: two descriptors of a context");
  end
`endif
endmodule

`default_nettype wire
