// SPDX-License-Identifier: Apache-2.0
// Contexts with a complete descriptor take turns: each is listed at most once, and not while one of its descriptors is
// with the
// requester. If nothing else waits a descriptor goes out in the cycle after its last DW came.
`default_nettype none

module rma_dispatch (
    input  wire logic          clk_i,
    input  wire logic          rst_ni,
    input  wire logic          cfg_requester_i,   // RMA_CTRL.requester: descriptors may start

    // writes of CONTEXT[]; is a descriptor of a context with the requester?
    input  wire logic          cfg_we_i,
    input  wire logic [7:0]    cfg_vpid_i,
    input  wire logic [2:0]    cfg_word_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [63:0]   cfg_data_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [7:0]    look_vpid_i,
    output      logic          look_busy_o,

    // a context's next descriptor is complete (may be told again and again)
    input  wire logic          head_valid_i,
    input  wire logic [7:0]    head_vpid_i,
    input  wire logic [3:0]    head_slot_i,
    input  wire logic [1:0]    head_more_i,       // slots behind the first

    // a slot's data, from the next cycle until the next read
    output      logic          read_o,
    output      logic [7:0]    read_vpid_o,
    output      logic [3:0]    read_slot_o,
    input  wire logic [255:0]  read_data_i,

    // look at a context: pulse
    output      logic          kick_valid_o,
    output      logic [7:0]    kick_vpid_o,
    output      logic          kick_consume_o,    // its next descriptor is over

    // descriptors: a beat a slot
    output      logic          desc_valid_o,
    input  wire logic          desc_ready_i,
    output      logic          desc_sop_o,
    output      logic          desc_eop_o,
    output      logic [7:0]    desc_vpid_o,
    output      logic [15:0]   desc_pd_o,
    output      logic [4:0]    desc_starts_o,     // times the context was started
    output      logic [255:0]  desc_data_o,
    input  wire logic          desc_done_i,       // pulse: the requester needs nothing more of it
    input  wire logic [7:0]    desc_done_vpid_i,
    output      logic          busy_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;

  // ---------------------------------------------------------------- contexts
  // Of the context whose head is told, that is configured, that is first in the list, whose descriptor is done:
  logic         head_on;                  // enabled
  logic         head_listed, cfg_listed;  // in the list
  logic         head_out, cfg_out;        // with the requester; never both
  logic         first_old, done_old;      // listed or out since before the last write of CTRL
  // verilator lint_off UNUSEDSIGNAL
  logic         first_out, done_out;
  // verilator lint_on UNUSEDSIGNAL
  wire          ctrl = cfg_we_i && cfg_word_i == 3'd0;

  // ---------------------------------------------------------------- the list
  logic       waits, push;
  logic [7:0] first_vpid;
  logic [3:0] first_slot;
  logic [1:0] first_more;
  wire        free  = !desc_valid_o || (desc_ready_i && desc_eop_o);
  wire        dead  = waits && first_old;
  wire        drop  = dead && !desc_done_i;  // a look at a dead context waits for the port
  wire        start = waits && !dead && free && cfg_requester_i;
  wire        fresh = head_valid_i && head_on && !head_listed && !head_out;
  wire        direct = fresh && !waits && free && cfg_requester_i;
  assign push = fresh && !direct;
  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(14), .DEPTH(ggas_pkg::CONTEXTS), .BLOCK(1'b1)) u_list (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(push), .wr_ready_o(),
      .wr_data_i({head_more_i, head_slot_i, head_vpid_i}),
      .rd_valid_o(waits), .rd_ready_i(start || drop), .rd_data_o({first_more, first_slot, first_vpid}), .count_o());
  // verilator lint_on PINCONNECTEMPTY

  assign kick_valid_o   = desc_done_i || drop;
  assign kick_vpid_o    = desc_done_i ? desc_done_vpid_i : first_vpid;
  assign kick_consume_o = desc_done_i && !done_old;

  wire [7:0] load_vpid = direct ? head_vpid_i : first_vpid;
  wire       load      = direct || start;
  wire       pending   = (cfg_listed && !(drop && first_vpid == cfg_vpid_i))
                         || (cfg_out && !(desc_done_i && desc_done_vpid_i == cfg_vpid_i))
                         || (fresh && head_vpid_i == cfg_vpid_i);  // still so in the next cycle
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS)) u_on (
      .clk_i, .rst_ni, .we_i(ctrl), .waddr_i(cfg_vpid_i[CW-1:0]), .wdata_i(cfg_data_i[0]),
      .raddr_i(head_vpid_i[CW-1:0]), .rdata_o(head_on));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2), .READS(2)) u_listed (
      .clk_i, .rst_ni, .we_i({push, start || drop}), .waddr_i({head_vpid_i[CW-1:0], first_vpid[CW-1:0]}),
      .wdata_i(2'b10), .raddr_i({cfg_vpid_i[CW-1:0], head_vpid_i[CW-1:0]}), .rdata_o({cfg_listed, head_listed}));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2), .READS(5)) u_out (
      .clk_i, .rst_ni, .we_i({load, desc_done_i}), .waddr_i({load_vpid[CW-1:0], desc_done_vpid_i[CW-1:0]}),
      .wdata_i(2'b10), .raddr_i({first_vpid[CW-1:0], desc_done_vpid_i[CW-1:0], look_vpid_i[CW-1:0],
      cfg_vpid_i[CW-1:0], head_vpid_i[CW-1:0]}), .rdata_o({first_out, done_out, look_busy_o, cfg_out, head_out}));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2), .READS(2)) u_old (
      .clk_i, .rst_ni, .we_i({ctrl, kick_valid_o}), .waddr_i({cfg_vpid_i[CW-1:0], kick_vpid_o[CW-1:0]}),
      .wdata_i({pending, 1'b0}), .raddr_i({desc_done_vpid_i[CW-1:0], first_vpid[CW-1:0]}),
      .rdata_o({done_old, first_old}));

  // ---------------------------------------------------------------- the descriptor on its way
  logic [3:0] slot_q;
  logic [1:0] left_q;  // slots behind this one
  wire        next = desc_valid_o && desc_ready_i && !desc_eop_o;
  wire [3:0]  slot = load ? (direct ? head_slot_i : first_slot) : slot_q + 4'd1;
  wire [1:0]  left = load ? (direct ? head_more_i : first_more) : left_q - 2'd1;
  assign read_o      = load || next;
  assign read_vpid_o = load ? load_vpid : desc_vpid_o;
  assign read_slot_o = slot;
  assign desc_data_o = read_data_i;
  assign desc_eop_o  = left_q == 2'd0;

  ram_1r1w #(.WIDTH(21), .DEPTH(ggas_pkg::CONTEXTS), .OLD(1'b1)) u_owner (
      .clk_i, .we_i(ctrl), .waddr_i(cfg_vpid_i[CW-1:0]), .wdata_i(cfg_data_i[52:32]), .re_i(load),
      .raddr_i(load_vpid[CW-1:0]),
      .rdata_o({desc_starts_o, desc_pd_o}));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      desc_valid_o <= 1'b0;
      desc_sop_o   <= 1'b0;
      desc_vpid_o  <= '0;
      slot_q       <= '0;
      left_q       <= '0;
    end else begin
      if (free) desc_valid_o <= load;
      if (read_o) begin
        desc_sop_o  <= load;
        desc_vpid_o <= read_vpid_o;
        slot_q      <= slot;
        left_q      <= left;
      end
    end
  end

  assign busy_o = desc_valid_o || start || dead;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && desc_done_i) assert (done_out) else $error(
      "rma_dispatch: done without a descriptor");
    if (rst_ni && start) assert (!first_out) else $error("rma_dispatch: two descriptors of a context");
  end
`endif
endmodule

`default_nettype wire
