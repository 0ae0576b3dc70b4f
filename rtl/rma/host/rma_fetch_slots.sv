// SPDX-License-Identifier: Apache-2.0
// The slots of rma_fetch: a ring in the order of the commands. A slot is allocated by a command, closed when its last
// read was made, complete when as many reads have ended as were made, started (read out) in its turn, and released when
// its packet has left.
`default_nettype none

module rma_fetch_slots #(
    parameter int unsigned SLOTS = 16  // a power of two, at least 2
) (
    input  wire logic                      clk_i,
    input  wire logic                      rst_ni,

    output      logic                      room_o,          // a slot is free
    output      logic [$clog2(SLOTS)-1:0]  tail_o,          // the next one taken
    input  wire logic                      take_i,

    // in the order of the slots
    input  wire logic                      close_i,
    input  wire logic [2:0]                close_reads_i,   // reads made for it
    input  wire logic [1:0]                close_uses_i,    // translations it uses
    input  wire logic [3:0]                close_status_i,  // ST_OK, or why not everything was read

    // in any order
    input  wire logic                      end_i,
    input  wire logic [$clog2(SLOTS)-1:0]  end_slot_i,
    input  wire logic [3:0]                end_status_i,

    // the oldest slot that was not started; neither ready nor almost in the cycle after a start
    output      logic                      ready_o,         // complete
    output      logic                      almost_o,        // good but for one read that has not ended
    output      logic [$clog2(SLOTS)-1:0]  head_o,
    output      logic [1:0]                uses_o,
    output      logic [3:0]                status_o,        // of its first failed read, else why it was closed
    input  wire logic                      start_i,
    input  wire logic                      release_i        // the oldest slot is free again
);
  localparam int unsigned SW = $clog2(SLOTS);

  // each after the one before it; the top bit reports full from empty
  logic [SW:0]      oldest_q, head_q, close_q, tail_q;
  logic [8:0]       closed_q [SLOTS];                   // reads, uses, status
  logic [6:0]       ended_q [SLOTS];                    // reads, first bad status; not written while the slot is fresh
  logic [SLOTS-1:0] fresh_q;

  wire [SW-1:0] head = head_q[SW-1:0];
  assign room_o = (tail_q ^ oldest_q) != {1'b1, {SW{1'b0}}};
  assign tail_o = tail_q[SW-1:0];
  assign head_o = head;

  logic [2:0] was_reads;
  logic [3:0] was_status;
  wire [8:0]  closes = {close_reads_i, close_uses_i, close_status_i};
  wire [6:0]  ends   = {was_reads + 3'd1, was_status != ggas_pkg::ST_OK ? was_status : end_status_i};
  always_comb begin
    {was_reads, was_status} = '0;
    if (end_i && !fresh_q[end_slot_i]) {was_reads, was_status} = ended_q[end_slot_i];
  end
  always_ff @(posedge clk_i) begin
    if (close_i) closed_q[close_q[SW-1:0]] <= closes;
    if (end_i) ended_q[end_slot_i] <= ends;
  end

  // What the head will be in the next cycle. Of the slot after it that is found out once it is the head.
  wire          now  = close_i && close_q == head_q;  // it is closed
  wire          over = now || head_q != close_q;
  logic [2:0]   made, reads;
  logic [1:0]   uses;
  logic [3:0]   closed_status, bad;
  wire  [3:0]   status = bad != ggas_pkg::ST_OK ? bad : closed_status;
  assign {made, uses, closed_status} = now ? closes : closed_q[head];
  assign {reads, bad} = end_i && end_slot_i == head ? ends : fresh_q[head] ? '0 : ended_q[head];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {ready_o, almost_o, uses_o, status_o} <= '0;
    else begin
      ready_o  <= !start_i && over && reads == made;
      almost_o <= !start_i && over && reads + 3'd1 == made && status == ggas_pkg::ST_OK;
      uses_o   <= uses;
      status_o <= status;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      oldest_q <= '0;
      head_q   <= '0;
      close_q  <= '0;
      tail_q   <= '0;
      fresh_q  <= '0;
    end else begin
      if (release_i) oldest_q <= oldest_q + 1'b1;
      if (start_i) head_q <= head_q + 1'b1;
      if (close_i) close_q <= close_q + 1'b1;
      if (end_i) fresh_q[end_slot_i] <= 1'b0;
      if (take_i) begin
        tail_q                  <= tail_q + 1'b1;
        fresh_q[tail_q[SW-1:0]] <= 1'b1;
      end
    end
  end

`ifndef SYNTHESIS
  wire [SW:0] held = tail_q - oldest_q, started = head_q - oldest_q, shut = close_q - oldest_q;
  initial if (SLOTS < 2 || (SLOTS & (SLOTS - 1)) !=
    0) $error("rma_fetch_slots: SLOTS must be a power of two, at least 2");
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (started <= shut && shut <= held && held <=
        SLOTS[SW:0]) else $error("rma_fetch_slots: pointers out of order");
      if (take_i) assert (room_o);
      if (close_i) assert (shut != held);
      if (start_i) assert (ready_o || almost_o);
      if (release_i) assert (started != '0);
    end
  end
`endif
endmodule

`default_nettype wire
