// SPDX-License-Identifier: Apache-2.0
// Requests from the network, strictly in order: puts become host writes, other requests go to their unit once every
// earlier write was accepted. While one packet is executed (x_*) the next one is checked and translated (head). Every
// packet ends, whatever its contents: with an effect, or with an event and, if the initiator can be informed, an
// answer. A put waits only for translation and host writes. Latency of a put: first beat in to first beat of the write
// 4 cycles if the translation takes 2.
`default_nettype none

module rma_target #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,
    input  wire logic                cfg_target_i,     // RMA_CTRL.target
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [12:0]         cfg_mps_i,
    input  wire logic [15:0]         cfg_timeout_i,    // RMA_TIMEOUT.host

    // requests
    input  wire ggas_pkg::rma_beat_t rx_i,
    output      logic                rx_ready_o,
    input  wire logic [DATA_W-1:0]   rx_data_i,

    // translation
    output      rma_pkg::tr_req_t    tr_o,
    input  wire logic                tr_ready_i,
    input  wire rma_pkg::tr_rsp_t    tr_rsp_i,
    output      logic                tr_done_o,

    // host writes
    output      ggas_pkg::tlp_beat_t wr_o,
    input  wire logic                wr_ready_i,
    output      logic [DATA_W-1:0]   wr_data_o,

    // zero-length reads of strong notifications: tags TAG_ATOMIC + 8 ... + 15
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire ggas_pkg::tlp_beat_t cpl_i,
    output      logic                cpl_ready_o,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    // GET packets to rma_responder
    output      ggas_pkg::rma_beat_t get_o,
    input  wire logic                get_ready_i,
    output      logic [DATA_W-1:0]   get_data_o,

    // ATOMIC packets to rma_atomic, with the status to be answered if it is not OK (the event was reported)
    output      ggas_pkg::rma_beat_t at_o,
    input  wire logic                at_ready_i,
    output      logic [DATA_W-1:0]   at_data_o,
    output      logic [3:0]          at_status_o,

    // VELO_MSG packets to velo_mailbox, and its answer
    output      logic                mb_valid_o,
    input  wire logic                mb_ready_i,
    output      logic                mb_eop_o,
    output      ggas_pkg::rma_hdr_t  mb_hdr_o,
    output      logic [DATA_W-1:0]   mb_data_o,
    input  wire logic                mb_rsp_valid_i,
    input  wire logic [3:0]          mb_rsp_status_i,

    // notifications (domain checked, held back if the ring is full)
    output      logic                nt_valid_o,
    input  wire logic                nt_ready_i,
    output      rma_pkg::note_t     nt_o,
    output      logic [15:0]         nt_pd_o,
    input  wire logic                nt_rsp_valid_i,
    input  wire logic [3:0]          nt_rsp_status_i,

    // ACK and, for a refused GET, GET_DONE: one beat each, no payload
    output      logic                rsp_valid_o,
    input  wire logic                rsp_ready_i,
    output      ggas_pkg::rma_hdr_t  rsp_hdr_o,

    // pulses, at most one a cycle: RMA_HOST_ERROR, CONTEXT_OFF, TARGET_PROTECTION, BAD_PACKET
    output      logic [3:0]          ev_o,
    output      logic [15:0]         ev_node_o,
    output      logic [39:0]         ev_info_o,
    output      logic                ev_unexpected_o,   // UNEXPECTED_CPL, any time
    output      logic [9:0]          ev_tag_o,
    output      logic                cnt_puts_o,
    output      logic                writes_o,          // a packet is served that may still write
    output      logic                busy_o,
    output      logic                timer_o
);

  // ---------------------------------------------------------------- the next packet
  logic               head_valid, decided, head_take, head_serves, wants;
  ggas_pkg::rma_hdr_t head;
  logic [2:0]         head_kind;
  logic [63:2]        head_addr;
  logic [3:0]         head_status;
  logic               beat_valid, beat_ready, beat_eop;
  logic [DATA_W-1:0]  beat_data;
  rma_target_head #(.DATA_W(DATA_W)) u_head (
      .clk_i, .rst_ni, .cfg_target_i, .rx_i, .rx_ready_o, .rx_data_i, .tr_o, .tr_ready_i, .tr_rsp_i,
      .valid_o(head_valid), .decided_o(decided), .take_i(head_take), .hdr_o(head), .kind_o(head_kind),
      .serves_o(head_serves), .wants_o(wants), .addr_o(head_addr), .status_o(head_status), .beat_valid_o(beat_valid),
      .beat_ready_i(beat_ready), .beat_eop_o(beat_eop), .beat_data_o(beat_data));

  // ---------------------------------------------------------------- the packet that is executed
  localparam logic [3:0] X_IDLE = 4'd0, X_WRITE = 4'd1, X_PASS = 4'd2, X_TAKE = 4'd3, X_FLUSH = 4'd4, X_FLUSHED = 4'd5,
                         X_NOTE = 4'd6, X_WAIT = 4'd7, X_MARK = 4'd8, X_ANSWER = 4'd9;
  logic [3:0]         x_state_q, x_status_q;
  logic [2:0]         x_kind_q;
  logic [63:2]        x_addr_q;
  ggas_pkg::rma_hdr_t x_hdr_q;
  // verilator lint_off UNUSEDSIGNAL
  logic [127:0]       note_q;      // payload of a NOTIFY: cookie, size, op
  // verilator lint_on UNUSEDSIGNAL
  logic               x_begun_q;   // its first beat has passed
  logic               x_serves_q;  // it came while targets were on
  logic               marked_before; // a packet of this message was refused before, or of one that never ended
  wire                x_first = x_hdr_q.flags[rma_pkg::RMA_FIRST];
  wire                x_last = x_hdr_q.flags[rma_pkg::RMA_LAST];
  wire                x_ack  = x_hdr_q.flags[rma_pkg::RMA_ACK];
  wire                x_ok   = x_status_q == ggas_pkg::ST_OK;

  logic               w_ready, w_last, ack_ready;
  // Room for the answer is there before the first beat: a write that was begun holds up every other writer.
  wire                w_valid = x_state_q == X_WRITE && beat_valid && (x_begun_q || !(x_last && x_ack) || ack_ready);
  wire                w_done  = w_valid && w_ready && w_last;
  wire                direct  = w_done && !(marked_before && (x_first || x_last));  // nothing more to do
  wire                pass_ready = x_kind_q == rma_target_pkg::K_GET ? get_ready_i
    : x_kind_q == rma_target_pkg::K_ATOMIC ? at_ready_i : mb_ready_i;
  wire                x_pass  = x_state_q == X_PASS;
  assign beat_ready = x_state_q == X_TAKE || (x_pass && pass_ready) || (w_valid && w_ready);
  wire                x_eop   = beat_valid && beat_ready && beat_eop;
  assign head_take  = decided && (x_state_q == X_IDLE || direct);
  wire                put_ok  = head_kind == rma_target_pkg::K_PUT && head_status == ggas_pkg::ST_OK;
  // An ATOMIC goes on whatever its status, to be answered in kind.
  wire                pass_on = head_kind == rma_target_pkg::K_ATOMIC || ((head_kind == rma_target_pkg::K_GET
    || head_kind == rma_target_pkg::K_VELO) && head_status == ggas_pkg::ST_OK);

  rma_write #(.DATA_W(DATA_W)) u_write (
      .clk_i, .rst_ni, .cfg_mps_i, .start_i(head_take && put_ok), .addr_i(head_addr), .len_dw_i(head.len_dw[6:0]),
      .first_be_i(head.first_be), .last_be_i(head.last_be), .in_valid_i(w_valid), .in_ready_o(w_ready),
      .in_data_i(beat_data), .in_last_o(w_last), .wr_o, .wr_ready_i, .wr_data_o);

  logic marked;
  wire  failed = marked_before && !x_first;
  // packets that report what happened to earlier ones
  wire  closes = x_kind_q == rma_target_pkg::K_PUT || x_kind_q == rma_target_pkg::K_NOTIFY;
  wire  answer;                                              // pushed in X_ANSWER
  logic [3:0] final_status;
  // Messages that lost a packet: from the refused packet to the message's last one, or to the first one of the next
  // message if the last never arrives.
  localparam int unsigned PARTS = ggas_pkg::MAX_NODES < 256 ? ggas_pkg::MAX_NODES : 256;
  rare_flags #(.DEPTH(256 * ggas_pkg::MAX_NODES), .PARTS(PARTS)) u_refused (
      .clk_i, .rst_ni, .re_i(head_take), .key_i({head.src[ggas_pkg::NODE_W-1:0], head.svpid}), .set_o(marked_before),
      .mark_i(x_state_q == X_MARK), .marked_o(marked),
      .forget_i(answer && closes && marked_before && (x_first || final_status != ggas_pkg::ST_FULL)));

  logic       fl_ready, fl_end;
  logic [3:0] fl_status;
  wire        nt_reported = x_state_q == X_WAIT &&
    (x_kind_q == rma_target_pkg::K_VELO ? mb_rsp_valid_i : nt_rsp_valid_i);
  wire [3:0]  nt_status = x_kind_q == rma_target_pkg::K_VELO ? mb_rsp_status_i : nt_rsp_status_i;

  logic [127:0] note_d;
  if (DATA_W < 128) begin : g_narrow
    assign note_d = {beat_data, note_q[127:64]};
  end else begin : g_wide
    assign note_d = beat_data[127:0];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      x_state_q  <= X_IDLE;
      x_status_q <= '0;
      x_kind_q   <= '0;
      x_addr_q   <= '0;
      x_hdr_q    <= '0;
      x_begun_q  <= 1'b0;
      x_serves_q <= 1'b0;
      note_q     <= '0;
    end else begin
      if (beat_valid && beat_ready) x_begun_q <= 1'b1;
      case (x_state_q)
        X_WRITE:   if (w_done) x_state_q <= direct ? X_IDLE : X_ANSWER;
        X_PASS:    if (x_eop) x_state_q <= x_kind_q == rma_target_pkg::K_VELO ? X_WAIT : X_IDLE;
        X_TAKE:    if (x_eop) begin
          if (x_kind_q == rma_target_pkg::K_NOTIFY && x_status_q != ggas_pkg::ST_BAD
            && x_status_q != ggas_pkg::ST_DISABLED)
            x_state_q <= x_hdr_q.flags[rma_pkg::RMA_STRONG] && x_ok ? X_FLUSH : X_NOTE;
          else if (x_kind_q == rma_target_pkg::K_PUT && !x_last) x_state_q <= X_MARK;
          else x_state_q <= x_kind_q <= rma_target_pkg::K_VELO ? X_ANSWER : X_IDLE;
        end
        X_FLUSH:   if (fl_ready) x_state_q <= X_FLUSHED;
        X_FLUSHED: if (fl_end) begin
          x_state_q  <= X_NOTE;
          x_status_q <= fl_status;
        end
        X_NOTE:    if (nt_ready_i) x_state_q <= X_WAIT;
        X_WAIT:    if (nt_reported) begin
          x_state_q <= X_ANSWER;
          if (x_ok || nt_status == ggas_pkg::ST_FULL) x_status_q <= nt_status;
        end
        X_MARK:    if (marked) x_state_q <= X_IDLE;
        X_ANSWER:  if (ack_ready) x_state_q <= X_IDLE;
        default: ;
      endcase
      if (beat_valid && x_state_q == X_TAKE && x_kind_q == rma_target_pkg::K_NOTIFY) note_q <= note_d;
      if (head_take) begin
        x_state_q  <= put_ok ? X_WRITE : pass_on ? X_PASS : X_TAKE;
        x_status_q <= head_status;
        x_kind_q   <= head_kind;
        x_addr_q   <= head_addr;
        x_hdr_q    <= head;
        x_begun_q  <= 1'b0;
        x_serves_q <= head_serves;
      end
    end
  end
  assign tr_done_o = w_done || (x_state_q == X_FLUSHED && fl_end);

  // ---------------------------------------------------------------- the other units
  assign get_o = {x_pass && beat_valid && x_kind_q == rma_target_pkg::K_GET, !x_begun_q, beat_eop, x_hdr_q};
  assign at_o  = {x_pass && beat_valid && x_kind_q == rma_target_pkg::K_ATOMIC, !x_begun_q, beat_eop, x_hdr_q};
  assign mb_valid_o  = x_pass && beat_valid && x_kind_q == rma_target_pkg::K_VELO;
  assign mb_eop_o    = beat_eop;
  assign mb_hdr_o    = x_hdr_q;
  assign get_data_o  = beat_data;
  assign at_data_o   = beat_data;
  assign mb_data_o   = beat_data;
  assign at_status_o = x_status_q;

  // verilator lint_off UNUSEDSIGNAL
  rma_pkg::note_w1_t note;
  // verilator lint_on UNUSEDSIGNAL
  always_comb begin
    note = '0;
    if (nt_valid_o) begin
      note.kind   = rma_pkg::NOTE_COMPLETER;
      note.status = x_hdr_q.status != ggas_pkg::ST_OK ? x_hdr_q.status : failed ? ggas_pkg::ST_PROTECTION : x_status_q;
      note.op     = note_q[103:96];
      note.node   = x_hdr_q.src;
      note.vpid   = x_hdr_q.svpid;
      note.size   = note_q[87:64];
    end
  end
  assign nt_valid_o = x_state_q == X_NOTE;
  assign nt_o       = {1'b0, x_hdr_q.dvpid, note_q[63:0], note};
  assign nt_pd_o    = x_hdr_q.pd;

  logic fl_busy;
  // verilator lint_off PINCONNECTEMPTY
  rma_read #(.DATA_W(DATA_W), .TAG_BASE(rma_pkg::TAG_ATOMIC + 8), .TAGS(8), .META_W(1)) u_flush (
      .clk_i, .rst_ni, .time_i, .cfg_timeout_i, .cmd_valid_i(x_state_q == X_FLUSH), .cmd_ready_o(fl_ready),
      .cmd_addr_i({x_addr_q, 2'b00}), .cmd_len_dw_i(11'd1), .cmd_first_be_i(4'h0), .cmd_last_be_i(4'h0),
      .cmd_meta_i(1'b0), .rd_valid_o, .rd_ready_i, .rd_hdr_o, .cpl_i, .cpl_ready_o, .cpl_data_i, .out_valid_o(),
      .out_ready_i(1'b1), .out_meta_o(), .out_offset_dw_o(), .out_dws_o(), .out_data_o(), .out_final_o(),
      .out_last_o(), .end_valid_o(fl_end), .end_meta_o(), .end_status_o(fl_status), .ev_unexpected_o, .ev_tag_o,
      .busy_o(fl_busy), .timer_o);
  // verilator lint_on PINCONNECTEMPTY

  // ---------------------------------------------------------------- answers
  assign final_status = closes && failed && (x_ok || x_status_q == ggas_pkg::ST_LOST) ? ggas_pkg::ST_PROTECTION
    : x_status_q;
  wire  due  = (x_ack && (x_last || x_kind_q != rma_target_pkg::K_PUT)) || final_status != ggas_pkg::ST_OK;
  assign answer = x_state_q == X_ANSWER && ack_ready;
  wire  push = (answer && due) || (direct && x_last && x_ack);

  rma_target_ack u_ack (
      .clk_i, .rst_ni, .cfg_node_i, .push_i(push), .ready_o(ack_ready), .hdr_i(x_hdr_q),
      .get_i(x_kind_q == rma_target_pkg::K_GET),
      .status_i(x_state_q == X_ANSWER ? final_status : ggas_pkg::ST_OK), .rsp_valid_o, .rsp_ready_i, .rsp_hdr_o);

  // ---------------------------------------------------------------- events
  wire refuse   = head_take && head_status != ggas_pkg::ST_OK;
  wire fl_bad   = x_state_q == X_FLUSHED && fl_end && fl_status != ggas_pkg::ST_OK;
  wire off      = nt_reported && nt_status == ggas_pkg::ST_DISABLED;
  wire mb_bad   = nt_reported && nt_status == ggas_pkg::ST_BAD;
  wire h_bad    = refuse && head_status == ggas_pkg::ST_BAD;
  wire h_off    = refuse && head_status == ggas_pkg::ST_DISABLED;
  wire h_refuse = refuse && wants;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ev_o      <= '0;
      ev_node_o <= '0;
      ev_info_o <= '0;
    end else begin
      ev_o <= {fl_bad, h_off || off, h_refuse, h_bad || mb_bad};
      if (refuse) begin
        ev_node_o <= head.src;
        ev_info_o <= h_bad ? {32'd0, head.op} : h_off ? {32'd0, head.dvpid} : head.addr[39:0];
      end else if (nt_reported || fl_bad) begin
        ev_node_o <= x_hdr_q.src;
        ev_info_o <= off ? {32'd0, x_hdr_q.dvpid} : mb_bad ? {32'd0, x_hdr_q.op} : x_hdr_q.addr[39:0];
      end
    end
  end

  assign cnt_puts_o = w_done;
  assign writes_o   = (head_valid && head_serves) || (x_state_q != X_IDLE && x_serves_q);
  assign busy_o     = (x_state_q != X_IDLE && x_state_q != X_FLUSHED) || head_valid || rsp_valid_o || fl_busy ||
     ev_o != '0;

`ifndef SYNTHESIS
  initial if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("rma_target: DATA_W must be 64, 256 or 512");
  always_ff @(posedge clk_i) if (rst_ni && w_done) assert (beat_eop);
`endif

endmodule

`default_nettype wire
