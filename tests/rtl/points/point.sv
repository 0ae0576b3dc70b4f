// SPDX-License-Identifier: Apache-2.0
// Points of functional coverage (docs/rtl-tests.md). A file <module>.sv next to this one has those of a module: it is
// bound to every instance, sees the module's own signals by name, and is part of builds for coverage only. `POINT(name,
// condition): the condition was true in a cycle out of reset. Names are unique within a module: Verilator adds counts
// with the same name, so a generate loop would hide which of its points was reached.
`define POINT(name, condition) name: cover property (@(posedge clk_i) disable iff (!rst_ni) (condition))
`define POINT_BIT(name, vector, i) `POINT(name, 1'((vector) >> i))
// A point for each virtual channel, or for each of the lower bits of a vector.
`define POINTS_VC(name, vector) \
  `POINT_BIT(name``_p, vector, 0); `POINT_BIT(name``_np, vector, 1); \
  `POINT_BIT(name``_rsp, vector, 2); `POINT_BIT(name``_rma, vector, 3)
`define POINTS_2(name, vector) `POINT_BIT(name``_0, vector, 0); `POINT_BIT(name``_1, vector, 1)
`define POINTS_4(name, vector) \
  `POINTS_2(name, vector); `POINT_BIT(name``_2, vector, 2); `POINT_BIT(name``_3, vector, 3)
`define POINTS_5(name, vector) `POINTS_4(name, vector); `POINT_BIT(name``_4, vector, 4)
`define POINTS_7(name, vector) `POINTS_5(name, vector); `POINT_BIT(name``_5, vector, 5); `POINT_BIT(name``_6, vector, 6)
`define POINTS_8(name, vector) `POINTS_7(name, vector); `POINT_BIT(name``_7, vector, 7)
