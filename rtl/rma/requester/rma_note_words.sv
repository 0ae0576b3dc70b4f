// SPDX-License-Identifier: Apache-2.0
// The two words of a notification that a step asks for. Combinational.
`default_nettype none

module rma_note_words (
    // verilator lint_off UNUSEDSIGNAL
    input  wire rma_requester_pkg::action_t  act_i,
    input  wire rma_requester_pkg::answer_t  ans_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [63:0]                 cookie_i,
    input  wire logic [127:0]                words_i,   // 0 and 1 of the descriptor, or a refused notification
    output      logic [63:0]                 w0_o,
    output      rma_pkg::note_w1_t          w1_o
);

  // verilator lint_off UNUSEDSIGNAL
  rma_pkg::desc_w0_t desc;
  // verilator lint_on UNUSEDSIGNAL
  assign desc = words_i[63:0];
  wire answer = act_i.words == rma_requester_pkg::NW_ANSWER;
  wire lost   = act_i.words == rma_requester_pkg::NW_LOST;

  always_comb begin
    w0_o = act_i.answer_w0 || answer ? ans_i.addr : cookie_i;
    if (lost) w0_o = '0;
    w1_o        = '0;
    w1_o.kind   = act_i.error ? rma_pkg::NOTE_ERROR : act_i.completer ? rma_pkg::NOTE_COMPLETER
                  : rma_pkg::NOTE_REQUESTER;
    w1_o.status = act_i.status;
    if (answer) begin
      w1_o.op   = {5'd0, ans_i.epoch[2:0]};
      w1_o.node = ans_i.node;
      w1_o.vpid = ans_i.dvpid;
    end else if (lost) begin
      w1_o.size = {16'd0, act_i.remote_done};
    end else begin
      w1_o.op   = {4'd0, desc.op};
      w1_o.node = desc.node;
      w1_o.vpid = desc.dvpid;
      w1_o.size = desc.size;
    end
    if (act_i.words == rma_requester_pkg::NW_RECORD) begin
      w0_o = words_i[63:0];
      w1_o = words_i[127:64];
    end
  end

endmodule

`default_nettype wire
