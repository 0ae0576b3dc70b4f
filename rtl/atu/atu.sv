// SPDX-License-Identifier: Apache-2.0
// Address translation: network logical addresses of five clients to bus addresses, by a TLB and table walks in host
// memory. Clients take turns, one request of a client at a time. A miss leaves the pipeline, so other requests
// continue, and walks of several clients run at once. A hit is answered two cycles after it was accepted. Docs:
// docs/rma.md.
`default_nettype none

module atu #(
    parameter int unsigned DATA_W = 64,  // 64, 256 or 512
    parameter int unsigned SETS   = 64,  // of the TLB
    parameter int unsigned WAYS   = 2,
    parameter logic [4:0]  CLIENTS = 5'b11111  // those that exist
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,
    input  wire logic [15:0]         cfg_timeout_i,    // RMA_TIMEOUT.host
    input  wire logic [159:0]        cfg_table_i,      // ATU_TABLE0 ... 3: first piece, entries
    input  wire logic [63:3]         cfg_ack_i,        // ATU_ACK
    input  wire logic                stop_i,           // no writes

    // ATU_PIECE registers: answer in the next cycle
    input  wire logic                ext_req_i,
    input  wire logic                ext_write_i,
    input  wire logic [7:0]          ext_index_i,
    input  wire logic [63:0]         ext_wdata_i,
    input  wire logic [7:0]          ext_wstrb_i,
    output      logic [63:0]         ext_rdata_o,

    // ATU_INVALIDATE, ATU_STATUS
    input  wire logic                inv_start_i,
    input  wire logic                inv_all_i,
    input  wire logic                inv_range_i,
    input  wire logic [63:12]        inv_page_i,
    input  wire logic [63:12]        inv_last_i,
    output      logic [31:0]         inv_done_o,
    output      logic                inv_busy_o,

    // clients, bit or slice i: 0 fetch (puts), 1 fetch (gets), 2 target, 3 answer, 4 atomic
    input  wire logic [4:0]          tr_valid_i,
    output      logic [4:0]          tr_ready_o,
    input  wire logic [319:0]        tr_nla_i,
    input  wire logic [79:0]         tr_pd_i,
    input  wire logic [4:0]          tr_write_i,       // the right that is needed; client 4 needs both to write
    output      logic [4:0]          tr_rsp_valid_o,   // pulse; the rest is for the client that it is for
    output      logic [63:0]         tr_rsp_addr_o,
    output      logic [4:0]          tr_rsp_shift_o,   // log2 of the page size
    output      logic [3:0]          tr_rsp_status_o,  // ST_OK, ST_PROTECTION
    input  wire logic [4:0]          tr_done_i,        // pulse: the use of a good answer has ended; 0 ... 3 in order

    // host reads: tags TAG_ATU ... + 7
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire ggas_pkg::tlp_beat_t cpl_i,
    output      logic                cpl_ready_o,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    // host writes: acknowledgements, one beat each
    output      ggas_pkg::tlp_beat_t wr_o,
    input  wire logic                wr_ready_i,
    output      logic [DATA_W-1:0]   wr_data_o,

    output      logic                ev_walk_o,        // pulse: ATU_WALK
    output      logic [39:0]         ev_info_o,
    output      logic                ev_unexpected_o,  // pulse: UNEXPECTED_CPL
    output      logic [9:0]          ev_tag_o,
    output      logic                cnt_hits_o,
    output      logic                cnt_misses_o,
    output      logic                busy_o,
    output      logic                timer_o
);
  localparam logic [4:0] NEEDS_BOTH = 5'b10000;  // an atomic reads what it writes

  // TLB key of an address: class and page index.
  function logic [35:0] key_of(input logic [47:12] nla);
    case (nla[47:46])
      2'd0:    key_of = {nla[47:46], nla[45:12]};
      2'd1:    key_of = {nla[47:46], 4'd0, nla[45:16]};
      2'd2:    key_of = {nla[47:46], 9'd0, nla[45:21]};
      default: key_of = {nla[47:46], 18'd0, nla[45:30]};
    endcase
  endfunction

  // The set of an address, as in atu_tlb.
  localparam int unsigned SB = $clog2(SETS);
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [SB-1:0] set_of(input logic [47:12] nla);
    logic [35:0] key;
    key    = key_of(nla);
    set_of = key[SB-1:0] ^ {nla[47:46], {(SB-2){1'b0}}};
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // ---------------------------------------------------------------- stage 0: a drop, else a walk's result, else a
  // client
  logic         drop, drop_all, drop_range, walk_valid, walk_failed, walk_present, walk_write;
  // verilator lint_off UNUSEDSIGNAL
  logic [63:12] drop_page, drop_last;
  // verilator lint_on UNUSEDSIGNAL
  logic [SB-1:0] drop_set;
  logic [69:0]  walk_entry;
  logic [2:0]   walk_client;
  logic [47:0]  walk_nla;
  logic [SB-1:0] walk_set;
  logic [15:0]  walk_pd;
  logic [4:0]   hold, grant;
  logic         s_valid_q, s_walk_q, s_drop_q;
  wire          go_drop   = drop && !(s_valid_q && s_walk_q);  // what a walk fills in must be seen
  wire          go_walk   = walk_valid && !drop;
  wire [4:0]    asks      = tr_valid_i & CLIENTS & ~hold;
  wire          inner     = drop || walk_valid;
  wire          go_client = asks != '0 && !inner;
  // verilator lint_off PINCONNECTEMPTY
  arbiter_rr #(.N(5)) u_turn (.clk_i, .rst_ni, .clear_i(1'b0), .req_i(asks), .take_i(go_client), .eop_i(1'b1),
    .grant_o(grant), .locked_o());
  // verilator lint_on PINCONNECTEMPTY
  assign tr_ready_o = go_client ? grant : '0;

  logic [63:0] nla;
  logic [15:0] pd;
  logic [2:0]  client;
  logic        write;
  logic [SB-1:0] set;   // found for each address before one is chosen
  // verilator lint_off UNUSEDSIGNAL
  wire [35:0]  key = key_of(nla[47:12]);
  // verilator lint_on UNUSEDSIGNAL
  always_comb begin
    nla    = '0;
    set    = !inner ? '0 : !drop ? walk_set : drop_range ? drop_set : set_of(drop_page[47:12]);
    pd     = '0;
    client = '0;
    write  = 1'b0;
    for (int c = 0; c < 5; c++) begin  // one at most is granted
      if (grant[c]) begin
        nla    = nla | tr_nla_i[64*c+:64];
        set    = set | (inner ? '0 : set_of(tr_nla_i[64*c+12+:36]));
        pd     = pd | tr_pd_i[16*c+:16];
        client = client | c[2:0];
        write  = write | tr_write_i[c];
      end
    end
    if (walk_valid) begin
      nla    = {16'd0, walk_nla};
      pd     = walk_pd;
      client = walk_client;
      write  = walk_write;
    end
    if (drop) nla = {drop_page, 12'd0};
  end

  // ---------------------------------------------------------------- stage 1: check
  logic [63:0] s_nla_q;
  logic [SB-1:0] s_set_q;
  logic [15:0] s_pd_q;
  logic [2:0]  s_client_q;
  logic        s_write_q, s_failed_q, s_present_q;
  logic [69:0] s_entry_q;
  logic [WAYS-1:0]    hits;
  logic [70*WAYS-1:0] entries;
  wire         go = go_drop || go_walk || go_client;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s_valid_q <= 1'b0;
      s_walk_q  <= 1'b0;
      s_drop_q  <= 1'b0;
    end else begin
      s_valid_q <= go;
      if (go) begin
        s_walk_q <= go_walk;
        s_drop_q <= go_drop;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (go) begin
      s_nla_q     <= nla;
      s_set_q     <= set;
      s_pd_q      <= pd;
      s_client_q  <= client;
      s_write_q   <= write;
      s_failed_q  <= walk_failed;
      s_present_q <= walk_present;
      s_entry_q   <= walk_entry;
    end
  end

  wire         s_walk  = s_valid_q && s_walk_q;
  wire         s_drop  = s_valid_q && s_drop_q;
  wire         s_ask   = s_valid_q && !s_walk_q && !s_drop_q;
  wire         hit     = hits != '0;
  wire         strange = s_nla_q[63:48] != '0;   // no such address
  wire         miss    = s_ask && !strange && !hit;
  wire         answer  = s_walk || (s_ask && !miss);
  wire         present = s_walk ? s_present_q : hit && !strange;
  wire [4:0]   who     = 5'd1 << s_client_q;
  wire         both    = (NEEDS_BOTH & who) != '0;
  // Checked for each way, before it is known which one it is: protection domain, write, read.
  function automatic logic allows(input logic [17:0] rights);
    allows = rights[17:2] == s_pd_q && (s_write_q ? rights[1] && (rights[0] || !both) : rights[0]);
  endfunction
  logic [51:0] page;
  logic        allowed;
  always_comb begin
    page    = s_walk ? s_entry_q[51:0] : entries[70*(WAYS-1)+:52];
    allowed = allows(s_walk ? s_entry_q[69:52] : entries[70*(WAYS-1)+52+:18]);
    for (int w = WAYS - 2; w >= 0; w--) begin
      if (hits[w] && !s_walk) begin
        page    = entries[70*w+:52];
        allowed = allows(entries[70*w+52+:18]);
      end
    end
  end
  wire         good    = present && allowed;
  logic [4:0]  walking_q, stale;
  logic        start_q, good_q, walked_q;        // of the cycle before: a miss; the answer is good; it came of a walk
  logic [2:0]  start_client_q;

  atu_tlb #(.SETS(SETS), .WAYS(WAYS), .ENTRY_W(70)) u_tlb (
      .clk_i, .rst_ni, .re_i(go), .tag_i(key[35:SB]), .set_i(set),
      .hits_o(hits), .entries_o(entries),
      .drop_i(s_drop && !drop_all && !drop_range), .drop_range_i(s_drop && drop_range),
      .low_i(key_of(drop_page[47:12])), .high_i(key_of(drop_last[47:12])),
      .fill_i(s_walk && s_present_q && (stale & who) == '0), .entry_i(s_entry_q), .clear_i(s_drop && drop_all));

  // ---------------------------------------------------------------- answers
  logic [63:0] page_mask;
  logic [4:0]  shift;
  always_comb begin
    case (s_nla_q[47:46])
      2'd0:    shift = 5'd12;
      2'd1:    shift = 5'd16;
      2'd2:    shift = 5'd21;
      default: shift = 5'd30;
    endcase
    page_mask = 64'hffff_ffff_ffff_ffff << shift;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tr_rsp_valid_o <= '0;
      walking_q      <= '0;
      start_q        <= 1'b0;
      ev_walk_o      <= 1'b0;
      cnt_hits_o     <= 1'b0;
    end else begin
      tr_rsp_valid_o <= answer ? who : '0;
      if (miss) walking_q <= walking_q | who;
      else if (s_walk) walking_q <= walking_q & ~who;
      ev_walk_o    <= s_walk && s_failed_q;
      cnt_hits_o   <= s_ask && !strange && hit;
      start_q      <= miss;
    end
  end
  always_ff @(posedge clk_i) begin
    start_client_q <= s_client_q;
    if (s_valid_q) begin
      good_q          <= good;
      walked_q        <= s_walk;
      tr_rsp_addr_o   <= ({page, 12'd0} & page_mask) | (s_nla_q & ~page_mask);
      tr_rsp_shift_o  <= shift;
      tr_rsp_status_o <= good ? ggas_pkg::ST_OK : ggas_pkg::ST_PROTECTION;
      ev_info_o       <= s_nla_q[39:0];
    end
  end

  assign cnt_misses_o = start_q;

  // ---------------------------------------------------------------- walks, invalidation
  logic walk_busy, inv_busy;
  atu_walk #(.DATA_W(DATA_W), .TAG_BASE(rma_pkg::TAG_ATU), .SET_W(SB)) u_walk (
      .clk_i, .rst_ni, .time_i, .cfg_timeout_i, .cfg_table_i, .ext_req_i, .ext_write_i, .ext_index_i, .ext_wdata_i,
      .ext_wstrb_i, .ext_rdata_o, .start_i(start_q), .start_client_i(start_client_q), .ask_i(s_ask),
      .ask_client_i(s_client_q), .ask_nla_i(s_nla_q[47:0]), .ask_set_i(s_set_q), .ask_pd_i(s_pd_q),
      .ask_write_i(s_write_q), .res_valid_o(walk_valid), .res_ready_i(go_walk), .res_failed_o(walk_failed),
      .res_present_o(walk_present), .res_entry_o(walk_entry), .res_client_o(walk_client), .res_nla_o(walk_nla),
      .res_set_o(walk_set), .res_pd_o(walk_pd), .res_write_o(walk_write), .rd_valid_o, .rd_ready_i, .rd_hdr_o, .cpl_i,
      .cpl_ready_o, .cpl_data_i, .ev_unexpected_o, .ev_tag_o, .busy_o(walk_busy), .timer_o);

  atu_invalidate #(.SETS(SETS)) u_invalidate (
      .clk_i, .rst_ni, .inv_start_i, .inv_all_i, .inv_range_i, .inv_page_i, .inv_last_i, .inv_done_o, .inv_busy_o,
      .drop_o(drop),
      .drop_all_o(drop_all), .drop_range_o(drop_range), .drop_page_o(drop_page), .drop_last_o(drop_last),
      .drop_set_o(drop_set),
      .taken_i(go_drop), .dropped_i(s_drop), .walking_i(walking_q), .walked_i(walked_q ? tr_rsp_valid_o : 5'd0),
      .given_i(good_q ? tr_rsp_valid_o : 5'd0), .done_i(tr_done_i), .stale_o(stale), .hold_o(hold), .busy_o(inv_busy));

  // ---------------------------------------------------------------- acknowledgement in host memory
  // The acknowledgement follows the writes that used the old translations, because these were accepted before. One
  // count may acknowledge several invalidations.
  logic [31:0] reported_q;
  logic [63:3] ack_q;
  always_ff @(posedge clk_i) if (acknowledge) ack_q <= cfg_ack_i;
  logic        ack_valid_q, ack_sent;
  wire         acknowledge = !ack_valid_q && reported_q != inv_done_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ack_valid_q <= 1'b0;
      reported_q  <= '0;
    end else begin
      if (acknowledge) reported_q <= inv_done_o;
      if (acknowledge) ack_valid_q <= cfg_ack_i != '0 && !stop_i;
      else if (ack_sent) ack_valid_q <= 1'b0;
    end
  end
  // verilator lint_off PINCONNECTEMPTY
  record_writer #(.DATA_W(DATA_W), .BYTES(8)) u_ack (
      .clk_i, .rst_ni, .valid_i(ack_valid_q), .addr_i({ack_q, 3'd0}), .data_i({32'd0, reported_q}), .beat_o(),
      .sent_o(ack_sent), .wr_o, .wr_ready_i, .wr_data_o);
  // verilator lint_on PINCONNECTEMPTY

  // Events and hits come with an answer.
  assign busy_o = acknowledge || ack_valid_q || s_valid_q || tr_rsp_valid_o != '0 || start_q || walk_busy || inv_busy;

`ifndef SYNTHESIS
  initial if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("atu: DATA_W must be 64, 256 or 512");
  always_ff @(posedge clk_i) begin
    if (rst_ni) assert ((tr_ready_o & walking_q) == '0) else $error("atu: a client asks again before its answer");
  end
`endif
endmodule

`default_nettype wire
