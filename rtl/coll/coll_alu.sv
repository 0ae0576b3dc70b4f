// SPDX-License-Identifier: Apache-2.0
// Combines two words of two elements of 32 bits or one of 64, a new pair every cycle. Minimum and maximum of floating
// point numbers are minimumNumber and maximumNumber of IEEE 754-2019: a NaN counts as missing, and -0 is less than 0.
`default_nettype none

module coll_alu (
    input  wire logic        clk_i,
    input  wire logic [2:0]  op_i,    // coll_pkg::SUM ..., held until the last result is out
    input  wire logic [2:0]  kind_i,  // coll_pkg::INT32 ..., likewise
    input  wire logic [63:0] a_i,
    input  wire logic [63:0] b_i,
    output      logic [63:0] out_o    // coll_pkg::ALU_CYCLES later
);
  localparam int unsigned CYCLES = coll_pkg::ALU_CYCLES;
  wire narrow   = kind_i == coll_pkg::INT32 || kind_i == coll_pkg::UINT32 || kind_i == coll_pkg::FLOAT32;
  wire floating = kind_i == coll_pkg::FLOAT32 || kind_i == coll_pkg::FLOAT64;
  wire has_sign = kind_i == coll_pkg::INT32 || kind_i == coll_pkg::INT64;

  // ---------------------------------------------------------------- sums
  logic [63:0] float_narrow, float_wide, sum;
  coll_float_add #(.E(8), .M(23)) u_low (.clk_i, .a_i(a_i[31:0]), .b_i(b_i[31:0]), .sum_o(float_narrow[31:0]));
  coll_float_add #(.E(8), .M(23)) u_high (.clk_i, .a_i(a_i[63:32]), .b_i(b_i[63:32]), .sum_o(float_narrow[63:32]));
  coll_float_add #(.E(11), .M(52)) u_wide (.clk_i, .a_i, .b_i, .sum_o(float_wide));
  wire [32:0] low = {1'b0, a_i[31:0]} + {1'b0, b_i[31:0]};
  assign sum = {a_i[63:32] + b_i[63:32] + {31'd0, low[32] && !narrow}, low[31:0]};

  // ---------------------------------------------------------------- the second one is less
  // Signed numbers are compared as unsigned ones with an inverted sign bit; negative floating point numbers are
  // inverted.
  function automatic logic [31:0] in_order32(input logic [31:0] v, input logic with_sign, input logic as_float);
    in_order32 = as_float && v[31] ? ~v : {v[31] ^ (with_sign || as_float), v[30:0]};
  endfunction
  function automatic logic [63:0] in_order64(input logic [63:0] v, input logic with_sign, input logic as_float);
    in_order64 = as_float && v[63] ? ~v : {v[63] ^ (with_sign || as_float), v[62:0]};
  endfunction
  function automatic logic is_nan32(input logic [30:0] v);
    is_nan32 = v[30:23] == '1 && v[22:0] != '0;
  endfunction
  function automatic logic is_nan64(input logic [62:0] v);
    is_nan64 = v[62:52] == '1 && v[51:0] != '0;
  endfunction
  wire first_nan_low  = floating && is_nan32(a_i[30:0]), second_nan_low = floating && is_nan32(b_i[30:0]);
  wire first_nan_high = floating && is_nan32(a_i[62:32]), second_nan_high = floating && is_nan32(b_i[62:32]);
  wire first_nan_wide = floating && is_nan64(a_i[62:0]), second_nan_wide = floating && is_nan64(b_i[62:0]);
  wire [31:0] a_low  = in_order32(a_i[31:0], has_sign, floating), b_low = in_order32(b_i[31:0], has_sign, floating);
  wire [31:0] a_high = in_order32(a_i[63:32], has_sign, floating), b_high = in_order32(b_i[63:32], has_sign, floating);
  wire [63:0] a_wide = in_order64(a_i, has_sign, floating), b_wide = in_order64(b_i, has_sign, floating);
  wire max = op_i == coll_pkg::MAX;
  wire take_low  = first_nan_low || (!second_nan_low && (max ? b_low > a_low : b_low < a_low));
  wire take_high = first_nan_high || (!second_nan_high && (max ? b_high > a_high : b_high < a_high));
  wire take_wide = first_nan_wide || (!second_nan_wide && (max ? b_wide > a_wide : b_wide < a_wide));
  wire [63:0] chosen = {(narrow ? take_high : take_wide) ? b_i[63:32] : a_i[63:32],
                        (narrow ? take_low : take_wide) ? b_i[31:0] : a_i[31:0]};

  // ---------------------------------------------------------------- all take as long as a floating point sum
  logic [63:0] now, later_q [0:CYCLES-1];
  always_comb begin
    case (op_i)
      coll_pkg::SUM: now = sum;
      coll_pkg::AND: now = a_i & b_i;
      coll_pkg::OR:  now = a_i | b_i;
      coll_pkg::XOR: now = a_i ^ b_i;
      coll_pkg::COPY: now = b_i;
      default:       now = chosen;
    endcase
  end
  always_ff @(posedge clk_i) begin
    later_q[0] <= now;
    for (int i = 1; i < CYCLES; i = i + 1) later_q[i] <= later_q[i-1];
  end
  assign out_o = op_i != coll_pkg::SUM || !floating ? later_q[CYCLES-1] : narrow ? float_narrow : float_wide;
endmodule

`default_nettype wire
