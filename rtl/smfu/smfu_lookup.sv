// SPDX-License-Identifier: Apache-2.0
// Window offset to node and segment offset: 64 intervals, or bits of the offset (mask mode). An access hits when the
// whole of it lies in one place; the lowest interval wins. Answers found before stand in 64 lines of RAM, chosen by
// the bits of the offset that tell intervals of the usual size apart, each with the range of pages for which it
// holds: the answer comes two cycles after the request, one request a cycle. Only what stands in no line is searched
// for (at most 140 cycles), meanwhile ready_o is low; so is what meets an access to the INTERVAL registers, where the
// answer's target comes from. Behind a change of the intervals the lines are filled anew without a request, so that
// the first access to an interval finds one.
`default_nettype none

module smfu_lookup (
    input  wire logic               clk_i,
    input  wire logic               rst_ni,

    input  wire logic               cfg_mode_i,    // SMFU_MODE_*
    input  wire logic [63:0]        cfg_mask_i,    // mask mode: bits that hold the node
    input  wire logic [5:0]         cfg_shift_i,   // mask mode: right shift of those bits
    input  wire logic [15:0]        cfg_nodes_i,   // mask mode: nodes; from there on unmapped
    input  wire logic [7:0]         cfg_export_i,  // mask mode: export
    input  wire logic [15:0]        cfg_domain_i,  // mask mode: domain

    // INTERVAL registers
    input  wire logic               ext_req_i,
    input  wire logic               ext_write_i,
    input  wire logic [10:3]        ext_addr_i,    // offset in INTERVAL
    input  wire logic [63:0]        ext_wdata_i,
    input  wire logic [7:0]         ext_wstrb_i,
    output      logic [63:0]        ext_rdata_o,

    // request
    input  wire logic               req_valid_i,   // only while ready_o
    output      logic               ready_o,
    input  wire logic               req_np_i,      // comes back with the answer
    input  wire logic [63:0]        req_addr_i,    // window offset
    input  wire logic [10:0]        req_len_dw_i,

    // answer, in the order of the requests
    output      logic               ans_valid_o,
    output      logic               ans_np_o,
    output      logic               ans_hit_o,
    output      smfu_pkg::target_t  ans_target_o,
    output      logic [6:0]         ans_interval_o,  // that holds it; from NO_INTERVAL on none
    output      logic [63:0]        ans_addr_o,    // segment offset

    // BAD_INTERVAL, held until taken
    output      logic               event_valid_o,
    input  wire logic               event_ready_i,
    output      ggas_pkg::event_t   event_o,
    output      logic               busy_o
);
  localparam int unsigned LINES = 64;

  // ---------------------------------------------------------------- requests
  typedef struct packed {
    logic        np;
    logic        masked;     // mask mode
    logic        mask_hit;
    logic        wraps;      // runs over the end of the window
    logic [15:0] mask_node;
    logic [63:0] addr;
    logic [51:0] last;       // page of the last byte
  } request_t;

  wire [63:0] last_addr   = req_addr_i + {51'd0, req_len_dw_i, 2'b00} - 64'd1;
  wire [63:0] first_field = (req_addr_i & cfg_mask_i) >> cfg_shift_i;
  // An access lies on one node if no bit of the node changes on its way from the first byte to the last: none at or
  // below the
  // highest bit in which the two differ. Accesses do not cross 4 KB.
  wire [63:0] differs = req_addr_i ^ last_addr;
  logic [11:0] changes;
  always_comb for (int i = 0; i < 12; i++) changes[i] = (differs[11:0] >> i) != '0;
  wire        one_node = ({differs[63:12], changes} & cfg_mask_i) == '0;
  request_t   req;
  always_comb begin
    req = '0;
    if (req_valid_i) begin
      req.np        = req_np_i;
      req.masked    = cfg_mode_i == ggas_regs_pkg::SMFU_MODE_MASK;
      req.mask_hit  = one_node && first_field < {48'd0, cfg_nodes_i};
      req.wraps     = last_addr < req_addr_i;
      req.mask_node = first_field[15:0];
      req.addr      = req_addr_i;
      req.last      = last_addr[63:12];
    end
  end

  // ---------------------------------------------------------------- lines: answers found before
  typedef struct packed {
    logic        found;
    logic [5:0]  index;
    logic [51:0] start;
    logic [51:0] low, high;  // for accesses from page low to the one before page high
  } line_t;

  request_t         one_q;                // whose line is read
  logic             missed_np_q;          // which is searched for
  logic [63:0]      missed_addr_q;
  logic [51:0]      missed_last_q;
  logic             one_valid_q, miss_q, again_q;
  logic [6:0]       ahead_q;              // interval whose line is filled next without a request; LINES: none
  logic             peeked_q, searching_ahead_q;  // its start stands at the RAM; is searched for
  logic [51:0]      ahead_page_q;
  logic [5:0]       shift_q;              // log2 of the pages of the interval put into use last
  logic [LINES-1:0] valid_q;
  logic             line_valid_q, done, keep, changed, armed, peek_ready, peek_valid, intervals_busy;
  logic [51:0]      peek_page;
  logic [5:0]       armed_log2;
  line_t            line, found;

  function automatic logic [5:0] line_of(input logic [51:0] page, input logic [5:0] shift);
    // verilator lint_off UNUSEDSIGNAL
    logic [51:0] moved;
    // verilator lint_on UNUSEDSIGNAL
    moved   = page >> shift;
    line_of = moved[5:0];
  endfunction

  wire [51:0] find_first = searching_ahead_q ? ahead_page_q : missed_addr_q[63:12];
  wire [51:0] find_last  = searching_ahead_q ? ahead_page_q : missed_last_q;
  wire        fill       = done && keep;
  wire [5:0]  fill_at    = line_of(find_first, shift_q);
  wire [5:0]  read_at    = line_of(again_q ? one_q.addr[63:12] : req_addr_i[63:12], shift_q);
  wire        read       = again_q || req_valid_i;
  ram_1r1w #(.WIDTH($bits(line)), .DEPTH(LINES)) u_lines (
      .clk_i, .we_i(fill), .waddr_i(fill_at), .wdata_i(found), .re_i(read), .raddr_i(read_at), .rdata_o(line));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q      <= '0;
      line_valid_q <= 1'b0;
    end else begin
      if (changed) valid_q <= '0;
      else if (fill) valid_q[fill_at] <= 1'b1;
      if (read) line_valid_q <= valid_q[read_at] && !changed && !(fill && fill_at == read_at);
    end
  end

  // ---------------------------------------------------------------- an answer from a line, or a search
  wire test   = one_valid_q && !miss_q && !again_q;
  wire hit    = line_valid_q && !ext_req_i && one_q.addr[63:12] >= line.low && one_q.last < line.high;
  wire direct = one_q.masked || one_q.wraps || hit;
  wire answer = done && !searching_ahead_q;  // the search's
  assign ready_o = !miss_q && !again_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      one_valid_q <= 1'b0;
      miss_q      <= 1'b0;
      again_q     <= 1'b0;
    end else begin
      if (ready_o) one_valid_q <= req_valid_i;
      if (test && !direct) miss_q <= 1'b1;
      else if (answer) miss_q <= 1'b0;
      again_q <= answer && one_valid_q;  // the request behind it may now find its line
    end
  end
  always_ff @(posedge clk_i) begin
    if (req_valid_i) one_q <= req;
    if (test) begin
      missed_np_q   <= one_q.np;
      missed_addr_q <= one_q.addr;
      missed_last_q <= one_q.last;
    end
  end

  // The target of an interval comes with the answer, out of its RAM.
  logic              masked_q;
  logic [15:0]       mask_node_q;
  smfu_pkg::target_t target;
  wire        leads = answer || (test && hit);
  wire [5:0]  to    = miss_q ? found.index : line.index;
  assign ans_target_o = masked_q ? {cfg_domain_i, cfg_export_i, mask_node_q} : target;
  always_ff @(posedge clk_i) begin
    if (answer || test) begin
      masked_q    <= !miss_q && one_q.masked;
      mask_node_q <= one_q.mask_node;
    end
  end

  wire [63:0] from = miss_q ? missed_addr_q : one_q.addr;
  wire [51:0] base = miss_q ? found.start : line.start;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ans_valid_o <= 1'b0;
      ans_np_o    <= 1'b0;
      ans_hit_o   <= 1'b0;
      ans_interval_o <= '0;
      ans_addr_o  <= '0;
    end else begin
      ans_valid_o <= answer || (test && direct);
      if (answer || test) begin
        ans_np_o   <= miss_q ? missed_np_q : one_q.np;
        ans_hit_o  <= miss_q ? found.found : one_q.masked ? one_q.mask_hit : hit && line.found;
        ans_interval_o <= miss_q ? {!found.found, found.index} : {one_q.masked || !hit || !line.found, line.index};
        ans_addr_o <= !miss_q && one_q.masked ? one_q.addr & ~cfg_mask_i : {from[63:12] - base, from[11:0]};
      end
    end
  end

  // ---------------------------------------------------------------- search
  wire ahead = !ahead_q[6] && !miss_q && !searching_ahead_q && !peeked_q;
  wire peek  = ahead && peek_valid && peek_ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ahead_q           <= LINES[6:0];
      peeked_q          <= 1'b0;
      searching_ahead_q <= 1'b0;
      shift_q           <= '0;
    end else if (changed) begin
      ahead_q           <= '0;
      peeked_q          <= 1'b0;
      searching_ahead_q <= 1'b0;
      if (armed) shift_q <= armed_log2;
    end else begin
      if ((ahead && !peek_valid) || (done && searching_ahead_q)) ahead_q <= ahead_q + 1'b1;
      peeked_q <= peek;
      if (searching_ahead_q) searching_ahead_q <= !done;
      else searching_ahead_q <= peeked_q && !miss_q;
    end
  end
  always_ff @(posedge clk_i) if (peeked_q) ahead_page_q <= peek_page;

  smfu_intervals u_intervals (
      .clk_i, .rst_ni, .ext_req_i, .ext_write_i, .ext_addr_i, .ext_wdata_i, .ext_wstrb_i, .ext_rdata_o,
      .changed_o(changed), .armed_o(armed), .armed_log2_o(armed_log2), .peek_i(peek), .peek_index_i(ahead_q[5:0]),
      .peek_ready_o(peek_ready), .peek_valid_o(peek_valid), .peek_page_o(peek_page), .find_i(miss_q ||
      searching_ahead_q), .first_i(find_first), .last_i(find_last), .done_o(done), .found_o(found.found),
      .index_o(found.index), .start_o(found.start), .keep_o(keep), .low_o(found.low),
      .high_o(found.high), .target_i(leads), .target_index_i(to), .target_o(target),
      .event_valid_o, .event_ready_i, .event_o, .busy_o(intervals_busy));

  assign busy_o = one_valid_q || miss_q || !ahead_q[6] || ans_valid_o || intervals_busy;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && req_valid_i) assert (ready_o) else $error(
    "smfu_lookup: request while searching");
`endif
endmodule

`default_nettype wire
