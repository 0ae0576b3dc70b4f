// SPDX-License-Identifier: Apache-2.0
// Flits of a link (docs/link.md), and what links report.
// verilator lint_off UNUSEDPARAM
package link_pkg;

  localparam logic [1:0] FLIT_DATA = 2'd0;
  localparam logic [1:0] FLIT_SOP  = 2'd1;  // first flit of a packet; the only one if the CRC fits after the payload
  localparam logic [1:0] FLIT_EOP  = 2'd2;  // last flit: CRC-32 in the upper 32 bits
  localparam logic [1:0] FLIT_CTRL = 2'd3;  // acknowledgement and credits, or a hello

  // A side's number of its session: the low TAG_W bits count sessions, the others are taken from the time. Flits within
  // a session carry only the tag of their receiver's number.
  localparam int unsigned SESSION_W = 14;
  localparam int unsigned SESSION_TAG_W = 4;
  localparam int unsigned CREDIT_W = 13;

  // Content of a CTRL flit within a session.
  typedef struct packed {
    logic                     hello;      // 0
    logic                     rsvd;
    logic                     poll;       // report me your credits
    logic                     nak;        // send again from ack_seq on
    logic [2:0]               credit_vc;
    logic [CREDIT_W-1:0]      credit;     // units freed in that virtual channel since the session began, modulo
    logic [SESSION_TAG_W-1:0] session;    // tag of the receiver's number
    logic [7:0]               ack_seq;    // next packet expected; everything before it arrived
  } link_ctrl_t;

  // Content of a CTRL flit that begins or ends a session.
  typedef struct packed {
    logic                 hello;  // 1
    logic                 dead;   // the session of these two numbers is over
    logic                 met;    // `mine` came back in a hello of the receiver
    logic                 seen;   // `yours` holds the number the receiver said
    logic [SESSION_W-1:0] yours;
    logic [SESSION_W-1:0] mine;
  } link_hello_t;

  // What happened at the links in a cycle, from links to net: pulses, and what belongs to them.
  typedef struct packed {
    logic        dead;          // a link died
    logic [7:0]  tries;         // ... after so many replays or polls
    logic        up;            // a link came up; with several links only
    logic [2:0]  link;          // of `dead`, else of `up`
    logic [1:0]  lost;          // so many stores were discarded (sum of the bits)
    logic        bad;           // a packet that no link sends
    logic [15:0] bad_src;
    logic [7:0]  bad_op;
    logic        no_route;      // a packet without a way was discarded; with several links only, like all below
    logic [39:0] no_route_who;  // {op, source, destination}
    logic        cut;           // the own units were cut off
    logic [1:0]  cut_vc;        // the virtual channel that they took nothing of
  } link_events_t;

endpackage
// verilator lint_on UNUSEDPARAM
