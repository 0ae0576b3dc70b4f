// SPDX-License-Identifier: Apache-2.0
// Matching store: what the completions of host loads need, from the load's first chunk to its last answer. One entry
// a load: its chunks are answered in order, so the entry needs only what is left. The network tag is slot and round,
// so an answer that comes after the slot was given up is recognised. An error ends the load: what is left of it goes
// to smfu_ones, and answers still under way are then swallowed.
`default_nettype none

module smfu_match #(
    parameter int unsigned DATA_W = 64
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [16:0]         now_i,           // ticks
    input  wire logic                tick_i,          // this cycle begins a tick
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [15:0]         cfg_timeout_i,   // ticks
    input  wire logic                lost_i,          // the route to every other node broke

    // a new load
    input  wire logic                alloc_valid_i,
    output      logic                alloc_ready_o,
    output      logic [15:0]         alloc_tag_o,
    output      logic                alloc_live_o,    // the entry taken last still waits
    input  wire logic [15:0]         req_requester_i,
    input  wire logic [9:0]          req_tag_i,
    input  wire logic [2:0]          req_attr_i,
    // low bits of the window offset; it cuts chunks as the segment offset does
    input  wire logic [7:2]          req_addr_i,
    input  wire logic [10:0]         req_len_dw_i,
    input  wire logic [3:0]          req_first_be_i,
    input  wire logic [3:0]          req_last_be_i,
    input  wire ggas_pkg::node_t     req_node_i,
    input  wire logic [6:0]          req_interval_i,
    input  wire logic                req_half_i,      // its chunks end at multiples of 128 bytes, else of 256

    // packets
    input  wire logic                rx_rsp_valid_i,
    output      logic                rx_rsp_ready_o,
    input  wire logic                rx_rsp_sop_i,
    input  wire logic                rx_rsp_eop_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::net_hdr_t  rx_rsp_hdr_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [DATA_W-1:0]   rx_rsp_data_i,

    // SMFU_QUIET_RSP at the input: known to smfu_quiet?, not to be taken yet?, and taken
    input  wire logic                quiet_known_i,
    input  wire logic                quiet_wait_i,
    output      logic                quiet_rsp_o,

    // completions
    output      logic                cpl_valid_o,
    input  wire logic                cpl_ready_i,
    output      logic                cpl_sop_o,
    output      logic                cpl_eop_o,
    output      ggas_pkg::tlp_hdr_t  cpl_hdr_o,
    output      logic [DATA_W-1:0]   cpl_data_o,
    // a load that failed, behind its completions
    output      logic                failed_valid_o,
    input  wire logic                failed_ready_i,
    output      smfu_pkg::left_t     failed_o,

    // LOAD_TIMEOUT, LOAD_REMOTE_ERROR, UNEXPECTED_RSP, BAD_PACKET
    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o,
    output      logic [6:0]          event_interval_o,
    output      logic                busy_o,
    output      logic                timer_o
);

  // ---------------------------------------------------------------- entries
  localparam int unsigned ENTRY_W = 96 + ggas_pkg::NODE_W;
  logic [ENTRY_W-1:0] entry_q [64];
  logic [63:0]         live_q;
  logic [14:0]        next_q;      // round 9, slot 6 of the next entry

  logic [8:0]  e_round;
  logic [15:0] e_requester;
  logic [9:0]  e_tag;
  logic [2:0]  e_attr;
  ggas_pkg::node_t e_node;
  logic [16:0] e_deadline;
  logic        e_failed;           // it was told: swallow what comes
  logic [12:0] e_bytes;            // still to deliver
  logic [10:0] e_dw;
  logic [7:0]  e_addr;             // low bits, of the first enabled byte
  logic [6:0]  e_interval;
  logic        e_half;             // its chunks end at multiples of 128 bytes

  // ---------------------------------------------------------------- walk over the entries on a tick or a broken route
  logic       flush_q, found_q;  // entries of other nodes are over; walk_slot_q is over
  logic [6:0] walk_left_q;       // slots to visit
  logic [5:0] walk_slot_q;
  wire        walk = walk_left_q != '0;

  localparam logic [1:0] S_IDLE = 2'd0, S_PASS = 2'd1, S_ERROR = 2'd2, S_DROP = 2'd3;
  logic [1:0] state_q;

  wire       rsp      = state_q == S_IDLE && rx_rsp_valid_i && !found_q;
  wire       walk_now = walk && !found_q && !rsp;
  wire [5:0] slot     = rsp ? rx_rsp_hdr_i.tag[5:0] : walk_slot_q;

  always_comb begin
    {e_round, e_requester, e_tag, e_attr, e_node, e_deadline, e_failed, e_bytes, e_dw, e_addr, e_interval, e_half} = '0;
    if (rsp || walk) {e_round, e_requester, e_tag, e_attr, e_node, e_deadline, e_failed, e_bytes, e_dw, e_addr,
      e_interval, e_half} = entry_q[slot];
  end

  // verilator lint_off UNUSEDSIGNAL
  wire [16:0] late    = now_i - e_deadline;  // negative while there is time
  // verilator lint_on UNUSEDSIGNAL
  wire        flushed = flush_q && ggas_pkg::node_number(e_node) != cfg_node_i;
  wire        over    = live_q[slot] && (flushed || !late[16]);

  // ---------------------------------------------------------------- decision about an answer, or an entry that is over
  // The length of a chunk follows from where it starts, as in smfu_loads.
  wire [10:0] chunk    = smfu_pkg::chunk_dw(e_addr[7:2], e_dw, e_half);
  wire        final_chunk = chunk == e_dw;
  wire [12:0] bytes    = final_chunk ? e_bytes : {chunk, 2'b00} - {11'd0, e_addr[1:0]};

  wire is_load  = rx_rsp_hdr_i.op == ggas_pkg::OP_SMFU_LOAD_RSP;
  wire is_quiet = rx_rsp_hdr_i.op == ggas_pkg::OP_SMFU_QUIET_RSP;
  wire known    = rsp && is_load && !rx_rsp_hdr_i.tag[15] && rx_rsp_hdr_i.tag[14:6] == e_round && live_q[slot]
                  && rx_rsp_hdr_i.src == ggas_pkg::node_number(e_node);
  wire bad_len  = rx_rsp_hdr_i.status == ggas_pkg::ST_OK && rx_rsp_hdr_i.len_dw != chunk;
  wire fails    = known && !e_failed && (rx_rsp_hdr_i.status != ggas_pkg::ST_OK || bad_len);
  wire good     = known && !e_failed && !fails;
  wire strange  = is_quiet ? !quiet_known_i : !known;
  wire wants_event = rsp ? (strange || fails) : !e_failed;

  wire giveup   = state_q == S_IDLE && found_q && (!event_valid_o || e_failed);
  wire answer   = rsp && (!event_valid_o || !wants_event) && !(is_quiet ? quiet_wait_i : !room);
  wire raise    = (giveup || answer) && wants_event;
  assign quiet_rsp_o = answer && is_quiet && quiet_known_i;

  wire write_back = answer && known;
  wire release_it = giveup || (write_back && final_chunk);

  // ---------------------------------------------------------------- entry RAM: one write a cycle
  wire [5:0] next_slot = next_q[5:0];
  assign alloc_ready_o = !live_q[next_slot] && !write_back && !flush_q && !lost_i;
  assign alloc_tag_o   = {1'b0, next_q};
  wire alloc = alloc_valid_i && alloc_ready_o;
  wire [16:0] deadline = now_i + {1'b0, cfg_timeout_i};
  wire [7:2]  chunk_end = e_addr[7:2] + chunk[5:0];

  always_ff @(posedge clk_i) begin
    if (write_back) begin
      entry_q[slot] <= {e_round, e_requester, e_tag, e_attr, e_node, deadline, e_failed
        || fails, e_bytes - bytes, e_dw - chunk,
                        {chunk_end, 2'b00}, e_interval, e_half};
    end else if (alloc) begin
      entry_q[next_slot] <= {next_q[14:6], req_requester_i, req_tag_i, req_attr_i, req_node_i, deadline, 1'b0,
                             smfu_pkg::byte_count(req_len_dw_i, req_first_be_i, req_last_be_i), req_len_dw_i,
                             {req_addr_i, smfu_pkg::be_first(req_first_be_i)}, req_interval_i, req_half_i};
    end
  end

  logic [5:0] last_slot_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      live_q       <= '0;
      next_q       <= '0;
      last_slot_q  <= '0;
      alloc_live_o <= 1'b0;
    end else begin
      if (release_it) begin
        live_q[slot] <= 1'b0;
        if (slot == last_slot_q) alloc_live_o <= 1'b0;
      end
      if (alloc) begin
        live_q[next_slot] <= 1'b1;
        last_slot_q       <= next_slot;
        alloc_live_o      <= 1'b1;
      end
      // A slot that still waits is left out of this round.
      if (alloc_valid_i && (alloc || live_q[next_slot])) next_q <= next_q + 15'd1;
    end
  end

  // Every trigger asks for one more whole round; ticks are 1024 cycles apart, so a round ends before the next.
  wire trigger = (tick_i || lost_i) && live_q != '0;
  wire step    = giveup || (walk_now && !over);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      flush_q     <= 1'b0;
      found_q     <= 1'b0;
      walk_left_q <= '0;
      walk_slot_q <= '0;
    end else begin
      if (giveup) found_q <= 1'b0;
      else if (walk_now && over) found_q <= 1'b1;
      if (step) walk_slot_q <= walk_slot_q + 1'b1;
      if (trigger) walk_left_q <= 7'd64;
      else if (step) walk_left_q <= walk_left_q - 1'b1;
      if (trigger && lost_i) flush_q <= 1'b1;
      else if (!trigger && step && walk_left_q == 7'd1) flush_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- completion and event
  // A packet is judged with its first beat. Its beats go through a register, so that the next packet is judged as
  // soon as the last of them is in it.
  logic cpl_sop_q, cpl_eop_q;
  logic drop_q;  // behind the failure: the rest of the packet
  wire  room = !cpl_valid_o || cpl_ready_i;
  wire  pass = rx_rsp_valid_i && room && state_q == S_PASS;
  wire  more = !rx_rsp_eop_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= S_IDLE;
      drop_q  <= 1'b0;
    end else begin
      case (state_q)
        S_IDLE: begin
          drop_q <= rsp && more;
          if (giveup && !e_failed || answer && fails) state_q <= S_ERROR;
          else if (answer && more) state_q <= good ? S_PASS : S_DROP;
        end
        S_ERROR: if (failed_valid_o && failed_ready_i) state_q <= drop_q ? S_DROP : S_IDLE;
        default: if (rx_rsp_valid_i && rx_rsp_ready_o && !more) state_q <= S_IDLE;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cpl_valid_o <= 1'b0;
      cpl_sop_q   <= 1'b0;
      cpl_eop_q   <= 1'b0;
      cpl_hdr_o   <= '0;
      cpl_data_o  <= '0;
      failed_o    <= '0;
    end else begin
      if (room) cpl_valid_o <= pass || (answer && good);
      if (pass || (answer && good)) begin
        cpl_sop_q  <= !pass;
        cpl_eop_q  <= rx_rsp_eop_i;
        cpl_data_o <= rx_rsp_data_i;
      end
      if (answer && good) begin
        cpl_hdr_o            <= '0;
        cpl_hdr_o.kind       <= ggas_pkg::TLP_CPLD;
        cpl_hdr_o.bar        <= 3'd7;
        cpl_hdr_o.len_dw     <= chunk;
        cpl_hdr_o.tag        <= e_tag;
        cpl_hdr_o.requester  <= e_requester;
        cpl_hdr_o.status     <= ggas_pkg::CPL_SC;
        cpl_hdr_o.byte_count <= e_bytes;
        cpl_hdr_o.lower_addr <= e_addr[6:0];
        cpl_hdr_o.attr       <= e_attr;
      end
      if (answer || giveup) failed_o <= {e_requester, e_tag, e_attr, e_bytes, e_dw, e_addr};
    end
  end

  assign failed_valid_o = state_q == S_ERROR && !cpl_valid_o;
  assign cpl_sop_o      = cpl_sop_q;
  assign cpl_eop_o      = cpl_eop_q;
  assign rx_rsp_ready_o = state_q == S_DROP || pass || answer;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      event_valid_o <= 1'b0;
      event_o       <= '0;
      event_interval_o <= '0;
    end else begin
      if (event_valid_o && event_ready_i) event_valid_o <= 1'b0;
      if (raise) begin
        event_valid_o <= 1'b1;
        event_interval_o <= giveup || known ? e_interval : smfu_pkg::NO_INTERVAL;
        event_o.node  <= rsp ? rx_rsp_hdr_i.src : ggas_pkg::node_number(e_node);
        if (giveup && flushed) begin
          event_o.code <= ggas_regs_pkg::EV_LOAD_REMOTE_ERROR;
          event_o.info <= {36'd0, ggas_pkg::ST_LINK_DOWN};
        end else if (giveup) begin
          event_o.code <= ggas_regs_pkg::EV_LOAD_TIMEOUT;
          event_o.info <= {25'd0, e_round, slot};
        end else if (!is_load && !is_quiet || fails && bad_len) begin
          event_o.code <= ggas_regs_pkg::EV_BAD_PACKET;
          event_o.info <= {32'd0, rx_rsp_hdr_i.op};
        end else if (strange) begin
          event_o.code <= ggas_regs_pkg::EV_UNEXPECTED_RSP;
          event_o.info <= {24'd0, rx_rsp_hdr_i.tag};
        end else begin
          event_o.code <= ggas_regs_pkg::EV_LOAD_REMOTE_ERROR;
          event_o.info <= {36'd0, rx_rsp_hdr_i.status};
        end
      end
    end
  end

  assign busy_o  = state_q != S_IDLE || cpl_valid_o || walk || event_valid_o || lost_i;
  assign timer_o = live_q != '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && rsp) assert (rx_rsp_sop_i);
`endif

endmodule

`default_nettype wire
