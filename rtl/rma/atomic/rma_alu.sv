// SPDX-License-Identifier: Apache-2.0
// The result of an atomic on a word: 32 or 64 bits, signed or unsigned. With 32 bits the upper halves of the inputs are
// ignored and that of the output is 0.
`default_nettype none

module rma_alu (
    input  wire logic [3:0]   op_i,        // AMO_*; others leave the word alone
    input  wire logic         signed_i,    // MIN, MAX
    input  wire logic         wide_i,      // 64 bits
    input  wire logic [63:0]  old_i,
    input  wire logic [63:0]  operand_i,
    input  wire logic [63:0]  compare_i,   // CAS
    output      logic [63:0]  new_o,
    output      logic         write_o      // not for a CAS that does not match
);

  wire [63:0] mask = wide_i ? '1 : 64'h0000_0000_ffff_ffff;
  wire [63:0] a    = old_i & mask;
  wire [63:0] b    = operand_i & mask;
  wire        sign_a = signed_i && (wide_i ? a[63] : a[31]);
  wire        sign_b = signed_i && (wide_i ? b[63] : b[31]);
  wire        less   = sign_a != sign_b ? sign_b : b < a;  // operand < word
  wire        equal  = a == (compare_i & mask);

  assign write_o = op_i != rma_pkg::AMO_CAS || equal;

  logic [63:0] value;
  always_comb begin
    case (op_i)
      rma_pkg::AMO_ADD:  value = a + b;
      rma_pkg::AMO_SWAP: value = b;
      rma_pkg::AMO_CAS:  value = equal ? b : a;
      rma_pkg::AMO_AND:  value = a & b;
      rma_pkg::AMO_OR:   value = a | b;
      rma_pkg::AMO_XOR:  value = a ^ b;
      rma_pkg::AMO_MIN:  value = less ? b : a;
      rma_pkg::AMO_MAX:  value = less ? a : b;
      default:            value = a;
    endcase
  end
  assign new_o = value & mask;

endmodule

`default_nettype wire
