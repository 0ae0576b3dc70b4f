// SPDX-License-Identifier: Apache-2.0
// The ring of fired contexts in host memory (docs/interrupts.md), so that one vector serves many contexts. A context is
// in the ring at most once: if it fires again, it is entered again when software has read its entry. So 256 entries
// never overflow. A copy of the ring is kept here, so a context that fires does not wait for the host. Entry: bits 7:0
// context, bit 64 phase (1 in the first round, then alternating), bits 127:65 sequence number.
`default_nettype none

module fired_ring (
  input  wire          clk_i,
  input  wire          rst_ni,

  // registers
  input  wire          enable_i,       // its rise starts the ring from zero
  input  wire  [63:12] base_i,
  input  wire  [31:0]  tail_i,         // entries software has read

  input  wire          fire_valid_i,
  output logic         fire_ready_o,   // in finite time, whatever the host does
  input  wire  [7:0]   fire_vpid_i,
  input  wire  [3:0]   fire_vector_i,
  input  wire          fire_list_i,    // into the ring; else, or with the ring off, its vector alone

  output logic         rec_valid_o,    // entry to write
  input  wire          rec_ready_i,
  output logic [63:0]  rec_addr_o,
  output logic [127:0] rec_data_o,
  output logic [15:0]  raise_o,        // MSI-X vectors, pulses; after the entry

  output logic [31:0]  head_o,         // entries written since the ring was enabled
  output logic         stopped_o,      // the ring is off, and no entry is in flight to it
  output logic         busy_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;

  // ---- one operation at a time: the oldest entry was read, or a context fires. An entry is looked up first, then its
  // context.
  localparam logic [1:0] S_IDLE = 2'd0, S_CLEAR = 2'd1, S_ENTRY = 2'd2, S_CONTEXT = 2'd3;
  logic [1:0]    state_q;
  logic          on_q;                        // the ring is on, and begun
  logic [31:0]   put_q, seen_q;               // entries made; known to be read
  logic [CW-1:0] clear_q;                     // context to clear
  logic          walk_q;                      // S_CONTEXT: its entry was read; else it fires
  logic [7:0]    vpid_q;
  logic [3:0]    vector_q;
  logic          fetched_q;                   // the writer's entry stands at the RAM
  wire  idle  = state_q == S_IDLE;
  wire  start = idle && enable_i && !on_q && !fetched_q && !rec_valid_o;
  wire  walk  = idle && on_q && seen_q != tail_i && seen_q != head_o;
  wire  take  = idle && !walk && (on_q || !enable_i) && fire_valid_i;
  wire  bare  = take && !(fire_list_i && on_q);
  assign fire_ready_o = idle && !walk && (on_q || !enable_i);

  // ---- contexts: in the ring; fired again since, and the vector for that
  logic       listed, refired, put;
  logic [3:0] refired_vector, slot_vector;
  logic [7:0] slot_vpid;
  wire        entry   = state_q == S_ENTRY;
  wire        context_now = state_q == S_CONTEXT;
  wire        clear   = state_q == S_CLEAR;
  wire  [7:0] looked  = entry ? slot_vpid : fire_vpid_i;
  wire  [5:0] context_next = clear ? 6'd0 : {!walk_q || refired, !walk_q && listed, vector_q};
  ram_1r1w #(.WIDTH(6), .DEPTH(ggas_pkg::CONTEXTS)) u_contexts (
    .clk_i, .we_i(clear || context_now), .waddr_i(clear ? clear_q : vpid_q[CW-1:0]),
    .wdata_i(context_next),
    .re_i(entry || (take && !bare)), .raddr_i(looked[CW-1:0]), .rdata_o({listed, refired, refired_vector})
  );
  assign put = context_now && (walk_q ? refired : !listed);

  // ---- the ring
  wire         fetch = on_q && put_q != head_o && !fetched_q && !rec_valid_o && !walk;
  wire  [7:0]  slot  = walk ? seen_q[7:0] : head_o[7:0];
  ram_1r1w #(.WIDTH(12), .DEPTH(ggas_pkg::CONTEXTS)) u_ring (
    .clk_i, .we_i(put), .waddr_i(put_q[CW-1:0]), .wdata_i({walk_q ? refired_vector : vector_q, vpid_q}),
    .re_i(walk || fetch), .raddr_i(slot[CW-1:0]), .rdata_o({slot_vector, slot_vpid})
  );

  always_ff @(posedge clk_i) begin
    if (take) {vpid_q, vector_q} <= {fire_vpid_i, fire_vector_i};
    if (entry) vpid_q <= slot_vpid;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= S_IDLE;
      on_q    <= 1'b0;
      put_q   <= '0;
      seen_q  <= '0;
      clear_q <= '0;
      walk_q  <= 1'b0;
    end else begin
      case (state_q)
        S_IDLE:  state_q <= start ? S_CLEAR : walk ? S_ENTRY : take && !bare ? S_CONTEXT : S_IDLE;
        S_CLEAR: state_q <= clear_q == '1 ? S_IDLE : S_CLEAR;
        S_ENTRY: state_q <= S_CONTEXT;
        default: state_q <= S_IDLE;
      endcase
      if (idle) walk_q <= walk;
      if (clear) clear_q <= clear_q + 1'b1;
      on_q <= enable_i && (on_q || (clear && clear_q == '1));
      if (start) begin
        put_q  <= '0;
        seen_q <= '0;
      end else begin
        if (put) put_q <= put_q + 32'd1;
        if (context_now && walk_q) seen_q <= seen_q + 32'd1;
      end
    end
  end

  // ---- to the host
  logic [7:0] rec_vpid_q;
  logic [3:0] rec_vector_q;
  wire        sent = rec_valid_o && rec_ready_i;
  always_ff @(posedge clk_i) if (fetched_q) {rec_vector_q, rec_vpid_q} <= {slot_vector, slot_vpid};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fetched_q   <= 1'b0;
      rec_valid_o <= 1'b0;
      head_o      <= '0;
    end else begin
      fetched_q   <= fetch;
      rec_valid_o <= fetched_q || (rec_valid_o && !rec_ready_i);
      if (start) head_o <= '0;
      else if (sent) head_o <= head_o + 32'd1;
    end
  end
  logic phase;
  ring_slot #(.LOG_MAX(8)) u_slot (.base_i, .log_i(5'd8), .count_i(head_o), .addr_o(rec_addr_o), .phase_o(phase));
  assign rec_data_o = {31'd0, head_o, phase, 56'd0, rec_vpid_q};

  always_comb begin
    raise_o = 16'd0;
    if (bare) raise_o[fire_vector_i] = 1'b1;
    if (sent) raise_o[rec_vector_q] = 1'b1;
  end

  assign stopped_o = !enable_i && !on_q && !fetched_q && !rec_valid_o;
  assign busy_o    = !idle || start || walk || fire_valid_i || fetch || fetched_q || rec_valid_o || enable_i != on_q;

endmodule

`default_nettype wire
