// SPDX-License-Identifier: Apache-2.0
// Output register of the link with a spare one, as in skid. The first flit of a packet is ready late in its cycle and
// has a separate input, after all other multiplexers. The spare register holds every flit for a cycle, for the CRC and
// the replay buffer, whether it had to wait or not.
`default_nettype none

module link_out #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic              clk_i,
    input  wire logic              rst_ni,
    output      logic              ready_o,
    // the first flit of a packet; only while ready_o
    input  wire logic              first_i,
    input  wire logic [DATA_W-1:0] first_data_i,  // 0 without first_i
    // any other flit, unless there is a first one
    input  wire logic              other_i,
    input  wire logic [1:0]        other_kind_i,
    input  wire logic [DATA_W-1:0] other_data_i,
    output      logic [DATA_W-1:0] taken_o,       // data of the flit that was taken in the cycle before
    // PHY
    output      logic              valid_o,
    input  wire logic              ready_i,
    output      logic [1:0]        kind_o,
    output      logic [DATA_W-1:0] data_o
);
  logic       spare_q;       // what is in the spare register waits
  logic [1:0] spare_kind_q, kind;
  logic       in, move;      // a flit comes; the output register takes something new

  assign ready_o = !spare_q;
  assign in      = first_i || (other_i && ready_o);
  assign move    = !valid_o || ready_i;
  assign kind    = first_i ? link_pkg::FLIT_SOP : other_kind_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o <= 1'b0;
      spare_q <= 1'b0;
    end else if (move) begin
      valid_o <= spare_q || in;
      spare_q <= 1'b0;
    end else if (in) begin
      spare_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (move) begin
      kind_o <= spare_q ? spare_kind_q : kind;
      data_o <= first_data_i | ((spare_q ? taken_o : other_data_i) & {DATA_W{!first_i}});
    end
    if (!spare_q) begin
      spare_kind_q <= kind;
      taken_o      <= first_data_i | (other_data_i & {DATA_W{!first_i}});
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && first_i) assert (ready_o) else $error("link_out: no room for the flit");
    if (rst_ni && !first_i) assert (first_data_i == '0) else $error("link_out: data without a flit");
  end
`endif
endmodule

`default_nettype wire
