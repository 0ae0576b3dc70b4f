// SPDX-License-Identifier: Apache-2.0
// Second stage of a step: state and descriptor of the context are read from memory, a new descriptor is decoded.
// Results that are certain already are reported: an express packet that leaves at once and needs nothing afterwards
// frees its context.
`default_nettype none

module rma_step_read #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                         clk_i,
    input  wire logic                         rst_ni,
    input  wire logic [15:0]                  cfg_node_i,
    input  wire logic [15:0]                  peer_node_i,
    input  wire logic                         peer_valid_i,
    input  wire logic                         link_up_i,
    input  wire ggas_pkg::context_write_t     context_i,       // writes of CONTEXT[]

    // the step
    input  wire logic                         valid_i,
    input  wire logic [7:0]                   kind_i,          // one-hot, K_*
    input  wire logic [7:0]                   vpid_i,
    input  wire rma_requester_pkg::brought_t  brought_i,
    input  wire logic [255:0]                 second_i,        // second slot of a new descriptor
    input  wire rma_requester_pkg::state_t    state_i,         // from memory
    input  wire logic                         fresh_i,         // written in this cycle
    input  wire logic [255:0]                 word_i,          // from memory
    input  wire logic                         express_free_i,  // and in the next cycle as well
    output      logic                         over_o,          // the context's next descriptor may come ...
    input  wire logic                         over_ready_i,    // ... if that can be reported

    // the step in its third stage
    output      logic                         valid_o,
    output      logic [7:0]                   kind_o,
    output      logic [7:0]                   vpid_o,
    output      logic                         long_o,          // it may load an express packet of more than a beat
    output      rma_requester_pkg::known_t    known_o
);
  localparam int unsigned K_DONE = rma_requester_pkg::K_DONE, K_DESC = rma_requester_pkg::K_DESC,
      K_EXP = rma_requester_pkg::K_EXP, K_PUT = rma_requester_pkg::K_PUT;

  logic enabled, bad;
  context_flags u_enabled (.clk_i, .rst_ni, .context_i, .flags_i(context_i.data[0]), .vpid_i, .flags_o(enabled));

  // verilator lint_off UNUSEDSIGNAL
  rma_pkg::desc_w0_t w0;
  // verilator lint_on UNUSEDSIGNAL
  rma_requester_pkg::flags_t flags;
  assign w0 = brought_i.first[63:0];
  rma_decode u_decode (.cfg_node_i, .peer_node_i, .w0_i(w0), .w2_i(brought_i.first[130:128]), .second_i, .bad_o(bad),
    .flags_o(flags));
  rma_requester_pkg::flags_t held;  // of the descriptor in question
  assign held = kind_i[K_DESC] ? flags : state_i.flags;
  wire link     = peer_valid_i && link_up_i;
  wire reach    = flags.own || (flags.peer && link);
  wire good     = kind_i[K_DESC] && enabled && !bad;
  wire is_nop   = w0.op == rma_pkg::DESC_NOP;
  wire is_put   = w0.op == rma_pkg::DESC_PUT;
  wire one_beat = is_put || w0.op == rma_pkg::DESC_IMM || (DATA_W > 64 && !flags.slots);
  // Nothing that follows can change it: not even what is written now, of which little is known in this cycle.
  assign over_o = good && reach && !flags.hold && !is_put && !is_nop && express_free_i && !state_i.clogged
    && !fresh_i;

  rma_requester_pkg::known_t known;
  always_comb begin
    known.state = state_i;
    known.state.flags = held;
    if (kind_i[K_DESC]) known.state.pd = brought_i.pd;
    known.first   = kind_i[K_DESC] || kind_i[K_DONE] ? brought_i.first : word_i;
    known.starts  = brought_i.starts;
    known.status  = brought_i.status;
    known.answer  = brought_i.answer;
    known.put     = brought_i.put;
    known.last    = brought_i.last;
    known.route   = held.peer && peer_valid_i;
    known.reach   = held.own || (held.peer && link);
    known.todo.bad     = kind_i[K_DESC] && enabled && bad;
    known.todo.nop     = good && is_nop;
    known.todo.nowhere = good && !is_nop && !reach;
    known.todo.put     = (good && is_put && reach)
                         || (kind_i[K_PUT] && state_i.phase == rma_requester_pkg::PH_PUT);
    known.todo.express = (good && !is_put && !is_nop && reach)
                         || (kind_i[K_EXP] && state_i.phase == rma_requester_pkg::PH_READY);
    known.enabled = enabled;
    known.reported    = over_o && over_ready_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o <= 1'b0;
      kind_o  <= '0;
    end else begin
      valid_o <= valid_i;
      kind_o  <= kind_i;
    end
  end
  always_ff @(posedge clk_i) begin
    long_o <= kind_i[K_EXP] || (kind_i[K_DESC] && !one_beat);
    if (valid_i) begin
      vpid_o  <= vpid_i;
      known_o <= known;
    end
  end

endmodule

`default_nettype wire
