// SPDX-License-Identifier: Apache-2.0
// Sends rows of the buffers, or one given word, as the beats of a packet or of a host write. A row leaves as soon as it
// is available, so a packet may begin before its last row exists.
`default_nettype none

module coll_out #(
    parameter int unsigned DATA_W = 64,  // 64, 256 or 512
    localparam int unsigned ROW_W = $clog2(2048 / DATA_W)
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // a request is held until it is done (pulse, with its last beat)
    input  wire logic                go_i,
    input  wire logic                write_i,       // to the host, else a packet
    input  wire logic [5:0]          words_i,       // 0 ... 32
    input  wire logic [2:0]          group_i,
    input  wire logic [ROW_W-1:0]    from_i,        // first row
    input  wire logic [ROW_W:0]      readable_i,       // rows that can be read, from that one on
    input  wire logic                given_i,       // one word, this:
    input  wire logic [63:0]         word_i,
    output      logic                done_o,

    // buffers; the row a cycle later, held until the next is read
    output      logic                re_o,
    output      logic [ROW_W+2:0]    raddr_o,
    input  wire logic [DATA_W-1:0]   rdata_i,

    output      logic                tx_valid_o,
    input  wire logic                tx_ready_i,
    output      logic                wr_valid_o,
    input  wire logic                wr_ready_i,
    output      logic                sop_o,
    output      logic                eop_o,
    output      logic [DATA_W-1:0]   data_o
);
  localparam int unsigned LANES = DATA_W / 64;
  localparam int unsigned LANE_W = $clog2(LANES);

  logic           word_q, first_q;  // a row has been read and not left; none has left
  logic [ROW_W:0] read_q;           // rows read
  logic [5:0]     left_q;           // words that have not left

  wire [ROW_W:0] rows  = words_i[5:LANE_W] + {{ROW_W{1'b0}}, (words_i & ((6'd1 << LANE_W) - 6'd1)) != '0};
  wire           alone = given_i || words_i == '0;  // one beat, which no row is read for
  wire           ready = write_i ? wr_ready_i : tx_ready_i;
  wire           valid = go_i && (alone || word_q);
  wire           take  = valid && ready;
  wire [5:0]     left  = first_q ? words_i : left_q;
  assign re_o    = go_i && !alone && read_q != rows && read_q < readable_i && (!word_q || ready);
  assign raddr_o = {group_i, from_i + read_q[ROW_W-1:0]};

  assign tx_valid_o = valid && !write_i;
  assign wr_valid_o = valid && write_i;
  assign sop_o  = alone || first_q;
  assign eop_o  = alone || left <= LANES[5:0];
  assign done_o = take && eop_o;
  // Words after the last one, and next to one that is given, are those of others.
  always_comb begin
    data_o = '0;
    for (int i = 0; i < LANES; i = i + 1)
      if (!given_i && left > i[5:0]) data_o[64*i+:64] = rdata_i[64*i+:64];
    if (given_i) data_o[63:0] = word_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q  <= 1'b0;
      first_q <= 1'b1;
      read_q  <= '0;
    end else begin
      word_q  <= !done_o && (re_o || (word_q && !ready));  // a request ends with its last beat
      first_q <= !go_i || done_o || (first_q && !take);
      read_q  <= go_i && !done_o ? read_q + {{ROW_W{1'b0}}, re_o} : '0;
    end
  end
  always_ff @(posedge clk_i) if (take) left_q <= left - LANES[5:0];
endmodule

`default_nettype wire
