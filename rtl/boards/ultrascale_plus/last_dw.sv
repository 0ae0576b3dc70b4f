// SPDX-License-Identifier: Apache-2.0
// Place of the last DW of a beat.
`default_nettype none

module last_dw #(
    /// DW in a beat: a power of two.
    parameter int unsigned N = 16
) (
    /// Without holes, from bit 0 on; bit 0 is set.
    input  wire logic [N-1:0]         keep_i,
    output      logic [$clog2(N)-1:0] at_o
);
  always_comb begin
    at_o = '0;
    for (int unsigned i = 1; i < N; i = i + 1) if (keep_i[i]) at_o = i[$clog2(N)-1:0];
  end
  wire unused = keep_i[0];
endmodule

`default_nettype wire
