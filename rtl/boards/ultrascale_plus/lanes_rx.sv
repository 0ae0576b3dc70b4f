// SPDX-License-Identifier: Apache-2.0
// Blocks of all lanes to flits. Lanes may be late against each other by less than their buffers; markers show how much.
// If a flit is lost here, bad_o counts it or `up` falls. The CRC of the link finds bits of a flit that the wire
// changed.
`default_nettype none

module lanes_rx #(
    /// Lanes of 64 bit: 4 or 8.
    parameter int unsigned LANES = 4
) (
    /// Recovered clock of each lane.
    input  wire logic [LANES-1:0]    rx_clk_i,
    input  wire logic [LANES-1:0]    rx_rst_ni,
    input  wire logic [LANES-1:0]    rx_valid_i,
    input  wire logic [2*LANES-1:0]  rx_header_i,
    input  wire logic [64*LANES-1:0] rx_data_i,
    output      logic [LANES-1:0]    rx_slip_o,

    /// The NIC's clock.
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    /// Flits come only while it is 1.
    output      logic                up_o,
    output      logic                flit_valid_o,
    output      logic [1:0]          flit_kind_o,
    output      logic [64*LANES-1:0] flit_data_o,
    /// Pulse: a flit or an idle block was not usable.
    output      logic                bad_o
);
  localparam logic [1:0] S_FLUSH = 2'd0, S_SEEK = 2'd1, S_RUN = 2'd2;
  logic [LANES-1:0]    aligned, overflow, valid, ready, first, bad, code;
  logic [64*LANES-1:0] data;
  logic [1:0]          state_q;
  logic [6:0]          count_q;  // FLUSH: cycles; else: cycles without a block
  for (genvar l = 0; l < LANES; l = l + 1) begin : g_lane
    lane_rx #(.LANE(l[2:0])) i_lane (
        .rx_clk_i(rx_clk_i[l]), .rx_rst_ni(rx_rst_ni[l]), .rx_valid_i(rx_valid_i[l]), .rx_header_i(rx_header_i[2*l+:2]),
        .rx_data_i(rx_data_i[64*l+:64]), .rx_slip_o(rx_slip_o[l]), .clk_i, .rst_ni, .hold_i(state_q == S_FLUSH),
        .aligned_o(aligned[l]), .overflow_o(overflow[l]), .valid_o(valid[l]), .ready_i(ready[l]), .first_o(first[l]),
        .bad_o(bad[l]), .code_o(code[l]), .data_o(data[64*l+:64])
    );
  end

  // FLUSH empties the buffers. SEEK drops what is before a marker; then all lanes continue together.
  wire all    = &valid;
  wire take   = state_q == S_RUN && all;
  wire skewed = first != '0 && first != '1;
  wire silent = &count_q;
  assign ready = state_q == S_FLUSH ? '1 : state_q == S_SEEK ? ~first : {LANES{all}};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= S_FLUSH;
      count_q <= '0;
    end else begin
      count_q <= state_q != S_FLUSH && all ? '0 : count_q + {6'd0, !silent};
      case (state_q)
        S_FLUSH: begin
          if (!(&aligned)) count_q <= '0;
          else if (silent && overflow == '0) begin
            state_q <= S_SEEK;
            count_q <= '0;
          end
        end
        S_SEEK:  if (all && first == '1) state_q <= S_RUN;
        default: ;
      endcase
      if (state_q != S_FLUSH &&
          (!(&aligned) || overflow != '0 || (state_q == S_RUN && silent) || (take && skewed))) begin
        state_q <= S_FLUSH;
        count_q <= '0;
      end
    end
  end

  // ---- flits
  logic [1:0] kind;
  logic       known, idle, twice;
  always_comb begin
    kind  = 2'd0;
    known = 1'b0;
    for (int unsigned k = 0; k < 4; k = k + 1) begin
      if (code[3:0] == lane_pkg::code(k[1:0])) begin
        kind  = k[1:0];
        known = 1'b1;
      end
    end
    idle  = code[3:0] == lane_pkg::CODE_IDLE;
    twice = 1'b1;
    for (int unsigned l = 4; l < LANES; l = l + 1) twice = twice && code[l] == code[l%4];
  end
  wire fine = bad == '0 && twice && !skewed && (known || idle);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      up_o         <= 1'b0;
      flit_valid_o <= 1'b0;
      bad_o        <= 1'b0;
    end else begin
      up_o         <= state_q == S_RUN;
      flit_valid_o <= take && fine && !idle;
      bad_o        <= take && !fine;
    end
  end
  always_ff @(posedge clk_i) begin
    flit_kind_o <= kind;
    flit_data_o <= data;
  end
endmodule

`default_nettype wire
