// SPDX-License-Identifier: Apache-2.0
// Window offset to node and segment offset: 64 intervals, or bits of the offset (mask mode). The answer comes two cycles
// after the request; one request a cycle. An access hits when the whole of it lies in one place; the lowest interval wins.
// Intervals are whole 4 KB pages, so pages are what the comparators see. They hold still when nothing is asked.
`default_nettype none

module smfu_lookup (
    input  wire logic               clk_i,
    input  wire logic               rst_ni,

    input  wire logic               cfg_mode_i,    // SMFU_MODE_*
    input  wire logic [63:0]        cfg_mask_i,    // mask mode: bits that hold the node
    input  wire logic [5:0]         cfg_shift_i,   // mask mode: right shift of those bits
    input  wire logic [15:0]        cfg_nodes_i,   // mask mode: nodes; from there on unmapped

    // INTERVAL registers
    input  wire logic               ext_req_i,
    input  wire logic               ext_write_i,
    input  wire logic [10:3]        ext_addr_i,    // offset in INTERVAL
    input  wire logic [63:0]        ext_wdata_i,
    input  wire logic [7:0]         ext_wstrb_i,
    output      logic [63:0]        ext_rdata_o,

    // request
    input  wire logic               req_valid_i,
    input  wire logic [63:0]        req_addr_i,    // window offset
    input  wire logic [10:0]        req_len_dw_i,

    // answer
    output      logic               ans_valid_o,
    output      logic               ans_hit_o,
    output      logic [15:0]        ans_node_o,
    output      logic [63:0]        ans_addr_o,    // segment offset

    // BAD_INTERVAL, held until taken
    output      logic               event_valid_o,
    input  wire logic               event_ready_i,
    output      ggas_pkg::event_t   event_o,
    output      logic               busy_o
);

  logic [63:0] start_q [64];
  logic [63:0] end_q [64];
  logic [15:0] node_q [64];
  logic [63:0] armed_q;

  // ---------------------------------------------------------------- registers
  wire  [5:0]  ext_index = ext_addr_i[10:5];
  wire  [1:0]  ext_reg   = ext_addr_i[4:3];
  wire         ext_wr    = ext_req_i && ext_write_i;
  wire  [63:0] start_r   = start_q[ext_index];
  wire  [63:0] end_r     = end_q[ext_index];
  wire  [15:0] node_r    = node_q[ext_index];
  wire         good      = start_r < end_r && start_r[11:0] == '0 && end_r[11:0] == '0;
  // The valid bit lies in the low half of TARGET: a write of the high half changes nothing.
  wire         arm       = ext_wr && ext_reg == 2'd2 && ext_wstrb_i[0];

  logic [63:0] strobe;
  always_comb begin
    for (int i = 0; i < 8; i++) strobe[8*i+:8] = {8{ext_wstrb_i[i]}};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int i = 0; i < 64; i++) begin
        start_q[i] <= '0;
        end_q[i]   <= '0;
        node_q[i]  <= '0;
      end
    end else if (ext_wr) begin
      if (ext_reg == 2'd0) start_q[ext_index] <= (start_r & ~strobe) | (ext_wdata_i & strobe);
      if (ext_reg == 2'd1) end_q[ext_index]   <= (end_r & ~strobe) | (ext_wdata_i & strobe);
      if (arm)             node_q[ext_index]  <= ext_wdata_i[15:0];
    end
  end

  // A changed border disarms: the interval may be half written.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) armed_q <= '0;
    else if (ext_wr && !ext_reg[1]) armed_q[ext_index] <= 1'b0;
    else if (arm) armed_q[ext_index] <= ext_wdata_i[16] && good;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ext_rdata_o <= '0;
    else if (ext_req_i) begin
      case (ext_reg)
        2'd0:    ext_rdata_o <= start_r;
        2'd1:    ext_rdata_o <= end_r;
        2'd2:    ext_rdata_o <= {47'd0, armed_q[ext_index], node_r};
        default: ext_rdata_o <= '0;
      endcase
    end
  end

  // Register accesses come one at a time and far apart; should a second bad write arrive before the event was taken it waits
  // in bad_again_q.
  logic       bad_again_q;
  logic [5:0] bad_index_q;
  wire        bad = arm && ext_wdata_i[16] && !good;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      event_valid_o <= 1'b0;
      event_o       <= '0;
      bad_again_q   <= 1'b0;
      bad_index_q   <= '0;
    end else begin
      if (event_valid_o && event_ready_i) event_valid_o <= 1'b0;
      if ((bad || bad_again_q) && (!event_valid_o || event_ready_i)) begin
        event_valid_o <= 1'b1;
        event_o.code  <= ggas_regs_pkg::EV_BAD_INTERVAL;
        event_o.node  <= '0;
        event_o.info  <= {34'd0, bad_again_q ? bad_index_q : ext_index};
        bad_again_q   <= bad && bad_again_q;
        bad_index_q   <= ext_index;
      end else if (bad) begin
        bad_again_q <= 1'b1;
        bad_index_q <= ext_index;
      end
    end
  end

  // ---------------------------------------------------------------- first cycle: compare
  wire [63:0] last_addr   = req_addr_i + {51'd0, req_len_dw_i, 2'b00} - 64'd1;
  wire [63:0] first_field = (req_addr_i & cfg_mask_i) >> cfg_shift_i;
  // An access lies on one node if no bit of the node changes on its way from the first byte to the last: none at or below the
  // highest bit in which the two differ. Accesses do not cross 4 KB.
  wire [63:0] differs = req_addr_i ^ last_addr;
  logic [11:0] changes;
  always_comb for (int i = 0; i < 12; i++) changes[i] = (differs[11:0] >> i) != '0;
  wire        one_node = ({differs[63:12], changes} & cfg_mask_i) == '0;

  logic        s1_valid_q, s1_masked_q, s1_mask_hit_q;
  logic [63:0] s1_hit_q, s1_addr_q;
  logic [15:0] s1_mask_node_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s1_valid_q     <= 1'b0;
      s1_masked_q    <= 1'b0;
      s1_mask_hit_q  <= 1'b0;
      s1_hit_q       <= '0;
      s1_addr_q      <= '0;
      s1_mask_node_q <= '0;
    end else begin
      s1_valid_q <= req_valid_i;
      if (req_valid_i) begin
        s1_addr_q   <= req_addr_i;
        s1_masked_q <= cfg_mode_i == ggas_regs_pkg::SMFU_MODE_MASK;
        if (cfg_mode_i == ggas_regs_pkg::SMFU_MODE_MASK) begin
          s1_mask_node_q <= first_field[15:0];
          s1_mask_hit_q  <= one_node && first_field < {48'd0, cfg_nodes_i};
        end else begin
          for (int i = 0; i < 64; i++) begin
            s1_hit_q[i] <= armed_q[i] && req_addr_i[63:12] >= start_q[i][63:12] && last_addr[63:12] < end_q[i][63:12] && last_addr >= req_addr_i;
          end
        end
      end
    end
  end

  // ---------------------------------------------------------------- second cycle: select
  logic [5:0] index;
  always_comb begin
    index = '0;
    if (s1_valid_q) begin
      for (int i = 63; i >= 0; i--) if (s1_hit_q[i]) index = i[5:0];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ans_valid_o <= 1'b0;
      ans_hit_o   <= 1'b0;
      ans_node_o  <= '0;
      ans_addr_o  <= '0;
    end else begin
      ans_valid_o <= s1_valid_q;
      if (s1_valid_q) begin
        ans_hit_o  <= s1_masked_q ? s1_mask_hit_q : s1_hit_q != '0;
        ans_node_o <= s1_masked_q ? s1_mask_node_q : node_q[index];
        ans_addr_o <= s1_masked_q ? s1_addr_q & ~cfg_mask_i : s1_addr_q - start_q[index];
      end
    end
  end

  assign busy_o = s1_valid_q || ans_valid_o || event_valid_o || bad_again_q;

endmodule

`default_nettype wire
