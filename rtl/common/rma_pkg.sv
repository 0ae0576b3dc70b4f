// SPDX-License-Identifier: Apache-2.0
// One-sided communication (docs/rma.md): descriptors, notifications, answers, tags of host reads.
// verilator lint_off UNUSEDPARAM
package rma_pkg;

  // Bits of rma_hdr_t.flags.
  localparam int unsigned RMA_LAST   = 0;  // last packet of a message
  localparam int unsigned RMA_ACK    = 1;  // answer the last packet with OP_RMA_ACK; errors are answered anyway
  localparam int unsigned RMA_STRONG = 2;  // NOTIFY: after a flush of all earlier puts
  localparam int unsigned RMA_RESULT = 3;  // ATOMIC, ATOMIC_RSP: write the result record
  localparam int unsigned RMA_RESPONDER = 4;  // GET: notify context dvpid at the target when served
  localparam int unsigned RMA_FIRST  = 5;  // PUT, GET_DATA, NOTIFY alone: first packet of its operation

  localparam logic [3:0] DESC_NOP    = 4'd0;
  localparam logic [3:0] DESC_PUT    = 4'd1;
  localparam logic [3:0] DESC_IMM    = 4'd2;  // put of 1 ... 8 bytes in the descriptor
  localparam logic [3:0] DESC_INLINE = 4'd3;  // put of 1 ... 64 bytes in the slots after it
  localparam logic [3:0] DESC_GET    = 4'd4;
  localparam logic [3:0] DESC_NOTIFY = 4'd5;
  localparam logic [3:0] DESC_ATOMIC = 4'd6;  // two slots
  localparam logic [3:0] DESC_SEND   = 4'd7;  // message of 0 ... 64 bytes in the slots after it

  // Word 0 of a descriptor.
  typedef struct packed {
    logic [23:0] size;       // bytes; PUT, GET 1 ... 8 MB
    logic [15:0] node;       // target node
    logic [7:0]  dvpid;      // context at the target (notifications, messages)
    logic [6:0]  rsvd;       // 0
    logic        flush;      // "strong": the completer's notification waits for every earlier put of this node
    logic        ack;        // remote completion is wanted: counted, and notified if notify_requester is set
    logic        notify_responder;
    logic        notify_completer;
    logic        notify_requester;
    logic [3:0]  op;         // DESC_*
  } desc_w0_t;

  localparam logic [3:0] AMO_ADD = 4'd0, AMO_SWAP = 4'd1, AMO_CAS = 4'd2, AMO_AND = 4'd3, AMO_OR = 4'd4, AMO_XOR = 4'd5,
                         AMO_MIN = 4'd6, AMO_MAX = 4'd7;

  // An answer of a target, from rma_answer to rma_requester.
  typedef struct packed {
    logic        asked;   // not an ACK, or one of a packet that asked for it
    logic [3:0]  status;
    logic [7:0]  op;      // OP_RMA_ACK, GET_DONE, ATOMIC_RSP
    logic [7:0]  vpid;
    logic [7:0]  epoch;
    logic [7:0]  dvpid;   // as echoed
    logic [15:0] node;    // who answered
    logic [63:0] addr;    // ATOMIC_RSP: the old value
  } rma_ans_t;

  // Counts for the status block of a context.
  typedef struct packed {
    logic [7:0] vpid;
    logic       local_done;
    logic [7:0] remote_done;
    logic       error;
    logic [3:0] status;  // of the error
  } rma_counts_t;

  // Kinds of notifications.
  // the initiator's operation is complete (locally, or remotely if ack was set)
  localparam logic [2:0] NOTE_REQUESTER = 3'd0;
  localparam logic [2:0] NOTE_COMPLETER = 3'd1;  // data has arrived: at the target of a put, at the initiator of a get
  localparam logic [2:0] NOTE_RESPONDER = 3'd2;  // a get was served here
  localparam logic [2:0] NOTE_ERROR     = 3'd3;  // an operation of this context failed
  localparam logic [2:0] NOTE_LOST      = 3'd4;  // w0 notifications were dropped before this one

  // Word 1 of a notification record; word 0 is the cookie of the descriptor.
  typedef struct packed {
    logic        phase;     // toggles with every turn of the ring; 1 in the first
    logic [2:0]  kind;      // NOTE_*
    logic [3:0]  status;    // ST_*
    logic [7:0]  op;        // DESC_* of the operation
    logic [15:0] node;      // the other node
    logic [7:0]  vpid;      // the other context
    logic [23:0] size;      // bytes of the operation
  } note_w1_t;

  // A notification for the ring of a context, from requester to rma_notify.
  typedef struct packed {
    logic        drop;  // lost rather than refused if the ring is full
    logic [7:0]  vpid;
    logic [63:0] w0;
    note_w1_t    w1;
  } note_t;

  // Tags of host reads. SMFU: 0 ... 127.
  localparam int unsigned TAG_FETCH_PUT = 128;  // 32: payload of puts, DATA_W = 64
  localparam int unsigned TAG_FETCH_GET = 160;  // 32: payload of get responses, DATA_W = 64
  localparam int unsigned TAG_WIDE_PUT  = 256;  // 128: payload of puts on a wider datapath
  localparam int unsigned TAG_WIDE_GET  = 384;  // 128: payload of get responses
  localparam int unsigned TAG_ATOMIC    = 192;  // 16: atomics and flushes
  localparam int unsigned TAG_ATU       = 208;  // 16: table walks
  localparam int unsigned TAG_QUEUE     = 224;  // 16: work queues

  // Payload of a put's or get's packet as RMA_CTRL.mtu says: 64 << mtu bytes, at most 256.
  function automatic logic [12:0] rma_mtu(input logic [1:0] mtu);
    rma_mtu = mtu[1] ? 13'd256 : mtu[0] ? 13'd128 : 13'd64;
  endfunction

  // A request to the ATU, and its answer (docs/rtl-structure.md).
  typedef struct packed {
    logic        valid;
    logic        write;
    logic [15:0] pd;
    logic [63:0] nla;
  } tr_req_t;
  typedef struct packed {
    logic        valid;
    logic [3:0]  status;
    logic [63:0] addr;
  } tr_rsp_t;

  // Registers, configuration space and route, as the units see them.
  typedef struct packed {
    logic         stop;
    logic [15:0]  node;
    logic         requester;
    logic         target;
    logic [1:0]   mtu;
    logic [15:0]  retry_ticks;
    logic [15:0]  retry_limit;
    logic [15:0]  timeout_answer;
    logic [15:0]  timeout_host;
    logic [159:0] atu_table;
    logic [63:3]  atu_ack;
    logic [12:0]  mps;
    logic [12:0]  mrrs;
    logic [15:0]  peer_node;
    logic         peer_valid;
    logic         link_up;
  } config_t;

  // Sources of events; a code of 0 is none.
  localparam int unsigned EV_REQUESTER = 0, EV_PUT = 1, EV_ANSWER = 2, EV_PAGE = 3, EV_DOORBELL = 4, EV_QUEUE = 5,
    EV_TARGET = 6, EV_ATOMIC = 7, EV_GET = 8, EV_RESPONDER = 9, EV_LOST = 10, EV_WALK = 11, EV_STRAY = 12,
    EV_SOURCES = 13;

endpackage
// verilator lint_on UNUSEDPARAM
