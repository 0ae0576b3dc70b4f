// SPDX-License-Identifier: Apache-2.0
// Where a record of a ring in host memory goes, and its phase, by which software sees that it is new: 1 in the first
// round, then alternating. Combinational.
`default_nettype none

module ring_slot #(
    parameter int unsigned LOG_MAX  = 16,  // log2 of the records of the largest ring
    parameter int unsigned LOG_SLOT = 4    // log2 of the bytes from one record to the next
) (
    input  wire logic [63:12] base_i,
    input  wire logic [4:0]   log_i,    // log2 of the records
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [31:0]  count_i,  // records written before
    // verilator lint_on UNUSEDSIGNAL
    output      logic [63:0]  addr_o,
    output      logic         phase_o
);
  wire [LOG_MAX-1:0] slot = count_i[LOG_MAX-1:0] & ~({LOG_MAX{1'b1}} << log_i);
  assign addr_o  = {base_i, 12'd0} + 64'({slot, {LOG_SLOT{1'b0}}});
  assign phase_o = !count_i[log_i];
endmodule

`default_nettype wire
