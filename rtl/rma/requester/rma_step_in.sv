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
    input  wire logic                         retry_i,        // ask for a refused notification again

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

  // The result of each kind of step: state, actions, and the status of what failed, or OK.
  rma_requester_pkg::state_t  done_s, answer_s, time_s;
  rma_requester_pkg::action_t done_act, answer_act, time_act;
  logic [3:0]  done_fail, answer_fail, time_fail, fail;
  logic        waiting;   // the held descriptor waits for its answer
  assign waiting = s_i.phase == rma_requester_pkg::PH_ANSWER;

  // ---------------------------------------------------------------- a fetch command
  logic sent;  // the put's last packet left, and is answered
  always_comb begin
    done_s    = s_i;
    done_act  = '0;
    done_fail = ggas_pkg::ST_OK;
    sent      = 1'b0;
    if (done_i) begin
      done_s.fetches = s_i.fetches - 1'b1;
      if (s_i.chunk == ggas_pkg::ST_OK) begin
        done_s.chunk = status_i;
        if (status_i == ggas_pkg::ST_PROTECTION) done_act.event_code = rma_requester_pkg::EV_PROTECTION;
      end
      if (last_i) begin
        done_s.ahead = s_i.ahead - 1'b1;
        done_s.chunk = ggas_pkg::ST_OK;
        sent = put_i.ack && !put_i.tail && status_i == ggas_pkg::ST_OK;
        done_act.local_done  = 1'b1;
        done_act.remote_done = {7'd0, put_i.tail ? !put_i.ack : !sent};
        if (sent) begin
          if (!s_i.awaits) done_s.stamp = now_i;
          done_s.link = s_i.link || !put_i.own;
        end
        if (put_i.tail) begin
          done_s.fail  = s_i.chunk != ggas_pkg::ST_OK ? s_i.chunk : status_i;
          done_s.tail  = 1'b1;
          done_s.phase = rma_requester_pkg::PH_READY;
          done_act.push_exp = 1'b1;
        end else if (sent && put_i.hold) begin
          done_s.fail  = s_i.chunk;
          done_s.phase = rma_requester_pkg::PH_ANSWER;
        end else begin
          done_fail = s_i.chunk != ggas_pkg::ST_OK ? s_i.chunk : status_i;
          if (sent) done_s.waits = s_i.waits + 1'b1;
          done_act.over = put_i.hold;
          done_act.note = put_i.hold && done_fail == ggas_pkg::ST_OK;
        end
      end
    end
  end

  // ---------------------------------------------------------------- an answer
  wire repeats = s_i.tail || s_i.flags.repeats;
  // The answer's op is that of the held descriptor.
  wire fits    = s_i.flags.is_get && !s_i.tail ? ans_i.get_done : s_i.flags.is_atomic && !s_i.tail ? ans_i.atomic_rsp
                 : ans_i.ack;
  wire known   = ans_i.epoch[7:3] == s_i.packets;
  wire mine    = known && ans_i.epoch[2:0] == 3'd0 && ans_i.asked && waiting && fits;
  wire piped   = known && ans_i.epoch[2:0] != 3'd0 && ans_i.asked && s_i.awaits;
  wire refused = known && !ans_i.asked && ans_i.ack && status_i != ggas_pkg::ST_OK;
  always_comb begin
    answer_s    = s_i;
    answer_act  = '0;
    answer_fail = ggas_pkg::ST_OK;
    if (answer_i) begin
      answer_act.answered = mine || piped || refused;
      if (mine || piped) answer_s.stamp = now_i;
      if (mine && status_i == ggas_pkg::ST_FULL && repeats && enabled_i
          && (cfg_retry_limit_i == '0 || s_i.retries < cfg_retry_limit_i)) begin
        answer_s.phase   = rma_requester_pkg::PH_PAUSE;
        answer_s.pause   = now_i;
        answer_s.retries = s_i.retries + {15'd0, s_i.retries != '1};
      end else if (mine) begin
        answer_fail = s_i.fail != ggas_pkg::ST_OK ? s_i.fail : status_i;
        if (status_i == ggas_pkg::ST_FULL && repeats) answer_act.event_code = rma_requester_pkg::EV_RETRY_LIMIT;
        answer_act.over = 1'b1;
        answer_act.remote_done = {7'd0, s_i.flags.ack};
        answer_act.note = answer_fail == ggas_pkg::ST_OK
                          && ((s_i.flags.requester && s_i.flags.ack) || s_i.flags.get_note);
        answer_s.second = answer_act.note && s_i.flags.requester && s_i.flags.get_note;
        // The old value of an atomic, or the address that the target refused.
        answer_act.answer_w0 = s_i.flags.is_atomic ? answer_fail == ggas_pkg::ST_OK
          : s_i.fail == ggas_pkg::ST_OK && answer_fail != ggas_pkg::ST_OK && answer_fail != ggas_pkg::ST_FULL;
        answer_act.completer = !s_i.flags.requester;
      end else if (piped || refused) begin
        answer_fail = status_i;
        answer_act.words = rma_requester_pkg::NW_ANSWER;
        if (piped) begin
          answer_s.waits = s_i.waits - 1'b1;
          answer_act.remote_done = 8'd1;
        end
      end else begin
        answer_act.event_code = rma_requester_pkg::EV_UNEXPECTED;
      end
    end
  end

  // ---------------------------------------------------------------- rma_notify, and time
  // Ticks since a stamp, less those allowed: negative before. Stamps are looked at on every tick.
  // verilator lint_off UNUSEDSIGNAL
  wire  [16:0] overdue = timeout_i - s_i.stamp;
  wire  [16:0] paused  = pause_i - s_i.pause;
  // verilator lint_on UNUSEDSIGNAL
  // After an operation is given up, none of its data may be written. So it first waits for the data that have already
  // arrived.
  wire expired = (s_i.awaits || waiting) && !writes_i
    && ((!overdue[16] && !progress_i) || (s_i.link && link_dead_i));
  always_comb begin
    time_s    = s_i;
    time_act  = '0;
    time_fail = ggas_pkg::ST_OK;
    if (noted_i) begin
      if (status_i == ggas_pkg::ST_FULL) begin
        time_s.note   = rma_requester_pkg::NOTE_FULL;
        time_act.keep = 1'b1;
      end else if (s_i.second) begin
        time_s.second = 1'b0;
        time_act.note = 1'b1;
        time_act.completer = 1'b1;
      end else begin
        time_s.note   = rma_requester_pkg::NOTE_NONE;
        time_act.over = s_i.phase == rma_requester_pkg::PH_NOTE;
      end
    end
    if (retry_i && s_i.note == rma_requester_pkg::NOTE_FULL) begin
      time_act.note  = 1'b1;
      time_act.words = rma_requester_pkg::NW_RECORD;
    end
    if (late_i && progress_i) time_s.stamp = now_i;
    if (late_i && expired) begin
      time_fail = link_dead_i && s_i.link ? ggas_pkg::ST_LINK_DOWN : ggas_pkg::ST_TIMEOUT;
      time_act.event_code  = rma_requester_pkg::EV_TIMEOUT;
      time_act.give_up     = 1'b1;
      time_act.over        = waiting;
      time_act.remote_done = s_i.waits + {7'd0, waiting && s_i.flags.ack};
      time_s.epoch   = s_i.epoch + 1'b1;
      time_s.packets = s_i.packets + 1'b1;
      time_s.waits   = '0;
      if (!waiting) time_act.words = rma_requester_pkg::NW_LOST;
    end else if (late_i && s_i.phase == rma_requester_pkg::PH_PAUSE && !enabled_i) begin
      time_fail = s_i.fail != ggas_pkg::ST_OK ? s_i.fail : ggas_pkg::ST_FULL;
      time_act.event_code  = rma_requester_pkg::EV_RETRY_LIMIT;
      time_act.over        = 1'b1;
      time_act.remote_done = {7'd0, s_i.flags.ack};
    end else if (late_i && s_i.phase == rma_requester_pkg::PH_PAUSE && !paused[16]) begin
      time_s.phase = rma_requester_pkg::PH_READY;
      time_act.push_exp = 1'b1;
    end
  end

  // ---------------------------------------------------------------- the one that it is
  always_comb begin
    {s_o, act_o, fail} = done_i ? {done_s, done_act, done_fail} : answer_i ? {answer_s, answer_act, answer_fail}
      : {time_s, time_act, time_fail};
    if (act_o.note) s_o.note = rma_requester_pkg::NOTE_ASKED;
    if (fail != ggas_pkg::ST_OK) begin
      act_o.error  = 1'b1;
      act_o.status = fail;
    end
  end

endmodule

`default_nettype wire
