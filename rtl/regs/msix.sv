// SPDX-License-Identifier: Apache-2.0
// MSI-X: table, mask and pending bits of 16 vectors; a message is a 4-byte write. A vector is pending until its message
// was accepted. A waiting message is withdrawn when its vector may no longer send, so none follows the write that
// masked it. Moderation holds a vector for some time after each message, or until it was raised often enough.
`default_nettype none

module msix (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire  [63:0] time_i,
  input  wire         enable_i,       // messages may leave: MSI-X enabled, function not masked, NIC not stopped

  input  wire  [15:0] raise_i,        // pulse: interrupt of a vector

  // table and moderation, over the register bus
  input  wire         ext_req_i,
  input  wire         ext_moderation_req_i,
  input  wire         ext_write_i,
  input  wire  [15:0] ext_addr_i,
  input  wire  [63:0] ext_wdata_i,
  input  wire  [7:0]  ext_wstrb_i,
  output logic [63:0] ext_rdata_o,              // next cycle
  output logic [63:0] ext_moderation_rdata_o,   // next cycle

  output logic [15:0] pending_o,
  output logic        msg_valid_o,    // may fall before msg_ready_i
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

  logic [3:0]  vector_q;           // of the message
  wire  [3:0]  at    = ext_req_i ? row : vector_q;
  wire         known = known_q[at];
  wire  [63:0] addr  = known ? {high_q[at], low_q[at]} : 64'd0;
  wire  [31:0] data  = known ? data_q[at] : 32'd0;
  always_ff @(posedge clk_i) if (ext_req_i && !ext_write_i) ext_rdata_o <= ctrl ? {31'd0, mask_q[row], data} : addr;

  // ---- moderation of each vector: likewise
  logic [31:0]  cycles_q [N];
  logic [7:0]   count_q [N];
  logic [N-1:0] moderated_q;   // written since reset
  wire  [3:0]   which     = ext_addr_i[6:3];
  wire          mod_write = ext_moderation_req_i && ext_write_i;
  wire          mod_fresh = mod_write && !moderated_q[which];

  always_ff @(posedge clk_i) begin
    if (mod_fresh || (mod_write && ext_wstrb_i[0])) cycles_q[which] <= ext_wstrb_i[0] ? ext_wdata_i[31:0] : 32'd0;
    if (mod_fresh || (mod_write && ext_wstrb_i[4])) count_q[which] <= ext_wstrb_i[4] ? ext_wdata_i[39:32] : 8'd0;
    if (ext_moderation_req_i && !ext_write_i)
      ext_moderation_rdata_o <= moderated_q[which] ? {24'd0, count_q[which], cycles_q[which]} : 64'd0;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) moderated_q <= '0;
    else if (mod_write) moderated_q[which] <= 1'b1;
  end

  // After its message a vector is held until the time has passed or it was raised often enough. This is checked after a
  // tick and when the vector is raised; in each cycle one vector is chosen, read and checked. If its message leaves in
  // between, the check is omitted, because the data that were read belong to an earlier message.
  logic         taken;             // the message left
  logic [N-1:0] hold_q, look_q;    // held; to be looked at
  logic [7:0]   raises_q [N];      // since it was held; stops at its end
  logic [31:0]  sent_at_q [N];
  logic         read_q, check_q;
  logic [3:0]   looked, read_at_q, check_at_q;
  logic [N-1:0] free, left;
  logic [31:0]  since_q, cycles_of_q;
  logic [7:0]   count_of_q, raises_of_q;
  wire          tick   = time_i[ggas_pkg::TICK_LOG2-1:0] == '0;
  wire          passed = check_q && (since_q >= cycles_of_q || (count_of_q != '0 && raises_of_q >= count_of_q));

  always_comb begin
    looked = 4'd0;
    if (look_q != '0) for (int i = N - 1; i >= 0; i--) if (look_q[i]) looked = i[3:0];
  end
  always_comb begin
    free = '0;
    left = '0;
    if (passed) free[check_at_q] = 1'b1;
    if (taken) left[vector_q] = 1'b1;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      look_q  <= '0;
      read_q  <= 1'b0;
      check_q <= 1'b0;
    end else begin
      if (hold_q != '0) look_q <= (look_q & (look_q - 1'b1)) | (hold_q & ~free & (raise_i | {N{tick}}));
      else look_q <= '0;
      read_q  <= look_q != '0;
      check_q <= read_q && hold_q[read_at_q];
    end
  end
  always_ff @(posedge clk_i) begin
    if (look_q != '0) read_at_q <= looked;
    if (read_q) begin
      check_at_q  <= read_at_q;
      since_q     <= time_i[31:0] - sent_at_q[read_at_q];
      cycles_of_q <= moderated_q[read_at_q] ? cycles_q[read_at_q] : 32'd0;
      count_of_q  <= moderated_q[read_at_q] ? count_q[read_at_q] : 8'd0;
      raises_of_q <= raises_q[read_at_q];
    end
  end
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < N; i++) begin
      if (left[i]) raises_q[i] <= {7'd0, raise_i[i]};
      else if (raise_i[i] && hold_q[i] && raises_q[i] != '1) raises_q[i] <= raises_q[i] + 8'd1;
    end
  end

  // ---- choice; what is chosen is read from the table in the next cycle that the bus leaves free
  logic         chosen_q, valid_q;
  logic [3:0]   vector;
  wire  [N-1:0] able = ~mask_q & {N{enable_i}};
  wire  [N-1:0] can  = pending_o & able & ~hold_q;
  wire          choose = can != '0 && !chosen_q && !valid_q;
  wire          send   = chosen_q && !ext_req_i;

  always_comb begin
    vector = 4'd0;
    if (can != '0) for (int i = N - 1; i >= 0; i--) if (can[i]) vector = i[3:0];
  end

  assign msg_valid_o = valid_q && able[vector_q];
  assign taken       = msg_valid_o && msg_ready_i;

  always_ff @(posedge clk_i) begin
    if (!chosen_q && !valid_q) vector_q <= vector;
    if (send) begin
      msg_addr_o <= addr;
      msg_data_o <= data;
    end
    if (taken) sent_at_q[vector_q] <= time_i[31:0];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_o <= '0;
      hold_q    <= '0;
      chosen_q  <= 1'b0;
      valid_q   <= 1'b0;
    end else begin
      pending_o <= (pending_o & ~left) | raise_i;
      hold_q    <= (hold_q & ~free) | (moderated_q & left);
      chosen_q  <= choose || (chosen_q && ext_req_i);
      valid_q   <= send || (msg_valid_o && !msg_ready_i);
    end
  end

  assign cnt_sent_o = taken;
  assign busy_o     = chosen_q || valid_q || can != '0 || look_q != '0 || read_q || check_q;
  assign timer_o    = hold_q != '0;

  wire unused = &{1'b0, time_i[63:32], ext_addr_i[15:8], ext_addr_i[2:0], ext_wstrb_i[7:5], ext_wstrb_i[3:1]};

endmodule

`default_nettype wire
