// SPDX-License-Identifier: Apache-2.0
// The COLL registers: the configuration of a group, for look-ups by page, by packet, and for the engine. They change
// only while the group is stopped, so everything in flight for it belongs to one owner and one tree; a write of CTRL
// may switch it off.
`default_nettype none

module coll_groups (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // COLL registers; the answer in the next cycle
    input  wire logic                ext_req_i,
    input  wire logic                ext_write_i,
    input  wire logic [8:3]          ext_addr_i,    // group, word
    input  wire logic [63:0]         ext_wdata_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [7:0]          ext_wstrb_i,   // halves as a whole
    // verilator lint_on UNUSEDSIGNAL
    output      logic [63:0]         ext_rdata_o,
    output      logic [2:0]          look_group_o,  // whose STATE is wanted, in the same cycle
    input  wire logic [63:0]         look_state_i,
    input  wire logic [7:0]          stopped_i,     // groups that are off, and nothing is under way for

    output      logic [7:0]          enable_o,
    output      logic [7:0]          alone_o,       // groups that have no other node

    // page: group that a context starts from a block of its page
    input  wire logic [7:0]          page_vpid_i,
    input  wire logic [1:0]          page_block_i,
    output      logic                page_found_o,
    output      logic [2:0]          page_group_o,

    // packet: is it one of the group's, and from whom? 0: the parent, 1 ... 4: a child, 7: neither
    input  wire logic [2:0]          rx_group_i,
    input  wire logic [15:0]         rx_src_i,
    input  wire logic [15:0]         rx_domain_i,
    input  wire logic [7:0]          rx_epoch_i,
    output      logic                rx_known_o,
    output      logic [2:0]          rx_from_o,

    // engine
    input  wire logic [2:0]          job_group_i,
    input  wire logic [2:0]          job_child_i,    // 1 ... 4, 0: the parent
    output      coll_pkg::group_t    job_o,
    output      logic [15:0]         job_node_o,
    output      logic [63:10]        job_result_o
);
  localparam int unsigned N = coll_pkg::GROUPS;
  localparam int unsigned B = coll_pkg::GROUP_BITS;
  localparam logic [2:0] CTRL = 3'd0, PARENT = 3'd1, CHILDREN = 3'd2, RESULT = 3'd3, STATE = 3'd4;

  logic [B-1:0]  ctrl_q [0:N-1];
  logic [15:0]   parent_q [0:N-1];
  logic [63:0]   children_q [0:N-1];
  logic [63:10]  result_q [0:N-1];

  // ---------------------------------------------------------------- registers
  wire [2:0]  at    = ext_addr_i[8:6];
  wire [2:0]  word  = ext_addr_i[5:3];
  wire        access = ext_req_i && ext_write_i;
  wire        write = access && stopped_i[at];
  wire        low   = ext_wstrb_i[0], high = ext_wstrb_i[4];
  wire [B-1:0] ctrl = ctrl_q[at];
  always_ff @(posedge clk_i) begin
    if (write && word == CTRL)
      ctrl_q[at] <= {high ? ext_wdata_i[47:32] : ctrl[B-1:22], low ? {ext_wdata_i[31:24], ext_wdata_i[23:16],
        ext_wdata_i[9:8], ext_wdata_i[4:2], ext_wdata_i[1]} : ctrl[21:0]};
    if (write && word == PARENT && low) parent_q[at] <= ext_wdata_i[15:0];
    if (write && word == CHILDREN)
      children_q[at] <= {high ? ext_wdata_i[63:32] : children_q[at][63:32],
                         low ? ext_wdata_i[31:0] : children_q[at][31:0]};
    if (write && word == RESULT)
      result_q[at] <= {high ? ext_wdata_i[63:32] : result_q[at][63:32],
                       low ? ext_wdata_i[31:10] : result_q[at][31:10]};
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) enable_o <= '0;
    else if (access && word == CTRL && low && (stopped_i[at] || !ext_wdata_i[0])) enable_o[at] <= ext_wdata_i[0];
  end

  // verilator lint_off UNUSEDSIGNAL
  logic [B-1:0] tree;
  // verilator lint_on UNUSEDSIGNAL
  always_comb begin
    for (int g = 0; g < N; g = g + 1) begin
      tree       = ctrl_q[g];
      alone_o[g] = tree[3:0] == 4'b0001;  // a root without children
    end
  end

  assign look_group_o = at;
  always_ff @(posedge clk_i) begin
    if (ext_req_i) begin
      case (word)
        CTRL:     ext_rdata_o <= {16'd0, ctrl[37:22], ctrl[21:14], ctrl[13:6], 6'd0, ctrl[5:4], 3'd0, ctrl[3:1],
          ctrl[0], enable_o[at]};
        PARENT:   ext_rdata_o <= {48'd0, parent_q[at]};
        CHILDREN: ext_rdata_o <= children_q[at];
        RESULT:   ext_rdata_o <= {result_q[at], 10'd0};
        STATE:    ext_rdata_o <= look_state_i;
        default:  ext_rdata_o <= '0;
      endcase
    end
  end

  // ---------------------------------------------------------------- who asks
  // verilator lint_off UNUSEDSIGNAL
  logic [B-1:0] each;
  // verilator lint_on UNUSEDSIGNAL
  always_comb begin
    page_found_o = 1'b0;
    page_group_o = '0;
    each         = '0;
    for (int g = 0; g < N; g = g + 1) begin
      each = ctrl_q[g];
      if (enable_o[g] && each[5:4] == page_block_i && each[13:6] == page_vpid_i) begin
        page_found_o = 1'b1;
        page_group_o = g[2:0];
      end
    end
  end

  // verilator lint_off UNUSEDSIGNAL
  wire [B-1:0]  rx_ctrl     = ctrl_q[rx_group_i];
  // verilator lint_on UNUSEDSIGNAL
  wire [63:0]   rx_children = children_q[rx_group_i];
  assign rx_known_o = enable_o[rx_group_i] && rx_ctrl[37:22] == rx_domain_i && rx_ctrl[21:14] == rx_epoch_i;
  always_comb begin
    rx_from_o = 3'd7;
    for (int c = 3; c >= 0; c = c - 1)
      if (rx_ctrl[3:1] > c[2:0] && rx_children[16*c+:16] == rx_src_i) rx_from_o = c[2:0] + 1'b1;
    if (!rx_ctrl[0] && parent_q[rx_group_i] == rx_src_i) rx_from_o = 3'd0;
  end

  wire [63:0] job_children = children_q[job_group_i];
  assign job_o        = ctrl_q[job_group_i];
  assign job_result_o = result_q[job_group_i];
  always_comb begin
    case (job_child_i)
      3'd0:    job_node_o = parent_q[job_group_i];
      3'd1:    job_node_o = job_children[15:0];
      3'd2:    job_node_o = job_children[31:16];
      3'd3:    job_node_o = job_children[47:32];
      default: job_node_o = job_children[63:48];
    endcase
  end
endmodule

`default_nettype wire
