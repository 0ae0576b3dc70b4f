// SPDX-License-Identifier: Apache-2.0
// One link: sender, receiver and state. docs/packet-format.md has the protocol. Streams of the four virtual channels
// stand side by side: bit v, or slice v, belongs to virtual channel v (VC_P, VC_NP, VC_RSP, VC_RMA).
`default_nettype none

module link #(
    parameter int unsigned DATA_W       = 64,   // 64, 256 or 512
    parameter int unsigned VC_DEPTH     = 256,  // units a virtual channel's receive buffer holds, the same on both sides
    parameter int unsigned REPLAY_FLITS = 512   // flits the sender keeps until they are acknowledged
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,               // core cycles
    output      logic                busy_o,               // clock the next cycle
    output      logic                timer_o,              // clock the next tick

    // configuration and status, LINK_CTRL and LINK_STATUS
    input  wire logic [7:0]          cfg_replay_limit_i,
    input  wire logic [15:0]         cfg_replay_timeout_i, // cycles, judged on ticks
    input  wire logic                cfg_retrain_i,        // pulse
    output      logic [1:0]          sts_state_o,          // LINK_STATE_*
    output      logic [7:0]          sts_unacked_o,

    // PHY
    output      logic                link_tx_valid_o,
    input  wire logic                link_tx_ready_i,
    output      logic [1:0]          link_tx_kind_o,
    output      logic [DATA_W-1:0]   link_tx_data_o,
    input  wire logic                link_rx_valid_i,
    input  wire logic [1:0]          link_rx_kind_i,
    input  wire logic [DATA_W-1:0]   link_rx_data_i,
    input  wire logic                link_rx_up_i,

    // packets from and to net. A packet that was offered but whose first beat was not taken may be withdrawn when the
    // link is no longer UP; one that was begun is taken to its end in any state.
    input  wire logic [3:0]          tx_valid_i,
    output      logic [3:0]          tx_ready_o,
    input  wire logic [3:0]          tx_sop_i,
    input  wire logic [3:0]          tx_eop_i,
    input  wire logic [4*192-1:0]    tx_hdr_i,             // net_hdr_t, valid with sop
    input  wire logic [4*DATA_W-1:0] tx_data_i,
    output      logic [3:0]          rx_valid_o,
    input  wire logic [3:0]          rx_ready_i,
    output      logic [3:0]          rx_sop_o,
    output      logic [3:0]          rx_eop_o,
    output      logic [4*192-1:0]    rx_hdr_o,             // net_hdr_t, valid on every beat
    output      logic [4*DATA_W-1:0] rx_data_o,

    // events, as pulses; net turns them into event_t
    output      logic                ev_dead_o,            // the link was given up
    output      logic [7:0]          ev_dead_tries_o,      // replays tried
    output      logic [1:0]          ev_lost_o,            // so many stores were discarded (sum of the bits)
    output      logic                ev_bad_o,             // an intact packet that fits no buffer was dropped
    output      logic [15:0]         ev_bad_src_o,
    output      logic [7:0]          ev_bad_op_o,

    // counter pulses, CNT_LINK_*
    output      logic                cnt_tx_packets_o,
    output      logic                cnt_rx_packets_o,
    output      logic                cnt_tx_replays_o,
    output      logic                cnt_rx_crc_errors_o,
    output      logic                cnt_rx_seq_errors_o
);
  // As ggas_regs_pkg::LINK_STATE_*.
  localparam logic [1:0] DOWN = 2'd0, INIT = 2'd1, UP = 2'd2, DEAD = 2'd3;

  logic [1:0] state_q, state_d;
  logic       seen_ready_q;  // the other side's receiver is initialised
  logic       was_seen_q;    // the other side knows that ours is
  logic       retrain_q;     // asked for, waiting for buffers to run empty
  logic [7:0] polls_q;       // requests for credits without an answer

  logic up, down, tick;
  assign up   = state_q == UP;
  assign down = state_q == DOWN;
  assign tick = time_i[ggas_pkg::TICK_LOG2-1:0] == '0;
  assign sts_state_o = state_q;

  // ---------------------------------------------------------------- receiver
  logic        rx_empty, ctrl_valid, accept, repeated, nak;
  logic [31:0] ctrl;
  logic [7:0]  next_seq;
  logic [47:0] freed;
  link_rx #(.DATA_W(DATA_W), .VC_DEPTH(VC_DEPTH)) i_rx (
      .clk_i, .rst_ni, .enable_i(up || state_q == INIT), .clear_i(down),
      .link_rx_valid_i, .link_rx_kind_i, .link_rx_data_i,
      .rx_valid_o, .rx_ready_i, .rx_sop_o, .rx_eop_o, .rx_hdr_o, .rx_data_o, .empty_o(rx_empty),
      .ctrl_valid_o(ctrl_valid), .ctrl_o(ctrl), .accept_o(accept), .repeat_o(repeated), .nak_o(nak),
      .next_seq_o(next_seq), .freed_o(freed),
      .ev_bad_o, .ev_bad_src_o, .ev_bad_op_o,
      .cnt_packets_o(cnt_rx_packets_o), .cnt_crc_errors_o(cnt_rx_crc_errors_o), .cnt_seq_errors_o(cnt_rx_seq_errors_o)
  );
  logic ctrl_ready, ctrl_seen, ctrl_poll;
  assign ctrl_ready = ctrl_valid && ctrl[9];
  assign ctrl_seen  = ctrl_ready && ctrl[10];
  assign ctrl_poll  = ctrl_valid && ctrl[25];
  logic unused_bits;
  assign unused_bits = ^{ctrl[31:26], time_i[63:32]};

  // ---------------------------------------------------------------- CTRL flits to send
  logic        hello, poll, say_valid, say_urgent, say_sent, packet_flit;
  logic [63:0] say_flit;
  // Starting, every state change, a side that has not heard us yet, and in INIT once a tick.
  assign hello = state_d != state_q || (state_q == INIT && tick) || (up && ctrl_ready && !ctrl_seen);
  link_ctrl i_ctrl (
      .clk_i, .rst_ni, .clear_i(down),
      .ack_i(accept || repeated), .nak_i(nak), .hello_i(hello && state_d != DOWN), .poll_i(poll), .polled_i(ctrl_poll),
      .freed_i(freed), .next_seq_i(next_seq), .ready_i(up || state_q == INIT), .seen_ready_i(seen_ready_q),
      .valid_o(say_valid), .urgent_o(say_urgent), .flit_o(say_flit), .sent_i(say_sent), .packet_flit_i(packet_flit)
  );

  // ---------------------------------------------------------------- sender
  logic              wr_valid, wr_store, room, boundary, rp_active, rp_valid, rp_ready, tx_working, tx_idle;
  logic [1:0]        wr_kind, rp_kind;
  logic [DATA_W-1:0] wr_data, rp_data;
  logic [7:0]        seq, tries;
  logic [3:0]        starved;
  logic              retiring, give_up;
  link_tx #(.DATA_W(DATA_W), .VC_DEPTH(VC_DEPTH)) i_tx (
      .clk_i, .rst_ni, .clear_i(down), .up_i(up),
      .tx_valid_i, .tx_ready_o, .tx_sop_i, .tx_eop_i, .tx_hdr_i, .tx_data_i,
      .link_tx_valid_o, .link_tx_ready_i, .link_tx_kind_o, .link_tx_data_o,
      .ctrl_valid_i(say_valid), .ctrl_urgent_i(say_urgent), .ctrl_flit_i(say_flit), .ctrl_sent_o(say_sent),
      .packet_flit_o(packet_flit),
      .credit_valid_i(ctrl_valid), .credit_vc_i(ctrl[12:11]), .credit_i(ctrl[24:13]), .starved_o(starved),
      .wr_valid_o(wr_valid), .wr_kind_o(wr_kind), .wr_data_o(wr_data), .wr_store_o(wr_store), .room_i(room),
      .seq_i(seq), .boundary_o(boundary), .rp_active_i(rp_active), .rp_valid_i(rp_valid), .rp_ready_o(rp_ready),
      .rp_kind_i(rp_kind), .rp_data_i(rp_data),
      .working_o(tx_working), .idle_o(tx_idle), .lost_o(ev_lost_o[0]), .cnt_packets_o(cnt_tx_packets_o)
  );
  link_replay #(.DATA_W(DATA_W), .FLITS(REPLAY_FLITS)) i_replay (
      .clk_i, .rst_ni, .clear_i(down), .up_i(up), .dead_i(state_q == DEAD), .time_i(time_i[31:0]), .tick_i(tick),
      .cfg_limit_i(cfg_replay_limit_i), .cfg_timeout_i(cfg_replay_timeout_i),
      .wr_valid_i(wr_valid), .wr_kind_i(wr_kind), .wr_data_i(wr_data), .wr_store_i(wr_store), .room_o(room), .seq_o(seq),
      .ctrl_valid_i(ctrl_valid), .ctrl_nak_i(ctrl[8]), .ctrl_ack_i(ctrl[7:0]),
      .boundary_i(boundary), .active_o(rp_active), .rp_valid_o(rp_valid), .rp_ready_i(rp_ready), .rp_kind_o(rp_kind),
      .rp_data_o(rp_data), .unacked_o(sts_unacked_o), .working_o(retiring), .tries_o(tries), .give_up_o(give_up),
      .lost_o(ev_lost_o[1]), .cnt_replays_o(cnt_tx_replays_o)
  );

  // ---------------------------------------------------------------- state
  // The last credit update before a quiet time can be lost, and then neither side has anything to say: who starves asks.
  assign poll = up && tick && starved != '0;

  logic fatal;
  // Besides the replay limit: the PHY, or the other side died (ready = 0) or started again (seen_ready = 0).
  assign fatal = !link_rx_up_i || give_up || (poll && polls_q >= cfg_replay_limit_i)
      || (ctrl_valid && !ctrl_ready) || (ctrl_ready && !ctrl_seen && was_seen_q);
  always_comb begin
    state_d = state_q;
    case (state_q)
      DOWN: if (link_rx_up_i && rx_empty) state_d = INIT;
      INIT: begin
        if (!link_rx_up_i) state_d = DOWN;
        else if (ctrl_ready || accept) state_d = UP;  // who sends packets is up
      end
      UP: if (fatal) state_d = DEAD;
      default: if (retrain_q && tx_idle && sts_unacked_o == '0) state_d = DOWN;
    endcase
  end
  assign ev_dead_o = up && fatal;
  assign ev_dead_tries_o = tries;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= DOWN;
      seen_ready_q <= 1'b0;
      was_seen_q   <= 1'b0;
      retrain_q    <= 1'b0;
      polls_q      <= '0;
    end else begin
      state_q <= state_d;
      if (down) begin
        seen_ready_q <= 1'b0;
        was_seen_q   <= 1'b0;
        polls_q      <= '0;
      end else begin
        if (ctrl_ready || accept) seen_ready_q <= 1'b1;
        if (ctrl_seen) was_seen_q <= 1'b1;
        if (ctrl_valid) polls_q <= '0;
        else if (poll) polls_q <= polls_q + 8'd1;
      end
      retrain_q <= (retrain_q || cfg_retrain_i) && state_q == DEAD;
    end
  end

  assign busy_o = tx_working || rp_active || retiring || !rx_empty || state_d != state_q || retrain_q;
  assign timer_o = state_q == INIT || sts_unacked_o != '0 || starved != '0;
endmodule

`default_nettype wire
