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

endpackage
// verilator lint_on UNUSEDPARAM
