// SPDX-License-Identifier: Apache-2.0
// What kind of descriptor it is, and whether it is good: every rule of docs/rma.md. Combinational.
`default_nettype none

module rma_decode (
    input  wire logic [15:0]                cfg_node_i,
    input  wire logic [15:0]                peer_node_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire rma_pkg::desc_w0_t         w0_i,
    input  wire logic [2:0]                 w2_i,      // low bits of the destination
    input  wire logic [255:0]               second_i,  // second slot, words 4 to 7
    // verilator lint_on UNUSEDSIGNAL
    output      logic                       bad_o,
    output      rma_requester_pkg::flags_t  flags_o
);

  wire is_get    = w0_i.op == rma_pkg::DESC_GET;
  wire is_notify = w0_i.op == rma_pkg::DESC_NOTIFY;
  wire is_atomic = w0_i.op == rma_pkg::DESC_ATOMIC;

  logic size_bad;
  always_comb begin
    case (w0_i.op)
      rma_pkg::DESC_NOP:                     size_bad = 1'b0;
      rma_pkg::DESC_PUT, rma_pkg::DESC_GET: size_bad = w0_i.size == 24'd0 || w0_i.size > 24'h800000;
      rma_pkg::DESC_IMM:                     size_bad = w0_i.size == 24'd0 || w0_i.size > 24'd8;
      rma_pkg::DESC_INLINE:                  size_bad = w0_i.size == 24'd0 || w0_i.size > 24'd64;
      rma_pkg::DESC_NOTIFY:                  size_bad = w0_i.size != 24'd0;
      rma_pkg::DESC_ATOMIC:                  size_bad = w0_i.size != 24'd4 && w0_i.size != 24'd8;
      rma_pkg::DESC_SEND:                    size_bad = w0_i.size > 24'd64;
      default:                                size_bad = 1'b1;
    endcase
  end

  wire flags_bad = w0_i.rsvd != '0 || (w0_i.notify_responder && !is_get) || (w0_i.flush && !w0_i.notify_completer)
                   || (is_notify && !w0_i.notify_completer);

  // ATOMIC: destination on its size, result record on 16 bytes, op and sign in w6, nothing in w7.
  wire atomic_bad = w2_i[1:0] != 2'd0 || (w0_i.size[3] && w2_i[2]) || second_i[67:64] != '0
    || second_i[131:128] > rma_pkg::AMO_MAX
                    || second_i[191:133] != '0 || second_i[255:192] != '0;

  wire is_put = rma_requester_pkg::is_put(w0_i.op);
  wire is_send = w0_i.op == rma_pkg::DESC_SEND;
  always_comb begin
    flags_o.tail      = is_put && w0_i.notify_completer;
    flags_o.get_note  = is_get && w0_i.notify_completer;
    flags_o.hold      = is_notify || is_send || w0_i.notify_requester || w0_i.notify_responder || flags_o.tail
                        || flags_o.get_note;
    flags_o.ack       = is_put ? w0_i.ack : w0_i.op != rma_pkg::DESC_NOP;
    flags_o.requester = w0_i.notify_requester;
    flags_o.repeats   = is_notify || is_send;
    flags_o.is_get    = is_get;
    flags_o.is_atomic = is_atomic;
    flags_o.own       = smfu_pkg::reachable(w0_i.node, cfg_node_i, 16'd0, 1'b0, 1'b0);
    flags_o.peer      = ggas_pkg::is_peer(w0_i.node, peer_node_i);
    flags_o.slots     = rma_requester_pkg::has_slots(w0_i.op);
    flags_o.what      = flags_o.hold && (flags_o.ack || flags_o.tail) ? 3'd0 : w0_i.op[2:0];
  end

  assign bad_o = size_bad || flags_bad || (is_atomic && atomic_bad);

endmodule

`default_nettype wire
