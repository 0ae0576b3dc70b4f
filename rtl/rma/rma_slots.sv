// SPDX-License-Identifier: Apache-2.0
// The descriptor slots of 256 contexts and what is known of them: which DW of a slot are there, which slots are
// complete, which one is next. One thing a cycle: a row from a page, a row from a work queue, or a look at a context
// whose descriptor is over. It is taken in one cycle and done in the next, where the context's next descriptor, if it
// is complete, is named on head_*.
`default_nettype none

module rma_slots (
    input  wire logic          clk_i,
    input  wire logic          rst_ni,

    // writes of CONTEXT[]: CTRL empties the slots; is something of a context in hand?
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::context_write_t context_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [7:0]    look_vpid_i,
    output      logic          look_busy_o,

    // rows of pages
    input  wire logic          row_valid_i,
    output      logic          row_ready_o,
    input  wire logic          row_sop_i,      // first row of a write
    input  wire logic          row_bad_i,      // some of it fits nothing
    input  wire logic [20:0]   row_info_i,     // place of the write, as in rma_page
    input  wire logic [7:0]    row_vpid_i,
    input  wire logic [3:0]    row_slot_i,
    input  wire logic [7:0]    row_mask_i,
    input  wire logic [255:0]  row_data_i,

    // rows of work queues
    input  wire logic          fill_valid_i,
    output      logic          fill_ready_o,
    input  wire logic [7:0]    fill_vpid_i,
    input  wire logic [3:0]    fill_slot_i,
    input  wire logic [7:0]    fill_mask_i,
    input  wire logic [255:0]  fill_data_i,

    // a look at a context: pulse, taken at once
    input  wire logic          kick_valid_i,
    input  wire logic [7:0]    kick_vpid_i,
    input  wire logic          kick_consume_i, // its next descriptor is over: its slots are free
    output      logic          sl_valid_o,     // pulse: slots were consumed
    output      logic [7:0]    sl_vpid_o,
    output      logic [1:0]    sl_count_o,

    // the context looked at or written: its next descriptor, complete
    output      logic          head_valid_o,
    output      logic [7:0]    head_vpid_o,
    output      logic [3:0]    head_slot_o,
    output      logic [1:0]    head_more_o,    // slots behind the first

    // a slot's data, from the next cycle until the next read; a read sees what is written in its cycle
    input  wire logic          read_i,
    input  wire logic [7:0]    read_vpid_i,
    input  wire logic [3:0]    read_slot_i,
    output      logic [255:0]  read_data_o,

    output      logic          ev_page_access_o,
    output      logic [39:0]   ev_info_o,
    output      logic          busy_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;

  // What is known of a context's slots, a bit or pair a slot.
  typedef struct packed {
    logic [3:0]  head;      // next descriptor
    logic [15:0] touched;   // some DW are there: the entry in u_parts counts
    logic [15:0] complete;
    logic [31:0] more;      // slots that belong to the descriptor that starts here (complete ones)
  } state_t;
  localparam int unsigned STATE_W = 68;

  // What is known of a slot in part: its DW, and of word 0 the op and size as far as they tell the number of slots.
  typedef struct packed {
    logic [1:0] op;
    logic [2:0] size;
    logic [7:0] mask;
  } part_t;
  localparam int unsigned PART_W = 13;
  localparam logic [1:0] OP_ONE = 2'd0, OP_DATA = 2'd1, OP_ATOMIC = 2'd2;
  localparam logic [2:0] SIZE_NONE = 3'd0, SIZE_WORD = 3'd1, SIZE_ONE = 3'd2, SIZE_TWO = 3'd3, SIZE_BAD = 3'd4;

  function automatic logic [1:0] op_class(input logic [3:0] op);
    op_class = op == ggas_pkg::DESC_INLINE || op == ggas_pkg::DESC_SEND ? OP_DATA : op == ggas_pkg::DESC_ATOMIC
      ? OP_ATOMIC : OP_ONE;
  endfunction
  function automatic logic [2:0] size_class(input logic [23:0] size);
    size_class = size == 24'd0 ? SIZE_NONE : size == 24'd4 || size == 24'd8 ? SIZE_WORD : size <= 24'd32 ? SIZE_ONE
                 : size <= 24'd64 ? SIZE_TWO : SIZE_BAD;
  endfunction
  function automatic logic [1:0] slots_behind(input logic [1:0] op, input logic [2:0] size);
    slots_behind = size == SIZE_WORD ? {1'b0, op != OP_ONE} : op != OP_DATA ? 2'd0 : size == SIZE_ONE ? 2'd1
      : size == SIZE_TWO ? 2'd2 : 2'd0;
  endfunction

  // ---------------------------------------------------------------- whose turn: looks, then pages and queues by turns
  logic page_last_q;
  wire  row_turn  = row_valid_i && !(fill_valid_i && page_last_q);
  assign row_ready_o  = !kick_valid_i && !(fill_valid_i && page_last_q);
  assign fill_ready_o = !kick_valid_i && !row_turn;
  wire  row_take  = !kick_valid_i && row_turn;
  wire  fill_take = fill_valid_i && fill_ready_o;
  wire  take      = kick_valid_i || row_take || fill_take;

  logic [7:0]   take_vpid, take_mask;
  logic [3:0]   take_slot;
  logic [255:0] take_data;
  always_comb begin
    take_vpid = kick_vpid_i;
    take_slot = fill_slot_i;
    take_mask = fill_mask_i;
    take_data = fill_data_i;
    if (row_take) begin
      take_vpid = row_vpid_i;
      take_slot = row_slot_i;
      take_mask = row_mask_i;
      take_data = row_data_i;
    end else if (fill_take) begin
      take_vpid = fill_vpid_i;
    end
  end

  // ---------------------------------------------------------------- the thing under way
  logic         valid_q, row_q, consume_q, write_q, sop_q, bad_q;
  logic [20:0]  info_q;
  logic [7:0]   vpid_q, mask_q;
  logic [3:0]   slot_q;
  logic [255:0] data_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q     <= 1'b0;
      page_last_q <= 1'b0;
    end else begin
      valid_q <= take;
      if (row_take || fill_take) page_last_q <= row_take;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      vpid_q    <= take_vpid;
      consume_q <= kick_valid_i && kick_consume_i;
      row_q     <= row_take;
      write_q   <= (row_take || fill_take) && take_mask != '0;
      slot_q    <= take_slot;
      mask_q    <= take_mask;
    end
    if (row_take || fill_take) data_q <= take_data;
    if (row_take) begin
      sop_q  <= row_sop_i;
      bad_q  <= row_bad_i;
      info_q <= row_info_i;
    end
  end

  // ---------------------------------------------------------------- what is known, with what was written in the cycle
  // of the read
  state_t       state_r, state_w_q, state, state_w;
  part_t        part_r, part_w_q, part, part_w;
  logic         state_fwd_q, part_fwd_q;
  logic         written;  // since CTRL
  wire          fresh = !written;
  wire          part_read = (row_take || fill_take) && take_mask != '0;
  wire          part_we   = valid_q && write_q;

  ram_1r1w #(.WIDTH(STATE_W), .DEPTH(ggas_pkg::CONTEXTS)) u_state (
      .clk_i, .we_i(valid_q), .waddr_i(vpid_q[CW-1:0]), .wdata_i(state_w), .re_i(take), .raddr_i(take_vpid[CW-1:0]),
      .rdata_o(state_r));
  ram_1r1w #(.WIDTH(PART_W), .DEPTH(ggas_pkg::CONTEXTS * ggas_pkg::SLOTS)) u_parts (
      .clk_i, .we_i(part_we), .waddr_i({vpid_q[CW-1:0], slot_q}), .wdata_i(part_w), .re_i(part_read),
      .raddr_i({take_vpid[CW-1:0], take_slot}),
      .rdata_o(part_r));

  always_ff @(posedge clk_i) begin
    if (take) state_fwd_q <= valid_q && vpid_q == take_vpid;
    if (part_read) part_fwd_q <= part_we && vpid_q == take_vpid && slot_q == take_slot;
    if (valid_q) state_w_q <= state_w;
    if (part_we) part_w_q <= part_w;
  end
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2)) u_written (
      .clk_i, .rst_ni, .we_i({context_i.we && context_i.word == 3'd0, valid_q}),
      .waddr_i({context_i.vpid[CW-1:0], vpid_q[CW-1:0]}), .wdata_i(2'b01), .raddr_i(vpid_q[CW-1:0]), .rdata_o(written));

  // ---------------------------------------------------------------- a row
  wire [7:0] have = state.touched[slot_q] ? part.mask : '0;
  wire [7:0] add  = part_we ? mask_q & ~have : '0;
  always_comb begin
    part = '0;
    if (part_we) part = part_fwd_q ? part_w_q : part_r;
  end
  always_comb begin
    part_w = '0;
    if (part_we) begin
      part_w.mask = have | add;
      part_w.op   = add[0] ? op_class(data_q[3:0]) : part.op;
      part_w.size = add[1] ? size_class(data_q[63:40]) : part.size;
    end
  end
  wire full = part_we && part_w.mask == 8'hff;

  // ---------------------------------------------------------------- the context
  wire [1:0]  count = state.complete[state.head] ? state.more[{state.head, 1'b0}+:2] + 2'd1 : 2'd0;  // 1 ... 3
  logic [15:0] gone;  // slots that are consumed
  always_comb begin
    state = '0;
    if (valid_q && !fresh) state = state_fwd_q ? state_w_q : state_r;
  end
  always_comb begin
    state_w = state;
    gone    = '0;
    if (valid_q && consume_q) begin
      for (int i = 0; i < 16; i++) gone[i] = {1'b0, i[3:0] - state.head} < {3'd0, count};
      state_w.head     = state.head + {2'd0, count};
      state_w.touched  = state.touched & ~gone;
      state_w.complete = state.complete & ~gone;
    end
    if (part_we) begin
      state_w.touched[slot_q] = 1'b1;
      if (full) begin
        state_w.complete[slot_q]         = 1'b1;
        state_w.more[{slot_q, 1'b0}+:2] = slots_behind(part_w.op, part_w.size);
      end
    end
  end

  wire [3:0] second = state_w.head + 4'd1;
  wire [3:0] third  = state_w.head + 4'd2;
  assign head_vpid_o  = vpid_q;
  assign head_slot_o  = state_w.head;
  assign head_more_o  = state_w.more[{state_w.head, 1'b0}+:2];
  assign head_valid_o = valid_q && state_w.complete[state_w.head] && (head_more_o == 2'd0 || state_w.complete[second])
                        && (!head_more_o[1] || state_w.complete[third]);

  // ---------------------------------------------------------------- data
  logic [7:0]   bypass_q;   // lanes that were written in the cycle of the read
  logic [255:0] bypass_data_q, read_data;
  wire          meets = add != '0 && read_vpid_i == vpid_q && read_slot_i == slot_q;
  for (genvar i = 0; i < 8; i = i + 1) begin : g_lane
    ram_1r1w #(.WIDTH(32), .DEPTH(ggas_pkg::CONTEXTS * ggas_pkg::SLOTS)) u_data (
        .clk_i, .we_i(add[i]), .waddr_i({vpid_q[CW-1:0], slot_q}), .wdata_i(data_q[32*i+:32]), .re_i(read_i),
        .raddr_i({read_vpid_i[CW-1:0], read_slot_i}), .rdata_o(read_data[32*i+:32]));
    assign read_data_o[32*i+:32] = bypass_q[i] ? bypass_data_q[32*i+:32] : read_data[32*i+:32];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) bypass_q <= '0;
    else if (read_i) bypass_q <= meets ? add : '0;
  end
  always_ff @(posedge clk_i) if (read_i && meets) bypass_data_q <= data_q;

  // ---------------------------------------------------------------- pulses: a write is reported once
  logic told_q;
  wire  refused = valid_q && row_q && (bad_q || (write_q && (mask_q & have) != '0));
  wire  told    = told_q && !sop_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      told_q           <= 1'b0;
      ev_page_access_o <= 1'b0;
      sl_valid_o       <= 1'b0;
    end else begin
      ev_page_access_o <= refused && !told;
      sl_valid_o       <= valid_q && consume_q && count != 2'd0;
      if (valid_q && row_q) told_q <= refused || told;
    end
  end
  always_ff @(posedge clk_i) begin
    if (refused) ev_info_o <= {19'd0, info_q};
    if (valid_q && consume_q) begin
      sl_vpid_o  <= vpid_q;
      sl_count_o <= count;
    end
  end

  assign look_busy_o = (valid_q && vpid_q == look_vpid_i) || (sl_valid_o && sl_vpid_o == look_vpid_i);
  assign busy_o = valid_q || ev_page_access_o || sl_valid_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && valid_q) assert ((state_w.complete
      & ~state_w.touched) == '0) else $error("rma_slots: complete but not touched");
    if (rst_ni && valid_q && consume_q && !fresh)
      assert (state.complete[state.head]) else $error("rma_slots: consumed what was not complete");
  end
`endif
endmodule

`default_nettype wire
