// SPDX-License-Identifier: Apache-2.0
// Serves gets: a table of those in flight, which take turns packet by packet, so that a long one does not delay the
// others. Packets become fetch commands with headers of GET_DATA. The get ends when the last packet has left, or when
// one has failed and those before it have left.
`default_nettype none

module rma_responder #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [1:0]          cfg_mtu_i,        // RMA_CTRL.mtu

    // GET packets
    input  wire ggas_pkg::rma_beat_t get_i,
    output      logic                get_ready_o,
    input  wire logic [DATA_W-1:0]   get_data_i,

    // to rma_fetch (gets), META_W = 8
    output      logic                cmd_valid_o,
    input  wire logic                cmd_ready_i,
    output      logic [63:0]         cmd_nla_o,
    output      logic [15:0]         cmd_pd_o,
    output      logic [8:0]          cmd_bytes_o,
    output      ggas_pkg::rma_hdr_t  cmd_hdr_o,
    output      logic [7:0]          cmd_meta_o,
    input  wire logic                done_valid_i,
    input  wire logic [3:0]          done_status_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [7:0]          done_meta_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [39:0]         done_nla_i,

    // client 2 of rma_notify: domain checked, dropped if the ring is full
    output      logic                nt_valid_o,
    input  wire logic                nt_ready_i,
    output      logic [7:0]          nt_vpid_o,
    output      logic [15:0]         nt_pd_o,
    output      logic [63:0]         nt_w0_o,
    output      rma_pkg::note_w1_t  nt_w1_o,
    input  wire logic                nt_rsp_valid_i,
    input  wire logic [3:0]          nt_rsp_status_i,

    // GET_DONE: one beat, no payload
    output      logic                rsp_valid_o,
    input  wire logic                rsp_ready_i,
    output      ggas_pkg::rma_hdr_t  rsp_hdr_o,

    // pulses, at most one a cycle
    output      logic                ev_protection_o,  // TARGET_PROTECTION
    output      logic                ev_context_off_o,
    output      logic                ev_bad_packet_o,
    output      logic [15:0]         ev_node_o,
    output      logic [39:0]         ev_info_o,
    output      logic                cnt_gets_o,
    output      logic                busy_o
);
  localparam int unsigned GW     = 4;        // bits of rma_hdr_t.place
  localparam int unsigned GETS   = 1 << GW;  // gets under way
  localparam int unsigned HDR_W  = ggas_pkg::NET_HDR_W;
  localparam int unsigned GET_W  = HDR_W + 64 + 64 + 24 + 1;  // header, destination, cookie, size, bad

  function logic [GW-1:0] place_of(input logic [GETS-1:0] one_hot);
    place_of = '0;
    for (int i = 0; i < GETS; i++) if (one_hot[i]) place_of = place_of | i[GW-1:0];
  endfunction

  // ---------------------------------------------------------------- gets come in
  logic               in_valid;
  ggas_pkg::rma_hdr_t in_hdr;
  logic [63:0]        in_dst, in_cookie;
  logic [31:0]        in_size;
  logic [GETS-1:0]    active_q;
  wire  [GETS-1:0]    free  = ~active_q & (active_q + 1'b1);
  logic               sized_q;         // the length of its first packet is known
  wire                enter = in_valid && sized_q && !(&active_q);
  wire  [GW-1:0]      slot  = place_of(free);
  wire                in_bad = in_size > 32'h80_0000;
  wire  [GET_W-1:0]   record = {in_bad, in_size[23:0], in_cookie, in_dst, in_hdr};

  rma_responder_in #(.DATA_W(DATA_W)) u_in (
      .clk_i, .rst_ni, .get_i, .get_ready_o, .get_data_i, .valid_o(in_valid), .ready_i(enter), .hdr_o(in_hdr),
      .dst_o(in_dst), .cookie_o(in_cookie), .size_o(in_size));

  // ---------------------------------------------------------------- state of a get
  logic [GETS-1:0]   more_q;           // packets are left to ask for
  logic [GETS-1:0]   failed_q;
  logic [GETS-1:0]   none_open_q;      // no packet is asked for and not done
  logic [3:0]        status_q [GETS];  // of the first that failed
  logic [15:0]       node_q [GETS];
  logic [23:0]       offset_q [GETS];  // bytes asked for, once they are not 0
  logic [8:0]        bytes_q [GETS];   // of the next packet
  logic [23:0]       behind_q [GETS];  // bytes after it
  logic [GETS-1:0]   begun_q;

  // ---------------------------------------------------------------- the next packet: choose a get; read its record and
  // compute the length of the packet after it; add the offset to its addresses; make the header. One packet a cycle;
  // one packet of each get in two cycles.
  logic            a_q, b_q, c_q;
  logic [GW-1:0]   b_get_q, c_get_q;
  logic [GETS-1:0] a_hot_q, grant;
  wire             moves  = (!c_q || !cmd_valid_o || cmd_ready_i) && !enter;  // one of them writes the state
  wire             reads  = a_q && moves;
  wire             leaves = c_q && moves;
  wire [GETS-1:0]  want   = more_q & ~failed_q & ~(a_q ? a_hot_q : '0);
  wire             choose = want != '0 && moves;
  wire [GW-1:0]    a_get  = place_of(a_hot_q);
  // verilator lint_off PINCONNECTEMPTY
  arbiter_rr #(.N(GETS)) u_turn (.clk_i, .rst_ni, .clear_i(1'b0), .req_i(want), .take_i(choose), .eop_i(1'b1),
    .grant_o(grant), .locked_o());
  // verilator lint_on PINCONNECTEMPTY

  // verilator lint_off UNUSEDSIGNAL
  logic [GET_W-1:0]   b_record;
  // verilator lint_on UNUSEDSIGNAL
  ram_1r1w #(.WIDTH(GET_W), .DEPTH(GETS)) u_gets (
      .clk_i, .we_i(enter), .waddr_i(slot), .wdata_i(record), .re_i(reads), .raddr_i(a_get), .rdata_o(b_record));
  ggas_pkg::rma_hdr_t b_get_hdr, c_get_hdr_q, c_hdr;
  assign b_get_hdr = b_record[HDR_W-1:0];

  // The first packet ends at the destination's first border; the next one has the rest, at most the MTU.
  logic        unused_last;
  logic [8:0]  in_bytes, in_bytes_q;
  rma_chunk u_first (
      .cfg_mtu_i, .size_i(in_size[23:0]), .dst_i(in_dst[7:0]), .offset_i(24'd0), .last_o(unused_last),
      .bytes_o(in_bytes));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sized_q <= 1'b0;
    else sized_q <= in_valid && !enter;
  end
  always_ff @(posedge clk_i) if (in_valid) in_bytes_q <= in_bytes;
  wire [12:0]  mtu      = rma_pkg::rma_mtu(cfg_mtu_i);
  wire [23:0]  a_behind = behind_q[a_get], a_offset = a_begun ? offset_q[a_get] : '0;
  wire [8:0]   a_bytes  = bytes_q[a_get];
  wire         a_begun  = (begun_q & a_hot_q) != '0;
  wire         a_final  = a_behind <= {11'd0, mtu};  // the packet after this one
  wire [23:0]  a_beyond = a_behind - {11'd0, mtu};

  logic [23:0] b_offset_q;                        // bytes before this packet
  logic [63:0] c_nla_q, c_dst_q;
  logic        b_first_q, c_first_q;
  logic [8:0]  b_bytes_q, c_bytes_q;
  rma_responder_cut u_cut (
      .en_i(c_q), .cfg_node_i, .get_i(c_get_hdr_q), .dst_i(c_dst_q), .bytes_i(c_bytes_q), .first_i(c_first_q),
      .place_i(c_get_q), .hdr_o(c_hdr));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {a_q, b_q, c_q} <= '0;
      cmd_valid_o     <= 1'b0;
    end else begin
      if (moves) {a_q, b_q, c_q} <= {choose, a_q, b_q};
      if (leaves) cmd_valid_o <= 1'b1;
      else if (cmd_ready_i) cmd_valid_o <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (choose) a_hot_q <= grant;
    if (reads) begin
      b_get_q    <= a_get;
      b_first_q  <= !a_begun;
      b_offset_q <= a_offset;
      b_bytes_q  <= a_bytes;
      offset_q[a_get] <= a_offset + {15'd0, a_bytes};
    end
    if (b_q && moves) begin
      c_get_q     <= b_get_q;
      c_get_hdr_q <= b_get_hdr;
      c_first_q   <= b_first_q;
      c_bytes_q   <= b_bytes_q;
      c_dst_q     <= b_record[HDR_W+:64] + {40'd0, b_offset_q};
      c_nla_q     <= b_get_hdr.addr + {40'd0, b_offset_q};
    end
    if (leaves) begin
      cmd_nla_o   <= c_nla_q;
      cmd_pd_o    <= c_get_hdr_q.pd;
      cmd_bytes_o <= c_bytes_q;
      cmd_hdr_o   <= c_hdr;
      cmd_meta_o  <= {{(8-GW){1'b0}}, c_get_q};
    end
    if (enter || reads) begin
      behind_q[enter ? slot : a_get] <= enter ? in_size[23:0] - {15'd0, in_bytes_q} : a_final ? '0 : a_beyond;
      bytes_q[enter ? slot : a_get]  <= enter ? in_bytes_q : a_final ? a_behind[8:0] : mtu[8:0];
    end
  end

  // ---------------------------------------------------------------- packets that are done
  wire [GW-1:0]   d_get  = done_meta_i[GW-1:0];
  wire [GETS-1:0] d_hot  = {{(GETS-1){1'b0}}, done_valid_i} << d_get;
  wire            d_fail = done_valid_i && done_status_i != ggas_pkg::ST_OK && !failed_q[d_get];
  logic            end_get;
  logic [GETS-1:0] e_hot_q;            // the get that ends, if any

  for (genvar i = 0; i < GETS; i++) begin : gen_get
    logic [7:0] open_q;                // packets asked for and not done
    wire        asks = reads && a_hot_q[i];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        open_q         <= '0;
        none_open_q[i] <= 1'b1;
        active_q[i]    <= 1'b0;
        more_q[i]      <= 1'b0;
        failed_q[i]    <= 1'b0;
        begun_q[i]     <= 1'b0;
      end else begin
        if (asks != d_hot[i]) begin
          open_q         <= asks ? open_q + 8'd1 : open_q - 8'd1;
          none_open_q[i] <= !asks && open_q == 8'd1;
        end
        if (asks) more_q[i] <= a_behind != '0;
        if (asks) begun_q[i] <= 1'b1;
        if (d_hot[i] && done_status_i != ggas_pkg::ST_OK) failed_q[i] <= 1'b1;
        if (end_get && e_hot_q[i]) active_q[i] <= 1'b0;
        if (enter && free[i]) begin
          active_q[i] <= 1'b1;
          more_q[i]   <= in_size != '0 && !in_bad;
          failed_q[i] <= 1'b0;
          begun_q[i]  <= 1'b0;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (d_fail) status_q[d_get] <= done_status_i;
    if (enter) node_q[slot] <= in_hdr.src;
  end

  // ---------------------------------------------------------------- gets that are over: the next one is chosen while
  // one ends
  logic [GETS-1:0]  e_grant;
  logic             e_idle, ev_off, ev_bad;
  // verilator lint_off UNUSEDSIGNAL
  logic [GET_W-1:0] e_record;
  // verilator lint_on UNUSEDSIGNAL
  wire [GETS-1:0]   over    = active_q & (~more_q | failed_q) & none_open_q & ~(a_q ? a_hot_q : '0) & ~e_hot_q;
  wire              e_some  = e_hot_q != '0;
  wire              e_next  = !e_some || end_get;
  wire              e_start = e_idle && e_some;
  wire [GW-1:0]     e_get   = place_of(e_hot_q);
  wire              e_bad   = e_record[GET_W-1];
  ggas_pkg::rma_hdr_t e_hdr;
  assign e_hdr = e_record[HDR_W-1:0];
  // verilator lint_off PINCONNECTEMPTY
  arbiter_rr #(.N(GETS)) u_end_turn (.clk_i, .rst_ni, .clear_i(1'b0), .req_i(over), .take_i(e_next && over != '0),
    .eop_i(1'b1), .grant_o(e_grant), .locked_o());
  // verilator lint_on PINCONNECTEMPTY
  ram_1r1w #(.WIDTH(GET_W), .DEPTH(GETS)) u_ends (
      .clk_i, .we_i(enter), .waddr_i(slot), .wdata_i(record), .re_i(e_start), .raddr_i(e_get), .rdata_o(e_record));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) e_hot_q <= '0;
    else if (e_next) e_hot_q <= e_grant;
  end

  logic [3:0] e_status;
  always_comb begin
    e_status = ggas_pkg::ST_OK;
    if (!e_idle) e_status = e_bad ? ggas_pkg::ST_BAD : failed_q[e_get] ? status_q[e_get] : ggas_pkg::ST_OK;
  end
  logic done_get;
  rma_responder_end u_end (
      .clk_i, .rst_ni, .cfg_node_i, .start_i(e_start), .idle_o(e_idle), .get_i(e_hdr),
      .cookie_i(e_record[HDR_W+64+:64]),
      .size_i(e_record[HDR_W+128+:24]), .place_i(e_get), .status_i(e_status), .end_o(end_get), .nt_valid_o,
      .nt_ready_i, .nt_vpid_o, .nt_pd_o, .nt_w0_o, .nt_w1_o,
      .nt_rsp_valid_i, .nt_rsp_status_i, .rsp_valid_o, .rsp_ready_i, .rsp_hdr_o, .ev_off_o(ev_off), .ev_bad_o(ev_bad),
      .ev_ready_i(!(d_fail && done_status_i == ggas_pkg::ST_PROTECTION)), .cnt_gets_o(done_get));

  // ---------------------------------------------------------------- events
  wire protection = d_fail && done_status_i == ggas_pkg::ST_PROTECTION;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {ev_protection_o, ev_context_off_o, ev_bad_packet_o, cnt_gets_o} <= '0;
      ev_node_o <= '0;
      ev_info_o <= '0;
    end else begin
      ev_protection_o  <= protection;
      ev_context_off_o <= ev_off && !protection;
      ev_bad_packet_o  <= ev_bad && !protection;
      cnt_gets_o       <= done_get;
      if (protection) begin
        ev_node_o <= node_q[d_get];
        ev_info_o <= done_nla_i;
      end else if (ev_off || ev_bad) begin
        ev_node_o <= e_hdr.src;
        ev_info_o <= {32'd0, ev_bad ? ggas_pkg::OP_RMA_GET : e_hdr.dvpid};
      end
    end
  end

  assign busy_o = in_valid || want != '0 || a_q || b_q || c_q || cmd_valid_o || (over | e_hot_q) != '0
    || ev_protection_o
    || ev_context_off_o
                  || ev_bad_packet_o || cnt_gets_o;

`ifndef SYNTHESIS
  initial if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("rma_responder: DATA_W must be 64, 256 or 512");
  always_ff @(posedge clk_i) begin
    if (rst_ni && done_valid_i) assert (active_q[d_get]
      && !none_open_q[d_get]) else $error("rma_responder: done without a command");
  end
`endif
endmodule

`default_nettype wire
