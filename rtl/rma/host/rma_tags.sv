// SPDX-License-Identifier: Apache-2.0
// Tags of host reads: free, waiting for completions, or quarantined because their read timed out. A quarantined tag is
// free again when its completions have arrived after all, or after another time-out. Times are in ticks and checked by
// a walk over the tags, a tag a cycle, on every tick. A read that the host does not accept has a time-out, too: its tag
// is quarantined until it was accepted, and from then on treated like any other.
`default_nettype none

module rma_tags #(
    parameter int unsigned TAGS = 16  // tags, a power of two, at least 2
) (
    input  wire logic                     clk_i,
    input  wire logic                     rst_ni,
    input  wire logic [63:0]              time_i,
    input  wire logic [15:0]              cfg_timeout_i,  // ticks

    // the next tag to use
    output      logic                     free_o,
    output      logic [$clog2(TAGS)-1:0]  free_tag_o,
    input  wire logic                     take_i,         // it is used from now on

    // life of a read
    input  wire logic                     offer_i,        // the read of offer_tag_i waits for the host
    input  wire logic [$clog2(TAGS)-1:0]  offer_tag_i,
    input  wire logic                     sent_i,         // it goes to the host: its time begins again
    output      logic                     stuck_o,        // it was given up before it went
    input  wire logic                     close_i,        // its last completion came
    input  wire logic [$clog2(TAGS)-1:0]  close_tag_i,
    input  wire logic [$clog2(TAGS)-1:0]  look_tag_i,
    output      logic                     look_open_o,    // completions are due: its read has gone
    output      logic                     look_rests_o,   // ... but the read was given up

    // time-outs
    output      logic [$clog2(TAGS)-1:0]  walk_tag_o,
    input  wire logic                     hold_i,         // walk_tag_o is being used: not on this tick
    input  wire logic                     wait_i,         // nothing can be given up in this cycle
    output      logic                     expire_o,       // pulse: the read of walk_tag_o is given up
    output      logic                     walk_o,         // one may be, in this cycle
    output      logic                     busy_o,
    output      logic                     timer_o
);
  localparam int unsigned TW = $clog2(TAGS);

  logic [TAGS-1:0] open_q;            // taken and not closed
  logic [TAGS-1:0] rests_q;           // given up, a subset of open_q
  logic [16:0]     deadline_q [TAGS];

  // ---------------------------------------------------------------- the next free tag, found a cycle ahead
  logic            free_q;
  logic [TW-1:0]   next_q, found;
  logic [TAGS-1:0] hot_q;             // next_q as one bit; 0: none
  wire  [TAGS-1:0] usable = ~open_q & ~hot_q;
  wire  [TAGS-1:0] first  = usable & (~usable + 1'b1);
  wire             search = !free_q || take_i;
  for (genvar b = 0; b < TW; b = b + 1) begin : gen_found
    localparam logic [TAGS-1:0] WITH = {(TAGS >> (b + 1)){{(1 << b){1'b1}}, {(1 << b){1'b0}}}};  // tags with this bit
    assign found[b] = (first & WITH) != '0;
  end
  assign free_o     = free_q;
  assign free_tag_o = next_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      free_q <= 1'b1;
      next_q <= '0;
      hot_q  <= {{(TAGS - 1){1'b0}}, 1'b1};
    end else if (search) begin
      free_q <= usable != '0;
      next_q <= found;
      hot_q  <= first;
    end
  end

  // ---------------------------------------------------------------- walk on a tick
  logic          walk_q;
  logic [TW-1:0] at_q;
  // verilator lint_off UNUSEDSIGNAL
  wire [63:0]    ticks = time_i >> ggas_pkg::TICK_LOG2;
  wire [16:0]    late  = ticks[16:0] - deadline_q[at_q];  // negative while there is time
  // verilator lint_on UNUSEDSIGNAL
  wire           tick   = time_i[ggas_pkg::TICK_LOG2-1:0] == '0 && open_q != '0;
  // The time of a read on offer begins with the first walk that meets it: the deadline RAM has one write port.
  logic          timed_q;
  wire           offered = offer_i && offer_tag_i == at_q;
  wire           begins  = walk_q && offered && !timed_q && !sent_i;
  wire           over    = walk_q && open_q[at_q] && !late[16] && !hold_i && !(offered && (!timed_q || stuck_o));
  wire           go      = over && !wait_i && !sent_i;
  wire           forget  = go && rests_q[at_q];
  assign expire_o   = go && !rests_q[at_q];
  assign walk_tag_o = at_q;
  assign walk_o     = walk_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walk_q  <= 1'b0;
      at_q    <= '0;
      timed_q <= 1'b0;
      stuck_o <= 1'b0;
    end else begin
      timed_q <= offer_i && !sent_i && (timed_q || begins);
      stuck_o <= offer_i && !sent_i && (stuck_o || (expire_o && offered));
      if (walk_q && (!over || go)) begin
        at_q <= at_q + 1'b1;
        if (&at_q) walk_q <= 1'b0;
      end
      if (tick && !walk_q) walk_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (sent_i || expire_o || begins)
      deadline_q[sent_i ? offer_tag_i : at_q] <= ticks[16:0] + {1'b0, cfg_timeout_i};
  end

  // ---------------------------------------------------------------- state of the tags
  assign look_open_o  = open_q[look_tag_i] && !(offer_i && offer_tag_i == look_tag_i);
  assign look_rests_o = rests_q[look_tag_i];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q  <= '0;
      rests_q <= '0;
    end else begin
      if (expire_o) rests_q[at_q] <= 1'b1;
      if (close_i) begin
        open_q[close_tag_i]  <= 1'b0;
        rests_q[close_tag_i] <= 1'b0;
      end
      if (forget) begin
        open_q[at_q]  <= 1'b0;
        rests_q[at_q] <= 1'b0;
      end
      if (take_i) for (int i = 0; i < TAGS; i++) if (hot_q[i]) open_q[i] <= 1'b1;
    end
  end

  assign busy_o  = walk_q || (search && usable != '0);
  assign timer_o = open_q != '0;

`ifndef SYNTHESIS
  initial if (TAGS < 2 || (TAGS & (TAGS - 1)) != 0) $error("rma_tags: TAGS must be a power of two, at least 2");
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert ((rests_q & ~open_q) == '0) else $error("rma_tags: a free tag rests");
      if (free_q) assert (!open_q[next_q]) else $error("rma_tags: an open tag is offered");
      if (take_i) assert (free_q) else $error("rma_tags: taken without a free tag");
      if (offer_i) assert (open_q[offer_tag_i]) else $error("rma_tags: a free tag is offered to the host");
      if (sent_i) assert (offer_i) else $error("rma_tags: sent without an offer");
      if (close_i) assert (open_q[close_tag_i]) else $error("rma_tags: a free tag is closed");
    end
  end
`endif
endmodule

`default_nettype wire
