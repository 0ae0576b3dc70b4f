// SPDX-License-Identifier: Apache-2.0
// Window loads to SMFU_LOAD packets, one load at a time: look it up, let the stores before it leave, take an entry of
// the
// matching store, send its chunks. A chunk never crosses a multiple of the MTU, nor of MPS (its answer is one
// completion). What
// has no target reads as all ones at once, and so does a load behind one that the network did not take in time: many
// loads end as
// soon as one does. Quiet reads go on to smfu_quiet once the stores before them have left; other reads of a page are
// refused.
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

  localparam logic [2:0] S_IDLE = 3'd0, S_LOOK = 3'd1, S_DECIDE = 3'd2, S_SEND = 3'd3, S_REFUSED = 3'd4, S_QUIET = 3'd5;

  logic [2:0]  state_q;
  logic [2:0]  mark_q;      // stores that must leave first
  logic        page_q, quiet_q, hit_q, first_q;
  smfu_pkg::target_t target_q;
  logic [39:0] win_addr_q;
  logic [63:0] addr_q;      // of the next chunk
  logic [10:0] left_q;      // DW from there on
  logic [15:0] tag_q;
  logic        stuck_q;     // a load ran out of time here, and the packet in front of it still waits

  wire is_page  = win_np_hdr_i.bar == ggas_pkg::BAR_PAGES;
  wire word     = win_np_hdr_i.len_dw == 11'd1 || (win_np_hdr_i.len_dw == 11'd2 && win_np_hdr_i.last_be == 4'hf);
  wire is_quiet = is_page && win_np_hdr_i.addr[63:21] == '0 && win_np_hdr_i.addr[12:0] == '0 && word
    && win_np_hdr_i.first_be == 4'hf;
  assign look_want_o    = state_q == S_IDLE && win_np_valid_i && !is_page;
  assign win_np_ready_o = state_q == S_IDLE && (is_page || look_go_i);
  wire take = win_np_valid_i && win_np_ready_o;
  assign cnt_loads_in_o = take && !is_page;

  wire reach  = smfu_pkg::reachable(target_q.node, cfg_node_i, peer_node_i, peer_valid_i, link_up_i);
  wire decide = state_q == S_DECIDE && mark_q == '0;
  wire mapped = hit_q && cfg_egress_i && !page_q;
  wire served = mapped && reach && !stuck_q;
  wire refuse = decide && !quiet_q && !served && !event_valid_o;
  assign alloc_valid_o = decide && !quiet_q && served;
  assign quiet_valid_o = state_q == S_QUIET;
  assign refused_valid_o = state_q == S_REFUSED;
  assign req_addr_o    = win_addr_q[7:2];
  assign req_page_o    = win_addr_q[20:13];
  assign req_node_o    = target_q.node[ggas_pkg::NODE_W-1:0];
  assign req_len_dw_o  = left_q;

  // ---------------------------------------------------------------- chunks
  wire [10:0] chunk  = smfu_pkg::chunk_dw(addr_q[7:2], left_q, req_half_o);
  wire        final_chunk = chunk == left_q;
  wire        slot_free = !tx_np_valid_o || tx_np_ready_i;
  wire        send   = state_q == S_SEND && alloc_live_i && slot_free && !quiet_np_valid_i;
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
        tx_np_hdr_o.req_dw   <= chunk;
        tx_np_hdr_o.first_be <= first_q ? req_first_be_o : (chunk == 11'd1) ? req_last_be_o : 4'hf;
        tx_np_hdr_o.last_be  <= (chunk == 11'd1) ? 4'h0 : final_chunk ? req_last_be_o : 4'hf;
      end
    end
  end

  // ---------------------------------------------------------------- the load in hand
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q         <= S_IDLE;
      mark_q          <= '0;
      page_q          <= 1'b0;
      quiet_q         <= 1'b0;
      stuck_q         <= 1'b0;
      hit_q           <= 1'b0;
      first_q         <= 1'b0;
      win_addr_q      <= '0;
      addr_q          <= '0;
      left_q          <= '0;
      tag_q           <= '0;
      req_requester_o <= '0;
      req_tag_o       <= '0;
      req_attr_o      <= '0;
      req_first_be_o  <= '0;
      req_last_be_o   <= '0;
      target_q        <= '0;
      req_interval_o  <= '0;
      req_half_o      <= 1'b0;
    end else begin
      if (p_done_i && mark_q != '0) mark_q <= mark_q - 1'b1;
      if (slot_free) stuck_q <= 1'b0;
      else if (state_q == S_SEND && !alloc_live_i) stuck_q <= 1'b1;
      case (state_q)
        S_IDLE:
          if (take) begin
            state_q         <= is_page ? S_DECIDE : S_LOOK;
            mark_q          <= p_inflight_i - {2'd0, p_done_i};
            page_q          <= is_page;
            req_interval_o  <= smfu_pkg::NO_INTERVAL;
            quiet_q         <= is_quiet;
            req_half_o      <= smfu_pkg::is_half(cfg_mps_i);
            first_q         <= 1'b1;
            win_addr_q      <= win_np_hdr_i.addr[39:0];
            addr_q          <= win_np_hdr_i.addr;
            left_q          <= win_np_hdr_i.len_dw;
            req_requester_o <= win_np_hdr_i.requester;
            req_tag_o       <= win_np_hdr_i.tag;
            req_attr_o      <= win_np_hdr_i.attr;
            req_first_be_o  <= win_np_hdr_i.first_be;
            req_last_be_o   <= win_np_hdr_i.last_be;
          end
        S_LOOK:
          if (ans_valid_i) begin
            req_interval_o <= ans_interval_i;
            state_q    <= S_DECIDE;
            hit_q      <= ans_hit_i;
            target_q   <= ans_target_i;
            addr_q     <= ans_addr_i;
          end
        S_DECIDE:
          if (decide && quiet_q) state_q <= S_QUIET;
          else if (refuse) state_q <= S_REFUSED;
          else if (alloc_valid_o && alloc_ready_i) begin
            state_q <= S_SEND;
            tag_q   <= alloc_tag_i;
          end
        S_SEND:
          if (!alloc_live_i) state_q <= S_IDLE;
          else if (send) begin
            first_q <= 1'b0;
            addr_q  <= addr_q + {51'd0, chunk, 2'b00};
            left_q  <= left_q - chunk;
            if (final_chunk) state_q <= S_IDLE;
          end
        S_REFUSED: if (refused_ready_i) state_q <= S_IDLE;
        S_QUIET:   if (quiet_ready_i) state_q <= S_IDLE;
        default: state_q <= S_IDLE;
      endcase
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
        event_o.code  <= page_q ? ggas_regs_pkg::EV_PAGE_ACCESS :
                         mapped ? ggas_regs_pkg::EV_LOAD_UNREACHABLE : ggas_regs_pkg::EV_LOAD_UNMAPPED;
        event_o.node  <= mapped ? target_q.node : 16'd0;
        event_o.info  <= win_addr_q;
        event_interval_o <= req_interval_o;
      end
    end
  end

  assign busy_o = state_q != S_IDLE || tx_np_valid_o || event_valid_o;

endmodule

`default_nettype wire
