// SPDX-License-Identifier: Apache-2.0
// Sum of two IEEE 754 numbers, rounded to nearest, ties to even; subnormal numbers are numbers. A new sum every cycle,
// 5 cycles long. A sum that is no number is the quiet NaN without payload, positive.
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

  // ---------------------------------------------------------------- 1: the larger one first, distance of exponents
  wire swap = b_i[E+M-1:0] > a_i[E+M-1:0];
  wire [E+M:0] x = swap ? b_i : a_i;
  wire [E+M:0] y = swap ? a_i : b_i;
  wire [E-1:0] x_exp = x[E+M-1:M] == '0 ? {{(E - 1) {1'b0}}, 1'b1} : x[E+M-1:M];
  wire [E-1:0] y_exp = y[E+M-1:M] == '0 ? {{(E - 1) {1'b0}}, 1'b1} : y[E+M-1:M];
  wire x_nan = x[E+M-1:M] == INF && x[M-1:0] != '0;
  wire y_nan = y[E+M-1:M] == INF && y[M-1:0] != '0;
  wire x_inf = x[E+M-1:M] == INF && x[M-1:0] == '0;
  wire y_inf = y[E+M-1:M] == INF && y[M-1:0] == '0;
  logic         sign1_q, minus1_q, nan1_q, inf1_q, zero1_q;
  logic [E-1:0] exp1_q, distance1_q;
  logic [M:0]   x1_q, y1_q;
  always_ff @(posedge clk_i) begin
    sign1_q     <= x[E+M];
    minus1_q    <= x[E+M] != y[E+M];
    nan1_q      <= x_nan || y_nan || (x_inf && y_inf && x[E+M] != y[E+M]);
    inf1_q      <= x_inf;
    zero1_q     <= x[E+M] && y[E+M];  // a zero is negative only as the sum of negative ones
    exp1_q      <= x_exp;
    distance1_q <= x_exp - y_exp;
    x1_q        <= {x[E+M-1:M] != '0, x[M-1:0]};
    y1_q        <= {y[E+M-1:M] != '0, y[M-1:0]};
  end

  // ---------------------------------------------------------------- 2: the smaller one to the same exponent
  wire far = distance1_q >= W[E-1:0];
  wire [W-1:0] y_wide = {y1_q, 3'd0};
  wire [W-1:0] y_down = far ? '0 : y_wide >> distance1_q[S-1:0];
  wire [W-1:0] y_lost = far ? y_wide : y_wide & ~({W{1'b1}} << distance1_q[S-1:0]);
  logic         sign2_q, minus2_q, nan2_q, inf2_q, zero2_q;
  logic [E-1:0] exp2_q;
  logic [W-1:0] x2_q, y2_q;
  always_ff @(posedge clk_i) begin
    {sign2_q, minus2_q, nan2_q, inf2_q, zero2_q, exp2_q} <= {sign1_q, minus1_q, nan1_q, inf1_q, zero1_q, exp1_q};
    x2_q <= {x1_q, 3'd0};
    y2_q <= {y_down[W-1:1], y_down[0] || y_lost != '0};
  end

  // ---------------------------------------------------------------- 3: sum or difference
  logic         sign3_q, nan3_q, inf3_q, zero3_q;
  logic [E-1:0] exp3_q;
  logic [W:0]   sum3_q;
  always_ff @(posedge clk_i) begin
    {sign3_q, nan3_q, inf3_q, zero3_q, exp3_q} <= {sign2_q, nan2_q, inf2_q, zero2_q, exp2_q};
    sum3_q <= minus2_q ? {1'b0, x2_q} - {1'b0, y2_q} : {1'b0, x2_q} + {1'b0, y2_q};
  end

  // ---------------------------------------------------------------- 4: the first one to the front
  // As far as the exponent goes; what stays behind is subnormal.
  logic [S-1:0] zeros;
  always_comb begin
    zeros = W[S-1:0];
    for (int i = 0; i < W; i = i + 1) if (sum3_q[i]) zeros = W[S-1:0] - 1'b1 - i[S-1:0];
  end
  wire [E-1:0] room  = exp3_q - 1'b1;
  wire         short_of = {{E{1'b0}}, zeros} > {{S{1'b0}}, room};  // fewer places than zeros
  wire [S-1:0] places   = short_of ? room[S-1:0] : zeros;
  logic         sign4_q, nan4_q, inf4_q, zero4_q;
  logic [E:0]   exp4_q;   // 0: subnormal or zero
  logic [W-1:0] sum4_q;
  always_ff @(posedge clk_i) begin
    {sign4_q, nan4_q, inf4_q} <= {sign3_q, nan3_q, inf3_q};
    zero4_q <= zero3_q;
    if (sum3_q[W]) begin
      sum4_q <= {sum3_q[W:2], sum3_q[1] || sum3_q[0]};
      exp4_q <= {1'b0, exp3_q} + 1'b1;
    end else begin
      sum4_q <= sum3_q[W-1:0] << places;
      exp4_q <= short_of ? '0 : {1'b0, exp3_q} - {{(E + 1 - S) {1'b0}}, zeros};
    end
  end

  // ---------------------------------------------------------------- 5: rounded
  // A carry goes from the mantissa into the exponent: out of a subnormal number becomes the smallest normal one.
  wire up = sum4_q[2] && (sum4_q[1:0] != '0 || sum4_q[3]);
  wire [E+M:0] rounded = {exp4_q, sum4_q[W-2:3]} + {{(E + M) {1'b0}}, up};
  wire none = sum4_q == '0;
  always_ff @(posedge clk_i) begin
    if (nan4_q) sum_o <= {1'b0, INF, 1'b1, {(M - 1) {1'b0}}};
    else if (inf4_q || rounded[E+M:M] >= {1'b0, INF}) sum_o <= {sign4_q, INF, {M{1'b0}}};
    else if (none) sum_o <= {zero4_q, {(E + M) {1'b0}}};
    else sum_o <= {sign4_q, rounded[E+M-1:0]};
  end
endmodule

`default_nettype wire
