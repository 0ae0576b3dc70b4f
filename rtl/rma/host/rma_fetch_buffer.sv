// SPDX-License-Identifier: Apache-2.0
// Payload between the host and the network: 256 bytes a slot. An arriving beat is rotated to its place and falls into
// at most two rows, of which one is even and one odd: so two banks accept a beat a cycle at any distance between source
// and destination. A beat can be read two cycles after it arrived; rows_o reports the progress of the completion that
// makes a slot complete.
`default_nettype none

module rma_fetch_buffer #(
    parameter int unsigned DATA_W = 64,  // bits of a beat and of a row: 64, 256 or 512
    parameter int unsigned SLOTS  = 16   // a power of two
) (
    input  wire logic                                clk_i,
    input  wire logic                                rst_ni,

    // beats from the host
    input  wire logic                                in_valid_i,
    input  wire logic [$clog2(SLOTS)-1:0]            in_slot_i,
    // byte of the slot that the beat's byte 0 belongs to, modulo 256
    input  wire logic [7:0]                          in_at_i,
    input  wire logic [1:0]                          in_skip_i,   // bytes in front that are not wanted
    input  wire logic [6:0]                          in_bytes_i,  // bytes up to the last one wanted
    input  wire logic [DATA_W-1:0]                   in_data_i,
    input  wire logic                                in_final_i,  // its completion is the last of its read
    input  wire logic                                in_last_i,   // last beat of the read

    // of the final completion being written, if any
    output      logic                                comes_o,
    output      logic [$clog2(SLOTS)-1:0]            comes_slot_o,
    output      logic [$clog2(2048/DATA_W):0]        comes_rows_o, // rows of its slot below this one have been written

    // rows to the network
    input  wire logic                                row_en_i,
    input  wire logic [$clog2(SLOTS)-1:0]            row_slot_i,
    input  wire logic [$clog2(2048/DATA_W)-1:0]      row_i,
    output      logic [DATA_W-1:0]                   row_data_o,  // one cycle after row_en_i
    output      logic                                busy_o
);
  localparam int unsigned B  = DATA_W / 8;
  localparam int unsigned BW = $clog2(B);
  localparam int unsigned RW = $clog2(2048 / DATA_W);

  // ---------------------------------------------------------------- rotation, registered
  logic [2*B-1:0]    lanes;       // bytes wanted, from the start of the beat's first row
  logic [DATA_W-1:0] turned;
  wire  [BW-1:0]     by  = in_at_i[BW-1:0];
  wire  [RW-1:0]     row = in_at_i[7:BW];
  wire  [6:0]        from = {{(7 - BW){1'b0}}, by} + {5'd0, in_skip_i};  // first lane wanted; the first one that is not
  wire  [6:0]        upto = {{(7 - BW){1'b0}}, by} + in_bytes_i;
  always_comb begin
    lanes  = '0;
    turned = '0;
    if (in_valid_i) begin
      lanes  = ({(2*B){1'b1}} << from) & ~({(2*B){1'b1}} << upto);
      turned = by == '0 ? in_data_i : (in_data_i << {by, 3'b000}) | (in_data_i >> (DATA_W[BW+3:0] - {1'b0, by,
        3'b000}));
    end
  end

  logic                     w_q;
  logic [$clog2(SLOTS)-1:0] w_slot_q;
  logic [RW-1:0]            w_row_q;
  logic [2*B-1:0]           w_lanes_q;
  logic [DATA_W-1:0]        w_data_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) w_q <= 1'b0;
    else w_q <= in_valid_i;
  end
  always_ff @(posedge clk_i) begin
    if (in_valid_i) begin
      w_slot_q  <= in_slot_i;
      w_row_q   <= row;
      w_lanes_q <= lanes;
      w_data_q  <= turned;
    end
  end
  assign busy_o = w_q;

  // The end of what will have been written at the next edge.
  wire [7:0] in_last_at = in_at_i + {1'b0, in_bytes_i} - 8'd1;
  // verilator lint_off UNUSEDSIGNAL
  wire [8:0] in_end     = {1'b0, in_last_at} + 9'd1;
  // verilator lint_on UNUSEDSIGNAL
  logic      w_more_q;               // a final completion, and beats of it follow
  logic      w_final_q;
  logic [RW:0] w_rows_q;
  always_ff @(posedge clk_i) begin
    if (in_valid_i) begin
      w_final_q <= in_final_i;
      w_more_q  <= in_final_i && !in_last_i;
      w_rows_q  <= in_end[8:BW];
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      comes_o      <= 1'b0;
      comes_slot_o <= '0;
      comes_rows_o <= '0;
    end else if (w_q && w_final_q) begin
      comes_o      <= w_more_q;
      comes_slot_o <= w_slot_q;
      comes_rows_o <= w_rows_q;
    end
  end

  // ---------------------------------------------------------------- banks: even rows, odd rows
  logic [DATA_W-1:0] even, odd;
  logic              odd_q;        // the row that was read
  wire [RW-2:0]      at_even = w_row_q[0] ? w_row_q[RW-1:1] + 1'b1 : w_row_q[RW-1:1];
  wire [B-1:0]       be_even = w_row_q[0] ? w_lanes_q[2*B-1:B] : w_lanes_q[B-1:0];
  wire [B-1:0]       be_odd  = w_row_q[0] ? w_lanes_q[B-1:0] : w_lanes_q[2*B-1:B];

  ram_be #(.BYTES(B), .DEPTH(SLOTS << (RW - 1))) u_even (
      .clk_i, .we_i(w_q && be_even != '0), .wbe_i(be_even), .waddr_i({w_slot_q, at_even}),
      .wdata_i(w_data_q), .re_i(row_en_i), .raddr_i({row_slot_i, row_i[RW-1:1]}), .rdata_o(even));
  ram_be #(.BYTES(B), .DEPTH(SLOTS << (RW - 1))) u_odd (
      .clk_i, .we_i(w_q && be_odd != '0), .wbe_i(be_odd), .waddr_i({w_slot_q, w_row_q[RW-1:1]}),
      .wdata_i(w_data_q), .re_i(row_en_i), .raddr_i({row_slot_i, row_i[RW-1:1]}), .rdata_o(odd));

  always_ff @(posedge clk_i) if (row_en_i) odd_q <= row_i[0];
  assign row_data_o = odd_q ? odd : even;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && in_valid_i) assert (in_bytes_i <= B[6:0] && {5'd0, in_skip_i} < in_bytes_i);
`endif
endmodule

`default_nettype wire
