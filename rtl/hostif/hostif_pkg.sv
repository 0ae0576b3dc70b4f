// SPDX-License-Identifier: Apache-2.0
// What the parts of the host interface keep of a TLP header.

package hostif_pkg;

  // The unit that a posted request is for.
  localparam logic [1:0] TO_WINDOW = 2'd0;  // BAR2: window store
  localparam logic [1:0] TO_REGS   = 2'd1;  // BAR0: register write
  localparam logic [1:0] TO_PAGE   = 2'd2;  // BAR4: write to a context page

  // A checked posted request.
  typedef struct packed {
    logic [1:0]  dest;      // TO_*
    logic [63:0] addr;
    logic [10:0] len_dw;
    logic [3:0]  first_be;
    logic [3:0]  last_be;
    logic [15:0] requester;
    logic [2:0]  attr;
  } posted_t;

  // A non-posted request; everything that its completion needs.
  typedef struct packed {
    logic        reject;    // answer UR
    logic [2:0]  bar;
    logic [63:0] addr;
    logic [10:0] len_dw;
    logic [3:0]  first_be;
    logic [3:0]  last_be;
    logic [9:0]  tag;
    logic [15:0] requester;
    logic [2:0]  attr;
  } non_posted_t;

  // A request that waits: for the SMFU, or for the registers or its answer UR.
  typedef struct packed {
    logic        page;      // of BAR4, else of the window
    logic [63:0] addr;
    logic [10:0] len_dw;
    logic [3:0]  first_be;
    logic [3:0]  last_be;
    logic [9:0]  tag;
    logic [15:0] requester;
    logic [2:0]  attr;
  } window_t;
  typedef struct packed {
    logic        reject;
    logic [15:0] addr;
    logic [10:0] len_dw;
    logic [3:0]  first_be;
    logic [3:0]  last_be;
    logic [9:0]  tag;
    logic [15:0] requester;
    logic [2:0]  attr;
  } access_t;

  // A completion of a read of the NIC.
  typedef struct packed {
    logic        has_data;
    logic [10:0] len_dw;
    logic [9:0]  tag;
    logic [15:0] completer;
    logic [2:0]  status;
    logic [12:0] byte_count;
    logic [6:0]  lower_addr;
    logic        poisoned;
  } completion_t;

  // Widths, for parameters ($bits of a type is not understood everywhere).
  localparam int unsigned POSTED_W = 104;
  localparam int unsigned COMPLETION_W = 62;
  localparam int unsigned WINDOW_W = 113;
  localparam int unsigned ACCESS_W = 65;

endpackage
