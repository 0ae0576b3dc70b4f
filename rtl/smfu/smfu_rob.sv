// SPDX-License-Identifier: Apache-2.0
// Remote loads and quiets at their target: each takes the next of 64 slots in a ring, reads its export, and is answered
// in ring order. A quiet is preceded by its flushes, zero-length reads that return after the writes before them; their
// slots have no answer. smfu_reads checks requests and makes their reads; the tag of a read is {slot, part}. A slot
// whose read timed out keeps its tags out of use until its completions have arrived after all or another time-out has
// passed.
`default_nettype none

module smfu_rob #(
    parameter int unsigned DATA_W = 64
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [16:0]         now_i,           // ticks
    input  wire logic                tick_i,
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic                cfg_ingress_i,
    input  wire logic [15:0]         cfg_timeout_i,   // ticks
    input  wire logic [12:0]         cfg_mrrs_i,

    // loads and quiets
    input  wire logic                rx_np_valid_i,
    output      logic                rx_np_ready_o,
    input  wire logic                rx_np_sop_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::net_hdr_t  rx_np_hdr_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic                range_error_i,   // a store of range_node_i was dropped
    input  wire ggas_pkg::node_t     range_node_i,
    input  wire logic [15:0]         range_domain_i,
    output      logic                range_busy_o,    // another one cannot be reported yet

    // exports, as in smfu_reads
    output      logic                ask_o,
    output      logic [7:0]          ask_export_o,
    input  wire logic                known_i,
    input  wire smfu_pkg::export_t   export_i,
    input  wire logic                wrote_i,
    input  wire logic [5:0]          wrote_export_i,
    input  wire logic                mark_i,          // what was let in up to now is old
    output      logic                old_o,           // something old has not been answered

    // reads
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,

    // their completions
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::tlp_beat_t tgt_cpl_i,
    // verilator lint_on UNUSEDSIGNAL
    output      logic                tgt_cpl_ready_o,
    input  wire logic [DATA_W-1:0]   tgt_cpl_data_i,

    // answers
    output      ggas_pkg::net_beat_t tx_rsp_o,
    input  wire logic                tx_rsp_ready_i,
    output      logic [DATA_W-1:0]   tx_rsp_data_o,

    // requests: TARGET_RANGE, BAD_PACKET
    output      logic                req_event_valid_o,
    input  wire logic                req_event_ready_i,
    output      ggas_pkg::event_t    req_event_o,
    // completions: UNEXPECTED_CPL, TARGET_HOST_ERROR, TARGET_TIMEOUT
    output      logic                cpl_event_valid_o,
    input  wire logic                cpl_event_ready_i,
    output      ggas_pkg::event_t    cpl_event_o,
    output      logic                cnt_target_loads_o,
    output      logic                reads_o,         // reads of exports are under way, or will be
    output      logic                busy_o,
    output      logic                timer_o
);

  localparam int unsigned BANKS = DATA_W / 32;
  localparam int unsigned BW    = $clog2(BANKS);
  localparam int unsigned RW    = 6 - BW;          // rows of a slot, as a power of two

  // ---------------------------------------------------------------- slots
  logic [6:0]  oldest, tail_q;     // not answered, next free; the top bit is the turn
  logic [5:0]  next;               // to be answered next
  // domain 17, status as it came 4, and the rest as smfu_reads made it
  logic [67:0] slot_q [64];
  logic [16:0] deadline_q [64];
  logic [12:0] progress_q [128];   // by tag: DW missing 7, where the next one goes 6

  wire [5:0] tail = tail_q[5:0];
  wire [6:0] tail_next = tail_q + 7'd1;
  wire       full      = (oldest ^ tail_q) == 7'h40;
  wire       full_next = (oldest ^ tail_next) == 7'h40;
  logic      free_q;   // the tail is free, its tags too; that is so until it is taken

  // ---------------------------------------------------------------- requests
  // verilator lint_off UNUSEDSIGNAL
  ggas_pkg::tlp_hdr_t rd_hdr;
  // verilator lint_on UNUSEDSIGNAL
  wire [6:0]   tag    = rd_hdr.tag[6:0];
  wire [6:0]   len    = rd_hdr.len_dw[6:0];
  wire [46:0]  h_slot = slot_q[next][46:0];
  logic        in_held, in_reads, in_done, fill, reflush, rd_valid, rd_ready;
  logic [46:0] fill_slot;
  logic [16:0] fill_one;
  logic [3:0]  fill_status;
  logic [5:0]  pos_read;
  smfu_reads u_reads (
      .clk_i, .rst_ni, .cfg_ingress_i, .cfg_mrrs_i, .ask_o, .ask_export_o, .known_i, .export_i, .wrote_i,
      .wrote_export_i, .reflush_i(reflush), .reflush_export_i(h_slot[6:1]), .rx_np_valid_i, .rx_np_ready_o,
      .rx_np_sop_i, .rx_np_hdr_i, .range_error_i, .range_node_i, .range_domain_i, .range_busy_o, .free_i(free_q),
      .slot_i(tail), .held_o(in_held), .reads_o(in_reads), .fill_o(fill), .fill_slot_o(fill_slot),
      .fill_status_o(fill_status), .fill_one_o(fill_one), .done_o(in_done), .rd_valid_o(rd_valid),
      .rd_ready_i(rd_ready), .rd_hdr_o(rd_hdr), .rd_pos_o(pos_read), .event_valid_o(req_event_valid_o),
      .event_ready_i(req_event_ready_i), .event_o(req_event_o)
  );
  wire       issue = rd_valid && rd_ready;
  // Whether a read leaves the hand must not hang on the host: slots and their completions do.
  logic [63:0] rd_addr;
  logic [6:0]  rd_len, rd_tag;
  logic [3:0]  rd_first_be, rd_last_be;
  skid #(.WIDTH(86)) u_rd (
      .clk_i, .rst_ni, .in_valid_i(rd_valid), .in_ready_o(rd_ready),
      .in_data_i({rd_hdr.addr, len, rd_hdr.first_be, rd_hdr.last_be, tag}), .out_valid_o(rd_valid_o),
      .out_ready_i(rd_ready_i), .out_data_o({rd_addr, rd_len, rd_first_be, rd_last_be, rd_tag}));
  always_comb begin
    rd_hdr_o          = '0;
    rd_hdr_o.kind     = ggas_pkg::TLP_MRD;
    rd_hdr_o.bar      = 3'd7;
    rd_hdr_o.addr     = rd_addr;
    rd_hdr_o.len_dw   = {4'd0, rd_len};
    rd_hdr_o.first_be = rd_first_be;
    rd_hdr_o.last_be  = rd_last_be;
    rd_hdr_o.tag      = {3'd0, rd_tag};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tail_q <= '0;
      free_q <= 1'b0;
    end else begin
      if (in_done) tail_q <= tail_next;
      free_q <= in_done ? !full_next && !next_zombie : !full && !tail_zombie;
    end
  end

  // ---------------------------------------------------------------- completions
  // The slot of a completion is looked up with its first beat, while the last beat of the preceding completion is
  // stored. The result is known in the next cycle, when the first beat is stored.
  logic [6:0]        cpl_tag_q;
  logic              cpl_inside_q;    // further beats come
  logic              cpl_valid_q;     // the beat in cpl_data_q is to be stored (store) or dropped
  logic              cpl_new_q;       // it is the first one
  logic              cpl_eop_q;
  logic              cpl_open_q;      // its read had not been answered in full
  logic              cpl_wanted_q;    // nor been given up
  logic              cpl_error_q;     // it has no data
  logic              cpl_poisoned_q;
  logic              cpl_long_q;      // it has more than is missing, or nothing
  logic              cpl_rest_q;      // it has all that is missing
  logic              cpl_good_q;      // its slot had not failed
  logic [2:0]        cpl_status_q;
  logic [6:0]        cpl_left_q;      // DW of this completion still to store
  logic [5:0]        cpl_pos_q;
  logic [DATA_W-1:0] cpl_data_q;

  wire [5:0]  stored   = cpl_tag_q[6:1];
  wire        cpl_busy = cpl_inside_q || cpl_valid_q;
  wire        cpl_see = !cpl_inside_q && tgt_cpl_i.valid;
  wire [6:0]  ctag    = tgt_cpl_i.hdr.tag[6:0];
  wire [5:0]  cslot   = ctag[6:1];
  logic [6:0] missing;
  logic [5:0] pos;
  assign {missing, pos} = progress_q[ctag];
  wire        c_open   = (ctag[0] ? c_part[1] : c_part[0]) && !(closes && ctag == cpl_tag_q);
  wire        c_error  = tgt_cpl_i.hdr.kind != ggas_pkg::TLP_CPLD || tgt_cpl_i.hdr.status != ggas_pkg::CPL_SC;
  wire        c_long   = !c_error && (tgt_cpl_i.hdr.len_dw == '0 || tgt_cpl_i.hdr.len_dw > {4'd0, missing});
  wire        stray    = !cpl_wanted_q || cpl_long_q;
  wire        fails    = cpl_wanted_q && (cpl_error_q || cpl_poisoned_q || cpl_long_q);
  wire        spoils   = cpl_new_q && fails && cpl_good_q;
  wire        raise    = cpl_new_q && (stray || spoils);
  wire        last     = cpl_open_q && (cpl_error_q || cpl_long_q || cpl_rest_q);  // the read is answered with it
  wire        store    = cpl_wanted_q && !fails;
  // What it may need, before it is known: the event's register, and to write its progress as a read that is issued.
  wire        c_take   = cpl_see && !cpl_event_valid_o && !raise && !issue;
  wire        c_end    = cpl_valid_q && cpl_eop_q;
  assign tgt_cpl_ready_o = cpl_inside_q || c_take;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cpl_inside_q <= 1'b0;
      cpl_valid_q  <= 1'b0;
      cpl_new_q    <= 1'b0;
      cpl_eop_q    <= 1'b0;
      cpl_tag_q    <= '0;
      cpl_left_q   <= '0;
      cpl_pos_q    <= '0;
    end else begin
      cpl_valid_q <= tgt_cpl_i.valid && tgt_cpl_ready_o;
      cpl_new_q   <= c_take;
      cpl_eop_q   <= tgt_cpl_i.eop;
      if (tgt_cpl_i.valid && tgt_cpl_ready_o) cpl_inside_q <= !tgt_cpl_i.eop;
      if (c_take) begin
        cpl_tag_q  <= ctag;
        cpl_left_q <= tgt_cpl_i.hdr.len_dw[6:0];
        cpl_pos_q  <= pos;
      end else if (cpl_valid_q) begin
        cpl_left_q <= cpl_left_q - BANKS[6:0];
        cpl_pos_q  <= cpl_pos_q + BANKS[5:0];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (c_take) begin
      cpl_open_q     <= c_open;
      cpl_wanted_q   <= c_open && !c_zombie;
      cpl_error_q    <= c_error;
      cpl_poisoned_q <= tgt_cpl_i.hdr.poisoned;
      cpl_long_q     <= c_long;
      cpl_rest_q     <= missing == tgt_cpl_i.hdr.len_dw[6:0];
      cpl_good_q     <= c_good;  // no fault is written in this cycle: c_take waits for raise
      cpl_status_q   <= tgt_cpl_i.hdr.status;
    end
    if (tgt_cpl_i.valid) cpl_data_q <= tgt_cpl_data_i;
    if (issue) progress_q[tag] <= {len, pos_read};
    else if (c_take) progress_q[ctag] <= {missing - tgt_cpl_i.hdr.len_dw[6:0], pos + tgt_cpl_i.hdr.len_dw[5:0]};
  end

  // ---------------------------------------------------------------- walk over the slots on a tick
  logic [6:0] walk_left_q;
  logic [5:0] walk_q;
  wire        walk   = walk_left_q != '0;
  // Excludes the slot whose reads are being made. But a slot that a request waits for must be released, whether it is
  // quarantined or the oldest of a full ring.
  wire        making = in_held && !full && walk_q == tail && !w_zombie;
  // Tags rest while a read that may be theirs still waits for the host, and a time-out from then on.
  wire        w_wait = walk && w_part != '0 && !making && !(w_zombie && rd_valid_o);
  wire        renew  = walk && w_zombie && rd_valid_o && !issue;
  // verilator lint_off UNUSEDSIGNAL
  wire [16:0] late   = now_i - deadline_q[walk_q];  // negative while there is time
  // verilator lint_on UNUSEDSIGNAL
  wire        over   = w_wait && !late[16];
  wire        w_busy = cpl_busy && stored == walk_q;
  logic       late_q, rested_q;  // so it was a cycle before, without a completion of it in progress; a zombie
  // A completion that comes has the event register and the slot first, a read that is issued the deadlines.
  wire        expire = late_q && !cpl_see && !cpl_event_valid_o && !raise && !w_busy && !issue;
  wire        forget = rested_q && !cpl_see && !cpl_busy;
  wire        tick   = tick_i && open_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walk_left_q <= '0;
      walk_q      <= '0;
      late_q      <= 1'b0;
      rested_q    <= 1'b0;
    end else begin
      late_q   <= over && !w_zombie && !w_busy && !expire;
      rested_q <= over && w_zombie && !w_busy && !forget;
      if (walk && (!over || expire || forget)) begin
        walk_q      <= walk_q + 1'b1;
        walk_left_q <= walk_left_q - 1'b1;
      end
      if (tick) walk_left_q <= 7'd64;
    end
  end

  // ---------------------------------------------------------------- state of slots and reads
  // State is read of these slots: the tail and the slot after it, the next slot (head_), the slot of a completion when
  // it arrives (c_) and when it is stored, and the slot of the walk.
  logic       tail_zombie, next_zombie, head_zombie, c_zombie, w_zombie;  // given up; its tags rest
  logic [1:0] head_part, c_part, stored_part, w_part;        // its reads that have not been answered in full
  logic [1:0] head_fault, c_fault, w_fault;                  // what went wrong since it was filled: timeout, host error
  logic [7:0] open_q;                                        // reads that have not been answered in full
  wire        closes  = c_end && last;
  wire        settles = closes && !(cpl_tag_q[0] ? stored_part[0] : stored_part[1]);
  flag_ram #(.DEPTH(64), .WRITERS(2), .READS(5)) u_zombie (
      .clk_i, .rst_ni, .we_i({settles, expire || forget}), .waddr_i({stored, walk_q}), .wdata_i({1'b0, expire}),
      .raddr_i({tail, tail_next[5:0], next, cslot, walk_q}),
      .rdata_o({tail_zombie, next_zombie, head_zombie, c_zombie, w_zombie}));
  // A slot is forgotten only while no completion is being stored.
  for (genvar i = 0; i < 2; i++) begin : gen_part
    wire over_now = forget || (closes && cpl_tag_q[0] == i[0]);
    flag_ram #(.DEPTH(64), .WRITERS(2), .READS(4)) u_part (
        .clk_i, .rst_ni, .we_i({over_now, issue && tag[0] == i[0]}), .waddr_i({cpl_busy ? stored : walk_q, tag[6:1]}),
        .wdata_i(2'b01), .raddr_i({next, cslot, stored, walk_q}),
        .rdata_o({head_part[i], c_part[i], stored_part[i], w_part[i]}));
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= '0;
    else open_q <= open_q + {7'd0, issue} - {7'd0, closes} - (forget ? {6'd0, &w_part, ^w_part} : 8'd0);
  end

  function automatic logic [3:0] status_of(input logic [3:0] filled, input logic [1:0] fault);
    status_of = filled != ggas_pkg::ST_OK ? filled : fault[0] ? ggas_pkg::ST_HOST_ERROR
                : fault[1] ? ggas_pkg::ST_TIMEOUT : ggas_pkg::ST_OK;
  endfunction
  wire [3:0] head_status = status_of(slot_q[next][50:47], head_fault);
  wire       head_good   = slot_q[next][50:47] == ggas_pkg::ST_OK && head_fault == '0;
  wire       c_good      = slot_q[cslot][50:47] == ggas_pkg::ST_OK && c_fault == '0;
  wire       w_spoils    = expire && slot_q[walk_q][50:47] == ggas_pkg::ST_OK && w_fault == '0;  // never with raise
  for (genvar i = 0; i < 2; i++) begin : gen_fault
    flag_ram #(.DEPTH(64), .WRITERS(2), .READS(3)) u_fault (
        .clk_i, .rst_ni, .we_i({i == 0 ? spoils : w_spoils, fill}), .waddr_i({i == 0 ? stored : walk_q, tail}),
        .wdata_i(2'b10), .raddr_i({next, cslot, walk_q}), .rdata_o({head_fault[i], c_fault[i], w_fault[i]}));
  end

  always_ff @(posedge clk_i) begin
    if (issue || expire || renew) deadline_q[issue ? tail : walk_q] <= now_i + {1'b0, cfg_timeout_i};
    if (fill) slot_q[tail] <= {fill_one, fill_status, fill_slot};
  end

  wire [31:0] walk_slot = slot_q[walk_q][39:8];
  wire [15:0] c_src     = slot_q[stored][39:24];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cpl_event_valid_o <= 1'b0;
      cpl_event_o       <= '0;
    end else begin
      if (cpl_event_ready_i) cpl_event_valid_o <= 1'b0;
      if (raise || w_spoils) cpl_event_valid_o <= 1'b1;
      // Whether there is an event at all is known late: it is prepared anyway.
      if (cpl_new_q) begin
        cpl_event_o.code  <= stray ? ggas_regs_pkg::EV_UNEXPECTED_CPL : ggas_regs_pkg::EV_TARGET_HOST_ERROR;
        cpl_event_o.node  <= stray ? 16'd0 : c_src;
        cpl_event_o.info  <= stray ? {33'd0, cpl_tag_q} : {37'd0, cpl_status_q};
      end else if (!cpl_event_valid_o) begin
        cpl_event_o.code  <= ggas_regs_pkg::EV_TARGET_TIMEOUT;
        cpl_event_o.node  <= walk_slot[31:16];
        cpl_event_o.info  <= {24'd0, walk_slot[15:0]};
      end
    end
  end

  // ---------------------------------------------------------------- data and answers
  logic          row_en, answer_busy;
  logic [5:0]    row_slot;
  logic [RW-1:0] row;
  smfu_rob_data #(.DATA_W(DATA_W)) u_data (
      .clk_i, .store_i(cpl_valid_q && store), .slot_i(cpl_tag_q[6:1]), .pos_i(cpl_pos_q), .left_i(cpl_left_q),
      .data_i(cpl_data_q), .re_i(row_en), .head_i(row_slot), .row_i(row), .data_o(tx_rsp_data_o));
  smfu_rob_answer #(.DATA_W(DATA_W)) u_answer (
      .clk_i, .rst_ni, .cfg_node_i, .tail_i(tail_q), .held_i(in_held), .oldest_o(oldest), .next_o(next),
      .slot_i(h_slot), .one_i(slot_q[next][67:51]), .status_i(head_status), .good_i(head_good),
      .done_i(head_zombie || head_part == '0),
      .reflush_o(reflush), .mark_i, .old_o, .row_en_o(row_en), .row_slot_o(row_slot), .row_o(row),
      .tx_rsp_valid_o(tx_rsp_o.valid), .tx_rsp_ready_i, .tx_rsp_sop_o(tx_rsp_o.sop), .tx_rsp_eop_o(tx_rsp_o.eop),
      .tx_rsp_hdr_o(tx_rsp_o.hdr), .cnt_target_loads_o, .busy_o(answer_busy));

  assign busy_o  = in_held || rd_valid_o || range_busy_o || cpl_busy || walk || answer_busy || req_event_valid_o
    || cpl_event_valid_o;
  assign timer_o = open_q != '0;
  assign reads_o = in_reads || timer_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && cpl_see) assert (tgt_cpl_i.sop);
`endif

endmodule

`default_nettype wire
