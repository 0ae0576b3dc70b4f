// SPDX-License-Identifier: Apache-2.0
// Fetch commands of the requester: one at the output, and for each one in flight the state that is needed when it
// completes. They complete in order.
`default_nettype none

module rma_commands #(
    parameter int unsigned IN_FLIGHT = 32  // commands under way, a power of two
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // a command; free_o was 1 in the cycle before
    input  wire logic                       push_i,
    output      logic                       free_o,        // a command in the next cycle
    output      logic                       soon_o,        // or after one that has been pushed by then
    output      logic                       room_o,        // the number under way allows one more
    input  wire logic [15:0]                cfg_node_i,
    input  wire logic [7:0]                 vpid_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire rma_requester_pkg::state_t  s_i,           // of the context: offset, domain, flags
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [255:0]               first_i,       // the put's descriptor
    input  wire logic                       last_i,        // of its put
    input  wire logic [8:0]                 bytes_i,

    // rma_fetch
    output      logic                cmd_valid_o,
    input  wire logic                cmd_ready_i,
    output      logic [63:0]         cmd_nla_o,
    output      logic [15:0]         cmd_pd_o,
    output      logic [8:0]          cmd_bytes_o,
    output      ggas_pkg::rma_hdr_t  cmd_hdr_o,
    output      logic [7:0]          cmd_meta_o,
    input  wire logic                done_valid_i,
    input  wire logic [3:0]          done_status_i,
    input  wire logic [7:0]          done_meta_i,

    // the oldest done command
    output      logic                done_valid_o,
    input  wire logic                done_ready_i,
    output      logic [3:0]          done_status_o,
    output      logic [7:0]          done_vpid_o,
    output      logic                done_last_o,
    output      rma_requester_pkg::flags_t  done_flags_o,  // hold, tail, ack, own
    output      rma_pkg::desc_w0_t  done_w0_o,
    output      logic [63:0]         done_cookie_o,
    output      logic                done_soon_o    // one will stand there
);

  // ---------------------------------------------------------------- the command of a chunk
  // verilator lint_off UNUSEDSIGNAL
  rma_pkg::desc_w0_t w0;
  // verilator lint_on UNUSEDSIGNAL
  assign w0 = first_i[63:0];
  wire [63:0] dst = first_i[191:128] + {40'd0, s_i.offset};
  wire [8:0]  span = bytes_i + {7'd0, dst[1:0]};  // from the first DW's first byte; 256 at most: it ends at its border
  wire [6:0]  dws  = span[8:2] + {6'd0, span[1:0] != 2'd0};
  wire [3:0]  tail_be = rma_requester_pkg::be_to(span[1:0]);
  wire        ends = last_i && !s_i.flags.tail;
  ggas_pkg::rma_hdr_t hdr;
  always_comb begin
    hdr          = '0;
    hdr.addr     = dst;
    hdr.op       = ggas_pkg::OP_RMA_PUT;
    hdr.len_dw   = {4'd0, dws};
    hdr.first_be = rma_requester_pkg::be_from(dst[1:0]) & (dws == 7'd1 ? tail_be : 4'hf);
    hdr.last_be  = dws == 7'd1 ? 4'h0 : tail_be;
    hdr.svpid    = vpid_i;
    hdr.epoch    = {s_i.packets, s_i.flags.what};
    hdr.dvpid    = w0.dvpid;
    hdr.pd       = s_i.pd;
    hdr.dst      = w0.node;
    hdr.src      = cfg_node_i;
    hdr.vc       = ggas_pkg::VC_RMA;
    hdr.flags[rma_pkg::RMA_FIRST] = s_i.offset == '0;
    hdr.flags[rma_pkg::RMA_LAST]  = ends;
    hdr.flags[rma_pkg::RMA_ACK]   = ends && w0.ack;
  end

  // ---------------------------------------------------------------- what is under way
  localparam int unsigned ABOUT_W = 8 + 1 + 4 + 64 + 64;
  logic       known, queue_room, done_head, take, ready;
  logic [3:0] flags;
  logic [3:0] status;
  logic [7:0] meta;
  logic [ABOUT_W-1:0] about;

  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(ABOUT_W), .DEPTH(IN_FLIGHT), .BLOCK(1'b1)) u_under_way (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(push_i), .wr_ready_o(room_o),
      .wr_data_i({vpid_i, last_i, s_i.flags.hold, s_i.flags.tail, s_i.flags.ack, s_i.flags.own, w0,
        first_i[255:192]}),
      .rd_valid_o(known), .rd_ready_i(take), .rd_data_o(about), .count_o());
  fifo #(.WIDTH(12), .DEPTH(IN_FLIGHT)) u_done (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(done_valid_i), .wr_ready_o(queue_room),
      .wr_data_i({done_meta_i, done_status_i}),
      .rd_valid_o(done_head), .rd_ready_i(take), .rd_data_o({meta, status}), .count_o());
  // verilator lint_on PINCONNECTEMPTY
  queue_head #(.WIDTH(ABOUT_W + 4)) u_head (
      .clk_i, .rst_ni, .queue_valid_i(done_head), .queue_ready_o(ready), .queue_data_i({about, status}),
      .valid_o(done_valid_o), .ready_i(done_ready_i),
      .data_o({done_vpid_o, done_last_o, flags, done_w0_o, done_cookie_o, done_status_o}));
  assign take        = done_head && ready;
  assign done_soon_o = done_head;
  always_comb begin
    done_flags_o = '0;
    {done_flags_o.hold, done_flags_o.tail, done_flags_o.ack, done_flags_o.own} = flags;
  end

  // ---------------------------------------------------------------- the command at the output
  logic room_q;  // a command is counted by the time that the one after it looks
  assign soon_o = !cmd_valid_o && room_q;
  assign free_o = soon_o && !push_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) room_q <= 1'b0;
    else room_q <= room_o;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cmd_valid_o <= 1'b0;
    else if (push_i) cmd_valid_o <= 1'b1;
    else if (cmd_ready_i) cmd_valid_o <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (push_i) begin
      cmd_nla_o   <= first_i[127:64] + {40'd0, s_i.offset};
      cmd_pd_o    <= s_i.pd;
      cmd_bytes_o <= bytes_i;
      cmd_hdr_o   <= hdr;
      cmd_meta_o  <= vpid_i;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && push_i) assert (!cmd_valid_o && room_o) else $error("rma_commands: command without room");
    if (rst_ni && done_valid_i) assert (queue_room) else $error("rma_commands: more done than under way");
    if (rst_ni && take) assert (known && meta == about[ABOUT_W-1-:8]) else $error("rma_commands: done out of order");
  end
`endif

endmodule

`default_nettype wire
