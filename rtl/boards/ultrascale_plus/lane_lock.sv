// SPDX-License-Identifier: Apache-2.0
// Finds the borders of 66-bit blocks: their first two bits differ. Locked after 64 good headers in a row; unlocked, with a
// slip by a bit, after 16 bad ones among 64.
`default_nettype none

module lane_lock #(
    /// Blocks until a slip has reached rx_header_i.
    parameter int unsigned SLIP_WAIT = 32
) (
    input  wire logic       clk_i,
    input  wire logic       rst_ni,
    input  wire logic       valid_i,
    input  wire logic [1:0] header_i,
    /// Pulse: move the border by a bit.
    output      logic       slip_o,
    output      logic       locked_o
);
  logic [5:0] seen_q;  // headers of this window
  logic [3:0] bad_q;   // bad ones among them
  logic [5:0] wait_q;
  wire bad  = header_i[0] == header_i[1];
  wire lose = bad && (!locked_o || bad_q == 4'd15);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      seen_q   <= '0;
      bad_q    <= '0;
      wait_q   <= '0;
      slip_o   <= 1'b0;
      locked_o <= 1'b0;
    end else begin
      slip_o <= 1'b0;
      if (valid_i && wait_q != '0) wait_q <= wait_q - 6'd1;
      else if (valid_i) begin
        seen_q <= seen_q + 6'd1;
        if (bad) bad_q <= bad_q + 4'd1;
        if (seen_q == '1) begin
          bad_q    <= '0;
          locked_o <= locked_o || !bad;
        end
        if (lose) begin
          locked_o <= 1'b0;
          slip_o   <= 1'b1;
          wait_q   <= SLIP_WAIT[5:0];
          seen_q   <= '0;
          bad_q    <= '0;
        end
      end
    end
  end
`ifndef SYNTHESIS
  initial if (SLIP_WAIT == 0 || SLIP_WAIT > 63) $error("lane_lock: SLIP_WAIT must be 1 to 63");
`endif
endmodule

`default_nettype wire
