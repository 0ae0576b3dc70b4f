// SPDX-License-Identifier: Apache-2.0
// Work queues: rings of 32-byte slots in memory, read several at a time into the context's 16 slots as these become
// free. Counts of produced, fetched and consumed slots are in RAM. An operation has four cycles: it is chosen; its
// counts are read and subtracted; compared; written. The next one is chosen two cycles later, one of the same context
// four. Contexts take turns read by read.
`default_nettype none

module rma_queue #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [12:0]         cfg_mrrs_i,          // bytes: 128 to 4096
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [15:0]         cfg_timeout_i,       // RMA_TIMEOUT.host

    // writes of CONTEXT[]; is a read of a context under way?
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::context_write_t context_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [7:0]          look_vpid_i,
    output      logic                look_busy_o,

    // doorbells: slots produced
    input  wire logic                db_valid_i,
    output      logic                db_ready_o,
    input  wire logic [7:0]          db_vpid_i,
    input  wire logic [31:0]         db_count_i,

    // pulse: slots were consumed
    input  wire logic                sl_valid_i,
    input  wire logic [7:0]          sl_vpid_i,
    input  wire logic [1:0]          sl_count_i,

    // rows for rma_slots
    output      logic                fill_valid_o,
    input  wire logic                fill_ready_i,
    output      logic [7:0]          fill_vpid_o,
    output      logic [3:0]          fill_slot_o,
    output      logic [7:0]          fill_mask_o,
    output      logic [255:0]        fill_data_o,

    // host reads; completions of tags TAG_QUEUE and up
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire ggas_pkg::tlp_beat_t cpl_i,
    output      logic                cpl_ready_o,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    // pulses
    output      logic                ev_bad_descriptor_o, // a doorbell beyond the ring
    output      logic [39:0]         ev_doorbell_info_o,  // context
    output      logic                ev_host_error_o,
    output      logic [39:0]         ev_queue_info_o,     // low bits of the address
    output      logic                ev_unexpected_o,
    output      logic [9:0]          ev_tag_o,
    output      logic                cnt_queue_reads_o,
    output      logic                busy_o,
    output      logic                timer_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;
  // ---------------------------------------------------------------- contexts
  logic         s_on, sl_on;            // enabled, in queue mode
  logic         counted;                // counts are not 0
  logic         listed;                 // waits for its turn to read
  logic         reading, look_reading;  // a read is under way
  wire          ctrl = context_i.we && context_i.word == 3'd0;

  // ---------------------------------------------------------------- things to do: consumed, doorbell, read over, read
  localparam logic [1:0] K_CONSUMED = 2'd0, K_BELL = 2'd1, K_OVER = 2'd2, K_READ = 2'd3;
  // verilator lint_off UNUSEDSIGNAL
  logic        sl_room;               // always: a context has 16 slots
  // verilator lint_on UNUSEDSIGNAL
  logic        sl_head, list_head, over_valid, over_failed, cmd_valid_q, cmd_ready;
  logic [7:0]  sl_vpid, list_vpid, over_vpid;
  logic [1:0]  sl_count;
  logic [39:0] over_addr;
  logic        doorbell_q;
  logic [7:0]  doorbell_vpid_q;
  logic [31:0] doorbell_count_q;
  logic        a_q, b_q, c_q;         // a thing is read, compared, written
  logic [1:0]  a_kind_q, b_kind_q, c_kind_q;
  logic [7:0]  a_vpid_q, b_vpid_q, c_vpid_q;
  wire         free      = !a_q && !c_q;
  wire         cmd_free  = (!cmd_valid_q || cmd_ready) && !(b_q && b_kind_q == K_READ);
  wire         pick_sl   = free && sl_head && !(b_q && sl_vpid == b_vpid_q);
  wire         pick_doorbell = free && !sl_head && doorbell_q && !(b_q && doorbell_vpid_q == b_vpid_q);
  wire         pick_over = free && !sl_head && !doorbell_q && over_valid && !(b_q && over_vpid == b_vpid_q);
  wire         pick_read = free && !sl_head && !doorbell_q && !over_valid && list_head && cmd_free
      && !(b_q && list_vpid == b_vpid_q);
  wire         pick      = pick_sl || pick_doorbell || pick_over || pick_read;
  // What would be picked.
  wire [1:0]   kind      = sl_head ? K_CONSUMED : doorbell_q ? K_BELL : over_valid ? K_OVER : K_READ;
  wire [7:0]   vpid      = sl_head ? sl_vpid : doorbell_q ? doorbell_vpid_q : over_valid ? over_vpid : list_vpid;
  logic        push;                  // the context wants to read

  assign db_ready_o = !doorbell_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      doorbell_q       <= 1'b0;
      doorbell_vpid_q  <= '0;
      doorbell_count_q <= '0;
    end else if (db_valid_i && db_ready_o) begin
      doorbell_q       <= 1'b1;
      doorbell_vpid_q  <= db_vpid_i;
      doorbell_count_q <= db_count_i;
    end else if (pick_doorbell) begin
      doorbell_q <= 1'b0;
    end
  end
  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(10), .DEPTH(16 * ggas_pkg::CONTEXTS), .BLOCK(1'b1)) u_consumed (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(sl_valid_i && sl_on), .wr_ready_o(sl_room),
      .wr_data_i({sl_count_i, sl_vpid_i}),
      .rd_valid_o(sl_head), .rd_ready_i(pick_sl), .rd_data_o({sl_count, sl_vpid}), .count_o());
  fifo #(.WIDTH(8), .DEPTH(ggas_pkg::CONTEXTS), .BLOCK(1'b1)) u_list (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(push), .wr_ready_o(), .wr_data_i(c_vpid_q), .rd_valid_o(list_head),
      .rd_ready_i(pick_read), .rd_data_o(list_vpid), .count_o());
  // verilator lint_on PINCONNECTEMPTY

  // ---------------------------------------------------------------- read: the counts, and where the ring is
  logic [1:0]   a_count_q;
  logic [31:0]  a_doorbell_q;
  logic [95:0]  a_read, c_write;
  logic [63:12] base;
  logic [4:0]   log2;
  logic         c_keep_q;              // the context is still the one it was
  ram_1r1w #(.WIDTH(96), .DEPTH(ggas_pkg::CONTEXTS)) u_counts (
      .clk_i, .we_i(c_q && c_keep_q), .waddr_i(c_vpid_q[CW-1:0]), .wdata_i(c_write), .re_i(free),
      .raddr_i(vpid[CW-1:0]), .rdata_o(a_read));
  context_fields #(.WIDTH(52), .WORD(2)) u_base (
      .clk_i, .context_i, .fields_i(context_i.data[63:12]), .re_i(free), .vpid_i(vpid), .fields_o(base));
  context_fields #(.WIDTH(5)) u_size (
      .clk_i, .context_i, .fields_i(context_i.data[20:16]), .re_i(free), .vpid_i(vpid), .fields_o(log2));
  wire ctrl_a = ctrl && context_i.vpid == a_vpid_q;
  wire ctrl_b = ctrl && context_i.vpid == b_vpid_q;

  logic        b_keep_q, b_behind_q;
  logic [31:0] b_doorbell_q, b_produced_q, b_fetched_q, b_consumed_q;
  // produced, not fetched; fetched, not consumed; reported by the doorbell, not consumed, but the last one
  logic [31:0] b_waiting_q, b_used_q, b_ahead_q;
  logic [16:0] b_within_q;                        // bits of a slot's number in the ring
  logic [1:0]  b_count_q;
  logic [63:12] b_base_q;
  wire  [95:0] a_counts = counted ? a_read : '0;
  wire  [31:0] a_produced = a_counts[95:64], a_fetched = a_counts[63:32], a_consumed = a_counts[31:0];
  // verilator lint_off UNUSEDSIGNAL
  wire  [31:0] passed = a_doorbell_q - a_produced;
  // verilator lint_on UNUSEDSIGNAL
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {a_q, b_q, c_q} <= '0;
    else {a_q, b_q, c_q} <= {pick, a_q, b_q};
  end
  always_ff @(posedge clk_i) begin
    if (free) begin
      a_kind_q  <= kind;
      a_vpid_q  <= vpid;
      a_count_q <= sl_count;
      a_doorbell_q  <= doorbell_count_q;
    end
    if (a_q) begin
      b_keep_q     <= !ctrl_a;
      b_kind_q     <= a_kind_q;
      b_vpid_q     <= a_vpid_q;
      b_doorbell_q     <= a_doorbell_q;
      b_count_q    <= a_kind_q == K_CONSUMED ? a_count_q : 2'd0;
      b_base_q     <= base;
      b_produced_q <= a_produced;
      b_fetched_q  <= a_fetched;
      b_consumed_q <= a_consumed;
      b_behind_q   <= passed[31];  // overtaken on its way
      b_waiting_q  <= a_produced - a_fetched;
      b_used_q     <= a_fetched - a_consumed;
      b_ahead_q    <= a_doorbell_q + ~a_consumed;
      b_within_q   <= (17'd1 << log2) - 17'd1;
    end
  end

  // ---------------------------------------------------------------- compare
  // Size of the largest read. It is limited by the produced slots, the free slots, the end of the ring, MRRS, and 8.
  // Bit i: more than i slots can be read.
  function automatic logic [7:0] more(input logic [31:0] slots);
    for (int i = 0; i < 8; i++) more[i] = slots[31:3] != '0 || slots[2:0] > i[2:0];
  endfunction
  wire [16:0]  at        = b_fetched_q[16:0] & b_within_q;           // slot of the ring
  wire [16:0]  ring_rest = ~b_fetched_q[16:0] & b_within_q;          // slots after that one
  wire [6:0]   mrrs_rest = ~at[6:0] & (cfg_mrrs_i[11:5] - 7'd1);     // the same, of the MRRS block; 4096 is 0
  wire [4:0]   room      = 5'd16 - b_used_q[4:0];
  wire         bad_doorbell  = b_kind_q == K_BELL && !b_behind_q && b_ahead_q != '1
      && (b_ahead_q & ~{15'd0, b_within_q}) != '0;
  wire         doorbell      = b_kind_q == K_BELL && !b_behind_q && !bad_doorbell;
  wire [31:0]  used      = b_used_q - {30'd0, b_count_q};

  logic        c_bad_doorbell_q, c_some_q, c_room_q;  // some are to be fetched, and some fit in
  logic [7:0]  c_more_q;
  logic [31:0] c_produced_q, c_fetched_q, c_consumed_q;
  logic [16:0] c_at_q;
  logic [63:12] c_base_q;
  always_ff @(posedge clk_i) begin
    if (b_q) begin
      c_keep_q     <= b_keep_q && !ctrl_b;
      c_kind_q     <= b_kind_q;
      c_vpid_q     <= b_vpid_q;
      c_bad_doorbell_q <= bad_doorbell;
      c_produced_q <= doorbell ? b_doorbell_q : b_produced_q;
      c_some_q     <= doorbell ? b_doorbell_q != b_fetched_q : b_waiting_q != '0;
      c_fetched_q  <= b_fetched_q;
      c_consumed_q <= b_consumed_q + {30'd0, b_count_q};
      c_room_q     <= used < 32'd16;
      c_more_q     <= more(b_waiting_q) & more({27'd0, room}) & {more({15'd0, ring_rest}) << 1 | 8'd1}
          & {more({25'd0, mrrs_rest}) << 1 | 8'd1};
      c_at_q       <= at;
      c_base_q     <= b_base_q;
    end
  end

  // ---------------------------------------------------------------- write
  logic [3:0]  slots;                  // of this read
  wire         live     = c_q && c_keep_q && s_on;
  wire         go       = live && c_kind_q == K_READ && !reading && c_more_q[0];
  wire         reads_on = reading && c_kind_q != K_OVER;
  assign push = live && !go && !reads_on && c_some_q && c_room_q && !listed;
  assign slots = 4'(c_more_q[0]) + 4'(c_more_q[1]) + 4'(c_more_q[2]) + 4'(c_more_q[3]) + 4'(c_more_q[4])
      + 4'(c_more_q[5]) + 4'(c_more_q[6]) + 4'(c_more_q[7]);
  assign c_write = {c_produced_q, c_fetched_q + (go ? {28'd0, slots} : 32'd0), c_consumed_q};

  context_flags #(.READS(2)) u_on (
      .clk_i, .rst_ni, .context_i, .flags_i(context_i.data[1:0] == 2'b11), .vpid_i({sl_vpid_i, c_vpid_q}),
      .flags_o({sl_on, s_on}));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2)) u_counted (
      .clk_i, .rst_ni, .we_i({ctrl, c_q && c_keep_q}), .waddr_i({context_i.vpid[CW-1:0], c_vpid_q[CW-1:0]}),
      .wdata_i(2'b01), .raddr_i(a_vpid_q[CW-1:0]), .rdata_o(counted));
  // A context leaves the list only while nothing is written, and enters it as it is.
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS)) u_listed (
      .clk_i, .rst_ni, .we_i(push || pick_read), .waddr_i(c_q ? c_vpid_q[CW-1:0] : list_vpid[CW-1:0]),
      .wdata_i(push), .raddr_i(c_vpid_q[CW-1:0]), .rdata_o(listed));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .READS(2)) u_reading (
      .clk_i, .rst_ni, .we_i(c_q && (c_kind_q == K_OVER || go)), .waddr_i(c_vpid_q[CW-1:0]), .wdata_i(go),
      .raddr_i({look_vpid_i[CW-1:0], c_vpid_q[CW-1:0]}), .rdata_o({look_reading, reading}));

  // ---------------------------------------------------------------- reads
  logic [63:0] cmd_addr_q;
  logic [7:0]  cmd_vpid_q;
  logic [3:0]  cmd_slot_q, cmd_slots_q;
  logic        read_busy;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cmd_valid_q <= 1'b0;
    else if (go) cmd_valid_q <= 1'b1;
    else if (cmd_ready) cmd_valid_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (go) begin
      cmd_addr_q  <= {c_base_q, 12'd0} + {42'd0, c_at_q, 5'd0};
      cmd_vpid_q  <= c_vpid_q;
      cmd_slot_q  <= c_fetched_q[3:0];
      cmd_slots_q <= slots;
    end
  end

  rma_queue_read #(.DATA_W(DATA_W)) u_read (
      .clk_i, .rst_ni, .time_i, .cfg_timeout_i, .cmd_valid_i(cmd_valid_q), .cmd_ready_o(cmd_ready),
      .cmd_addr_i(cmd_addr_q), .cmd_vpid_i(cmd_vpid_q), .cmd_slot_i(cmd_slot_q), .cmd_slots_i(cmd_slots_q),
      .fill_valid_o, .fill_ready_i, .fill_vpid_o, .fill_slot_o, .fill_mask_o, .fill_data_o, .over_valid_o(over_valid),
      .over_ready_i(pick_over), .over_vpid_o(over_vpid), .over_failed_o(over_failed), .over_addr_o(over_addr),
      .rd_valid_o, .rd_ready_i, .rd_hdr_o, .cpl_i, .cpl_ready_o, .cpl_data_i, .ev_unexpected_o, .ev_tag_o,
      .busy_o(read_busy), .timer_o);

  // ---------------------------------------------------------------- pulses
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ev_bad_descriptor_o <= 1'b0;
      ev_host_error_o     <= 1'b0;
      cnt_queue_reads_o   <= 1'b0;
    end else begin
      ev_bad_descriptor_o <= live && c_bad_doorbell_q;
      ev_host_error_o     <= pick_over && over_failed;
      cnt_queue_reads_o   <= go;
    end
  end
  always_ff @(posedge clk_i) begin
    if (c_q) ev_doorbell_info_o <= {32'd0, c_vpid_q};
    if (pick_over) ev_queue_info_o <= over_addr;
  end
  // Consumptions wait short, and are not looked through.
  assign look_busy_o = look_reading || sl_head || (a_q && a_vpid_q == look_vpid_i)
    || (b_q && b_vpid_q == look_vpid_i) || (c_q && c_vpid_q == look_vpid_i)
    || (doorbell_q && doorbell_vpid_q == look_vpid_i);
  assign busy_o = a_q || b_q || c_q || sl_head || doorbell_q || over_valid || (list_head && cmd_free)
    || cmd_valid_q || read_busy
    || ev_bad_descriptor_o
                  || ev_host_error_o || cnt_queue_reads_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && sl_valid_i) assert (sl_room) else $error("rma_queue: a consumption is lost");
`endif
endmodule

`default_nettype wire
