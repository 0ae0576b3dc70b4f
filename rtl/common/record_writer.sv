// SPDX-License-Identifier: Apache-2.0
// The one way in which the NIC itself writes to the host: a record (of a ring, a status block, a message of MSI-X, an
// acknowledgement) leaves as one write of so many bytes, all of them enabled. Without additional latency.
`default_nettype none

module record_writer #(
    parameter int unsigned DATA_W = 64,  // bits of a beat
    parameter int unsigned BYTES  = 16   // of a record: a multiple of 4, at most 128
) (
    input  wire logic               clk_i,
    input  wire logic               rst_ni,

    // a record; it does not change until it is sent
    input  wire logic               valid_i,
    input  wire logic [63:0]        addr_i,    // bus address, a multiple of 4; the write crosses no 4 KB
    input  wire logic [8*BYTES-1:0] data_i,
    output      logic [3:0]         beat_o,    // that is on offer
    output      logic               sent_o,    // pulse: its last beat is accepted

    output      ggas_pkg::tlp_beat_t wr_o,
    input  wire logic               wr_ready_i,
    output      logic [DATA_W-1:0]  wr_data_o
);
  localparam int unsigned BEATS = (8 * BYTES + DATA_W - 1) / DATA_W;
  localparam int unsigned BEAT_W = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam logic [BEAT_W-1:0] LAST = BEAT_W'(BEATS - 1);

  logic [BEAT_W-1:0]  beat_q;
  ggas_pkg::tlp_hdr_t hdr;
  assign beat_o     = 4'(beat_q);
  assign wr_o.valid = valid_i;
  assign wr_o.sop   = BEATS == 1 || beat_q == '0;
  assign wr_o.eop   = BEATS == 1 || beat_q == LAST;
  assign wr_o.hdr   = hdr;
  assign sent_o     = valid_i && wr_ready_i && wr_o.eop;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_q <= '0;
    else if (valid_i && wr_ready_i) beat_q <= wr_o.eop ? '0 : beat_q + 1'b1;
  end

  // Not gated by valid_i: what holds the record is idle, too, and a gate costs a LUT a bit.
  always_comb begin
    hdr          = '0;
    hdr.kind     = ggas_pkg::TLP_MWR;
    hdr.bar      = 3'd7;
    hdr.addr     = addr_i;
    hdr.len_dw   = BYTES[12:2];
    hdr.first_be = 4'hf;
    hdr.last_be  = BYTES == 4 ? 4'h0 : 4'hf;
  end
  wire [BEATS*DATA_W-1:0] data = (BEATS * DATA_W)'(data_i);
  always_comb begin
    wr_data_o = data[DATA_W-1:0];
    for (int i = 1; i < BEATS; i++) if (beat_q == BEAT_W'(i)) wr_data_o = data[i*DATA_W+:DATA_W];
  end

`ifndef SYNTHESIS
  initial if (BYTES % 4 != 0 || BYTES < 4 || BYTES > 128) $error("record_writer: BYTES must be 4, 8 ... 128");
`endif
endmodule

`default_nettype wire
