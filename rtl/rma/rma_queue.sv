// SPDX-License-Identifier: Apache-2.0
// Work queues: rings of 32-byte slots in memory, read several at a time into the context's 16 slots as these get free.
// Counts of produced,
// fetched and consumed slots in RAM, one thing at a time: it is chosen in one cycle and done in the next. Contexts take
// turns read by read.
`default_nettype none

module rma_queue #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,
    input  wire logic [12:0]         cfg_mrrs_i,          // bytes, at least 128
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
    input  wire logic                cpl_valid_i,
    output      logic                cpl_ready_o,
    input  wire logic                cpl_sop_i,
    input  wire logic                cpl_eop_i,
    input  wire ggas_pkg::tlp_hdr_t  cpl_hdr_i,
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

  // ---------------------------------------------------------------- things to do: consumed, doorbell, read over, next
  // read
  localparam logic [1:0] K_CONSUMED = 2'd0, K_BELL = 2'd1, K_OVER = 2'd2, K_READ = 2'd3;
  // verilator lint_off UNUSEDSIGNAL
  // always: a burst is one of each context at most, and descriptors start no faster than this goes
  logic        sl_room;
  // verilator lint_on UNUSEDSIGNAL
  logic        sl_head, list_head, over_valid, over_failed, cmd_valid_q, cmd_ready;
  logic [7:0]  sl_vpid, list_vpid, over_vpid;
  logic [1:0]  sl_count;
  logic [39:0] over_addr;
  logic        bell_q;
  logic [7:0]  bell_vpid_q;
  logic [31:0] bell_count_q;
  logic        s_q;                   // the thing under way
  wire         cmd_free = !cmd_valid_q || cmd_ready;
  wire         pick_sl   = !s_q && sl_head;
  wire         pick_bell = !s_q && !sl_head && bell_q;
  wire         pick_over = !s_q && !sl_head && !bell_q && over_valid;
  wire         pick_read = !s_q && !sl_head && !bell_q && !over_valid && list_head && cmd_free;
  wire         pick      = pick_sl || pick_bell || pick_over || pick_read;
  wire [7:0]   vpid      = pick_sl ? sl_vpid : pick_bell ? bell_vpid_q : pick_over ? over_vpid : list_vpid;
  logic        push;                  // the context wants to read
  logic [7:0]  s_vpid_q;

  assign db_ready_o = !bell_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bell_q       <= 1'b0;
      bell_vpid_q  <= '0;
      bell_count_q <= '0;
    end else if (db_valid_i && db_ready_o) begin
      bell_q       <= 1'b1;
      bell_vpid_q  <= db_vpid_i;
      bell_count_q <= db_count_i;
    end else if (pick_bell) begin
      bell_q <= 1'b0;
    end
  end
  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(10), .DEPTH(ggas_pkg::CONTEXTS), .BLOCK(1'b1)) u_consumed (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(sl_valid_i && sl_on), .wr_ready_o(sl_room),
      .wr_data_i({sl_count_i, sl_vpid_i}),
      .rd_valid_o(sl_head), .rd_ready_i(pick_sl), .rd_data_o({sl_count, sl_vpid}), .count_o());
  fifo #(.WIDTH(8), .DEPTH(ggas_pkg::CONTEXTS), .BLOCK(1'b1)) u_list (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(push), .wr_ready_o(), .wr_data_i(s_vpid_q), .rd_valid_o(list_head),
      .rd_ready_i(pick_read), .rd_data_o(list_vpid), .count_o());
  // verilator lint_on PINCONNECTEMPTY

  // ---------------------------------------------------------------- the counts, and where the ring is
  logic [1:0]   s_kind_q, s_count_q;
  logic [31:0]  s_bell_q;
  logic [95:0]  s_read, s_write;
  logic [63:12] base;
  logic [4:0]   log2;
  ram_1r1w #(.WIDTH(96), .DEPTH(ggas_pkg::CONTEXTS)) u_counts (
      .clk_i, .we_i(s_q), .waddr_i(s_vpid_q[CW-1:0]), .wdata_i(s_write), .re_i(pick), .raddr_i(vpid[CW-1:0]),
      .rdata_o(s_read));
  ram_1r1w #(.WIDTH(52), .DEPTH(ggas_pkg::CONTEXTS), .OLD(1'b1)) u_base (
      .clk_i, .we_i(context_i.we && context_i.word == 3'd2), .waddr_i(context_i.vpid[CW-1:0]),
      .wdata_i(context_i.data[63:12]), .re_i(pick), .raddr_i(vpid[CW-1:0]), .rdata_o(base));
  ram_1r1w #(.WIDTH(5), .DEPTH(ggas_pkg::CONTEXTS), .OLD(1'b1)) u_size (
      .clk_i, .we_i(ctrl), .waddr_i(context_i.vpid[CW-1:0]), .wdata_i(context_i.data[20:16]), .re_i(pick),
      .raddr_i(vpid[CW-1:0]), .rdata_o(log2));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) s_q <= 1'b0;
    else s_q <= pick;
  end
  always_ff @(posedge clk_i) begin
    if (pick) begin
      s_kind_q  <= pick_sl ? K_CONSUMED : pick_bell ? K_BELL : pick_over ? K_OVER : K_READ;
      s_vpid_q  <= vpid;
      s_count_q <= sl_count;
      s_bell_q  <= bell_count_q;
    end
  end

  // The most that one read takes: what was produced, the slots that are free, up to the end of the ring, MRRS, 8.
  function automatic logic [31:0] least(input logic [31:0] a, input logic [31:0] b);
    least = a < b ? a : b;
  endfunction

  logic [31:0] produced, fetched, consumed, ring, waiting;
  logic [4:0]  room;
  logic [31:0] slots;                  // of this read
  logic [16:0] at;                     // slot of the ring
  logic [12:0] block_left;             // slots of the MRRS block
  logic        on, behind, bad_bell, go;
  always_comb begin
    {produced, fetched, consumed, ring, waiting, room, slots, at, block_left} = '0;
    {on, behind, bad_bell, go} = '0;
    if (s_q) begin
      on = s_on;
      if (counted) {produced, fetched, consumed} = s_read;
      ring     = 32'd1 << log2;
      behind   = s_bell_q - produced > 32'h7fff_ffff;  // overtaken on its way
      bad_bell = s_kind_q == K_BELL && !behind && s_bell_q - consumed > ring;
      if (s_kind_q == K_BELL && !behind && !bad_bell) produced = s_bell_q;
      if (s_kind_q == K_CONSUMED) consumed = consumed + {30'd0, s_count_q};
      waiting  = produced - fetched;
      room     = 5'd16 - {fetched[4:0] - consumed[4:0]};
      at       = fetched[16:0] & (ring[16:0] - 17'd1);
      block_left = ggas_pkg::to_border({at[6:0], 5'd0}, cfg_mrrs_i) >> 5;
      slots    = least(least(waiting, {27'd0, room}), least(ring - {15'd0, at}, {19'd0, block_left}));
      slots    = least(slots, 32'd8);
      go       = s_kind_q == K_READ && on && !reading && slots != '0;
      if (go) fetched = fetched + slots;
    end
    s_write = {produced, fetched, consumed};
  end
  wire reads_on = reading && s_kind_q != K_OVER;
  wire wants    = s_q && on && !go && !reads_on && produced != fetched && fetched - consumed < 32'd16;
  assign push   = wants && !listed;

  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .READS(2)) u_on (
      .clk_i, .rst_ni, .we_i(ctrl), .waddr_i(context_i.vpid[CW-1:0]), .wdata_i(context_i.data[1:0] == 2'b11),
      .raddr_i({sl_vpid_i[CW-1:0], s_vpid_q[CW-1:0]}), .rdata_o({sl_on, s_on}));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2)) u_counted (
      .clk_i, .rst_ni, .we_i({ctrl, s_q}), .waddr_i({context_i.vpid[CW-1:0], s_vpid_q[CW-1:0]}), .wdata_i(2'b01),
      .raddr_i(s_vpid_q[CW-1:0]), .rdata_o(counted));
  // A context leaves the list only while nothing is under way, and enters it as the thing under way.
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS)) u_listed (
      .clk_i, .rst_ni, .we_i(push || pick_read), .waddr_i(s_q ? s_vpid_q[CW-1:0] : list_vpid[CW-1:0]),
      .wdata_i(push), .raddr_i(s_vpid_q[CW-1:0]), .rdata_o(listed));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .READS(2)) u_reading (
      .clk_i, .rst_ni, .we_i(s_q && (s_kind_q == K_OVER || go)), .waddr_i(s_vpid_q[CW-1:0]), .wdata_i(go),
      .raddr_i({look_vpid_i[CW-1:0], s_vpid_q[CW-1:0]}), .rdata_o({look_reading, reading}));

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
      cmd_addr_q  <= {base, 12'd0} + {42'd0, at, 5'd0};
      cmd_vpid_q  <= s_vpid_q;
      cmd_slot_q  <= s_read[35:32] & {4{counted}};
      cmd_slots_q <= slots[3:0];
    end
  end

  rma_queue_read #(.DATA_W(DATA_W)) u_read (
      .clk_i, .rst_ni, .time_i, .cfg_timeout_i, .cmd_valid_i(cmd_valid_q), .cmd_ready_o(cmd_ready),
      .cmd_addr_i(cmd_addr_q),
      .cmd_vpid_i(cmd_vpid_q), .cmd_slot_i(cmd_slot_q), .cmd_slots_i(cmd_slots_q), .fill_valid_o, .fill_ready_i,
      .fill_vpid_o, .fill_slot_o,
      .fill_mask_o, .fill_data_o, .over_valid_o(over_valid), .over_ready_i(pick_over), .over_vpid_o(over_vpid),
      .over_failed_o(over_failed),
      .over_addr_o(over_addr), .rd_valid_o, .rd_ready_i, .rd_hdr_o, .cpl_valid_i, .cpl_ready_o, .cpl_sop_i, .cpl_eop_i,
      .cpl_hdr_i,
      .cpl_data_i, .ev_unexpected_o, .ev_tag_o, .busy_o(read_busy), .timer_o);

  // ---------------------------------------------------------------- pulses
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ev_bad_descriptor_o <= 1'b0;
      ev_host_error_o     <= 1'b0;
      cnt_queue_reads_o   <= 1'b0;
    end else begin
      ev_bad_descriptor_o <= s_q && on && bad_bell;
      ev_host_error_o     <= pick_over && over_failed;
      cnt_queue_reads_o   <= go;
    end
  end
  always_ff @(posedge clk_i) begin
    if (s_q && bad_bell) ev_doorbell_info_o <= {32'd0, s_vpid_q};
    if (pick_over) ev_queue_info_o <= over_addr;
  end
  // Consumptions wait short, and are not looked through.
  assign look_busy_o = look_reading || sl_head || (s_q && s_vpid_q == look_vpid_i)
    || (bell_q && bell_vpid_q == look_vpid_i);
  assign busy_o = s_q || sl_head || bell_q || over_valid || (list_head && cmd_free) || cmd_valid_q || read_busy
    || ev_bad_descriptor_o
                  || ev_host_error_o || cnt_queue_reads_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && sl_valid_i) assert (sl_room) else $error("rma_queue: a consumption is lost");
`endif
endmodule

`default_nettype wire
