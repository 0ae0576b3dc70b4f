// SPDX-License-Identifier: Apache-2.0
// The descriptor slots of 256 contexts and their state: the DWs of a slot that have arrived, the slots that are
// complete, and the next slot. One input a cycle: a row from a page, a row from a work queue, or a look at a context
// whose descriptor has ended. It is accepted in one cycle and processed in the next; in the third one head_* names the
// context's next descriptor, if it is complete. If the input before was of the same context, this is known a cycle
// earlier: so a single context is as fast as many.
`default_nettype none

module rma_slots (
    input  wire logic          clk_i,
    input  wire logic          rst_ni,

    // writes of CONTEXT[]: CTRL empties the slots; is something of a context in progress?
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

    // the context looked at or written two cycles ago: its next descriptor, complete
    output      logic          head_valid_o,
    output      logic [7:0]    head_vpid_o,
    output      logic [3:0]    head_slot_o,
    output      logic [1:0]    head_more_o,    // slots after the first
    // in the cycle after a look with kick_consume_i: the same, if it is known by then
    output      logic          next_valid_o,
    output      logic [3:0]    next_slot_o,
    output      logic [1:0]    next_more_o,

    // a complete slot's data, from the next cycle until the next read
    input  wire logic          read_i,
    input  wire logic [7:0]    read_vpid_i,
    input  wire logic [3:0]    read_slot_i,
    output      logic [255:0]  read_data_o,

    output      logic          ev_page_access_o,
    output      logic [39:0]   ev_info_o,
    output      logic          busy_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;

  // State of a context's slots, a bit or pair for each slot. The data for descriptors are kept from the head on, so
  // that the next one is first; they move when slots are consumed.
  typedef struct packed {
    logic [3:0]  head;      // next descriptor
    logic [15:0] touched;   // by slot: some DW are there, so the entry in u_parts counts
    logic [15:0] complete;  // from the head on
    logic [31:0] more;      // from the head on: slots after the first, if a descriptor starts here (complete ones)
  } state_t;
  localparam int unsigned STATE_W = 68;

  // What is known of a slot in part: its DW, and of word 0 the op and size as far as they report the number of slots.
  typedef struct packed {
    logic [1:0] op;
    logic [1:0] size;
    logic [7:0] mask;
  } part_t;
  localparam int unsigned PART_W = 12;
  localparam logic [1:0] OP_ONE = 2'd0, OP_DATA = 2'd1, OP_ATOMIC = 2'd2;
  localparam logic [1:0] SIZE_OTHER = 2'd0, SIZE_WORD = 2'd1, SIZE_ONE = 2'd2, SIZE_TWO = 2'd3;

  function automatic logic [1:0] op_class(input logic [3:0] op);
    op_class = op == rma_pkg::DESC_INLINE || op == rma_pkg::DESC_SEND ? OP_DATA : op == rma_pkg::DESC_ATOMIC
      ? OP_ATOMIC : OP_ONE;
  endfunction
  function automatic logic [1:0] size_class(input logic [23:0] size);
    size_class = size == 24'd0 || size > 24'd64 ? SIZE_OTHER : size == 24'd4 || size == 24'd8 ? SIZE_WORD
      : size <= 24'd32 ? SIZE_ONE : SIZE_TWO;
  endfunction
  function automatic logic [1:0] slots_behind(input logic [1:0] op, input logic [1:0] size);
    slots_behind = size == SIZE_WORD ? {1'b0, op != OP_ONE} : op != OP_DATA ? 2'd0 : size == SIZE_ONE ? 2'd1
      : size == SIZE_TWO ? 2'd2 : 2'd0;
  endfunction
  function automatic logic whole(input logic [2:0] complete, input logic [1:0] more);
    whole = complete[0] && (more == 2'd0 || complete[1]) && (!more[1] || complete[2]);
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
    take_vpid = kick_valid_i ? kick_vpid_i : row_turn ? row_vpid_i : fill_vpid_i;
    take_slot = row_turn ? row_slot_i : fill_slot_i;
    take_mask = row_turn ? row_mask_i : fill_mask_i;
    take_data = row_turn ? row_data_i : fill_data_i;
  end

  // ---------------------------------------------------------------- the thing under way
  logic         valid_q, row_q, consume_q, write_q, sop_q, bad_q;
  logic [20:0]  info_q;
  logic [7:0]   vpid_q, mask_q;
  logic [3:0]   slot_q;
  logic [15:0]  at_q;    // the same, one-hot
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
      write_q   <= !kick_valid_i && take_mask != '0;
      slot_q    <= take_slot;
      at_q      <= 16'd1 << take_slot;
      mask_q    <= take_mask;
      data_q    <= take_data;
    end
    if (row_take) begin
      sop_q  <= row_sop_i;
      bad_q  <= row_bad_i;
      info_q <= row_info_i;
    end
  end

  // ---------------------------------------------------------------- the state
  // Includes the results of the two preceding inputs: at the time of the read they were not yet written, or were being
  // written.
  state_t       state_r, state_q, found, last_q, state_fwd, state, state_w;
  part_t        part_r, part_w_q, part, part_w;
  logic         state_fwd_q, state_found_q, part_fwd_q;
  logic         found_q;  // the thing before is to be written
  logic [7:0]   found_vpid_q;
  logic [15:0]  here, row_at_q;  // of the row, of the one before: from the head on
  logic         written;  // since CTRL
  wire          part_we = valid_q && write_q;
  wire          ctrl    = context_i.we && context_i.word == 3'd0;

  ram_1r1w #(.WIDTH(STATE_W), .DEPTH(ggas_pkg::CONTEXTS)) u_state (
      .clk_i, .we_i(found_q), .waddr_i(found_vpid_q[CW-1:0]), .wdata_i(found), .re_i(take),
      .raddr_i(take_vpid[CW-1:0]), .rdata_o(state_r));
  ram_1r1w #(.WIDTH(PART_W), .DEPTH(ggas_pkg::CONTEXTS * ggas_pkg::SLOTS)) u_parts (
      .clk_i, .we_i(part_we), .waddr_i({vpid_q[CW-1:0], slot_q}), .wdata_i(part_w), .re_i(take),
      .raddr_i({take_vpid[CW-1:0], take_slot}),
      .rdata_o(part_r));

  always_ff @(posedge clk_i) begin
    if (take) begin
      state_fwd_q   <= (valid_q && vpid_q == take_vpid) || (found_q && found_vpid_q == take_vpid);
      state_found_q <= valid_q && vpid_q == take_vpid;
      part_fwd_q    <= part_we && vpid_q == take_vpid && slot_q == take_slot;
    end
    if (valid_q) begin
      state_q      <= state_w;
      found_vpid_q <= vpid_q;
      row_at_q     <= write_q ? here : '0;
    end
    last_q <= found;
    if (part_we) part_w_q <= part_w;
  end
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2)) u_written (
      .clk_i, .rst_ni, .we_i({ctrl, valid_q}),
      .waddr_i({context_i.vpid[CW-1:0], vpid_q[CW-1:0]}), .wdata_i(2'b01), .raddr_i(vpid_q[CW-1:0]), .rdata_o(written));

  // ---------------------------------------------------------------- a row
  wire       touched = (written && !state_fwd_q && (state_r.touched & at_q) != '0)
    || (written && state_fwd_q && (state_fwd.touched & at_q) != '0);
  wire [7:0] have = touched ? part.mask : '0;
  wire [7:0] add  = part_we ? mask_q & ~have : '0;
  wire       full = part_we && (touched ? (part.mask | mask_q) == '1 : mask_q == '1);
  assign part        = part_fwd_q ? part_w_q : part_r;
  assign part_w.mask = have | mask_q;
  assign part_w.op   = touched && part.mask[0] ? part.op : op_class(data_q[3:0]);
  assign part_w.size = touched && part.mask[1] ? part.size : size_class(data_q[63:40]);

  // ---------------------------------------------------------------- the context
  assign state_fwd = state_found_q ? found : last_q;
  assign state     = state_fwd_q ? state_fwd : state_r;  // counts if something was written since CTRL
  wire [1:0]   gone  = consume_q && state.complete[0] ? state.more[1:0] + 2'd1 : 2'd0;  // slots that are consumed
  wire [15:0]  front = 16'd1 << state.head;
  wire [15:0]  freed = (gone != 2'd0 ? front : '0) | (gone[1] ? {front[14:0], front[15]} : '0)
    | (gone == 2'd3 ? {front[13:0], front[15:14]} : '0);
  always_comb begin
    for (int i = 0; i < 16; i++) here[i] = written ? state.head == slot_q - i[3:0] : at_q[i];
    state_w.head     = written ? state.head + {2'd0, gone} : 4'd0;
    state_w.complete = written ? state.complete >> gone : '0;
    state_w.more     = state.more >> {gone, 1'b0};
    for (int i = 0; i < 16; i++) begin
      state_w.touched[i] = (written && state.touched[i] && !freed[i]) || (write_q && at_q[i]);
      if (full && here[i]) state_w.complete[i] = 1'b1;
    end
  end

  // What the row reports of the slots after it comes a cycle later.
  always_comb begin
    found = state_q;
    for (int i = 0; i < 16; i++) if (row_at_q[i]) found.more[2*i+:2] = slots_behind(part_w_q.op, part_w_q.size);
  end

  // ---------------------------------------------------------------- its next descriptor; a write of CTRL makes it void
  logic       next_q;
  wire [1:0]  over = found.more[1:0] + 2'd1;  // slots of the next descriptor
  // verilator lint_off UNUSEDSIGNAL
  wire [15:0] then_complete = found.complete >> over;
  wire [31:0] then_more     = found.more >> {over, 1'b0};
  // verilator lint_on UNUSEDSIGNAL
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      found_q <= 1'b0;
      next_q  <= 1'b0;
    end else begin
      found_q <= valid_q && !(ctrl && context_i.vpid == vpid_q);
      next_q  <= kick_valid_i && kick_consume_i && kick_vpid_i == found_vpid_q && !ctrl
          && whole(then_complete[2:0], then_more[1:0]);
    end
  end
  always_ff @(posedge clk_i) begin
    next_slot_o <= found.head + {2'd0, over};
    next_more_o <= then_more[1:0];
  end
  assign head_valid_o = found_q && whole(found.complete[2:0], found.more[1:0])
    && !(ctrl && context_i.vpid == found_vpid_q);
  assign head_vpid_o  = found_vpid_q;
  assign head_slot_o  = found.head;
  assign head_more_o  = found.more[1:0];
  assign next_valid_o = next_q && !ctrl;

  // ---------------------------------------------------------------- data
  for (genvar i = 0; i < 8; i = i + 1) begin : g_lane
    ram_1r1w #(.WIDTH(32), .DEPTH(ggas_pkg::CONTEXTS * ggas_pkg::SLOTS)) u_data (
        .clk_i, .we_i(add[i]), .waddr_i({vpid_q[CW-1:0], slot_q}), .wdata_i(data_q[32*i+:32]), .re_i(read_i),
        .raddr_i({read_vpid_i[CW-1:0], read_slot_i}), .rdata_o(read_data_o[32*i+:32]));
  end

  // ---------------------------------------------------------------- pulses: a write is reported once
  logic reported_q;
  wire  refused = valid_q && row_q && (bad_q || (write_q && touched && (mask_q & part.mask) != '0));
  wire  reported    = reported_q && !sop_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reported_q           <= 1'b0;
      ev_page_access_o <= 1'b0;
      sl_valid_o       <= 1'b0;
    end else begin
      ev_page_access_o <= refused && !reported;
      sl_valid_o       <= valid_q && written && gone != 2'd0;
      if (valid_q && row_q) reported_q <= refused || reported;
    end
  end
  always_ff @(posedge clk_i) begin
    ev_info_o <= {19'd0, info_q};
    if (valid_q && consume_q) begin
      sl_vpid_o  <= vpid_q;
      sl_count_o <= gone;
    end
  end

  assign look_busy_o = (valid_q && vpid_q == look_vpid_i) || (found_q && found_vpid_q == look_vpid_i)
    || (sl_valid_o && sl_vpid_o == look_vpid_i);
  assign busy_o = valid_q || found_q || ev_page_access_o || sl_valid_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && valid_q && consume_q && written)
      assert (gone != '0) else $error("rma_slots: consumed what was not complete");
  end
`endif
endmodule

`default_nettype wire
