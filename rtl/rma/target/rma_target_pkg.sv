// SPDX-License-Identifier: Apache-2.0
// Kinds of request packets, as rma_target_check reports rma_target.

// verilator lint_off UNUSEDPARAM
package rma_target_pkg;

  localparam logic [2:0] K_PUT    = 3'd0;
  localparam logic [2:0] K_NOTIFY = 3'd1;
  localparam logic [2:0] K_GET    = 3'd2;
  localparam logic [2:0] K_ATOMIC = 3'd3;
  localparam logic [2:0] K_VELO   = 3'd4;
  localparam logic [2:0] K_NONE   = 3'd5;  // no such operation, or from a node that cannot be answered

  // This NIC has the unit that serves it.
  function automatic logic is_built(input logic [2:0] kind);
    is_built = !((kind == K_GET && !ggas_pkg::GETS) || (kind == K_ATOMIC && !ggas_pkg::ATOMICS)
      || (kind == K_VELO && !ggas_pkg::VELO));
  endfunction

endpackage
// verilator lint_on UNUSEDPARAM
