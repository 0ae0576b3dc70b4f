// SPDX-License-Identifier: Apache-2.0
// First stage of a step: chooses one of the waiting inputs and accepts it. The slots after the first follow a new
// descriptor beat by beat; for a descriptor that waited they are read from memory before the first. Nothing else begins
// meanwhile.
`default_nettype none

module rma_step_begin (
    input  wire logic                         clk_i,
    input  wire logic                         rst_ni,
    input  wire logic                         room_i,           // one more may count and notify
    input  wire logic                         express_i,        // an express packet may be in flight in two cycles
    input  wire logic                         command_i,        // a fetch command likewise
    input  wire logic                         keep_i,           // memory is written otherwise: no descriptor is taken

    // descriptors
    input  wire logic                         desc_valid_i,
    output      logic                         desc_ready_o,
    input  wire logic                         desc_eop_i,
    input  wire logic [7:0]                   desc_vpid_i,
    input  wire logic [15:0]                  desc_pd_i,
    input  wire logic [4:0]                   desc_starts_i,
    input  wire logic [255:0]                 desc_data_i,

    // the oldest done fetch command; soon: another one after it, or it itself in the next cycle
    input  wire logic                         done_valid_i,
    input  wire logic                         done_soon_i,
    input  wire logic [7:0]                   done_vpid_i,
    input  wire logic [3:0]                   done_status_i,
    input  wire logic                         done_last_i,
    input  wire rma_requester_pkg::flags_t    done_flags_i,
    input  wire rma_pkg::desc_w0_t           done_w0_i,
    input  wire logic [63:0]                  done_cookie_i,

    // a notification's answer, an answer of a target
    input  wire logic                         noted_valid_i,
    input  wire logic [7:0]                   noted_vpid_i,
    input  wire logic [3:0]                   noted_status_i,
    input  wire logic                         ans_valid_i,
    input  wire logic [7:0]                   ans_vpid_i,
    input  wire logic [3:0]                   ans_status_i,
    input  wire rma_requester_pkg::answer_t   ans_i,

    // heads of the queues; the look at contexts that wait
    input  wire logic                         exp_valid_i,
    input  wire logic [7:0]                   exp_vpid_i,
    input  wire logic                         exp_slots_i,      // it has slots after the first
    input  wire logic                         put_valid_i,
    input  wire logic [7:0]                   put_vpid_i,
    input  wire logic                         late_valid_i,
    input  wire logic [7:0]                   late_vpid_i,
    input  wire logic                         late_full_i,      // for its notification
    output      logic [7:0]                   pick_o,           // one-hot, K_*: taken

    // memory: in every cycle state and word of a context, which come in the next one; slots of a new descriptor
    output      logic [7:0]                   vpid_o,
    output      logic [1:0]                   word_o,
    input  wire logic [255:0]                 word_i,
    output      logic                         we_o,
    output      logic [1:0]                   we_word_o,        // of vpid_o

    // the step, in its second stage
    output      logic                         valid_o,
    output      logic [7:0]                   kind_o,           // one-hot, K_*; 0: none
    output      logic [7:0]                   step_vpid_o,
    output      rma_requester_pkg::brought_t  brought_o,
    output      logic [511:0]                 slots_o,          // after the first; stands until the next ones
    output      logic                         busy_o,           // more slots are to come, for context vpid_o
    output      logic [7:0]                   busy_vpid_o
);
  localparam int unsigned K_DESC = rma_requester_pkg::K_DESC, K_EXP = rma_requester_pkg::K_EXP,
      K_RETRY = rma_requester_pkg::K_RETRY;

  localparam logic [1:0] B_IDLE = 2'd0, B_BEATS = 2'd1, B_SLOT = 2'd2, B_LAST = 2'd3;
  logic [1:0] state_q;
  logic [7:0] vpid_q, pick_vpid, turn;
  logic       third_q;    // the next beat is the third slot
  logic       go_out;
  wire        idle   = state_q == B_IDLE;
  wire        beats  = state_q == B_BEATS;
  wire        load   = pick_o[K_EXP] && exp_slots_i;  // first its other slots
  wire        ends   = desc_valid_i && desc_ready_o && desc_eop_i;

  rma_choice u_choice (
      .clk_i, .rst_ni, .open_i(idle), .last_valid_i(valid_o), .last_vpid_i(step_vpid_o), .room_i, .keep_i,
      .noted_i(noted_valid_i), .noted_vpid_i, .done_i(done_valid_i), .done_soon_i, .done_vpid_i,
      .answer_i(ans_valid_i), .answer_vpid_i(ans_vpid_i), .desc_i(desc_valid_i && express_i), .desc_vpid_i,
      .exp_i(exp_valid_i && express_i), .exp_vpid_i, .put_i(put_valid_i && command_i), .put_vpid_i,
      .scan_i(late_valid_i), .full_i(late_full_i), .scan_vpid_i(late_vpid_i), .go_out_o(go_out),
      .turn_o(turn), .vpid_o(pick_vpid), .pick_o);

  assign desc_ready_o = pick_o[K_DESC] || (beats && !keep_i);
  wire   enter        = ends || state_q == B_LAST || (pick_o != '0 && !pick_o[K_DESC] && !load);
  assign vpid_o       = idle ? pick_vpid : vpid_q;
  assign word_o       = state_q == B_SLOT ? 2'd2 : state_q == B_LAST ? 2'd0
    : {turn[K_RETRY], turn[K_RETRY] || (turn[K_EXP] && exp_slots_i)};
  assign we_o         = desc_valid_i && desc_ready_o;
  assign we_word_o    = idle ? 2'd0 : {third_q, !third_q};
  assign busy_o       = !idle;
  assign busy_vpid_o  = vpid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= B_IDLE;
      kind_o  <= '0;
      valid_o <= 1'b0;
    end else begin
      case (state_q)
        B_IDLE:  state_q <= load ? B_SLOT : pick_o[K_DESC] && !desc_eop_i ? B_BEATS : B_IDLE;
        B_BEATS: if (ends) state_q <= B_IDLE;
        B_SLOT:  state_q <= B_LAST;
        default: state_q <= B_IDLE;
      endcase
      valid_o <= enter;
      kind_o  <= '0;
      if (enter) kind_o <= state_q == B_LAST ? 8'd1 << K_EXP : beats ? 8'd1 << K_DESC : pick_o;
    end
  end

  rma_requester_pkg::brought_t brought;
  always_comb begin
    brought.first  = go_out ? desc_data_i : {done_cookie_i, desc_data_i[191:64], done_w0_i};
    brought.pd     = desc_pd_i;
    brought.starts = desc_starts_i;
    brought.status = noted_valid_i ? noted_status_i : done_valid_i ? done_status_i : ans_status_i;
    brought.answer = ans_i;
    brought.put    = done_flags_i;
    brought.last   = done_last_i;
  end
  wire second = state_q == B_SLOT || (beats && !third_q);
  wire third  = state_q == B_LAST || (beats && third_q);
  always_ff @(posedge clk_i) begin
    if (idle) begin
      vpid_q    <= pick_vpid;
      third_q   <= 1'b0;
      brought_o <= brought;
    end
    step_vpid_o <= vpid_o;
    if (beats && desc_valid_i && desc_ready_o) third_q <= 1'b1;
    if (second) slots_o[255:0] <= beats ? desc_data_i : word_i;
    if (third) slots_o[511:256] <= beats ? desc_data_i : word_i;
  end

endmodule

`default_nettype wire
