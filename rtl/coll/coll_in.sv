// SPDX-License-Identifier: Apache-2.0
// Inputs: writes to the page of a group's owner (command word, and data in any order) and packets of its parent and
// children. One at a time goes into the buffers, a beat of a packet or a word of a page a cycle; invalid input is
// dropped with its event. A contribution has its place in the buffers from the start, so nothing here waits for the
// engine for more than a cycle. The engine may use the rows of a packet while more of them arrive.
`default_nettype none

module coll_in #(
    parameter int unsigned DATA_W = 64,  // 64, 256 or 512
    localparam int unsigned ROW_W = $clog2(2048 / DATA_W)
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                stop_i,         // everything is refused

    // writes to pages: offset in BAR4 as if pages were 4 KB apart
    input  wire logic                page_valid_i,
    output      logic                page_ready_o,
    input  wire logic                page_eop_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::tlp_hdr_t  page_hdr_i,     // valid with the first beat
    input  wire logic [DATA_W-1:0]   page_data_i,
    // packets
    input  wire logic                rx_valid_i,
    output      logic                rx_ready_o,
    input  wire logic                rx_eop_i,
    input  wire ggas_pkg::net_hdr_t  rx_hdr_i,       // likewise
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [DATA_W-1:0]   rx_data_i,

    // coll_groups
    input  wire logic [7:0]          enable_i,
    output      logic [7:0]          page_vpid_o,
    output      logic [1:0]          page_block_o,
    input  wire logic                page_found_i,
    input  wire logic [2:0]          page_group_i,
    output      logic [2:0]          rx_group_o,
    output      logic [15:0]         rx_src_o,
    output      logic [15:0]         rx_domain_o,
    output      logic [7:0]          rx_epoch_o,
    input  wire logic                rx_known_i,
    input  wire logic [2:0]          rx_from_i,

    // engine: which contributions it has not done with, and which groups wait for their parent or for a fence
    input  wire logic [63:0]         have_i,         // eight a group, five of them in use, own first
    input  wire logic [7:0]          waits_i,
    input  wire logic [7:0]          fences_i,
    input  wire logic [7:0]          broken_i,
    // a contribution, or with `result` what the parent sent, is whole
    output      logic                arrive_o,
    output      logic                result_o,
    output      logic [2:0]          group_o,
    output      logic [2:0]          slot_o,
    output      coll_pkg::ask_t      ask_o,          // of a result: words, and status
    output      logic                fenced_o,       // the own one, and after the stores before it
    output      logic [7:0]          page_o,         // likewise: of its owner
    output      logic                breaks_o,       // pulse: the group is broken at its parent or at a child

    // the packet that is coming, group and slot as above
    output      logic                open_o,         // one with rows is, and is not dropped
    output      logic [ROW_W:0]      rows_o,         // of it, that are in the buffers
    output      coll_pkg::ask_t      open_ask_o,

    // buffers, own slots and those of children; lanes of 64 bits
    input  wire logic                room_i,         // no other one writes to the own slots in this cycle
    output      logic [DATA_W/64-1:0] we_own_o,
    output      logic                we_child_o,
    output      logic [ROW_W-1:0]    row_o,
    output      logic [DATA_W-1:0]   wdata_o,

    // events PAGE_ACCESS and BAD_PACKET (pulses)
    output      logic                ev_page_o,
    output      logic                ev_packet_o,
    output      logic [15:0]         ev_node_o,
    output      logic [39:0]         ev_info_o,
    output      logic [7:0]          active_o,       // groups that something comes for just now
    output      logic                busy_o
);
  localparam int unsigned LANES = DATA_W / 64;
  localparam int unsigned LANE_W = LANES > 1 ? $clog2(LANES) : 1;
  localparam int unsigned LOG = $clog2(LANES);
  localparam logic [6:0] WORDS = 7'd32;
  localparam logic [1:0] S_IDLE = 2'd0, S_WORDS = 2'd1, S_END = 2'd2;

  // ---------------------------------------------------------------- whose it is
  wire page_first = !rx_valid_i;  // packets go first
  wire [8:0] offset = page_hdr_i.addr[8:0];
  assign page_vpid_o  = page_hdr_i.addr[20:13];
  assign page_block_o = page_hdr_i.addr[10:9];
  assign rx_group_o   = rx_hdr_i.tag[2:0];
  assign rx_src_o     = rx_hdr_i.src;
  assign rx_domain_o  = rx_hdr_i.domain;
  assign rx_epoch_o   = rx_hdr_i.tag[15:8];

  wire page_whole = offset[2:0] == '0 && !page_hdr_i.len_dw[0] && page_hdr_i.first_be == '1 && page_hdr_i.last_be == '1;
  wire page_fits  = {1'b0, offset[8:3]} + page_hdr_i.len_dw[7:1] <= WORDS + 1'b1 && page_hdr_i.len_dw <= 11'd66;
  wire page_free  = !have_i[{page_group_i, 3'd0}] && !waits_i[page_group_i] && !fences_i[page_group_i];  // it has ended
  wire page_good  = !stop_i && page_found_i && page_whole && page_fits && page_free;

  // A packet brings as many words as it says, or none if it contributes nothing or brings bad news.
  coll_pkg::ask_t rx_ask;
  assign rx_ask = {rx_hdr_i.status, rx_hdr_i.addr[coll_pkg::ASK_W-5:0]};
  wire rx_bad   = rx_ask.status != ggas_pkg::ST_OK;
  wire rx_down  = rx_hdr_i.op == ggas_pkg::OP_COLL_DOWN;
  wire rx_empty = rx_hdr_i.len_dw == '0;
  wire rx_fits  = rx_hdr_i.len_dw == {4'd0, rx_ask.words, 1'b0} && {1'b0, rx_ask.words} <= WORDS;
  wire rx_breaks = rx_hdr_i.addr[coll_pkg::BROKEN];
  // A broken group waits for nothing more: a result that was under way is taken, and is no one's.
  wire rx_due   = waits_i[rx_group_o] || broken_i[rx_group_o];
  wire rx_way   = rx_down ? rx_from_i == 3'd0 : rx_from_i != 3'd0 && rx_from_i != 3'd7;
  wire rx_sane  = rx_way && (rx_breaks ? rx_bad && rx_empty
    : rx_down ? rx_due && (rx_bad ? rx_empty : rx_fits)
    : !have_i[{rx_group_o, rx_from_i}]
      && (rx_ask.contributes && !rx_bad ? rx_fits && !rx_empty : rx_empty));
  wire rx_good  = !stop_i && rx_known_i && rx_sane;

  // ---------------------------------------------------------------- beat by beat, or word by word
  logic [1:0]         state_q;
  logic               page_q, drop_q, down_q, breaks_q;
  logic [2:0]         group_q, slot_q;
  logic [6:0]         index_q, left_q;  // word of the block: 0 command, 1 ... 32 data; words that follow
  logic [LANE_W-1:0]  lane_q;
  logic [ROW_W:0]     row_q;            // of a packet
  coll_pkg::ask_t     ask_q;
  logic [15:0]        node_q;
  logic [39:0]        info_q;
  logic [7:0]         vpid_q;

  wire               valid = page_q ? page_valid_i : rx_valid_i;
  wire               eop   = page_q ? page_eop_i : rx_eop_i;
  logic [63:0]       word;
  always_comb begin
    word = page_data_i[63:0];
    for (int i = 0; i < LANES; i = i + 1) if (lane_q == i[LANE_W-1:0]) word = page_data_i[64*i+:64];
  end
  wire more    = state_q == S_WORDS && valid && !drop_q && left_q != '0;
  wire store   = more && page_q && index_q != '0;
  wire command = more && page_q && index_q == '0;
  wire result  = more && !page_q && down_q;
  wire step    = state_q == S_WORDS && valid && !((store || result) && !room_i);
  wire beat    = step && (!page_q || drop_q || left_q <= 7'd1 || lane_q == LANES[LANE_W-1:0] - 1'b1);
  wire quick   = state_q == S_IDLE && rx_valid_i && rx_empty && rx_eop_i;  // a packet without rows
  assign page_ready_o = beat && page_q;
  assign rx_ready_o   = (beat && !page_q) || quick;

  wire [4:0] at = index_q[4:0] - 1'b1;
  always_comb begin
    we_own_o = {LANES{result && room_i}};
    for (int i = 0; i < LANES; i = i + 1)
      if (store && room_i && (at & ((5'd1 << LOG) - 5'd1)) == i[4:0]) we_own_o[i] = 1'b1;
  end
  assign we_child_o = more && !page_q && !down_q;
  assign row_o      = page_q ? at[4:LOG] : row_q[ROW_W-1:0];
  assign wdata_o    = page_q ? {LANES{word}} : rx_data_i;
  assign open_o     = (state_q == S_WORDS || state_q == S_END) && !page_q && !drop_q && ask_q.contributes
    && ask_q.status == ggas_pkg::ST_OK;
  assign rows_o     = row_q;
  assign open_ask_o = ask_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= S_IDLE;
    else begin
      case (state_q)
        S_IDLE:  if (rx_valid_i || page_valid_i) state_q <= quick ? S_END : S_WORDS;
        S_WORDS: if (beat && eop) state_q <= S_END;
        default: state_q <= S_IDLE;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == S_IDLE) begin
      page_q  <= page_first;
      drop_q  <= page_first ? !page_good : !rx_good;
      down_q  <= rx_down;
      group_q <= page_first ? page_group_i : rx_group_o;
      slot_q  <= page_first ? 3'd0 : rx_from_i;  // of the parent, 0
      index_q <= {1'b0, offset[8:3]};
      left_q  <= page_first ? page_hdr_i.len_dw[7:1] : rx_hdr_i.len_dw[7:1];
      lane_q  <= '0;
      row_q   <= '0;
      breaks_q <= !page_first && rx_breaks;
      ask_q   <= rx_ask;
      vpid_q  <= page_vpid_o;
      node_q  <= page_first ? 16'd0 : rx_hdr_i.src;
      info_q  <= page_first ? page_hdr_i.addr[39:0] : {32'd0, rx_hdr_i.op};
    end else if (step) begin
      index_q <= index_q + 1'b1;
      if (more && !page_q) row_q <= row_q + 1'b1;
      if (page_q && left_q != '0) left_q <= left_q - 1'b1;
      if (!page_q) left_q <= left_q > LANES[6:0] ? left_q - LANES[6:0] : '0;
      lane_q  <= beat ? '0 : lane_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- the own contribution
  // Command and data come in any order.
  logic [7:0]   asked_q;         // its command word has come
  logic [7:0]   fenced_q;        // and asks for a fence
  logic [255:0] came_q;          // data words that have come: what lies in the places of others is a former owner's
  logic [coll_pkg::ASK_W-1:0] own_q [0:7];
  coll_pkg::ask_t own, said;
  assign own = own_q[group_q];
  wire [31:0] others = ~(32'hffff_ffff >> (6'd32 - own.words));  // places that it does not use
  wire broken = own.status != ggas_pkg::ST_OK;
  wire whole = asked_q[group_q] && (broken || !own.contributes || (came_q[{group_q, 5'd0}+:32] | others) == '1);
  wire ends  = state_q == S_END && !drop_q;
  wire too_many   = word[5:0] > 6'd32 || (word[16] && word[5:0] == '0);
  wire unknown    = word[10:8] > coll_pkg::XOR || word[14:12] > coll_pkg::FLOAT64;
  wire meaningless = word[10:8] >= coll_pkg::AND && word[14:12] >= coll_pkg::FLOAT32;  // bits of a float
  wire breaks_rule = (word[16] && (unknown || meaningless)) || too_many;
  assign said = {breaks_rule ? ggas_pkg::ST_BAD : ggas_pkg::ST_OK, word[17], word[16], word[14:12], word[10:8],
                 word[5:0]};  // in the order of ask_t

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) asked_q <= '0;
    else begin
      asked_q <= asked_q & enable_i;
      if (command) asked_q[group_q] <= enable_i[group_q];
      if (ends && page_q && whole) asked_q[group_q] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (store && room_i) came_q[{group_q, at}] <= 1'b1;
    if (ends && page_q && whole) came_q[{group_q, 5'd0}+:32] <= '0;
    for (int g = 0; g < 8; g = g + 1) if (!enable_i[g]) came_q[32*g+:32] <= '0;
    if (command) own_q[group_q] <= said;
    if (command) fenced_q[group_q] <= word[18] && !breaks_rule;  // one that fails promises nothing
  end

  assign arrive_o = ends && enable_i[group_q] && !breaks_q && !(page_q && !whole);
  assign breaks_o = ends && enable_i[group_q] && breaks_q;
  assign result_o = !page_q && down_q;
  assign group_o  = group_q;
  assign slot_o   = slot_q;
  assign ask_o    = page_q ? own : ask_q;
  assign fenced_o = page_q && fenced_q[group_q];
  assign page_o   = vpid_q;
  assign ev_page_o   = state_q == S_END && drop_q && page_q;
  assign ev_packet_o = state_q == S_END && drop_q && !page_q;
  assign ev_node_o   = node_q;
  assign ev_info_o   = info_q;
  assign busy_o      = state_q != S_IDLE || rx_valid_i || page_valid_i;
  always_comb begin
    active_o = '0;
    if (state_q != S_IDLE) active_o[group_q] = 1'b1;
  end
endmodule

`default_nettype wire
