// SPDX-License-Identifier: Apache-2.0
// Notification rings: 16-byte records to host or GPU memory, one request of a client at a time, clients in turn. A full
// ring is an answer (FULL, or LOST: dropped and counted), never a wait. Dropped records are reported by a record of
// kind LOST before the next one.
`default_nettype none

module rma_notify #(
    parameter int unsigned DATA_W = 64,     // 64, 256 or 512
    parameter logic [2:0]  CLIENTS = 3'b111  // those that exist
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                stop_i,           // the NIC is stopped: nothing is written

    // writes of CONTEXT[]; doorbells; may a record of a context still be written?
    input  wire ggas_pkg::context_write_t context_i,
    input  wire logic                db_valid_i,
    input  wire logic [1:0]          db_kind_i,
    input  wire logic [7:0]          db_vpid_i,
    input  wire logic [31:0]         db_count_i,
    input  wire logic [7:0]          look_vpid_i,
    output      logic                look_busy_o,

    // requests: a bit or slice for each client (0 requester, 1 target, 2 responder)
    input  wire logic [2:0]          nt_valid_i,
    output      logic [2:0]          nt_ready_o,
    input  wire logic [3*8-1:0]      nt_vpid_i,
    input  wire logic [2:0]          nt_check_pd_i,    // the context must be of domain nt_pd_i
    input  wire logic [3*16-1:0]     nt_pd_i,
    input  wire logic [2:0]          nt_drop_i,        // full: drop even with backpressure
    input  wire logic [3*64-1:0]     nt_w0_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [3*64-1:0]     nt_w1_i,          // note_w1_t, phase ignored
    // verilator lint_on UNUSEDSIGNAL
    output      logic [2:0]          nt_rsp_valid_o,   // pulse
    output      logic [3:0]          nt_rsp_status_o,  // OK (record accepted as a host write), FULL, LOST, DISABLED

    // host writes
    output      ggas_pkg::tlp_beat_t wr_o,
    input  wire logic                wr_ready_i,
    output      logic [DATA_W-1:0]   wr_data_o,

    // a record of a context that uses interrupts was written: its context and count
    output      logic                written_valid_o,
    input  wire logic                written_ready_i,
    output      logic [7:0]          written_vpid_o,
    output      logic [31:0]         written_count_o,
    output      logic                ev_lost_o,        // NOTIFY_LOST
    output      logic [39:0]         ev_info_o,
    output      logic                cnt_notifications_o,
    output      logic                cnt_full_o,
    output      logic                writes_o,         // a record is in flight
    output      logic                busy_o
);

  // ---------------------------------------------------------------- whose turn
  localparam logic [1:0] S_IDLE = 2'd0, S_LOOK = 2'd1, S_LOST = 2'd2, S_RECORD = 2'd3;
  logic [1:0]  state_q;
  logic [2:0]  grant;
  wire  [2:0]  asks = nt_valid_i & CLIENTS;
  wire         take = state_q == S_IDLE && asks != '0;
  // verilator lint_off PINCONNECTEMPTY
  arbiter_rr #(.N(3)) u_turn (.clk_i, .rst_ni, .clear_i(1'b0), .req_i(asks), .take_i(take), .eop_i(1'b1),
    .grant_o(grant), .locked_o());
  // verilator lint_on PINCONNECTEMPTY
  assign nt_ready_o = state_q == S_IDLE ? grant : '0;

  logic [7:0]  pick_vpid;
  logic [15:0] pick_pd;
  logic [63:0] pick_w0;
  logic [62:0] pick_w1;
  logic        pick_check, pick_drop;
  always_comb begin
    pick_vpid  = '0;
    pick_pd    = '0;
    pick_w0    = '0;
    pick_w1    = '0;
    pick_check = 1'b0;
    pick_drop  = 1'b0;
    if (take) begin
      for (int i = 0; i < 3; i++) begin
        if (grant[i]) begin
          pick_vpid  = nt_vpid_i[i*8+:8];
          pick_pd    = nt_pd_i[i*16+:16];
          pick_w0    = nt_w0_i[i*64+:64];
          pick_w1    = nt_w1_i[i*64+:63];
          pick_check = nt_check_pd_i[i];
          pick_drop  = nt_drop_i[i];
        end
      end
    end
  end

  logic [2:0]  client_q;
  logic [7:0]  vpid_q;
  logic        check_q, drop_q;
  logic [15:0] pd_q;
  logic [63:0] w0_q;
  logic [62:0] w1_q;
  always_ff @(posedge clk_i) begin
    if (take) begin
      client_q <= grant;
      vpid_q   <= pick_vpid;
      check_q  <= pick_check;
      drop_q   <= pick_drop;
      pd_q     <= pick_pd;
      w0_q     <= pick_w0;
      w1_q     <= pick_w1;
    end
  end

  // ---------------------------------------------------------------- the ring
  logic         exists, backpressure, irq, room, room2;
  logic [15:0]  ring_pd;
  logic [63:12] base;
  logic [4:0]   log;
  logic [31:0]  count, lost;
  logic         asked_q;                             // the ring has not answered
  wire          look   = state_q == S_LOOK && !asked_q && !written_valid_o;
  // Fields of the answer for the next cycles; it comes late from block RAM.
  logic         some_lost_q;                         // some were lost: a LOST record goes first
  logic         owned_q;                             // it is of the domain that was asked for
  logic [63:12] base_q;
  logic [4:0]   log_q;
  logic [31:1]  carried_q;                           // count / 2 + 1
  wire          known  = exists && owned_q;
  wire  [31:0]  next   = {some_lost_q || count[0] ? carried_q : count[31:1], count[0] ^ !some_lost_q};  // 1 or 2 more
  wire          fits   = some_lost_q ? room2 : room;
  wire          hold   = backpressure && !drop_q;
  wire          write  = look && known && fits;
  wire          lose   = look && known && !fits && !hold;

  rma_ring #(.BASE_WORD(1), .LOG_LSB(8), .LOG_MIN(4), .LOG_MAX(16), .DB_KIND(1), .EXTRA_W(32)) u_ring (
      .clk_i, .rst_ni, .stop_i, .context_i, .db_valid_i, .db_kind_i, .db_vpid_i, .db_count_i, .re_i(take),
      .vpid_i(pick_vpid), .exists_o(exists), .backpressure_o(backpressure), .irq_o(irq), .pd_o(ring_pd), .base_o(base),
      .log_o(log), .count_o(count), .extra_o(lost), .room_o(room), .room2_o(room2), .we_i(write || lose),
      .count_i(lose ? count : next), .extra_i(write ? '0 : (&lost) ? lost : lost + 1'b1));

  always_ff @(posedge clk_i) begin
    if (asked_q) begin
      some_lost_q    <= lost != '0;
      owned_q   <= !check_q || ring_pd == pd_q;
      base_q    <= base;
      log_q     <= log;
      carried_q <= count[31:1] + 1'b1;
    end
  end

  // ---------------------------------------------------------------- records
  logic        sent, reader_look;
  logic [31:0] count_q, lost_q;  // record under way; what the LOST record reports
  wire         done = sent && state_q == S_RECORD;
  // verilator lint_off UNUSEDSIGNAL
  rma_pkg::note_w1_t lost_w1;
  // verilator lint_on UNUSEDSIGNAL
  always_comb begin
    lost_w1      = '0;
    lost_w1.kind = rma_pkg::NOTE_LOST;
  end
  // verilator lint_off PINCONNECTEMPTY
  rma_record #(.DATA_W(DATA_W)) u_record (
      .clk_i, .rst_ni, .valid_i(state_q == S_LOST || state_q == S_RECORD), .vpid_i(vpid_q), .base_i(base_q),
      .log_i(log_q), .count_i(count_q), .irq_i(irq && state_q == S_RECORD),
      .data_i(state_q == S_LOST ? {lost_w1[62:0], 32'd0, lost_q} : {w1_q, w0_q}), .beat_o(), .sent_o(sent), .wr_o,
      .wr_ready_i, .wr_data_o, .written_valid_o, .written_ready_i, .written_vpid_o, .written_count_o, .look_vpid_i,
      .look_busy_o(reader_look));
  // verilator lint_on PINCONNECTEMPTY

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= S_IDLE;
      asked_q <= 1'b0;
      count_q <= '0;
      lost_q  <= '0;
    end else begin
      asked_q <= take;
      if (look) begin
        count_q <= count;
        lost_q  <= lost;
      end
      case (state_q)
        S_IDLE: if (take) state_q <= S_LOOK;
        S_LOOK: if (look) state_q <= !write ? S_IDLE : some_lost_q ? S_LOST : S_RECORD;
        S_LOST: if (sent) begin
          state_q <= S_RECORD;
          count_q <= count_q + 1'b1;
        end
        default: if (sent) state_q <= S_IDLE;
      endcase
    end
  end

  // ---------------------------------------------------------------- answers, events
  wire [3:0] refusal = !known ? ggas_pkg::ST_DISABLED : hold ? ggas_pkg::ST_FULL : ggas_pkg::ST_LOST;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      nt_rsp_valid_o  <= '0;
      nt_rsp_status_o <= '0;
      ev_lost_o       <= 1'b0;
      ev_info_o       <= '0;
    end else begin
      nt_rsp_valid_o <= (look && !write) || done ? client_q : '0;
      if (look) nt_rsp_status_o <= write ? ggas_pkg::ST_OK : refusal;
      ev_lost_o <= lose;
      if (lose) ev_info_o <= {32'd0, vpid_q};
    end
  end
  assign look_busy_o         = (state_q != S_IDLE && vpid_q == look_vpid_i) || reader_look;
  assign writes_o            = wr_o.valid;
  assign cnt_notifications_o = sent;
  assign cnt_full_o          = look && known && !fits;
  assign busy_o              = state_q != S_IDLE || nt_rsp_valid_o != '0 || written_valid_o;

`ifndef SYNTHESIS
  initial if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("rma_notify: DATA_W must be 64, 256 or 512");
`endif

endmodule

`default_nettype wire
