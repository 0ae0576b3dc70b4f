// SPDX-License-Identifier: Apache-2.0
// What the parts of the collective unit share (docs/coll.md).
`default_nettype none

// A package is a vocabulary: no build uses every word of it.
// verilator lint_off UNUSEDPARAM
package coll_pkg;
  localparam int unsigned GROUPS   = 8;   // groups of nodes, each with a tree of its own
  localparam int unsigned CHILDREN = 4;   // of a node in a tree, at most
  localparam int unsigned WORDS    = 32;  // 64-bit words of a contribution, at most; in the buffers rows of DATA_W
  localparam int unsigned ALU_CYCLES = 10;  // of coll_alu

  // Operations and types of elements, as in the command word and in packets.
  localparam logic [2:0] SUM = 3'd0, MIN = 3'd1, MAX = 3'd2, AND = 3'd3, OR = 3'd4, XOR = 3'd5;
  localparam logic [2:0] COPY = 3'd7;  // inside the unit: the second word alone
  localparam logic [2:0] INT32 = 3'd0, UINT32 = 3'd1, INT64 = 3'd2, UINT64 = 3'd3, FLOAT32 = 3'd4, FLOAT64 = 3'd5;

  // The command of a member. Bits of the command word in the same order: words 5:0, op 10:8, kind 14:12, contributes
  // 16, wants 17; fenced 18 stays in the own NIC. A packet has `status` in its header, the rest in `addr`.
  typedef struct packed {
    logic [3:0] status;       // ST_*: not ST_OK, and the whole operation fails
    logic       wants;        // its result is written here, not only the flag
    logic       contributes;  // its words take part; else it only waits for the others
    logic [2:0] kind;         // type of the elements
    logic [2:0] op;
    logic [5:0] words;        // 0 ... 32
  } ask_t;
  localparam int unsigned ASK_W = 18;
  localparam int unsigned BROKEN = 14;  // bit of `addr` after those: the sender's group is broken

  // Register CTRL of a group, without `enable`.
  typedef struct packed {
    logic [15:0] domain;    // stamped on its packets, and asked of those that come
    logic [7:0]  epoch;     // likewise: a packet of another life of the group is dropped
    logic [7:0]  owner;     // context whose page starts operations of the group
    logic [1:0]  block;     // of that page
    logic [2:0]  children;  // 0 ... 4
    logic        root;      // it has no parent
  } group_t;
  localparam int unsigned GROUP_BITS = 38;
endpackage
// verilator lint_on UNUSEDPARAM

`default_nettype wire
