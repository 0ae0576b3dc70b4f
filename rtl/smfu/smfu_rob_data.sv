// SPDX-License-Identifier: Apache-2.0
// The data of remote loads until they are answered, one bank for each DW. The DWs of a beat are rotated: DW k goes to
// place pos_i + k of its slot.
`default_nettype none

module smfu_rob_data #(
    parameter int unsigned DATA_W = 64,                     // 64, 256 or 512
    localparam int unsigned ROW_W = 6 - $clog2(DATA_W / 32) // a slot has 64 DWs
) (
    input  wire logic              clk_i,

    input  wire logic              store_i,
    input  wire logic [5:0]        slot_i,
    input  wire logic [5:0]        pos_i,   // DW of the slot where the beat goes
    input  wire logic [6:0]        left_i,  // DWs of the completion, this beat included
    input  wire logic [DATA_W-1:0] data_i,

    input  wire logic              re_i,    // data_o: a row of slot head_i, in the next cycle
    input  wire logic [5:0]        head_i,
    input  wire logic [ROW_W-1:0]  row_i,
    output      logic [DATA_W-1:0] data_o
);
  localparam int unsigned BANKS = DATA_W / 32;
  localparam int unsigned BW    = $clog2(BANKS);

  for (genvar b = 0; b < BANKS; b++) begin : gen_bank
    localparam logic [BW-1:0] BANK = b;
    wire [BW-1:0] lane     = BANK - pos_i[BW-1:0];
    // verilator lint_off UNUSEDSIGNAL
    wire [5:0]    place    = pos_i + {{ROW_W{1'b0}}, lane};
    // verilator lint_on UNUSEDSIGNAL
    wire          in_piece = {{(7-BW){1'b0}}, lane} < left_i;
    ram_1r1w #(.WIDTH(32), .DEPTH(64 << ROW_W)) u_ram (
        .clk_i,
        .we_i(store_i && in_piece),
        .waddr_i({slot_i, place[5:BW]}),
        .wdata_i(data_i[32*lane+:32]),
        .re_i,
        .raddr_i({head_i, row_i}),
        .rdata_o(data_o[32*b+:32])
    );
  end
endmodule

`default_nettype wire
