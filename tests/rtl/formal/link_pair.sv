// SPDX-License-Identifier: Apache-2.0
// Two links composed: session and CTRL flits of either side, and two wires that lose, delay and repeat flits but keep
// their order. Either side is reset at any cycle. Sender and receiver of packets are reduced to the parts that matter
// here: flits with the tag of the session; acknowledgements and credits have any value.
`default_nettype none

module link_pair (
    input wire logic clk_i,
    input wire logic rst_ni
);
  localparam int unsigned D = 2;    // flits on a wire
  localparam int unsigned G = `F_G;  // width of the sessions' true numbers
  localparam logic [1:0] DOWN = 2'd0, INIT = 2'd1, UP = 2'd2, DEAD = 2'd3;

  // Fields are addressed by their bits, as in ggas_pkg, because Yosys does not find members of a struct in a generate
  // loop. link_hello_t: 31 hello, 30 dead, 29 met, 28 seen, 27:14 yours, 13:0 mine. link_ctrl_t: 31 hello, 11:8
  // session.

  // A flit on the way: what it says, and of which sessions its sender and its addressee were, in truth.
  localparam int unsigned E = 1 + 32 + 2 * G;  // packet, content, src, dst
  // Side s, place i: places 0 ... D-1 of the wire that s sends into, D its CTRL register.
  logic [2*E*(D+1)-1:0] e_bits;
  logic [2*(D+1)-1:0]   e_valid;

  logic [1:0] up, ours, reported, valid, packet_in, fed, drawn, learns, accept;
  logic [3:0] state;
  logic [63:0] content, ctrl_in;
  logic [2*G-1:0] gid, peer;      // number of this session; of the other side's session learned of last
  logic [2*G-1:0] in_src, in_dst;

  for (genvar s = 0; s < 2; s = s + 1) begin : g_side
    localparam int t = 1 - s;
    // ---------------------------------------------------------------- anything may happen
    (* anyseq *) logic f_reset, f_tick, f_phy, f_taken, f_discarded, f_give_up, f_retrain, f_ready, f_packet, f_drop,
        f_twice, f_pop, f_keep, f_lose, f_ack, f_nak, f_poll;
    (* anyseq *) logic [9:0]    f_time;
    (* anyseq *) logic [4*link_pkg::CREDIT_W-1:0] f_freed;
    (* anyseq *) logic [7:0]    f_next_seq;
    wire rst_n = rst_ni && !f_reset;

    // ---------------------------------------------------------------- the link under proof
    logic down, dead, hello_say, sent, unused_ev, unused_busy, unused_timer, unused_say, urgent;
    logic [3:0]  mine_tag, yours_tag;
    logic [63:0] flit;
    link_session i_session (
        .clk_i, .rst_ni(rst_n), .time_i(f_time), .tick_i(f_tick), .phy_up_i(f_phy), .taken_i(f_taken),
        .discarded_i(f_discarded), .give_up_i(f_give_up), .retrain_i(f_retrain),
        .ctrl_valid_i(fed[s] && !packet_in[s]), .ctrl_i(ctrl_in[s*32+:32]), .packet_i(fed[s] && packet_in[s]),
        .ctrl_ours_o(ours[s]), .hello_o(hello_say), .hello_content_o(content[s*32+:32]), .reported_i(reported[s]),
        .state_o(state[s*2+:2]), .up_o(up[s]), .down_o(down), .dead_o(dead), .ev_dead_o(unused_ev),
        .busy_o(unused_busy), .timer_o(unused_timer), .mine_o(mine_tag), .yours_o(yours_tag)
    );
    link_ctrl i_ctrl (
        .clk_i, .rst_ni(rst_n), .clear_i(down), .up_i(up[s]), .busy_o(unused_say), .ack_i(f_ack), .nak_i(f_nak),
        .poll_i(f_poll), .polled_i(f_poll), .hello_i(hello_say), .freed_i(f_freed), .freed_new_i(1'b0),
        .next_seq_i(f_next_seq), .session_i(yours_tag), .hello_content_i(content[s*32+:32]), .reported_o(reported[s]),
        .valid_o(valid[s]), .urgent_o(urgent), .flit_o(flit), .sent_i(sent), .packet_flit_i(1'b0)
    );

    // ---------------------------------------------------------------- the wire from here to the other side
    logic [E-1:0] q [0:D-1];
    logic [1:0]   count;
    logic [G-1:0] peer_then;  // as the register was loaded
    wire [G-1:0] me = gid[s*G+:G], him = peer[s*G+:G];
    wire room = count + 2'd2 <= D;
    assign sent = valid[s] && f_ready && room && rst_n;
    wire packet_out = up[s] && f_packet && !sent && room && rst_n;
    wire [E-1:0] fresh = sent ? {1'b0, flit[31:0], me, peer_then}
        : {1'b1, {1'b0, 19'd0, yours_tag, 8'd0}, me, him};
    wire push = (sent || packet_out) && !f_drop;
    wire pop = count != 0 && f_pop && !f_keep;
    wire [1:0] left = count - pop;
    assign fed[t] = count != 0 && f_pop && !f_lose;
    assign {packet_in[t], ctrl_in[t*32+:32], in_src[t*G+:G], in_dst[t*G+:G]} = q[0];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) count <= '0;
      else count <= left + push + (push && f_twice);
      for (int i = 0; i < D; i = i + 1) begin
        if (i >= left) q[i] <= fresh;
        else if (pop && i + 1 < D) q[i] <= q[i+1];
      end
      peer_then <= him;
    end
    for (genvar i = 0; i < D; i = i + 1) begin : g_place
      assign e_bits[(s*(D+1)+i)*E+:E] = q[i];
      assign e_valid[s*(D+1)+i] = count > i;
    end
    assign e_bits[(s*(D+1)+D)*E+:E] = {1'b0, flit[31:0], me, peer_then};
    assign e_valid[s*(D+1)+D] = valid[s];

    // ---------------------------------------------------------------- the truth about sessions
    wire [31:0] said = content[s*32+:32], heard = ctrl_in[s*32+:32];
    wire hello_in = fed[s] && !packet_in[s] && heard[31];
    logic awake;
    always_ff @(posedge clk_i or negedge rst_n) begin
      if (!rst_n) awake <= 1'b0;
      else awake <= 1'b1;
    end
    assign drawn[s]  = down && awake && f_phy && f_taken && rst_n;
    assign learns[s] = state[s*2+:2] == INIT && hello_in && !heard[30] && rst_n;
    assign accept[s] = fed[s] && packet_in[s] && up[s] && heard[11:8] == mine_tag;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        gid[s*G+:G]  <= '0;
        peer[s*G+:G] <= '0;
      end else begin
        if (drawn[s]) gid[s*G+:G] <= me + 1'b1;
        if (learns[s]) peer[s*G+:G] <= in_src[s*G+:G];
      end
    end
    // Fresh: no flit on the way and no memory of the other side holds the new number (docs/link.md says why).
    wire [13:0] drawn_number = {f_time, said[3:0] + 4'd1};
    wire [31:0] other = content[t*32+:32];
    always_comb begin
      assume (me != '1);
      if (drawn[s] && other[28]) assume (other[27:14] != drawn_number);
    end

    // The other side's new session became known in the last cycle.
    logic renewed;
    always_ff @(posedge clk_i) begin
      renewed <= rst_ni && up[s] && hello_in && !heard[30] && in_src[s*G+:G] == gid[t*G+:G] && in_src[s*G+:G] != him;
    end

    always_comb begin
      if (!f_init) begin
        // ---- properties
        // A flit is accepted only if it was sent in the session that this side is in, and is addressed to this session.
        if (ours[s] || accept[s]) assert (in_src[s*G+:G] == him && in_dst[s*G+:G] == me);
        // Both up: with each other.
        if (up[0] && up[1]) assert (him == gid[t*G+:G]);
        // The one that learns of another session of the other side gives up its own.
        if (renewed) assert (!up[s]);

        // ---- what holds on the way there
        assert (count <= D);
        assert (peer[t*G+:G] <= me);
        if (state[s*2+:2] == UP || state[s*2+:2] == DEAD) assert (said[29]);
        if (said[29]) assert (said[28] && peer[t*G+:G] == me);
        if (valid[s] && !flit[31]) assert (up[s] || dead);
        if (other[28]) assert ((other[27:14] == said[13:0]) == (peer[t*G+:G] == me));
        if (valid[s]) assert (peer_then <= him);
      end
    end
  end

  // ---------------------------------------------------------------- every flit on the way, in its order
  for (genvar k = 0; k < 2 * (D + 1); k = k + 1) begin : g_flit
    localparam int s = k / (D + 1), i = k % (D + 1), t = 1 - s;
    logic         packet;
    logic [31:0]  bits;
    logic [G-1:0] src, dst;
    assign {packet, bits, src, dst} = e_bits[k*E+:E];
    wire [31:0] mine = content[s*32+:32], his = content[t*32+:32];
    wire run = !packet && !bits[31];
    wire there = e_valid[k];
    always_comb begin
      if (there && !packet && bits[31]) begin
        if (drawn[s]) assume (bits[13:0] != {g_side[s].f_time, mine[3:0] + 4'd1});
        if (drawn[t] && bits[28]) assume (bits[27:14] != {g_side[t].f_time, his[3:0] + 4'd1});
      end
      if (!f_init && there) begin
        assert (src <= gid[s*G+:G] && dst <= peer[s*G+:G] && src >= peer[t*G+:G]);
        if (packet) assert (!bits[31]);
        if (!packet && bits[31]) begin
          assert ((bits[13:0] == mine[13:0]) == (src == gid[s*G+:G]));
          if (bits[28]) assert ((bits[27:14] == his[13:0]) == (dst == gid[t*G+:G]));
        end else assert (peer[t*G+:G] >= src);
        if (his[29]) assert (dst == gid[t*G+:G]);
        if ((run || packet) && src == gid[s*G+:G]) assert (state[s*2+:2] != INIT);
      end
    end
    for (genvar j = 0; j < i; j = j + 1) begin : g_older
      localparam int m = s * (D + 1) + j;
      logic         m_packet;
      logic [31:0]  m_bits;
      logic [G-1:0] m_src, m_dst;
      assign {m_packet, m_bits, m_src, m_dst} = e_bits[m*E+:E];
      always_comb begin
        if (!f_init && there && e_valid[m]) begin
          assert (m_src <= src && m_dst <= dst);
        end
      end
    end
  end
endmodule

`default_nettype wire
