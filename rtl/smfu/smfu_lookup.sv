// SPDX-License-Identifier: Apache-2.0
// Window offset to node and segment offset: the intervals, or bits of the offset (mask mode). An access hits when all
// of it lies in one interval; the lowest interval wins.
//
// * Earlier answers are cached in RAM, as many lines as there are intervals. Those bits of the offset that distinguish
//   intervals of the usual size select a line. Each has its range of pages: the answer comes two cycles after the
//   request, one request a cycle.
// * Accesses that hit no line are searched for (at most 140 cycles); meanwhile ready_o is low. So are accesses that
//   coincide with an access to the INTERVAL registers, which contain the answer's target.
// * After a change of the intervals the lines are filled again without a request, so that the first access to an
//   interval hits one.
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
  localparam int unsigned LINES = smfu_pkg::INTERVALS;
  localparam int unsigned LW    = smfu_pkg::INTERVAL_W;

  // ---------------------------------------------------------------- requests
  typedef struct packed {
    logic        np;
    logic        masked;     // mask mode
    logic        wraps;      // runs over the end of the window
    logic [63:0] field;      // mask mode: the node
    logic [63:0] addr;
    logic [63:0] last;       // last byte
  } request_t;

  wire [63:0] last_addr = req_addr_i + {51'd0, req_len_dw_i, 2'b00} - 64'd1;
  request_t   req, one_q;    // one_q: whose line is read
  always_comb begin
    req = '0;
    if (req_valid_i) begin
      req.np     = req_np_i;
      req.masked = cfg_mode_i == ggas_regs_pkg::SMFU_MODE_MASK;
      req.wraps  = last_addr < req_addr_i;
      req.field  = (req_addr_i & cfg_mask_i) >> cfg_shift_i;
      req.addr   = req_addr_i;
      req.last   = last_addr;
    end
  end

  // An access lies on one node if the node's bits are equal in the addresses of its first and last byte: all of them
  // lie above the highest bit in which the two addresses differ. Accesses do not cross 4 KB.
  wire [63:0] differs = one_q.addr ^ one_q.last;
  logic [11:0] changes;
  always_comb for (int i = 0; i < 12; i++) changes[i] = (differs[11:0] >> i) != '0;
  wire        one_node = ({differs[63:12], changes} & cfg_mask_i) == '0;

  // ---------------------------------------------------------------- lines: answers found before
  typedef struct packed {
    logic        found;
    logic [LW-1:0] index;
    logic [51:0] start;
    logic [51:0] low, high;  // for accesses from page low to the one before page high
  } line_t;

  logic             one_valid_q, retry_q;
  logic             two_valid_q, miss_q;  // after its line; it is searched for
  logic [63:0]      two_addr_q;
  logic [51:0]      two_last_q;
  logic [LW:0]      ahead_q;              // interval whose line is filled next without a request; LINES: none
  logic             peeked_q, searching_ahead_q;  // its start stands at the RAM; is searched for
  logic [51:0]      ahead_page_q;
  logic [51:0]      size_q;               // pages of the interval put into use last: their highest bit
  logic [LINES-1:0] valid_q;
  logic             filled_q, done, keep, changed, armed, peek_ready, peek_valid, intervals_busy;
  logic [LW-1:0]    read_at_q, fill_at_q;
  logic [51:0]      peek_page;
  logic [51:0]      armed_size;
  line_t            line, found;

  // Bits of the page from that of `size` on.
  function automatic logic [LW-1:0] line_of(input logic [51:0] page, input logic [51:0] size);
    for (int i = 0; i < LW; i++) line_of[i] = ((page >> i) & size) != '0;
  endfunction

  // What is searched for stands for three cycles at least before it is found.
  wire [51:0] find_first = searching_ahead_q ? ahead_page_q : two_addr_q[63:12];
  wire [51:0] find_last  = searching_ahead_q ? ahead_page_q : two_last_q;
  wire        fill       = done && keep;
  wire [LW-1:0] req_at   = line_of(req_addr_i[63:12], size_q);
  wire [LW-1:0] read_at  = retry_q ? read_at_q : req_at;
  ram_1r1w #(.WIDTH($bits(line)), .DEPTH(LINES)) u_lines (
      .clk_i, .we_i(fill), .waddr_i(fill_at_q), .wdata_i(found), .re_i(retry_q || req_valid_i), .raddr_i(read_at),
      .rdata_o(line));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= '0;
      filled_q <= 1'b0;
    end else begin
      if (changed) valid_q <= '0;
      else if (fill) valid_q[fill_at_q] <= 1'b1;
      filled_q <= fill;
    end
  end
  always_ff @(posedge clk_i) begin
    if (req_valid_i) read_at_q <= req_at;
    if (miss_q || searching_ahead_q) fill_at_q <= line_of(find_first, size_q);
  end
  wire line_valid = valid_q[read_at_q] && !(filled_q && fill_at_q == read_at_q);

  // ---------------------------------------------------------------- an answer from a line, or a search
  // The line's comparisons are used a cycle later. An access that needs a search waits in that stage, and later
  // accesses wait in theirs.
  logic direct_q, in_line_q, from_low_q, below_high_q;
  wire  hit    = in_line_q && from_low_q && below_high_q;
  wire  misses  = two_valid_q && !direct_q && !hit;
  wire  answer = done && !searching_ahead_q;  // the search's
  assign ready_o = !misses && !retry_q;
  wire  test   = one_valid_q && ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      one_valid_q <= 1'b0;
      two_valid_q <= 1'b0;
      miss_q      <= 1'b0;
      retry_q     <= 1'b0;
    end else begin
      if (ready_o) one_valid_q <= req_valid_i;
      if (!misses) two_valid_q <= test;
      miss_q  <= misses && !answer;
      retry_q <= answer && one_valid_q;  // the request after it may now find its line
    end
  end

  // The target of an interval comes with the answer, out of its RAM.
  logic              masked_q, mask_hit_q, found_q;
  logic [LW-1:0]     index_q;
  logic [15:0]       mask_node_q;
  smfu_pkg::target_t target;
  wire [63:0] from = miss_q ? two_addr_q : one_q.addr;
  wire [51:0] base = miss_q ? found.start : line.start;
  always_ff @(posedge clk_i) begin
    if (req_valid_i) one_q <= req;
    if (test) begin
      ans_np_o     <= one_q.np;
      two_addr_q   <= one_q.addr;
      two_last_q   <= one_q.last[63:12];
      masked_q     <= one_q.masked;
      mask_node_q  <= one_q.field[15:0];
      mask_hit_q   <= one_q.masked && one_node && one_q.field < {48'd0, cfg_nodes_i};
      in_line_q    <= line_valid && !one_q.masked && !one_q.wraps && !ext_req_i;
      from_low_q   <= one_q.addr[63:12] >= line.low;
      below_high_q <= one_q.last[63:12] < line.high;
      direct_q     <= one_q.masked || one_q.wraps;
    end else if (answer) begin
      direct_q     <= 1'b1;
      in_line_q    <= 1'b1;
    end
    if (test || answer) begin
      found_q    <= miss_q ? found.found : line.found;
      index_q    <= miss_q ? found.index : line.index;
      ans_addr_o <= !miss_q && one_q.masked ? one_q.addr & ~cfg_mask_i : {from[63:12] - base, from[11:0]};
    end
  end
  wire in_interval = in_line_q && found_q && (direct_q || hit);
  assign ans_valid_o       = two_valid_q && !misses;
  assign ans_hit_o         = mask_hit_q || in_interval;
  assign ans_interval_o = {!in_interval, 6'(index_q)};
  assign ans_target_o      = masked_q ? {1'b0, cfg_domain_i, cfg_export_i, mask_node_q} : target;

  // ---------------------------------------------------------------- search
  wire ahead = !ahead_q[LW] && !miss_q && !searching_ahead_q && !peeked_q;
  wire peek  = ahead && peek_valid && peek_ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ahead_q           <= LINES[LW:0];
      peeked_q          <= 1'b0;
      searching_ahead_q <= 1'b0;
      size_q            <= 52'd1;
    end else if (changed) begin
      ahead_q           <= '0;
      peeked_q          <= 1'b0;
      searching_ahead_q <= 1'b0;
      if (armed) size_q <= armed_size;
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
      .changed_o(changed), .armed_o(armed), .armed_size_o(armed_size), .peek_i(peek), .peek_index_i(ahead_q[LW-1:0]),
      .peek_ready_o(peek_ready), .peek_valid_o(peek_valid), .peek_page_o(peek_page), .find_i(miss_q ||
      searching_ahead_q), .first_i(find_first), .last_i(find_last), .done_o(done), .found_o(found.found),
      .index_o(found.index), .start_o(found.start), .keep_o(keep), .low_o(found.low),
      .high_o(found.high), .target_i(test || answer), .target_index_i(miss_q ? found.index : line.index),
      .target_o(target),
      .event_valid_o, .event_ready_i, .event_o, .busy_o(intervals_busy));

  assign busy_o = one_valid_q || two_valid_q || !ahead_q[LW] || intervals_busy;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && req_valid_i) assert (ready_o) else $error(
    "smfu_lookup: request while searching");
`endif
endmodule

`default_nettype wire
