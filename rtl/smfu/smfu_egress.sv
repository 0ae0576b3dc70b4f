// SPDX-License-Identifier: Apache-2.0
// Window stores to SMFU_STORE packets. A store requests its look-up when its first beat arrives and waits with its
// beats in a small queue; the answer releases it, cut every MTU bytes of payload, so the payload is never realigned. A
// store without a target is dropped.
`default_nettype none

module smfu_egress #(
    parameter int unsigned DATA_W = 64
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                cfg_egress_i,
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [15:0]         peer_node_i,
    input  wire logic                peer_valid_i,
    input  wire logic                link_up_i,

    // stores
    input  wire ggas_pkg::tlp_beat_t win_p_i,
    output      logic                win_p_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [DATA_W-1:0]   win_p_data_i,

    // lookup: `want` a slot for the store at the input; it is asked when `go` comes back
    output      logic                look_want_o,
    input  wire logic                look_go_i,
    input  wire logic                ans_valid_i,
    input  wire logic                ans_hit_i,
    input  wire smfu_pkg::target_t   ans_target_i,
    input  wire logic [6:0]          ans_interval_i,
    input  wire logic [63:0]         ans_addr_i,

    // packets
    output      logic                tx_p_valid_o,
    input  wire logic                tx_p_ready_i,
    output      logic                tx_p_sop_o,
    output      logic                tx_p_eop_o,
    output      ggas_pkg::net_hdr_t  tx_p_hdr_o,
    output      logic [DATA_W-1:0]   tx_p_data_o,

    // for loads and quiet stores accepted and not yet sent or dropped, before this cycle's `done`
    output      logic [2:0]          inflight_o,
    output      logic                done_o,         // the oldest of them leaves in this cycle
    output      logic                sent_o,         // a packet to sent_node_o goes to the network ...
    output      logic                sent_all_o,     // ... to a group
    output      ggas_pkg::node_t     sent_node_o,
    input  wire logic                sent_room_i,    // a packet may go; stays until one does
    output      logic                failed_o,       // a store was dropped for want of a route
    output      logic [3:0]          failed_status_o,
    output      logic [15:0]         failed_domain_o,

    // STORE_UNMAPPED, STORE_UNREACHABLE
    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o,
    output      logic [6:0]          event_interval_o,
    output      logic                cnt_stores_in_o,
    output      logic                cnt_store_packets_o,
    output      logic                busy_o
);

  localparam int unsigned BEATS     = 8;                            // queue of beats
  localparam int unsigned PIECE_W   = $clog2(ggas_pkg::MTU / 4);           // DW of a full piece, as a power of two
  localparam int unsigned BEAT_W    = $clog2(ggas_pkg::MTU * 8 / DATA_W);  // beats of one, as a power of two
  localparam int unsigned ASKED_W   = 59;                           // len_dw, first_be, last_be, low address bits
  localparam int unsigned ANSWER_W  = 117;                          // status, mapped, target, interval, offset

  // ---------------------------------------------------------------- queues: beats, what was asked, what was answered
  logic [DATA_W:0]     beat_q [BEATS];  // {eop, data}
  logic [ASKED_W-1:0]  asked_q [4];
  logic [ANSWER_W-1:0] answer_q [4];
  logic [3:0]          beat_wr_q, beat_rd_q;
  logic [2:0]          ask_wr_q, ans_wr_q, rd_q;

  wire [3:0] beats_used = beat_wr_q - beat_rd_q;
  wire [2:0] asked      = ask_wr_q - rd_q;
  wire       room       = !beats_used[3];

  assign look_want_o   = win_p_i.valid && win_p_i.sop && room && !asked[2];
  assign win_p_ready_o = room && (!win_p_i.sop || look_go_i);
  assign inflight_o    = asked;

  wire take = win_p_i.valid && win_p_ready_o;
  wire ask  = take && win_p_i.sop;
  assign cnt_stores_in_o = ask;

  wire       ans_reach  = ans_target_i.group ? peer_valid_i && link_up_i
    : smfu_pkg::reachable(ans_target_i.node, cfg_node_i, peer_node_i, peer_valid_i, link_up_i);
  wire [3:0] ans_status = ans_reach ? ggas_pkg::ST_OK : smfu_pkg::unreachable_status(
    ans_target_i.group ? peer_node_i : ans_target_i.node, peer_node_i, peer_valid_i);
  wire       ans_mapped = ans_hit_i && cfg_egress_i;

  always_ff @(posedge clk_i) begin
    if (take) beat_q[beat_wr_q[2:0]] <= {win_p_i.eop, win_p_data_i};
    if (ask) asked_q[ask_wr_q[1:0]] <= {win_p_i.hdr.len_dw, win_p_i.hdr.first_be, win_p_i.hdr.last_be,
      win_p_i.hdr.addr[39:0]};
    if (ans_valid_i) answer_q[ans_wr_q[1:0]] <= {ans_status, ans_mapped, ans_target_i, ans_interval_i,
      ans_addr_i};
  end

  // ---------------------------------------------------------------- head of the queues
  logic [10:0] len_dw;
  logic [3:0]  first_be, last_be, status;
  logic [39:0] win_addr;
  logic        mapped;
  smfu_pkg::target_t target;
  logic [6:0]  interval;
  logic [63:0] addr;
  assign {len_dw, first_be, last_be, win_addr} = asked_q[rd_q[1:0]];
  assign {status, mapped, target, interval, addr} = answer_q[rd_q[1:0]];

  logic [10-PIECE_W:0] piece_q;  // pieces of the head already sent
  logic [BEAT_W-1:0]   beat_n_q; // beats of this piece already sent
  logic        reported_q;   // the event of a dropped store was raised

  wire        head   = rd_q != ans_wr_q && beats_used != '0;
  wire        drop   = !mapped || status != ggas_pkg::ST_OK;
  wire        eop    = beat_q[beat_rd_q[2:0]][DATA_W];
  wire        report   = head && drop && !reported_q && !event_valid_o;
  wire        pop    = drop ? head && (reported_q || report) : tx_p_valid_o && tx_p_ready_i;
  wire [10:0] sent   = {piece_q, {PIECE_W{1'b0}}};
  wire [10:0] left   = len_dw - sent;
  wire        final_piece = left <= ggas_pkg::MTU_DW;
  wire        first  = piece_q == '0;

  assign tx_p_valid_o = head && !drop && (sent_room_i || !tx_p_sop_o);
  assign tx_p_sop_o   = beat_n_q == '0;
  assign tx_p_eop_o   = eop || (&beat_n_q);
  assign tx_p_data_o  = beat_q[beat_rd_q[2:0]][DATA_W-1:0];

  always_comb begin
    tx_p_hdr_o = '0;
    if (head) begin
      tx_p_hdr_o.addr     = addr + {51'd0, sent, 2'b00};
      tx_p_hdr_o.op       = ggas_pkg::OP_SMFU_STORE | (target.group ? ggas_pkg::OP_MULTICAST : '0);
      tx_p_hdr_o.dst      = target.node;
      tx_p_hdr_o.export_no = target.export_no;
      tx_p_hdr_o.domain   = target.domain;
      tx_p_hdr_o.src      = cfg_node_i;
      tx_p_hdr_o.vc       = ggas_pkg::VC_P;
      tx_p_hdr_o.len_dw   = final_piece ? left : ggas_pkg::MTU_DW;
      // A piece of one DW carries its enables in first_be.
      tx_p_hdr_o.first_be = first ? first_be : (final_piece && left == 11'd1) ? last_be : 4'hf;
      tx_p_hdr_o.last_be  = (final_piece && left == 11'd1) ? 4'h0 : final_piece ? last_be : 4'hf;
    end
  end

  assign done_o              = pop && eop;
  assign sent_o              = pop && !drop && tx_p_sop_o;
  assign sent_all_o          = target.group;
  assign sent_node_o         = target.node[ggas_pkg::NODE_W-1:0];
  assign cnt_store_packets_o = pop && !drop && tx_p_eop_o;
  assign failed_o            = report && mapped;
  assign failed_status_o     = status;
  assign failed_domain_o     = target.domain;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_wr_q     <= '0;
      beat_rd_q     <= '0;
      ask_wr_q      <= '0;
      ans_wr_q      <= '0;
      rd_q          <= '0;
      piece_q       <= '0;
      beat_n_q      <= '0;
      reported_q        <= 1'b0;
      event_valid_o <= 1'b0;
      event_o       <= '0;
      event_interval_o <= '0;
    end else begin
      if (take) beat_wr_q <= beat_wr_q + 1'b1;
      if (ask) ask_wr_q <= ask_wr_q + 1'b1;
      if (ans_valid_i) ans_wr_q <= ans_wr_q + 1'b1;
      if (event_valid_o && event_ready_i) event_valid_o <= 1'b0;
      if (pop) begin
        beat_rd_q <= beat_rd_q + 1'b1;
        reported_q    <= !eop && drop;
        beat_n_q  <= tx_p_eop_o ? '0 : beat_n_q + 1'b1;
        piece_q   <= eop ? '0 : tx_p_eop_o ? piece_q + 1'b1 : piece_q;
        if (eop) rd_q <= rd_q + 1'b1;
      end
      if (report) begin
        event_valid_o <= 1'b1;
        event_o.code  <= mapped ? ggas_regs_pkg::EV_STORE_UNREACHABLE : ggas_regs_pkg::EV_STORE_UNMAPPED;
        event_o.node  <= mapped ? target.node : 16'd0;
        event_o.info  <= win_addr;
        event_interval_o <= interval;
      end
    end
  end

  assign busy_o = asked != '0 || beats_used != '0 || event_valid_o;

`ifndef SYNTHESIS
  initial begin
    if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("smfu_egress: DATA_W must be 64, 256 or 512");
  end
  // What the lookup answers was asked.
  always_ff @(posedge clk_i) if (rst_ni && ans_valid_i) assert (ans_wr_q != ask_wr_q);
`endif

endmodule

`default_nettype wire
