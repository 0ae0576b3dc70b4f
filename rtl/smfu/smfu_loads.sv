// SPDX-License-Identifier: Apache-2.0
// Window loads to SMFU_LOAD packets, one load after the other: look it up, let the stores before it leave, allocate an
// entry of the matching store, send its chunks. While one is sent the next are looked up, so that a load of one chunk
// takes a cycle.
//
// * A chunk never crosses a multiple of 256 bytes, nor of MPS (its answer is one completion).
// * A load without a target reads as all ones at once. So does a load after one that the network did not accept in
//   time: many loads end as soon as one does.
// * Quiet reads go on to smfu_quiet once the stores before them have left; other reads of a page are refused.
`default_nettype none

module smfu_loads (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                cfg_egress_i,
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [12:0]         cfg_mps_i,
    input  wire logic [15:0]         peer_node_i,
    input  wire logic                peer_valid_i,
    input  wire logic                link_up_i,

    // loads and quiet reads
    input  wire logic                win_np_valid_i,
    output      logic                win_np_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::tlp_hdr_t  win_np_hdr_i,
    // verilator lint_on UNUSEDSIGNAL

    // lookup, as in smfu_egress
    output      logic                look_want_o,
    input  wire logic                look_go_i,
    input  wire logic                ans_valid_i,
    input  wire logic                ans_hit_i,
    input  wire smfu_pkg::target_t   ans_target_i,
    input  wire logic [6:0]          ans_interval_i,
    input  wire logic [63:0]         ans_addr_i,

    // stores before us
    input  wire logic [2:0]          p_inflight_i,
    input  wire logic                p_done_i,

    // matching store: an entry for the load in req_*
    output      logic                alloc_valid_o,
    input  wire logic                alloc_ready_i,
    input  wire logic [15:0]         alloc_tag_i,
    input  wire logic                alloc_live_i,    // the entry taken last still waits
    output      logic [15:0]         req_requester_o,
    output      logic [9:0]          req_tag_o,
    output      logic [2:0]          req_attr_o,
    // low bits of the offset that was asked for, in the window or BAR4
    output      logic [7:2]          req_addr_o,
    output      logic [11:7]         req_piece_o,     // bits of the segment offset, by which its answers are known
    output      logic [7:0]          req_page_o,      // of BAR4
    output      logic [10:0]         req_len_dw_o,
    output      logic [3:0]          req_first_be_o,
    output      logic [3:0]          req_last_be_o,
    output      ggas_pkg::node_t     req_node_o,      // for an entry, so reachable
    output      logic [6:0]          req_interval_o,
    output      logic                req_half_o,      // cut at 128 bytes; for the whole load, whatever MPS becomes

    // quiet: the read in req_* is one
    output      logic                quiet_valid_o,
    input  wire logic                quiet_ready_i,
    // SMFU_QUIET packets, single beat
    input  wire logic                quiet_np_valid_i,
    output      logic                quiet_np_ready_o,
    input  wire ggas_pkg::net_hdr_t  quiet_np_hdr_i,

    output      logic                tx_np_valid_o,
    input  wire logic                tx_np_ready_i,
    output      ggas_pkg::net_hdr_t  tx_np_hdr_o,

    // the read in req_* is refused
    output      logic                refused_valid_o,
    input  wire logic                refused_ready_i,

    // LOAD_UNMAPPED, LOAD_UNREACHABLE, PAGE_ACCESS
    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o,
    output      logic [6:0]          event_interval_o,
    output      logic                cnt_loads_in_o,
    output      logic                cnt_load_packets_o,
    output      logic                busy_o
);

  // ---------------------------------------------------------------- queues: what was asked, what the lookup answered
  localparam int unsigned ASKED_W  = 91;
  localparam int unsigned ANSWER_W = 113;
  logic [ASKED_W-1:0]  asked_q [4];
  logic [ANSWER_W-1:0] answer_q [4];
  logic [2:0]          ask_wr_q, ask_rd_q, ans_wr_q, ans_rd_q;
  logic [2:0]          mark_q [4];  // stores that must leave before the read in this place

  wire is_page  = win_np_hdr_i.bar == ggas_pkg::BAR_PAGES;
  wire word     = win_np_hdr_i.len_dw == 11'd1 || (win_np_hdr_i.len_dw == 11'd2 && win_np_hdr_i.last_be == 4'hf);
  wire is_quiet = is_page && win_np_hdr_i.addr[63:21] == '0 && win_np_hdr_i.addr[12:0] == '0 && word
    && win_np_hdr_i.first_be == 4'hf;
  wire [2:0] asked = ask_wr_q - ask_rd_q;
  assign look_want_o    = win_np_valid_i && !is_page && !asked[2];
  assign win_np_ready_o = !asked[2] && (is_page || look_go_i);
  wire take = win_np_valid_i && win_np_ready_o;
  assign cnt_loads_in_o = take && !is_page;

  always_ff @(posedge clk_i) begin
    if (take) asked_q[ask_wr_q[1:0]] <= {is_page, is_quiet, smfu_pkg::is_half(cfg_mps_i), win_np_hdr_i.addr[39:0],
      win_np_hdr_i.len_dw, win_np_hdr_i.first_be, win_np_hdr_i.last_be, win_np_hdr_i.requester, win_np_hdr_i.tag,
      win_np_hdr_i.attr};
    if (ans_valid_i) answer_q[ans_wr_q[1:0]] <= {ans_hit_i, ans_target_i, ans_interval_i, ans_addr_i};
    for (int i = 0; i < 4; i++) begin
      if (take && ask_wr_q[1:0] == i[1:0]) mark_q[i] <= p_inflight_i - {2'd0, p_done_i};
      else if (p_done_i && mark_q[i] != '0) mark_q[i] <= mark_q[i] - 1'b1;
    end
  end

  // ---------------------------------------------------------------- head of the queues: served, refused, or a quiet
  logic              page, quiet, half, hit;
  logic [39:0]       win_addr;
  logic [10:0]       len_dw;
  logic [6:0]        interval;
  logic [63:0]       addr;
  smfu_pkg::target_t target;
  assign {page, quiet, half, win_addr, len_dw, req_first_be_o, req_last_be_o, req_requester_o, req_tag_o, req_attr_o}
    = asked_q[ask_rd_q[1:0]];
  assign {hit, target, interval, addr} = answer_q[ans_rd_q[1:0]];

  logic busy_q;            // a load is being sent
  logic reported_q;            // the head is refused, and its event was raised
  logic stuck_q;           // a load ran out of time here, and the packet in front of it still waits
  wire  head    = asked != '0 && (page || ans_rd_q != ans_wr_q) && mark_q[ask_rd_q[1:0]] == '0;
  wire  reach   = smfu_pkg::reachable(target.node, cfg_node_i, peer_node_i, peer_valid_i, link_up_i);
  wire  mapped  = !page && hit && cfg_egress_i && !target.group;
  wire  served  = mapped && reach && !stuck_q;
  wire  refuse  = head && !quiet && !served && !reported_q && !event_valid_o;
  wire  alloc   = alloc_valid_o && alloc_ready_i;
  wire  pop     = alloc || (quiet_valid_o && quiet_ready_i) || (reported_q && refused_ready_i);
  assign alloc_valid_o   = head && !quiet && served && !reported_q && (!busy_q || done);
  assign quiet_valid_o   = head && quiet;
  assign refused_valid_o = reported_q;
  assign req_addr_o      = win_addr[7:2];
  assign req_piece_o     = addr[11:7];
  assign req_page_o      = win_addr[20:13];
  assign req_node_o      = target.node[ggas_pkg::NODE_W-1:0];
  assign req_len_dw_o    = len_dw;
  assign req_half_o      = half;
  assign req_interval_o  = page ? smfu_pkg::NO_INTERVAL : interval;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ask_wr_q <= '0;
      ask_rd_q <= '0;
      ans_wr_q <= '0;
      ans_rd_q <= '0;
      reported_q   <= 1'b0;
    end else begin
      if (take) ask_wr_q <= ask_wr_q + 1'b1;
      if (pop) ask_rd_q <= ask_rd_q + 1'b1;
      if (ans_valid_i) ans_wr_q <= ans_wr_q + 1'b1;
      if (pop && !page) ans_rd_q <= ans_rd_q + 1'b1;
      reported_q <= refuse || (reported_q && !refused_ready_i);
    end
  end

  // ---------------------------------------------------------------- the load that is sent, chunk by chunk
  logic        first_q, half_q;
  logic [63:0] addr_q;      // of the next chunk
  logic [6:0]  chunk_q;     // its DW
  logic [10:0] rest_q;      // DW after it
  logic        final_q;     // there are none
  logic [3:0]  first_be_q, last_be_q;
  logic [15:0] tag_q;
  // verilator lint_off UNUSEDSIGNAL
  smfu_pkg::target_t target_q;  // a node
  // verilator lint_on UNUSEDSIGNAL
  wire [10:0] first_chunk = smfu_pkg::chunk_dw(addr[7:2], len_dw, half);
  wire [6:0]  block       = half_q ? 7'd32 : 7'd64;  // all chunks but the first one begin at a multiple of it
  wire        fits        = rest_q <= {4'd0, block};
  wire        slot_free = !tx_np_valid_o || tx_np_ready_i;
  wire        send   = busy_q && alloc_live_i && slot_free && !quiet_np_valid_i;
  assign quiet_np_ready_o   = slot_free;
  assign cnt_load_packets_o = send;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tx_np_valid_o <= 1'b0;
      tx_np_hdr_o   <= '0;
    end else begin
      if (tx_np_ready_i) tx_np_valid_o <= 1'b0;
      if (quiet_np_valid_i && slot_free) begin
        tx_np_valid_o <= 1'b1;
        tx_np_hdr_o   <= quiet_np_hdr_i;
      end else if (send) begin
        tx_np_valid_o        <= 1'b1;
        tx_np_hdr_o          <= '0;
        tx_np_hdr_o.addr     <= addr_q;
        tx_np_hdr_o.op       <= ggas_pkg::OP_SMFU_LOAD;
        tx_np_hdr_o.dst      <= target_q.node;
        tx_np_hdr_o.export_no <= target_q.export_no;
        tx_np_hdr_o.domain   <= target_q.domain;
        tx_np_hdr_o.src      <= cfg_node_i;
        tx_np_hdr_o.vc       <= ggas_pkg::VC_NP;
        tx_np_hdr_o.tag      <= tag_q;
        tx_np_hdr_o.req_dw   <= {4'd0, chunk_q};
        tx_np_hdr_o.whole    <= first_q && final_q;
        tx_np_hdr_o.first_be <= first_q ? first_be_q : (chunk_q == 7'd1) ? last_be_q : 4'hf;
        tx_np_hdr_o.last_be  <= (chunk_q == 7'd1) ? 4'h0 : final_q ? last_be_q : 4'hf;
      end
    end
  end

  // Whether there is a next load is known late. So its register is filled whenever it is free, and busy_q says whether
  // it is valid.
  wire        done = send && final_q;
  always_ff @(posedge clk_i) begin
    if (!busy_q || done) begin
      tag_q      <= alloc_tag_i;
      target_q   <= target;
      first_q    <= 1'b1;
      half_q     <= half;
      addr_q     <= addr;
      chunk_q    <= first_chunk[6:0];
      rest_q     <= len_dw - first_chunk;
      final_q    <= first_chunk == len_dw;
      first_be_q <= req_first_be_o;
      last_be_q  <= req_last_be_o;
    end else if (send) begin
      first_q <= 1'b0;
      addr_q  <= addr_q + {55'd0, chunk_q, 2'b00};
      chunk_q <= fits ? rest_q[6:0] : block;
      rest_q  <= rest_q - {4'd0, block};
      final_q <= fits;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      stuck_q <= 1'b0;
    end else begin
      busy_q <= alloc || (busy_q && alloc_live_i && !done);
      if (slot_free) stuck_q <= 1'b0;
      else if (busy_q && !alloc_live_i) stuck_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      event_valid_o <= 1'b0;
      event_o       <= '0;
      event_interval_o <= '0;
    end else begin
      if (event_valid_o && event_ready_i) event_valid_o <= 1'b0;
      if (refuse) begin
        event_valid_o <= 1'b1;
        event_o.code  <= page ? ggas_regs_pkg::EV_PAGE_ACCESS :
                         mapped ? ggas_regs_pkg::EV_LOAD_UNREACHABLE : ggas_regs_pkg::EV_LOAD_UNMAPPED;
        event_o.node  <= mapped ? target.node : 16'd0;
        event_o.info  <= win_addr;
        event_interval_o <= req_interval_o;
      end
    end
  end

  assign busy_o = asked != '0 || busy_q || tx_np_valid_o || event_valid_o;

endmodule

`default_nettype wire
