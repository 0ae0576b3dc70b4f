// SPDX-License-Identifier: Apache-2.0
// Round-robin arbiter for packet streams. The grant is combinational; once a beat was accepted the grant stays with its
// owner until the end of the packet, even while the owner pauses. With HOLD it stays from the first offer on, so that
// the output does not change before it is accepted; a requester must then not withdraw.
`default_nettype none

module arbiter_rr #(
    parameter int unsigned N    = 2,    // requesters
    parameter bit          HOLD = 1'b0  // the grant is bound by an offer, not by its first beat
) (
    input  wire logic                 clk_i,
    input  wire logic                 rst_ni,
    input  wire logic                 clear_i,  // forget a packet that was begun
    input  wire logic [N-1:0]         req_i,
    input  wire logic                 take_i,   // the granted requester's beat is taken in this cycle
    input  wire logic                 eop_i,    // that beat ends its packet
    output      logic [N-1:0]         grant_o,  // one-hot, or 0
    output      logic                 locked_o  // the grant is bound
);
  logic [N-1:0] owner_q;  // last one granted: lowest priority next time, or holder of the lock
  logic [N-1:0] pick;
  logic [N-1:0] above;    // requesters above the last owner

  // Bits above the lowest set bit, by doubling: an addition's carry takes longer in an FPGA.
  function automatic logic [N-1:0] beyond(input logic [N-1:0] x);
    beyond = x << 1;
    for (int unsigned i = 1; i < N; i *= 2) beyond |= beyond << i;
  endfunction

  // Requesters above the last owner come first, then the others; the lowest set bit of either group wins.
  always_comb begin
    above = req_i & beyond(owner_q);
    pick  = (above != '0) ? (above & ~beyond(above)) : (req_i & ~beyond(req_i));
  end

  assign grant_o = locked_o ? (owner_q & req_i) : pick;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owner_q  <= {1'b1, {(N - 1) {1'b0}}};
      locked_o <= 1'b0;
    end else if (clear_i) begin
      locked_o <= 1'b0;
    end else if (take_i) begin
      owner_q  <= grant_o;
      locked_o <= !eop_i;
    end else if (HOLD && grant_o != '0) begin
      owner_q  <= grant_o;
      locked_o <= 1'b1;
    end
  end

`ifndef SYNTHESIS
  initial if (N < 2) $error("arbiter_rr: N must be at least 2");
  always_ff @(posedge clk_i) begin
    if (rst_ni && !clear_i && take_i) assert (grant_o != '0) else $error("arbiter_rr: beat taken without a grant");
  end
`endif
endmodule

`default_nettype wire
