// SPDX-License-Identifier: Apache-2.0
// One link: sender, receiver and state. docs/packet-format.md has the protocol. Streams of the channels are
// concatenated: bit c, or slice c, belongs to channel c = {lane, vc} (VC_P, VC_NP, VC_RSP, VC_RMA).
`default_nettype none

module link #(
    parameter int unsigned DATA_W       = 64,   // 64, 256 or 512
    // units a channel's receive buffer holds, the same on both sides: 256, or the payload of four packets
    parameter int unsigned VC_DEPTH     = ggas_pkg::MTU * 8 / DATA_W > 64 ? 4 * ggas_pkg::MTU * 8 / DATA_W : 256,
    parameter int unsigned REPLAY_FLITS = 2 * VC_DEPTH  // flits the sender keeps until they are acknowledged
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,               // core cycles
    output      logic                busy_o,               // clock the next cycle
    output      logic                timer_o,              // clock the next tick

    // configuration and status, LINK_CTRL and LINK_STATUS
    input  wire logic [7:0]          cfg_replay_limit_i,
    input  wire logic [15:0]         cfg_replay_timeout_i, // cycles, checked on ticks
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

    // packets from and to net. A packet that was offered but whose first beat was not accepted may be withdrawn when
    // the link is no longer UP; once begun, it is accepted to its end in any state.
    input  wire logic [ggas_pkg::CHANNELS-1:0]    tx_valid_i,
    output      logic [ggas_pkg::CHANNELS-1:0]    tx_ready_o,
    input  wire logic [ggas_pkg::CHANNELS-1:0]    tx_sop_i,
    input  wire logic [ggas_pkg::CHANNELS-1:0]    tx_eop_i,
    input  wire logic [ggas_pkg::CHANNELS*ggas_pkg::NET_HDR_W-1:0] tx_hdr_i, // net_hdr_t, valid with sop
    input  wire logic [ggas_pkg::CHANNELS*DATA_W-1:0] tx_data_i,
    input  wire logic [ggas_pkg::CHANNELS-1:0]    tx_waits_i,  // a packet is not offered before there is room for it
    input  wire logic [ggas_pkg::CHANNELS*3-1:0]  tx_pending_i, // with several links: so many wait, which have room
    output      logic [ggas_pkg::CHANNELS-1:0]    tx_room_o,   // the other side has room for any packet next to those
    output      logic [ggas_pkg::CHANNELS-1:0]    rx_valid_o,
    input  wire logic [ggas_pkg::CHANNELS-1:0]    rx_ready_i,
    // bit l: a packet of VC_P in lane l whose last beat is taken stays and comes again, as a copy for another one
    input  wire logic [ggas_pkg::LANES-1:0]       rx_keep_i,
    output      logic [ggas_pkg::CHANNELS-1:0]    rx_sop_o,
    output      logic [ggas_pkg::CHANNELS-1:0]    rx_eop_o,
    output      logic [ggas_pkg::CHANNELS*ggas_pkg::NET_HDR_W-1:0] rx_hdr_o, // net_hdr_t, valid on every beat
    output      logic [ggas_pkg::CHANNELS*DATA_W-1:0] rx_data_o,
    // the next step of packets: requested when one arrives, reported in `version`, `seq` and `session` of its header on
    // rx_hdr_o
    output      ggas_pkg::net_hdr_t  arriving_o,
    input  wire net_pkg::ways_t     way_i,

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
  localparam int unsigned CW = link_pkg::CREDIT_W, TAG_W = link_pkg::SESSION_TAG_W, NC = ggas_pkg::CHANNELS;

  logic up, down, dead, tick_q, session_busy, session_timer;
  logic [TAG_W-1:0] session_rx, session_tx;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) tick_q <= 1'b0;
    else tick_q <= time_i[ggas_pkg::TICK_LOG2-1:0] == '0;
  end
  logic unused_bits;
  assign unused_bits = ^time_i[63:32];

  // ---------------------------------------------------------------- receiver
  logic            rx_busy, rx_empty, ctrl_valid, accept, repeated, nak, freed_new;
  logic [31:0]     ctrl_content;
  logic [7:0]      next_seq;
  logic [NC*CW-1:0] freed;
  link_rx #(.DATA_W(DATA_W), .VC_DEPTH(VC_DEPTH)) i_rx (
      .clk_i, .rst_ni, .up_i(up), .clear_i(down), .session_i(session_rx),
      .link_rx_valid_i, .link_rx_kind_i, .link_rx_data_i,
      .rx_valid_o, .rx_ready_i, .rx_keep_i, .rx_sop_o, .rx_eop_o, .rx_hdr_o, .rx_data_o, .busy_o(rx_busy),
      .arriving_o, .way_i, .empty_o(rx_empty),
      .ctrl_valid_o(ctrl_valid), .ctrl_o(ctrl_content), .accept_o(accept), .repeat_o(repeated), .nak_o(nak),
      .next_seq_o(next_seq), .freed_o(freed), .freed_new_o(freed_new),
      .ev_bad_o, .ev_bad_src_o, .ev_bad_op_o,
      .cnt_packets_o(cnt_rx_packets_o), .cnt_crc_errors_o(cnt_rx_crc_errors_o), .cnt_seq_errors_o(cnt_rx_seq_errors_o)
  );
  link_pkg::link_ctrl_t ctrl;  // counts only if it is of this session
  logic                 ctrl_ours;
  assign ctrl = ctrl_content;
  logic unused_ctrl;
  assign unused_ctrl = ^{ctrl.hello, ctrl.rsvd, ctrl.session};

  // ---------------------------------------------------------------- session and state
  logic        hello, reported, give_up, unsure, discarded;
  logic [31:0] hello_content;
  link_session i_session (
      .clk_i, .rst_ni, .time_i(time_i[9:0]), .tick_i(tick_q),
      .phy_up_i(link_rx_up_i), .taken_i(rx_empty), .discarded_i(discarded), .give_up_i(give_up_q),
      .retrain_i(cfg_retrain_i), .ctrl_valid_i(ctrl_valid), .ctrl_i(ctrl_content),
      .packet_i(link_rx_valid_i && link_rx_kind_i == link_pkg::FLIT_SOP), .ctrl_ours_o(ctrl_ours),
      .hello_o(hello), .hello_content_o(hello_content), .reported_i(reported), .state_o(sts_state_o), .up_o(up),
      .down_o(down), .dead_o(dead), .ev_dead_o, .busy_o(session_busy), .timer_o(session_timer),
      .mine_o(session_rx), .yours_o(session_tx)
  );

  // ---------------------------------------------------------------- CTRL flits to send
  // The last credit update before an idle period can be lost, and then neither side would send anything. So a side that
  // needs credits polls.
  logic        poll_q, give_up_q, say_busy, say_valid, say_urgent, say_sent, packet_flit;
  logic [63:0] say_flit;
  logic [NC-1:0] starved;  // channels with a packet that waits for credits
  logic [7:0]  polls_q;  // requests for credits without an answer
  assign unsure = poll_q && polls_q >= cfg_replay_limit_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      poll_q    <= 1'b0;
      give_up_q <= 1'b0;
      polls_q   <= '0;
    end else begin
      poll_q    <= up && tick_q && starved != '0;
      give_up_q <= up && (give_up || unsure);
      if (down || ctrl_ours) polls_q <= '0;
      else if (poll_q) polls_q <= polls_q + 8'd1;
    end
  end
  link_ctrl i_ctrl (
      .clk_i, .rst_ni, .clear_i(down), .up_i(up), .busy_o(say_busy),
      .ack_i(accept || repeated), .nak_i(nak), .poll_i(poll_q), .polled_i(ctrl_ours && ctrl.poll), .hello_i(hello),
      .freed_i(freed), .freed_new_i(freed_new), .next_seq_i(next_seq), .session_i(session_tx),
      .hello_content_i(hello_content), .reported_o(reported),
      .valid_o(say_valid), .urgent_o(say_urgent), .flit_o(say_flit), .sent_i(say_sent), .packet_flit_i(packet_flit)
  );

  // ---------------------------------------------------------------- sender
  logic              wr_valid, wr_store, room, boundary, rp_active, rp_valid, rp_ready, tx_working, tx_idle, retiring;
  logic              wr_first, wr_last, rp_first, rp_last;
  logic [DATA_W-1:0] wr_data, rp_data;
  logic [7:0]        seq;
  link_tx #(.DATA_W(DATA_W), .VC_DEPTH(VC_DEPTH)) i_tx (
      .clk_i, .rst_ni, .clear_i(down), .up_i(up), .session_i(session_tx),
      .tx_valid_i, .tx_ready_o, .tx_sop_i, .tx_eop_i, .tx_hdr_i, .tx_data_i,
      .tx_waits_i, .tx_pending_i, .tx_room_o, .link_tx_valid_o, .link_tx_ready_i, .link_tx_kind_o, .link_tx_data_o,
      .ctrl_valid_i(say_valid), .ctrl_urgent_i(say_urgent), .ctrl_flit_i(say_flit), .ctrl_sent_o(say_sent),
      .packet_flit_o(packet_flit),
      .credit_valid_i(ctrl_ours), .credit_vc_i(ctrl.credit_vc), .credit_i(ctrl.credit),
      .starved_o(starved),
      .wr_valid_o(wr_valid), .wr_first_o(wr_first), .wr_last_o(wr_last), .wr_data_o(wr_data), .wr_store_o(wr_store),
      .room_i(room), .seq_i(seq), .boundary_o(boundary),
      .rp_valid_i(rp_valid), .rp_ready_o(rp_ready),
      .rp_first_i(rp_first), .rp_last_i(rp_last), .rp_data_i(rp_data),
      .working_o(tx_working), .idle_o(tx_idle), .lost_o(ev_lost_o[0]), .cnt_packets_o(cnt_tx_packets_o)
  );
  link_replay #(.DATA_W(DATA_W), .FLITS(REPLAY_FLITS)) i_replay (
      .clk_i, .rst_ni, .clear_i(down), .up_i(up), .dead_i(dead), .time_i(time_i[31:0]), .tick_i(tick_q),
      .cfg_limit_i(cfg_replay_limit_i), .cfg_timeout_i(cfg_replay_timeout_i),
      .wr_valid_i(wr_valid), .wr_first_i(wr_first), .wr_last_i(wr_last), .wr_data_i(wr_data), .wr_store_i(wr_store),
      .room_o(room), .seq_o(seq),
      .ctrl_valid_i(ctrl_ours), .ctrl_nak_i(ctrl.nak), .ctrl_ack_i(ctrl.ack_seq),
      .boundary_i(boundary), .active_o(rp_active), .rp_valid_o(rp_valid), .rp_ready_i(rp_ready),
      .rp_first_o(rp_first), .rp_last_o(rp_last), .rp_data_o(rp_data), .unacked_o(sts_unacked_o),
      .working_o(retiring), .tries_o(ev_dead_tries_o),
      .give_up_o(give_up), .lost_o(ev_lost_o[1]), .cnt_replays_o(cnt_tx_replays_o)
  );
  assign discarded = tx_idle && sts_unacked_o == '0 && tx_pending_i == '0;

  assign busy_o = rx_busy || tx_working || say_busy || rp_active || retiring || !rx_empty || session_busy || tick_q
      || poll_q || give_up_q;
  assign timer_o = session_timer || sts_unacked_o != '0 || starved != '0;
endmodule

`default_nettype wire
