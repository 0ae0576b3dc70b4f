// SPDX-License-Identifier: Apache-2.0
// Requests of the requester to rma_notify: a short queue, which offers one at a time. If a context waits for a
// notification, its answer stays on rsp_* until the context's step begins, and the request on nt_* until that step
// ends. Other requests report errors, and may be dropped.
`default_nettype none

module rma_note_port (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // a request; the last entries are kept for those of the steps under way
    input  wire logic                push_i,
    output      logic                room_o,
    // a context waits for it; else an error: dropped rather than kept waiting
    input  wire logic                held_i,
    input  wire logic [7:0]          vpid_i,
    input  wire logic [63:0]         w0_i,
    input  wire rma_pkg::note_w1_t  w1_i,

    output      logic                nt_valid_o,
    input  wire logic                nt_ready_i,
    output      logic [7:0]          nt_vpid_o,
    output      logic                nt_drop_o,
    output      logic [63:0]         nt_w0_o,
    output      rma_pkg::note_w1_t  nt_w1_o,
    input  wire logic                nt_rsp_valid_i,
    input  wire logic [3:0]          nt_rsp_status_i,

    // an answer, to the request on nt_*
    output      logic                rsp_valid_o,
    input  wire logic                rsp_ready_i,
    output      logic [3:0]          rsp_status_o,
    input  wire logic                rsp_end_i,     // the step that took the answer ends
    output      logic                empty_o,
    input  wire logic [7:0]          look_i,
    output      logic                look_o          // context look_i has a request here
);

  logic [3:0] count;
  logic       head, asked_q, held, wr_ready;
  wire        pop = nt_rsp_valid_i ? !held : rsp_end_i;

  fifo #(.WIDTH(137), .DEPTH(8)) u_queue (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(push_i), .wr_ready_o(wr_ready),
      .wr_data_i({held_i, vpid_i, w0_i, w1_i}),
      .rd_valid_o(head), .rd_ready_i(pop), .rd_data_o({held, nt_vpid_o, nt_w0_o, nt_w1_o}), .count_o(count));

  rma_queued #(.DEPTH(8)) u_of (.clk_i, .rst_ni, .push_i, .vpid_i, .pop_i(pop), .look_i, .found_o(look_o));

  assign room_o     = count < 4'd3;
  assign empty_o    = !head;
  assign nt_valid_o = head && !asked_q;
  assign nt_drop_o  = !held;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asked_q      <= 1'b0;
      rsp_valid_o  <= 1'b0;
      rsp_status_o <= '0;
    end else begin
      if (pop) asked_q <= 1'b0;
      else if (nt_valid_o && nt_ready_i) asked_q <= 1'b1;
      if (nt_rsp_valid_i) begin
        rsp_valid_o  <= held;
        rsp_status_o <= nt_rsp_status_i;
      end else if (rsp_ready_i) begin
        rsp_valid_o <= 1'b0;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && push_i) assert (wr_ready) else $error("rma_note_port: request without room");
    if (rst_ni && nt_rsp_valid_i) assert (asked_q && !rsp_valid_o) else $error(
      "rma_note_port: answer without a request");
    if (rst_ni && rsp_end_i) assert (asked_q && held && !rsp_valid_o && !nt_rsp_valid_i) else $error(
      "rma_note_port: end of nothing");
  end
`endif

endmodule

`default_nettype wire
