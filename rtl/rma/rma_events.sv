// SPDX-License-Identifier: Apache-2.0
// Events of the RMA's units: pulses become codes, all are counted, and the collector keeps one record of each unit.
// Combinational but for the collector.
`default_nettype none

module rma_events (
    input  wire logic       clk_i,
    input  wire logic       rst_ni,

    // pulses of the units; the uppermost one counts
    input  wire logic [5:0] requester_i,    // unexpected, retry limit, unreachable, time-out, protection, descriptor
    input  wire logic [2:0] answer_i,       // unexpected, protection, bad packet
    input  wire logic [3:0] target_i,       // host error, context off, protection, bad packet
    input  wire logic [2:0] atomic_i,       // host error, protection, bad packet
    input  wire logic [2:0] responder_i,    // context off, protection, bad packet
    input  wire logic       put_i,          // host errors of the fetch engines
    input  wire logic       get_i,
    input  wire logic       page_i,         // access to a page
    input  wire logic       doorbell_i,     // bad doorbell
    input  wire logic       queue_i,        // host error
    input  wire logic       lost_i,         // notification
    input  wire logic       walk_i,         // of the ATU failed

    // completions without a waiting read: of local contexts, of packets of others, of walks, of no tag
    input  wire logic       stray_issue_i,
    input  wire logic       stray_serve_i,
    input  wire logic       stray_walk_i,
    input  wire logic       stray_none_i,

    // node and information, a slice a source (rma_pkg::EV_*)
    input  wire logic [rma_pkg::EV_SOURCES*16-1:0] node_i,
    input  wire logic [rma_pkg::EV_SOURCES*40-1:0] info_i,

    output      logic              event_valid_o,
    input  wire logic              event_ready_i,
    output      ggas_pkg::event_t  event_o,
    output      ggas_regs_pkg::event_set_t [4:0] ev_pulse_o,  // every occurrence, by code, in five vectors
    output      logic              busy_o
);
  localparam int unsigned SOURCES = rma_pkg::EV_SOURCES;
  logic [SOURCES*8-1:0] ev_code;
  always_comb begin
    ev_code = '0;
    ev_code[rma_pkg::EV_REQUESTER*8+:8] = requester_i[5] ? ggas_regs_pkg::EV_UNEXPECTED_RSP
      : requester_i[4] ? ggas_regs_pkg::EV_RMA_RETRY_LIMIT : requester_i[3] ? ggas_regs_pkg::EV_RMA_UNREACHABLE
      : requester_i[2] ? ggas_regs_pkg::EV_RMA_TIMEOUT : requester_i[1] ? ggas_regs_pkg::EV_RMA_PROTECTION
      : requester_i[0] ? ggas_regs_pkg::EV_BAD_DESCRIPTOR : ggas_regs_pkg::EV_NONE;
    ev_code[rma_pkg::EV_ANSWER*8+:8] = answer_i[2] ? ggas_regs_pkg::EV_UNEXPECTED_RSP
      : answer_i[1] ? ggas_regs_pkg::EV_RMA_PROTECTION : answer_i[0] ? ggas_regs_pkg::EV_BAD_PACKET
      : ggas_regs_pkg::EV_NONE;
    ev_code[rma_pkg::EV_TARGET*8+:8] = target_i[3] ? ggas_regs_pkg::EV_RMA_HOST_ERROR
      : target_i[2] ? ggas_regs_pkg::EV_CONTEXT_OFF : target_i[1] ? ggas_regs_pkg::EV_TARGET_PROTECTION
      : target_i[0] ? ggas_regs_pkg::EV_BAD_PACKET : ggas_regs_pkg::EV_NONE;
    ev_code[rma_pkg::EV_ATOMIC*8+:8] = atomic_i[2] ? ggas_regs_pkg::EV_RMA_HOST_ERROR
      : atomic_i[1] ? ggas_regs_pkg::EV_TARGET_PROTECTION : atomic_i[0] ? ggas_regs_pkg::EV_BAD_PACKET
      : ggas_regs_pkg::EV_NONE;
    ev_code[rma_pkg::EV_RESPONDER*8+:8] = responder_i[2] ? ggas_regs_pkg::EV_CONTEXT_OFF
      : responder_i[1] ? ggas_regs_pkg::EV_TARGET_PROTECTION : responder_i[0] ? ggas_regs_pkg::EV_BAD_PACKET
      : ggas_regs_pkg::EV_NONE;
    if (put_i) ev_code[rma_pkg::EV_PUT*8+:8] = ggas_regs_pkg::EV_RMA_HOST_ERROR;
    if (get_i) ev_code[rma_pkg::EV_GET*8+:8] = ggas_regs_pkg::EV_RMA_HOST_ERROR;
    if (page_i) ev_code[rma_pkg::EV_PAGE*8+:8] = ggas_regs_pkg::EV_PAGE_ACCESS;
    if (doorbell_i) ev_code[rma_pkg::EV_DOORBELL*8+:8] = ggas_regs_pkg::EV_BAD_DESCRIPTOR;
    if (queue_i) ev_code[rma_pkg::EV_QUEUE*8+:8] = ggas_regs_pkg::EV_RMA_HOST_ERROR;
    if (lost_i) ev_code[rma_pkg::EV_LOST*8+:8] = ggas_regs_pkg::EV_NOTIFY_LOST;
    if (walk_i) ev_code[rma_pkg::EV_WALK*8+:8] = ggas_regs_pkg::EV_ATU_WALK;
    if (stray_issue_i || stray_serve_i || stray_walk_i || stray_none_i)
      ev_code[rma_pkg::EV_STRAY*8+:8] = ggas_regs_pkg::EV_UNEXPECTED_CPL;
  end

  // Units in one vector never share a code.
  function automatic ggas_regs_pkg::event_set_t pulse(input logic [7:0] code);
    pulse = '0;
    if (code != '0) pulse[code[5:0]] = 1'b1;
  endfunction
  function automatic ggas_regs_pkg::event_set_t pulse_stray(input logic stray);
    pulse_stray = '0;
    pulse_stray[ggas_regs_pkg::EV_UNEXPECTED_CPL[5:0]] = stray;
  endfunction
  assign ev_pulse_o = {
    pulse(ev_code[rma_pkg::EV_DOORBELL*8+:8]) | pulse(ev_code[rma_pkg::EV_QUEUE*8+:8])
      | pulse(ev_code[rma_pkg::EV_RESPONDER*8+:8]) | pulse_stray(stray_none_i),
    pulse(ev_code[rma_pkg::EV_ATOMIC*8+:8]),
    pulse(ev_code[rma_pkg::EV_TARGET*8+:8]) | pulse_stray(stray_walk_i),
    pulse(ev_code[rma_pkg::EV_ANSWER*8+:8]) | pulse(ev_code[rma_pkg::EV_GET*8+:8]) | pulse_stray(stray_serve_i),
    pulse(ev_code[rma_pkg::EV_REQUESTER*8+:8]) | pulse(ev_code[rma_pkg::EV_PUT*8+:8])
      | pulse(ev_code[rma_pkg::EV_PAGE*8+:8]) | pulse(ev_code[rma_pkg::EV_LOST*8+:8])
      | pulse(ev_code[rma_pkg::EV_WALK*8+:8]) | pulse_stray(stray_issue_i)
  };
  logic [SOURCES-1:0]    ev_valid, unused_ready;
  logic [SOURCES*64-1:0] events;
  logic [6:0]            unused_interval;
  ggas_regs_pkg::event_set_t unused_count;
  always_comb begin
    for (int i = 0; i < SOURCES; i = i + 1) begin
      ev_valid[i]      = ev_code[8*i+:8] != '0;
      events[64*i+:64] = {ev_code[8*i+:8], node_i[16*i+:16], info_i[40*i+:40]};
    end
  end
  event_collector #(.SOURCES(SOURCES), .PULSES(1'b1), .HOLD(1'b1)) i_events (
      .clk_i, .rst_ni, .valid_i(ev_valid), .ready_o(unused_ready), .events_i(events), .intervals_i('0), .event_valid_o,
      .event_ready_i, .event_o, .event_interval_o(unused_interval), .count_o(unused_count), .busy_o
  );
endmodule

`default_nettype wire
