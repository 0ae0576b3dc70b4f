// SPDX-License-Identifier: Apache-2.0
// The event queue: accepts events from the units in turn, writes 16-byte records into a ring in host memory and raises
// an MSI-X vector. Masked codes, and events beyond the share of their cause (event_share), are not written. If the ring
// is full an event is dropped, counted and, once there is room, reported by EVENT_OVERFLOW. Record: bits 63:0 event_t,
// bit 64 phase (1 in the first round, then alternating), bits 127:65 sequence number.
`default_nettype none

module event_queue #(
  parameter int unsigned SOURCES = 2     // units that send events, at most 8
) (
  input  wire         clk_i,
  input  wire         rst_ni,

  // registers
  input  wire          enable_i,
  input  wire  [63:12] base_i,
  input  wire  [4:0]   log2_size_i,    // 4 to 16; others count as the nearest
  input  wire  [7:0]   vector_i,       // above 15: no interrupt
  input  wire  [31:0]  tail_i,         // records software has read
  input  ggas_regs_pkg::event_set_t mask_i,      // codes that are not written
  input  wire  [7:0]   limit_i,        // records of a share in a period; 0: no limit
  input  wire  [3:0]   log2_ticks_i,   // of a period
  input  wire  [63:0]  time_i,         // core cycles

  input  wire  [SOURCES-1:0]    ev_valid_i,
  output logic [SOURCES-1:0]    ev_ready_o,
  input  wire  [64*SOURCES-1:0] ev_i,       // event_t of each source
  input  wire  [7*SOURCES-1:0]  ev_interval_i,  // interval each concerns; from 64 on none

  output logic         rec_valid_o,     // record to write
  input  wire          rec_ready_i,
  output logic [63:0]  rec_addr_o,
  output logic [127:0] rec_data_o,
  output logic [15:0]  raise_o,         // MSI-X vector pulse, after the record was taken

  output logic [31:0]  head_o,          // records written since the ring was enabled
  output logic         stopped_o,       // the ring is off, and no record is in flight to it
  output ggas_regs_pkg::event_set_t ev_pulse_o,     // EVENT_OVERFLOW, EVENT_LIMITED occurrences
  output logic         busy_o
);

  // ---- ring state
  wire  [4:0]  log2   = (log2_size_i < 5'd4)  ? 5'd4 :
                        (log2_size_i > 5'd16) ? 5'd16 : log2_size_i;
  wire  [31:0] size   = 32'd1 << log2;
  wire  [31:0] used   = head_o - tail_i;
  wire         room   = used < size;
  logic        phase;

  logic        enable_q;
  logic [39:0] dropped_q;
  ggas_pkg::event_t event_q;
  logic        valid_q;

  wire starting = enable_i && !enable_q;
  logic check_q;                  // event_q waits for its share
  wire idle     = !valid_q && !check_q && !starting;
  wire report   = idle && enable_i && room && dropped_q != '0;

  // ---- whose turn: the first source after the last one served. Source 0 is as if served last at first.
  logic               some, take, unused_busy;
  ggas_pkg::event_t   chosen;
  logic [6:0]         interval;
  ggas_regs_pkg::event_set_t unused_count;
  event_collector #(.SOURCES(SOURCES)) i_sources (
    .clk_i(clk_i), .rst_ni(rst_ni), .valid_i({ev_valid_i[0], ev_valid_i[SOURCES-1:1]}),
    .ready_o({ev_ready_o[0], ev_ready_o[SOURCES-1:1]}), .events_i({ev_i[63:0], ev_i[64*SOURCES-1:64]}),
    .intervals_i({ev_interval_i[6:0], ev_interval_i[7*SOURCES-1:7]}), .event_valid_o(some),
    .event_ready_i(idle && !report), .event_o(chosen), .event_interval_o(interval), .count_o(unused_count),
    .busy_o(unused_busy)
  );
  assign take = idle && !report && some;

  wire  check = take && enable_i && !mask_i[chosen.code[5:0]];
  logic granted;
  event_share i_share (
    .clk_i(clk_i), .limit_i(limit_i), .log2_ticks_i(log2_ticks_i), .time_i(time_i), .ask_i(check), .event_i(chosen),
    .interval_i(interval), .check_i(check_q && enable_i && room), .granted_o(granted)
  );
  wire keep = check_q && enable_i && room && granted;
  wire drop = check_q && enable_i && !room;
  wire limited = check_q && enable_i && room && !granted;

  always_ff @(posedge clk_i) begin
    if (report) event_q <= {ggas_regs_pkg::EV_EVENT_OVERFLOW, 16'd0, dropped_q};
    else if (check) event_q <= chosen;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      enable_q  <= 1'b0;
      dropped_q <= '0;
      valid_q   <= 1'b0;
      check_q   <= 1'b0;
      head_o    <= 32'd0;
    end else begin
      enable_q <= enable_i;
      check_q <= check;
      if (starting) dropped_q <= '0;
      else if (report) dropped_q <= '0;
      else if (drop && dropped_q != '1) dropped_q <= dropped_q + 40'd1;
      if (report || keep) valid_q <= 1'b1;
      else if (rec_ready_i) valid_q <= 1'b0;
      if (starting) head_o <= 32'd0;
      else if (valid_q && rec_ready_i) head_o <= head_o + 32'd1;
    end
  end

  assign stopped_o   = !enable_i && !enable_q && !check_q && !valid_q;
  assign rec_valid_o = valid_q;
  assign rec_data_o  = {31'd0, head_o, phase, event_q};
  ring_slot i_slot (.base_i(base_i), .log_i(log2), .count_i(head_o), .addr_o(rec_addr_o), .phase_o(phase));

  always_comb begin
    raise_o    = 16'd0;
    ev_pulse_o = '0;
    if (valid_q && rec_ready_i && vector_i[7:4] == 4'd0) raise_o[vector_i[3:0]] = 1'b1;
    ev_pulse_o[ggas_regs_pkg::EV_EVENT_OVERFLOW[5:0]] = drop;
    ev_pulse_o[ggas_regs_pkg::EV_EVENT_LIMITED[5:0]]  = limited;
  end

  assign busy_o = valid_q || check_q || ev_valid_i != '0 || report || enable_i != enable_q;

`ifndef SYNTHESIS
  initial begin
    if (SOURCES < 2 || SOURCES > 8) $error("event_queue: SOURCES must be 2 to 8");
  end
`endif

endmodule

`default_nettype wire
