// SPDX-License-Identifier: Apache-2.0
// Beats that start at any DW, to rows of eight DW with a mask: a row a cycle. No latency of its own.
`default_nettype none

module rma_rows #(
    parameter int unsigned DATA_W = 64  // bits of a beat: 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // beats; a beat is taken with its last row
    input  wire logic                in_valid_i,
    output      logic                in_ready_o,
    input  wire logic [2:0]          in_lane_i,   // of its first DW
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [4:0]          in_dws_i,    // DW in it, at least 1
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [DATA_W-1:0]   in_data_i,

    // rows; a row is held until it is taken
    output      logic                out_valid_o,
    input  wire logic                out_ready_i,
    output      logic [1:0]          out_step_o,  // rows after the beat's first one
    output      logic [7:0]          out_mask_o,  // lanes with a DW
    output      logic [255:0]        out_data_o
);

  localparam int unsigned INDEX_W = $clog2(DATA_W / 32);

  logic [1:0] step_q;
  wire  [4:0] dws  = 5'(in_dws_i[INDEX_W:0]);
  wire  [5:0] stop = {3'd0, in_lane_i} + {1'b0, dws};  // lane after the last DW, counted from the first row
  wire        last = stop <= {1'b0, step_q, 3'd0} + 6'd8;
  wire        pass = in_valid_i && out_ready_i;

  assign out_valid_o = in_valid_i;
  assign out_step_o  = step_q;
  assign in_ready_o  = out_ready_i && last;

  logic [5:0] index;
  always_comb begin
    out_mask_o = '0;
    out_data_o = '0;
    index      = '0;
    if (in_valid_i) begin
      for (int i = 0; i < 8; i++) begin
        index = {1'b0, step_q, i[2:0]} - {3'd0, in_lane_i};  // DW of the beat; far above dws if there is none
        out_mask_o[i]         = index < {1'b0, dws};
        out_data_o[32*i+:32]  = in_data_i[{index[INDEX_W-1:0], 5'd0}+:32];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) step_q <= '0;
    else if (pass) step_q <= last ? 2'd0 : step_q + 1'b1;
  end

`ifndef SYNTHESIS
  initial if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("rma_rows: DATA_W must be 64, 256 or 512");
  always_ff @(posedge clk_i) begin
    if (rst_ni && in_valid_i) assert (in_dws_i != '0 && 32 * in_dws_i <= DATA_W) else $error("rma_rows: DW in a beat");
  end
`endif
endmodule

`default_nettype wire
