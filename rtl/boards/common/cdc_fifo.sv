// SPDX-License-Identifier: Apache-2.0
// FIFO between two clocks: the pointers cross as Gray code through two registers.
`default_nettype none

module cdc_fifo #(
    parameter int unsigned WIDTH = 66  // bits of an entry; 16 entries
) (
    input  wire logic             wr_clk_i,
    input  wire logic             wr_rst_ni,
    input  wire logic             wr_valid_i,
    output      logic             wr_ready_o,
    input  wire logic [WIDTH-1:0] wr_data_i,

    input  wire logic             rd_clk_i,
    input  wire logic             rd_rst_ni,
    output      logic             rd_valid_o,
    input  wire logic             rd_ready_i,
    output      logic [WIDTH-1:0] rd_data_o
);
  logic [WIDTH-1:0] mem_q [0:15];
  logic [4:0] wr_q, rd_q, wr_gray_q, rd_gray_q;                    // one bit more than an address
  logic [4:0] wr_seen_q [0:1];
  logic [4:0] rd_seen_q [0:1];
  wire        write   = wr_valid_i && wr_ready_o;
  wire        read    = rd_valid_o && rd_ready_i;
  wire  [4:0] wr_next = wr_q + {4'd0, write};
  wire  [4:0] rd_next = rd_q + {4'd0, read};

  // Full: the Gray pointers differ in their two upper bits alone.
  assign wr_ready_o = wr_gray_q != {~rd_seen_q[1][4:3], rd_seen_q[1][2:0]};
  assign rd_valid_o = rd_gray_q != wr_seen_q[1];
  assign rd_data_o  = mem_q[rd_q[3:0]];

  always_ff @(posedge wr_clk_i) if (write) mem_q[wr_q[3:0]] <= wr_data_i;
  always_ff @(posedge wr_clk_i or negedge wr_rst_ni) begin
    if (!wr_rst_ni) begin
      wr_q         <= '0;
      wr_gray_q    <= '0;
      rd_seen_q[0] <= '0;
      rd_seen_q[1] <= '0;
    end else begin
      wr_q         <= wr_next;
      wr_gray_q    <= wr_next ^ {1'b0, wr_next[4:1]};
      rd_seen_q[0] <= rd_gray_q;
      rd_seen_q[1] <= rd_seen_q[0];
    end
  end
  always_ff @(posedge rd_clk_i or negedge rd_rst_ni) begin
    if (!rd_rst_ni) begin
      rd_q         <= '0;
      rd_gray_q    <= '0;
      wr_seen_q[0] <= '0;
      wr_seen_q[1] <= '0;
    end else begin
      rd_q         <= rd_next;
      rd_gray_q    <= rd_next ^ {1'b0, rd_next[4:1]};
      wr_seen_q[0] <= wr_gray_q;
      wr_seen_q[1] <= wr_seen_q[0];
    end
  end
endmodule

`default_nettype wire
