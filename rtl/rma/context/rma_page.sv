// SPDX-License-Identifier: Apache-2.0
// Writes to the pages of contexts: descriptor slots row by row, doorbells one by one. An invalid write is passed on as
// a row without lanes, marked bad, so that each is reported once. Always accepts in finite time: it waits for its turn
// at rma_slots, rma_queue and rma_arm, and for nothing else.
`default_nettype none

module rma_page #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // writes of CONTEXT[]; is a write to a context's page in progress?
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::context_write_t context_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [7:0]          look_vpid_i,
    output      logic                look_busy_o,

    // writes to pages, whole DWs; address: context 20:13, its page of slots (1) or doorbells (0) 12, offset there 11:0
    input  wire ggas_pkg::tlp_beat_t page_i,
    output      logic                page_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [DATA_W-1:0]   page_data_i,

    // rows of 32 bytes
    output      logic                row_valid_o,
    input  wire logic                row_ready_i,
    output      logic                row_sop_o,         // first row of a write
    output      logic                row_bad_o,         // some of it fits nothing
    output      logic [20:0]         row_info_o,        // address of the write
    output      logic [7:0]          row_vpid_o,
    output      logic [3:0]          row_slot_o,
    output      logic [7:0]          row_mask_o,        // lanes to write
    output      logic [255:0]        row_data_o,

    // doorbells
    output      logic                db_valid_o,        // pulse
    output      logic [1:0]          db_kind_o,         // 0 queue, 1 notifications, 2 messages
    output      logic                db_arm_o,          // kinds 1 and 2: and arm
    output      logic [7:0]          db_vpid_o,
    output      logic [31:0]         db_count_o,
    input  wire logic                db_queue_ready_i,  // kind 0 may come
    input  wire logic                db_arm_ready_i,    // an arm is taken this cycle; asked while db_arm_o
    output      logic                busy_o
);

  localparam int unsigned BEAT_DW = DATA_W / 32;

  // ---------------------------------------------------------------- where the beat lies
  logic [7:0]  vpid_q;
  logic        is_slot_q;
  logic [6:0]  pos_q;   // DW in the page
  logic [10:0] left_q;  // DW of the write from there on
  logic [20:0] info_q;
  wire [7:0]   vpid = page_i.sop ? page_i.hdr.addr[20:13] : vpid_q;
  wire         is_slot = page_i.sop ? page_i.hdr.addr[12] : is_slot_q;
  wire [6:0]   pos  = page_i.sop ? page_i.hdr.addr[8:2] : pos_q;
  wire [10:0]  left = page_i.sop ? page_i.hdr.len_dw : left_q;
  wire         beat = page_i.valid && page_ready_o;

  always_ff @(posedge clk_i) begin
    if (beat) begin
      vpid_q    <= vpid;
      is_slot_q <= is_slot;
      pos_q     <= pos + BEAT_DW[6:0];
      left_q    <= left - BEAT_DW[10:0];
      info_q    <= row_info_o;
    end
  end

  // ---------------------------------------------------------------- contexts; one that is written this cycle is
  // already new
  logic         was_on, was_queue;
  wire          here  = context_i.we && context_i.word == 3'd0 && context_i.vpid == vpid;
  wire          on    = here ? context_i.data[0] : was_on;
  wire          queue = here ? context_i.data[1] : was_queue;
  context_flags #(.FLAGS(2)) u_flags (
      .clk_i, .rst_ni, .context_i, .flags_i(context_i.data[1:0]), .vpid_i(vpid), .flags_o({was_queue, was_on}));

  // ---------------------------------------------------------------- rows
  logic       valid, ready;
  logic [1:0] step;
  logic [7:0] mask;
  rma_rows #(.DATA_W(DATA_W)) u_rows (
      .clk_i, .rst_ni, .in_valid_i(page_i.valid), .in_ready_o(page_ready_o), .in_lane_i(pos[2:0]),
      .in_dws_i(page_i.eop ? left[4:0] : BEAT_DW[4:0]), .in_data_i(page_data_i), .out_valid_o(valid),
      .out_ready_i(ready), .out_step_o(step), .out_mask_o(mask), .out_data_o(row_data_o));

  wire [3:0] row = pos[6:3] + {2'd0, step};
  // Lanes 4 and 6 of row 0, lanes 0, 2 and 4 of row 1: counts; the DW after each is ignored.
  wire [4:0] rung    = {5{!is_slot && on}} & (row[0] ? {mask[4], mask[2], mask[0], 2'b00} : {3'd0, mask[6], mask[4]
    && queue});
  wire       bad_row = is_slot ? queue : row[0] ? mask[7:6] != '0 : mask[4] && !queue;

  // Doorbells that wait: queue, notifications; or messages, arm for notifications, arm for messages. One leaves at a
  // time, arms and the queue's last.
  logic [4:0] rung_q, leaves;
  wire        waits = rung_q[2:1] != '0;
  wire        arms  = !waits && rung_q[4:3] != '0;
  assign leaves[2:1] = rung_q[2:1];
  assign leaves[0]   = !waits && rung_q[0] && db_queue_ready_i;
  assign leaves[3]   = arms && rung_q[3] && db_arm_ready_i;
  assign leaves[4]   = arms && !rung_q[3] && db_arm_ready_i;
  wire        doorbells_free = (rung_q & ~leaves) == '0;

  // What rings is known late: any row of a page of doorbells waits until all have left.
  wire        room   = is_slot || doorbells_free;
  assign ready       = row_ready_i && room;
  assign row_valid_o = valid && room;
  assign row_sop_o   = page_i.sop && step == 2'd0;
  assign row_bad_o   = !on || bad_row;
  assign row_info_o  = page_i.sop ? page_i.hdr.addr[20:0] : info_q;
  assign row_vpid_o  = vpid;
  assign row_slot_o  = row;
  assign row_mask_o  = is_slot && on && !queue ? mask : '0;

  // ---------------------------------------------------------------- doorbells
  wire         ring = valid && ready && !is_slot;
  logic [31:0] first_q, second_q, third_q;
  logic [7:0]  doorbell_vpid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rung_q <= '0;
    end else begin
      if (ring) rung_q <= rung;
      else rung_q <= rung_q & ~leaves;
    end
  end
  always_ff @(posedge clk_i) begin
    if (ring) begin
      doorbell_vpid_q <= vpid;
      first_q     <= row[0] ? row_data_o[31:0] : row_data_o[159:128];
      second_q    <= row[0] ? row_data_o[95:64] : row_data_o[223:192];
      third_q     <= row_data_o[159:128];
    end
  end
  assign db_valid_o = leaves != '0;
  assign db_arm_o   = arms;
  assign db_kind_o  = leaves[1] || (arms && rung_q[3]) ? 2'd1 : leaves[2] || arms ? 2'd2 : 2'd0;
  assign db_vpid_o  = doorbell_vpid_q;
  assign db_count_o = leaves[1] || (arms && rung_q[3]) ? second_q : arms ? third_q : first_q;
  assign look_busy_o = (page_i.valid && vpid == look_vpid_i) || (rung_q != '0 && doorbell_vpid_q == look_vpid_i);
  assign busy_o      = rung_q != '0;  // a write on offer keeps the clock running by itself

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && beat && page_i.sop) assert (page_i.hdr.addr[11:0] + {page_i.hdr.len_dw[9:0],
      2'b00} <= (page_i.hdr.addr[12] ? 12'h200 : 12'h40) && page_i.hdr.len_dw != '0) else $error("rma_page: header");
    if (rst_ni && beat) assert (page_i.eop == (left <= BEAT_DW[10:0])) else $error("rma_page: length");
  end
`endif
endmodule

`default_nettype wire
