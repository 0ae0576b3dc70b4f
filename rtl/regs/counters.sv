// SPDX-License-Identifier: Apache-2.0
// The 64-bit counters: named ones at ADDR_COUNTERS, one per event code at EVENT_COUNT. Read over the register bus.
`default_nettype none

module counters #(
  parameter int unsigned EV_SOURCES = 1    // vectors of event pulses, at most 15
) (
  input  wire         clk_i,
  input  wire         rst_ni,

  input  wire  [ggas_regs_pkg::CNT_NUM-1:0] cnt_i,   // one pulse an occurrence, bit ggas_regs_pkg::CNT_*
  input  wire  [32*EV_SOURCES-1:0] ev_i,             // one pulse an occurrence, bit = event code, per source

  input  wire         ext_req_i,      // read this cycle
  input  wire  [15:0] ext_addr_i,
  output logic [63:0] ext_rdata_o     // next cycle
);

  localparam int unsigned N  = ggas_regs_pkg::CNT_NUM;
  localparam int unsigned NE = ggas_regs_pkg::EVENT_COUNT_NUM;

  logic [64*N-1:0]  value_q;
  logic [64*NE-1:0] event_q;
  wire any_ev = ev_i != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      value_q <= '0;
    end else if (cnt_i != '0) begin
      for (int unsigned i = 0; i < N; i++) begin
        if (cnt_i[i]) value_q[64*i +: 64] <= value_q[64*i +: 64] + 64'd1;
      end
    end
  end

  // How many sources saw that code this cycle.
  function automatic logic [3:0] seen(input logic [32*EV_SOURCES-1:0] ev, input int unsigned code);
    seen = '0;
    for (int unsigned s = 0; s < EV_SOURCES; s++) seen = seen + {3'd0, ev[32*s + code]};
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      event_q <= '0;
    end else if (any_ev) begin
      for (int unsigned i = 0; i < NE; i++) begin
        if (seen(ev_i, i) != '0) event_q[64*i +: 64] <= event_q[64*i +: 64] + {60'd0, seen(ev_i, i)};
      end
    end
  end

  wire [5:0] index  = ext_addr_i[8:3];
  wire       events = ext_addr_i[15:8] == ggas_regs_pkg::ADDR_EVENT_COUNT[15:8];

  always_ff @(posedge clk_i) begin
    if (ext_req_i) ext_rdata_o <= events ? event_q[64*index[4:0] +: 64] : (index < N[5:0]) ? value_q[64*index +: 64] : 64'd0;
  end

  wire unused = &{1'b0, ext_addr_i[2:0]};

`ifndef SYNTHESIS
  initial begin
    if (EV_SOURCES == 0 || EV_SOURCES > 15) $error("counters: EV_SOURCES must be 1 to 15");
    if (N > 63 || ggas_regs_pkg::ADDR_COUNTERS[8:0] != 9'd0 || ggas_regs_pkg::ADDR_EVENT_COUNT[7:0] != 8'd0)
      $error("counters: addresses do not fit the index");
  end
`endif

endmodule

`default_nettype wire
