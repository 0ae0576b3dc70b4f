// SPDX-License-Identifier: Apache-2.0
// Finds the contexts to check: on every tick those that wait for an answer or pause, then those whose own notification
// found a full ring. If there are none there is no scan; groups of 16 contexts without any are skipped in a cycle.
`default_nettype none

module rma_scan (
    input  wire logic        clk_i,
    input  wire logic        rst_ni,
    input  wire logic        tick_i,       // this cycle begins a tick

    // what a context does from now on
    input  wire logic        set_i,
    input  wire logic [7:0]  set_vpid_i,
    input  wire logic        set_wait_i,   // waits for an answer or pauses
    input  wire logic        set_full_i,   // has a notification to repeat

    output      logic        valid_o,      // look at vpid_o
    input  wire logic        ready_i,
    output      logic [7:0]  vpid_o,
    output      logic        full_o,       // for its notification
    output      logic        busy_o,       // walking
    output      logic        timer_o       // the next tick matters
);

  localparam int unsigned GROUPS = ggas_pkg::CONTEXTS > 16 ? ggas_pkg::CONTEXTS / 16 : 2;
  localparam int unsigned GW     = $clog2(GROUPS);
  localparam logic [GW-1:0] LAST = ggas_pkg::CONTEXTS > 16 ? '1 : '0;

  // ---------------------------------------------------------------- two bits a context, in RAM of LUTs; their number
  logic [31:0]       word_q [GROUPS];       // of 16 contexts: refused, waiting
  logic [GROUPS-1:0] known_q;               // written since reset
  logic [8:0]        wait_count_q, full_count_q;
  logic [31:0]       old_word, new_word;
  wire  [GW-1:0]     set_group = set_vpid_i[GW+3:4];
  wire  [3:0]        set_at    = set_vpid_i[3:0];
  wire               was_wait  = old_word[{1'b0, set_at}];
  wire               was_full  = old_word[{1'b1, set_at}];
  always_comb begin
    old_word = '0;
    if (set_i && known_q[set_group]) old_word = word_q[set_group];
    new_word = old_word;
    new_word[{1'b0, set_at}] = set_wait_i;
    new_word[{1'b1, set_at}] = set_full_i;
  end
  always_ff @(posedge clk_i) if (set_i) word_q[set_group] <= new_word;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      known_q      <= '0;
      wait_count_q <= '0;
      full_count_q <= '0;
    end else if (set_i) begin
      known_q[set_group] <= 1'b1;
      if (set_wait_i != was_wait) wait_count_q <= set_wait_i ? wait_count_q + 9'd1 : wait_count_q - 9'd1;
      if (set_full_i != was_full) full_count_q <= set_full_i ? full_count_q + 9'd1 : full_count_q - 9'd1;
    end
  end

  // ---------------------------------------------------------------- the walk: a group is read, its contexts are named
  logic        walk_q;   // groups are left
  logic        list_q;   // 0: those that wait or pause, 1: those with a notification to repeat
  logic [GW-1:0] next_q; // group to read next
  logic [15:0] group_q;  // contexts of group at_q that are to be named
  logic [GW-1:0] at_q;
  logic        named_q;  // the list they are in
  logic        due_q;    // a tick came while walking
  logic [31:0] word;
  logic [3:0]  first, at;
  wire         walking = walk_q || group_q != '0;
  wire         room    = !valid_o && (group_q & (group_q - 16'd1)) == '0;  // the group may be replaced
  always_comb begin
    word  = '0;
    first = '0;
    at    = '0;
    at[GW-1:0] = at_q;
    if (walk_q && known_q[next_q]) word = word_q[next_q];
    if (group_q != '0) for (int i = 15; i >= 0; i--) if (group_q[i]) first = i[3:0];
  end

  assign timer_o = wait_count_q != '0 || full_count_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walk_q  <= 1'b0;
      list_q  <= 1'b0;
      next_q  <= '0;
      group_q <= '0;
      at_q    <= '0;
      named_q <= 1'b0;
      due_q   <= 1'b0;
      valid_o <= 1'b0;
      vpid_o  <= '0;
      full_o  <= 1'b0;
    end else begin
      if (valid_o && ready_i) valid_o <= 1'b0;
      if (!valid_o) begin
        valid_o <= group_q != '0;
        vpid_o  <= {at, first};
        full_o  <= named_q;
        group_q <= group_q & (group_q - 16'd1);
      end
      if (room && walk_q) begin
        group_q <= list_q ? word[31:16] : word[15:0];
        at_q    <= next_q;
        named_q <= list_q;
        next_q  <= next_q == LAST ? '0 : next_q + 1'b1;
        if (next_q == LAST) list_q <= !list_q;
        if (next_q == LAST && list_q) walk_q <= 1'b0;
      end
      if (walking) due_q <= due_q || tick_i;
      else if (due_q || tick_i) begin
        due_q <= 1'b0;
        walk_q <= timer_o;
      end
    end
  end

  assign busy_o = walking || valid_o || due_q;

endmodule

`default_nettype wire
