// SPDX-License-Identifier: Apache-2.0
// Memory that other nodes may access through the window: the EXPORT registers in RAM, and one cache line each for
// stores and for loads with the export that was requested last. A packet names its export, so nothing is searched. A
// packet with the same export as the packet before it is checked at once, another one two cycles later. A write of an
// export empties its lines in the same cycle; mark_o then separates packets accepted before from later ones.
`default_nettype none

module smfu_exports (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // EXPORT registers
    input  wire logic                ext_req_i,
    input  wire logic                ext_write_i,
    input  wire logic [10:3]         ext_addr_i,      // offset in EXPORT
    input  wire logic [63:0]         ext_wdata_i,
    input  wire logic [7:0]          ext_wstrb_i,     // halves as a whole
    output      logic [63:0]         ext_rdata_o,
    output      logic                mark_o,          // pulse: an export in use was changed in the cycle before
    input  wire logic                drained_i,       // of what was let in before the last mark nothing is under way

    // Bit or slice 0: stores, 1: loads and flushes. Held until known.
    input  wire logic [1:0]          ask_i,
    input  wire logic [15:0]         ask_export_i,
    output      logic [1:0]          known_o,         // export_o is that of ask_export_i
    output      smfu_pkg::export_t   store_export_o,
    output      smfu_pkg::export_t   load_export_o,
    output      logic                busy_o
);
  localparam int unsigned N = ggas_regs_pkg::EXPORT_NUM;
  localparam int unsigned W = smfu_pkg::EXPORT_W;

  // ---------------------------------------------------------------- registers: in RAM, valid bits next to them
  wire  [5:0]   index = ext_addr_i[10:5];
  wire  [1:0]   which = ext_addr_i[4:3];
  wire          write = ext_req_i && ext_write_i && which != 2'd3;
  wire          give  = write && which == 2'd2 && ext_wstrb_i[0];
  wire          clear = write && !which[1];  // of a border: the export may be half written
  logic [N-1:0] known_q, valid_q;            // written since reset; in use
  logic [5:0]   index_q;
  logic [1:0]   which_q;
  logic         known_then_q;

  // The first write of an export since reset clears what it does not write.
  wire          fresh = write && !known_q[index];
  logic         read;
  logic [5:0]   read_index;
  logic [63:12] base_raw, size_raw;
  logic [17:0]  access_raw;  // write, read, domain
  // The low half holds bits from 12 on.
  wire base_low  = clear && !which[0] && ext_wstrb_i[0];
  wire base_high = clear && !which[0] && ext_wstrb_i[4];
  wire size_low  = clear && which[0] && ext_wstrb_i[0];
  wire size_high = clear && which[0] && ext_wstrb_i[4];
  ram_1r1w #(.WIDTH(20), .DEPTH(N)) u_base_low (
      .clk_i, .we_i(base_low || fresh), .waddr_i(index), .wdata_i(base_low ? ext_wdata_i[31:12] : '0), .re_i(read),
      .raddr_i(read_index), .rdata_o(base_raw[31:12]));
  ram_1r1w #(.WIDTH(32), .DEPTH(N)) u_base_high (
      .clk_i, .we_i(base_high || fresh), .waddr_i(index), .wdata_i(base_high ? ext_wdata_i[63:32] : '0),
      .re_i(read), .raddr_i(read_index), .rdata_o(base_raw[63:32]));
  ram_1r1w #(.WIDTH(20), .DEPTH(N)) u_size_low (
      .clk_i, .we_i(size_low || fresh), .waddr_i(index), .wdata_i(size_low ? ext_wdata_i[31:12] : '0), .re_i(read),
      .raddr_i(read_index), .rdata_o(size_raw[31:12]));
  ram_1r1w #(.WIDTH(32), .DEPTH(N)) u_size_high (
      .clk_i, .we_i(size_high || fresh), .waddr_i(index), .wdata_i(size_high ? ext_wdata_i[63:32] : '0),
      .re_i(read), .raddr_i(read_index), .rdata_o(size_raw[63:32]));
  ram_1r1w #(.WIDTH(18), .DEPTH(N)) u_access (
      .clk_i, .we_i(give || fresh), .waddr_i(index),
      .wdata_i(give ? {ext_wdata_i[18:17], ext_wdata_i[15:0]} : '0), .re_i(read), .raddr_i(read_index),
      .rdata_o(access_raw));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      known_q <= '0;
      valid_q <= '0;
      mark_o  <= 1'b0;
    end else begin
      mark_o <= (give || clear) && valid_q[index];
      if (write) known_q[index] <= 1'b1;
      if (give) valid_q[index] <= ext_wdata_i[16];
      else if (clear) valid_q[index] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (ext_req_i) begin
      index_q      <= index;
      which_q      <= which;
      known_then_q <= known_q[index];
    end
  end

  always_comb begin
    ext_rdata_o = '0;
    if (which_q == 2'd3) begin
      ext_rdata_o[0] = !valid_q[index_q] && drained_i;
    end else if (known_then_q) begin
      case (which_q)
        2'd0:    ext_rdata_o = {base_raw, 12'd0};
        2'd1:    ext_rdata_o = {size_raw, 12'd0};
        default: ext_rdata_o = {45'd0, access_raw[17:16], valid_q[index_q], access_raw[15:0]};
      endcase
    end
  end

  // ---------------------------------------------------------------- lines: the RAM is read for one of them at a time
  logic [2*W-1:0] line_q;
  logic [2*6-1:0] line_no_q;
  logic [1:0]   line_known_q, none, hit, want, warm_q, warm;
  logic [5:0]   warm_no_q;             // an empty line takes the export given out last before anyone asks
  logic         fetch_q, fetch_for_q;  // an export stands at the RAM, for this line
  wire          port      = ext_req_i && which != 2'd3;  // STATE needs no RAM: who polls it delays no one
  wire          fetch     = (want != '0 || warm != '0) && !fetch_q && !port;
  wire          fetch_for = want != '0 ? !want[0] : !warm[0];  // stores first
  wire  [5:0]   fetch_no  = want == '0 ? warm_no_q : fetch_for ? ask_export_i[13:8] : ask_export_i[5:0];
  assign warm = warm_q & ~line_known_q;
  assign read       = port || fetch;
  assign read_index = port ? index : fetch_no;

  for (genvar c = 0; c < 2; c = c + 1) begin : g_line
    wire [7:0] number = ask_export_i[8*c+:8];
    wire       mine   = fetch_q && fetch_for_q == c[0];
    assign none[c]    = {1'b0, number} >= N[8:0];
    assign hit[c]     = line_known_q[c] && number[5:0] == line_no_q[6*c+:6];
    assign want[c]    = ask_i[c] && !none[c] && !hit[c];
    assign known_o[c] = none[c] || hit[c];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) line_known_q[c] <= 1'b0;
      // One that is written as it comes is read again.
      else if (write && index == line_no_q[6*c+:6]) line_known_q[c] <= 1'b0;
      else if (mine) line_known_q[c] <= 1'b1;
      else if (fetch && fetch_for == c[0]) line_known_q[c] <= 1'b0;
    end
    always_ff @(posedge clk_i) begin
      if (fetch && fetch_for == c[0]) line_no_q[6*c+:6] <= fetch_no;
      if (mine) line_q[W*c+:W] <= {valid_q[line_no_q[6*c+:6]], access_raw[17-c], access_raw[15:0], base_raw, size_raw};
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fetch_q <= 1'b0;
      warm_q  <= '0;
    end else begin
      fetch_q <= fetch;
      warm_q  <= give && ext_wdata_i[16] ? 2'b11 : warm;
    end
  end
  always_ff @(posedge clk_i) begin
    if (fetch) fetch_for_q <= fetch_for;
    if (give) warm_no_q <= index;
  end

  always_comb begin
    {load_export_o, store_export_o} = line_q;
    store_export_o.valid = line_q[W-1] && !none[0];
    load_export_o.valid  = line_q[2*W-1] && !none[1];
  end
  assign busy_o = mark_o || fetch_q || warm_q != '0;

  wire unused = ^{ext_wstrb_i[7:5], ext_wstrb_i[3:1], ext_wdata_i[11:0]};

`ifndef SYNTHESIS
  initial if (N != 64) $error("smfu_exports: the index has 6 bits");
`endif
endmodule

`default_nettype wire
