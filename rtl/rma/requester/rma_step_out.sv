// SPDX-License-Identifier: Apache-2.0
// Third stage of a step of an output: the new state of a context when its descriptor arrives, or when its turn in the
// put or express queue has come. Combinational.
`default_nettype none

module rma_step_out (
    input  wire logic                         desc_i,         // a descriptor has come; else one goes on
    // verilator lint_off UNUSEDSIGNAL
    input  wire rma_requester_pkg::known_t    known_i,
    // verilator lint_on UNUSEDSIGNAL
    // its express packet is not out yet: no put may overtake it
    input  wire logic                         express_own_i,
    input  wire logic                         express_free_i, // an express packet can be loaded
    input  wire logic                         cmd_free_i,     // a fetch command can be issued
    input  wire logic                         put_turn_i,     // no other put waits
    input  wire logic [16:0]                  now_i,          // ticks

    output      rma_requester_pkg::state_t    s_o,
    output      rma_requester_pkg::action_t   act_o,
    output      logic                         express_o       // load the express packet
);

  rma_requester_pkg::state_t s_i;
  assign s_i = known_i.state;
  wire [3:0] unreach = known_i.route ? ggas_pkg::ST_LINK_DOWN : ggas_pkg::ST_UNREACHABLE;

  // How the descriptor fails, if it does; what has not been counted yet.
  typedef struct packed {
    logic       failed;
    logic       local_done;
    logic       remote_done;
    logic [3:0] status;
  } fail_t;
  localparam logic [6:0] FINE = {3'b011, ggas_pkg::ST_BAD};
  // The result of each kind of step.
  rma_requester_pkg::state_t  begin_s, put_s, express_s;
  rma_requester_pkg::action_t begin_act, put_act, express_act;
  fail_t                      begin_fail, put_fail, express_fail, fail;

  // ---------------------------------------------------------------- a descriptor
  always_comb begin
    begin_s    = s_i;
    begin_act  = '0;
    begin_fail = FINE;
    if (desc_i) begin
      begin_s.packets   = s_i.epoch + known_i.starts;
      begin_act.started = known_i.enabled;
      begin_act.over    = !known_i.enabled;
    end
    if (known_i.todo.bad) begin
      begin_fail.failed = 1'b1;
      begin_act.event_code = rma_requester_pkg::EV_BAD;
    end
    if (known_i.todo.nop) begin
      begin_act.local_done  = 1'b1;
      begin_act.remote_done = 8'd1;
      begin_act.note = s_i.flags.hold;
      begin_act.over = 1'b1;
    end
    if (known_i.todo.nowhere) begin
      begin_fail.failed = 1'b1;
      begin_fail.status = unreach;
      begin_act.event_code = rma_requester_pkg::EV_UNREACHABLE;
    end
    if (known_i.todo.express) begin_s.phase = rma_requester_pkg::PH_FETCH;
  end

  // ---------------------------------------------------------------- a chunk of a put
  // It cannot go on.
  wire stop = (s_i.chunk != ggas_pkg::ST_OK && !s_i.leads) || !known_i.reach || !known_i.enabled;
  always_comb begin
    put_s    = begin_s;
    put_act  = begin_act;
    put_fail = FINE;
    if (stop && s_i.fetching) begin
      put_s.phase = rma_requester_pkg::PH_DRAIN;
    end else if (stop) begin
      // No part of it is in flight, and no packet with LAST was sent.
      put_s.chunk = ggas_pkg::ST_OK;
      put_fail.status = s_i.chunk != ggas_pkg::ST_OK ? s_i.chunk : !known_i.enabled ? ggas_pkg::ST_DISABLED : unreach;
      if (s_i.chunk == ggas_pkg::ST_OK && known_i.enabled) put_act.event_code = rma_requester_pkg::EV_UNREACHABLE;
      if (s_i.flags.tail) begin
        put_act.local_done  = 1'b1;
        put_act.remote_done = {7'd0, !s_i.flags.ack};
        put_s.fail  = put_fail.status;
        put_s.tail  = 1'b1;
        put_s.phase = rma_requester_pkg::PH_READY;
        put_act.push_exp = 1'b1;
      end else begin
        put_fail.failed = 1'b1;
      end
    end else if (s_i.fetch_full || s_i.waits_full) begin
      put_s.phase = rma_requester_pkg::PH_PARK;
    end else begin
      // The end of the step knows whether it is the last chunk.
      put_s.phase = rma_requester_pkg::PH_PUT;
      put_act.cmd = !express_own_i && cmd_free_i && (!desc_i || put_turn_i);
      put_act.push_put = !put_act.cmd;
      put_s.fetches    = s_i.fetches + {6'd0, put_act.cmd};
    end
  end

  // ---------------------------------------------------------------- an express packet
  logic waits;  // the packet's answer counts in s.waits
  always_comb begin
    express_s    = s_i;
    express_s.packets = begin_s.packets;
    express_act  = begin_act;
    express_fail = FINE;
    waits        = 1'b0;
    if (!known_i.reach) begin
      express_fail = {1'b1, !s_i.tail && !s_i.retried, s_i.flags.ack || !s_i.tail,
        s_i.fail != ggas_pkg::ST_OK ? s_i.fail : unreach};
      express_act.event_code = rma_requester_pkg::EV_UNREACHABLE;
    end else if (!express_free_i) begin
      express_s.phase = rma_requester_pkg::PH_READY;
      express_act.push_exp = 1'b1;
    end else begin
      express_act.retried = s_i.retried;
      if (!s_i.tail && !s_i.retried) begin
        express_act.local_done  = 1'b1;
        express_act.remote_done = {7'd0, !s_i.flags.ack};
      end
      if (s_i.flags.tail && !s_i.tail) begin
        express_s.tail  = 1'b1;
        express_s.phase = rma_requester_pkg::PH_READY;
        express_act.push_exp = 1'b1;
      end else if (s_i.flags.hold) begin
        // Without ack the requester's notification is due now, next to the answer to the put's NOTIFY.
        express_act.note = s_i.flags.requester && !s_i.flags.ack && s_i.fail == ggas_pkg::ST_OK && !s_i.retried;
        express_act.over = !s_i.flags.ack && !s_i.flags.tail;
        express_s.phase  = rma_requester_pkg::PH_ANSWER;
        waits            = s_i.flags.ack || s_i.flags.tail;
      end else begin
        express_act.over = 1'b1;
        waits            = s_i.flags.ack;
        express_s.waits  = s_i.waits + {7'd0, s_i.flags.ack};
      end
    end
    if (waits) begin
      if (!s_i.awaits) express_s.stamp = now_i;
      express_s.link = s_i.link || !s_i.flags.own;
    end
  end

  // ---------------------------------------------------------------- the one that it is
  // An express packet goes only if no earlier packet of the context comes first.
  wire express = known_i.todo.express && !(desc_i && (s_i.fetching || s_i.waits_full));
  assign express_o = express && known_i.reach && express_free_i;
  always_comb begin
    {s_o, act_o, fail} = known_i.todo.put ? {put_s, put_act, put_fail}
      : express ? {express_s, express_act, express_fail} : {begin_s, begin_act, begin_fail};
    if (act_o.note) s_o.note = rma_requester_pkg::NOTE_ASKED;
    if (fail.failed) begin
      act_o.over        = 1'b1;
      act_o.error       = 1'b1;
      act_o.status      = fail.status;
      act_o.local_done  = fail.local_done;
      act_o.remote_done = {7'd0, fail.remote_done};
    end
  end

endmodule

`default_nettype wire
