# SPDX-License-Identifier: Apache-2.0
"""A ring of registers around one unit, so that it can be routed by itself.

A unit has more ports than a device has pins. Its inputs are the taps of one shift register, its outputs are taken by
registers and folded into one pin by a chain of XORs: everything is used, nothing is constant, and every path of the
unit begins and ends in a register.
"""

CLOCK, RESET = "clk_i", "rst_ni"

TOP = """
module border (input wire clk, input wire rst_n, input wire si, output wire so);
  reg rst_q, rst_n_q;
  reg [{last_in}:0] in_q;
  reg [{last_out}:0] out_q, fold_q;
  wire [{last_out}:0] out;
  always @(posedge clk) begin
    {{rst_n_q, rst_q}} <= {{rst_q, rst_n}};
    in_q   <= {{in_q, si}};
    out_q  <= out;
    fold_q <= {{fold_q, 1'b0}} ^ out_q;
  end
  assign so = fold_q[{last_out}];
  unit u (
{connections}
  );
endmodule
"""
BLACK_BOX = """
(* blackbox *) module unit (
{ports}
);
endmodule
"""


def ring(ports):
    """Verilog of module `border` around module `unit`, and of `unit` as a black box."""
    at = {"input": 0, "output": 0}
    bus = {"input": "in_q", "output": "out"}
    connections, declarations = [], []
    for way, width, name in ports:
        declarations.append(f"  {way} wire [{width - 1}:0] {name}")
        if name in (CLOCK, RESET):
            connections.append(f"    .{name}({'clk' if name == CLOCK else 'rst_n_q'})")
            continue
        connections.append(f"    .{name}({bus[way]}[{at[way]}+:{width}])")
        at[way] += width
    top = TOP.format(
        last_in=max(at["input"], 2) - 1, last_out=max(at["output"], 2) - 1, connections=",\n".join(connections)
    )
    return top + BLACK_BOX.format(ports=",\n".join(declarations))
