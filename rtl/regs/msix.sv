// SPDX-License-Identifier: Apache-2.0
// MSI-X: table, mask and pending bits of 16 vectors; a message is a 4-byte write. Moderation keeps two messages of a
// vector apart: the later one waits (at most one tick longer than asked) and is never lost.
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

  // ---- table: in RAM of LUTs, read by the bus or for a message
  logic [31:0]  low_q [N];
  logic [31:0]  high_q [N];
  logic [31:0]  data_q [N];
  logic [N-1:0] mask_q, known_q;  // known: written since reset
  wire  [3:0]   row   = ext_addr_i[7:4];
  wire          ctrl  = ext_addr_i[3];
  wire          write = ext_req_i && ext_write_i;
  wire          fresh = write && !known_q[row];  // clears what it does not write
  wire          low_we  = write && !ctrl && ext_wstrb_i[0];
  wire          high_we = write && !ctrl && ext_wstrb_i[4];
  wire          data_we = write && ctrl && ext_wstrb_i[0];

  always_ff @(posedge clk_i) begin
    if (low_we || fresh) low_q[row] <= low_we ? ext_wdata_i[31:0] : 32'd0;
    if (high_we || fresh) high_q[row] <= high_we ? ext_wdata_i[63:32] : 32'd0;
    if (data_we || fresh) data_q[row] <= data_we ? ext_wdata_i[31:0] : 32'd0;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mask_q  <= '1;
      known_q <= '0;
    end else if (write) begin
      known_q[row] <= 1'b1;
      if (ctrl && ext_wstrb_i[4]) mask_q[row] <= ext_wdata_i[32];
    end
  end

  logic [3:0]  vector;             // of the next message
  wire  [3:0]  at    = ext_req_i ? row : vector;
  wire         known = known_q[at];
  wire  [63:0] addr  = known ? {high_q[at], low_q[at]} : 64'd0;
  wire  [31:0] data  = known ? data_q[at] : 32'd0;
  always_ff @(posedge clk_i) if (ext_req_i && !ext_write_i) ext_rdata_o <= ctrl ? {31'd0, mask_q[row], data} : addr;

  // ---- moderation: a vector is held from its message until the distance has passed. Looked at behind a tick and when it is
  // raised, one vector a cycle.
  logic [N-1:0] hold_q, look_q;    // held; to be looked at
  logic [31:0]  sent_at_q [N];
  logic [3:0]   looked;
  logic [N-1:0] free;
  wire          tick   = time_i[ggas_pkg::TICK_LOG2-1:0] == '0;
  wire          passed = look_q != '0 && time_i[31:0] - sent_at_q[looked] >= moderation_i;

  always_comb begin
    looked = 4'd0;
    if (look_q != '0) for (int i = N - 1; i >= 0; i--) if (look_q[i]) looked = i[3:0];
  end
  always_comb begin
    free = '0;
    if (passed) free[looked] = 1'b1;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) look_q <= '0;
    else if (hold_q != '0) look_q <= (look_q & (look_q - 1'b1)) | (hold_q & ~free & (raise_i | {N{tick}}));
    else look_q <= '0;
  end

  // ---- choice
  wire [N-1:0] can  = pending_o & ~mask_q & ~hold_q;
  wire         send = can != '0 && !msg_valid_o && !ext_req_i;
  logic [N-1:0] chosen;

  always_comb begin
    vector = 4'd0;
    if (can != '0) for (int i = N - 1; i >= 0; i--) if (can[i]) vector = i[3:0];
  end
  always_comb begin
    chosen = '0;
    if (send) chosen[vector] = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (send) begin
      msg_addr_o        <= addr;
      msg_data_o        <= data;
      sent_at_q[vector] <= time_i[31:0];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_o   <= '0;
      hold_q      <= '0;
      msg_valid_o <= 1'b0;
    end else begin
      pending_o <= (pending_o & ~chosen) | raise_i;
      hold_q    <= (hold_q & ~free) | ((moderation_i != 32'd0) ? chosen : '0);
      if (send) msg_valid_o <= 1'b1;
      else if (msg_ready_i) msg_valid_o <= 1'b0;
    end
  end

  assign cnt_sent_o = msg_valid_o && msg_ready_i;
  assign busy_o     = msg_valid_o || can != '0 || look_q != '0;
  assign timer_o    = hold_q != '0;

  wire unused = &{1'b0, time_i[63:32], ext_addr_i[15:8], ext_addr_i[2:0], ext_wstrb_i[7:5], ext_wstrb_i[3:1]};

endmodule

`default_nettype wire
