// SPDX-License-Identifier: Apache-2.0
// The end of every step: a descriptor that is over leaves, or waits for its notification; what waited for fetches or
// answers goes on.
// Combinational.
`default_nettype none

module rma_step_end #(
    parameter int unsigned FETCH_MAX = 8  // as rma_step_out
) (
    input  wire rma_requester_pkg::state_t   s_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire rma_requester_pkg::action_t  act_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic                        in_i,          // a step of what comes in
    input  wire logic [8:0]                  bytes_i,       // of the fetch command that is issued
    output      rma_requester_pkg::state_t   s_o,
    output      logic                        freed_o,       // the context's next descriptor may come
    output      logic                        put_o,         // into the put queue
    output      logic                        express_o,     // into the express queue
    output      logic                        active_o,      // something of the context is under way
    output      logic                        waiting_o,     // it waits for an answer or pauses
    output      logic                        refused_o      // it has a notification to repeat
);

  logic over, may_put, may_express;
  always_comb begin
    s_o  = s_i;
    over = act_i.over && s_i.note == rma_requester_pkg::NOTE_NONE;
    if (act_i.cmd) s_o.offset = s_i.offset + {15'd0, bytes_i};
    if (act_i.over) begin
      s_o.phase   = over ? rma_requester_pkg::PH_IDLE : rma_requester_pkg::PH_NOTE;
      s_o.tail    = 1'b0;
      s_o.retries = '0;
      s_o.fail    = ggas_pkg::ST_OK;
      s_o.offset  = '0;
    end
    if (s_o.waits == '0 && s_o.phase != rma_requester_pkg::PH_ANSWER) s_o.link = 1'b0;

    may_put     = in_i && ((s_o.phase == rma_requester_pkg::PH_PARK && s_o.fetches < FETCH_MAX[6:0]
      && s_o.waits < rma_requester_pkg::WAITS_MAX)
                           || (s_o.phase == rma_requester_pkg::PH_DRAIN && s_o.fetches == '0));
    may_express = in_i && s_o.phase == rma_requester_pkg::PH_FETCH && s_o.fetches == '0
      && s_o.waits < rma_requester_pkg::WAITS_MAX;
    if (may_put) s_o.phase = rma_requester_pkg::PH_PUT;
    if (may_express) s_o.phase = rma_requester_pkg::PH_READY;
  end

  assign freed_o   = over;
  assign put_o     = act_i.push_put || may_put;
  assign express_o = act_i.push_exp || may_express;
  assign active_o  = s_o.phase != rma_requester_pkg::PH_IDLE || s_o.fetches != '0 || s_o.waits != '0;
  assign waiting_o = s_o.waits != '0 || s_o.phase == rma_requester_pkg::PH_ANSWER
    || s_o.phase == rma_requester_pkg::PH_PAUSE;
  assign refused_o = s_o.note == rma_requester_pkg::NOTE_FULL;

endmodule

`default_nettype wire
