// SPDX-License-Identifier: Apache-2.0
// Shared by the modules of rma_requester: the state of a context, the actions of a step, rules of descriptors.

// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
package rma_requester_pkg;

  // What a step is about: bits of a one-hot vector.
  localparam int unsigned K_DONE = 0;    // the oldest fetch command is done
  localparam int unsigned K_NOTED = 1;   // rma_notify has answered
  localparam int unsigned K_ANSWER = 2;  // an answer of a target
  localparam int unsigned K_DESC = 3;    // a descriptor
  localparam int unsigned K_EXP = 4;     // the head of the express queue
  localparam int unsigned K_PUT = 5;     // the head of the put queue
  localparam int unsigned K_LATE = 6;    // a look at what waits for answers or pauses
  localparam int unsigned K_RETRY = 7;   // a refused notification

  // Where the descriptor of a context stands.
  localparam logic [3:0] PH_IDLE   = 4'd0;  // none
  localparam logic [3:0] PH_PUT    = 4'd1;  // in the put queue, for its next fetch command
  localparam logic [3:0] PH_PARK   = 4'd2;  // a put that has enough under way: answers or fetches must come first
  localparam logic [3:0] PH_DRAIN  = 4'd3;  // a put that will stop: its fetches must come first
  localparam logic [3:0] PH_LAST   = 4'd4;  // a put with everything handed to fetch that holds its context
  localparam logic [3:0] PH_FETCH  = 4'd5;  // an express packet after earlier puts
  localparam logic [3:0] PH_READY  = 4'd6;  // in the express queue
  localparam logic [3:0] PH_ANSWER = 4'd7;  // its packet waits for the answer
  localparam logic [3:0] PH_PAUSE  = 4'd8;  // the target was full
  localparam logic [3:0] PH_NOTE   = 4'd9;  // over but for notifications of its own

  // Its notification: none due, at rma_notify, refused by a full ring.
  localparam logic [1:0] NOTE_NONE = 2'd0, NOTE_ASKED = 2'd1, NOTE_FULL = 2'd2;

  localparam logic [7:0] WAITS_MAX = 8'd144;  // answers outstanding of a context, next to those to fetches under way

  // What the rules say of a descriptor.
  typedef struct packed {
    logic       hold;       // the next descriptor of the context waits until this one is finished
    logic       tail;       // a NOTIFY packet follows the data of a put
    logic       ack;        // remote completion comes with an answer
    logic       requester;  // a requester's notification is asked for
    logic       get_note;   // a get with a completer's notification
    logic       repeats;    // its packet is repeated when the target is full (that of the tail is as well)
    logic       is_get;
    logic       is_atomic;
    logic       own;        // its node is this one; none of own and peer: no such node
    logic       peer;
    logic       slots;      // data stands in the slots after the first
    logic [2:0] what;       // low bits of the header's epoch: 0 if the held descriptor awaits an answer, else its op
  } flags_t;

  // The state of a context. Fields marked * follow from others: they are computed when the state is written, so that a
  // read of the state takes no time for them.
  typedef struct packed {
    logic [3:0]  phase;       // PH_*
    logic        tail;        // the put's packets are out: its NOTIFY is in turn
    logic [1:0]  note;        // NOTE_*
    logic        second;      // a get's completer notification follows
    logic [3:0]  fail;        // what went wrong with the held descriptor so far
    logic [23:0] offset;      // bytes of the put handed to fetch
    logic [6:0]  fetches;     // fetch commands under way
    logic        fetching;    // * some are
    logic        fetch_full;  // * as many as may be
    logic [6:0]  ahead;       // puts handed to fetch completely but not done
    logic        leads;       // * some are
    logic [3:0]  chunk;       // first failure among the done chunks of the oldest put that is not done
    logic [4:0]  epoch;       // times it gave up
    logic [4:0]  packets;     // the sum with how often the context was started: the epoch in its packets
    logic [7:0]  waits;       // answers outstanding to descriptors that do not hold the context
    logic        awaits;      // * some are
    logic        waits_full;  // * as many as may be
    logic        clogged;     // * a descriptor that comes cannot be over at once
    logic        link;        // some answer must come over the link
    logic [16:0] stamp;       // tick of the last progress of answers
    logic [16:0] pause;       // tick at which the target was full
    logic [15:0] retries;
    logic        retried;     // * not the first time
    logic [15:0] pd;
    flags_t      flags;       // of the held descriptor
  } state_t;

  // An answer of a target.
  typedef struct packed {
    logic        ack, get_done, atomic_rsp;  // which op
    logic        asked;
    logic [7:0]  epoch;
    logic [7:0]  dvpid;
    logic [15:0] node;
    logic [63:0] addr;
  } answer_t;

  // What a step brings from outside.
  typedef struct packed {
    logic [255:0] first;    // first slot of a new descriptor, or of the put whose command is done (words 0 and 3)
    logic [15:0]  pd;       // domain and starts of the context, with a descriptor
    logic [4:0]   starts;
    logic [3:0]   status;   // of a done command, an answer, a notification
    answer_t      answer;
    flags_t       put;      // the put of a done command: hold, tail, ack, own
    logic         last;     // that command was its last
  } brought_t;

  // What is to be done of what goes out, at most one.
  typedef struct packed {
    logic bad;      // a bad descriptor
    logic nop;      // one that does nothing
    logic nowhere;  // one to a node that cannot be reached
    logic put;      // the next piece of a put
    logic express;  // an express packet
  } todo_t;

  // What is known of a step when it is decided.
  typedef struct packed {
    state_t       state;    // of the context; flags and domain of a new descriptor are in it
    logic [255:0] first;    // first slot of the descriptor in question, or a notification that was refused
    logic [4:0]   starts;
    logic [3:0]   status;
    answer_t      answer;
    flags_t       put;
    logic         last;
    logic         enabled;  // the context is
    logic         route;    // the node is the peer
    logic         reach;    // the node can be reached
    todo_t        todo;
    logic         reported;     // that the context's next descriptor may come
  } known_t;

  // Events of a step, at most one.
  localparam logic [2:0] EV_NONE = 3'd0, EV_BAD = 3'd1, EV_PROTECTION = 3'd2, EV_TIMEOUT = 3'd3, EV_UNREACHABLE = 3'd4,
                         EV_RETRY_LIMIT = 3'd5, EV_UNEXPECTED = 3'd6;

  // What the words of a notification are made of.
  localparam logic [1:0] NW_DESC = 2'd0;    // the descriptor
  localparam logic [1:0] NW_ANSWER = 2'd1;  // the answer to one that did not hold its context
  localparam logic [1:0] NW_LOST = 2'd2;    // the number of answers given up
  localparam logic [1:0] NW_RECORD = 2'd3;  // a notification that was refused, as it was

  // What a step does next to writing the state back.
  typedef struct packed {
    logic        over;        // the descriptor needs nothing more but the notification under way
    logic        local_done;  // counts of the status block
    logic [7:0]  remote_done;
    logic        error;       // count status as an error, report it by an error notification
    logic [3:0]  status;
    logic        note;        // ask for the held notification (never with error)
    logic [1:0]  words;       // NW_*
    logic        answer_w0;   // word 0 of the notification is that of the answer, else the cookie
    logic        completer;   // it is a completer's
    logic        cmd;         // issue a fetch command
    logic        push_put;    // into the put queue
    logic        push_exp;    // into the express queue
    logic        keep;        // note refused: keep its record
    logic        give_up;     // the epoch changed
    logic        started;     // counters
    logic        retried;
    logic        answered;
    logic [2:0]  event_code;  // EV_*
  } action_t;

  // A step that is decided, as it ends.
  typedef struct packed {
    state_t       state;
    action_t      act;
    logic         in;       // of what comes in
    logic [255:0] first;    // as known_t
    answer_t      answer;
    logic         last;     // the fetch command that it issues is its put's last one
    logic [8:0]   bytes;    // and fetches so much
    logic         reported;
  } decided_t;

  // The descriptor's packets go through fetch or are a put by themselves.
  function logic is_put(input logic [3:0] op);
    is_put = op == rma_pkg::DESC_PUT || op == rma_pkg::DESC_IMM || op == rma_pkg::DESC_INLINE;
  endfunction

  // Data stands in the slots after the first.
  function logic has_slots(input logic [3:0] op);
    has_slots = op == rma_pkg::DESC_INLINE || op == rma_pkg::DESC_ATOMIC || op == rma_pkg::DESC_SEND;
  endfunction

  // Bytes from the first of a DW on, and up to the one before offset `stop`; 0: the whole DW.
  function logic [3:0] be_from(input logic [1:0] start);
    be_from = 4'hf << start;
  endfunction
  function logic [3:0] be_to(input logic [1:0] stop);
    be_to = stop == 2'd0 ? 4'hf : ~(4'hf << stop);
  endfunction

endpackage
// verilator lint_on UNUSEDSIGNAL
// verilator lint_on UNUSEDPARAM
