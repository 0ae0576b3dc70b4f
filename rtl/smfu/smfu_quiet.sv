// SPDX-License-Identifier: Apache-2.0
// Quiet: a host read that completes when every store before it is visible at its target. One round at a time asks every
// node
// that got stores since it was last asked (dirty); further reads wait in order. The answer is an ST_* that hit a store
// or a
// round since the last answer to the same page, so that whoever asks first takes it from nobody.
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

    // stores
    input  wire logic                sent_i,
    input  wire logic [5:0]          sent_node_i,
    input  wire logic                failed_i,
    input  wire logic [3:0]          failed_status_i,

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

    // SMFU_QUIET
    output      logic                np_valid_o,
    input  wire logic                np_ready_i,
    output      ggas_pkg::net_hdr_t  np_hdr_o,

    // SMFU_QUIET_RSP: header, whether it is expected, and when it is taken
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::net_hdr_t  rsp_hdr_i,
    // verilator lint_on UNUSEDSIGNAL
    output      logic                rsp_known_o,
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
  localparam int unsigned EPOCH_W = 32;

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

  // ---------------------------------------------------------------- the round
  localparam logic [1:0] S_IDLE = 2'd0, S_ASK = 2'd1, S_WAIT = 2'd2, S_DONE = 2'd3;
  logic [1:0]  state_q;
  logic [63:0] dirty_q;      // nodes with stores no round covers yet
  logic [63:0] ask_q;        // nodes this round has to ask
  logic [63:0] wait_q;       // nodes that have not answered
  logic [63:0] fail_q;       // nodes whose failure is not told yet
  logic [3:0]  fail_status_q;
  logic [8:0]  round_q;
  logic [16:0] deadline_q;

  logic [5:0]  ask_node, fail_node;
  logic [63:0] own;
  always_comb begin
    ask_node  = '0;
    fail_node = '0;
    own       = '0;
    if (state_q == S_ASK) ask_node = smfu_pkg::lowest(ask_q);
    if (fail_q != '0) fail_node = smfu_pkg::lowest(fail_q);
    if (lost_i) own[cfg_node_i[5:0]] = cfg_node_i < 16'd64;
  end

  // verilator lint_off UNUSEDSIGNAL
  wire [16:0] late    = now_i - deadline_q;  // negative while there is time
  // verilator lint_on UNUSEDSIGNAL
  wire        running = state_q == S_ASK || state_q == S_WAIT;
  wire        expired = running && tick_i && !late[16];
  wire        asking  = state_q == S_ASK && ask_q != '0;
  wire        reach   = smfu_pkg::reachable({10'd0, ask_node}, cfg_node_i, peer_node_i, peer_valid_i, link_up_i);
  wire        asked   = np_valid_o && np_ready_i;
  wire        refused = asking && !reach && !expired;
  wire        tell    = fail_q != '0 && !event_valid_o;
  wire        start   = state_q == S_IDLE && used != '0;
  wire        finish  = cpl_valid_o && cpl_ready_i;
  wire        rsp_bad = rsp_i && rsp_hdr_i.status != ggas_pkg::ST_OK;
  wire [5:0]  rsp_node = rsp_hdr_i.tag[5:0];

  assign np_valid_o  = asking && reach && !expired && !lost_i;
  assign rsp_known_o = rsp_hdr_i.tag[15] && rsp_hdr_i.tag[14:6] == round_q && wait_q[rsp_node]
    && rsp_hdr_i.src == {10'd0, rsp_node};
  always_comb begin
    np_hdr_o = '0;
    if (np_valid_o) begin
      np_hdr_o.op  = ggas_pkg::OP_SMFU_QUIET;
      np_hdr_o.dst = {10'd0, ask_node};
      np_hdr_o.src = cfg_node_i;
      np_hdr_o.vc  = ggas_pkg::VC_NP;
      np_hdr_o.tag = {1'b1, round_q, ask_node};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= S_IDLE;
      ask_q         <= '0;
      wait_q        <= '0;
      fail_q        <= '0;
      fail_status_q <= '0;
      round_q       <= '0;
      deadline_q    <= '0;
      wr_q          <= '0;
      rd_q          <= '0;
    end else begin
      if (req_valid_i && req_ready_o) wr_q <= wr_q + 1'b1;
      if (finish) rd_q <= rd_q + 1'b1;
      if (start) begin
        ask_q      <= dirty_q;
        round_q    <= round_q + 1'b1;
        deadline_q <= now_i + {1'b0, cfg_timeout_i};
      end
      if (asked) begin
        ask_q[ask_node]  <= 1'b0;
        wait_q[ask_node] <= 1'b1;
      end
      if (refused) begin
        ask_q[ask_node]  <= 1'b0;
        fail_q[ask_node] <= 1'b1;
        fail_status_q    <= smfu_pkg::unreachable_status({10'd0, ask_node}, peer_node_i, peer_valid_i);
      end
      if (tell) fail_q[fail_node] <= 1'b0;
      if (rsp_i) wait_q[rsp_node] <= 1'b0;
      if (rsp_bad) begin
        fail_q[rsp_node] <= 1'b1;
        fail_status_q    <= rsp_hdr_i.status;
      end
      // Everything at once: the last word on ask, wait and fail.
      if (expired) begin
        fail_q        <= fail_q | ask_q | wait_q;
        ask_q         <= '0;
        wait_q        <= '0;
        fail_status_q <= ggas_pkg::ST_TIMEOUT;
      end else if (lost_i && running) begin
        fail_q        <= fail_q | ((ask_q | wait_q) & ~own);
        ask_q         <= ask_q & own;
        wait_q        <= wait_q & own;
        fail_status_q <= ggas_pkg::ST_LINK_DOWN;
      end
      case (state_q)
        S_IDLE: if (used != '0) state_q <= dirty_q == '0 ? S_DONE : S_ASK;
        S_ASK:  if (ask_q == '0) state_q <= S_WAIT;
        S_WAIT: if (wait_q == '0 && fail_q == '0 && !rsp_i) state_q <= S_DONE;
        default: if (cpl_ready_i) state_q <= S_IDLE;
      endcase
    end
  end

  // A store counts as dirty from its first beat on; one that was on its way when the route broke may be lost.
  wire        sent_away = sent_i && {10'd0, sent_node_i} != cfg_node_i && !link_up_i;
  wire        lost_some = lost_i && (dirty_q & ~own) != '0;
  wire [3:0]  found     = tell ? fail_status_q : failed_i ? failed_status_i : (sent_away
    || lost_some) ? ggas_pkg::ST_LINK_DOWN : ggas_pkg::ST_OK;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dirty_q <= '0;
    end else begin
      if (start) dirty_q <= '0;
      if (sent_i) dirty_q[sent_node_i] <= 1'b1;
    end
  end

  // ---------------------------------------------------------------- errors
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;
  // Errors between two answers share an epoch, and the first of them is kept. A page's word is the epoch it was told
  // last;
  // a page without a context has none and reads that of another one.
  // Words and epoch are not reset: they stay comparable, and without an error there is nothing to tell.
  logic [EPOCH_W-1:0] epoch_q, told_epoch;
  logic [3:0]         error_q, answer_q;
  logic               open_q;            // nobody was told of this epoch's error
  logic               held_q;            // the answer stands in answer_q
  wire                telling = state_q == S_DONE && !held_q;
  wire [3:0]          answer  = held_q ? answer_q : told_epoch != epoch_q ? error_q : ggas_pkg::ST_OK;
  ram_1r1w #(.WIDTH(EPOCH_W), .DEPTH(ggas_pkg::CONTEXTS)) u_told (
      .clk_i, .we_i(telling && ggas_pkg::is_context(c_page)), .waddr_i(c_page[CW-1:0]), .wdata_i(epoch_q), .re_i(start),
      .raddr_i(c_page[CW-1:0]), .rdata_o(told_epoch));

  wire   next_epoch = found != ggas_pkg::ST_OK && (!open_q || telling);
  initial epoch_q = '0;
  always_ff @(posedge clk_i) begin
    if (next_epoch) epoch_q <= epoch_q + 1'b1;
    if (telling) answer_q <= answer;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      error_q <= ggas_pkg::ST_OK;
      open_q  <= 1'b0;
      held_q  <= 1'b0;
    end else begin
      held_q <= state_q == S_DONE && !cpl_ready_i;
      if (next_epoch) error_q <= found;
      if (next_epoch) open_q <= 1'b1;
      else if (telling) open_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- completion and event
  assign cpl_valid_o = state_q == S_DONE;
  assign cpl_data_o  = {60'd0, answer};
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
      if (tell) begin
        event_valid_o <= 1'b1;
        event_o.code  <= ggas_regs_pkg::EV_QUIET_FAILED;
        event_o.node  <= {10'd0, fail_node};
        event_o.info  <= {36'd0, fail_status_q};
      end
    end
  end

  // Between S_WAIT's answers nothing moves but the deadline.
  assign busy_o  = used != '0 && !(state_q == S_WAIT && wait_q != '0 && fail_q == '0) || fail_q != '0 || event_valid_o;
  assign timer_o = running;

endmodule

`default_nettype wire
