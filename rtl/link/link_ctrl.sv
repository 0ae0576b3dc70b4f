// SPDX-License-Identifier: Apache-2.0
// Decides when a CTRL flit is worth sending and what it says: acknowledgement, nak, credits, link state. Promptly while
// the link has nothing else to do, at most one in GAP flits under load, a nak at once.
`default_nettype none

module link_ctrl #(
    parameter int unsigned GAP = 16  // packet flits between two CTRL flits under load
) (
    input  wire logic        clk_i,
    input  wire logic        rst_ni,
    input  wire logic        clear_i,       // DOWN: nothing to say but the hello on leaving it
    // reasons
    input  wire logic        ack_i,         // a packet was taken, or came again
    input  wire logic        nak_i,
    input  wire logic        hello_i,       // say it again: state and acknowledgement
    input  wire logic        poll_i,        // ask the other side for its credits
    input  wire logic        polled_i,      // the other side asks for ours
    input  wire logic [47:0] freed_i,       // our credits, 12 bits a virtual channel
    input  wire logic [7:0]  next_seq_i,
    input  wire logic        ready_i,
    input  wire logic        seen_ready_i,
    // to the transmitter
    output      logic        valid_o,
    output      logic        urgent_o,      // even before packet flits
    output      logic [63:0] flit_o,        // bits 63:0 of the flit; the rest is 0
    input  wire logic        sent_i,        // the CTRL flit was taken
    input  wire logic        packet_flit_i  // another flit was sent
);
  logic        hello_q, nak_q, poll_q;
  logic [3:0]  stale;          // virtual channels whose credits changed since they were last told
  logic [3:0]  force_q;        // tell although nothing changed
  logic [47:0] told_q;
  logic [1:0]  last_vc_q, vc;  // channel in this flit: round robin
  logic [7:0]  gap_q;
  logic [11:0] credit;
  logic [31:0] content, crc;

  always_comb begin
    for (int v = 0; v < 4; v = v + 1) stale[v] = force_q[v] || told_q[v*12+:12] != freed_i[v*12+:12];
    vc = last_vc_q;
    for (int i = 3; i >= 1; i = i - 1) if (stale[last_vc_q + i[1:0]]) vc = last_vc_q + i[1:0];
    credit = freed_i[vc*12+:12];
  end

  assign valid_o  = hello_q || nak_q || poll_q || stale != '0;
  assign urgent_o = nak_q || gap_q >= GAP[7:0];
  assign content  = {6'd0, poll_q, credit, vc, seen_ready_i, ready_i, nak_q, next_seq_i};
  assign flit_o   = {~crc, content};
  crc32 #(.DATA_W(32)) i_crc (.en_i(valid_o), .crc_i(32'hffffffff), .data_i(content), .crc_o(crc));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hello_q   <= 1'b0;
      nak_q     <= 1'b0;
      poll_q    <= 1'b0;
      force_q   <= '0;
      told_q    <= '0;
      last_vc_q <= '0;
      gap_q     <= '0;
    end else if (clear_i) begin
      hello_q <= hello_i;
      nak_q   <= 1'b0;
      poll_q  <= 1'b0;
      force_q <= '0;
      told_q  <= '0;
    end else begin
      hello_q <= (hello_q && !sent_i) || hello_i || ack_i;
      nak_q   <= (nak_q && !sent_i) || nak_i;
      poll_q  <= (poll_q && !sent_i) || poll_i;
      if (sent_i) begin
        last_vc_q <= vc;
        gap_q     <= '0;
      end else if (packet_flit_i && gap_q < GAP[7:0]) gap_q <= gap_q + 8'd1;
      for (int v = 0; v < 4; v = v + 1) begin
        if (polled_i) force_q[v] <= 1'b1;
        else if (sent_i && vc == v[1:0]) force_q[v] <= 1'b0;
        if (sent_i && vc == v[1:0]) told_q[v*12+:12] <= freed_i[v*12+:12];
      end
    end
  end
endmodule

`default_nettype wire
