// SPDX-License-Identifier: Apache-2.0
// Words of the buffers, or one word that is given, as the beats of a packet or of a host write.
`default_nettype none

module coll_out #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // a request is held until it is done (pulse, with its last beat)
    input  wire logic                go_i,
    input  wire logic                write_i,       // to the host, else a packet
    input  wire logic [5:0]          words_i,       // 0 ... 32
    input  wire logic [coll_pkg::BUFFER_W-1:0] from_i,
    input  wire logic                given_i,       // one word, this:
    input  wire logic [63:0]         word_i,
    output      logic                done_o,

    // buffers; the word a cycle later
    output      logic                re_o,
    output      logic [coll_pkg::BUFFER_W-1:0] raddr_o,
    input  wire logic [63:0]         rdata_i,

    output      logic                tx_valid_o,
    input  wire logic                tx_ready_i,
    output      logic                wr_valid_o,
    input  wire logic                wr_ready_i,
    output      logic                sop_o,
    output      logic                eop_o,
    output      logic [DATA_W-1:0]   data_o
);
  localparam int unsigned LANES = DATA_W / 64;
  localparam int unsigned LANE_W = LANES > 1 ? $clog2(LANES) : 1;

  logic              on_q, full_q, first_q, last_q, word_q;  // word_q: a word comes out of the buffers
  logic [5:0]        read_q, put_q;                          // words read, and put into beats
  logic [LANE_W-1:0] lane_q;
  logic [DATA_W-1:0] beat_q;

  wire [5:0] words = given_i ? 6'd1 : words_i;
  wire ready = write_i ? wr_ready_i : tx_ready_i;
  wire take  = full_q && ready;
  wire free  = !full_q || take;
  // A word may be read if the one before it has a place.
  wire put   = on_q && free && (given_i ? put_q == '0 : word_q);
  assign re_o    = on_q && !given_i && read_q != words && (!word_q || put);
  assign raddr_o = from_i + {{(coll_pkg::BUFFER_W - 6) {1'b0}}, read_q};
  wire ends  = put_q + 1'b1 >= words;
  wire fills = put && (ends || lane_q == LANES[LANE_W-1:0] - 1'b1);
  wire empty = on_q && words == '0 && !full_q && !last_q;

  assign tx_valid_o = full_q && !write_i;
  assign wr_valid_o = full_q && write_i;
  assign sop_o  = first_q;
  assign eop_o  = last_q;
  assign data_o = beat_q;
  assign done_o = take && last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      on_q   <= 1'b0;
      full_q <= 1'b0;
      word_q <= 1'b0;
    end else begin
      on_q   <= go_i && !done_o;
      full_q <= fills || empty || (full_q && !ready);
      word_q <= !done_o && (re_o || (word_q && !put));
    end
  end
  always_ff @(posedge clk_i) begin
    if (!on_q) begin
      read_q  <= '0;
      put_q   <= '0;
      lane_q  <= '0;
      first_q <= 1'b1;
      last_q  <= 1'b0;
    end else begin
      if (re_o) read_q <= read_q + 1'b1;
      if (put) begin
        put_q  <= put_q + 1'b1;
        lane_q <= fills ? '0 : lane_q + 1'b1;
        last_q <= ends;
        if (lane_q == '0) beat_q <= '0;
        for (int i = 0; i < LANES; i = i + 1)
          if (lane_q == i[LANE_W-1:0]) beat_q[64*i+:64] <= given_i ? word_i : rdata_i;
      end
      if (empty) last_q <= 1'b1;
      if (take) first_q <= 1'b0;
    end
  end
endmodule

`default_nettype wire
