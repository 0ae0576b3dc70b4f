// SPDX-License-Identifier: Apache-2.0
// Last stage of every step: a put that was cut continues or is handed over; a finished descriptor leaves, or waits for
// its notification; descriptors that waited for fetches or answers continue. Combinational.
`default_nettype none

module rma_step_end #(
    parameter int unsigned FETCH_MAX = 8  // fetch commands a context may have under way
) (
    input  wire rma_requester_pkg::state_t   s_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire rma_requester_pkg::action_t  act_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic                        in_i,          // a step of what comes in
    input  wire logic                        last_i,        // the fetch command that is issued is its put's last one
    input  wire logic [8:0]                  bytes_i,       // and fetches so much
    output      rma_requester_pkg::state_t   s_o,
    output      logic                        freed_o,       // the context's next descriptor may come
    output      logic                        put_o,         // into the put queue
    output      logic                        express_o,     // into the express queue
    output      logic                        active_o,      // something of the context is under way
    output      logic                        waiting_o,     // it waits for an answer or pauses
    output      logic                        refused_o      // it has a notification to repeat
);

  logic over, may_put, may_express;
  wire  last = act_i.cmd && last_i;
  wire  ends = act_i.over || (last && !s_i.flags.hold);
  // Counts do not change any more but for `ahead`.
  wire  fetching   = s_i.fetches != '0;
  wire  fetch_full = s_i.fetches >= FETCH_MAX[6:0];
  wire  awaits     = s_i.waits != '0;
  wire  waits_full = s_i.waits >= rma_requester_pkg::WAITS_MAX;
  always_comb begin
    s_o  = s_i;
    over = ends && s_i.note == rma_requester_pkg::NOTE_NONE;
    if (act_i.cmd) s_o.offset = s_i.offset + {15'd0, bytes_i};
    s_o.ahead = s_i.ahead + {6'd0, last};
    if (last) s_o.phase = rma_requester_pkg::PH_LAST;

    may_put     = in_i && !act_i.over
      && ((s_i.phase == rma_requester_pkg::PH_PARK && !fetch_full && !waits_full)
          || (s_i.phase == rma_requester_pkg::PH_DRAIN && !fetching));
    may_express = in_i && !act_i.over && s_i.phase == rma_requester_pkg::PH_FETCH && !fetching && !waits_full;
    if (may_put) s_o.phase = rma_requester_pkg::PH_PUT;
    if (may_express) s_o.phase = rma_requester_pkg::PH_READY;

    if (ends) begin
      s_o.phase   = over ? rma_requester_pkg::PH_IDLE : rma_requester_pkg::PH_NOTE;
      s_o.tail    = 1'b0;
      s_o.retries = '0;
      s_o.fail    = ggas_pkg::ST_OK;
      s_o.offset  = '0;
    end
    if (!awaits && (s_i.phase != rma_requester_pkg::PH_ANSWER || ends)) s_o.link = 1'b0;

    s_o.fetching   = fetching;
    s_o.fetch_full = fetch_full;
    s_o.leads      = s_i.ahead != '0 || last;
    s_o.awaits     = awaits;
    s_o.waits_full = waits_full;
    s_o.clogged    = s_i.note != rma_requester_pkg::NOTE_NONE || fetching || waits_full;
    s_o.retried    = s_i.retries != '0 && !ends;
  end

  assign freed_o   = over;
  assign put_o     = act_i.push_put || (act_i.cmd && !last_i) || may_put;
  assign express_o = act_i.push_exp || may_express;
  assign active_o  = s_o.phase != rma_requester_pkg::PH_IDLE || fetching || awaits;
  assign waiting_o = awaits || (!ends && (s_i.phase == rma_requester_pkg::PH_ANSWER
                                          || s_i.phase == rma_requester_pkg::PH_PAUSE));
  assign refused_o = s_i.note == rma_requester_pkg::NOTE_FULL;

endmodule

`default_nettype wire
