// SPDX-License-Identifier: Apache-2.0
// Decides when a CTRL flit is sent, and its content: a hello, or acknowledgement, nak and credits. At once while the
// link has nothing else to send, at most one in GAP flits under load, a hello or nak always at once. The flit comes
// from a register, which is updated until it is sent; its credits are chosen two cycles before.
`default_nettype none

module link_ctrl #(
    parameter int unsigned GAP = 16  // packet flits between two CTRL flits under load
) (
    input  wire logic        clk_i,
    input  wire logic        rst_ni,
    input  wire logic        clear_i,       // DOWN: nothing to say but the hello on leaving it
    input  wire logic        up_i,          // UP: acknowledgements and credits may be said
    output      logic        busy_o,        // there is something to say
    // reasons
    input  wire logic        ack_i,         // a packet was taken, or came again
    input  wire logic        nak_i,
    input  wire logic        poll_i,        // ask the other side for its credits
    input  wire logic        polled_i,      // the other side asks for ours
    input  wire logic        hello_i,
    // what to say
    input  wire logic [ggas_pkg::CHANNELS*link_pkg::CREDIT_W-1:0] freed_i,  // our credits, a slice a channel
    input  wire logic        freed_new_i,   // they have just changed
    input  wire logic [7:0]                           next_seq_i,
    input  wire logic [link_pkg::SESSION_TAG_W-1:0]   session_i,
    input  wire logic [31:0]                          hello_content_i,  // link_hello_t
    output      logic        reported_o,        // pulse: hello_content_i as it is now was sent
    // to the transmitter
    output      logic        valid_o,
    output      logic        urgent_o,      // even before packet flits
    output      logic [63:0] flit_o,        // bits 63:0 of the flit; the rest is 0
    input  wire logic        sent_i,        // the CTRL flit was taken
    input  wire logic        packet_flit_i  // another flit was sent
);
  localparam int unsigned CW = link_pkg::CREDIT_W;
  localparam int unsigned NC = ggas_pkg::CHANNELS;
  localparam int unsigned CHW = $clog2(NC);

  logic            hello_q, ack_q, nak_q, poll_q;
  logic [NC-1:0]   stale, stale_q;  // channels whose credits changed since they were last reported
  logic [NC-1:0]   force_q;         // report although nothing changed
  logic [NC*CW-1:0] reported_q;
  logic [CHW-1:0]  last_vc_q, vc, vc_q;  // channel in the next flit: round robin
  logic [CW-1:0]   credit_q;        // of channel vc_q
  logic            credits_q;       // it is worth a flit
  logic [7:0]      gap_q;           // packet flits before the next CTRL flit is urgent
  logic [31:0]     content, crc;
  logic            want;
  logic            recheck_q;       // a flit was sent in the cycle before: its channel may have changed meanwhile
  link_pkg::link_ctrl_t next, sent;  // the next flit, the one in the register

  // ---------------------------------------------------------------- which channel's credits
  always_comb begin
    for (int v = 0; v < NC; v = v + 1) stale[v] = force_q[v] || reported_q[v*CW+:CW] != freed_i[v*CW+:CW];
    vc = last_vc_q;
    for (int i = NC - 1; i >= 1; i = i - 1) if (stale_q[last_vc_q + i[CHW-1:0]]) vc = last_vc_q + i[CHW-1:0];
  end

  // What is being reported is not chosen again before reported_q says so.
  logic load, sent_run;
  assign load     = want && !sent_i;
  assign sent_run = sent_i && !sent.hello;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stale_q   <= '0;
      credits_q <= 1'b0;
      recheck_q <= 1'b0;
      vc_q      <= '0;
      credit_q  <= '0;
    end else if (clear_i) begin
      stale_q   <= '0;
      credits_q <= 1'b0;
      recheck_q <= 1'b0;
      credit_q  <= '0;
    end else begin
      for (int v = 0; v < NC; v = v + 1)
        stale_q[v] <= stale[v] && !(sent_run && sent.credit_vc[CHW-1:0] == v[CHW-1:0]);
      credits_q <= stale_q != '0 && !sent_run;
      recheck_q <= sent_run;
      vc_q      <= vc;
      credit_q  <= freed_i[vc*CW+:CW];
    end
  end

  // ---------------------------------------------------------------- the flit
  always_comb begin
    next = '0;
    next.poll      = poll_q;
    next.nak       = nak_q;
    next.credit_vc[CHW-1:0] = vc_q;
    next.credit    = credit_q;
    next.session   = session_i;
    next.ack_seq   = next_seq_i;
  end

  assign want     = hello_q || (up_i && (ack_q || nak_q || poll_q || credits_q));
  assign busy_o   = want || valid_o || recheck_q || freed_new_i || (up_i && (stale_q != '0 || force_q != '0));
  assign content  = hello_q ? hello_content_i : next;
  assign sent     = flit_o[31:0];
  assign reported_o   = sent_i && flit_o[31:0] == hello_content_i;
  crc32 #(.DATA_W(32)) i_crc (.en_i(want), .crc_i(32'hffffffff), .data_i(content), .crc_o(crc));

  logic unused_sent;
  assign unused_sent = ^{sent.rsvd, sent.session, sent.credit_vc};

  always_ff @(posedge clk_i) begin
    if (want) flit_o <= {~crc, content};  // valid with load
    urgent_o <= hello_q || nak_q || gap_q == '0;
  end

  // What was sent is done with unless something came up since the register was loaded.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o   <= 1'b0;
      hello_q   <= 1'b0;
      ack_q     <= 1'b0;
      nak_q     <= 1'b0;
      poll_q    <= 1'b0;
      force_q   <= '0;
      reported_q    <= '0;
      last_vc_q <= '0;
      gap_q     <= GAP[7:0];
    end else if (clear_i) begin
      valid_o <= 1'b0;
      hello_q <= hello_i;
      ack_q   <= 1'b0;
      nak_q   <= 1'b0;
      poll_q  <= 1'b0;
      force_q <= '0;
      reported_q  <= '0;
    end else begin
      valid_o <= load;
      hello_q <= (hello_q && !reported_o) || hello_i;
      ack_q   <= (ack_q && !(sent_run && sent.ack_seq == next_seq_i)) || ack_i;
      nak_q   <= (nak_q && !(sent_run && sent.nak)) || nak_i;
      poll_q  <= (poll_q && !(sent_run && sent.poll)) || poll_i;
      if (sent_run) last_vc_q <= sent.credit_vc[CHW-1:0];
      if (sent_i) gap_q <= GAP[7:0];
      else if (packet_flit_i && gap_q != '0) gap_q <= gap_q - 8'd1;
      for (int v = 0; v < NC; v = v + 1) begin
        if (polled_i) force_q[v] <= 1'b1;
        else if (sent_run && sent.credit_vc[CHW-1:0] == v[CHW-1:0]) force_q[v] <= 1'b0;
        if (sent_run && sent.credit_vc[CHW-1:0] == v[CHW-1:0]) reported_q[v*CW+:CW] <= sent.credit;
      end
    end
  end
endmodule

`default_nettype wire
