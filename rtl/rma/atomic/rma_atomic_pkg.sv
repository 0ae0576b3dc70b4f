// SPDX-License-Identifier: Apache-2.0
// What the modules of rma_atomic hand to each other.

package rma_atomic_pkg;

  localparam int unsigned OP_W = 321;  // bits of op_t

  // An operation, but for its word.
  typedef struct packed {
    logic [15:0] src;       // header of the packet, for the answer
    logic [15:0] pd;
    logic [7:0]  svpid;
    logic [7:0]  epoch;
    logic [7:0]  dvpid;
    logic        result;    // RMA_RESULT
    logic        ack;       // RMA_ACK
    logic        held;      // its translation is in use: pulse tr_done when over
    logic        quiet;     // no event if it fails: it has been reported
    logic [3:0]  amo;       // AMO_*
    logic        is_signed;
    logic [63:0] operand;
    logic [63:0] compare;
    logic [63:0] result_nla;
    logic [63:0] cookie;
  } op_t;

endpackage
