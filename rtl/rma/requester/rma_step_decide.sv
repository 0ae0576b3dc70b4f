// SPDX-License-Identifier: Apache-2.0
// Third stage of a step: decides the new state of the context and the actions. An express packet is loaded at once; the
// rest follows when the step ends.
`default_nettype none

module rma_step_decide #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                         clk_i,
    input  wire logic                         rst_ni,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [63:0]                  time_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [15:0]                  cfg_node_i,
    input  wire logic [1:0]                   cfg_mtu_i,         // as in rma_requester
    input  wire logic [15:0]                  cfg_retry_ticks_i,
    input  wire logic [15:0]                  cfg_retry_limit_i,
    input  wire logic [15:0]                  cfg_timeout_i,
    input  wire logic                         peer_valid_i,
    input  wire logic                         link_up_i,

    // the step
    input  wire logic                         valid_i,
    input  wire logic [7:0]                   kind_i,            // one-hot, K_*; 0: none
    input  wire logic [7:0]                   vpid_i,
    input  wire rma_requester_pkg::known_t    known_i,
    input  wire logic [511:0]                 slots_i,           // after the first; stand until express_free_o
    input  wire logic                         cmd_free_i,        // a fetch command can be issued
    input  wire logic                         put_turn_i,        // no other put waits

    // answers, as in rma_requester
    input  wire logic                         ans_progress_i,
    input  wire logic [7:0]                   ans_vpid_i,
    output      logic [7:0]                   ans_look_vpid_o,
    input  wire logic                         ans_writes_i,
    output      logic                         ep_valid_o,
    output      logic [7:0]                   ep_vpid_o,
    output      logic [4:0]                   ep_epoch_o,

    // express packets, as in rma_express
    output      logic                         express_free_o,
    output      logic                         express_ends_o,
    output      logic                         express_held_o,
    output      logic [7:0]                   express_vpid_o,
    output      logic                         tx_valid_o,
    input  wire logic                         tx_ready_i,
    output      logic                         tx_sop_o,
    output      logic                         tx_eop_o,
    output      ggas_pkg::rma_hdr_t           tx_hdr_o,
    output      logic [DATA_W-1:0]            tx_data_o,

    // the step in its last stage
    output      logic                         valid_o,
    output      logic [7:0]                   kind_o,
    output      logic [7:0]                   vpid_o,
    output      rma_requester_pkg::decided_t  decided_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;
  localparam int unsigned K_DONE = rma_requester_pkg::K_DONE, K_NOTED = rma_requester_pkg::K_NOTED,
      K_ANSWER = rma_requester_pkg::K_ANSWER, K_DESC = rma_requester_pkg::K_DESC, K_EXP = rma_requester_pkg::K_EXP,
      K_PUT = rma_requester_pkg::K_PUT, K_LATE = rma_requester_pkg::K_LATE, K_RETRY = rma_requester_pkg::K_RETRY;

  // verilator lint_off UNUSEDSIGNAL
  rma_pkg::desc_w0_t w0;
  // verilator lint_on UNUSEDSIGNAL
  assign w0 = known_i.first[63:0];
  wire out    = kind_i[K_DESC] || kind_i[K_EXP] || kind_i[K_PUT];

  logic [16:0] now_q, timeout_q, pause_q;  // ticks
  always_ff @(posedge clk_i) begin
    now_q      <= time_i[26:10];
    timeout_q <= time_i[26:10] - {1'b0, cfg_timeout_i};
    pause_q    <= time_i[26:10] - {1'b0, cfg_retry_ticks_i};
  end

  logic       progress;  // data has come since the last look
  logic       express;
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2)) u_progress (
      .clk_i, .rst_ni, .we_i({ans_progress_i, kind_i[K_LATE]}),
      .waddr_i({ans_vpid_i[CW-1:0], vpid_i[CW-1:0]}), .wdata_i(2'b10), .raddr_i(vpid_i[CW-1:0]),
      .rdata_o(progress));
  assign ans_look_vpid_o = vpid_i;

  rma_requester_pkg::state_t  state_out, state_in;
  rma_requester_pkg::action_t act_out, act_in;
  rma_step_out u_out (
      .desc_i(kind_i[K_DESC]), .known_i,
      .express_own_i(express_held_o && express_vpid_o == vpid_i), .express_free_i(express_free_o), .cmd_free_i,
      .put_turn_i, .now_i(now_q), .s_o(state_out), .act_o(act_out),
      .express_o(express));
  rma_step_in u_in (
      .done_i(kind_i[K_DONE]), .answer_i(kind_i[K_ANSWER]), .noted_i(kind_i[K_NOTED]),
      .late_i(kind_i[K_LATE]), .retry_i(kind_i[K_RETRY]), .s_i(known_i.state), .put_i(known_i.put),
      .ans_i(known_i.answer), .last_i(known_i.last), .status_i(known_i.status), .enabled_i(known_i.enabled),
      .progress_i(progress), .writes_i(ans_writes_i), .link_dead_i(!(peer_valid_i && link_up_i)),
      .cfg_retry_limit_i, .now_i(now_q), .timeout_i(timeout_q), .pause_i(pause_q), .s_o(state_in), .act_o(act_in));

  logic       chunk_last;
  logic [8:0] chunk_bytes;
  rma_chunk u_chunk (.cfg_mtu_i, .size_i(w0.size), .dst_i(known_i.first[135:128]), .offset_i(known_i.state.offset),
    .last_o(chunk_last), .bytes_o(chunk_bytes));

  rma_express #(.DATA_W(DATA_W)) u_express (
      .clk_i, .rst_ni, .cfg_node_i, .cfg_mtu_i, .load_i(express_free_o && (kind_i[K_DESC] || kind_i[K_EXP])),
      .go_i(express), .tail_i(known_i.state.tail), .status_i(known_i.state.fail), .vpid_i(vpid_i),
      .pd_i(known_i.state.pd), .epoch_i({state_out.packets, known_i.state.flags.what}), .w0_i(w0),
      .w1_i(known_i.first[127:64]), .w2_i(known_i.first[191:128]), .cookie_i(known_i.first[255:192]), .slots_i,
      .free_o(express_free_o), .ends_o(express_ends_o), .held_o(express_held_o), .held_vpid_o(express_vpid_o),
      .tx_valid_o, .tx_ready_i, .tx_sop_o, .tx_eop_o, .tx_hdr_o, .tx_data_o);

  rma_requester_pkg::decided_t decided;
  always_comb begin
    decided.state  = out ? state_out : state_in;
    decided.act    = out ? act_out : act_in;
    decided.in     = !out;
    decided.first  = known_i.first;
    decided.answer = known_i.answer;
    decided.last   = chunk_last;
    decided.bytes  = chunk_bytes;
    decided.reported   = known_i.reported;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o    <= 1'b0;
      kind_o     <= '0;
      ep_valid_o <= 1'b0;
    end else begin
      valid_o    <= valid_i;
      kind_o     <= kind_i;
      ep_valid_o <= kind_i[K_LATE] && act_in.give_up;
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      vpid_o     <= vpid_i;
      decided_o  <= decided;
      ep_epoch_o <= state_in.epoch;
    end
  end
  assign ep_vpid_o = vpid_o;

endmodule

`default_nettype wire
