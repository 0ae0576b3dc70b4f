// SPDX-License-Identifier: Apache-2.0
// Events of the RMA's units: pulses in, records for the event queue out. One record of each unit waits; what meets it
// waiting is
// counted only (the counters see the pulses themselves).
`default_nettype none

module rma_events #(
    parameter int unsigned SOURCES = 8
) (
    input  wire logic                  clk_i,
    input  wire logic                  rst_ni,

    // units; bit or slice i is unit i. A code of 0 is no event.
    input  wire logic [8*SOURCES-1:0]  code_i,
    input  wire logic [16*SOURCES-1:0] node_i,
    input  wire logic [40*SOURCES-1:0] info_i,

    output      logic                  event_valid_o,
    input  wire logic                  event_ready_i,
    output      ggas_pkg::event_t      event_o,
    output      logic                  busy_o
);
  logic [SOURCES-1:0]    wait_q, fresh, grant;
  logic [64*SOURCES-1:0] record_q;
  logic                  unused_locked;

  arbiter_rr #(.N(SOURCES), .HOLD(1'b1)) i_arbiter (
      .clk_i, .rst_ni, .clear_i(1'b0), .req_i(wait_q), .take_i(event_valid_o && event_ready_i), .eop_i(1'b1),
      .grant_o(grant),
      .locked_o(unused_locked)
  );

  assign event_valid_o = grant != '0;
  always_comb begin
    event_o = '0;
    for (int i = 0; i < SOURCES; i = i + 1) begin
      fresh[i] = code_i[8*i+:8] != '0;
      if (grant[i]) event_o = record_q[64*i+:64];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wait_q <= '0;
    else if (fresh != '0 || wait_q != '0) wait_q <= (wait_q & ~(event_ready_i ? grant : '0)) | fresh;
  end
  always_ff @(posedge clk_i) begin
    if (fresh != '0) begin
      for (int i = 0; i < SOURCES; i = i + 1) begin
        if (fresh[i] && !wait_q[i]) record_q[64*i+:64] <= {code_i[8*i+:8], node_i[16*i+:16], info_i[40*i+:40]};
      end
    end
  end

  assign busy_o = wait_q != '0;
endmodule

`default_nettype wire
