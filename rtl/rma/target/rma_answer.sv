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

    // answers to the requester, after their writes
    output      logic                ans_valid_o,
    input  wire logic                ans_ready_i,
    output      rma_pkg::rma_ans_t  ans_o,

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
      .clk_i, .rst_ni, .rx_i, .rx_ready_o, .rx_data_i, .rx_head_o(rx_head), .head_valid_o(head_valid),
      .head_take_i(head_take), .head_o(head), .beat_valid_o(beat_valid), .beat_ready_i(beat_ready),
      .beat_eop_o(beat_eop), .beat_data_o(beat_data));

  logic        known, on;       // it is for the context's owner; the context is on
  logic [15:0] pd;
  wire         live = known && on && !stop_i;
  rma_answer_context u_context (
      .clk_i, .rst_ni, .context_i, .ep_valid_i, .ep_vpid_i, .ep_epoch_i, .re_i(rx_head), .re_vpid_i(rx_i.hdr.svpid),
      .vpid_i(head.svpid), .epoch_i(head.epoch[7:3]), .pd_i(head.pd), .known_o(known), .on_o(on), .pd_o(pd));

  // The header is checked as it comes in.
  wire [10:0] page_dw  = {1'b0, rx_i.hdr.addr[11:2]} + rx_i.hdr.len_dw;
  wire        is_data  = rx_i.hdr.op == ggas_pkg::OP_RMA_GET_DATA;
  wire        is_rsp   = rx_i.hdr.op == ggas_pkg::OP_RMA_ATOMIC_RSP;
  wire        is_bare  = rx_i.hdr.op == ggas_pkg::OP_RMA_ACK || rx_i.hdr.op == ggas_pkg::OP_RMA_GET_DONE;
  wire        data_ok  = ggas_pkg::is_node(rx_i.hdr.src) && rx_i.hdr.len_dw != '0 && rx_i.hdr.len_dw <= 11'd64
                         && page_dw <= 11'd1024
                         && smfu_pkg::be_good(rx_i.hdr.addr[2], rx_i.hdr.len_dw, rx_i.hdr.first_be, rx_i.hdr.last_be);
  // a record is to be written
  wire        result   = is_rsp && rx_i.hdr.flags[rma_pkg::RMA_RESULT] && rx_i.hdr.status == ggas_pkg::ST_OK;
  logic       data_q, bare_q, writes_q, sane_q;
  always_ff @(posedge clk_i) begin
    if (!head_valid || head_take) begin
      data_q   <= is_data;
      bare_q   <= is_bare;
      writes_q <= is_data || result;
      sane_q   <= is_data ? data_ok : is_rsp ? rx_i.hdr.len_dw == 11'd4 && !(result && rx_i.hdr.addr[3:0] != '0)
        : is_bare && rx_i.hdr.len_dw == '0;
    end
  end

  // There was nothing to write, or a write was translated or refused since the last cycle. The owner is known too late
  // for the logic at the end of a packet.
  logic        refused_q, asked, translated, unused_kept;
  logic [3:0]  reported_status;
  // verilator lint_off UNUSEDSIGNAL
  logic [63:0] bus_addr;
  // verilator lint_on UNUSEDSIGNAL
  wire         wants       = writes_q && sane_q && !refused_q && (live || asked);
  wire         reports        = !data_q && sane_q && (known || asked);  // the requester is to know
  wire         decided     = head_valid && (!writes_q || refused_q || translated);
  wire [63:2]  head_addr   = bus_addr[63:2];
  wire         good        = asked && reported_status == ggas_pkg::ST_OK;

  rma_translate u_translate (
      .clk_i, .rst_ni, .want_i(head_valid && wants), .nla_i(head.addr), .pd_i(pd), .done_i(head_take),
      .asked_o(asked), .kept_o(unused_kept), .known_o(translated), .addr_o(bus_addr), .status_o(reported_status),
      .tr_o, .tr_ready_i, .tr_rsp_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) refused_q <= 1'b0;
    else refused_q <= head_valid && writes_q && !wants && !head_take;
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
      .in_ready_o(w_ready), .in_data_i(beat_data), .in_last_o(w_last), .wr_o, .wr_ready_i, .wr_data_o);

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
        x_status_q <= asked ? reported_status : head.status;
        x_hdr_q    <= head;
      end
    end
  end

  assign tr_done_o    = w_done;
  assign look_writes_o = (head_valid && wants && head.svpid == look_vpid_i)
    || (x_state_q == X_WRITE && x_hdr_q.svpid == look_vpid_i);
  assign busy_vpid_o  = (head_valid && head.svpid == busy_vpid_i)
    || (x_state_q != X_IDLE && x_hdr_q.svpid == busy_vpid_i);
  assign writes_o     = asked || x_state_q == X_WRITE;
  assign ans_valid_o  = x_state_q == X_ANSWER;
  assign ans_o.op     = x_hdr_q.op;
  assign ans_o.vpid   = x_hdr_q.svpid;
  assign ans_o.epoch  = x_hdr_q.epoch;
  assign ans_o.dvpid  = x_hdr_q.dvpid;
  assign ans_o.node   = x_hdr_q.src;
  assign ans_o.status = x_done && x_refused && x_status_q == ggas_pkg::ST_OK ? ggas_pkg::ST_PROTECTION : x_status_q;
  assign ans_o.addr   = x_rsp ? x_old_q : x_hdr_q.addr;
  assign ans_o.asked  = x_hdr_q.op != ggas_pkg::OP_RMA_ACK || x_hdr_q.flags[rma_pkg::RMA_ACK];

  // ---------------------------------------------------------------- events
  wire h_bad  = head_take && !sane_q;
  wire h_late = head_take && sane_q && !asked && (writes_q || !reports);
  wire h_prot = head_take && asked && !good;
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
