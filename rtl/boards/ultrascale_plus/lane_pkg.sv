// SPDX-License-Identifier: Apache-2.0
// What both ends of the lanes agree on (docs/board.md).

package lane_pkg;

  // A marker replaces one block in 2^PERIOD_LOG2 blocks. It is stored in no buffer. So a receiver whose clock is slower
  // by less than this rate loses nothing.
  localparam int unsigned PERIOD_LOG2 = 10;

  // Markers are not scrambled. Each lane has its own.
  function automatic logic [63:0] marker(input logic [2:0] lane);
    logic [31:0] half;
    half   = {24'h96_69_3c, 5'b10110, lane};
    marker = {~half, half};
  endfunction

  // Bit l of a code is the second bit of lane l's header (lanes 4 to 7 repeat it). Any two codes differ in two lanes.
  localparam logic [3:0] CODE_IDLE = 4'b0000;
  function automatic logic [3:0] code(input logic [1:0] kind);
    code = kind == 2'd0 ? 4'b0011 : kind == 2'd1 ? 4'b0101 : kind == 2'd2 ? 4'b0110 : 4'b1111;
  endfunction

endpackage
