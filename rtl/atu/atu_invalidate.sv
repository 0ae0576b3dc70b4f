// SPDX-License-Identifier: Apache-2.0
// Invalidations: drop the page (or everything at once, or a range set by set), wait for the walks begun before (their
// results are used, but not cached), then for the uses of translations given out before. New translations continue. A
// client that ends its uses in order is done when as many uses have ended as were open; a client that ends them in any
// order gets no translation until all of its uses have ended. So an invalidation ends even if clients are busy.
`default_nettype none

module atu_invalidate #(
    parameter int unsigned          CLIENTS   = 5,
    // clients that end uses in another order than they got translations
    parameter logic [CLIENTS-1:0]   UNORDERED = 5'b10000,
    parameter int unsigned          USES_W    = 9,         // log2 of the uses a client may have open, plus 1
    parameter int unsigned          SETS      = 64         // of the TLB
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // ATU_INVALIDATE, ATU_STATUS
    input  wire logic                inv_start_i,
    input  wire logic                inv_all_i,
    input  wire logic                inv_range_i,
    input  wire logic [63:12]        inv_page_i,
    input  wire logic [63:12]        inv_last_i,    // of a range
    output      logic [31:0]         inv_done_o,
    output      logic                inv_busy_o,

    // to the TLB
    output      logic                drop_o,        // wants its turn
    output      logic                drop_all_o,
    output      logic                drop_range_o,
    output      logic [63:12]        drop_page_o,
    output      logic [63:12]        drop_last_o,
    output      logic [$clog2(SETS)-1:0] drop_set_o,  // a range: of this set
    input  wire logic                taken_i,       // it goes into the pipeline
    input  wire logic                dropped_i,     // the TLB has dropped it (at this edge)

    // uses
    input  wire logic [CLIENTS-1:0]  walking_i,     // walks under way
    // pulses, a cycle after the stage in which the TLB drops: a walk is answered; a good translation
    input  wire logic [CLIENTS-1:0]  walked_i,
    input  wire logic [CLIENTS-1:0]  given_i,
    input  wire logic [CLIENTS-1:0]  done_i,        // pulse: its use has ended
    output      logic [CLIENTS-1:0]  stale_o,       // this client's walk was begun before
    output      logic [CLIENTS-1:0]  hold_o,        // no translation for it now (a cycle after: the drop is first)
    output      logic                busy_o
);
  localparam logic [2:0] I_IDLE = 3'd0, I_DROP = 3'd1, I_DROPPING = 3'd2, I_WALKS = 3'd3, I_USES = 3'd4;

  // ---------------------------------------------------------------- what is asked for
  logic         pend_q, pend_all_q, pend_range_q;
  logic [63:12] pend_page_q, pend_last_q;
  logic [31:0]  asked_q, target_q;   // invalidations asked for; those finished with this one
  logic [2:0]   state_q;
  wire          begins = state_q == I_IDLE && pend_q;
  wire          ends;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pend_q      <= 1'b0;
      pend_all_q  <= 1'b0;
      pend_range_q <= 1'b0;
      pend_page_q <= '0;
      pend_last_q <= '0;
      asked_q     <= '0;
      target_q    <= '0;
      inv_done_o  <= '0;
      drop_all_o  <= 1'b0;
      drop_range_o <= 1'b0;
      drop_page_o <= '0;
      drop_last_o <= '0;
    end else begin
      if (begins) begin
        pend_q      <= 1'b0;
        target_q    <= asked_q;
        drop_all_o   <= pend_all_q;
        drop_range_o <= pend_range_q && !pend_all_q;
        drop_page_o  <= pend_page_q;
        drop_last_o  <= pend_last_q;
      end
      if (inv_start_i) begin
        asked_q     <= asked_q + 1'b1;
        pend_q      <= 1'b1;
        pend_all_q  <= inv_all_i || (pend_q && !begins) || (inv_range_i && inv_page_i[47:46] != inv_last_i[47:46]);
        pend_range_q <= inv_range_i;
        pend_page_q <= inv_page_i;
        pend_last_q <= inv_last_i;
      end
      if (ends) inv_done_o <= target_q;
    end
  end
  assign inv_busy_o = pend_q || state_q != I_IDLE;
  assign drop_o     = state_q == I_DROP;

  // ---------------------------------------------------------------- uses
  logic [CLIENTS*USES_W-1:0] open_q, left_q;  // a slice a client: uses open; of them, those before the drop
  logic [CLIENTS-1:0]        none_left;
  wire                       count = state_q == I_WALKS && stale_o == '0;
  assign ends = state_q == I_USES && &none_left;

  for (genvar c = 0; c < CLIENTS; c++) begin : gen_client
    wire [USES_W-1:0] open = open_q[USES_W*c+:USES_W];
    wire [USES_W-1:0] left = left_q[USES_W*c+:USES_W];
    assign none_left[c] = left == '0;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        open_q[USES_W*c+:USES_W] <= '0;
        left_q[USES_W*c+:USES_W] <= '0;
        hold_o[c]                <= 1'b0;
      end else begin
        hold_o[c] <= UNORDERED[c] && state_q != I_IDLE && !(state_q == I_USES && none_left[c]);
        if (given_i[c] != done_i[c]) open_q[USES_W*c+:USES_W] <= given_i[c] ? open + 1'b1 : open - 1'b1;
        if (count) left_q[USES_W*c+:USES_W] <= done_i[c] ? open - 1'b1 : open;
        else if (done_i[c] && !none_left[c]) left_q[USES_W*c+:USES_W] <= left - 1'b1;
      end
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) if (rst_ni) begin
      assert (!done_i[c] || open != '0) else $error("atu: a use ends that never began");
      assert (left <= open);
      assert (!(count && UNORDERED[c] && given_i[c]));
    end
`endif
  end

  // ---------------------------------------------------------------- steps
  localparam int unsigned SB = $clog2(SETS);
  wire last_set = !drop_range_o || drop_set_o == {SB{1'b1}};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) drop_set_o <= '0;
    else if (begins) drop_set_o <= '0;
    else if (dropped_i) drop_set_o <= drop_set_o + 1'b1;
  end
  // Marks walks that began before the first step. Such a walk may find a translation in a set that was not yet reached;
  // then the use of that translation must end, too.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= I_IDLE;
      stale_o <= '0;
    end else begin
      if (dropped_i && (!drop_range_o || drop_set_o == '0)) stale_o <= walking_i;
      else if (walked_i != '0) stale_o <= stale_o & ~walked_i;
      case (state_q)
        I_IDLE:     if (begins) state_q <= I_DROP;
        I_DROP:     if (taken_i) state_q <= I_DROPPING;
        I_DROPPING: state_q <= last_set ? I_WALKS : I_DROP;
        I_WALKS:    if (count) state_q <= I_USES;
        default:    if (ends) state_q <= I_IDLE;
      endcase
    end
  end
  assign busy_o = begins || drop_o || state_q == I_DROPPING || count || ends;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni) assert (dropped_i == (state_q == I_DROPPING));
`endif
endmodule

`default_nettype wire
