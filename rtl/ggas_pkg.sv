// SPDX-License-Identifier: Apache-2.0
// Types and constants shared by every module of the NIC.
//
// Two interfaces are fixed here: the TLP boundary towards the host (docs/tlp-boundary.md) and the
// unit-to-network port (docs/packet-format.md). Both carry a header struct next to the first beat of a
// payload stream; payload DW 0 always sits in bits 31:0 of the first beat, whatever the address.

// What a build may leave out, or have fewer of: a macro each. With GGAS_LITE all of it is left out (docs/pnr.md).
`ifdef GGAS_LITE
`define GGAS_FULL_OR_LITE(FULL, LITE) LITE
`else
`define GGAS_FULL_OR_LITE(FULL, LITE) FULL
`endif
`ifndef GGAS_ATOMICS
`define GGAS_ATOMICS `GGAS_FULL_OR_LITE(1, 0)
`endif
`ifndef GGAS_QUEUES
`define GGAS_QUEUES `GGAS_FULL_OR_LITE(1, 0)
`endif
`ifndef GGAS_VELO
`define GGAS_VELO `GGAS_FULL_OR_LITE(1, 0)
`endif
`ifndef GGAS_GETS
`define GGAS_GETS `GGAS_FULL_OR_LITE(1, 0)
`endif
`ifndef GGAS_EVENT_COUNTS
`define GGAS_EVENT_COUNTS `GGAS_FULL_OR_LITE(1, 0)
`endif
`ifndef GGAS_INTERVALS
`define GGAS_INTERVALS `GGAS_FULL_OR_LITE(64, 16)
`endif
`ifndef GGAS_CONTEXTS
`define GGAS_CONTEXTS `GGAS_FULL_OR_LITE(256, 16)
`endif

// A package is a vocabulary: no build uses every word of it.
// verilator lint_off UNUSEDPARAM
package ggas_pkg;

  // ---------------------------------------------------------------- host side: transaction layer packets

  // TLP kinds the NIC understands. Any other value inbound is an unsupported request.
  localparam logic [3:0] TLP_MRD  = 4'd0;  // memory read, non-posted
  localparam logic [3:0] TLP_MWR  = 4'd1;  // memory write, posted
  localparam logic [3:0] TLP_CPL  = 4'd2;  // completion without data (error, or zero-length)
  localparam logic [3:0] TLP_CPLD = 4'd3;  // completion with data
  localparam logic [3:0] TLP_OTHER_P  = 4'd4;  // any other posted request (message)
  localparam logic [3:0] TLP_OTHER_NP = 4'd5;  // any other non-posted request (I/O, configuration, AtomicOp)

  // Completion status, PCIe encoding.
  localparam logic [2:0] CPL_SC = 3'b000;  // successful
  localparam logic [2:0] CPL_UR = 3'b001;  // unsupported request
  localparam logic [2:0] CPL_CA = 3'b100;  // completer abort

  localparam logic [2:0] BAR_REGS   = 3'd0;  // registers and MSI-X
  localparam logic [2:0] BAR_WINDOW = 3'd2;  // SMFU window
  localparam logic [2:0] BAR_PAGES  = 3'd4;  // per-context pages

  // Header of one TLP, normalised: lengths are plain counts, reserved encodings do not exist.
  typedef struct packed {
    logic [3:0]  kind;        // TLP_*
    logic [2:0]  bar;         // inbound requests: BAR that was hit; 7 elsewhere
    logic [63:0] addr;        // inbound requests: byte offset in the BAR; outbound: bus address; bits 1:0 are 0
    logic [10:0] len_dw;      // payload (or requested) length in DW, 1 … 1024; a TLP_CPL carries 0
    logic [3:0]  first_be;    // byte enables of the first DW
    logic [3:0]  last_be;     // byte enables of the last DW; 0 when len_dw = 1
    logic [9:0]  tag;
    logic [15:0] requester;   // requester id (bus, device, function)
    logic [15:0] completer;   // completions: completer id
    logic [2:0]  status;      // completions: CPL_*
    logic [12:0] byte_count;  // completions: bytes left to deliver, this TLP included, 1 … 4096
    logic [6:0]  lower_addr;  // completions: low 7 bits of the address of the first enabled byte
    logic [2:0]  attr;        // bit 0 no-snoop, bit 1 relaxed ordering, bit 2 id-based ordering
    logic        poisoned;    // EP bit
  } tlp_hdr_t;

  localparam int unsigned TLP_HDR_W = 159;

  // ---------------------------------------------------------------- network side: packets

  // Virtual channels. Posted packets always drain, so nothing that waits for them can deadlock
  // (docs/decisions/0001-three-virtual-channels.md).
  localparam int unsigned VC_NUM = 4;
  localparam logic [1:0] VC_P   = 2'd0;  // posted requests
  localparam logic [1:0] VC_NP  = 2'd1;  // non-posted requests; never pass an earlier posted one
  localparam logic [1:0] VC_RSP = 2'd2;  // responses
  // requests of the RMA and VELO, in order (docs/decisions/0004-a-channel-for-rma.md)
  localparam logic [1:0] VC_RMA = 2'd3;

  // Links of the NIC, 1 ... 6 (docs/network.md). With several links a virtual channel has two lanes, and channel {lane,
  // vc} of a link has its own buffer and credits.
`ifdef GGAS_LINKS
  localparam int unsigned LINKS = `GGAS_LINKS;
`else
  localparam int unsigned LINKS = 1;
