// SPDX-License-Identifier: Apache-2.0
// Responses from the network: data of gets and results of atomics become host writes, then the requester is informed.
// The protection domain is that of the local context: a response with another domain, or an old epoch, belongs to
// another request and is only reported. Nothing is written for a context that is off. Waits only for translation and
// host writes.
`default_nettype none

module rma_answer #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                stop_i,          // the NIC is stopped: nothing is written
    input  wire logic [12:0]         cfg_mps_i,

    // writes of CONTEXT[]
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::context_write_t context_i,
    // verilator lint_on UNUSEDSIGNAL

    // a context's epoch (upper bits of rma_hdr_t.epoch) changed; all are 0 after reset
    input  wire logic                ep_valid_i,
    input  wire logic [7:0]          ep_vpid_i,
    input  wire logic [4:0]          ep_epoch_i,

    // Are data of a context about to be written? If the write has not begun before the context changes its epoch, no
    // data of the old epoch are written afterwards.
    input  wire logic [7:0]          look_vpid_i,
    output      logic                look_writes_o,  // in the same cycle

    // is anything for a context in progress?
    input  wire logic [7:0]          busy_vpid_i,
    output      logic                busy_vpid_o,    // in the same cycle

    // responses
    input  wire logic                rx_valid_i,
    output      logic                rx_ready_o,
    input  wire logic                rx_sop_i,
    input  wire logic                rx_eop_i,
    input  wire ggas_pkg::rma_hdr_t  rx_hdr_i,
    input  wire logic [DATA_W-1:0]   rx_data_i,

    // translation
    output      logic                tr_valid_o,
    input  wire logic                tr_ready_i,
    output      logic [63:0]         tr_nla_o,
    output      logic [15:0]         tr_pd_o,
    output      logic                tr_write_o,
    input  wire logic                tr_rsp_valid_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [63:0]         tr_rsp_addr_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [3:0]          tr_rsp_status_i,
    output      logic                tr_done_o,

    // host writes
    output      logic                wr_valid_o,
    input  wire logic                wr_ready_i,
    output      logic                wr_sop_o,
    output      logic                wr_eop_o,
    output      ggas_pkg::tlp_hdr_t  wr_hdr_o,
    output      logic [DATA_W-1:0]   wr_data_o,

    // answers to the requester, after their writes
    output      logic                ans_valid_o,
    input  wire logic                ans_ready_i,
    output      ggas_pkg::rma_ans_t  ans_o,

    // pulses, at most one a cycle
    output      logic                ev_bad_packet_o,
    output      logic                ev_protection_o,   // RMA_PROTECTION
    output      logic                ev_unexpected_o,   // UNEXPECTED_RSP
    output      logic [15:0]         ev_node_o,
    output      logic [39:0]         ev_info_o,
    output      logic                cnt_get_packets_o,
    output      logic                writes_o,          // something is about to be written
    output      logic                busy_o
);

  // ---------------------------------------------------------------- the next packet: check, translate
  logic               head_valid, head_take, rx_head;
  ggas_pkg::rma_hdr_t head;
  logic               beat_valid, beat_ready, beat_eop;
  logic [DATA_W-1:0]  beat_data;

  rma_rx #(.DATA_W(DATA_W)) u_rx (
      .clk_i, .rst_ni, .rx_valid_i, .rx_ready_o, .rx_sop_i, .rx_eop_i, .rx_hdr_i, .rx_data_i, .rx_head_o(rx_head),
      .head_valid_o(head_valid), .head_take_i(head_take), .head_o(head),
      .beat_valid_o(beat_valid), .beat_ready_i(beat_ready), .beat_eop_o(beat_eop), .beat_data_o(beat_data));

  logic        known, on;       // it is for the context's owner; the context is on
  logic [15:0] pd;
  wire         live = known && on && !stop_i;
  rma_answer_context u_context (
      .clk_i, .rst_ni, .context_i, .ep_valid_i, .ep_vpid_i, .ep_epoch_i, .re_i(rx_head), .re_vpid_i(rx_hdr_i.svpid),
      .vpid_i(head.svpid), .epoch_i(head.epoch[7:3]), .pd_i(head.pd), .known_o(known), .on_o(on), .pd_o(pd));

  // The header is checked as it comes in.
  wire [10:0] page_dw  = {1'b0, rx_hdr_i.addr[11:2]} + rx_hdr_i.len_dw;
  wire        is_data  = rx_hdr_i.op == ggas_pkg::OP_RMA_GET_DATA;
  wire        is_rsp   = rx_hdr_i.op == ggas_pkg::OP_RMA_ATOMIC_RSP;
  wire        is_bare  = rx_hdr_i.op == ggas_pkg::OP_RMA_ACK || rx_hdr_i.op == ggas_pkg::OP_RMA_GET_DONE;
  wire        data_ok  = ggas_pkg::is_node(rx_hdr_i.src) && rx_hdr_i.len_dw != '0 && rx_hdr_i.len_dw <= 11'd64
                         && page_dw <= 11'd1024
                         && smfu_pkg::be_good(rx_hdr_i.addr[2], rx_hdr_i.len_dw, rx_hdr_i.first_be, rx_hdr_i.last_be);
  // a record is to be written
  wire        result   = is_rsp && rx_hdr_i.flags[ggas_pkg::RMA_RESULT] && rx_hdr_i.status == ggas_pkg::ST_OK;
  logic       data_q, bare_q, writes_q, sane_q;
  always_ff @(posedge clk_i) begin
    if (!head_valid || head_take) begin
      data_q   <= is_data;
      bare_q   <= is_bare;
      writes_q <= is_data || result;
      sane_q   <= is_data ? data_ok : is_rsp ? rx_hdr_i.len_dw == 11'd4 && !(result && rx_hdr_i.addr[3:0] != '0)
        : is_bare && rx_hdr_i.len_dw == '0;
    end
  end

  // There was nothing to write, or a write was translated or refused since the last cycle. The owner is known too late
  // for the logic at the end of a packet.
  logic        asked_q, reported_q, refused_q;
  logic [63:2] reported_addr_q;
  logic [3:0]  reported_status_q;
  wire         wants       = writes_q && sane_q && !refused_q && (live || asked_q);
  wire         reports        = !data_q && sane_q && (known || asked_q);  // the requester is to know
  wire         decided     = head_valid && (!writes_q || refused_q || reported_q || tr_rsp_valid_i);
  wire [63:2]  head_addr   = reported_q ? reported_addr_q : tr_rsp_addr_i[63:2];
  wire [3:0]   reported_status = reported_q ? reported_status_q : tr_rsp_status_i;
  wire         good        = asked_q && reported_status == ggas_pkg::ST_OK;

  assign tr_valid_o = head_valid && wants && !asked_q;
  assign tr_nla_o   = head.addr;
  assign tr_pd_o    = pd;
  assign tr_write_o = 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asked_q       <= 1'b0;
      reported_q        <= 1'b0;
      refused_q     <= 1'b0;
      reported_addr_q   <= '0;
      reported_status_q <= '0;
    end else begin
      refused_q <= head_valid && writes_q && !wants;
      if (tr_valid_o && tr_ready_i) asked_q <= 1'b1;
      if (tr_rsp_valid_i) begin
        reported_q        <= 1'b1;
        reported_addr_q   <= tr_rsp_addr_i[63:2];
        reported_status_q <= tr_rsp_status_i;
      end
      if (head_take) begin
        asked_q   <= 1'b0;
        reported_q    <= 1'b0;
        refused_q <= 1'b0;
      end
    end
  end

  // ---------------------------------------------------------------- the packet that is executed
  localparam logic [1:0] X_IDLE = 2'd0, X_WRITE = 2'd1, X_TAKE = 2'd2, X_ANSWER = 2'd3;
  logic [1:0]         x_state_q;
  logic               x_reports_q;
  logic               x_begun_q;     // the first beat has passed
  logic [3:0]         x_status_q;
  logic [63:0]        x_old_q;       // old value of an atomic
  // verilator lint_off UNUSEDSIGNAL
  ggas_pkg::rma_hdr_t x_hdr_q;
  // verilator lint_on UNUSEDSIGNAL
  wire                x_done = x_hdr_q.op == ggas_pkg::OP_RMA_GET_DONE;
  wire                x_rsp  = x_hdr_q.op == ggas_pkg::OP_RMA_ATOMIC_RSP;

  logic  w_ready, w_last;
  wire   w_valid = x_state_q == X_WRITE && beat_valid;
  wire   w_done  = w_valid && w_ready && w_last;
  wire   direct  = w_done && !x_reports_q;
  wire   bare    = x_hdr_q.len_dw == '0;  // the only beat has no data: it goes with the answer
  wire   answered = ans_valid_o && ans_ready_i;
  assign beat_ready = x_state_q == X_TAKE || (w_valid && w_ready) || (answered && bare);
  assign head_take  = decided && (x_state_q == X_IDLE || direct);
  wire   x_eop      = beat_valid && beat_eop;

  logic  x_refused;  // a packet of its get was refused
  rma_answer_get u_get (.clk_i, .take_i(head_take), .hdr_i(head), .data_i(data_q && live), .good_i(good),
    .refused_o(x_refused));

  rma_write #(.DATA_W(DATA_W)) u_write (
      .clk_i, .rst_ni, .cfg_mps_i, .start_i(head_take && good), .addr_i(head_addr), .len_dw_i(head.len_dw[6:0]),
      .first_be_i(data_q ? head.first_be : 4'hf), .last_be_i(data_q ? head.last_be : 4'hf), .in_valid_i(w_valid),
      .in_ready_o(w_ready),
      .in_data_i(beat_data), .in_last_o(w_last), .wr_valid_o, .wr_ready_i, .wr_sop_o, .wr_eop_o, .wr_hdr_o, .wr_data_o);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      x_state_q  <= X_IDLE;
      x_reports_q   <= 1'b0;
      x_begun_q  <= 1'b0;
      x_status_q <= '0;
      x_old_q    <= '0;
      x_hdr_q    <= '0;
    end else begin
      case (x_state_q)
        X_WRITE:  if (w_done) x_state_q <= x_reports_q ? X_ANSWER : X_IDLE;
        X_TAKE:   if (x_eop) x_state_q <= x_reports_q ? X_ANSWER : X_IDLE;
        X_ANSWER: if (ans_ready_i) x_state_q <= X_IDLE;
        default: ;
      endcase
      if (beat_valid && beat_ready) begin
        x_begun_q <= 1'b1;
        if (!x_begun_q && x_rsp) x_old_q <= beat_data[63:0];
      end
      if (head_take) begin
        x_state_q  <= good ? X_WRITE : reports && bare_q ? X_ANSWER : X_TAKE;
        x_reports_q   <= reports;
        x_begun_q  <= 1'b0;
        x_status_q <= asked_q ? reported_status : head.status;
        x_hdr_q    <= head;
      end
    end
  end

  assign tr_done_o    = w_done;
  assign look_writes_o = (head_valid && wants && head.svpid == look_vpid_i)
    || (x_state_q == X_WRITE && x_hdr_q.svpid == look_vpid_i);
  assign busy_vpid_o  = (head_valid && head.svpid == busy_vpid_i)
    || (x_state_q != X_IDLE && x_hdr_q.svpid == busy_vpid_i);
  assign writes_o     = asked_q || x_state_q == X_WRITE;
  assign ans_valid_o  = x_state_q == X_ANSWER;
  assign ans_o.op     = x_hdr_q.op;
  assign ans_o.vpid   = x_hdr_q.svpid;
  assign ans_o.epoch  = x_hdr_q.epoch;
  assign ans_o.dvpid  = x_hdr_q.dvpid;
  assign ans_o.node   = x_hdr_q.src;
  assign ans_o.status = x_done && x_refused && x_status_q == ggas_pkg::ST_OK ? ggas_pkg::ST_PROTECTION : x_status_q;
  assign ans_o.addr   = x_rsp ? x_old_q : x_hdr_q.addr;
  assign ans_o.asked  = x_hdr_q.op != ggas_pkg::OP_RMA_ACK || x_hdr_q.flags[ggas_pkg::RMA_ACK];

  // ---------------------------------------------------------------- events
  wire h_bad  = head_take && !sane_q;
  wire h_late = head_take && sane_q && !asked_q && (writes_q || !reports);
  wire h_prot = head_take && asked_q && !good;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {ev_bad_packet_o, ev_protection_o, ev_unexpected_o} <= '0;
      ev_node_o <= '0;
      ev_info_o <= '0;
    end else begin
      ev_bad_packet_o <= h_bad;
      ev_protection_o <= h_prot;
      ev_unexpected_o <= h_late;
      if (h_bad || h_late || h_prot) begin
        ev_node_o <= head.src;
        ev_info_o <= {32'd0, h_bad ? head.op : head.svpid};
      end
    end
  end

  assign cnt_get_packets_o = w_done && x_hdr_q.op == ggas_pkg::OP_RMA_GET_DATA;
  assign busy_o            = x_state_q != X_IDLE || head_valid || ev_bad_packet_o || ev_protection_o || ev_unexpected_o;

`ifndef SYNTHESIS
  initial if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("rma_answer: DATA_W must be 64, 256 or 512");
  always_ff @(posedge clk_i) begin
    if (rst_ni && w_done) assert (beat_eop);
    if (rst_ni && ep_valid_i && x_state_q == X_WRITE) assert (x_hdr_q.svpid !=
      ep_vpid_i) else $error("rma_answer: late write");
    if (rst_ni && answered && bare) assert (beat_valid && beat_eop);
  end
`endif

endmodule

`default_nettype wire
