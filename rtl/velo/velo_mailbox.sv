// SPDX-License-Identifier: Apache-2.0
// Mailboxes: a message packet becomes one 80-byte write of a ring entry in host or GPU memory: 64 bytes of data,
// zero-padded, cookie, note_w1_t. A full mailbox is an answer (FULL), never a wait.
`default_nettype none

module velo_mailbox #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                stop_i,          // the NIC is stopped: nothing is written

    // writes of CONTEXT[]; doorbells; may a message to a context still be written?
    input  wire ggas_pkg::context_write_t context_i,
    input  wire logic                db_valid_i,
    input  wire logic [1:0]          db_kind_i,
    input  wire logic [7:0]          db_vpid_i,
    input  wire logic [31:0]         db_count_i,
    input  wire logic [7:0]          look_vpid_i,
    output      logic                look_busy_o,

    // VELO_MSG packets of 4 ... 20 DW; the answer (pulse) comes before the next one is taken
    input  wire logic                mb_valid_i,
    output      logic                mb_ready_o,
    input  wire logic                mb_eop_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::rma_hdr_t  mb_hdr_i,        // holds for the whole packet
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [DATA_W-1:0]   mb_data_i,
    output      logic                mb_rsp_valid_o,
    output      logic [3:0]          mb_rsp_status_o, // OK (entry accepted as a host write), FULL, DISABLED, BAD

    // host writes
    output      ggas_pkg::tlp_beat_t wr_o,
    input  wire logic                wr_ready_i,
    output      logic [DATA_W-1:0]   wr_data_o,

    // an entry of a context that uses interrupts was written: its context and count
    output      logic                written_valid_o,
    input  wire logic                written_ready_i,
    output      logic [7:0]          written_vpid_o,
    output      logic [31:0]         written_count_o,
    output      logic                cnt_messages_o,
    output      logic                cnt_full_o,
    output      logic                writes_o,        // an entry is in flight
    output      logic                busy_o
);

  localparam int unsigned ENTRY_W = 640;                             // written bits of an entry
  localparam int unsigned BEATS   = (ENTRY_W + DATA_W - 1) / DATA_W;
  localparam int unsigned BUF_W   = BEATS * DATA_W;
  localparam int unsigned BYTES_W = $clog2(DATA_W / 8);

  // ---------------------------------------------------------------- gather the packet, look up the context
  localparam logic [1:0] S_IDLE = 2'd0, S_GATHER = 2'd1, S_LOOK = 2'd2, S_WRITE = 2'd3;
  logic [1:0]         state_q;
  logic [3:0]         beat_q;   // beats gathered
  // verilator lint_off UNUSEDSIGNAL
  ggas_pkg::rma_hdr_t hdr_q;
  logic [BUF_W-1:0]   buf_q;
  // verilator lint_on UNUSEDSIGNAL

  wire start = state_q == S_IDLE && mb_valid_i;
  wire take  = mb_valid_i && mb_ready_o;
  assign mb_ready_o = state_q == S_IDLE || state_q == S_GATHER;

  always_ff @(posedge clk_i) begin
    if (start) hdr_q <= mb_hdr_i;
    if (take) begin
      for (int i = 0; i < BEATS; i++) if (beat_q == i[3:0]) buf_q[i*DATA_W+:DATA_W] <= mb_data_i;
    end
  end

  logic         exists, irq, room;
  logic [15:0]  ring_pd;
  logic [63:12] base;
  logic [4:0]   log;
  logic [31:0]  count;
  logic         asked_q;  // the ring has not answered
  wire          look  = state_q == S_LOOK && !asked_q && !written_valid_o;
  wire [23:0]   size  = buf_q[64+:24];
  wire [10:0]   want  = {6'd0, size[6:2]} + {10'd0, size[1:0] != 2'd0} + 11'd4;
  wire          sane  = size <= 24'd64 && want == hdr_q.len_dw;
  wire          known = exists && ring_pd == hdr_q.pd;
  wire          write = look && sane && known && room;

  // verilator lint_off PINCONNECTEMPTY
  rma_ring #(.BASE_WORD(4), .LOG_LSB(24), .LOG_MIN(2), .LOG_MAX(12), .DB_KIND(2), .EXTRA_W(1)) u_ring (
      .clk_i, .rst_ni, .stop_i, .context_i, .db_valid_i, .db_kind_i, .db_vpid_i, .db_count_i, .re_i(start),
      .vpid_i(mb_hdr_i.dvpid), .exists_o(exists), .backpressure_o(), .irq_o(irq), .pd_o(ring_pd), .base_o(base),
      .log_o(log), .count_o(count), .extra_o(), .room_o(room), .room2_o(), .we_i(write), .count_i(count + 1'b1),
      .extra_i(1'b0));
  // verilator lint_on PINCONNECTEMPTY

  // ---------------------------------------------------------------- the entry
  logic [31:0]  count_q;
  logic         done, reader_look;
  logic [3:0]   beat;
  // verilator lint_off UNUSEDSIGNAL
  rma_pkg::note_w1_t w9;
  // verilator lint_on UNUSEDSIGNAL
  logic [DATA_W-1:0]  data;
  logic [6:0]         at;     // byte of the entry
  always_comb begin
    w9      = '0;
    w9.kind = rma_pkg::NOTE_COMPLETER;
    w9.op   = {4'd0, rma_pkg::DESC_SEND};
    w9.node = hdr_q.src;
    w9.vpid = hdr_q.svpid;
    w9.size = size;
  end
  rma_record #(.DATA_W(DATA_W), .BYTES(ENTRY_W / 8), .LOG_MAX(12), .LOG_SLOT(7)) u_record (
      .clk_i, .rst_ni, .valid_i(state_q == S_WRITE), .vpid_i(hdr_q.dvpid), .base_i(base), .log_i(log),
      .count_i(count_q), .irq_i(irq), .data_i({w9[62:0], buf_q[63:0], buf_q[639:128]}), .beat_o(beat), .sent_o(done),
      .wr_o, .wr_ready_i, .wr_data_o(data), .written_valid_o, .written_ready_i, .written_vpid_o, .written_count_o,
      .look_vpid_i, .look_busy_o(reader_look));

  // After the last byte of the text there are zeros.
  always_comb begin
    wr_data_o = data;
    at        = '0;
    if (wr_o.valid) begin
      for (int i = 0; i < DATA_W / 8; i++) begin
        at = ({3'd0, beat} << BYTES_W) | i[6:0];
        if (!at[6] && at >= size[6:0]) wr_data_o[i*8+:8] = '0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= S_IDLE;
      asked_q <= 1'b0;
      beat_q  <= '0;
      count_q <= '0;
    end else begin
      asked_q <= start;
      case (state_q)
        S_IDLE, S_GATHER: if (take) begin
          state_q <= mb_eop_i ? S_LOOK : S_GATHER;
          beat_q  <= mb_eop_i ? '0 : beat_q + 1'b1;
        end
        S_LOOK: if (look) begin
          state_q <= write ? S_WRITE : S_IDLE;
          count_q <= count;
        end
        default: if (done) state_q <= S_IDLE;
      endcase
    end
  end

  // ---------------------------------------------------------------- answer
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mb_rsp_valid_o  <= 1'b0;
      mb_rsp_status_o <= '0;
    end else begin
      mb_rsp_valid_o <= (look && !write) || done;
      if (look) begin
        mb_rsp_status_o <= !sane ? ggas_pkg::ST_BAD : !known ? ggas_pkg::ST_DISABLED : room ? ggas_pkg::ST_OK
          : ggas_pkg::ST_FULL;
      end
    end
  end
  assign look_busy_o    = (state_q != S_IDLE && hdr_q.dvpid == look_vpid_i) || reader_look;
  assign writes_o       = wr_o.valid;
  assign cnt_messages_o = done;
  assign cnt_full_o     = look && sane && known && !room;
  assign busy_o         = state_q != S_IDLE || mb_rsp_valid_o || written_valid_o;

`ifndef SYNTHESIS
  initial if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("velo_mailbox: DATA_W must be 64, 256 or 512");
  always_ff @(posedge clk_i) if (rst_ni && take) assert (beat_q < BEATS[3:0]);
`endif

endmodule

`default_nettype wire