`endif
  localparam int unsigned LANES    = LINKS > 1 ? 2 : 1;
  localparam int unsigned CHANNELS = LANES * VC_NUM;

  // The unit for collectives is built in (docs/coll.md).
`ifdef GGAS_COLL
  localparam bit COLL = `GGAS_COLL;
`else
  localparam bit COLL = 1'b0;
`endif

  // Units that a build may be without, as BUILD.without reports. Requests for such a unit are refused with ST_DISABLED.
  localparam bit ATOMICS      = `GGAS_ATOMICS;       // serves atomics
  localparam bit GETS         = `GGAS_GETS;          // serves gets: the second fetch engine
  localparam bit VELO         = `GGAS_VELO;          // takes messages
  localparam bit QUEUES       = `GGAS_QUEUES;        // work queues in memory; else only pages take descriptors
  localparam bit EVENT_COUNTS = `GGAS_EVENT_COUNTS;  // EVENT_COUNT; else it reads 0

  // The next step of a packet. Between the links and the crossbar it is stored in `seq` and `session` of the header.
  // Yosys supports no members of structs in generate blocks: crossbar and routes use the bits.
  localparam int unsigned WAY_W = 12;
  typedef struct packed {
    logic       second;       // it may leave by this link and lane as well
    logic       second_lane;
    logic [2:0] second_link;
    logic       rsvd;
    logic       drop;         // there is no way
    logic       here;         // to the units of this node
    logic       lane;         // on the link
    logic [2:0] link;
  } way_t;

  // The same with copies: for a packet to a group the low bits of `way` are its branches. Bit 2 * link + lane stands
  // for the branch over that link and lane. It is stored in `version`, `seq` and `session`, and read from the table of
  // groups when the packet arrives.
  localparam int unsigned WAYS_W = 14;
  typedef struct packed {
    logic             copied;  // for a group
    logic             member;  // the units of this node get a copy, too
    logic [WAY_W-1:0] way;     // way_t, or branches
  } ways_t;

  // A line of the table of groups: where packets of a group go on from here.
  localparam int unsigned GROUP_LINE_W = 17;
  localparam logic [2:0]  OWN_UNITS = 3'd7;  // as `link`
  typedef struct packed {
    logic        valid;
    logic [2:0]  link;      // that they must come by; OWN_UNITS: this node alone sends to the group
    logic        member;
    logic [11:0] branches;
  } group_line_t;

  // A line of the table of routes, a node each. The second choice is for packets that may pass others.
  localparam int unsigned ROUTE_W = 10;
  typedef struct packed {
    logic       second;
    logic       second_lane;
    logic [2:0] second_link;
    logic       valid;
    logic       lane;
    logic [2:0] link;
  } route_t;

  // Packet operations; bits 6:4 name the unit that consumes the packet.
  localparam logic [7:0] OP_SMFU_STORE     = 8'h00;  // P:   payload, byte enables
  localparam logic [7:0] OP_SMFU_LOAD      = 8'h01;  // NP:  no payload; len_dw asks for so many DW
  localparam logic [7:0] OP_SMFU_LOAD_RSP  = 8'h02;  // RSP: payload if status is OK
  localparam logic [7:0] OP_SMFU_QUIET     = 8'h03;  // NP:  answer once every earlier store is visible
  localparam logic [7:0] OP_SMFU_QUIET_RSP = 8'h04;  // RSP: no payload
  // Header as rma_hdr_t; payloads: docs/rma.md.
  localparam logic [7:0] OP_RMA_PUT        = 8'h10;  // RMA: payload, byte enables
  localparam logic [7:0] OP_RMA_GET        = 8'h11;  // RMA: 6 DW
  localparam logic [7:0] OP_RMA_NOTIFY     = 8'h12;  // RMA: 4 DW
  localparam logic [7:0] OP_RMA_ATOMIC     = 8'h13;  // RMA: 10 DW
  localparam logic [7:0] OP_RMA_ACK        = 8'h18;  // RSP: no payload
  localparam logic [7:0] OP_RMA_GET_DATA   = 8'h19;  // RSP: payload, byte enables
  localparam logic [7:0] OP_RMA_GET_DONE   = 8'h1a;  // RSP: no payload
  localparam logic [7:0] OP_RMA_ATOMIC_RSP = 8'h1b;  // RSP: 4 DW
  localparam logic [7:0] OP_VELO_MSG       = 8'h20;  // RMA: 4 DW and up to 16 DW of message
  // Collectives (docs/coll.md), header as net_hdr_t: `addr` holds coll_pkg::ask_t, `tag` epoch and group.
  localparam logic [7:0] OP_COLL_UP       = 8'h30;  // RMA: 0 … 64 DW, to the parent
  localparam logic [7:0] OP_COLL_DOWN     = 8'h31;  // RMA: 0 … 64 DW, to a child
  // Reserved: 8'h40 … 8'h7f for future use. A NIC drops unknown ops with BAD_PACKET. OP_MULTICAST is the bit of a
  // store to all nodes of group `dst`. Only stores have it; the target's net clears it.
  localparam logic [7:0] OP_MULTICAST      = 8'h80;

  // Answers that their units identify by a tag, so that their order does not matter: with several links net marks them
  // `unordered` (docs/network.md). Answers of a load that is not `whole` share one tag.
  function automatic logic is_unordered(input logic [7:0] op, input logic whole);
    is_unordered = op == OP_SMFU_QUIET_RSP || (op == OP_SMFU_LOAD_RSP && whole);
  endfunction

  // Packet status, also the code a quiet read returns.
  localparam logic [3:0] ST_OK          = 4'd0;
  localparam logic [3:0] ST_RANGE       = 4'd1;  // no export of the target allows it
  localparam logic [3:0] ST_HOST_ERROR  = 4'd2;  // the target's host answered with an error or poisoned data
  localparam logic [3:0] ST_TIMEOUT     = 4'd3;  // no answer in time
  localparam logic [3:0] ST_LINK_DOWN   = 4'd4;  // no working link to the node
  localparam logic [3:0] ST_UNREACHABLE = 4'd5;  // the node is in no route
  localparam logic [3:0] ST_PROTECTION  = 4'd6;  // no valid translation, or owner or right does not fit
  localparam logic [3:0] ST_FULL        = 4'd7;  // ring or mailbox full, nothing written: try again
  localparam logic [3:0] ST_LOST        = 4'd8;  // ring full, the notification was dropped and counted
  localparam logic [3:0] ST_DISABLED    = 4'd9;  // the context does not exist there
  localparam logic [3:0] ST_BAD         = 4'd10; // malformed descriptor or packet

  // Largest payload of a packet in bytes: 256 … 4096, a power of two. Link, net and window stores use it. Loads, puts
  // and gets have at most 256 bytes, the size of a buffer in smfu_rob and rma_fetch.
