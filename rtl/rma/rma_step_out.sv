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

  logic stop;     // the put cannot go on
  logic waits;    // the packet's answer counts in s.waits
  logic express;  // no earlier packet of the context comes first
  rma_requester_pkg::state_t s_i;
  assign s_i = known_i.state;
  wire [3:0] unreach = known_i.route ? ggas_pkg::ST_LINK_DOWN : ggas_pkg::ST_UNREACHABLE;

  // A failed descriptor: counts what has not been counted yet.
  logic       fail, fail_local, fail_remote;
  logic [3:0] fail_status;

  always_comb begin
    s_o         = s_i;
    act_o       = '0;
    express_o   = 1'b0;
    stop        = 1'b0;
    waits       = 1'b0;
    fail        = 1'b0;
    fail_local  = 1'b1;
    fail_remote = 1'b1;
    fail_status = ggas_pkg::ST_BAD;

    // ---------------------------------------------------------------- a descriptor
    if (desc_i) begin
      s_o.packets   = s_i.epoch + known_i.starts;
      act_o.started = known_i.enabled;
      act_o.over    = !known_i.enabled;
    end
    if (known_i.todo.bad) begin
      fail = 1'b1;
      act_o.event_code = rma_requester_pkg::EV_BAD;
    end
    if (known_i.todo.nop) begin
      act_o.local_done  = 1'b1;
      act_o.remote_done = 8'd1;
      act_o.note = s_i.flags.hold;
      act_o.over = 1'b1;
    end
    if (known_i.todo.nowhere) begin
      fail = 1'b1;
      fail_status = unreach;
      act_o.event_code = rma_requester_pkg::EV_UNREACHABLE;
    end
    express = known_i.todo.express && !(desc_i && (s_i.fetching || s_i.waits_full));
    if (known_i.todo.express && !express) s_o.phase = rma_requester_pkg::PH_FETCH;

    // ---------------------------------------------------------------- a chunk of a put
    if (known_i.todo.put) begin
      stop = (s_i.chunk != ggas_pkg::ST_OK && !s_i.leads) || !known_i.reach || !known_i.enabled;
      if (stop && s_i.fetching) begin
        s_o.phase = rma_requester_pkg::PH_DRAIN;
      end else if (stop) begin
        // No part of it is in flight, and no packet with LAST was sent.
        s_o.chunk = ggas_pkg::ST_OK;
        fail_status = s_i.chunk != ggas_pkg::ST_OK ? s_i.chunk : !known_i.enabled ? ggas_pkg::ST_DISABLED : unreach;
        if (s_i.chunk == ggas_pkg::ST_OK && known_i.enabled) act_o.event_code = rma_requester_pkg::EV_UNREACHABLE;
        if (s_i.flags.tail) begin
          act_o.local_done  = 1'b1;
          act_o.remote_done = {7'd0, !s_i.flags.ack};
          s_o.fail  = fail_status;
          s_o.tail  = 1'b1;
          s_o.phase = rma_requester_pkg::PH_READY;
          act_o.push_exp = 1'b1;
        end else begin
          fail = 1'b1;
        end
      end else if (s_i.fetch_full || s_i.waits_full) begin
        s_o.phase = rma_requester_pkg::PH_PARK;
      end else begin
        // The end of the step knows whether it is the last chunk.
        s_o.phase = rma_requester_pkg::PH_PUT;
        act_o.cmd = !express_own_i && cmd_free_i && (!desc_i || put_turn_i);
        act_o.push_put = !act_o.cmd;
        s_o.fetches    = s_i.fetches + {6'd0, act_o.cmd};
      end
    end

    // ---------------------------------------------------------------- an express packet
    if (express) begin
      if (!known_i.reach) begin
        fail = 1'b1;
        fail_status = s_i.fail != ggas_pkg::ST_OK ? s_i.fail : unreach;
        fail_local  = !s_i.tail && !s_i.retried;
        fail_remote = s_i.flags.ack || !s_i.tail;
        act_o.event_code = rma_requester_pkg::EV_UNREACHABLE;
      end else if (!express_free_i) begin
        s_o.phase = rma_requester_pkg::PH_READY;
        act_o.push_exp = 1'b1;
      end else begin
        express_o     = 1'b1;
        act_o.retried = s_i.retried;
        if (!s_i.tail && !s_i.retried) begin
          act_o.local_done  = 1'b1;
          act_o.remote_done = {7'd0, !s_i.flags.ack};
        end
        if (s_i.flags.tail && !s_i.tail) begin
          s_o.tail  = 1'b1;
          s_o.phase = rma_requester_pkg::PH_READY;
          act_o.push_exp = 1'b1;
        end else if (s_i.flags.hold) begin
          // Without ack the requester's notification is due now, next to the answer to the put's NOTIFY.
          act_o.note = s_i.flags.requester && !s_i.flags.ack && s_i.fail == ggas_pkg::ST_OK && !s_i.retried;
          act_o.over = !s_i.flags.ack && !s_i.flags.tail;
          s_o.phase  = rma_requester_pkg::PH_ANSWER;
          waits      = s_i.flags.ack || s_i.flags.tail;
        end else begin
          act_o.over = 1'b1;
          waits      = s_i.flags.ack;
          s_o.waits  = s_i.waits + {7'd0, s_i.flags.ack};
        end
      end
    end

    // ---------------------------------------------------------------- common ends
    if (waits) begin
      if (!s_i.awaits) s_o.stamp = now_i;
      s_o.link = s_i.link || !s_i.flags.own;
    end
    if (act_o.note) s_o.note = rma_requester_pkg::NOTE_ASKED;
    if (fail) begin
      act_o.over        = 1'b1;
      act_o.error       = 1'b1;
      act_o.status      = fail_status;
      act_o.local_done  = fail_local;
      act_o.remote_done = {7'd0, fail_remote};
    end
  end

endmodule

`default_nettype wire
