// SPDX-License-Identifier: Apache-2.0
// Loads and quiets at their target: checked in the first cycle, converted into reads of the exports from the second on
// (a quiet from the third on), as soon as smfu_rob has a free slot for them.
//
// * A refused one becomes an event, and an answer without a read; a packet of unknown kind only an event.
// * With MRRS = 128 a load takes two reads.
// * A quiet reads nothing. But after the writes it makes a flush, a zero-length read in a slot of its own without an
//   answer, of each export written since its last flush: exports may lie in different devices, where no read pushes the
//   writes to another.
`default_nettype none

module smfu_reads (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                cfg_ingress_i,
    input  wire logic [12:0]         cfg_mrrs_i,

    // the export of the load at the input, or of the next flush
    output      logic                ask_o,
    output      logic [7:0]          ask_export_o,
    input  wire logic                known_i,
    input  wire smfu_pkg::export_t   export_i,
    // to be flushed: a store was let in, or a flush failed
    input  wire logic                wrote_i,
    input  wire logic [5:0]          wrote_export_i,
    input  wire logic                reflush_i,
    input  wire logic [5:0]          reflush_export_i,

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

    // the slot of the request in progress
    input  wire logic                free_i,          // slot_i is free, its tags too
    input  wire logic [5:0]          slot_i,
    output      logic                held_o,          // there is a request in progress
    output      logic                reads_o,         // it passed its checks
    output      logic                fill_o,          // keep fill_slot_o and fill_status_o in slot_i
    // addr[11:7], whole, flush, src 16, tag 16, len_dw (flush: export) 7, quiet
    output      logic [46:0]         fill_slot_o,
    output      logic [3:0]          fill_status_o,
    output      logic [16:0]         fill_one_o,      // of a quiet: only stores of one domain were refused; that one
    output      logic                done_o,          // the last read of the slot was taken, or it needs none

    // reads; their tag is {slot, part}
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    output      logic [5:0]          rd_pos_o,        // DW of the answer where the read begins

    // TARGET_RANGE, BAD_PACKET
    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o
);

  // ---------------------------------------------------------------- first cycle: check
  logic        quiet_q, whole_q, second_q;
  logic [3:0]  status_q;
  logic [15:0] src_q, tag_q;
  logic [63:0] addr_q;             // bus address of the next read
  logic [6:0]  len_q;              // DW of all reads; of the next one; after it
  logic [6:0]  now_q, rest_q;
  logic [5:0]  pos_q;
  logic [3:0]  first_be_q, last_be_q;

  wire [10:0] len_dw   = rx_np_hdr_i.req_dw;
  wire        is_quiet = rx_np_hdr_i.op == ggas_pkg::OP_SMFU_QUIET;
  wire        sane     = is_quiet || (rx_np_hdr_i.op == ggas_pkg::OP_SMFU_LOAD && len_dw != '0
    && len_dw <= smfu_pkg::LOAD_DW
                         && rx_np_hdr_i.addr[1:0] == '0
                         && {5'd0, rx_np_hdr_i.addr[7:2]} + len_dw <= smfu_pkg::LOAD_DW
                         && smfu_pkg::be_good(rx_np_hdr_i.addr[2], len_dw, rx_np_hdr_i.first_be, rx_np_hdr_i.last_be));
  wire        allowed  = export_i.valid && export_i.right && rx_np_hdr_i.domain == export_i.domain
                         && rx_np_hdr_i.addr[63:12] < export_i.size;
  wire        ranged   = cfg_ingress_i && (is_quiet || allowed);
  wire        refuse   = !sane || !ranged;
  wire        take     = rx_np_valid_i && rx_np_ready_o && rx_np_sop_i;
  wire        op_known = is_quiet || rx_np_hdr_i.op == ggas_pkg::OP_SMFU_LOAD;
  logic       finish;                        // the hand is free in the next cycle
  assign rx_np_ready_o = (!held_o || finish) && !event_valid_o && !(is_quiet ? range_busy_o : !known_i);

  // ---------------------------------------------------------------- nodes that lost a store since their last quiet
  // The record of the node that sent a quiet is read one cycle after the quiet is accepted. The quiet is still in
  // progress then; its event waits for the record.
  logic            fresh_q;        // a quiet was taken in the last cycle
  logic            noted;          // its node lost a store; the event went with the store
  logic            note_q, mark_q; // range_node_q is to be looked up, and marked
  ggas_pkg::node_t range_node_q;
  logic            marked, from_node_q;
  wire             look = note_q && !fresh_q;
  wire             asks = rx_np_valid_i && is_quiet && !range_busy_o && !fresh_q;  // whether it is taken is known late
  wire             reported = fresh_q && from_node_q && noted;
  wire             late = fresh_q && (reported || status_q != ggas_pkg::ST_OK);
  assign range_busy_o = note_q || mark_q;
  localparam int unsigned PARTS = ggas_pkg::MAX_NODES < 1024 ? ggas_pkg::MAX_NODES / 4 : 256;
  rare_flags #(.DEPTH(ggas_pkg::MAX_NODES), .PARTS(PARTS)) u_lost (
      .clk_i, .rst_ni, .re_i(look || asks),
      .key_i(look ? range_node_q : rx_np_hdr_i.src[ggas_pkg::NODE_W-1:0]), .set_o(noted), .mark_i(mark_q),
      .marked_o(marked), .forget_i(reported));

  // Whether the refused stores were those of one domain or of several.
  logic [15:0] range_domain_q, noted_domain;
  logic        noted_several;
  logic [15:0] domain_q;
  logic        one_q;
  wire         more = noted && (noted_several || noted_domain != range_domain_q);
  ram_1r1w #(.WIDTH(17), .DEPTH(ggas_pkg::MAX_NODES)) u_whose (
      .clk_i, .we_i(mark_q && marked), .waddr_i(range_node_q), .wdata_i({more, range_domain_q}), .re_i(look || asks),
      .raddr_i(look ? range_node_q : rx_np_hdr_i.src[ggas_pkg::NODE_W-1:0]), .rdata_o({noted_several, noted_domain}));

  always_ff @(posedge clk_i) begin
    if (range_error_i) range_node_q <= range_node_i;
    if (range_error_i) range_domain_q <= range_domain_i;
    if (take) from_node_q <= ggas_pkg::is_node(rx_np_hdr_i.src);
    if (fresh_q) one_q <= reported && !noted_several && status_q == ggas_pkg::ST_OK;
    if (fresh_q) domain_q <= noted_domain;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fresh_q <= 1'b0;
      note_q  <= 1'b0;
      mark_q  <= 1'b0;
    end else begin
      fresh_q <= take && is_quiet;
      note_q  <= range_error_i || (note_q && !look);
      mark_q  <= look || (mark_q && !marked);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      event_valid_o <= 1'b0;
      event_o       <= '0;
    end else begin
      if (event_ready_i) event_valid_o <= 1'b0;
      if (late && !reported) event_valid_o <= 1'b1;
      if (take && refuse && !is_quiet) event_valid_o <= 1'b1;
      // That there is an event is known late: it is prepared before. That of a quiet waits for its node.
      if (!event_valid_o && !fresh_q) begin
        event_o.code  <= sane ? ggas_regs_pkg::EV_TARGET_RANGE : ggas_regs_pkg::EV_BAD_PACKET;
        event_o.node  <= rx_np_hdr_i.src;
        event_o.info  <= sane ? {rx_np_hdr_i.export_no, rx_np_hdr_i.addr[31:0]} : {32'd0, rx_np_hdr_i.op};
      end
    end
  end

  // ---------------------------------------------------------------- what a quiet flushes
  logic [63:0] dirty_q, flush_q;             // exports with writes to be flushed; by the quiet in progress
  logic        seek_q;                       // the next of them is looked for
  logic        flush_valid_q;                // flush_no_q is it; none: the quiet itself is next
  logic [5:0]  flush_no_q;
  wire         flushed = flush_valid_q && known_i && (issue || !export_i.valid);  // one taken back needs none
  assign ask_o        = flush_valid_q || (rx_np_valid_i && !is_quiet && !seek_q);
  assign ask_export_o = flush_valid_q ? {2'd0, flush_no_q} : rx_np_hdr_i.export_no;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      seek_q        <= 1'b0;
      flush_valid_q <= 1'b0;
    end else begin
      seek_q <= (take && is_quiet) || flushed;
      if (seek_q) flush_valid_q <= flush_q != '0;
      else if (flushed) flush_valid_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) if (seek_q) flush_no_q <= smfu_pkg::lowest(flush_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dirty_q <= '0;
      flush_q <= '0;
    end else begin
      if (flushed) flush_q[flush_no_q] <= 1'b0;
      if (take && is_quiet) begin
        flush_q <= cfg_ingress_i ? dirty_q : '0;
        if (cfg_ingress_i) dirty_q <= '0;
      end
      if (reflush_i) begin  // by the quiet in progress too, unless only its answer is still to come: it was reported
        flush_q[reflush_export_i] <= 1'b1;
        dirty_q[reflush_export_i] <= 1'b1;
      end
      if (wrote_i) dirty_q[wrote_export_i] <= 1'b1;
    end
  end

  // ---------------------------------------------------------------- second cycle: reads
  wire        half       = smfu_pkg::is_half(cfg_mrrs_i);  // the least MRRS is 128, too
  // verilator lint_off UNUSEDSIGNAL
  wire [10:0] chunk      = smfu_pkg::chunk_dw(rx_np_hdr_i.addr[7:2], len_dw, half);  // without half all of it
  // verilator lint_on UNUSEDSIGNAL
  wire        final_part = rest_q == '0;
  wire        open       = held_o && free_i && !seek_q;
  wire        wrong      = status_q != ggas_pkg::ST_OK;
  wire        reads      = flush_valid_q ? known_i && export_i.valid : !wrong && !quiet_q;
  wire        issue      = rd_valid_o && rd_ready_i;

  assign finish        = open && !flush_valid_q && (wrong || quiet_q || (rd_ready_i && final_part));
  assign done_o        = finish || (issue && flush_valid_q);
  assign fill_o        = open && !second_q;
  assign fill_slot_o   = {addr_q[11:7], whole_q, flush_valid_q, src_q, tag_q,
    flush_valid_q ? {1'b0, flush_no_q} : len_q, quiet_q};
  assign fill_one_o    = quiet_q && !flush_valid_q && one_q ? {1'b1, domain_q} : '0;
  assign fill_status_o = flush_valid_q ? ggas_pkg::ST_OK : status_q;
  assign rd_valid_o    = open && reads;
  assign reads_o       = held_o && (seek_q || flush_valid_q || !wrong);
  assign rd_pos_o      = pos_q;

  always_comb begin
    rd_hdr_o          = '0;
    rd_hdr_o.kind     = ggas_pkg::TLP_MRD;
    rd_hdr_o.bar      = 3'd7;
    rd_hdr_o.addr     = quiet_q ? {export_i.base, 12'd0} : addr_q;
    rd_hdr_o.len_dw   = {4'd0, now_q};
    rd_hdr_o.first_be = !second_q ? first_be_q : now_q == 7'd1 ? last_be_q : 4'hf;
    rd_hdr_o.last_be  = now_q == 7'd1 ? 4'h0 : final_part ? last_be_q : 4'hf;
    rd_hdr_o.tag      = {3'd0, slot_i, second_q};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_o     <= 1'b0;
      quiet_q    <= 1'b0;
      second_q   <= 1'b0;
      status_q   <= '0;
      src_q      <= '0;
      tag_q      <= '0;
      whole_q    <= 1'b0;
      addr_q     <= '0;
      len_q      <= '0;
      now_q      <= '0;
      rest_q     <= '0;
      pos_q      <= '0;
      first_be_q <= '0;
      last_be_q  <= '0;
    end else begin
      if (finish) begin
        held_o   <= 1'b0;
      end else if (issue && !quiet_q) begin
        second_q <= 1'b1;
        addr_q   <= addr_q + {55'd0, now_q, 2'b00};
        now_q    <= rest_q;
        rest_q   <= '0;
        pos_q    <= now_q[5:0];
      end
      if (reported) status_q <= ggas_pkg::ST_RANGE;
      // A packet of no known kind gets no answer: no one waits for it.
      if (take && op_known) begin
        held_o     <= 1'b1;
        quiet_q    <= is_quiet;
        second_q   <= 1'b0;
        status_q   <= refuse ? ggas_pkg::ST_RANGE : ggas_pkg::ST_OK;
        src_q      <= rx_np_hdr_i.src;
        tag_q      <= rx_np_hdr_i.tag;
        whole_q    <= rx_np_hdr_i.whole;
        addr_q     <= {export_i.base, 12'd0} + rx_np_hdr_i.addr;
        len_q      <= is_quiet ? 7'd1 : len_dw[6:0];
        now_q      <= is_quiet ? 7'd1 : chunk[6:0];
        rest_q     <= is_quiet ? 7'd0 : len_dw[6:0] - chunk[6:0];
        pos_q      <= '0;
        first_be_q <= is_quiet ? 4'h0 : rx_np_hdr_i.first_be;
        last_be_q  <= is_quiet ? 4'h0 : rx_np_hdr_i.last_be;
      end
    end
  end

endmodule

`default_nettype wire