`ifdef GGAS_MTU
  localparam int unsigned MTU = `GGAS_MTU;
`else
  localparam int unsigned MTU = 256;
`endif
  localparam logic [10:0] MTU_DW = MTU[12:2];

  // Packet header, version 2: three and a half 64-bit words, w0 first on the link; on a 64-bit link w3 shares a flit
  // with the CRC. docs/packet-format.md says which units set, check and change each field. A hop reads only w0.
  localparam logic [2:0] PACKET_VERSION = 3'd2;
  localparam logic [7:0] HOP_LIMIT = 8'd255;  // hops a new packet may take
  typedef struct packed {
    // w3, 32 bits
    logic [7:0]  vtime;     // virtual time on the link, by which flows share it; 0 with one link
    logic [7:0]  export_no; // export at the target that addr lies in
    logic [15:0] domain;    // of the initiator, stamped by its NIC
    // w2
    logic [63:0] addr;      // byte offset in the export, DW aligned
    // w1
    logic [15:0] src;       // source node
    logic [3:0]  status;    // ST_*, responses only
    logic [3:0]  first_be;
    logic [3:0]  last_be;
    logic [15:0] tag;       // requester's tag, echoed in the response
    logic [10:0] req_dw;    // loads: DW asked for
    logic        whole;     // loads: it asks for all of its load; echoed in the response
    logic [7:0]  rsvd1;
    // w0
    logic [15:0] dst;       // destination node, or group if the op has OP_MULTICAST
    logic [7:0]  op;        // OP_*
    logic [10:0] len_dw;    // payload DW in this packet, 0 … MTU/4
    logic [2:0]  version;   // PACKET_VERSION; set and checked by the link, 0 elsewhere
    logic [1:0]  rsvd0;
    logic        unordered; // it may pass others of its source, destination and channel: hops may choose its way
    logic        lane;      // of the virtual channel on this link (dateline); a hop may change it
    logic [1:0]  vc;        // VC_*
    logic [7:0]  hops;      // hops it may still take; set by net, every hop takes one off
    logic [7:0]  seq;       // link sequence number; set by the link, 0 elsewhere
    logic [3:0]  session;   // link session, see link_ctrl_t; set by the link, 0 elsewhere
  } net_hdr_t;

  localparam int unsigned NET_HDR_W = 224;
  typedef logic [NET_HDR_W-1:0] net_hdr_bits_t;

  // Fields of net_hdr_t where many headers are in one vector: Yosys supports no members of structs in generate blocks
  // and functions.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [15:0] hdr_dst(input net_hdr_bits_t hdr);
    hdr_dst = hdr[63:48];
  endfunction
  function automatic logic [7:0] hdr_op(input net_hdr_bits_t hdr);
    hdr_op = hdr[47:40];
  endfunction
  function automatic logic [10:0] hdr_len_dw(input net_hdr_bits_t hdr);
    hdr_len_dw = hdr[39:29];
  endfunction
  function automatic logic hdr_unordered(input net_hdr_bits_t hdr);
    hdr_unordered = hdr[23];
  endfunction
  function automatic logic [2:0] hdr_channel(input net_hdr_bits_t hdr);  // {lane, vc}
    hdr_channel = hdr[22:20];
  endfunction
  function automatic logic [7:0] hdr_hops(input net_hdr_bits_t hdr);
    hdr_hops = hdr[19:12];
  endfunction
  function automatic logic [7:0] hdr_vtime(input net_hdr_bits_t hdr);
    hdr_vtime = hdr[223:216];
  endfunction
  function automatic logic [39:0] hdr_who(input net_hdr_bits_t hdr);  // {op, source, destination}
    hdr_who = {hdr[47:40], hdr[127:112], hdr[63:48]};
  endfunction
  // The way of a packet within the NIC (way_t), or its ways, and the header with one of them.
  function automatic logic [WAY_W-1:0] hdr_way(input net_hdr_bits_t hdr);
    hdr_way = hdr[WAY_W-1:0];
  endfunction
  function automatic logic [5:0] way_first(input logic [WAY_W-1:0] way);  // {drop, here, lane, link}
    way_first = way[5:0];
  endfunction
  function automatic logic [4:0] way_second(input logic [WAY_W-1:0] way);  // {second, second_lane, second_link}
    way_second = way[11:7];
  endfunction
  function automatic logic [WAYS_W-1:0] hdr_ways(input net_hdr_bits_t hdr);
    hdr_ways = {hdr[27:26], hdr[WAY_W-1:0]};
  endfunction
  function automatic net_hdr_bits_t hdr_with_way(input net_hdr_bits_t hdr, input logic [WAY_W-1:0] way);
    hdr_with_way = {hdr[223:28], 2'd0, hdr[25:WAY_W], way};
  endfunction
  // As it leaves on a channel of a link, after so many hops more; without its way.
  function automatic net_hdr_bits_t hdr_leaving(input net_hdr_bits_t hdr, input logic [2:0] channel, input logic hop);
    hdr_leaving = {hdr[223:23], channel, hdr[19:12] - {7'd0, hop}, {WAY_W{1'b0}}};
  endfunction
  function automatic net_hdr_bits_t hdr_with_vtime(input net_hdr_bits_t hdr, input logic [7:0] vtime);
    hdr_with_vtime = {vtime, hdr[215:0]};
  endfunction
  // For the own units: without virtual time and way.
  function automatic net_hdr_bits_t hdr_arrived(input net_hdr_bits_t hdr);
    hdr_arrived = {8'd0, hdr[215:WAY_W], {WAY_W{1'b0}}};
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // The same bits as RMA and VELO packets use them.
  typedef struct packed {
    // w3
    logic [7:0]  vtime;     // as in net_hdr_t
    logic [7:0]  export_no; // 0: a network logical address needs none
    logic [15:0] pd;        // protection domain of the initiator, stamped by its NIC
    // w2
    logic [63:0] addr;      // network logical address at the receiver, byte granular; other uses: docs/rma.md
    // w1
    logic [15:0] src;
    logic [3:0]  status;    // ST_*
    logic [3:0]  first_be;  // PUT, GET_DATA: bytes of the first payload DW
    logic [3:0]  last_be;   // the same of the last; 0 when len_dw = 1
    logic [7:0]  svpid;     // context of the initiator, in requests and in responses
    logic [7:0]  epoch;     // its epoch, echoed in responses
    logic [7:0]  dvpid;     // context at the target
    logic [5:0]  flags;     // RMA_*
    logic [3:0]  place;     // GET_DATA, GET_DONE: of the get among those that its target serves
    logic [1:0]  rsvd1;
    // w0
    logic [15:0] dst;
    logic [7:0]  op;        // OP_RMA_*, OP_VELO_MSG
    logic [10:0] len_dw;
    logic [2:0]  version;
    logic [1:0]  rsvd0;
    logic        unordered;
    logic        lane;
    logic [1:0]  vc;
    logic [7:0]  hops;
    logic [7:0]  seq;
    logic [3:0]  session;
  } rma_hdr_t;

  // Bits of rma_hdr_t.flags.
  localparam int unsigned RMA_LAST   = 0;  // last packet of a message
  localparam int unsigned RMA_ACK    = 1;  // answer the last packet with OP_RMA_ACK; errors are answered anyway
  localparam int unsigned RMA_STRONG = 2;  // NOTIFY: after a flush of all earlier puts
  localparam int unsigned RMA_RESULT = 3;  // ATOMIC, ATOMIC_RSP: write the result record
  localparam int unsigned RMA_RESPONDER = 4;  // GET: notify context dvpid at the target when served
  localparam int unsigned RMA_FIRST  = 5;  // PUT, GET_DATA, NOTIFY alone: first packet of its operation

  // ---------------------------------------------------------------- streams

  // A stream between units consists of one of these structs, `ready`, and `data`, whose width is a parameter: port `x`
  // is x_i or x_o, x_data and x_ready.
  typedef struct packed {
    logic     valid;
    logic     sop;
    logic     eop;
    tlp_hdr_t hdr;  // with sop
  } tlp_beat_t;
  typedef struct packed {
    logic     valid;
    logic     sop;
    logic     eop;
    net_hdr_t hdr;
  } net_beat_t;
  typedef struct packed {
    logic     valid;
    logic     sop;
    logic     eop;
    rma_hdr_t hdr;
  } rma_beat_t;

  // A stream of headers alone, and what interrupts write to the host.
  typedef struct packed {
    logic     valid;
    tlp_hdr_t hdr;
  } tlp_head_t;
  typedef struct packed {
    logic         valid;
    logic [63:0]  addr;
    logic [127:0] data;
  } host_record_t;
  typedef struct packed {
    logic        valid;
    logic [63:0] addr;
    logic [31:0] data;
  } host_message_t;

  // ---------------------------------------------------------------- descriptors (docs/rma.md)

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

  // Contexts and their descriptor slots (32 bytes each).
  // 16, 64 or 256: fewer make the NIC smaller, numbers keep 8 bits everywhere
  localparam int unsigned CONTEXTS = `GGAS_CONTEXTS;
  localparam int unsigned CONTEXT_W = $clog2(CONTEXTS);
  localparam int unsigned SLOTS    = 16;

  // What names a context from outside (a register, a page, a packet) may name one that this NIC has not.
  function automatic logic is_context(input logic [7:0] vpid);
    is_context = {1'b0, vpid} < CONTEXTS[8:0];
  endfunction

  // Nodes that this NIC can reach, numbers from 0 on: 64 ... 65,536, a power of two. A number has 16 bits in packets,
  // descriptors and registers, and type node_t inside. A higher one is refused like that of a node without a route.
`ifdef GGAS_NODES
  localparam int unsigned MAX_NODES = `GGAS_NODES;
`else
  localparam int unsigned MAX_NODES = 64;
