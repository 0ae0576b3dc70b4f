// SPDX-License-Identifier: Apache-2.0
// Matching store: the state for the completions of host loads, from the load's first chunk to its last answer. One
// entry a load: its chunks are answered in order, so the entry needs only the remaining part. An answer names its
// chunk: if it is not the next one an answer was lost, and the load ends. The network tag is slot and round, so an
// answer that arrives after the slot was given up is recognised. An error ends the load: its remaining part goes to
// smfu_ones, and answers still in flight are discarded.
`default_nettype none

module smfu_match #(
    parameter int unsigned DATA_W = 64
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [16:0]         now_i,           // ticks
    input  wire logic                tick_i,          // this cycle begins a tick
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [15:0]         cfg_timeout_i,   // ticks
    input  wire logic                lost_i,          // the route to every other node broke

    // a new load
    input  wire logic                alloc_valid_i,
    output      logic                alloc_ready_o,
    output      logic [15:0]         alloc_tag_o,
    output      logic                alloc_live_o,    // the entry taken last still waits
    input  wire logic [15:0]         req_requester_i,
    input  wire logic [9:0]          req_tag_i,
    input  wire logic [2:0]          req_attr_i,
    // low bits of the window offset; it cuts chunks as the segment offset does
    input  wire logic [7:2]          req_addr_i,
    input  wire logic [11:7]         req_piece_i,     // bits of the segment offset
    input  wire logic [10:0]         req_len_dw_i,
    input  wire logic [3:0]          req_first_be_i,
    input  wire logic [3:0]          req_last_be_i,
    input  wire ggas_pkg::node_t     req_node_i,
    input  wire logic [6:0]          req_interval_i,
    input  wire logic                req_half_i,      // its chunks end at multiples of 128 bytes, else of 256

    // packets
    input  wire ggas_pkg::net_beat_t rx_rsp_i,
    output      logic                rx_rsp_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [DATA_W-1:0]   rx_rsp_data_i,

    // the header in progress; SMFU_QUIET_RSP: known to smfu_quiet?, not to be taken yet?, and taken
    output      ggas_pkg::net_hdr_t  rsp_hdr_o,
    input  wire logic                quiet_known_i,
    input  wire logic                quiet_wait_i,
    output      logic                quiet_rsp_o,

    // completions
    output      logic                cpl_valid_o,
    input  wire logic                cpl_ready_i,
    output      logic                cpl_sop_o,
    output      logic                cpl_eop_o,
    output      ggas_pkg::tlp_hdr_t  cpl_hdr_o,
    output      logic [DATA_W-1:0]   cpl_data_o,
    // a load that failed, after its completions
    output      logic                failed_valid_o,
    input  wire logic                failed_ready_i,
    output      smfu_pkg::left_t     failed_o,

    // LOAD_TIMEOUT, LOAD_REMOTE_ERROR, UNEXPECTED_RSP, BAD_PACKET
    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o,
    output      logic [6:0]          event_interval_o,
    output      logic                busy_o,
    output      logic                timer_o
);

  // ---------------------------------------------------------------- entries
  localparam int unsigned ENTRY_W = 109 + ggas_pkg::NODE_W;
  logic [ENTRY_W-1:0] entry_q [64];
  logic [63:0]         live_q;
  logic [14:0]        next_q;      // round 9, slot 6 of the next entry

  logic [8:0]  e_round;
  logic [15:0] e_requester;
  logic [9:0]  e_tag;
  logic [2:0]  e_attr;
  ggas_pkg::node_t e_node;
  logic [16:0] e_deadline;
  logic        e_failed;           // it was reported: swallow what comes
  logic [12:0] e_bytes;            // still to deliver
  logic [10:0] e_dw;
  logic [7:0]  e_addr;             // low bits, of the first enabled byte
  logic [6:0]  e_interval;
  logic [4:0]  e_piece;            // bits 11:7 of the segment offset of the next answer
  logic        e_half;             // its chunks end at multiples of 128 bytes
  logic [6:0]  e_chunk;            // DW of the next answer
  logic        e_final;            // it is the last one
  logic        e_live, e_known;    // the entry is in use; by the load that the answer in progress is for
  logic        e_length, e_next;   // the answer has that length; is of that chunk

  // ---------------------------------------------------------------- walk over the entries on a tick or a broken route
  logic       flush_q, found_q;  // entries of other nodes are over; walk_slot_q is over
  logic [6:0] walk_left_q;       // slots to visit
  logic [5:0] walk_slot_q;
  wire        walk = walk_left_q != '0;

  localparam logic [1:0] S_IDLE = 2'd0, S_PASS = 2'd1, S_ERROR = 2'd2, S_DROP = 2'd3;
  logic [1:0] state_q;

  // ---------------------------------------------------------------- arrival of answers
  // Each beat passes a register. With the first beat the entry is read; it is checked in the next cycle. The walk reads
  // entries in the same way, in cycles in which no answer needs one.
  logic              q_valid_q, q_sop_q, q_eop_q;
  logic              is_load_q, is_quiet_q, ok_q;  // of the header: its op, its status
  ggas_pkg::net_hdr_t q_hdr_q;
  logic [DATA_W-1:0] q_data_q;
  logic              visited_q;    // e_* is of walk_slot_q
  logic              q_leaves;
  wire               q_head   = q_valid_q && q_sop_q;
  wire               rsp      = q_head && state_q == S_IDLE;
  wire               comes    = rx_rsp_i.valid && rx_rsp_i.sop;
  wire               load     = comes && rx_rsp_ready_o;
  logic              over;         // the visited one
  wire               visit    = walk && !found_q && !q_head && !comes && !(visited_q && (over || walk_left_q == 7'd1));
  wire               walk_now = visited_q && !comes;
  wire [5:0]         slot     = q_head ? q_hdr_q.tag[5:0] : walk_slot_q;
  wire [5:0]         read_at  = comes ? rx_rsp_i.hdr.tag[5:0] : walk_slot_q + {5'd0, visited_q};
  assign rx_rsp_ready_o = (!q_valid_q || q_leaves) && !(found_q && rx_rsp_i.sop);
  assign rsp_hdr_o      = q_hdr_q;

  // The answer in progress may belong to the same load. Then the entry is read while it is written; the owner in it
  // does not change.
  logic [ENTRY_W-1:0] entry, entry_d;
  logic               bypass;
  logic [6:0]         next_chunk;
  logic [4:0]         next_piece;
  assign entry = comes || walk ? entry_q[read_at] : '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      q_valid_q <= 1'b0;
      visited_q <= 1'b0;
    end else begin
      if (!q_valid_q || q_leaves) q_valid_q <= rx_rsp_i.valid && rx_rsp_ready_o;
      visited_q <= visit;
    end
  end
  always_ff @(posedge clk_i) begin
    if (rx_rsp_i.valid && rx_rsp_ready_o) begin
      q_sop_q  <= rx_rsp_i.sop;
      q_eop_q  <= rx_rsp_i.eop;
      q_hdr_q  <= rx_rsp_i.hdr;
      is_load_q  <= rx_rsp_i.hdr.op == ggas_pkg::OP_SMFU_LOAD_RSP;
      is_quiet_q <= rx_rsp_i.hdr.op == ggas_pkg::OP_SMFU_QUIET_RSP;
      ok_q       <= rx_rsp_i.hdr.status == ggas_pkg::ST_OK;
      q_data_q <= rx_rsp_data_i;
    end
    if (load || visit) begin
      {e_round, e_requester, e_tag, e_attr, e_node, e_deadline, e_failed, e_bytes, e_dw, e_addr, e_interval,
        e_piece, e_half, e_chunk, e_final} <= bypass ? entry_d : entry;
      e_live  <= live_q[read_at];
      e_known <= rx_rsp_i.hdr.op == ggas_pkg::OP_SMFU_LOAD_RSP && !rx_rsp_i.hdr.tag[15]
        && rx_rsp_i.hdr.tag[14:6] == entry[ENTRY_W-1-:9] && live_q[read_at] && !(bypass && e_final)
        && rx_rsp_i.hdr.src == ggas_pkg::node_number(entry[ENTRY_W-39-:ggas_pkg::NODE_W]);
      e_length <= rx_rsp_i.hdr.len_dw == {4'd0, bypass ? next_chunk : entry[7:1]};
      e_next   <= rx_rsp_i.hdr.addr[11:7] == (bypass ? next_piece : entry[13:9]);
    end
  end

  // verilator lint_off UNUSEDSIGNAL
  wire [16:0] late    = now_i - e_deadline;  // negative while there is time
  // verilator lint_on UNUSEDSIGNAL
  wire        flushed = flush_q && ggas_pkg::node_number(e_node) != cfg_node_i;
  assign      over    = e_live && (flushed || !late[16]);

  // ---------------------------------------------------------------- decision about an answer, or an entry that is over
  wire [10:0] chunk    = {4'd0, e_chunk};
  wire [12:0] bytes    = {chunk, 2'b00} - {11'd0, e_addr[1:0]};  // but for the last one

  wire known    = rsp && e_known;
  wire fits_it  = ok_q && e_length && e_next;
  wire fails    = known && !e_failed && !fits_it;
  wire good     = known && !e_failed && !fails;
  wire strange  = is_quiet_q ? !quiet_known_i : !known;
  wire wants_event = rsp ? (strange || fails) : !e_failed;

  wire giveup   = state_q == S_IDLE && found_q && (!event_valid_o || e_failed);
  wire silent   = is_quiet_q ? quiet_known_i : e_known && (e_failed || fits_it);
  wire answer   = rsp && (!event_valid_o || silent) && !(is_quiet_q ? quiet_wait_i : !room);
  wire raise    = (giveup || answer) && wants_event;
  assign quiet_rsp_o = answer && is_quiet_q && quiet_known_i;

  wire write_back = answer && known;
  assign bypass      = write_back && rx_rsp_i.hdr.tag[5:0] == slot && comes;
  wire release_it = giveup || (write_back && e_final);

  // ---------------------------------------------------------------- entry RAM: one write a cycle
  wire [5:0] next_slot = next_q[5:0];
  assign alloc_ready_o = !live_q[next_slot] && !known && !flush_q && !lost_i;
  assign alloc_tag_o   = {1'b0, next_q};
  wire alloc = alloc_valid_i && alloc_ready_o;
  wire [16:0] deadline = now_i + {1'b0, cfg_timeout_i};
  wire [7:2]  chunk_end = e_addr[7:2] + chunk[5:0];
  // The length of a chunk follows from where it starts, as in smfu_loads.
  wire [10:0] rest      = e_dw - chunk;
  wire [6:0]  block     = e_half ? 7'd32 : 7'd64;
  wire        fits      = rest <= {4'd0, block};
  // All chunks but the first one begin at a multiple of it.
  assign      next_piece  = (e_piece | {4'd0, !e_half}) + 5'd1;
  assign      next_chunk  = fits ? rest[6:0] : block;
  wire [10:0] first_chunk = smfu_pkg::chunk_dw(req_addr_i, req_len_dw_i, req_half_i);

  assign entry_d = {e_round, e_requester, e_tag, e_attr, e_node, deadline, e_failed || fails, e_bytes - bytes, rest,
    {chunk_end, 2'b00}, e_interval, next_piece, e_half, next_chunk, fits};
  // A load gets no entry while an answer may need the RAM. It is known late whether an answer needs it and whether
  // there is a load. So the next entry is written whenever a load could get it; the contents of an entry that is not
  // live do not matter.
  wire [ENTRY_W-1:0] entry_new = {next_q[14:6], req_requester_i, req_tag_i, req_attr_i, req_node_i, deadline, 1'b0,
    smfu_pkg::byte_count(req_len_dw_i, req_first_be_i, req_last_be_i), req_len_dw_i,
    {req_addr_i, smfu_pkg::be_first(req_first_be_i)}, req_interval_i, req_piece_i, req_half_i, first_chunk[6:0],
    first_chunk == req_len_dw_i};
  always_ff @(posedge clk_i) begin
    if (write_back || alloc_ready_o) entry_q[known ? slot : next_slot] <= known ? entry_d : entry_new;
  end

  logic [5:0] last_slot_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      live_q       <= '0;
      next_q       <= '0;
      last_slot_q  <= '0;
      alloc_live_o <= 1'b0;
    end else begin
      if (release_it) begin
        live_q[slot] <= 1'b0;
        if (slot == last_slot_q) alloc_live_o <= 1'b0;
      end
      if (alloc) begin
        live_q[next_slot] <= 1'b1;
        last_slot_q       <= next_slot;
        alloc_live_o      <= 1'b1;
      end
      // A slot that still waits is left out of this round.
      if (alloc_valid_i && (alloc || live_q[next_slot])) next_q <= next_q + 15'd1;
    end
  end

  // Every trigger asks for one more whole round; ticks are 1024 cycles apart, so a round ends before the next.
  wire trigger = (tick_i || lost_i) && live_q != '0;
  wire step    = giveup || (walk_now && !over);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      flush_q     <= 1'b0;
      found_q     <= 1'b0;
      walk_left_q <= '0;
      walk_slot_q <= '0;
    end else begin
      if (giveup) found_q <= 1'b0;
      else if (walk_now && over) found_q <= 1'b1;
      if (step) walk_slot_q <= walk_slot_q + 1'b1;
      if (trigger) walk_left_q <= 7'd64;
      else if (step) walk_left_q <= walk_left_q - 1'b1;
      if (trigger && lost_i) flush_q <= 1'b1;
      else if (!trigger && step && walk_left_q == 7'd1) flush_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- completion and event
  // A packet is checked with its first beat. Its beats pass a register, so that the next packet is checked as soon as
  // the last of them is in it. Whether there is room for one also comes from a register.
  logic drop_q;  // after the failure: the rest of the packet
  logic room;
  wire  pass = q_valid_q && room && state_q == S_PASS;
  wire  more = !q_eop_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= S_IDLE;
      drop_q  <= 1'b0;
    end else begin
      case (state_q)
        S_IDLE: begin
          drop_q <= rsp && more;
          if (giveup && !e_failed || answer && fails) state_q <= S_ERROR;
          else if (answer && more) state_q <= good ? S_PASS : S_DROP;
        end
        S_ERROR: if (failed_valid_o && failed_ready_i) state_q <= drop_q ? S_DROP : S_IDLE;
        default: if (q_valid_q && q_leaves && !more) state_q <= S_IDLE;
      endcase
    end
  end

  logic [6:0]  cpl_chunk, cpl_lower;
  logic [9:0]  cpl_tag;
  logic [15:0] cpl_requester;
  logic [12:0] cpl_bytes;
  logic [2:0]  cpl_attr;
  skid #(.WIDTH(58 + DATA_W)) u_cpl (
      .clk_i, .rst_ni, .in_valid_i(pass || (answer && good)), .in_ready_o(room),
      .in_data_i({!pass, q_eop_q, e_chunk, e_tag, e_requester, e_bytes, e_addr[6:0], e_attr, q_data_q}),
      .out_valid_o(cpl_valid_o), .out_ready_i(cpl_ready_i),
      .out_data_o({cpl_sop_o, cpl_eop_o, cpl_chunk, cpl_tag, cpl_requester, cpl_bytes, cpl_lower, cpl_attr,
        cpl_data_o}));
  always_comb begin
    cpl_hdr_o            = '0;
    cpl_hdr_o.kind       = ggas_pkg::TLP_CPLD;
    cpl_hdr_o.bar        = 3'd7;
    cpl_hdr_o.len_dw     = {4'd0, cpl_chunk};
    cpl_hdr_o.tag        = cpl_tag;
    cpl_hdr_o.requester  = cpl_requester;
    cpl_hdr_o.status     = ggas_pkg::CPL_SC;
    cpl_hdr_o.byte_count = cpl_bytes;
    cpl_hdr_o.lower_addr = cpl_lower;
    cpl_hdr_o.attr       = cpl_attr;
  end
  always_ff @(posedge clk_i) if (answer || giveup) failed_o <= {e_requester, e_tag, e_attr, e_bytes, e_dw, e_addr};

  assign failed_valid_o = state_q == S_ERROR && !cpl_valid_o;
  assign q_leaves       = state_q == S_DROP || pass || answer;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      event_valid_o <= 1'b0;
      event_o       <= '0;
      event_interval_o <= '0;
    end else begin
      if (event_valid_o && event_ready_i) event_valid_o <= 1'b0;
      if (raise) begin
        event_valid_o <= 1'b1;
        event_interval_o <= giveup || known ? e_interval : smfu_pkg::NO_INTERVAL;
        event_o.node  <= rsp ? q_hdr_q.src : ggas_pkg::node_number(e_node);
        if (giveup && flushed) begin
          event_o.code <= ggas_regs_pkg::EV_LOAD_REMOTE_ERROR;
          event_o.info <= {36'd0, ggas_pkg::ST_LINK_DOWN};
        end else if (giveup || fails && ok_q && !e_next) begin
          event_o.code <= ggas_regs_pkg::EV_LOAD_TIMEOUT;
          event_o.info <= {25'd0, e_round, slot};
        end else if (!is_load_q && !is_quiet_q || fails && ok_q) begin
          event_o.code <= ggas_regs_pkg::EV_BAD_PACKET;
          event_o.info <= {32'd0, q_hdr_q.op};
        end else if (strange) begin
          event_o.code <= ggas_regs_pkg::EV_UNEXPECTED_RSP;
          event_o.info <= {24'd0, q_hdr_q.tag};
        end else begin
          event_o.code <= ggas_regs_pkg::EV_LOAD_REMOTE_ERROR;
          event_o.info <= {36'd0, q_hdr_q.status};
        end
      end
    end
  end

  assign busy_o  = state_q != S_IDLE || q_valid_q || cpl_valid_o || walk || event_valid_o || lost_i;
  assign timer_o = live_q != '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && state_q == S_IDLE && q_valid_q) assert (q_sop_q);
`endif

endmodule

`default_nettype wire
