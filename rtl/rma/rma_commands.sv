// SPDX-License-Identifier: Apache-2.0
// Fetch commands of the requester: one at the output, and for each one under way what must be known when it is done.
// They are done in
// order.
`default_nettype none

module rma_commands #(
    parameter int unsigned IN_FLIGHT = 32  // commands under way, a power of two
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // a command; only while free_o
    input  wire logic                push_i,
    output      logic                free_o,
    output      logic                room_o,        // the number under way allows one more
    input  wire logic [7:0]          vpid_i,
    input  wire logic [15:0]         pd_i,
    input  wire logic                last_i,        // of its put
    input  wire ggas_pkg::desc_w0_t  w0_i,
    input  wire logic [63:0]         cookie_i,
    input  wire logic [63:0]         nla_i,
    input  wire logic [8:0]          bytes_i,
    input  wire ggas_pkg::rma_hdr_t  hdr_i,

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
    output      ggas_pkg::desc_w0_t  done_w0_o,
    output      logic [63:0]         done_cookie_o
);

  logic       known, queue_room;
  logic [7:0] meta;

  fifo #(.WIDTH(137), .DEPTH(IN_FLIGHT), .BLOCK(1'b1)) u_under_way (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(push_i), .wr_ready_o(room_o),
      .wr_data_i({vpid_i, last_i, w0_i, cookie_i}),
      // verilator lint_off PINCONNECTEMPTY
      .rd_valid_o(known), .rd_ready_i(done_ready_i), .rd_data_o({done_vpid_o, done_last_o, done_w0_o, done_cookie_o}),
      .count_o());
  fifo #(.WIDTH(12), .DEPTH(IN_FLIGHT)) u_done (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(done_valid_i), .wr_ready_o(queue_room),
      .wr_data_i({done_meta_i, done_status_i}),
      .rd_valid_o(done_valid_o), .rd_ready_i(done_ready_i), .rd_data_o({meta, done_status_o}), .count_o());
  // verilator lint_on PINCONNECTEMPTY

  assign free_o = (!cmd_valid_o || cmd_ready_i) && room_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cmd_valid_o <= 1'b0;
    else if (push_i) cmd_valid_o <= 1'b1;
    else if (cmd_ready_i) cmd_valid_o <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (push_i) begin
      cmd_nla_o   <= nla_i;
      cmd_pd_o    <= pd_i;
      cmd_bytes_o <= bytes_i;
      cmd_hdr_o   <= hdr_i;
      cmd_meta_o  <= vpid_i;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && push_i) assert (free_o) else $error("rma_commands: command without room");
    if (rst_ni && done_valid_i) assert (queue_room) else $error("rma_commands: more done than under way");
    if (rst_ni && done_valid_o) assert (known && meta == done_vpid_o) else $error("rma_commands: done out of order");
  end
`endif

endmodule

`default_nettype wire
