// SPDX-License-Identifier: Apache-2.0
// Between coll_in and the engine: an own contribution with a fence waits here until the SMFU has answered a quiet that
// covers every store before it. Everything else passes in the same cycle. One quiet at a time, the groups in turns; an
// answer that coincides with an arrival waits a cycle or two for it.
`default_nettype none

module coll_fence (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [7:0]          enable_i,       // groups; one that is switched off forgets its fence

    // coll_in: what is whole; with `fenced` an own contribution, and the page of its owner
    input  wire logic                arrive_i,
    input  wire logic                result_i,
    input  wire logic [2:0]          group_i,
    input  wire logic [2:0]          slot_i,
    input  wire coll_pkg::ask_t      ask_i,
    input  wire logic                fenced_i,
    input  wire logic [7:0]          page_i,

    // engine
    output      logic                arrive_o,
    output      logic                result_o,
    output      logic [2:0]          group_o,
    output      logic [2:0]          slot_o,
    output      coll_pkg::ask_t      ask_o,          // its status is the quiet's
    output      logic [7:0]          waits_o,        // groups whose own contribution waits here

    // SMFU
    output      logic                quiet_o,
    output      logic [7:0]          quiet_page_o,
    input  wire logic                quiet_done_i,
    input  wire logic [3:0]          quiet_status_i,
    output      logic                busy_o
);
  localparam int unsigned AW = coll_pkg::ASK_W;
  logic [AW-1:0] ask_q [0:7];
  logic [7:0]    page_q [0:7];

  // ---------------------------------------------------------------- whose turn
  logic [2:0] group_q, pick;
  logic       asked_q, done_q;  // a quiet is under way for group_q; it was answered
  logic       stale_q;          // the operation is no more
  logic [3:0] status_q;
  always_comb begin
    pick = group_q;
    // the last of these: group_q + 1
    for (int i = 0; i < 8; i = i + 1) if (waits_o[group_q - i[2:0]]) pick = group_q - i[2:0];
  end
  assign quiet_o      = !asked_q && !done_q && waits_o != '0;
  assign quiet_page_o = page_q[pick];

  // ---------------------------------------------------------------- on to the engine
  wire waits  = arrive_i && fenced_i;
  wire passes = done_q && !arrive_i;
  assign arrive_o = arrive_i ? !fenced_i : done_q && !stale_q && enable_i[group_q];
  assign result_o = arrive_i && result_i;
  assign group_o  = arrive_i ? group_i : group_q;
  assign slot_o   = arrive_i ? slot_i : 3'd0;
  always_comb begin
    ask_o = ask_i;
    if (!arrive_i) begin
      ask_o        = ask_q[group_q];
      ask_o.status = status_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_o <= '0;
      asked_q <= 1'b0;
      done_q  <= 1'b0;
      stale_q <= 1'b0;
      group_q <= '0;
    end else begin
      if (waits) waits_o[group_i] <= 1'b1;
      if (passes && !stale_q) waits_o[group_q] <= 1'b0;
      for (int g = 0; g < 8; g = g + 1) if (!enable_i[g]) waits_o[g] <= 1'b0;
      if (quiet_o) group_q <= pick;
      asked_q <= quiet_o || (asked_q && !quiet_done_i);
      done_q  <= quiet_done_i || (done_q && !passes);
      stale_q <= quiet_o ? !enable_i[pick] : stale_q || !enable_i[group_q];
    end
  end
  always_ff @(posedge clk_i) begin
    if (waits) ask_q[group_i] <= ask_i;
    if (waits) page_q[group_i] <= page_i;
    if (quiet_done_i) status_q <= quiet_status_i;
  end
  // The answer itself comes with a cycle of its own.
  assign busy_o = quiet_o || quiet_done_i || done_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && quiet_done_i) assert (asked_q);
`endif
endmodule

`default_nettype wire
