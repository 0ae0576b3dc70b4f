// SPDX-License-Identifier: Apache-2.0
// Sum of two IEEE 754 numbers, rounded to nearest, ties to even, with subnormal numbers. A new sum every cycle, with a
// latency of coll_pkg::ALU_CYCLES. A NaN result is the quiet NaN without payload, positive.
`default_nettype none

module coll_float_add #(
    parameter int unsigned E = 8,   // bits of the exponent
    parameter int unsigned M = 23   // bits of the mantissa, without the hidden one
) (
    input  wire logic         clk_i,
    input  wire logic [E+M:0] a_i,
    input  wire logic [E+M:0] b_i,
    output      logic [E+M:0] sum_o
);
  localparam int unsigned W = M + 4;           // hidden bit, mantissa, guard, round, sticky
  localparam int unsigned S = $clog2(W + 1);   // a shift
  localparam logic [E-1:0] INF = '1;

  // What each stage hands on: the sum's sign if it is not zero, and if it is; it is no number; it is infinite.
  typedef struct packed {
    logic sign, zero, nan, inf;
  } note_t;

  // ---------------------------------------------------------------- 1: which is larger
  logic         swap1_q;
  logic [E+M:0] a1_q, b1_q;
  always_ff @(posedge clk_i) begin
    swap1_q <= b_i[E+M-1:0] > a_i[E+M-1:0];
    a1_q    <= a_i;
    b1_q    <= b_i;
  end

  // ---------------------------------------------------------------- 2: the larger one first, distance of exponents
  wire [E+M:0] x = swap1_q ? b1_q : a1_q;
  wire [E+M:0] y = swap1_q ? a1_q : b1_q;
  wire [E-1:0] x_exp = x[E+M-1:M] == '0 ? {{(E - 1) {1'b0}}, 1'b1} : x[E+M-1:M];
  wire [E-1:0] y_exp = y[E+M-1:M] == '0 ? {{(E - 1) {1'b0}}, 1'b1} : y[E+M-1:M];
  wire x_nan = x[E+M-1:M] == INF && x[M-1:0] != '0;
  wire y_nan = y[E+M-1:M] == INF && y[M-1:0] != '0;
  wire x_inf = x[E+M-1:M] == INF && x[M-1:0] == '0;
  wire y_inf = y[E+M-1:M] == INF && y[M-1:0] == '0;
  note_t        note2_q;
  logic         minus2_q;
  logic [E-1:0] exp2_q, distance2_q;
  logic [M:0]   x2_q, y2_q;
  always_ff @(posedge clk_i) begin
    note2_q.sign <= x[E+M];
    note2_q.zero <= x[E+M] && y[E+M];  // a zero is negative only as the sum of negative ones
    note2_q.nan  <= x_nan || y_nan || (x_inf && y_inf && x[E+M] != y[E+M]);
    note2_q.inf  <= x_inf;
    minus2_q     <= x[E+M] != y[E+M];
    exp2_q       <= x_exp;
    distance2_q  <= x_exp - y_exp;
    x2_q         <= {x[E+M-1:M] != '0, x[M-1:0]};
    y2_q         <= {y[E+M-1:M] != '0, y[M-1:0]};
  end

  // ---------------------------------------------------------------- 3, 4: the smaller one to the same exponent
  // Shifts by eights, then by ones. Bits that are shifted out are collected in the sticky bit.
  wire far = distance2_q >= W[E-1:0];
  wire [W-1:0] y_wide = {y2_q, 3'd0};
  wire [S-1:0] eights = {distance2_q[S-1:3], 3'd0};
  note_t        note3_q, note4_q;
  logic         minus3_q, minus4_q, lost3_q;
  logic [E-1:0] exp3_q, exp4_q;
  logic [M:0]   x3_q, x4_q;
  logic [2:0]   ones3_q;
  logic [W-1:0] y3_q, y4_q;
  wire  [W-1:0] y_down = y3_q >> ones3_q;
  wire  [6:0]   y_lost = y3_q[6:0] & ~(7'h7f << ones3_q);
  always_ff @(posedge clk_i) begin
    note3_q  <= note2_q;
    minus3_q <= minus2_q;
    exp3_q   <= exp2_q;
    x3_q     <= x2_q;
    ones3_q  <= distance2_q[2:0];
    y3_q     <= far ? '0 : y_wide >> eights;
    lost3_q  <= (far ? y_wide : y_wide & ~({W{1'b1}} << eights)) != '0;
    note4_q  <= note3_q;
    minus4_q <= minus3_q;
    exp4_q   <= exp3_q;
    x4_q     <= x3_q;
    y4_q     <= {y_down[W-1:1], y_down[0] || y_lost != '0 || lost3_q};
  end

  // ---------------------------------------------------------------- 5: sum or difference
  note_t        note5_q;
  logic [E-1:0] exp5_q;
  logic [W:0]   sum5_q;
  wire  [W-1:0] x_wide = {x4_q, 3'd0};
  always_ff @(posedge clk_i) begin
    note5_q <= note4_q;
    exp5_q  <= exp4_q;
    sum5_q  <= minus4_q ? {1'b0, x_wide} - {1'b0, y4_q} : {1'b0, x_wide} + {1'b0, y4_q};
  end

  // ---------------------------------------------------------------- 6: zeros in front
  logic [S-1:0] zeros;
  always_comb begin
    zeros = W[S-1:0];
    for (int i = 0; i < W; i = i + 1) if (sum5_q[i]) zeros = W[S-1:0] - 1'b1 - i[S-1:0];
  end
  note_t        note6_q;
  logic [E-1:0] exp6_q;
  logic [S-1:0] zeros6_q;
  logic [W:0]   sum6_q;
  always_ff @(posedge clk_i) begin
    note6_q  <= note5_q;
    exp6_q   <= exp5_q;
    zeros6_q <= zeros;
    sum6_q   <= sum5_q;
  end

  // ---------------------------------------------------------------- 7, 8: the first one to the front
  // Shifts as far as the exponent permits; if that is not far enough the result is subnormal.
  wire [E-1:0] room     = exp6_q - 1'b1;
  wire         short_of = {{E{1'b0}}, zeros6_q} > {{S{1'b0}}, room};  // fewer places than zeros
  note_t        note7_q, note8_q;
  logic [S-1:0] places7_q;
  logic [E:0]   exp7_q, exp8_q;  // 0: subnormal or zero
  logic [W-1:0] sum7_q, sum8_q;
  always_ff @(posedge clk_i) begin
    note7_q <= note6_q;
    if (sum6_q[W]) begin
      places7_q <= '0;
      sum7_q    <= {sum6_q[W:2], sum6_q[1] || sum6_q[0]};
      exp7_q    <= {1'b0, exp6_q} + 1'b1;
    end else begin
      places7_q <= short_of ? room[S-1:0] : zeros6_q;
      sum7_q    <= sum6_q[W-1:0];
      exp7_q    <= short_of ? '0 : {1'b0, exp6_q} - {{(E + 1 - S) {1'b0}}, zeros6_q};
    end
    note8_q <= note7_q;
    sum8_q  <= sum7_q << places7_q;
    exp8_q  <= exp7_q;
  end

  // ---------------------------------------------------------------- 9: rounded
  // A carry goes from the mantissa into the exponent: a subnormal number then becomes the smallest normal one.
  wire up = sum8_q[2] && (sum8_q[1:0] != '0 || sum8_q[3]);
  note_t        note9_q;
  logic         none9_q;
  logic [E+M:0] rounded9_q;  // exponent, one bit longer, and mantissa
  always_ff @(posedge clk_i) begin
    note9_q    <= note8_q;
    none9_q    <= sum8_q == '0;
    rounded9_q <= {exp8_q, sum8_q[W-2:3]} + {{(E + M) {1'b0}}, up};
  end

  // ---------------------------------------------------------------- 10: what it is
  always_ff @(posedge clk_i) begin
    if (note9_q.nan) sum_o <= {1'b0, INF, 1'b1, {(M - 1) {1'b0}}};
    else if (note9_q.inf || rounded9_q[E+M:M] >= {1'b0, INF}) sum_o <= {note9_q.sign, INF, {M{1'b0}}};
    else if (none9_q) sum_o <= {note9_q.zero, {(E + M) {1'b0}}};
    else sum_o <= {note9_q.sign, rounded9_q[E+M-1:0]};
  end
endmodule

`default_nettype wire
