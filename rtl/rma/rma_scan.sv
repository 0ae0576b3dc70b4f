// SPDX-License-Identifier: Apache-2.0
// Which contexts must be looked at: on every tick those that wait for an answer or pause, then those whose own
// notification met a full ring. Without any there is no walk; groups of 16 contexts without any are passed in a
// cycle.
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

  // ---------------------------------------------------------------- two bits a context, in RAM of LUTs; how many are
  // set
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

  // ---------------------------------------------------------------- next context of the group
  logic [9:0]   at_q;     // 512: not walking; else which list, context
  logic         due_q;    // a tick came while walking
  wire          walking  = !at_q[9];
  wire [GW-1:0] at_group = at_q[GW+3:4];
  logic [15:0]  group;
  logic [3:0]   first;
  logic [31:0]  word;
  always_comb begin
    group = '0;
    first = '0;
    word  = '0;
    if (walking && !valid_o) begin
      if (known_q[at_group]) word = word_q[at_group];
      group = (at_q[8] ? word[31:16] : word[15:0]) & (16'hffff << at_q[3:0]);
      for (int i = 15; i >= 0; i--) if (group[i]) first = i[3:0];
    end
  end
  wire hit = group != '0;

  wire [8:0] next = hit ? {1'b0, at_q[7:4], first} + 9'd1 : {1'b0, at_q[7:4], 4'd0} + 9'd16;
  wire       ends = next == ggas_pkg::CONTEXTS[8:0];

  assign timer_o = wait_count_q != '0 || full_count_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q    <= 10'd512;
      due_q   <= 1'b0;
      valid_o <= 1'b0;
      vpid_o  <= '0;
      full_o  <= 1'b0;
    end else begin
      if (valid_o && ready_i) valid_o <= 1'b0;
      if (walking && !valid_o) begin
        at_q    <= ends ? (at_q[8] ? 10'd512 : 10'd256) : {1'b0, at_q[8], next[7:0]};
        valid_o <= hit;
        vpid_o  <= {at_q[7:4], first};
        full_o  <= at_q[8];
      end
      if (walking) due_q <= due_q || tick_i;
      else if (due_q || tick_i) begin
        due_q <= 1'b0;
        if (timer_o) at_q <= '0;
      end
    end
  end

  assign busy_o = walking || valid_o || due_q;

endmodule

`default_nettype wire
