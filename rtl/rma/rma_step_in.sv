// SPDX-License-Identifier: Apache-2.0
// Third stage of a step of an input: the new state of a context when a fetch command has completed, an answer has
// arrived, rma_notify has answered, or time has passed. Combinational.
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
    input  wire rma_requester_pkg::flags_t    put_i,          // done: of the command's put
    input  wire rma_requester_pkg::answer_t   ans_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic                         last_i,         // done: last command of its put
    input  wire logic [3:0]                   status_i,       // done, answer, noted
    input  wire logic                         enabled_i,      // the context is
    input  wire logic                         progress_i,     // late: data has come since the last look
    input  wire logic                         writes_i,       // late: something that came is about to be written
    input  wire logic                         link_dead_i,
    input  wire logic [15:0]                  cfg_retry_limit_i,
    input  wire logic [16:0]                  now_i,          // ticks
    input  wire logic [16:0]                  timeout_i,     // the tick from which on a stamp is not too old
    input  wire logic [16:0]                  pause_i,        // the tick before or at which a pause that is over began

    output      rma_requester_pkg::state_t    s_o,
    output      rma_requester_pkg::action_t   act_o
);

  logic        repeats;
  logic        sent;      // done: the put's last packet left, and is answered
  logic        waiting;   // the held descriptor waits for its answer
  logic        known, mine, piped, refused;
  logic        fits;      // the answer's op is that of the held descriptor
  logic        expired;
  logic [3:0]  fail;      // status of what failed, or OK
  // Ticks since a stamp, less those allowed: negative before. Stamps are looked at on every tick.
  // verilator lint_off UNUSEDSIGNAL
  wire  [16:0] overdue = timeout_i - s_i.stamp;
  wire  [16:0] paused  = pause_i - s_i.pause;
  // verilator lint_on UNUSEDSIGNAL

  always_comb begin
    s_o     = s_i;
    act_o   = '0;
    fail    = ggas_pkg::ST_OK;
    sent    = 1'b0;
    waiting = s_i.phase == rma_requester_pkg::PH_ANSWER;
    repeats = s_i.tail || s_i.flags.repeats;

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
        sent = put_i.ack && !put_i.tail && status_i == ggas_pkg::ST_OK;
        act_o.local_done  = 1'b1;
        act_o.remote_done = {7'd0, put_i.tail ? !put_i.ack : !sent};
        if (sent) begin
          if (!s_i.awaits) s_o.stamp = now_i;
          s_o.link = s_i.link || !put_i.own;
        end
        if (put_i.tail) begin
          s_o.fail  = s_i.chunk != ggas_pkg::ST_OK ? s_i.chunk : status_i;
          s_o.tail  = 1'b1;
          s_o.phase = rma_requester_pkg::PH_READY;
          act_o.push_exp = 1'b1;
        end else if (sent && put_i.hold) begin
          s_o.fail  = s_i.chunk;
          s_o.phase = rma_requester_pkg::PH_ANSWER;
        end else begin
          fail = s_i.chunk != ggas_pkg::ST_OK ? s_i.chunk : status_i;
          if (sent) s_o.waits = s_i.waits + 1'b1;
          act_o.over = put_i.hold;
          act_o.note = put_i.hold && fail == ggas_pkg::ST_OK;
        end
      end
    end

    // ---------------------------------------------------------------- an answer
    fits    = s_i.flags.is_get && !s_i.tail ? ans_i.get_done : s_i.flags.is_atomic && !s_i.tail ? ans_i.atomic_rsp
              : ans_i.ack;
    known   = ans_i.epoch[7:3] == s_i.packets;
    mine    = known && ans_i.epoch[2:0] == 3'd0 && ans_i.asked && waiting && fits;
    piped   = known && ans_i.epoch[2:0] != 3'd0 && ans_i.asked && s_i.awaits;
    refused = known && !ans_i.asked && ans_i.ack && status_i != ggas_pkg::ST_OK;
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
        act_o.remote_done = {7'd0, s_i.flags.ack};
        act_o.note = fail == ggas_pkg::ST_OK
                     && ((s_i.flags.requester && s_i.flags.ack) || s_i.flags.get_note);
        s_o.second = act_o.note && s_i.flags.requester && s_i.flags.get_note;
        // The old value of an atomic, or the address that the target refused.
        act_o.answer_w0 = s_i.flags.is_atomic ? fail == ggas_pkg::ST_OK
                          : s_i.fail == ggas_pkg::ST_OK && fail != ggas_pkg::ST_OK && fail != ggas_pkg::ST_FULL;
        act_o.completer = !s_i.flags.requester;
      end else if (piped || refused) begin
        fail = status_i;
        act_o.words = rma_requester_pkg::NW_ANSWER;
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
        act_o.completer = 1'b1;
      end else begin
        s_o.note   = rma_requester_pkg::NOTE_NONE;
        act_o.over = s_i.phase == rma_requester_pkg::PH_NOTE;
      end
    end
    if (again_i && s_i.note == rma_requester_pkg::NOTE_FULL) begin
      act_o.note  = 1'b1;
      act_o.words = rma_requester_pkg::NW_RECORD;
    end

    // ---------------------------------------------------------------- time
    // After an operation is given up, none of its data may be written. So it first waits for the data that have already
    // arrived.
    expired = (s_i.awaits || waiting) && !writes_i && ((!overdue[16] && !progress_i) || (s_i.link && link_dead_i));
    if (late_i && progress_i) s_o.stamp = now_i;
    if (late_i && expired) begin
      fail = link_dead_i && s_i.link ? ggas_pkg::ST_LINK_DOWN : ggas_pkg::ST_TIMEOUT;
      act_o.event_code  = rma_requester_pkg::EV_TIMEOUT;
      act_o.give_up     = 1'b1;
      act_o.over        = waiting;
      act_o.remote_done = s_i.waits + {7'd0, waiting && s_i.flags.ack};
      s_o.epoch   = s_i.epoch + 1'b1;
      s_o.packets = s_i.packets + 1'b1;
      s_o.waits   = '0;
      if (!waiting) act_o.words = rma_requester_pkg::NW_LOST;
    end else if (late_i && s_i.phase == rma_requester_pkg::PH_PAUSE && !enabled_i) begin
      fail = s_i.fail != ggas_pkg::ST_OK ? s_i.fail : ggas_pkg::ST_FULL;
      act_o.event_code  = rma_requester_pkg::EV_RETRY_LIMIT;
      act_o.over        = 1'b1;
      act_o.remote_done = {7'd0, s_i.flags.ack};
    end else if (late_i && s_i.phase == rma_requester_pkg::PH_PAUSE && !paused[16]) begin
      s_o.phase = rma_requester_pkg::PH_READY;
      act_o.push_exp = 1'b1;
    end

    // ---------------------------------------------------------------- common ends
    if (act_o.note) s_o.note = rma_requester_pkg::NOTE_ASKED;
    if (fail != ggas_pkg::ST_OK) begin
      act_o.error  = 1'b1;
      act_o.status = fail;
    end
  end

endmodule

`default_nettype wire
