// SPDX-License-Identifier: Apache-2.0
// Replay buffer and window of the sender (go-back-N). Every flit of a new packet is kept in a ring until the packet is
// acknowledged. A nak or a time-out sends everything again from the oldest unacknowledged packet. New packets wait
// during the replay, so the ring does not change.
`default_nettype none

module link_replay #(
    parameter int unsigned DATA_W = 64,  // 64, 256 or 512
    parameter int unsigned FLITS  = 512  // flits kept, a power of two
) (
    input  wire logic              clk_i,
    input  wire logic              rst_ni,
    input  wire logic              clear_i,           // DOWN: forget everything
    input  wire logic              up_i,
    input  wire logic              dead_i,            // DEAD: discard packet by packet
    input  wire logic [31:0]       time_i,
    input  wire logic              tick_i,            // time-outs are checked on ticks only
    input  wire logic [7:0]        cfg_limit_i,
    input  wire logic [15:0]       cfg_timeout_i,
    // flits of new packets, a cycle after they were sent
    input  wire logic              wr_valid_i,
    input  wire logic              wr_first_i,
    input  wire logic              wr_last_i,
    input  wire logic [DATA_W-1:0] wr_data_i,
    input  wire logic              wr_store_i,        // the packet is posted: with its last flit
    output      logic              room_o,            // in the next cycle a packet of any length may be begun
    output      logic [7:0]        seq_o,             // sequence number of the next packet that is begun
    // acknowledgements
    input  wire logic              ctrl_valid_i,
    input  wire logic              ctrl_nak_i,
    input  wire logic [7:0]        ctrl_ack_i,
    // flits to repeat
    input  wire logic              boundary_i,        // no new packet is half sent, or half in the ring
    output      logic              active_o,          // a replay waits or runs: start no new packet
    output      logic              rp_valid_o,
    input  wire logic              rp_ready_i,
    output      logic              rp_first_o,
    output      logic              rp_last_o,
    output      logic [DATA_W-1:0] rp_data_o,
    // status
    output      logic [7:0]        unacked_o,
    output      logic              working_o,         // acknowledged or dead packets are retired, or room_o changes
    output      logic [7:0]        tries_o,           // replays since the last progress
    output      logic              give_up_o,         // one replay too many
    output      logic              lost_o,            // a posted packet was discarded (DEAD)
    output      logic              cnt_replays_o
);
  localparam int unsigned PTR_W = $clog2(FLITS);
  localparam int unsigned HDR_FLITS = (DATA_W == 64) ? 3 : 1;
  localparam int unsigned PACKET_MAX = HDR_FLITS + ggas_pkg::MTU * 8 / DATA_W + 1;
  // A packet starts two cycles after its room was counted, and flits arrive a cycle after they were sent. So up to
  // three flits, which may be three packets, are not in these counts.
  localparam int unsigned LATE = 3;
  localparam int unsigned HEAD_MAX = FLITS - PACKET_MAX - LATE;
  localparam logic [7:0]  WINDOW = 8'd127;

  logic [PTR_W:0] head_q, tail_q, rd_q, fill;    // ring pointers with a wrap bit
  logic [7:0]     head_seq_q, tail_seq_q, acked_q;
  logic [31:0]    since_q;                       // time of the last progress
  logic           request_q, running_q, rd_valid_q, inside_q;
  logic           wr_eop, room_d, request_d, start, issue, done, rp_take;

  assign wr_eop    = wr_valid_i && wr_last_i;
  assign fill      = head_q - tail_q;
  assign unacked_o = head_seq_q - tail_seq_q;
  assign room_d    = up_i && fill <= HEAD_MAX[PTR_W:0] && unacked_o <= WINDOW - 8'd1 - LATE[7:0]
      && !request_d && !running_q && !start;
  assign seq_o     = head_seq_q + {7'd0, wr_eop};

  // ---------------------------------------------------------------- packets in the ring
  logic           retire, record_store, record_valid;
  logic [PTR_W:0] record_end;
  logic       unused_ready;  // the window is smaller than the FIFO
  logic [7:0] unused_count;
  fifo #(.WIDTH(PTR_W + 2), .DEPTH(128), .BLOCK(1'b1)) i_packets (
      .clk_i, .rst_ni, .clear_i,
      .wr_valid_i(wr_eop), .wr_ready_o(unused_ready), .wr_data_i({wr_store_i, head_q + 1'b1}),
      .rd_valid_o(record_valid), .rd_ready_i(retire), .rd_data_o({record_store, record_end}), .count_o(unused_count)
  );

  // One packet a cycle leaves the window: acknowledged, or discarded because the link is dead.
  assign retire    = record_valid && (tail_seq_q != acked_q || dead_i);
  assign working_o = retire || room_d != room_o;
  assign lost_o    = retire && tail_seq_q == acked_q && record_store;

  // ---------------------------------------------------------------- acknowledgements and time-outs
  logic       ack_ok, progress, late, ask;
  logic       held_q;  // a replay was asked for before this cycle
  logic       old_q;  // at the last edge no progress had been made for the time-out
  logic [7:0] ack_ahead;
  assign ack_ahead = ctrl_ack_i - acked_q;
  assign ack_ok    = up_i && ctrl_valid_i && ack_ahead <= head_seq_q - acked_q;
  assign progress  = ack_ok && ack_ahead != '0;
  assign late      = up_i && tick_i && old_q && acked_q != head_seq_q && !request_q && !running_q;
  assign ask       = (ack_ok && ctrl_nak_i && ctrl_ack_i != head_seq_q) || late;
  assign give_up_o = cnt_replays_o && tries_o >= cfg_limit_i;

  always_ff @(posedge clk_i) old_q <= time_i - since_q >= {16'd0, cfg_timeout_i};

  // A replay starts between packets, once the ring's tail is at the requested packet. It does not start in the cycle of
  // the request, because a packet may still start in that cycle.
  assign request_d = up_i && (ask || (request_q && !start));
  assign start     = up_i && request_q && held_q && boundary_i && !inside_q && tail_seq_q == acked_q;
  assign active_o  = request_q || running_q;
  assign cnt_replays_o = start && tail_q != head_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q     <= '0;
      tail_q     <= '0;
      head_seq_q <= '0;
      tail_seq_q <= '0;
      acked_q    <= '0;
      since_q    <= '0;
      request_q  <= 1'b0;
      tries_o    <= '0;
      held_q     <= 1'b0;
      room_o     <= 1'b0;
    end else if (clear_i) begin
      head_q     <= '0;
      tail_q     <= '0;
      head_seq_q <= '0;
      tail_seq_q <= '0;
      acked_q    <= '0;
      request_q  <= 1'b0;
      tries_o    <= '0;
      held_q     <= 1'b0;
      room_o     <= 1'b0;
    end else begin
      held_q <= request_q;
      room_o <= room_d;
      if (wr_valid_i) head_q <= head_q + 1'b1;
      if (wr_eop) head_seq_q <= head_seq_q + 8'd1;
      if (retire) begin
        tail_q     <= record_end;
        tail_seq_q <= tail_seq_q + 8'd1;
      end
      if (progress) acked_q <= ctrl_ack_i;
      else if (retire && tail_seq_q == acked_q) acked_q <= acked_q + 8'd1;
      if (progress || start || done || (wr_eop && acked_q == head_seq_q)) since_q <= time_i;
      request_q <= request_d;
      if (progress) tries_o <= '0;
      else if (cnt_replays_o) tries_o <= tries_o + 8'd1;
    end
  end

  // ---------------------------------------------------------------- the ring and its reader
  assign rp_valid_o = rd_valid_q && !(request_q && !inside_q);  // no new packet of a replay that starts over
  assign rp_take    = rp_valid_o && rp_ready_i;
  assign issue      = running_q && !start && rd_q != head_q && (!rd_valid_q || rp_take);
  assign done       = running_q && rd_q == head_q && (!rd_valid_q || rp_take);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rd_q       <= '0;
      running_q  <= 1'b0;
      rd_valid_q <= 1'b0;
      inside_q   <= 1'b0;
    end else if (!up_i) begin
      running_q  <= 1'b0;
      rd_valid_q <= 1'b0;
      inside_q   <= 1'b0;
    end else begin
      if (start) begin
        running_q  <= tail_q != head_q;
        rd_q       <= tail_q;
        rd_valid_q <= 1'b0;
      end else begin
        if (done) running_q <= 1'b0;
        if (issue) begin
          rd_q       <= rd_q + 1'b1;
          rd_valid_q <= 1'b1;
        end else if (rp_take) rd_valid_q <= 1'b0;
      end
      if (rp_take) inside_q <= !rp_last_o;
    end
  end

  ram_1r1w #(.WIDTH(DATA_W + 2), .DEPTH(FLITS)) i_ring (
      .clk_i,
      .we_i(wr_valid_i), .waddr_i(head_q[PTR_W-1:0]), .wdata_i({wr_last_i, wr_first_i, wr_data_i}),
      .re_i(issue), .raddr_i(rd_q[PTR_W-1:0]), .rdata_o({rp_last_o, rp_first_o, rp_data_o})
  );

`ifndef SYNTHESIS
  initial begin
    if (FLITS < 64 || (FLITS & (FLITS - 1)) != 0) $error("link_replay: FLITS must be a power of two, at least 64");
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni && wr_valid_i) begin
      assert (!fill[PTR_W]) else $error("link_replay: ring overrun");
      assert (!running_q) else $error("link_replay: new flit during a replay");
    end
  end
`endif
endmodule

`default_nettype wire
