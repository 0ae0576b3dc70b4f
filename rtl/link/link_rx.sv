// SPDX-License-Identifier: Apache-2.0
// Receiving half of the link: flits to packets. A packet is passed on only after its CRC, framing, length and sequence
// number were found right; then it stays in the buffer of its virtual channel until the unit accepts it. The last flit
// is checked in the cycle after it. On a wide link the result is used at once; on one of 64 bits, whose clock allows
// less logic, it is in a register for a cycle. One more cycle later the header is on rx_*.
`default_nettype none

module link_rx #(
    parameter int unsigned DATA_W   = 64,  // 64, 256 or 512
    parameter int unsigned VC_DEPTH = 256  // units a channel's buffer holds
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                up_i,            // packets are looked at
    input  wire logic                clear_i,         // DOWN: sequence number and credits start again
    input  wire logic [link_pkg::SESSION_TAG_W-1:0] session_i,  // packets of any other are dropped
    // flits
    input  wire logic                link_rx_valid_i,
    input  wire logic [1:0]          link_rx_kind_i,
    input  wire logic [DATA_W-1:0]   link_rx_data_i,
    // packets; one bit or slice a channel
    output      logic [ggas_pkg::CHANNELS-1:0]    rx_valid_o,
    input  wire logic [ggas_pkg::CHANNELS-1:0]    rx_ready_i,
    input  wire logic [ggas_pkg::LANES-1:0]       rx_keep_i,   // VC_P of a lane: keep_i of its buffer
    output      logic [ggas_pkg::CHANNELS-1:0]    rx_sop_o,
    output      logic [ggas_pkg::CHANNELS-1:0]    rx_eop_o,
    output      logic [ggas_pkg::CHANNELS*ggas_pkg::NET_HDR_W-1:0] rx_hdr_o,  // with way_i
    output      logic [ggas_pkg::CHANNELS*DATA_W-1:0] rx_data_o,
    output      ggas_pkg::net_hdr_t  arriving_o,      // of the packet that may be accepted next
    input  wire net_pkg::ways_t     way_i,           // where it goes from here
    output      logic                busy_o,          // clock the next edge
    output      logic                empty_o,         // every packet that was accepted has been taken
    // for the transmitter of this side
    output      logic                ctrl_valid_o,    // an intact CTRL flit, a cycle ago
    output      logic [31:0]         ctrl_o,          // its content
    output      logic                accept_o,        // a packet arrived in sequence
    output      logic                repeat_o,        // a packet arrived again: acknowledge once more
    output      logic                nak_o,           // first sign of a loss
    output      logic [7:0]          next_seq_o,      // sequence number expected next
    output      logic [ggas_pkg::CHANNELS*link_pkg::CREDIT_W-1:0] freed_o,  // units freed in this session
    output      logic                freed_new_o,     // they have just changed
    // an intact packet that no buffer can hold (length, or beyond its credits)
    output      logic                ev_bad_o,
    output      logic [15:0]         ev_bad_src_o,
    output      logic [7:0]          ev_bad_op_o,
    // counter pulses
    output      logic                cnt_packets_o,
    output      logic                cnt_crc_errors_o,
    output      logic                cnt_seq_errors_o
);
  localparam int unsigned HW = ggas_pkg::NET_HDR_W;
  localparam int unsigned NC = ggas_pkg::CHANNELS;
  localparam int unsigned HDR_FLITS = (DATA_W == 64) ? 3 : 1;
  localparam logic [31:0] CRC_RESIDUE = 32'hdebb20e3;  // of anything that ends with its CRC
  localparam int unsigned DW_SHIFT = $clog2(DATA_W / 32);
  localparam int unsigned DW_FLIT = DATA_W / 32;
  localparam logic [11:0] ROUND_UP = DW_FLIT[11:0] - 12'd1;
  localparam logic [11:0] MORE_UP = (DATA_W == 64) ? 12'd1 : 12'd7;  // see `more`
  localparam int unsigned CW = link_pkg::CREDIT_W;
  localparam int unsigned MARK_W = 32;  // never wraps while an NP packet waits
  localparam bit          LATE = DATA_W == 64;  // a packet is checked in one cycle, and counts in the next

  // Framing: JUNK is the rest of a packet whose beginning was lost.
  localparam logic [1:0] F_IDLE = 2'd0, F_OPEN = 2'd1, F_JUNK = 2'd2;
  logic [1:0]         framing_q;
  logic [1:0]         hcount_q;   // header flits received
  logic [10:0]        pcount_q;   // flits received as `more` counts them, stops at all ones
  logic               ended_q;    // the flit before was the last of an open packet: check it
  logic               begun_q;    // the flit before was a first one
  ggas_pkg::net_hdr_t hdr_q;
  logic [31:0]        crc_q, crc_next;
  logic [7:0]         expected_q;
  logic               naked_q;    // a nak was sent and nothing arrived in sequence since

  logic is_sop, is_data, is_eop, is_ctrl, single, ends;
  assign is_sop  = up_i && link_rx_valid_i && link_rx_kind_i == link_pkg::FLIT_SOP;
  assign is_data = up_i && link_rx_valid_i && link_rx_kind_i == link_pkg::FLIT_DATA;
  assign is_eop  = up_i && link_rx_valid_i && link_rx_kind_i == link_pkg::FLIT_EOP;
  assign ends    = single || (is_eop && framing_q == F_OPEN);
  assign is_ctrl = !clear_i && link_rx_valid_i && link_rx_kind_i == link_pkg::FLIT_CTRL;

  crc32 #(.DATA_W(DATA_W)) i_crc (
      .en_i(is_sop || is_data || is_eop), .crc_i(is_sop ? 32'hffffffff : crc_q), .data_i(link_rx_data_i),
      .crc_o(crc_next)
  );

  // ---------------------------------------------------------------- CTRL flits
  logic [31:0] ctrl_crc;
  logic        ctrl_bad_q;
  crc32 #(.DATA_W(32)) i_ctrl_crc (
      .en_i(is_ctrl), .crc_i(32'hffffffff), .data_i(link_rx_data_i[31:0]), .crc_o(ctrl_crc)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {ctrl_valid_o, ctrl_bad_q} <= '0;
    else begin
      ctrl_valid_o <= is_ctrl && ~ctrl_crc == link_rx_data_i[63:32];
      ctrl_bad_q   <= is_ctrl && ~ctrl_crc != link_rx_data_i[63:32];
    end
  end
  always_ff @(posedge clk_i) if (is_ctrl) ctrl_o <= link_rx_data_i[31:0];

  // ---------------------------------------------------------------- header and payload in the flits
  ggas_pkg::net_hdr_t head;     // as it is once this flit, the last one, is in
  // verilator lint_off UNUSEDSIGNAL
  ggas_pkg::net_hdr_t first;    // in the first flit of a wide link (Yosys finds no member of one in a generate block)
  // verilator lint_on UNUSEDSIGNAL
  logic [11:0]        beats, more;  // beats that len_dw asks for; flits: narrow, of payload; wide, after the first
  logic               check, payload;
  // to the buffers: forget what was not committed; a beat of payload, and the last one
  logic               begins, wr_last;
  logic [NC-1:0]      wr_valid;
  logic [DATA_W-1:0]  beat;
  assign check = ended_q && up_i;
  assign beats = ({1'b0, hdr_q.len_dw} + ROUND_UP) >> DW_SHIFT;
  if (DATA_W == 64) begin : g_narrow
    logic begin_late_q;  // what was not committed by then will not be
    assign first   = '0;
    assign single  = 1'b0;
    assign payload = is_data && framing_q == F_OPEN && hcount_q == HDR_FLITS[1:0];
    assign begins  = begin_late_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        wr_valid     <= '0;
        begin_late_q <= 1'b0;
      end else begin
        wr_valid     <= payload ? channel : '0;
        begin_late_q <= begun_q;
      end
    end
    always_ff @(posedge clk_i) begin
      wr_last <= {1'b0, pcount_q} + 1'b1 == more;
      beat    <= link_rx_data_i;
      more    <= beats;  // len_dw came some flits before it is asked for
    end
    always_comb begin
      head = hdr_q;
      head[223:192] = link_rx_data_i[31:0];
    end
    always_ff @(posedge clk_i) begin
      if (is_sop) hdr_q[63:0] <= link_rx_data_i[63:0];
      else if (is_data && hcount_q == 2'd1) hdr_q[127:64] <= link_rx_data_i[63:0];
      else if (is_data && hcount_q == 2'd2) hdr_q[191:128] <= link_rx_data_i[63:0];
      else if (is_eop) hdr_q[223:192] <= link_rx_data_i[31:0];
    end
  end else begin : g_wide
    // A beat has its lower part in one flit and its upper part in the next. If a packet ends with the lower part, this
    // is written when the packet is checked.
    logic [DATA_W-HW-1:0]  rest_q;
    logic [11:0]           first_more;
    logic                  left_over;
    assign first      = link_rx_data_i[HW-1:0];
    assign first_more = ({1'b0, first.len_dw} + MORE_UP) >> DW_SHIFT;
    assign single     = is_sop && first_more == '0;
    assign head       = is_sop ? first : hdr_q;
    assign left_over  = check && beats != more;
    assign payload    = left_over || ((is_data || is_eop) && framing_q == F_OPEN);
    assign begins     = begun_q;
    assign wr_valid   = payload ? channel : '0;
    assign wr_last    = left_over || {1'b0, pcount_q} + 1'b1 == beats;
    assign more       = ({1'b0, hdr_q.len_dw} + MORE_UP) >> DW_SHIFT;
    always_comb begin
      beat = {link_rx_data_i[HW-1:0], rest_q};
      if (left_over) beat[DATA_W-1:DATA_W-HW-32] = '0;  // only the CRC is after the payload
    end
    always_ff @(posedge clk_i) begin
      if (is_sop) hdr_q <= first;
      if (is_sop || is_data || is_eop) rest_q <= link_rx_data_i[DATA_W-1:HW];
    end
  end

  // ---------------------------------------------------------------- judgement on a packet
  typedef struct packed {
    logic          error;    // flits that make no packet
    logic          intact;   // a packet as it was sent, and
    logic          take;     // the one expected
    logic          duplicate;    // one that was taken
    logic          gap;      // a later one: something was lost
    logic          fits;     // a buffer can hold it
    logic [NC-1:0] channel;  // one-hot
    logic [11:0]   beats;    // of its payload
    logic [15:0]   src;
    logic [7:0]    op;
  } verdict_t;
  verdict_t      checked, verdict;  // as it is found, as it counts
  logic [7:0]    ahead;            // sequence number relative to the one expected
  logic          ours, take, nak;
  logic [NC-1:0] channel, over;
  assign ahead   = hdr_q.seq - expected_q;
  assign ours    = hdr_q.session == session_i;
  assign channel = (hdr_q.lane && ggas_pkg::LANES == 1) ? '0 : {{(NC - 1) {1'b0}}, 1'b1} << {hdr_q.lane, hdr_q.vc};
  always_comb begin
    checked         = '0;
    checked.intact  = check && hcount_q == HDR_FLITS[1:0] && {1'b0, pcount_q} == more && crc_q == CRC_RESIDUE;
    checked.error   = (check && !checked.intact) || (is_sop && framing_q == F_OPEN)
        || ((is_data || is_eop) && framing_q == F_IDLE);
    checked.take    = checked.intact && ours && ahead == 8'd0;
    checked.duplicate   = checked.intact && ours && ahead[7];
    checked.gap     = checked.intact && ours && ahead != 8'd0 && !ahead[7];
    checked.fits    = hdr_q.version == ggas_pkg::PACKET_VERSION && hdr_q.len_dw <= ggas_pkg::MTU_DW && channel != '0
        && (over & channel) == '0;
    checked.channel = channel;
    checked.beats   = beats;
    checked.src     = hdr_q.src;
    checked.op      = hdr_q.op;
  end
  if (LATE) begin : g_late
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) verdict <= '0;
      else if (clear_i) verdict <= '0;
      else verdict <= checked;
    end
  end else begin : g_at_once
    assign verdict = checked;
  end
  assign take = verdict.take;
  assign nak  = verdict.error || verdict.gap;

  assign accept_o   = take;
  assign repeat_o   = verdict.duplicate;
  assign nak_o      = nak && (!naked_q || take);
  assign next_seq_o = expected_q;
  assign ev_bad_o     = take && !verdict.fits;
  assign ev_bad_src_o = verdict.src;
  assign ev_bad_op_o  = verdict.op;
  assign cnt_packets_o    = take;
  assign cnt_crc_errors_o = verdict.error || ctrl_bad_q;
  assign cnt_seq_errors_o = verdict.intact && !take;
  assign busy_o = ended_q || ctrl_valid_o || ctrl_bad_q || (LATE && (verdict.intact || verdict.error)) || freed_new_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      framing_q  <= F_IDLE;
      hcount_q   <= '0;
      pcount_q   <= '0;
      expected_q <= '0;
      naked_q    <= 1'b0;
      ended_q    <= 1'b0;
      begun_q    <= 1'b0;
    end else if (clear_i) begin
      framing_q  <= F_IDLE;
      ended_q    <= 1'b0;
      expected_q <= '0;
      naked_q    <= 1'b0;
    end else begin
      ended_q <= ends;
      begun_q <= is_sop;
      if (is_sop) begin
        framing_q <= single ? F_IDLE : F_OPEN;
        hcount_q  <= 2'd1;
        pcount_q  <= '0;
      end else if (is_eop) framing_q <= F_IDLE;
      else if (is_data && framing_q == F_IDLE) framing_q <= F_JUNK;
      if (payload && !check && pcount_q != '1) pcount_q <= pcount_q + 1'b1;
      if (DATA_W == 64 && is_data && framing_q == F_OPEN && !payload) hcount_q <= hcount_q + 2'd1;
      if (take) expected_q <= expected_q + 8'd1;
      naked_q <= nak || (naked_q && !take);
    end
  end

  always_ff @(posedge clk_i) begin
    if (is_sop || ((is_data || is_eop) && framing_q == F_OPEN)) crc_q <= crc_next;
  end

  // ---------------------------------------------------------------- buffers, order, credits
  // An NP packet carries the number of P packets accepted before it in its lane, and waits until that many have left.
  // Packets from one node to another arrive in one lane.
  logic [NC-1:0]     commit, valid, ready, empty, freed, may_go;
  logic [NC*CW-1:0]  freed_units;
  ggas_pkg::net_hdr_t hdr_store;

  always_comb begin
    hdr_store = head;
    {hdr_store.version, hdr_store.seq, hdr_store.session} = {1'b0, way_i};
  end

  if (ggas_pkg::GROUPS == 0) begin : g_one_way
    logic unused_keep;
    assign unused_keep = ^rx_keep_i;
  end
  assign commit     = take && verdict.fits ? verdict.channel : '0;
  assign rx_valid_o = valid & may_go;
  assign ready      = rx_ready_i & may_go;
  assign empty_o    = &empty;
  assign arriving_o = head;

  logic [MARK_W-1:0] p_in [0:ggas_pkg::LANES-1];
  logic [MARK_W-1:0] np_mark [0:ggas_pkg::LANES-1];
  for (genvar l = 0; l < ggas_pkg::LANES; l = l + 1) begin : g_order
    localparam int unsigned NP = 4 * l + 1;
    logic [MARK_W-1:0] p_in_q, p_out_q;
    logic              np_may_go_q;  // the NP packet on offer
    assign p_in[l] = p_in_q + {{(MARK_W - 1) {1'b0}}, commit[4*l]};
    assign may_go[4*l+:4] = {2'b11, np_may_go_q, 1'b1};
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        p_in_q      <= '0;
        p_out_q     <= '0;
        np_may_go_q <= 1'b0;
      end else begin
        np_may_go_q <= valid[NP] && !(ready[NP] && rx_eop_o[NP]) && $signed(p_out_q - np_mark[l]) >= 0;
        p_in_q <= p_in[l];
        if (freed[4*l]) p_out_q <= p_out_q + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) freed_new_o <= 1'b0;
    else freed_new_o <= freed != '0 || ev_bad_o;
  end

  for (genvar v = 0; v < NC; v = v + 1) begin : g_vc
    localparam logic [2:0]  V  = v;
    localparam int unsigned MW = (v % 4 == 1) ? MARK_W : 1;
    localparam bit          MAY_STAY = ggas_pkg::GROUPS > 0 && v % 4 == 0;
    logic [MW-1:0]      mark_in, mark_out;
    ggas_pkg::net_hdr_t hdr_out;
    logic [CW-1:0]      freed_q, back_good, back_bad;

    net_vc_buffer #(.DATA_W(DATA_W), .DEPTH(VC_DEPTH), .MARK_W(MW), .REPEAT(MAY_STAY)) i_buffer (
        .clk_i, .rst_ni,
        .begin_i(begins), .wr_valid_i(wr_valid[v]), .wr_last_i(wr_last), .wr_data_i(beat),
        .head_i(ends && {hdr_store.lane, hdr_store.vc} == V), .head_hdr_i(hdr_store), .head_mark_i(mark_in),
        .commit_i(commit[v]), .over_o(over[v]),
        .valid_o(valid[v]), .ready_i(ready[v]), .keep_i(MAY_STAY && rx_keep_i[v/4]), .sop_o(rx_sop_o[v]),
        .eop_o(rx_eop_o[v]), .hdr_o(hdr_out), .data_o(rx_data_o[v*DATA_W+:DATA_W]), .mark_o(mark_out),
        .empty_o(empty[v]),
        .freed_o(freed[v]), .freed_units_o(freed_units[v*CW+:CW])
    );
    assign rx_hdr_o[v*HW+:HW] = hdr_out;
    if (v % 4 == 1) begin : g_mark
      assign mark_in = p_in[v/4];
      assign np_mark[v/4] = mark_out;
    end else begin : g_no_mark
      assign mark_in = 1'b0;
      logic unused_mark;
      assign unused_mark = mark_out[0];
    end

    // Units of a packet that was dropped as bad go back at once: its sender has paid for them.
    assign back_good = freed[v] ? freed_units[v*CW+:CW] : '0;
    assign back_bad  = (ev_bad_o && verdict.channel[v]) ? {1'b0, verdict.beats} + 1'b1 : '0;
    assign freed_o[v*CW+:CW] = freed_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) freed_q <= '0;
      else if (clear_i) freed_q <= '0;
      else if (freed[v] || ev_bad_o) freed_q <= freed_q + back_good + back_bad;
    end
  end

`ifndef SYNTHESIS
  initial if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("link_rx: DATA_W must be 64, 256 or 512");
`endif
endmodule

`default_nettype wire
