// SPDX-License-Identifier: Apache-2.0
// Processes one contribution or one result of one group at a time. Contributions are combined in a fixed order, first
// the node's own and then child by child, each as soon as it is its turn, while its packet still arrives. With the last
// one the sum goes to the parent, row by row. At the root the sum, and otherwise the result from the parent, goes to
// the children, the last one first, and into the memory of the host, followed by the flag. If a packet of a group may
// be lost the group is broken until it is switched off: its neighbours in the tree are informed, which breaks it there,
// too, and every operation of its owner ends with ST_LINK_DOWN (docs/coll.md).
`default_nettype none

module coll_engine #(
    parameter int unsigned DATA_W = 64,  // 64, 256 or 512
    localparam int unsigned ROW_W = $clog2(2048 / DATA_W)
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                stop_i,        // nothing is written to the host
    input  wire logic                cfg_mps128_i,  // writes have 128 bytes at most
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic                route_i,       // packets leave; else net drops them

    // coll_groups
    input  wire logic [7:0]          enable_i,
    input  wire logic [7:0]          alone_i,
    output      logic [2:0]          job_group_o,
    output      logic [2:0]          job_child_o,
    // verilator lint_off UNUSEDSIGNAL
    input  wire coll_pkg::group_t    job_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [15:0]         job_node_i,
    input  wire logic [63:10]        job_result_i,
    input  wire logic [2:0]          look_group_i,
    output      logic [63:0]         look_state_o,
    input  wire logic [7:0]          in_active_i,   // groups that something comes for
    output      logic [7:0]          stopped_o,     // groups that are off, and nothing is under way for

    // a contribution, or with `result` what the parent sent, is whole
    input  wire logic                arrive_i,
    input  wire logic                result_i,
    input  wire logic [2:0]          group_i,
    input  wire logic [2:0]          slot_i,
    input  wire coll_pkg::ask_t      ask_i,
    output      logic [63:0]         have_o,
    output      logic [7:0]          waits_o,
    output      logic [7:0]          broken_o,
    input  wire logic [7:0]          fences_i,      // groups that wait for a fence

    // coll_in: the packet that is coming
    input  wire logic                open_i,
    input  wire logic                open_result_i,
    input  wire logic [2:0]          open_group_i,
    input  wire logic [2:0]          open_slot_i,
    input  wire logic [ROW_W:0]      open_rows_i,
    input  wire coll_pkg::ask_t      open_ask_i,
    input  wire logic                breaks_i,      // it says that its sender's group is broken

    // buffers: an own row and one of a child are read while contributions are combined
    output      logic                re_o,
    output      logic [ROW_W+2:0]    own_o,
    output      logic [ROW_W+4:0]    child_o,
    output      logic [2:0]          op_o,
    output      logic [2:0]          kind_o,
    output      logic                we_o,          // of what coll_alu says
    output      logic [ROW_W+2:0]    waddr_o,
    output      logic                alu_o,         // coll_alu works, or will in the next cycle

    // coll_out
    output      logic                go_o,
    output      logic                write_o,
    output      logic [5:0]          words_o,
    output      logic [2:0]          group_o,
    output      logic [ROW_W-1:0]    from_o,
    output      logic [ROW_W:0]      readable_o,
    output      logic                given_o,
    output      logic [63:0]         word_o,
    input  wire logic                done_i,
    output      ggas_pkg::net_hdr_t  tx_hdr_o,
    output      ggas_pkg::tlp_hdr_t  wr_hdr_o,

    output      logic                writes_o,
    output      logic                busy_o
);
  localparam int unsigned N = coll_pkg::GROUPS;
  localparam int unsigned PIPE = coll_pkg::ALU_CYCLES + 1;  // cycles from the read to the result: one in RAM, coll_alu
  localparam int unsigned AW = coll_pkg::ASK_W;
  localparam int unsigned LOG = $clog2(DATA_W / 64);

  localparam logic [2:0] S_PICK = 3'd0, S_LOOK = 3'd1, S_COMBINE = 3'd2, S_UP = 3'd3, S_DOWN = 3'd4, S_DATA = 3'd5,
                         S_FLAG = 3'd6;
  logic [2:0] state_q;

  // ---------------------------------------------------------------- state of the groups
  logic [N-1:0]  reported_q;           // the parent's result is here
  logic [2:0]    next_q [0:N-1];   // whose turn it is: 0 own, 1 ... 4
  logic [N-1:0]  any_q;            // someone has contributed: the sum is in the own slot
  logic [N-1:0]  bad_q;            // the operation fails,
  logic [3:0]    why_q [0:N-1];    // because of that: what the first one had in the order of sums
  logic [AW-1:0] sum_ask_q [0:N-1];
  logic [31:0]   count_q [0:N-1];  // operations that have ended
  logic [3:0]    status_q [0:N-1]; // of the last one
  logic [AW-1:0] asks_q [0:8*N-1]; // of each contribution
  logic [N-1:0]  wants_q;
  logic [N-1:0]  inform_q;           // it is broken, and its neighbours in the tree have to be informed

  // ---------------------------------------------------------------- whose turn
  // An input takes part if it is complete, or if it is arriving and has rows. Without a route contributions wait,
  // because their sum would be lost. A result is passed on even then: children that wait for it have broken the group
  // themselves.
  logic [N-1:0] work, ends;  // ends: of a broken group, an operation of its own
  logic [2:0]   pick, last_q;
  always_comb begin
    for (int g = 0; g < N; g = g + 1) begin
      work[g] = waits_o[g] ? reported_q[g] : have_o[{g[2:0], next_q[g]}];
      if (open_i && open_group_i == g[2:0] && (waits_o[g] ? open_result_i : open_slot_i == next_q[g] && !open_result_i))
        work[g] = 1'b1;
      ends[g] = have_o[8*g] || waits_o[g];
      if (broken_o[g]) work[g] = ends[g] || (inform_q[g] && route_i);
      else if (!waits_o[g] && !route_i && !alone_i[g]) work[g] = 1'b0;
      if (!enable_i[g]) work[g] = 1'b0;
    end
    pick = last_q;
    // the last of these: last_q + 1
    for (int i = 0; i < N; i = i + 1) if (work[last_q - i[2:0]]) pick = last_q - i[2:0];
  end

  logic [2:0]     group_q, slot_q;  // slot: that is combined
  logic [2:0]     child_q;          // packets: to whom
  logic [5:0]     sent_q;           // words written to the host
  logic           fails_q;          // of a broken group
  // verilator lint_off UNUSEDSIGNAL
  coll_pkg::ask_t ask, sum_ask;
  // verilator lint_on UNUSEDSIGNAL
  wire waits = waits_o[group_q];
  wire [2:0] next = next_q[group_q];
  wire open_here = open_i && open_group_i == group_q;
  wire whole = waits ? reported_q[group_q] : have_o[{group_q, next}];
  assign ask     = whole ? asks_q[{group_q, next}] : open_ask_i;
  assign sum_ask = sum_ask_q[group_q];
  wire alike = ask.words == sum_ask.words && ask.op == sum_ask.op && ask.kind == sum_ask.kind;
  wire ask_bad = ask.status != ggas_pkg::ST_OK;
  wire takes_part = ask.contributes && !ask_bad;
  // One that is not combined is whole before the operation goes on.
  wire combines = takes_part && !bad_q[group_q] && (any_q[group_q] ? alike : next != '0);
  wire fails = broken_o[group_q];
  wire informs = state_q == S_LOOK && fails && inform_q[group_q] && route_i;
  wire took  = state_q == S_LOOK && !fails && waits;
  wire looks = state_q == S_LOOK && !fails && !waits && (whole || combines || !open_here);
  wire first = looks && takes_part && !any_q[group_q];
  wire wrong = looks && (ask_bad || (takes_part && any_q[group_q] && !alike));
  wire combine = looks && combines;
  wire all_in = next == job_i.children;
  assign job_group_o = group_q;
  assign job_child_o = state_q == S_UP ? 3'd0 : child_q;

  // ---------------------------------------------------------------- combine
  logic [PIPE-1:0] way_q;  // results under way
  logic            on_q;   // there are some to be made
  logic            copy_q; // the first one to contribute is a child
  logic [ROW_W:0]  at_q;   // rows read
  logic [ROW_W:0]  to_q;   // results written
  wire [ROW_W:0]   rows = sum_ask.words[5:LOG] + {{ROW_W{1'b0}}, (sum_ask.words & ((6'd1 << LOG) - 6'd1)) != '0};
  wire             coming    = open_here && !open_result_i && open_slot_i == slot_q;
  wire [1:0]       child     = slot_q[1:0] - 2'd1;
  assign re_o      = on_q && at_q != rows && (!coming || at_q < open_rows_i);
  assign own_o     = {group_q, at_q[ROW_W-1:0]};
  assign child_o   = {group_q, child, at_q[ROW_W-1:0]};
  assign op_o      = copy_q ? coll_pkg::COPY : sum_ask.op;
  assign kind_o    = sum_ask.kind;
  assign we_o      = way_q[PIPE-1];
  assign waddr_o   = {group_q, to_q[ROW_W-1:0]};
  assign alu_o     = re_o || way_q != '0;
  wire   combined  = on_q && to_q == rows;

  // ---------------------------------------------------------------- what leaves
  logic writes_q;  // a write is under way: it ends whatever stop_i says
  wire has_data = any_q[group_q] && !bad_q[group_q] && !fails_q;
  wire data_wanted = has_data && wants_q[group_q] && !stop_i;
  wire result_comes = open_here && open_result_i && !fails_q;
  logic      half_q;  // MPS, as a write began
  wire [5:0] chunk = half_q ? 6'd16 : 6'd32;
  wire [5:0] rest  = sum_ask.words - sent_q;
  wire [5:0] part  = rest > chunk ? chunk : rest;
  wire [31:0] count = count_q[group_q] + 1'b1;
  wire [3:0] status = fails_q ? ggas_pkg::ST_LINK_DOWN : bad_q[group_q] ? why_q[group_q] : ggas_pkg::ST_OK;
  wire [ROW_W-1:0] from = state_q == S_DATA ? sent_q[LOG+:ROW_W] : '0;
  assign go_o    = state_q == S_UP || (state_q == S_DOWN && child_q != '0) || state_q == S_DATA
    || (state_q == S_FLAG && !result_comes && (!stop_i || writes_q));
  assign write_o = state_q == S_DATA || state_q == S_FLAG;
  assign words_o = state_q == S_DATA ? part : has_data ? sum_ask.words : 6'd0;
  assign group_o = group_q;
  assign from_o  = from;
  // The number of rows that have arrived of a sum that is being made, or of an incoming result.
  assign readable_o = on_q ? to_q : !result_comes ? '1 : open_rows_i > {1'b0, from} ? open_rows_i - {1'b0, from} : '0;
  assign given_o = state_q == S_FLAG;
  assign word_o  = {28'd0, status, count};

  always_comb begin
    tx_hdr_o         = '0;
    tx_hdr_o.dst     = job_node_i;
    tx_hdr_o.op      = state_q == S_UP ? ggas_pkg::OP_COLL_UP : ggas_pkg::OP_COLL_DOWN;
    tx_hdr_o.vc      = ggas_pkg::VC_RMA;
    tx_hdr_o.len_dw  = {4'd0, words_o, 1'b0};
    tx_hdr_o.src     = cfg_node_i;
    tx_hdr_o.status  = status;
    tx_hdr_o.tag     = {job_i.epoch, 5'd0, group_q};
    tx_hdr_o.domain  = job_i.domain;
    // ask_t without its status, which is in the header; without data sum_ask is of another operation
    tx_hdr_o.addr[AW-5:0] = has_data ? {2'b01, sum_ask.kind, sum_ask.op, sum_ask.words} : '0;
    tx_hdr_o.addr[coll_pkg::BROKEN] = fails_q;
    wr_hdr_o         = '0;
    wr_hdr_o.kind    = ggas_pkg::TLP_MWR;
    wr_hdr_o.bar     = 3'd7;
    // Results take turns in two blocks of 256 bytes; the flag stands after both.
    wr_hdr_o.addr    = {job_result_i, state_q == S_FLAG ? 10'h200 : {1'b0, !count[0], sent_q[4:0], 3'd0}};
    wr_hdr_o.len_dw  = state_q == S_FLAG ? 11'd2 : {4'd0, part, 1'b0};
    wr_hdr_o.first_be = 4'hf;
    wr_hdr_o.last_be  = 4'hf;
  end
  wire ended = state_q == S_FLAG && !result_comes && (done_i || (stop_i && !writes_q));
  // What was combined has left for the first time: the children's rows are in it.
  wire used  = done_i && !fails_q
    && (state_q == S_UP || (state_q == S_DOWN && job_i.root && child_q == job_i.children));

  // ---------------------------------------------------------------- steps
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= S_PICK;
      last_q   <= '0;
      writes_q <= 1'b0;
      way_q    <= '0;
      on_q     <= 1'b0;
    end else begin
      writes_q <= go_o && write_o && !done_i;
      way_q    <= {way_q[PIPE-2:0], re_o};
      on_q     <= combine || (on_q && !combined);
      case (state_q)
        S_PICK: begin
          if (work != '0) begin
            state_q <= S_LOOK;
            last_q  <= pick;
          end
        end
        S_LOOK:
          if (took) state_q <= S_DOWN;
          else if (informs || (looks && all_in)) state_q <= job_i.root ? S_DOWN : S_UP;
          else if (fails) state_q <= ends[group_q] ? S_FLAG : S_PICK;
          else if (looks) state_q <= combine ? S_COMBINE : S_PICK;
        S_COMBINE: if (combined) state_q <= S_PICK;
        S_UP:      if (done_i) state_q <= fails_q ? S_DOWN : S_PICK;
        S_DOWN:    if (child_q == '0 || (child_q == 3'd1 && done_i))
          state_q <= data_wanted ? S_DATA : fails_q && !ends[group_q] ? S_PICK : S_FLAG;
        S_DATA:    if (done_i && rest == part) state_q <= S_FLAG;
        default:   if (ended) state_q <= S_PICK;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == S_PICK) group_q <= pick;
    if (state_q != S_DATA || done_i) half_q <= cfg_mps128_i;
    if (state_q == S_LOOK) begin
      child_q <= job_i.children;
      slot_q  <= next;
      copy_q  <= first;
      fails_q <= fails;
      sent_q  <= '0;
      at_q    <= '0;
      to_q    <= '0;
    end else begin
      if (state_q == S_DOWN && done_i) child_q <= child_q - 1'b1;
      if (state_q == S_DATA && done_i) sent_q <= sent_q + part;
      if (re_o) at_q <= at_q + 1'b1;
      if (we_o) to_q <= to_q + 1'b1;
    end
  end

  // A group that is off is as new, once nothing works for it any more.
  logic [N-1:0] at_work;
  always_comb begin
    at_work = '0;
    if (state_q != S_PICK) at_work[group_q] = 1'b1;
  end
  // Broken by a contribution that left, or may have, and whose result is not here; and by a neighbour.
  logic [N-1:0] breaks;
  always_comb begin
    breaks = '0;
    for (int g = 0; g < N; g = g + 1)
      if (!route_i && enable_i[g]) breaks[g] = at_work[g] ? state_q == S_UP : waits_o[g] && !reported_q[g];
    if (breaks_i) breaks[open_group_i] = 1'b1;
    breaks = breaks & ~broken_o;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      broken_o <= '0;
      inform_q   <= '0;
    end else begin
      broken_o <= broken_o | breaks;
      if (informs) inform_q[group_q] <= 1'b0;
      // What was reported before the route was lost may be lost, too.
      for (int g = 0; g < N; g = g + 1) begin
        if (breaks[g] || (broken_o[g] && !route_i)) inform_q[g] <= 1'b1;
        if (!enable_i[g] && !at_work[g]) begin
          broken_o[g] <= 1'b0;
          inform_q[g]   <= 1'b0;
        end
      end
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      have_o  <= '0;
      waits_o <= '0;
      reported_q  <= '0;
      any_q   <= '0;
      bad_q   <= '0;
    end else begin
      if (arrive_i && !result_i) have_o[{group_i, slot_i}] <= 1'b1;
      if (arrive_i && result_i) reported_q[group_i] <= 1'b1;
      if (first) any_q[group_q] <= 1'b1;
      if (wrong) bad_q[group_q] <= 1'b1;
      if (took) begin
        any_q[group_q] <= ask.contributes;
        bad_q[group_q] <= ask_bad;
      end
      // The children's next words may come. The own ones may when the flag was written.
      if (used) have_o[{group_q, 3'd1}+:4] <= '0;
      if (state_q == S_UP && done_i && !fails_q) begin
        waits_o[group_q]  <= 1'b1;
        have_o[{group_q, 3'd0}] <= 1'b0;
      end
      if (ended) begin
        waits_o[group_q] <= 1'b0;
        reported_q[group_q]  <= 1'b0;
        any_q[group_q]   <= 1'b0;
        bad_q[group_q]   <= 1'b0;
        have_o[{group_q, 3'd0}] <= 1'b0;
      end
      for (int g = 0; g < N; g = g + 1) begin
        if (!enable_i[g] && !at_work[g]) begin
          have_o[8*g+:8] <= '0;
          waits_o[g]     <= 1'b0;
          reported_q[g]      <= 1'b0;
          any_q[g]       <= 1'b0;
          bad_q[g]       <= 1'b0;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (arrive_i) begin
      asks_q[{group_i, slot_i}] <= ask_i;
      if (!result_i && slot_i == '0) wants_q[group_i] <= ask_i.wants;
    end
    if (first || took) sum_ask_q[group_q] <= ask;
    if (took || (looks && !bad_q[group_q])) why_q[group_q] <= ask_bad ? ask.status : ggas_pkg::ST_BAD;
    if (looks) next_q[group_q] <= all_in ? 3'd0 : next + 1'b1;
    if (ended) begin
      count_q[group_q]  <= count;
      status_q[group_q] <= status;
    end
    for (int g = 0; g < N; g = g + 1) begin
      if (!enable_i[g] && !at_work[g]) begin
        next_q[g]   <= '0;
        count_q[g]  <= '0;
        status_q[g] <= '0;
      end
    end
  end

  // ---------------------------------------------------------------- what software sees
  assign stopped_o = ~(enable_i | at_work | in_active_i);
  wire open    = have_o[{look_group_i, 3'd0}+:5] != '0 || waits_o[look_group_i] || fences_i[look_group_i];
  assign look_state_o = {24'd0, status_q[look_group_i], 2'd0, stopped_o[look_group_i], open, count_q[look_group_i]};
  assign writes_o   = writes_q || state_q == S_DATA || state_q == S_FLAG;
  assign busy_o     = state_q != S_PICK || work != '0 || breaks != '0 || arrive_i;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!(on_q && state_q == S_PICK));  // one combines for the group in work
      // The one whose rows leave was whole before, so `have` is not set after its end.
      if (used && enable_i[group_q] && slot_q != '0) assert (have_o[{group_q, slot_q}]);
    end
  end
`endif
endmodule

`default_nettype wire
