  // SPDX-License-Identifier: Apache-2.0
  // The window of go-back-N between a sender that keeps its rules and any receiver after a lossy wire.

  // ---- the transmitter: packets of 1 ... PACKET_MAX flits, begun only with room and outside a replay
  logic [7:0] f_flits;  // of the packet that is half written
  logic       f_broken;  // the link fell meanwhile: nothing new before DOWN
  // a flit comes in the cycle after it was sent: what held then
  logic       f_up, f_may, f_may_next;  // f_may: the packet was allowed in the cycle before that
  wire        f_half = f_flits != '0;
  always_ff @(posedge clk_i) begin
    if (f_init || clear_i) f_flits <= '0;
    else if (wr_valid_i) f_flits <= wr_eop ? '0 : f_flits + 1'b1;
    if (f_init || clear_i) f_broken <= 1'b0;
    else if (!up_i) f_broken <= 1'b1;
    f_up  <= !f_init && up_i && !f_broken;
    f_may_next <= !f_init && room_o;
    f_may <= !f_init && f_may_next;
  end
  always_comb begin
    assume (!(clear_i && (up_i || dead_i)) && !(up_i && dead_i));
    assume (!(f_broken && up_i));
    assume (!wr_valid_i || (f_up && !clear_i));
    if (wr_valid_i && !f_half) assume (f_may);
    if (wr_valid_i && f_flits == PACKET_MAX - 1) assume (wr_eop);
    assume (boundary_i == (!f_half && !wr_valid_i));
  end

  // ---- the receiver: takes packets in turn, says any number it ever expected, at any time
  (* anyseq *) logic f_takes;
  logic [7:0] f_expected;
  wire  [7:0] f_ahead = head_seq_q - f_expected;  // sent, not taken
  always_ff @(posedge clk_i) begin
    if (f_init || clear_i) f_expected <= '0;
    else if (f_takes && f_ahead != '0) f_expected <= f_expected + 1'b1;
  end
  wire [7:0] f_stale = f_expected - ctrl_ack_i;
  always_comb if (ctrl_valid_i) assume (f_stale < 8'd128);

  // ---- what the FIFO of packet ends gives (proof fifo): a record for each whole packet of the window
  wire [PTR_W:0] f_size = record_end - tail_q;
  wire [7:0]     f_open = f_half ? f_flits : 8'd0;
  always_comb begin
    assume (record_valid == (head_seq_q != tail_seq_q));
    if (record_valid) assume (f_size >= 1 && f_size <= PACKET_MAX && f_size <= fill - f_open);
    if (record_valid && unacked_o == 8'd1) assume (f_size == fill - f_open);
    if (record_valid && unacked_o != 8'd1) assume (f_size < fill - f_open);
  end

  // ---- any flit of the ring, and what its RAM gives (proof ram_1r1w)
  (* anyconst *) logic [PTR_W:0] f_at;
  logic [DATA_W+1:0] f_flit, f_word;  // the flit written at f_at; the word the RAM holds there
  logic              f_read;          // the RAM's output is that word
  logic [DATA_W+1:0] f_seen;
  wire  [PTR_W:0]    f_place = f_at - tail_q;
  wire               f_inside = f_place < fill;
  always_ff @(posedge clk_i) begin
    if (wr_valid_i && head_q == f_at) f_flit <= {wr_last_i, wr_first_i, wr_data_i};
    if (wr_valid_i && head_q[PTR_W-1:0] == f_at[PTR_W-1:0]) f_word <= {wr_last_i, wr_first_i, wr_data_i};
    if (issue) begin
      f_read <= rd_q == f_at;
      f_seen <= f_word;
    end
  end
  always_comb if (rd_valid_q && f_read) assume ({rp_last_o, rp_first_o, rp_data_o} == f_seen);

  // A replay goes on through packets that are acknowledged meanwhile; nothing is written under it.
  logic [PTR_W:0] f_base;  // where the replay began
  logic [PTR_W:0] f_issued;  // flits read for it
  always_ff @(posedge clk_i) begin
    if (start) f_base <= tail_q;
    if (start) f_issued <= '0;
    else if (issue) f_issued <= f_issued + 1'b1;
  end
  wire [PTR_W:0] f_done = rd_q - f_base;
  wire [PTR_W:0] f_all = head_q - f_base;
  wire [PTR_W:0] f_from_base = f_at - f_base;
  wire [7:0]     f_acked = acked_q - tail_seq_q;
  wire [7:0]     f_taken = f_expected - acked_q;
  always_comb begin
    if (!f_init) begin
      // the window
      assert (fill <= FLITS);
      if (room_o) assert (fill <= HEAD_MAX + 1 && unacked_o <= WINDOW - 3 && !active_o);
      if (f_may_next) assert (fill <= HEAD_MAX + 2 && unacked_o <= WINDOW - 2 && !running_q && !(request_q && held_q));
      if (f_may) assert (fill <= HEAD_MAX + 3 && unacked_o <= WINDOW - 1);
      if (f_may && wr_valid_i) assert (!running_q);
      if (rd_valid_q) assert (running_q && !f_may_next);
      if (wr_valid_i) assert (!running_q);
      assert (unacked_o <= WINDOW);
      assert (f_acked <= unacked_o);
      assert (f_flits < PACKET_MAX && f_open <= fill);
      if (head_seq_q == tail_seq_q) assert (fill == f_open);
      if (f_half && !running_q) assert (fill <= FLITS - PACKET_MAX + f_flits);
      if (f_half) assert (unacked_o < WINDOW && !running_q);
      // nothing is forgotten that the receiver has not taken
      if (!dead_i && !f_broken) assert (f_taken <= head_seq_q - acked_q);
      if (retire && !dead_i && up_i) assert (f_expected != tail_seq_q);
      // a replay begins at the oldest packet and repeats every flit as it was
      if (start) assert (tail_seq_q == acked_q);
      if (running_q && up_i)
        assert (f_done == f_issued && f_done <= f_all && f_all <= FLITS && fill <= f_all && !f_half);
      if (f_inside || (running_q && f_from_base < f_all)) assert (f_word == f_flit);
      if (up_i && running_q && rd_valid_q) assert (f_done != '0 && (rd_q - 1'b1 != f_at || f_read));
      if (up_i && running_q && rd_valid_q && f_read)
        assert (rd_q - 1'b1 == f_at && {rp_last_o, rp_first_o, rp_data_o} == f_flit);
    end
  end
