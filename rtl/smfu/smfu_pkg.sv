// SPDX-License-Identifier: Apache-2.0
// What the modules of the SMFU share: byte-enable arithmetic and packet checks.

// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
package smfu_pkg;

  localparam int unsigned DIRTY_NODES = 64;  // nodes that a quiet round and what is after it may have to ask
  localparam int unsigned INTERVALS = `GGAS_INTERVALS;  // 16 or 64
  localparam int unsigned INTERVAL_W = $clog2(INTERVALS);
  typedef logic [INTERVAL_W-1:0] interval_t;
  localparam logic [6:0]  NO_INTERVAL = 7'd64;

  // Payload DW of the largest load: a slot of smfu_rob holds as much.
  localparam logic [10:0] LOAD_DW = 11'd64;

  // What is left of a host read: whom its completions go to, and from where on.
  typedef struct packed {
    logic [15:0] requester;
    logic [9:0]  tag;
    logic [2:0]  attr;
    logic [12:0] bytes;   // byte count of the next completion
    logic [10:0] len_dw;
    logic [7:0]  addr;    // low bits of the address, of the first enabled byte
  } left_t;

  // Registers and configuration space, as the unit sees them.
  typedef struct packed {
    logic [15:0] node;
    logic        egress;
    logic        ingress;
    logic        mode;          // SMFU_MODE_*
    logic [63:0] mask;
    logic [5:0]  shift;
    logic [15:0] nodes;
    logic [7:0]  export_no;     // mask mode: what all accesses name
    logic [15:0] domain;
    logic [15:0] timeout_load;  // ticks
    logic [15:0] timeout_host;  // ticks
    logic [12:0] mps;           // bytes
    logic [12:0] mrrs;          // bytes
  } config_t;

  // Counters, in the order of the registers.
  localparam int unsigned STORES_IN = 0, LOADS_IN = 1, STORE_PACKETS = 2, LOAD_PACKETS = 3, LOAD_CPLS = 4,
    LOAD_ERRORS = 5, QUIETS = 6, TARGET_STORES = 7, TARGET_LOADS = 8, COUNTERS = 9;

  // Where a window access goes, and on whose behalf.
  typedef struct packed {
    logic        group;   // `node` is one; loads lead nowhere
    logic [15:0] domain;
    logic [7:0]  export_no;
    logic [15:0] node;
  } target_t;

  // What other nodes may reach, as stores or as loads see it.
  typedef struct packed {
    logic         valid;
    logic         right;   // stores, or loads, are allowed
    logic [15:0]  domain;
    logic [63:12] base;
    logic [63:12] size;
  } export_t;
  localparam int unsigned EXPORT_W = 122;

  // MPS is below the largest load: then it is 128, the least.
  function logic is_half(input logic [12:0] mps);
    is_half = mps[12:8] == '0;
  endfunction

  // DW of the next chunk of a load: up to the next multiple of 256 bytes and of MPS.
  function logic [10:0] chunk_dw(input logic [7:2] addr, input logic [10:0] left, input logic half);
    logic [12:0] border;
    border   = ggas_pkg::to_border({4'd0, addr, 2'b00}, half ? 13'd128 : 13'd256);
    chunk_dw = left <= border[12:2] ? left : border[12:2];
  endfunction

  // First enabled byte of a DW; 0 if none is enabled.
  function logic [1:0] be_first(input logic [3:0] be);
    be_first = be[0] ? 2'd0 : be[1] ? 2'd1 : be[2] ? 2'd2 : be[3] ? 2'd3 : 2'd0;
  endfunction

  // Bytes after the last enabled one of a DW; 3 if none is enabled (a zero-length read counts one byte).
  function logic [1:0] be_trail(input logic [3:1] be);
    be_trail = be[3] ? 2'd0 : be[2] ? 2'd1 : be[1] ? 2'd2 : 2'd3;
  endfunction

  // PCIe byte count of a read: first to last enabled byte.
  function logic [12:0] byte_count(input logic [10:0] len_dw, input logic [3:0] first_be, input logic [3:0] last_be);
    byte_count = {len_dw, 2'b00} - {11'd0, be_first(first_be)} - {11'd0,
      be_trail(len_dw == 11'd1 ? first_be[3:1] : last_be[3:1])};
  endfunction

  // Byte enables as PCIe allows them. Holes, and nothing at all, are for one DW; holes also for an aligned pair.
  function logic be_good(input logic addr2, input logic [10:0] len_dw, input logic [3:0] first_be,
    input logic [3:0] last_be);
    if (len_dw == 11'd1) be_good = last_be == 4'd0;
    else if (len_dw == 11'd2 && !addr2) be_good = first_be != 4'd0 && last_be != 4'd0;
    else be_good = (first_be == 4'h8 || first_be == 4'hc || first_be == 4'he || first_be == 4'hf)
                   && (last_be == 4'h1 || last_be == 4'h3 || last_be == 4'h7 || last_be == 4'hf);
  endfunction

  // The lowest member of a set: its group of eight, and which of them.
  function logic [5:0] lowest(input logic [63:0] set);
    logic [7:0] group;
    lowest = '0;
    group  = '0;
    for (int i = 7; i >= 0; i--) if (set[8*i+:8] != '0) {lowest[5:3], group} = {i[2:0], set[8*i+:8]};
    for (int i = 7; i >= 0; i--) if (group[i]) lowest[2:0] = i[2:0];
  endfunction

  // The node is this one or can be sent to.
  function logic reachable(input logic [15:0] node, input logic [15:0] own, input logic [15:0] peer,
    input logic peer_valid, input logic link_up);
    reachable = (ggas_pkg::is_node(node) && node == own) || (peer_valid && link_up && ggas_pkg::is_peer(node, peer));
  endfunction

  // ST_* of a node that is not reachable.
  function logic [3:0] unreachable_status(input logic [15:0] node, input logic [15:0] peer, input logic peer_valid);
    unreachable_status = (peer_valid && ggas_pkg::is_peer(node, peer)) ?
      ggas_pkg::ST_LINK_DOWN : ggas_pkg::ST_UNREACHABLE;
  endfunction

endpackage
// verilator lint_on UNUSEDSIGNAL
// verilator lint_on UNUSEDPARAM
