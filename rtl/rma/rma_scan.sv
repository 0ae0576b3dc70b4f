// SPDX-License-Identifier: Apache-2.0
// Which contexts must be looked at: on every tick those that wait for an answer or pause, then those whose own notification met a
// full ring. Without any there is no walk; groups of 16 contexts without any are passed in a cycle.
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

  logic [255:0] wait_q, full_q;
  logic [9:0]   at_q;     // 512: not walking; else which list, context
  logic         due_q;    // a tick came while walking

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q <= '0;
      full_q <= '0;
    end else if (set_i) begin
      wait_q[set_vpid_i] <= set_wait_i;
      full_q[set_vpid_i] <= set_full_i;
    end
  end

  // ---------------------------------------------------------------- next context of the group
  wire         walking = !at_q[9];
  logic [15:0] group;
  logic [3:0]  first;
  always_comb begin
    group = '0;
    first = '0;
    if (walking && !valid_o) begin
      group = (at_q[8] ? full_q[{at_q[7:4], 4'd0}+:16] : wait_q[{at_q[7:4], 4'd0}+:16]) & (16'hffff << at_q[3:0]);
      for (int i = 15; i >= 0; i--) if (group[i]) first = i[3:0];
    end
  end
  wire hit = group != '0;

  assign timer_o = wait_q != '0 || full_q != '0;
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
        at_q <= hit ? {at_q[9:4], first} + 10'd1 : {at_q[9:4], 4'd0} + 10'd16;
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
