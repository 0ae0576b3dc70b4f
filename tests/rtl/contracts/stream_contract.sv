// SPDX-License-Identifier: Apache-2.0
// The contract of streams (docs/rtl-tests.md): what is offered stands until it is taken, valid, sop, eop, header and
// data; a packet has its beats from sop to eop, as many as its header says. A file <module>.sv next to this one binds
// it to each stream that the module drives; it is part of every build with assertions, and of proofs.

// Streams side by side at the ports x_valid_o, x_ready_i, x_sop_o and x_eop_o of `module`; what stands next to them.
`define STREAM_AS(module, x, hdr, data) \
  bind module stream_contract #( \
      .N($bits(x``_valid_o)), .HDR_W($bits(hdr) / $bits(x``_valid_o)), .DATA_W($bits(data) / $bits(x``_valid_o)) \
  ) x``_contract ( \
      .clk_i, .rst_ni, .valid_i(x``_valid_o), .ready_i(x``_ready_i), .sop_i(x``_sop_o), .eop_i(x``_eop_o), \
      .hdr_i(hdr), .data_i(data), .withdraw_i('0) \
  )
`define STREAM(module, x) `STREAM_AS(module, x, x``_hdr_o, x``_data_o)
// The same at the ports x_o (tlp_beat_t, net_beat_t, rma_beat_t) and x_ready_i.
`define STREAM_OF(module, x, data) \
  bind module stream_contract #(.HDR_W($bits(x``_o.hdr)), .DATA_W($bits(data))) x``_contract ( \
      .clk_i, .rst_ni, .valid_i(x``_o.valid), .ready_i(x``_ready_i), .sop_i(x``_o.sop), .eop_i(x``_o.eop), \
      .hdr_i(x``_o.hdr), .data_i(data), .withdraw_i('0) \
  )
// Handshakes without packets: x_valid_o, x_ready_i, and what must stand with them.
`define HANDSHAKE(module, x, what) \
  bind module stream_contract #( \
      .N($bits(x``_valid_o)), .HDR_W($bits(what) / $bits(x``_valid_o)), .DATA_W(1) \
  ) x``_contract ( \
      .clk_i, .rst_ni, .valid_i(x``_valid_o), .ready_i(x``_ready_i), .sop_i('1), .eop_i('1), .hdr_i(what), \
      .data_i('0), .withdraw_i('0) \
  )

module stream_contract #(
    parameter int unsigned N      = 1,    // streams
    parameter int unsigned HDR_W  = 224,  // 224: net_hdr_t or rma_hdr_t; 159: tlp_hdr_t; others have no length
    parameter int unsigned DATA_W = 64,   // bits of a beat
    parameter bit          ASSUME = 1'b0  // in a proof: of streams that come in
) (
    input wire logic                clk_i,
    input wire logic                rst_ni,
    input wire logic [N-1:0]        valid_i,
    input wire logic [N-1:0]        ready_i,
    input wire logic [N-1:0]        sop_i,
    input wire logic [N-1:0]        eop_i,
    input wire logic [N*HDR_W-1:0]  hdr_i,   // with sop
    input wire logic [N*DATA_W-1:0] data_i,
    input wire logic [N-1:0]        withdraw_i  // a packet that was not begun may go
);
  localparam logic [3:0] MWR = 4'd1, CPLD = 4'd3;  // as ggas_pkg::TLP_*
  localparam bit NET = HDR_W == 224, TLP = HDR_W == 159;
  localparam logic [10:0] BEAT = 11'(DATA_W / 32);  // DW

  for (genvar n = 0; n < N; n = n + 1) begin : g_stream
    logic              valid, ready, sop, eop, waits_q, inside_q, sop_q, eop_q, may_go_q;
    logic [HDR_W-1:0]  hdr, hdr_q;
    logic [DATA_W-1:0] data, data_q;
    logic [10:0]       payload, left, left_q;  // DW
    logic              full;                   // the beat has data
    assign {valid, ready, sop, eop} = {valid_i[n], ready_i[n], sop_i[n], eop_i[n]};
    assign hdr  = hdr_i[HDR_W*n+:HDR_W];
    assign data = data_i[DATA_W*n+:DATA_W];
    if (NET) begin : g_net
      assign payload = hdr[39:29];
    end else if (TLP) begin : g_tlp
      assign payload = hdr[158:155] == MWR || hdr[158:155] == CPLD ? hdr[87:77] : '0;
    end else begin : g_any
      assign payload = '0;
    end
    assign left = sop ? payload : left_q;
    assign full = !(NET || TLP) || left != '0;

    // Reset is over, so what the last cycle left counts.
    wire  withdrawn = !inside_q && (withdraw_i[n] || may_go_q);
    wire  stands = valid && sop == sop_q && eop == eop_q && (!sop || hdr == hdr_q) && (!full || data == data_q);
    wire  framed = sop == !inside_q;
    wire  counted = !(NET || TLP) || eop == (left <= BEAT);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        waits_q  <= 1'b0;
        inside_q <= 1'b0;
        may_go_q <= 1'b0;
      end else begin
        waits_q  <= valid && !ready;
        may_go_q <= withdraw_i[n];
        if (valid && ready) inside_q <= !eop;
      end
    end
    always_ff @(posedge clk_i) begin
      {sop_q, eop_q, hdr_q, data_q} <= {sop, eop, hdr, data};
      if (valid && ready) left_q <= left - BEAT;
    end
    if (ASSUME) begin : g_assume
      always_comb begin
        if (rst_ni && waits_q && !withdrawn) assume (stands);
        if (rst_ni && valid) assume (framed && counted);
      end
    end else begin : g_assert
`ifdef FORMAL
      always_comb begin
        if (rst_ni && waits_q && !withdrawn) assert (stands);
        if (rst_ni && valid) assert (framed && counted);
      end
`else
      always_ff @(posedge clk_i) begin
        if (rst_ni && waits_q && !withdrawn)
          assert (stands) else $error("%m: stream %0d: an offer changed before it was taken", n);
        if (rst_ni && valid) begin
          assert (framed) else $error("%m: stream %0d: sop and eop do not fit together", n);
          assert (counted) else $error("%m: stream %0d: not as many beats as the header says", n);
        end
      end
`endif
    end
  end
endmodule
