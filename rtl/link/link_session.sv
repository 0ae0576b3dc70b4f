// SPDX-License-Identifier: Apache-2.0
// State of a link and the handshake of its sessions (docs/link.md). Each side draws a number for every session. A side
// is UP when the other side has returned its number (met), and it has reported so; until then only hellos are accepted.
// A hello with any other pair of numbers ends the session: the other side has begun a new one.
`default_nettype none

module link_session (
    input  wire logic         clk_i,
    input  wire logic         rst_ni,
    input  wire logic [9:0]   time_i,         // core cycles; must go on through a reset
    input  wire logic         tick_i,         // in INIT say hello again
    // what the session depends on
    input  wire logic         phy_up_i,
    input  wire logic         taken_i,        // every packet that was received has been taken by its unit
    input  wire logic         discarded_i,    // no packet is half accepted or unacknowledged any more
    input  wire logic         give_up_i,      // too many replays or polls without progress
    input  wire logic         retrain_i,      // pulse: leave DEAD, once all was discarded
    // arriving CTRL flits, intact
    input  wire logic         ctrl_valid_i,
    input  wire logic [31:0]  ctrl_i,         // link_ctrl_t or link_hello_t
    input  wire logic         packet_i,       // the end of a packet arrived
    output      logic         ctrl_ours_o,    // its acknowledgement and credits belong to this session
    // hellos to send
    output      logic         hello_o,        // pulse: say it
    output      logic [31:0]  hello_content_o,
    input  wire logic         reported_i,         // the content as it is now was sent
    // state
    output      logic [1:0]   state_o,        // LINK_STATE_*
    output      logic         up_o,
    output      logic         down_o,         // everything of the last session is forgotten
    output      logic         dead_o,
    output      logic         ev_dead_o,      // pulse: UP ends
    output      logic         busy_o,
    output      logic         timer_o,
    output      logic [link_pkg::SESSION_TAG_W-1:0] mine_o,   // tag of what arrives
    output      logic [link_pkg::SESSION_TAG_W-1:0] yours_o   // tag of what is sent
);
  localparam int unsigned TAG_W = link_pkg::SESSION_TAG_W;
  // The same as ggas_regs_pkg::LINK_STATE_*.
  localparam logic [1:0] DOWN = 2'd0, INIT = 2'd1, UP = 2'd2, DEAD = 2'd3;

  logic [1:0] state_d;
  logic [link_pkg::SESSION_W-1:0] mine_q, yours_q;
  logic       seen_q;     // yours_q is what the other side said
  logic       met_q;      // the other side said mine_q back
  logic       retrain_q;  // asked for, waiting for packets to be discarded
  logic       reported_q;     // what is said now was sent in the cycle before
  logic       awake_q;    // reset is over: no number is drawn while it lasts
  logic       init;

  assign init   = state_o == INIT;
  assign down_o = state_o == DOWN;
  assign dead_o = state_o == DEAD;
  assign mine_o  = mine_q[TAG_W-1:0];
  assign yours_o = yours_q[TAG_W-1:0];

  // ---------------------------------------------------------------- what arrives
  link_pkg::link_ctrl_t  ctrl;
  link_pkg::link_hello_t hello;
  logic hello_valid;  // of a living side
  logic dead_valid;
  logic echo, same, fatal;
  assign ctrl  = ctrl_i;
  assign hello = ctrl_i;
  assign hello_valid = ctrl_valid_i && hello.hello && !hello.dead;
  assign dead_valid  = ctrl_valid_i && hello.hello && hello.dead;
  assign echo = hello.seen && hello.yours == mine_q;
  assign same = echo && hello.mine == yours_q;
  assign ctrl_ours_o = up_o && ctrl_valid_i && !ctrl.hello && ctrl.session == mine_o;
  assign fatal = !phy_up_i || give_up_i || (hello_valid && !same) || (dead_valid && same);
  logic unused_bits;
  assign unused_bits = ^{ctrl.rsvd, ctrl.poll, ctrl.nak, ctrl.credit_vc, ctrl.credit, ctrl.ack_seq};

  // ---------------------------------------------------------------- hellos to send
  // In INIT every hello is answered; in UP only a hello whose sender has not seen this session. A dead side informs a
  // peer that sends to it.
  assign hello_content_o = {1'b1, dead_o, met_q, seen_q, yours_q, mine_q};
  assign hello_o = (state_d != state_o && state_d[0]) || (init && (tick_i || hello_valid))
      || (up_o && hello_valid && !hello.met) || (dead_o && (packet_i || (ctrl_valid_i && !dead_valid)));

  // ---------------------------------------------------------------- state
  always_comb begin
    state_d = state_o;
    case (state_o)
      DOWN: if (awake_q && phy_up_i && taken_i) state_d = INIT;
      INIT: begin
        if (!phy_up_i) state_d = DOWN;
        else if (met_q && reported_q && (!hello_valid || same)) state_d = UP;
      end
      UP: if (fatal) state_d = DEAD;
      default: if (retrain_q && discarded_i) state_d = DOWN;
    endcase
  end
  assign ev_dead_o = up_o && fatal;
  assign timer_o = init;
  assign busy_o = state_d != state_o || retrain_q || !awake_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_o   <= DOWN;
      up_o      <= 1'b0;
      seen_q    <= 1'b0;
      met_q     <= 1'b0;
      reported_q    <= 1'b0;
      yours_q   <= '0;
      retrain_q <= 1'b0;
      awake_q   <= 1'b0;
    end else begin
      awake_q   <= 1'b1;
      state_o   <= state_d;
      up_o      <= state_d == UP;
      retrain_q <= (retrain_q || retrain_i) && dead_o;
      reported_q    <= init && reported_i && (!hello_valid || same);
      if (down_o) begin
        seen_q <= 1'b0;
        met_q  <= 1'b0;
      end else if (init && hello_valid) begin
        seen_q  <= 1'b1;
        met_q   <= echo;
        yours_q <= hello.mine;
      end
    end
  end
  // Not reset: a number must not be used again while flits of its session may still be in flight, even if the link is
  // reset many times in sequence. After power-up the numbers differ because they contain the time.
  always_ff @(posedge clk_i) begin
    if (down_o && state_d == INIT) mine_q <= {time_i, mine_q[TAG_W-1:0] + 1'b1};
  end
endmodule

`default_nettype wire
