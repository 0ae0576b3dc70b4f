// SPDX-License-Identifier: Apache-2.0
// Store-and-forward buffer of one virtual channel. Payload is written speculatively while a packet arrives and becomes
// visible when the packet is committed; the start of the next packet rolls back an uncommitted one. Its header is
// written in the same way, at the latest in the cycle before, so that both RAMs can be read when it is committed.
// Headers have a separate queue, so a packet costs 1 + its payload beats of the DEPTH units that its sender accounts
// for. A packet may be read several times: with REPEAT it leaves when its last beat is accepted without keep_i.
`default_nettype none

module net_vc_buffer #(
    parameter int unsigned DATA_W = 64,   // 64, 256 or 512
    parameter int unsigned DEPTH  = 256,  // units, a power of two
    parameter int unsigned MARK_W = 1,    // bits kept next to each header
    parameter bit          REPEAT = 1'b0  // keep_i is used
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    // arrival
    input  wire logic                begin_i,        // a packet starts: forget uncommitted payload before now
    input  wire logic                wr_valid_i,     // one payload beat; dropped while full
    input  wire logic                wr_last_i,      // it is the packet's last one
    input  wire logic [DATA_W-1:0]   wr_data_i,
    input  wire logic                head_i,         // header of the packet that may be committed in the next cycle
    input  wire ggas_pkg::net_hdr_t  head_hdr_i,
    input  wire logic [MARK_W-1:0]   head_mark_i,
    input  wire logic                commit_i,       // the packet is good; only while over_o = 0
    output      logic                over_o,         // the packet does not fit: its sender ignored the credits
    // departure
    output      logic                valid_o,
    input  wire logic                ready_i,
    input  wire logic                keep_i,         // with ready_i for a last beat: the packet stays and comes again
    output      logic                sop_o,
    output      logic                eop_o,
    output      ggas_pkg::net_hdr_t  hdr_o,
    output      logic [DATA_W-1:0]   data_o,
    output      logic [MARK_W-1:0]   mark_o,         // of the packet on offer
    output      logic                empty_o,        // no committed packet is left, and all units were given back
    output      logic                freed_o,        // a packet has left in the cycle before: so many units are free
    output      logic [link_pkg::CREDIT_W-1:0] freed_units_o
);
  localparam int unsigned PTR_W = $clog2(DEPTH);
  localparam int unsigned DW_FLIT = DATA_W / 32;
  localparam int unsigned DW_SHIFT = $clog2(DW_FLIT);
  localparam int unsigned LEN_W = $clog2(ggas_pkg::MTU / 4 + 1);        // of a payload in DW
  localparam int unsigned BEAT_W = LEN_W - DW_SHIFT;                    // of one in beats
  localparam logic [LEN_W-1:0] ROUND_UP = DW_FLIT[LEN_W-1:0] - 1'b1;

  // headers
  logic [PTR_W:0] hwr_q, hrd_q;
  logic           hvalid_q;
  logic           hread, hpop, hfull, hfull_q, hlast_q, hover_q;  // hlast_q: room for one more at most
  logic [PTR_W:0] hnext;  // of the header that comes
  // payload: speculative and committed write pointer, read pointer
  logic [PTR_W:0] dspec_q, dwr_q, drd_q;
  logic           dvalid_q, dover_q;
  logic           dread, dpop, dfull, dfull_next, dfull_q, dheld_q, dwrite;  // dheld_q: full of committed payload
  logic [PTR_W:0] dnext, dfill, hfill, dheld;
  logic [PTR_W:0] from;  // the beat that is read
  logic [PTR_W:0] kept;  // the first beat that must stay
  // the packet on offer
  // verilator lint_off UNUSEDSIGNAL
  logic [LEN_W-1:0]  rounded;
  // verilator lint_on UNUSEDSIGNAL
  logic [BEAT_W-1:0] beats;     // payload beats of it
  logic              begun_q;   // beats of it were taken
  // kept next to headers and beats, so that no length has to be compared while they are on offer
  logic              none;      // it has no payload
  logic              last;      // the beat is its last one
  logic [PTR_W:0]    first_q;   // its first beat
  logic              take, rewind;

  // Fullness is computed from registers that do not include the read at the last edge. A sender that obeys its credits
  // never notices the delay: the entry that was read is still offered at the output, and its credit has not been
  // returned.
  assign hnext  = hwr_q + {{PTR_W{1'b0}}, commit_i};
  assign hfill  = hnext - hrd_q;
  assign hfull  = hfull_q || (commit_i && hlast_q);
  assign dnext  = begin_i ? dwr_q : dspec_q;
  assign kept   = REPEAT ? first_q : drd_q;
  assign dfill  = dnext - kept;
  assign dheld  = dwr_q - kept;
  assign dfull  = begin_i ? dheld_q : dfull_q;
  assign dwrite = wr_valid_i && !dfull;
  assign dfull_next = dfill[PTR_W] || (dwrite && (&dfill[PTR_W-1:0]));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hfull_q <= 1'b0;
      hlast_q <= 1'b0;
      dfull_q <= 1'b0;
      dheld_q <= 1'b0;
    end else begin
      hfull_q <= hfill[PTR_W];
      hlast_q <= hfill[PTR_W] || (&hfill[PTR_W-1:0]);
      dfull_q <= dfull_next;
      dheld_q <= commit_i ? dfull_next : dheld[PTR_W];
    end
  end
  assign over_o = hover_q || (dover_q && !begin_i) || (wr_valid_i && dfull);

  ram_1r1w #(.WIDTH(1 + ggas_pkg::NET_HDR_W + MARK_W), .DEPTH(DEPTH)) i_headers (
      .clk_i,
      .we_i(head_i && !hfull), .waddr_i(hnext[PTR_W-1:0]),
      .wdata_i({head_hdr_i.len_dw == '0, head_mark_i, head_hdr_i}),
      .re_i(hread), .raddr_i(hrd_q[PTR_W-1:0]), .rdata_o({none, mark_o, hdr_o})
  );
  ram_1r1w #(.WIDTH(1 + DATA_W), .DEPTH(DEPTH)) i_payload (
      .clk_i,
      .we_i(dwrite), .waddr_i(dnext[PTR_W-1:0]), .wdata_i({wr_last_i, wr_data_i}),
      .re_i(dread), .raddr_i(from[PTR_W-1:0]), .rdata_o({last, data_o})
  );

  // The output registers of the RAMs hold the first entry; they are refilled while it is taken.
  assign rounded = hdr_o.len_dw[LEN_W-1:0] + ROUND_UP;
  assign beats   = rounded[LEN_W-1:DW_SHIFT];
  assign valid_o = hvalid_q && (none || dvalid_q);
  assign sop_o   = !begun_q;
  assign eop_o   = none || last;
  assign take    = valid_o && ready_i;
  assign rewind   = REPEAT && take && eop_o && keep_i;
  assign from    = rewind ? first_q : drd_q;
  assign hpop    = take && eop_o && !rewind;
  assign dpop    = take && !none;
  assign hread   = (hwr_q != hrd_q || commit_i) && (!hvalid_q || hpop);
  assign dread   = (rewind && !none)
      || ((dwr_q != drd_q || (commit_i && dnext != drd_q)) && (!dvalid_q || dpop));
  assign empty_o = hwr_q == hrd_q && !hvalid_q && !freed_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hwr_q    <= '0;
      hrd_q    <= '0;
      hvalid_q <= 1'b0;
      dspec_q  <= '0;
      dwr_q    <= '0;
      drd_q    <= '0;
      dvalid_q <= 1'b0;
      dover_q  <= 1'b0;
      hover_q  <= 1'b0;
      begun_q  <= 1'b0;
      first_q  <= '0;
      freed_o  <= 1'b0;
    end else begin
      freed_o <= hpop;
      dspec_q <= dnext + {{PTR_W{1'b0}}, dwrite};
      dover_q <= (dover_q && !begin_i) || (wr_valid_i && dfull);
      if (head_i) hover_q <= hfull;
      hwr_q <= hnext;
      if (commit_i) dwr_q <= dnext + {{PTR_W{1'b0}}, dwrite};
      if (hread) begin
        hrd_q    <= hrd_q + 1'b1;
        hvalid_q <= 1'b1;
      end else if (hpop) hvalid_q <= 1'b0;
      if (dread) begin
        drd_q    <= from + 1'b1;
        dvalid_q <= 1'b1;
      end else if (dpop) dvalid_q <= 1'b0;
      if (take) begun_q <= !eop_o;
      if (hpop) first_q <= first_q + {{(PTR_W + 1 - BEAT_W) {1'b0}}, beats};
    end
  end
  always_ff @(posedge clk_i) freed_units_o <= {{(link_pkg::CREDIT_W - BEAT_W) {1'b0}}, beats} + 1'b1;

  if (!REPEAT) begin : g_once
    logic unused_keep;
    assign unused_keep = keep_i;
  end

`ifndef SYNTHESIS
  initial begin
    if (DEPTH < 2 * ggas_pkg::MTU * 8 / DATA_W || DEPTH > 4096 || (DEPTH & (DEPTH - 1)) != 0)
      $error("net_vc_buffer: DEPTH must be a power of two, from two payloads of the MTU to 4096");
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni && commit_i) assert (!over_o) else $error("net_vc_buffer: bad commit");
  end
`endif
endmodule

`default_nettype wire