`endif
  localparam int unsigned NODE_W = $clog2(MAX_NODES);
  typedef logic [NODE_W-1:0] node_t;

  // Groups that a store may go to (docs/network.md). A quiet after such a store asks all nodes by their numbers, at
  // most as many as smfu_quiet has entries; so a NIC for more nodes has no groups.
  localparam int unsigned GROUPS  = LINKS > 1 && MAX_NODES <= 64 ? 64 : 0;
  localparam int unsigned GROUP_W = 6;

  // The packet is for a group.
  function automatic logic is_multicast(input logic [7:0] op);
    is_multicast = GROUPS > 0 && (op & OP_MULTICAST) != '0;
  endfunction

  function automatic logic is_node(input logic [15:0] number);
    is_node = {1'b0, number} < MAX_NODES[16:0];
  endfunction
  // It may be at the other end of a link. With several links `peer` is the highest number of a node that may.
  function automatic logic is_peer(input logic [15:0] number, input logic [15:0] peer);
    is_peer = is_node(number) && (LINKS == 1 ? number == peer : number <= peer);
  endfunction
  function automatic logic [15:0] node_number(input node_t node);
    node_number = '0;
    node_number[NODE_W-1:0] = node;
  endfunction

  // A write of word `word` of CONTEXT[vpid], reported to every unit (docs/rtl-structure.md).
  typedef struct packed {
    logic        we;
    logic [7:0]  vpid;
    logic [2:0]  word;
    logic [63:0] data;  // CTRL: bits 52:48 count the starts
  } context_write_t;

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

  // ---------------------------------------------------------------- cutting

  // Bytes from `at` to the next multiple of `block`, a power of two up to 4096. Every packet, read and piece that must
  // not cross such a multiple is cut by it.
  function automatic logic [12:0] to_border(input logic [11:0] at, input logic [12:0] block);
    to_border = block - ({1'b0, at} & (block - 13'd1));
  endfunction

  // Payload of a put's or get's packet as RMA_CTRL.mtu says: 64 << mtu bytes, at most 256.
  function automatic logic [12:0] rma_mtu(input logic [1:0] mtu);
    rma_mtu = mtu[1] ? 13'd256 : mtu[0] ? 13'd128 : 13'd64;
  endfunction

  // ---------------------------------------------------------------- link flits

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

  // ---------------------------------------------------------------- registers

  // An access to registers; the answer comes in the next cycle.
  typedef struct packed {
    logic        req;
    logic        write;
    logic [15:0] addr;
    logic [63:0] wdata;
    logic [7:0]  wstrb;
  } reg_access_t;

  // ---------------------------------------------------------------- events and time

  // Event codes are named in rtl/regs/ggas.rdl and generated into ggas_regs_pkg.
  typedef struct packed {
    logic [7:0]  code;
    logic [15:0] node;   // remote node concerned, or 0
    logic [39:0] info;   // low address bits, tag or count: per code, see docs/registers.md
  } event_t;

  // Time-outs are checked on ticks of 2**TICK_LOG2 cycles of `time_i`, so a NIC that only waits need
  // not be clocked between ticks.
  localparam int unsigned TICK_LOG2 = 10;

endpackage
// verilator lint_on UNUSEDPARAM
