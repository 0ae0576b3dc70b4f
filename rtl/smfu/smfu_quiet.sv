// SPDX-License-Identifier: Apache-2.0
// Quiet: a host read that completes when every store before it is visible at its target.
//
// * One round at a time asks every node that got stores since it was last asked (smfu_dirty), and after a store to a
//   group all nodes, by their numbers; further reads wait in order.
// * The answer is an ST_* that hit a store or a round since the last answer to the same page, so a page never takes an
//   error from another one (smfu_errors).
// * If no more nodes can be listed a round is made without a read, and stores wait for its end.
// * A fence is a quiet of another unit: it covers the stores accepted before it. Its answer is that of the next read of
//   the page, which still returns it: an error is cleared only when it was reported to the page itself.
`default_nettype none

module smfu_quiet #(
    parameter int unsigned DEPTH = 4  // reads that wait, a power of two
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [16:0]         now_i,           // ticks
    input  wire logic                tick_i,
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [15:0]         cfg_timeout_i,   // ticks
    input  wire logic [15:0]         peer_node_i,
    input  wire logic                peer_valid_i,
    input  wire logic                link_up_i,
    input  wire logic                lost_i,          // the route to every other node broke
    input  wire ggas_pkg::context_write_t context_i,

    // stores
    output      logic                room_o,          // one may go; stays until it does
    input  wire logic                sent_i,
    input  wire logic                sent_all_i,      // it went to a group
    input  wire ggas_pkg::node_t     sent_node_i,
    input  wire logic                failed_i,
    input  wire logic [3:0]          failed_status_i,
    input  wire logic [15:0]         failed_domain_i,

    // quiet reads
    input  wire logic                req_valid_i,
    output      logic                req_ready_o,
    input  wire logic [15:0]         req_requester_i,
    input  wire logic [9:0]          req_tag_i,
    input  wire logic [2:0]          req_attr_i,
    input  wire logic [7:0]          req_page_i,      // page of BAR4
    input  wire logic [6:2]          req_addr_i,
    input  wire logic [10:0]         req_len_dw_i,
    input  wire logic [3:0]          req_first_be_i,
    input  wire logic [3:0]          req_last_be_i,

    // fence: pulse, not again before its answer (pulse); stores before us, as in smfu_loads
    input  wire logic                fence_i,
    input  wire logic [7:0]          fence_page_i,    // of BAR4
    input  wire logic [2:0]          p_inflight_i,
    input  wire logic                p_done_i,
    output      logic                fence_done_o,
    output      logic [3:0]          fence_status_o,

    // SMFU_QUIET
    output      logic                np_valid_o,
    input  wire logic                np_ready_i,
    output      ggas_pkg::net_hdr_t  np_hdr_o,

    // SMFU_QUIET_RSP: the header that starts in this cycle; the header in progress, whether it is expected, whether it
    // must wait, and when it is accepted
    input  wire logic                arrive_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::net_hdr_t  arrive_hdr_i,
    input  wire ggas_pkg::net_hdr_t  rsp_hdr_i,
    // verilator lint_on UNUSEDSIGNAL
    output      logic                rsp_known_o,
    output      logic                rsp_wait_o,
    input  wire logic                rsp_i,

    // completion, one beat
    output      logic                cpl_valid_o,
    input  wire logic                cpl_ready_i,
    output      ggas_pkg::tlp_hdr_t  cpl_hdr_o,
    output      logic [63:0]         cpl_data_o,

    // QUIET_FAILED
    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o,
    output      logic                busy_o,
    output      logic                timer_o
);

  localparam int unsigned AW    = $clog2(DEPTH);
  localparam int unsigned REQ_W = 59;

  // ---------------------------------------------------------------- waiting reads: what their completion needs
  logic [REQ_W-1:0] req_q [DEPTH];
  logic [AW:0]      wr_q, rd_q;
  wire [AW:0]       used  = wr_q - rd_q;
  wire [12:0]       bytes = smfu_pkg::byte_count(req_len_dw_i, req_first_be_i, req_last_be_i);
  assign req_ready_o = !used[AW];

  always_ff @(posedge clk_i) begin
    if (req_valid_i && req_ready_o) begin
      req_q[wr_q[AW-1:0]] <= {req_requester_i, req_tag_i, req_attr_i, req_len_dw_i[1:0], bytes,
                              req_page_i, req_addr_i, smfu_pkg::be_first(req_first_be_i)};
    end
  end

  // The oldest of them.
  logic [15:0] c_requester;
  logic [9:0]  c_tag;
  logic [2:0]  c_attr;
  logic [1:0]  c_len;
  logic [12:0] c_bytes;
  logic [7:0]  c_page;
  logic [6:0]  c_lower;
  assign {c_requester, c_tag, c_attr, c_len, c_bytes, c_page, c_lower} = req_q[rd_q[AW-1:0]];

  // ---------------------------------------------------------------- the fence that waits
  // Stores that were accepted before the fence leave before its round begins, and so they are in the list.
  logic       fence_q, serve_fence_q;  // there is one; the round is for it
  logic [2:0] fence_mark_q;            // stores in front of it
  logic [7:0] fence_page_q;
  wire        fences = fence_q && fence_mark_q == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fence_q      <= 1'b0;
      fence_mark_q <= '0;
    end else begin
      fence_q <= fence_i || (fence_q && !fence_done_o);
      if (fence_i) fence_mark_q <= p_inflight_i - {2'd0, p_done_i};
      else if (p_done_i && fence_mark_q != '0) fence_mark_q <= fence_mark_q - 1'b1;
    end
  end
  always_ff @(posedge clk_i) if (fence_i) fence_page_q <= fence_page_i;

  // ---------------------------------------------------------------- the round
  // Asks entry by entry; then waits. Nodes that have not answered by the time-out, or before their route broke, are
  // reported in a sweep over the entries.
  localparam logic [2:0] S_IDLE = 3'd0, S_ASK = 3'd1, S_WAIT = 3'd2, S_SWEEP = 3'd3, S_DONE = 3'd4;
  localparam int unsigned NW = $clog2(smfu_pkg::DIRTY_NODES);
  localparam int unsigned ROUND_W = 15 - NW;
  logic [2:0]         state_q;
  logic               reply_q;      // a read waits for this round
  logic [NW:0]        at_q;         // entry that is asked, or swept
  logic [NW:0]        waiting_q;    // entries that have not answered
  logic               late_q;       // its time is over
  logic               broken_q;     // the route to every other node broke in it
  logic               swept_q;      // and they were swept
  logic [ROUND_W-1:0] round_q;
  logic [16:0]        deadline_q;

  // verilator lint_off UNUSEDSIGNAL
  wire [16:0]      late     = now_i - deadline_q;  // negative while there is time
  // verilator lint_on UNUSEDSIGNAL
  logic            rsp_bad_q;
  logic            listed, room, dirty_busy, at_waits, rsp_waits;
  logic [NW:0]     list_first, list_stop;
  ggas_pkg::node_t at_listed, rsp_listed;
  wire             reads    = used != '0;
  wire             start    = state_q == S_IDLE && (reads || fences || !room);
  wire             finish   = cpl_valid_o && cpl_ready_i;
  wire             running  = state_q == S_ASK || state_q == S_WAIT || state_q == S_SWEEP;
  wire             quiet    = waiting_q == '0 && !rsp_bad_q;  // all answers are in found_q and one_q
  wire             sweeps   = late_q || (broken_q && !swept_q);
  wire             ends     = state_q == S_WAIT && quiet;

  // After a store to a group entries are numbers: 0 to that of the last node.
  logic            group_q, all_q;  // one went since the last round began; before this round
  logic [NW-1:0]   last_q;          // number of the last node
  wire             any       = listed || group_q;
  wire [NW:0]      first     = all_q ? '0 : list_first;
  wire [NW:0]      stop      = all_q ? {1'b0, last_q} + 1'b1 : list_stop;
  wire [15:0]      node      = all_q ? {{(16 - NW) {1'b0}}, at_q[NW-1:0]} : ggas_pkg::node_number(at_listed);
  wire [NW-1:0]    arrive_at = arrive_hdr_i.tag[NW-1:0];
  wire [15:0]      rsp_node  = all_q ? {{(16 - NW) {1'b0}}, arrive_at} : ggas_pkg::node_number(rsp_listed);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      group_q <= 1'b0;
      all_q   <= 1'b0;
    end else if (ggas_pkg::GROUPS > 0) begin
      group_q <= (sent_i && sent_all_i) || (group_q && !start);
      if (start) all_q <= group_q;
    end
  end
  always_ff @(posedge clk_i) if (start) last_q <= peer_node_i[NW-1:0];

  wire             on_entry = at_q != stop;
  wire             cut_off  = broken_q && node != cfg_node_i;
  wire             asking   = state_q == S_ASK && on_entry;
  wire             reach    = smfu_pkg::reachable(node, cfg_node_i, peer_node_i, peer_valid_i, link_up_i)
                              && !cut_off && !late_q;
  wire             np_free  = !np_valid_o || np_ready_i;
  wire             asked    = asking && reach && !lost_i && np_free;
  wire             gives_up = state_q == S_SWEEP && on_entry && at_waits && (cut_off || late_q);
  // An error that an answer brings is reported in the cycle after it, before any other.
  logic [3:0]      rsp_status_q;
  logic [15:0]     rsp_src_q, rsp_domain_q;
  logic            rsp_one_q;       // it concerns that domain alone
  wire             rsp_bad  = rsp_known_o && rsp_hdr_i.status != ggas_pkg::ST_OK;  // in progress
  wire             may_raise = !event_valid_o && !rsp_bad && !rsp_bad_q;
  wire             given_up = gives_up && may_raise;
  wire             refused  = asking && !reach && may_raise;
  wire             step     = asked || refused || (state_q == S_SWEEP && on_entry && (!gives_up || given_up));
  wire             raises     = refused || given_up || rsp_bad_q;
  wire [3:0]       status   = rsp_bad_q ? rsp_status_q : late_q ? ggas_pkg::ST_TIMEOUT : cut_off ?
                              ggas_pkg::ST_LINK_DOWN : smfu_pkg::unreachable_status(node, peer_node_i, peer_valid_i);

  smfu_dirty #(.ENTRIES(smfu_pkg::DIRTY_NODES)) u_dirty (
      .clk_i, .rst_ni, .room_o(room), .sent_i(sent_i && !sent_all_i), .sent_node_i, .start_i(start), .any_o(listed),
      .first_o(list_first), .end_o(list_stop), .drop_i(ends), .walk_i(at_q[NW-1:0]), .walk_node_o(at_listed),
      .look_i(arrive_at), .look_node_o(rsp_listed), .busy_o(dirty_busy));
  flag_ram #(.DEPTH(smfu_pkg::DIRTY_NODES), .WRITERS(2), .READS(2)) u_waits (
      .clk_i, .rst_ni, .we_i({rsp_i, asked || given_up}), .waddr_i({rsp_hdr_i.tag[NW-1:0], at_q[NW-1:0]}),
      .wdata_i({1'b0, asked}), .raddr_i({arrive_at, at_q[NW-1:0]}), .rdata_o({rsp_waits, at_waits}));

  assign room_o      = room;
  // An answer is looked up as it comes. Two of the same entry may follow each other: the second one is unexpected.
  logic            known_q, away_q;  // it was awaited, and still is; it is of another node
  wire             awaited = arrive_hdr_i.tag[15:NW] == {1'b1, round_q} && arrive_hdr_i.src == rsp_node && rsp_waits
    && !(rsp_i && arrive_at == rsp_hdr_i.tag[NW-1:0]);
  always_ff @(posedge clk_i) begin
    known_q <= arrive_i ? awaited : rsp_known_o;
    if (arrive_i) away_q <= arrive_hdr_i.src != cfg_node_i;
  end
  assign rsp_known_o = known_q && !late_q && !(broken_q && away_q);
  assign rsp_wait_o  = rsp_bad && (event_valid_o || rsp_bad_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rsp_bad_q <= 1'b0;
    else rsp_bad_q <= rsp_i && rsp_bad;
  end
  always_ff @(posedge clk_i) begin
    rsp_status_q <= rsp_hdr_i.status;
    rsp_src_q    <= rsp_hdr_i.src;
    rsp_domain_q <= rsp_hdr_i.domain;
    rsp_one_q    <= rsp_hdr_i.addr[0];
  end
  // A register, as loads look at np_valid_o before they leave.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) np_valid_o <= 1'b0;
    else if (np_free) np_valid_o <= asked;
  end
  always_ff @(posedge clk_i) begin
    if (np_free) begin
      np_hdr_o     <= '0;
      np_hdr_o.op  <= ggas_pkg::OP_SMFU_QUIET;
      np_hdr_o.dst <= node;
      np_hdr_o.src <= cfg_node_i;
      np_hdr_o.vc  <= ggas_pkg::VC_NP;
      np_hdr_o.tag <= {1'b1, round_q, at_q[NW-1:0]};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= S_IDLE;
      reply_q    <= 1'b0;
      at_q       <= '0;
      waiting_q  <= '0;
      late_q     <= 1'b0;
      broken_q   <= 1'b0;
      swept_q    <= 1'b0;
      round_q    <= '0;
      deadline_q <= '0;
      wr_q       <= '0;
      rd_q       <= '0;
    end else begin
      if (req_valid_i && req_ready_o) wr_q <= wr_q + 1'b1;
      if (finish) rd_q <= rd_q + 1'b1;
      waiting_q <= waiting_q + {{NW{1'b0}}, asked} - {{NW{1'b0}}, rsp_i} - {{NW{1'b0}}, given_up};
      if (step) at_q <= at_q + 1'b1;
      if (running && tick_i && !late[16]) late_q <= 1'b1;
      if (running && lost_i) broken_q <= 1'b1;
      case (state_q)
        S_IDLE: if (start) begin
          state_q    <= any ? S_ASK : S_WAIT;
          reply_q    <= reads || fences;
          at_q       <= group_q ? '0 : list_stop;
          round_q    <= round_q + 1'b1;
          deadline_q <= now_i + {1'b0, cfg_timeout_i};
          late_q     <= 1'b0;
          broken_q   <= 1'b0;
          swept_q    <= 1'b0;
        end
        S_ASK:  if (!on_entry) state_q <= S_WAIT;
        S_WAIT:
          if (quiet) state_q <= reply_q ? S_DONE : S_IDLE;
          else if (sweeps) begin
            state_q <= S_SWEEP;
            at_q    <= first;
          end
        S_SWEEP: if (!on_entry) begin
          state_q <= S_WAIT;
          swept_q <= 1'b1;
        end
        default: if (cpl_ready_i || serve_fence_q) state_q <= S_IDLE;
      endcase
    end
  end

  // A fence comes first. None waits in the cycle after its round, so reads that wait have the next one.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) serve_fence_q <= 1'b0;
    else if (start) serve_fence_q <= fences;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && fence_i) assert (!fence_q);
    if (rst_ni && behind_q) assert (!one_rsp && !failed_i);  // neither comes in two cycles in a row
  end
`endif

  // A store counts as dirty from its first beat on; one that was in flight when the route broke may be lost.
  logic [3:0]  found_q, one_q; // errors of the last cycle: of all, of a domain
  logic [15:0] one_domain_q;
  logic        others_q;       // a store of another node, since the last round began
  logic        behind_q;       // a store failed as an answer brought an error of a domain: it comes after that
  logic [3:0]  behind_status_q;
  logic [15:0] behind_domain_q;
  wire         other     = sent_i && (sent_all_i || ggas_pkg::node_number(sent_node_i) != cfg_node_i);
  wire         lost_some = lost_i && others_q;
  wire         one_rsp   = rsp_bad_q && rsp_one_q;
  wire [3:0]   found     = raises && !one_rsp ? status : ((other && !link_up_i) || lost_some) ? ggas_pkg::ST_LINK_DOWN
    : ggas_pkg::ST_OK;
  wire [3:0]   one       = one_rsp ? rsp_status_q : behind_q ? behind_status_q : failed_i ? failed_status_i
    : ggas_pkg::ST_OK;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      others_q <= 1'b0;
      behind_q <= 1'b0;
      found_q  <= ggas_pkg::ST_OK;
      one_q    <= ggas_pkg::ST_OK;
    end else begin
      others_q <= other || (others_q && !start);
      behind_q <= one_rsp && failed_i;
      found_q  <= found;
      one_q    <= one;
    end
  end
  always_ff @(posedge clk_i) begin
    one_domain_q    <= one_rsp ? rsp_domain_q : behind_q ? behind_domain_q : failed_domain_i;
    behind_status_q <= failed_status_i;
    behind_domain_q <= failed_domain_i;
  end

  // ---------------------------------------------------------------- errors
  logic [3:0]  reported, answer_q;
  logic        held_q;         // the answer stands in answer_q
  wire         report = state_q == S_DONE && !held_q && !serve_fence_q;
  wire  [3:0]  answer  = held_q ? answer_q : reported;
  smfu_errors u_errors (
      .clk_i, .rst_ni, .context_i, .all_i(found_q), .one_i(one_q), .one_domain_i(one_domain_q), .start_i(start),
      .page_i(fences ? fence_page_q : c_page), .report_i(report), .answer_o(reported));
  always_ff @(posedge clk_i) if (report) answer_q <= answer;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= 1'b0;
    else held_q <= state_q == S_DONE && !cpl_ready_i && !serve_fence_q;
  end

  // ---------------------------------------------------------------- completion and event
  assign cpl_valid_o    = state_q == S_DONE && !serve_fence_q;
  assign cpl_data_o     = {60'd0, answer};
  assign fence_done_o   = state_q == S_DONE && serve_fence_q;
  assign fence_status_o = answer;
  always_comb begin
    cpl_hdr_o = '0;
    if (cpl_valid_o) begin
      cpl_hdr_o.kind       = ggas_pkg::TLP_CPLD;
      cpl_hdr_o.bar        = 3'd7;
      cpl_hdr_o.len_dw     = {9'd0, c_len};
      cpl_hdr_o.tag        = c_tag;
      cpl_hdr_o.requester  = c_requester;
      cpl_hdr_o.byte_count = c_bytes;
      cpl_hdr_o.lower_addr = c_lower;
      cpl_hdr_o.attr       = c_attr;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      event_valid_o <= 1'b0;
      event_o       <= '0;
    end else begin
      if (event_valid_o && event_ready_i) event_valid_o <= 1'b0;
      if (raises) begin
        event_valid_o <= 1'b1;
        event_o.code  <= ggas_regs_pkg::EV_QUIET_FAILED;
        event_o.node  <= rsp_bad_q ? rsp_src_q : node;
        event_o.info  <= {36'd0, status};
      end
    end
  end

  // Between answers nothing moves but the deadline.
  wire   rests   = state_q == S_IDLE ? !reads && !fences && room : state_q == S_WAIT && !quiet && !sweeps && !rsp_bad_q;
  assign busy_o  = !rests || np_valid_o || event_valid_o || dirty_busy;
  assign timer_o = running;

endmodule

`default_nettype wire
