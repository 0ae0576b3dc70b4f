// SPDX-License-Identifier: Apache-2.0
// What becomes of a context when something comes back: a fetch command is done, an answer has arrived, rma_notify has
// spoken, or
// time has passed. Combinational.
`default_nettype none

module rma_step_in (
    // which step: at most one
    input  wire logic                         done_i,         // the oldest fetch command is done
    input  wire logic                         answer_i,
    input  wire logic                         noted_i,        // rma_notify has answered
    input  wire logic                         late_i,         // a look at what waits for answers or pauses
    input  wire logic                         again_i,        // ask for a refused notification again

    input  wire rma_requester_pkg::state_t    s_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::desc_w0_t           w0_i,           // done: of the command's put; else of the descriptor held
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [63:0]                  cookie_i,
    input  wire logic                         hold_i,         // it holds its context
    input  wire logic                         tail_i,         // it ends with a NOTIFY packet
    input  wire logic                         ack_i,          // it completes with an answer
    input  wire logic                         last_i,         // done: last command of its put
    input  wire logic [3:0]                   status_i,       // done, answer, noted
    input  wire logic [7:0]                   ans_op_i,       // answer: OP_*
    input  wire logic [7:0]                   ans_epoch_i,
    input  wire logic                         ans_asked_i,
    input  wire logic [63:0]                  ans_addr_i,
    input  wire logic [15:0]                  ans_node_i,
    input  wire logic [7:0]                   ans_dvpid_i,
    input  wire logic [127:0]                 record_i,       // again: w1, w0
    input  wire logic                         enabled_i,      // the context is
    input  wire logic                         remote_i,       // done: the node is another one
    input  wire logic                         progress_i,     // late: data has come since the last look
    input  wire logic                         writes_i,       // late: something that came is about to be written
    input  wire logic                         link_dead_i,
    input  wire logic [15:0]                  cfg_timeout_i,  // ticks
    input  wire logic [15:0]                  cfg_retry_ticks_i,
    input  wire logic [15:0]                  cfg_retry_limit_i,
    input  wire logic [16:0]                  now_i,          // ticks

    output      rma_requester_pkg::state_t    s_o,
    output      rma_requester_pkg::action_t   act_o,
    output      ggas_pkg::note_w1_t           w1_o            // of the notification
);

  logic        repeats, get_note;
  logic        sent;      // done: the put's last packet left, and is answered
  logic        waiting;   // the held descriptor waits for its answer
  logic        mine, piped, refused, known;
  logic        fits;      // the answer's op is that of the held descriptor
  logic        expired;
  logic [3:0]  what;      // op of a descriptor that did not hold its context
  logic [3:0]  fail;      // status of what failed, or OK
  // verilator lint_off UNUSEDSIGNAL
  logic [16:0] age, paused;
  // verilator lint_on UNUSEDSIGNAL

  always_comb begin
    s_o      = s_i;
    act_o    = '0;
    fail     = ggas_pkg::ST_OK;
    sent     = 1'b0;
    waiting  = s_i.phase == rma_requester_pkg::PH_ANSWER;
    repeats  = s_i.tail || w0_i.op == ggas_pkg::DESC_NOTIFY || w0_i.op == ggas_pkg::DESC_SEND;
    get_note = w0_i.op == ggas_pkg::DESC_GET && w0_i.notify_completer;
    act_o.w0 = cookie_i;
    w1_o     = {1'b0, ggas_pkg::NOTE_REQUESTER, ggas_pkg::ST_OK, 4'd0, w0_i.op, w0_i.node, w0_i.dvpid, w0_i.size};

    // ---------------------------------------------------------------- a fetch command
    if (done_i) begin
      s_o.fetches = s_i.fetches - 1'b1;
      if (s_i.chunk == ggas_pkg::ST_OK) begin
        s_o.chunk = status_i;
        if (status_i == ggas_pkg::ST_PROTECTION) act_o.event_code = rma_requester_pkg::EV_PROTECTION;
      end
      if (last_i) begin
        s_o.ahead = s_i.ahead - 1'b1;
        s_o.chunk = ggas_pkg::ST_OK;
        sent = w0_i.ack && !tail_i && status_i == ggas_pkg::ST_OK;
        act_o.local_done  = 1'b1;
        act_o.remote_done = {7'd0, tail_i ? !ack_i : !sent};
        if (sent) begin
          if (s_i.waits == '0) s_o.stamp = now_i;
          s_o.link = s_i.link || remote_i;
        end
        if (tail_i) begin
          s_o.fail  = s_i.chunk != ggas_pkg::ST_OK ? s_i.chunk : status_i;
          s_o.tail  = 1'b1;
          s_o.phase = rma_requester_pkg::PH_READY;
          act_o.push_exp = 1'b1;
        end else if (sent && hold_i) begin
          s_o.fail  = s_i.chunk;
          s_o.phase = rma_requester_pkg::PH_ANSWER;
        end else begin
          fail = s_i.chunk != ggas_pkg::ST_OK ? s_i.chunk : status_i;
          if (sent) s_o.waits = s_i.waits + 1'b1;
          act_o.over = hold_i;
          act_o.note = hold_i && fail == ggas_pkg::ST_OK;
        end
      end
    end

    // ---------------------------------------------------------------- an answer
    what = {1'b0, ans_epoch_i[2:0]};
    fits = ans_op_i == (s_i.tail || rma_requester_pkg::is_put(w0_i.op) ? ggas_pkg::OP_RMA_ACK
                        : w0_i.op == ggas_pkg::DESC_GET ? ggas_pkg::OP_RMA_GET_DONE
                        : w0_i.op == ggas_pkg::DESC_ATOMIC ? ggas_pkg::OP_RMA_ATOMIC_RSP : ggas_pkg::OP_RMA_ACK);
    known   = ans_epoch_i[7:3] == s_i.epoch + s_i.starts;
    mine    = known && what == 4'd0 && ans_asked_i && waiting && fits;
    piped   = known && what != 4'd0 && ans_asked_i && s_i.waits != '0;
    refused = known && !ans_asked_i && ans_op_i == ggas_pkg::OP_RMA_ACK && status_i != ggas_pkg::ST_OK;
    if (answer_i) begin
      act_o.answered = mine || piped || refused;
      if (mine || piped) s_o.stamp = now_i;
      if (mine && status_i == ggas_pkg::ST_FULL && repeats && enabled_i
          && (cfg_retry_limit_i == '0 || s_i.retries < cfg_retry_limit_i)) begin
        s_o.phase   = rma_requester_pkg::PH_PAUSE;
        s_o.pause   = now_i;
        s_o.retries = s_i.retries + {15'd0, s_i.retries != '1};
      end else if (mine) begin
        fail = s_i.fail != ggas_pkg::ST_OK ? s_i.fail : status_i;
        if (status_i == ggas_pkg::ST_FULL && repeats) act_o.event_code = rma_requester_pkg::EV_RETRY_LIMIT;
        act_o.over = 1'b1;
        act_o.remote_done = {7'd0, ack_i};
        act_o.note = fail == ggas_pkg::ST_OK && ((w0_i.notify_requester && ack_i) || get_note);
        s_o.second = act_o.note && w0_i.notify_requester && get_note;
        // The old value of an atomic, or the address that the target refused.
        if (w0_i.op == ggas_pkg::DESC_ATOMIC ? fail == ggas_pkg::ST_OK
            : s_i.fail == ggas_pkg::ST_OK && fail != ggas_pkg::ST_OK
              && fail != ggas_pkg::ST_FULL) act_o.w0 = ans_addr_i;
        if (!w0_i.notify_requester) w1_o.kind = ggas_pkg::NOTE_COMPLETER;
      end else if (piped || refused) begin
        fail = status_i;
        act_o.w0 = ans_addr_i;
        w1_o = '0;
        w1_o.op   = {4'd0, what};
        w1_o.node = ans_node_i;
        w1_o.vpid = ans_dvpid_i;
        if (piped) begin
          s_o.waits = s_i.waits - 1'b1;
          act_o.remote_done = 8'd1;
        end
      end else begin
        act_o.event_code = rma_requester_pkg::EV_UNEXPECTED;
      end
    end

    // ---------------------------------------------------------------- rma_notify
    if (noted_i) begin
      if (status_i == ggas_pkg::ST_FULL) begin
        s_o.note   = rma_requester_pkg::NOTE_FULL;
        act_o.keep = 1'b1;
      end else if (s_i.second) begin
        s_o.second = 1'b0;
        act_o.note = 1'b1;
        w1_o.kind = ggas_pkg::NOTE_COMPLETER;
      end else begin
        s_o.note   = rma_requester_pkg::NOTE_NONE;
        act_o.over = s_i.phase == rma_requester_pkg::PH_NOTE;
      end
    end
    if (again_i && s_i.note == rma_requester_pkg::NOTE_FULL) begin
      act_o.note = 1'b1;
      act_o.w0   = record_i[63:0];
      w1_o   = record_i[127:64];
    end

    // ---------------------------------------------------------------- time
    age     = now_i - s_i.stamp;
    paused  = now_i - s_i.pause;
    // What is given up may not be written any more, so what has come is waited for.
    expired = (s_i.waits != '0 || waiting) && !writes_i && ((age >= {1'b0, cfg_timeout_i} && !progress_i)
      || (s_i.link && link_dead_i));
    if (late_i && progress_i) s_o.stamp = now_i;
    if (late_i && expired) begin
      fail = link_dead_i && s_i.link ? ggas_pkg::ST_LINK_DOWN : ggas_pkg::ST_TIMEOUT;
      act_o.event_code  = rma_requester_pkg::EV_TIMEOUT;
      act_o.give_up     = 1'b1;
      act_o.over        = waiting;
      act_o.remote_done = s_i.waits + {7'd0, waiting && ack_i};
      s_o.epoch = s_i.epoch + 1'b1;
      s_o.waits = '0;
      if (!waiting) begin
        act_o.w0 = '0;
        w1_o = '0;
        w1_o.size = {16'd0, s_i.waits};
      end
    end else if (late_i && s_i.phase == rma_requester_pkg::PH_PAUSE && !enabled_i) begin
      fail = s_i.fail != ggas_pkg::ST_OK ? s_i.fail : ggas_pkg::ST_FULL;
      act_o.event_code  = rma_requester_pkg::EV_RETRY_LIMIT;
      act_o.over        = 1'b1;
      act_o.remote_done = {7'd0, ack_i};
    end else if (late_i && s_i.phase == rma_requester_pkg::PH_PAUSE && paused >= {1'b0, cfg_retry_ticks_i}) begin
      s_o.phase = rma_requester_pkg::PH_READY;
      act_o.push_exp = 1'b1;
    end

    // ---------------------------------------------------------------- common ends
    if (act_o.note) s_o.note = rma_requester_pkg::NOTE_ASKED;
    if (fail != ggas_pkg::ST_OK) begin
      act_o.error  = 1'b1;
      act_o.status = fail;
      w1_o.kind   = ggas_pkg::NOTE_ERROR;
      w1_o.status = fail;
    end
  end

endmodule

`default_nettype wire
