// SPDX-License-Identifier: Apache-2.0
// The INTERVAL registers in RAM, and the search through them: one interval a cycle; the lowest that contains the whole
// access wins. The answer includes the range of pages around the access in which every access has the same answer, so
// that it need not be searched again.
`default_nettype none

module smfu_intervals (
    input  wire logic               clk_i,
    input  wire logic               rst_ni,

    // INTERVAL registers
    input  wire logic               ext_req_i,
    input  wire logic               ext_write_i,
    input  wire logic [10:3]        ext_addr_i,    // offset in INTERVAL
    input  wire logic [63:0]        ext_wdata_i,
    input  wire logic [7:0]         ext_wstrb_i,   // halves as a whole
    output      logic [63:0]        ext_rdata_o,
    output      logic               changed_o,     // what was found before no longer holds
    output      logic               armed_o,       // pulse: the interval written is in use
    output      logic [51:0]        armed_size_o,  // its pages: their highest bit

    // where an interval begins; only while nothing is searched for
    input  wire logic               peek_i,
    input  wire smfu_pkg::interval_t peek_index_i,
    output      logic               peek_ready_o,
    output      logic               peek_valid_o,  // it is in use
    output      logic [51:0]        peek_page_o,   // in the next cycle

    // search: pages of the first and the last byte, held until done
    input  wire logic               find_i,
    input  wire logic [51:0]        first_i,
    input  wire logic [51:0]        last_i,
    output      logic               done_o,        // pulse: the answer
    output      logic               found_o,
    output      smfu_pkg::interval_t index_o,
    output      logic [51:0]        start_o,       // first page of the interval
    output      logic               keep_o,        // the range holds the access
    output      logic [51:0]        low_o,         // the range: from here on
    output      logic [51:0]        high_o,        // to the page before this one

    // where an interval leads to: in the next cycle; not while its registers are accessed
    input  wire logic               target_i,
    input  wire smfu_pkg::interval_t target_index_i,
    output      smfu_pkg::target_t  target_o,

    // BAD_INTERVAL, held until taken
    output      logic               event_valid_o,
    input  wire logic               event_ready_i,
    output      ggas_pkg::event_t   event_o,
    output      logic               busy_o
);
  localparam int unsigned N  = smfu_pkg::INTERVALS;
  localparam int unsigned IW = smfu_pkg::INTERVAL_W;

  // ---------------------------------------------------------------- registers: in RAM, valid bits next to them
  wire  [IW-1:0] index = ext_addr_i[5+:IW];
  wire         exists = {1'b0, ext_addr_i[10:5]} < N[6:0];  // others read 0 and ignore writes
  wire  [1:0]  which  = ext_addr_i[4:3];
  wire         write  = ext_req_i && ext_write_i && exists;
  logic [N-1:0] known_q, valid_q;  // written since reset; in use
  logic [IW-1:0] index_q;
  logic [1:0]  which_q;
  logic        known_then_q, arm_q, on_q, group_q;
  logic [IW-1:0] index2_q;
  logic        arm2_q, on2_q, order_q, pages_ok_q, disarmed_q;  // after the borders' comparison
  logic [51:0] pages_q;

  // The highest bit alone: it is where nothing above it is set.
  function automatic logic [51:0] highest_bit(input logic [51:0] pages);
    logic [51:0] from;  // a bit is set here or above
    from = pages;
    for (int unsigned i = 1; i < 52; i *= 2) from |= from >> i;
    highest_bit = from & ~(from >> 1);
  endfunction

  // The first write of an interval since reset clears what it does not write.
  wire         fresh = write && !known_q[index];
  logic        read;
  logic [IW-1:0] read_index;
  logic [63:0] start_raw, end_raw;
  for (genvar i = 0; i < 2; i = i + 1) begin : g_half
    wire start_we = write && which == 2'd0 && ext_wstrb_i[4*i];
    wire end_we   = write && which == 2'd1 && ext_wstrb_i[4*i];
    ram_1r1w #(.WIDTH(32), .DEPTH(N)) u_start (
        .clk_i, .we_i(start_we || fresh), .waddr_i(index), .wdata_i(start_we ? ext_wdata_i[32*i+:32] : '0),
        .re_i(read), .raddr_i(read_index), .rdata_o(start_raw[32*i+:32]));
    ram_1r1w #(.WIDTH(32), .DEPTH(N)) u_end (
        .clk_i, .we_i(end_we || fresh), .waddr_i(index), .wdata_i(end_we ? ext_wdata_i[32*i+:32] : '0), .re_i(read),
        .raddr_i(read_index), .rdata_o(end_raw[32*i+:32]));
  end
  // The valid bit lies in the low half of TARGET.
  wire arm       = write && which == 2'd2 && ext_wstrb_i[0];
  wire domain_we = write && which == 2'd2 && ext_wstrb_i[4];
  wire target_re = ext_req_i || target_i;
  wire [IW-1:0] target_at = ext_req_i ? index : target_index_i;
  ram_1r1w #(.WIDTH(24), .DEPTH(N)) u_node (
      .clk_i, .we_i(arm || fresh), .waddr_i(index), .wdata_i(arm ? {ext_wdata_i[31:24], ext_wdata_i[15:0]} : '0),
      .re_i(target_re), .raddr_i(target_at), .rdata_o({target_o.export_no, target_o.node}));
  ram_1r1w #(.WIDTH(16), .DEPTH(N)) u_domain (
      .clk_i, .we_i(domain_we || fresh), .waddr_i(index), .wdata_i(domain_we ? ext_wdata_i[47:32] : '0),
      .re_i(target_re), .raddr_i(target_at), .rdata_o(target_o.domain));

  if (ggas_pkg::GROUPS > 0) begin : g_group
    ram_1r1w #(.WIDTH(1), .DEPTH(N)) u_group (
        .clk_i, .we_i(arm || fresh), .waddr_i(index), .wdata_i(arm && ext_wdata_i[17]), .re_i(target_re),
        .raddr_i(target_at), .rdata_o(target_o.group));
  end else begin : g_no_group
    assign target_o.group = 1'b0;
  end

  // A changed border or domain disarms: the interval may be half written.
  wire disarm = write && (!which[1] || (domain_we && !arm));
  wire good   = order_q && pages_ok_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      known_q <= '0;
      valid_q <= '0;
      arm_q   <= 1'b0;
      arm2_q  <= 1'b0;
      armed_o <= 1'b0;
    end else begin
      arm_q   <= arm;
      arm2_q  <= arm_q;
      armed_o <= arm2_q && on2_q && good;
      if (write) known_q[index] <= 1'b1;
      if (arm2_q && !disarmed_q) valid_q[index2_q] <= on2_q && good;
      if (disarm) valid_q[index] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (ext_req_i) begin
      index_q      <= index;
      which_q      <= which;
      known_then_q <= exists && known_q[index];
      on_q         <= ext_wdata_i[16];
      group_q      <= ext_wdata_i[17];
    end
    if (arm_q) begin
      index2_q   <= index_q;
      on2_q      <= on_q;
      order_q    <= known_then_q && start_raw < end_raw && !(group_q && ggas_pkg::GROUPS == 0);
      pages_ok_q <= start_raw[11:0] == '0 && end_raw[11:0] == '0;
      pages_q    <= end_raw[63:12] - start_raw[63:12];
      disarmed_q <= disarm && index == index_q;
    end
    if (arm2_q) armed_size_o <= highest_bit(pages_q);
  end
  // A read right after the write sees what becomes of it.
  wire valid_now = arm2_q && !disarmed_q && index2_q == index_q ? on2_q && good : valid_q[index_q];

  always_comb begin
    ext_rdata_o = '0;
    if (known_then_q) begin
      case (which_q)
        2'd0:    ext_rdata_o = start_raw;
        2'd1:    ext_rdata_o = end_raw;
        2'd2:    ext_rdata_o = {16'd0, target_o.domain, target_o.export_no, 6'd0, target_o.group, valid_now,
         target_o.node};
        default: ext_rdata_o = '0;
      endcase
    end
  end

  assign changed_o    = write || arm_q || arm2_q || armed_o;
  assign peek_page_o  = start_raw[63:12];
  assign peek_valid_o = valid_q[peek_index_i];
  assign peek_ready_o = !ext_req_i;

  // ---------------------------------------------------------------- search: address, word, registered word, its
  // comparisons, decision
  logic [IW:0] next_q;               // interval to be read next; N: all were
  logic        word_q, test_q, decide_q;  // an interval stands at the RAM, in the registers after it, is compared
  logic [IW-1:0] word_index_q, test_index_q;
  logic        valid_test_q;
  logic [51:0] start_q, end_q;
  logic [IW-1:0] decide_index_q;
  logic        holds_q, under_q, over_q, meets_q;  // the access: is in it, above it, below it, else meets it
  logic [51:0] decide_start_q, decide_end_q;
  wire         issue = find_i && !next_q[IW] && !ext_req_i;
  wire         last  = find_i && next_q[IW] && !word_q && !test_q && !decide_q;
  assign read        = ext_req_i || issue || peek_i;
  assign read_index  = ext_req_i ? index : issue ? next_q[IW-1:0] : peek_index_i;

  wire under = end_q <= first_i;
  wire over  = start_q > last_i;
  wire holds = first_i >= start_q && last_i < end_q;
  wire [51:0] lowest  = holds_q ? decide_start_q : decide_end_q;  // what the range may reach to
  wire [51:0] highest = holds_q ? decide_end_q : decide_start_q;
  assign done_o = !changed_o && !ext_req_i && last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_q   <= '0;
      word_q   <= 1'b0;
      test_q   <= 1'b0;
      decide_q <= 1'b0;
    end else if (!find_i || changed_o || done_o) begin
      next_q   <= '0;
      word_q   <= 1'b0;
      test_q   <= 1'b0;
      decide_q <= 1'b0;
    end else begin
      word_q   <= issue;
      test_q   <= word_q;
      decide_q <= test_q;
      if (decide_q && holds_q) begin
        next_q   <= N[IW:0];
        word_q   <= 1'b0;
        test_q   <= 1'b0;
        decide_q <= 1'b0;
      end else if (issue) begin
        next_q <= next_q + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (issue) word_index_q <= next_q[IW-1:0];
    if (word_q) begin
      valid_test_q <= valid_q[word_index_q];
      start_q      <= start_raw[63:12];
      end_q        <= end_raw[63:12];
      test_index_q <= word_index_q;
    end
    if (test_q) begin
      holds_q        <= valid_test_q && holds;
      under_q        <= valid_test_q && under;
      over_q         <= valid_test_q && !under && over;
      meets_q        <= valid_test_q && !holds && !under && !over;
      decide_index_q <= test_index_q;
      decide_start_q <= start_q;
      decide_end_q   <= end_q;
    end
    if (next_q == '0) begin
      found_o <= 1'b0;
      keep_o  <= 1'b1;
      low_o   <= '0;
      high_o  <= '1;  // the last page of all is after every interval
      start_o <= '0;
      index_o <= '0;
    end else if (decide_q) begin
      if (holds_q) begin
        found_o <= 1'b1;
        index_o <= decide_index_q;
        start_o <= decide_start_q;
      end
      if (meets_q) keep_o <= 1'b0;
      if (holds_q || under_q) low_o <= low_o < lowest ? lowest : low_o;
      if (holds_q || over_q) high_o <= high_o > highest ? highest : high_o;
    end
  end

  // ---------------------------------------------------------------- event
  // Register accesses are made one at a time and far apart. If a second bad write arrives before the event was accepted
  // it waits in bad_waits_q.
  logic       bad_waits_q;
  logic [IW-1:0] bad_index_q;
  wire        bad = arm2_q && on2_q && !good;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      event_valid_o <= 1'b0;
      event_o       <= '0;
      bad_waits_q   <= 1'b0;
      bad_index_q   <= '0;
    end else begin
      if (event_valid_o && event_ready_i) event_valid_o <= 1'b0;
      if ((bad || bad_waits_q) && (!event_valid_o || event_ready_i)) begin
        event_valid_o <= 1'b1;
        event_o.code  <= ggas_regs_pkg::EV_BAD_INTERVAL;
        event_o.node  <= '0;
        event_o.info  <= {{(40 - IW){1'b0}}, bad_waits_q ? bad_index_q : index2_q};
        bad_waits_q   <= bad && bad_waits_q;
        bad_index_q   <= index2_q;
      end else if (bad) begin
        bad_waits_q <= 1'b1;
        bad_index_q <= index2_q;
      end
    end
  end

  assign busy_o = arm_q || arm2_q || armed_o || event_valid_o || bad_waits_q;

  logic unused;
  assign unused = ^{ext_wstrb_i[7:5], ext_wstrb_i[3:1]};

`ifndef SYNTHESIS
  initial if (N != 16 && N != 64) $error("smfu_intervals: 16 or 64 intervals, not another number");
`endif
endmodule

`default_nettype wire
