// SPDX-License-Identifier: Apache-2.0
// MSI-X: table, mask and pending bits of 16 vectors; a message is a 4-byte write. Moderation keeps two messages of a vector
// apart: the later one waits (at most one tick longer than asked) and is never lost.
`default_nettype none

module msix (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire  [63:0] time_i,
  input  wire  [31:0] moderation_i,   // cycles between messages of one vector; 0 is off

  input  wire  [15:0] raise_i,        // pulse: interrupt of a vector

  // table, over the register bus
  input  wire         ext_req_i,
  input  wire         ext_write_i,
  input  wire  [15:0] ext_addr_i,
  input  wire  [63:0] ext_wdata_i,
  input  wire  [7:0]  ext_wstrb_i,
  output logic [63:0] ext_rdata_o,    // next cycle

  output logic [15:0] pending_o,
  output logic        msg_valid_o,
  input  wire         msg_ready_i,
  output logic [63:0] msg_addr_o,
  output logic [31:0] msg_data_o,
  output logic        cnt_sent_o,
  output logic        busy_o,
  output logic        timer_o
);

  localparam int unsigned N = ggas_regs_pkg::MSIX_NUM;

  logic [64*N-1:0] addr_q;
  logic [32*N-1:0] data_q;
  logic [N-1:0]    mask_q;

  // ---- table
  wire [3:0] row = ext_addr_i[7:4];
  wire       ctrl = ext_addr_i[3];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      addr_q <= '0;
      data_q <= '0;
      mask_q <= '1;
    end else if (ext_req_i && ext_write_i) begin
      for (int unsigned i = 0; i < N; i++) begin
        if (row == i[3:0] && ctrl) begin
          if (ext_wstrb_i[0]) data_q[32*i +: 32] <= ext_wdata_i[31:0];
          if (ext_wstrb_i[4]) mask_q[i] <= ext_wdata_i[32];
        end else if (row == i[3:0]) begin
          if (ext_wstrb_i[0]) addr_q[64*i +: 32] <= ext_wdata_i[31:0];
          if (ext_wstrb_i[4]) addr_q[64*i + 32 +: 32] <= ext_wdata_i[63:32];
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (ext_req_i && !ext_write_i)
      ext_rdata_o <= ctrl ? {31'd0, mask_q[row], data_q[32*row +: 32]} : addr_q[64*row +: 64];
  end

  // ---- moderation: a vector is held from its message until the distance has passed. Looked at on ticks and when a vector
  // is raised, so that a stopped clock makes no difference.
  logic [N-1:0]    hold_q;
  logic [32*N-1:0] sent_at_q;
  logic [N-1:0]    passed;
  wire             tick = time_i[ggas_pkg::TICK_LOG2-1:0] == '0;

  always_comb begin
    passed = '0;
    if (hold_q != '0 && (tick || raise_i != '0)) begin
      for (int unsigned i = 0; i < N; i++)
        passed[i] = (tick || raise_i[i]) && (time_i[31:0] - sent_at_q[32*i +: 32]) >= moderation_i;
    end
  end

  // ---- choice
  wire [N-1:0] can  = pending_o & ~mask_q & ~hold_q;
  wire         send = can != '0 && !msg_valid_o;
  logic [3:0]  vector;
  logic [N-1:0] chosen;

  always_comb begin
    vector = 4'd0;
    chosen = '0;
    if (send) begin
      chosen = can & (~can + 1'b1);
      for (int unsigned i = 0; i < N; i++) if (chosen[i]) vector = vector | i[3:0];
    end
  end

  always_ff @(posedge clk_i) begin
    if (send) begin
      msg_addr_o <= addr_q[64*vector +: 64];
      msg_data_o <= data_q[32*vector +: 32];
      for (int unsigned i = 0; i < N; i++) if (chosen[i]) sent_at_q[32*i +: 32] <= time_i[31:0];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_o   <= '0;
      hold_q      <= '0;
      msg_valid_o <= 1'b0;
    end else begin
      pending_o <= (pending_o & ~chosen) | raise_i;
      hold_q    <= (hold_q & ~passed) | ((moderation_i != 32'd0) ? chosen : '0);
      if (send) msg_valid_o <= 1'b1;
      else if (msg_ready_i) msg_valid_o <= 1'b0;
    end
  end

  assign cnt_sent_o = msg_valid_o && msg_ready_i;
  assign busy_o     = msg_valid_o || can != '0;
  assign timer_o    = hold_q != '0;

  wire unused = &{1'b0, time_i[63:32], ext_addr_i[15:8], ext_addr_i[2:0], ext_wstrb_i[7:5], ext_wstrb_i[3:1]};

endmodule

`default_nettype wire
