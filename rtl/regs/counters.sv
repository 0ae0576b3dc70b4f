// SPDX-License-Identifier: Apache-2.0
// The 64-bit counters: named ones at ADDR_COUNTERS, one per event code at EVENT_COUNT. They are in RAM; pulses are
// first counted in a few bits, which are added to the RAM in turn. A read over the register bus adds the pulses that
// are not in RAM yet, except those of the cycle of the read and the one before. Without ggas_pkg::EVENT_COUNTS those of
// events stay 0.
`default_nettype none

module counters #(
  parameter int unsigned EV_SOURCES = 1    // vectors of event pulses, at most 15
) (
  input  wire         clk_i,
  input  wire         rst_ni,

  input  wire  [ggas_regs_pkg::CNT_NUM-1:0] cnt_i,   // one pulse an occurrence, bit ggas_regs_pkg::CNT_*
  input  ggas_regs_pkg::event_set_t [EV_SOURCES-1:0] ev_i,  // one pulse an occurrence, bit = event code, per source

  input  wire         ext_req_i,      // read this cycle
  input  wire  [15:0] ext_addr_i,
  output logic [63:0] ext_rdata_o,    // next cycle
  output logic        busy_o          // something is not in RAM yet
);

  // Words of the RAM: named counters from 0 on, events from 64 on; GROUPS of 8 words are looked at together.
  localparam int unsigned N      = ggas_regs_pkg::CNT_NUM;
  localparam int unsigned NE     = ggas_regs_pkg::EVENT_COUNT_NUM;
  localparam int unsigned GROUPS = 8 + (NE + 7) / 8;
  localparam int unsigned WORDS  = 8 * GROUPS;
  // until a word's turn comes: the RAM is cleared, all others add, and those of its group that did so just before
  localparam int unsigned TURN   = WORDS + N + NE + GROUPS + 8;
  localparam int unsigned NAMED_W = $clog2(TURN + 1);
  localparam int unsigned EVENT_W = $clog2(TURN * EV_SOURCES + 1);
  localparam int unsigned SEEN_W  = $clog2(EV_SOURCES + 1);

  // ---------------------------------------------------------------- counts that are not in RAM yet
  // In planes, bit b of every word together: one addition counts for all words, in the simulator too.
  logic [N-1:0]     named_q [NAMED_W];
  logic [NE-1:0]    event_q [EVENT_W];
  logic [N-1:0]     named_some_q;  // of a word
  logic [NE-1:0]    event_some_q;
  logic [WORDS-1:0] some;
  logic [N-1:0]     cnt_q;
  logic [N-1:0]     named_taken;   // it is added to the RAM
  logic [NE-1:0]    event_taken;
  logic             turn_q;        // word index_q is to be taken
  wire              pick = turn_q && !ext_req_i;
  ggas_regs_pkg::event_set_t [EV_SOURCES-1:0] ev_q;
  always_comb begin
    some         = '0;
    some[N-1:0]  = named_some_q;
    some[64+:NE] = event_some_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin : count_named
    logic [N-1:0] left, carry;
    if (!rst_ni) begin
      cnt_q        <= '0;
      named_some_q <= '0;
      for (int b = 0; b < NAMED_W; b++) named_q[b] <= '0;
    end else begin
      cnt_q <= cnt_i;
      if (cnt_q != '0 || pick) begin
        carry = cnt_q;
        for (int b = 0; b < NAMED_W; b++) begin
          left        = named_q[b] & ~named_taken;
          named_q[b] <= left ^ carry;
          carry       = left & carry;
        end
        named_some_q <= cnt_q | (named_some_q & ~named_taken);
      end
    end
  end

  if (ggas_pkg::EVENT_COUNTS) begin : g_events
    // How many sources saw each code in this cycle.
    logic [NE-1:0] seen [SEEN_W];
    logic [NE-1:0] seen_some, carry, so_far;
    always_comb begin
      for (int b = 0; b < SEEN_W; b++) seen[b] = '0;
      seen_some = '0;
      carry     = '0;
      so_far    = '0;
      if (ev_q != '0) begin
        for (int s = 0; s < EV_SOURCES; s++) begin
          carry     = ev_q[s];
          seen_some = seen_some | carry;
          for (int b = 0; b < SEEN_W; b++) begin
            so_far  = seen[b];
            seen[b] = so_far ^ carry;
            carry   = so_far & carry;
          end
        end
      end
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin : count_events
      logic [NE-1:0] left, more, sum_carry;
      if (!rst_ni) begin
        ev_q         <= '0;
        event_some_q <= '0;
        for (int b = 0; b < EVENT_W; b++) event_q[b] <= '0;
      end else begin
        ev_q <= ev_i;
        if (ev_q != '0 || pick) begin
          event_some_q <= seen_some | (event_some_q & ~event_taken);
          sum_carry = '0;
          for (int b = 0; b < EVENT_W; b++) begin
            left        = event_q[b] & ~event_taken;
            more        = b < SEEN_W ? seen[b % SEEN_W] : '0;
            event_q[b] <= left ^ more ^ sum_carry;
            sum_carry   = (left & more) | (sum_carry & (left | more));
          end
        end
      end
    end
  end else begin : g_no_events
    assign {ev_q, event_some_q} = '0;
    always_comb for (int b = 0; b < EVENT_W; b++) event_q[b] = '0;
    wire unused_events = &{1'b0, ev_i, event_taken};
  end

  // ---------------------------------------------------------------- whose turn it is
  // A group of words is examined; those with counts are passed on one by one, and accepted a cycle later.
  logic       clear_q;         // the RAM is being cleared after a reset
  logic [3:0] group_q;         // next group
  logic [3:0] of_q;            // group of those that wait
  logic [7:0] wait_q;          // words of it, clearing: words of group_q that are not cleared yet
  logic [6:0] index_q;
  logic [2:0] first;
  wire        move    = !turn_q || pick;
  wire        look    = clear_q ? first == 3'd7 : move && (wait_q & (wait_q - 8'd1)) == '0;
  wire  [3:0] next    = group_q == GROUPS[3:0] - 4'd1 ? 4'd0 : group_q + 4'd1;

  always_comb begin
    first = '0;
    if (wait_q != '0) for (int i = 7; i >= 0; i--) if (wait_q[i]) first = i[2:0];
  end
  always_comb begin
    named_taken = '0;
    event_taken = '0;
    if (pick && index_q[6]) event_taken[index_q[5:0]] = 1'b1;
    else if (pick) named_taken[index_q[5:0]] = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_q <= 1'b1;
      group_q <= '0;
      of_q    <= '0;
      wait_q  <= '1;
      turn_q  <= 1'b0;
      index_q <= '0;
    end else if (clear_q) begin
      wait_q <= look ? '1 : wait_q & (wait_q - 8'd1);
      if (look) group_q <= next;
      if (look && next == '0) begin
        clear_q <= 1'b0;
        wait_q  <= '0;
      end
    end else if (some != '0 || wait_q != '0 || turn_q) begin
      if (move) begin
        turn_q  <= wait_q != '0;
        index_q <= {of_q, first};
        wait_q  <= wait_q & (wait_q - 8'd1);
      end
      if (look) begin
        of_q    <= group_q;
        group_q <= next;
        wait_q  <= some[{group_q, 3'd0}+:8];
      end
    end
  end

  // ---------------------------------------------------------------- read, add, write; a word at most once in GROUPS
  logic [63:0]        word, word_q;
  logic [EVENT_W-1:0] add, add_q, add2_q;
  logic [6:0]         read_q, index2_q;
  logic               read_valid_q, add_valid_q;
  wire [5:0]  ext_index = ext_addr_i[8:3];
  wire        ext_event = ext_addr_i[15:9] == ggas_regs_pkg::ADDR_EVENT_COUNT[15:9];
  wire [6:0]  ext_word  = {ext_event, ext_index};
  wire [63:0] sum       = word_q + {{(64 - EVENT_W){1'b0}}, add2_q};

  // What the word that is read, for the bus or for its turn, has next to the RAM.
  wire  [6:0]       at  = ext_req_i ? ext_word : index_q;
  always_comb begin
    add = '0;
    if (ext_req_i || pick) begin
      if (at[6]) begin
        for (int b = 0; b < EVENT_W; b++) add[b] = event_q[b][at[5:0]];
      end else if (at[5:0] < N[5:0]) begin
        for (int b = 0; b < NAMED_W; b++) add[b] = named_q[b][at[5:0]];
      end
    end
  end

  ram_1r1w #(.WIDTH(64), .DEPTH(128)) i_ram (
    .clk_i(clk_i), .we_i(clear_q || add_valid_q), .waddr_i(clear_q ? {group_q, first} : index2_q),
    .wdata_i(clear_q ? '0 : sum),
    .re_i(ext_req_i || pick), .raddr_i(at), .rdata_o(word)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_valid_q <= 1'b0;
      add_valid_q  <= 1'b0;
    end else begin
      read_valid_q <= pick;
      add_valid_q  <= read_valid_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (pick) begin
      read_q <= index_q;
      add_q  <= add;
    end
    if (read_valid_q) begin
      word_q   <= word;
      index2_q <= read_q;
      add2_q   <= add_q;
    end
  end

  // A word that is written as it is read comes from next to the RAM; one that does not exist is 0.
  logic        beside_q, none_q, clear_then_q;
  logic [63:0] sum_q;
  logic [EVENT_W-1:0] waits_q, moves_q;  // not in RAM: in the planes, on its way
  always_ff @(posedge clk_i) begin
    if (ext_req_i) begin
      beside_q <= add_valid_q && index2_q == ext_word;
      none_q   <= !ext_event && ext_index >= N[5:0];
      clear_then_q <= clear_q;
      sum_q    <= sum;
      waits_q  <= add;
      moves_q  <= read_valid_q && read_q == ext_word ? add_q : '0;
    end
  end
  wire [63:0] in_ram = clear_then_q ? 64'd0 : beside_q ? sum_q : word;
  wire [EVENT_W:0] late = {1'b0, waits_q} + {1'b0, moves_q};
  assign ext_rdata_o = none_q ? 64'd0 : in_ram + {{(63 - EVENT_W){1'b0}}, late};

  assign busy_o = clear_q || some != '0 || wait_q != '0 || turn_q || read_valid_q || add_valid_q
    || cnt_q != '0 || ev_q != '0;

  wire unused = &{1'b0, ext_addr_i[2:0]};

`ifndef SYNTHESIS
  initial begin
    if (EV_SOURCES == 0 || EV_SOURCES > 15) $error("counters: EV_SOURCES must be 1 to 15");
    if (N > 63 || NE > 64 || ggas_regs_pkg::ADDR_COUNTERS[8:0] != 9'd0 || ggas_regs_pkg::ADDR_EVENT_COUNT[8:0] != 9'd0)
      $error("counters: addresses do not fit the index");
  end
`endif

endmodule

`default_nettype wire
