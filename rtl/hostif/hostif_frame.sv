// SPDX-License-Identifier: Apache-2.0
// Follows the beats of one inbound TLP stream: the beat that starts a TLP, the beats to store, and beats that disagree
// with the length. After any error the next sop starts again.
`default_nettype none

module hostif_frame (
  input  wire               clk_i,
  input  wire               rst_ni,

  input  wire               valid_i,
  output logic              ready_o,
  input  wire               sop_i,
  input  wire               eop_i,
  input  wire               room_i,      // the beat can be taken
  input  wire  [10:0]       beats_i,     // with sop_i: beats the header asks for, at least 1
  input  wire               keep_i,      // with sop_i: the TLP is worth storing

  output logic              first_o,     // a TLP begins
  output logic              store_o,     // store this beat
  output logic              abort_o,     // forget the beats of the open TLP
  output logic              cut_o,       // a new TLP cuts the one before short
  output logic              stray_o,     // a beat outside any TLP
  output logic              wrong_end_o  // the TLP ends too early or too late
);

  logic        in_pkt_q;  // between sop and eop
  logic        drop_q;    // the TLP is of no use; only its eop matters
  logic [10:0] left_q;    // beats to come

  // A TLP that is cut short is dealt with in a cycle of its own, before the one that cuts it.
  assign cut_o       = valid_i && sop_i && in_pkt_q && !drop_q;
  assign ready_o     = room_i && !cut_o;
  wire   fire        = valid_i && ready_o;
  wire   next        = fire && !sop_i;
  assign first_o     = fire && sop_i;
  assign stray_o     = next && !in_pkt_q;
  assign wrong_end_o = next && in_pkt_q && !drop_q && (eop_i != (left_q == 11'd1));
  assign store_o     = (first_o && keep_i) || (next && in_pkt_q && !drop_q && !wrong_end_o);
  assign abort_o     = cut_o || wrong_end_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_pkt_q <= 1'b0;
      drop_q   <= 1'b0;
    end else if (cut_o) begin
      in_pkt_q <= 1'b0;
    end else if (fire) begin
      in_pkt_q <= !eop_i;
      if (sop_i) drop_q <= !keep_i;
      else if (stray_o || wrong_end_o) drop_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (first_o) left_q <= beats_i - 11'd1;
    else if (next) left_q <= left_q - 11'd1;
  end

endmodule

`default_nettype wire
