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

  // Configuration space, as nic_top's pins cfg_* have it.
  typedef struct packed {
    logic [12:0] mps;
    logic [12:0] mrrs;
    logic [15:0] bus_id;
    logic        msix_enable;
    logic        msix_mask;
    logic        bus_master;
  } host_config_t;

  // ---------------------------------------------------------------- contexts and nodes

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

  // ---------------------------------------------------------------- cutting

  // Bytes from `at` to the next multiple of `block`, a power of two up to 4096. Every packet, read and piece that must
  // not cross such a multiple is cut by it.
  function automatic logic [12:0] to_border(input logic [11:0] at, input logic [12:0] block);
    to_border = block - ({1'b0, at} & (block - 13'd1));
  endfunction

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
