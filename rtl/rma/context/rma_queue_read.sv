// SPDX-License-Identifier: Apache-2.0
// Reads of work queues: arriving slots go to rma_slots row by row; those of a failed read become bad descriptors, so
// that each is answered with an error in its turn. One read of a context at a time.
`default_nettype none

module rma_queue_read #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,
    input  wire logic [15:0]         cfg_timeout_i,   // RMA_TIMEOUT.host

    // reads of 1 ... 8 slots
    input  wire logic                cmd_valid_i,
    output      logic                cmd_ready_o,
    input  wire logic [63:0]         cmd_addr_i,
    input  wire logic [7:0]          cmd_vpid_i,
    input  wire logic [3:0]          cmd_slot_i,      // where the first one goes
    input  wire logic [3:0]          cmd_slots_i,

    // rows for rma_slots
    output      logic                fill_valid_o,
    input  wire logic                fill_ready_i,
    output      logic [7:0]          fill_vpid_o,
    output      logic [3:0]          fill_slot_o,
    output      logic [7:0]          fill_mask_o,
    output      logic [255:0]        fill_data_o,

    // a read is over, all its slots are filled
    output      logic                over_valid_o,
    input  wire logic                over_ready_i,
    output      logic [7:0]          over_vpid_o,
    output      logic                over_failed_o,
    output      logic [39:0]         over_addr_o,     // low bits

    // host
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire ggas_pkg::tlp_beat_t cpl_i,
    output      logic                cpl_ready_o,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    output      logic                ev_unexpected_o,
    output      logic [9:0]          ev_tag_o,
    output      logic                busy_o,
    output      logic                timer_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;
  localparam logic [255:0] BAD_SLOT = 256'hf;  // no such operation

  // ---------------------------------------------------------------- reads
  logic              out_valid, out_ready, end_valid, read_busy;
  logic [39:0]       end_addr;
  logic [7:0]        out_vpid, end_vpid;
  logic [3:0]        out_slot, end_slot, end_slots, end_status;
  // verilator lint_off UNUSEDSIGNAL
  logic [43:0]       out_rest;
  logic [9:0]        out_offset;
  // verilator lint_on UNUSEDSIGNAL
  logic [4:0]        out_dws;
  logic [DATA_W-1:0] out_data;
  // As many reads as there is room for their ends: those that the host does not take end without a tag.
  logic [4:0]        open_q;
  logic              cmd_ready;
  wire               over = over_valid_o && over_ready_i;
  assign cmd_ready_o = cmd_ready && !open_q[4];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= '0;
    else open_q <= open_q + {4'd0, cmd_valid_i && cmd_ready_o} - {4'd0, over};
  end
  // verilator lint_off PINCONNECTEMPTY
  rma_read #(.DATA_W(DATA_W), .TAG_BASE(rma_pkg::TAG_QUEUE), .TAGS(16), .META_W(56)) u_read (
      .clk_i, .rst_ni, .time_i, .cfg_timeout_i, .cmd_valid_i(cmd_valid_i && !open_q[4]), .cmd_ready_o(cmd_ready),
      .cmd_addr_i, .cmd_len_dw_i({4'd0, cmd_slots_i, 3'd0}), .cmd_first_be_i(4'hf), .cmd_last_be_i(4'hf),
      .cmd_meta_i({cmd_addr_i[39:0], cmd_slots_i, cmd_vpid_i, cmd_slot_i}), .rd_valid_o, .rd_ready_i, .rd_hdr_o,
      .cpl_i, .cpl_ready_o, .cpl_data_i, .out_valid_o(out_valid), .out_ready_i(out_ready),
      .out_meta_o({out_rest, out_vpid, out_slot}), .out_offset_dw_o(out_offset), .out_dws_o(out_dws),
      .out_data_o(out_data), .out_final_o(), .out_last_o(), .end_valid_o(end_valid),
      .end_meta_o({end_addr, end_slots, end_vpid, end_slot}), .end_status_o(end_status), .ev_unexpected_o, .ev_tag_o,
      .busy_o(read_busy), .timer_o);
  // verilator lint_on PINCONNECTEMPTY

  // ---------------------------------------------------------------- what came, as rows
  logic         row_valid, repair;
  logic [1:0]   row_step;
  logic [7:0]   row_mask;
  logic [255:0] row_data;
  wire          row_ready = fill_ready_i && !repair;
  wire          row_take  = row_valid && row_ready;
  wire [3:0]    row_at    = out_offset[6:3] + {2'd0, row_step};   // slot of the read
  rma_rows #(.DATA_W(DATA_W)) u_rows (
      .clk_i, .rst_ni, .in_valid_i(out_valid), .in_ready_o(out_ready), .in_lane_i(out_offset[2:0]), .in_dws_i(out_dws),
      .in_data_i(out_data),
      .out_valid_o(row_valid), .out_ready_i(row_ready), .out_step_o(row_step), .out_mask_o(row_mask),
      .out_data_o(row_data));

  // How many slots of a context's read came. Hosts cut at multiples of 64 bytes: a slot comes as a whole or not at all.
  logic [3:0]   came_q [ggas_pkg::CONTEXTS];
  logic         any;
  always_ff @(posedge clk_i) if (row_take && row_mask[7]) came_q[out_vpid[CW-1:0]] <= row_at + 4'd1;
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2)) u_any (
      .clk_i, .rst_ni, .we_i({cmd_valid_i && cmd_ready_o, row_take && row_mask[7]}),
      .waddr_i({cmd_vpid_i[CW-1:0], out_vpid[CW-1:0]}), .wdata_i(2'b01), .raddr_i(over_vpid_o[CW-1:0]),
      .rdata_o(any));

  // ---------------------------------------------------------------- ends, in the order they come
  logic       e_valid;
  logic [3:0] e_slot, e_slots;
  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(57), .DEPTH(16)) u_ends (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(end_valid), .wr_ready_o(),
      .wr_data_i({end_addr, end_slots, end_vpid, end_slot, end_status != ggas_pkg::ST_OK}), .rd_valid_o(e_valid),
      .rd_ready_i(over), .rd_data_o({over_addr_o, e_slots, over_vpid_o, e_slot,
      over_failed_o}), .count_o());
  // verilator lint_on PINCONNECTEMPTY

  // A failed one: the slots that did not come.
  logic       repairing_q, missing_q;  // and some are still missing
  logic [3:0] at_q;
  wire        begins = e_valid && over_failed_o && !repairing_q;
  wire [3:0]  at     = !begins ? at_q + 4'd1 : any ? came_q[over_vpid_o[CW-1:0]] : 4'd0;
  assign repair       = missing_q && row_step == 2'd0;
  assign over_valid_o = e_valid && (!over_failed_o || (repairing_q && !missing_q));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      repairing_q <= 1'b0;
      missing_q   <= 1'b0;
      at_q        <= '0;
    end else begin
      if (begins || (repair && fill_ready_i)) begin
        at_q      <= at;
        missing_q <= at != e_slots;
      end
      if (begins) repairing_q <= 1'b1;
      else if (over) repairing_q <= 1'b0;
    end
  end

  assign fill_valid_o = repair || row_valid;
  assign fill_vpid_o  = repair ? over_vpid_o : out_vpid;
  assign fill_slot_o  = repair ? e_slot + at_q : out_slot + row_at;
  assign fill_mask_o  = repair ? 8'hff : row_mask;
  assign fill_data_o  = repair ? BAD_SLOT : row_data;
  assign busy_o       = read_busy || e_valid;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && cmd_valid_i) assert (cmd_slots_i != '0 && cmd_slots_i <= 4'd8
    && cmd_addr_i[4:0] == '0);
`endif
endmodule

`default_nettype wire
