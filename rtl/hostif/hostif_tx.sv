// SPDX-License-Identifier: Apache-2.0
// All TLPs to the host, in PCIe order. Requests: the SMFU's, writes and reads of the RMA, event records, MSI-X
// messages, whole packets in turn; reads of the RMA wait while the host accepts none. Completions: the SMFU's and the
// host interface's own; one is offered only after every write that was accepted here before it has been accepted by the
// host. There is no other dependency between the two streams. While bus master is off requests that have not begun are
// dropped, so nothing waits for a host that accepts none. Latency of either stream: 1 cycle.
`default_nettype none

module hostif_tx #(
  parameter int unsigned DATA_W = 64
) (
  input  wire               clk_i,
  input  wire               rst_ni,
  input  wire  [15:0]       cfg_bus_id_i,
  input  wire               bus_master_i,  // requests may begin to leave
  input  wire               closing_i,     // nothing begins to leave
  output logic              open_o,        // something that began has not ended

  // requests of the SMFU
  input  ggas_pkg::tlp_beat_t tgt_i,
  output logic              tgt_ready_o,
  input  wire  [DATA_W-1:0] tgt_data_i,

  // writes of the RMA
  input  ggas_pkg::tlp_beat_t wr_i,
  output logic              wr_ready_o,
  input  wire  [DATA_W-1:0] wr_data_i,

  // reads of the RMA
  input  wire               rd_valid_i,
  output logic              rd_ready_o,
  input  ggas_pkg::tlp_hdr_t rd_hdr_i,
  input  wire               np_ok_i,     // the host takes non-posted requests, or they are dropped

  // event records: 16 bytes
  input  wire               evt_valid_i,
  output logic              evt_ready_o,
  input  wire  [63:0]       evt_addr_i,
  input  wire  [127:0]      evt_data_i,

  // MSI-X messages: 4 bytes
  input  wire               msix_valid_i,
  output logic              msix_ready_o,
  input  wire  [63:0]       msix_addr_i,
  input  wire  [31:0]       msix_data_i,

  // completions of window loads
  input  ggas_pkg::tlp_beat_t ld_i,
  output logic              ld_ready_o,
  input  wire  [DATA_W-1:0] ld_data_i,

  // completions of register reads and rejected requests: one beat
  input  wire               np_valid_i,
  output logic              np_ready_o,
  input  ggas_pkg::tlp_hdr_t np_hdr_i,
  input  wire  [63:0]       np_data_i,

  output logic              req_valid_o,
  input  wire               req_ready_i,
  output logic              req_sop_o,
  output logic              req_eop_o,
  output ggas_pkg::tlp_hdr_t req_hdr_o,
  output logic [DATA_W-1:0] req_data_o,

  output logic              cpl_valid_o,
  input  wire               cpl_ready_i,
  output logic              cpl_sop_o,
  output logic              cpl_eop_o,
  output ggas_pkg::tlp_hdr_t cpl_hdr_o,
  output logic [DATA_W-1:0] cpl_data_o,

  output logic              dropped_o,   // a request was dropped
  output logic              cnt_req_o,   // a request TLP was handed over
  output logic              cnt_cpl_o,   // a completion TLP was handed over
  output logic              busy_o
);

  // ---- requests: whose turn
  localparam int unsigned TGT = 0, WR = 1, RD = 2, EVT = 3, MSIX = 4, SOURCES = 5;

  logic req_free;        // of the output stage, whatever the host does in this cycle
  logic [SOURCES-1:0] req, src;
  logic take_eop, unused_locked, evt_sop, evt_eop, unused_sop, unused_eop;
  assign req[RD:TGT] = {rd_valid_i && np_ok_i, wr_i.valid, tgt_i.valid};
  wire take = req_free && src != '0;

  arbiter_rr #(.N(SOURCES)) i_arbiter (
    .clk_i(clk_i), .rst_ni(rst_ni), .clear_i(1'b0), .req_i(req), .take_i(take), .eop_i(take_eop), .grant_o(src),
    .locked_o(unused_locked)
  );

  always_comb begin
    take_eop = 1'b1;
    if (src[TGT]) take_eop = tgt_i.eop;
    if (src[WR]) take_eop = wr_i.eop;
    if (src[EVT]) take_eop = evt_eop;
  end

  assign tgt_ready_o  = req_free && src[TGT];
  assign wr_ready_o   = req_free && src[WR];
  assign rd_ready_o   = req_free && src[RD];

  // The NIC's own writes.
  // verilator lint_off UNUSEDSIGNAL
  ggas_pkg::tlp_hdr_t evt_hdr, msix_hdr;
  // verilator lint_on UNUSEDSIGNAL
  logic [DATA_W-1:0] evt_beat, msix_beat;
  // verilator lint_off PINCONNECTEMPTY
  record_writer #(.DATA_W(DATA_W)) i_evt (
    .clk_i(clk_i), .rst_ni(rst_ni), .valid_i(evt_valid_i), .addr_i(evt_addr_i), .data_i(evt_data_i), .beat_o(),
    .sent_o(evt_ready_o), .wr_o({req[EVT], evt_sop, evt_eop, evt_hdr}), .wr_ready_i(req_free && src[EVT]),
    .wr_data_o(evt_beat)
  );
  record_writer #(.DATA_W(DATA_W), .BYTES(4)) i_msix (
    .clk_i(clk_i), .rst_ni(rst_ni), .valid_i(msix_valid_i), .addr_i(msix_addr_i), .data_i(msix_data_i), .beat_o(),
    .sent_o(msix_ready_o), .wr_o({req[MSIX], unused_sop, unused_eop, msix_hdr}),
    .wr_ready_i(req_free && src[MSIX]), .wr_data_o(msix_beat)
  );
  // verilator lint_on PINCONNECTEMPTY

  // A request of a unit: the header counts with its first beat.
  wire unit_sop = src[TGT] ? tgt_i.sop : (src[RD] || wr_i.sop);
  wire unit     = src[TGT] || src[WR] || src[RD];
  wire take_sop = unit ? unit_sop : evt_sop;

  ggas_pkg::tlp_hdr_t take_hdr;
  // verilator lint_off UNUSEDSIGNAL
  ggas_pkg::tlp_hdr_t any_hdr;
  // verilator lint_on UNUSEDSIGNAL
  logic [DATA_W-1:0]  take_data;
  always_comb begin
    // By number, in a tree; nothing granted: anything.
    case ({src[EVT] || src[MSIX] || src[RD], src[EVT] || src[MSIX] || src[WR]})
      2'd0:    {any_hdr, take_data} = {tgt_i.hdr, tgt_data_i};
      2'd1:    {any_hdr, take_data} = {wr_i.hdr, wr_data_i};
      2'd2:    {any_hdr, take_data} = {rd_hdr_i, {DATA_W{1'b0}}};
      default: {any_hdr, take_data} = src[EVT] ? {evt_hdr, evt_beat} : {msix_hdr, msix_beat};
    endcase
    // All that requests may differ in.
    take_hdr           = '0;
    take_hdr.kind      = src[RD] || (src[TGT] && tgt_i.hdr.kind == ggas_pkg::TLP_MRD) ? ggas_pkg::TLP_MRD
                         : ggas_pkg::TLP_MWR;
    take_hdr.bar       = 3'd7;
    take_hdr.addr      = any_hdr.addr;
    take_hdr.len_dw    = any_hdr.len_dw;
    take_hdr.first_be  = any_hdr.first_be;
    take_hdr.last_be   = any_hdr.last_be;
    take_hdr.tag       = any_hdr.tag;
    take_hdr.requester = cfg_bus_id_i;
  end

  logic out_valid, out_ready;
  skid #(.WIDTH(2 + ggas_pkg::TLP_HDR_W + DATA_W)) i_req (
    .clk_i(clk_i), .rst_ni(rst_ni), .in_valid_i(src != '0), .in_ready_o(req_free),
    .in_data_i({take_sop, take_eop, take_hdr, take_data}), .out_valid_o(out_valid), .out_ready_i(out_ready),
    .out_data_o({req_sop_o, req_eop_o, req_hdr_o, req_data_o})
  );

  // What has begun ends; the rest leaves or is dropped, whole packets.
  logic inside_q, drop_q;
  wire  drop = drop_q || (!inside_q && !(bus_master_i && !closing_i));
  assign out_ready   = drop || req_ready_i;
  assign req_valid_o = out_valid && !drop;
  assign dropped_o   = out_valid && drop && req_sop_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      drop_q   <= 1'b0;
    end else if (out_valid && out_ready) begin
      inside_q <= !drop && !req_eop_o;
      drop_q   <= drop && !req_eop_o;
    end
  end

  // Writes between their first beat taken here and their last beat accepted or dropped.
  logic [1:0] open_q;
  logic       write_q;   // the packet at the output is a write
  wire  write_at_out  = req_sop_o ? req_hdr_o.kind == ggas_pkg::TLP_MWR : write_q;
  wire  write_begins  = take && take_sop && take_hdr.kind == ggas_pkg::TLP_MWR;
  wire  write_ends    = out_valid && out_ready && req_eop_o && write_at_out;
  wire  [1:0] open    = open_q - {1'b0, write_ends};  // of those begun before this cycle

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q  <= '0;
      write_q <= 1'b0;
    end else begin
      if (out_valid) write_q <= write_at_out;
      open_q <= open + {1'b0, write_begins};
    end
  end

  // ---- completions
  logic cpl_pending_q;  // a beat is in the output register
  logic [1:0] behind_q; // earlier writes that have not been accepted yet
  logic cpl_lock_q;     // in a packet of the SMFU
  logic cpl_open_q;     // the first beat has left, the last one not
  logic np_last_q;      // the last one was our own: the SMFU comes first
  wire  pick_np   = !cpl_lock_q && np_valid_i && !(ld_i.valid && np_last_q);
  wire  cpl_free  = !cpl_pending_q || (cpl_valid_o && cpl_ready_i);
  wire  take_np   = cpl_free && pick_np;
  wire  take_ld   = cpl_free && !pick_np && ld_i.valid;

  assign np_ready_o = cpl_free && pick_np;
  assign ld_ready_o = cpl_free && !pick_np;

  assign cpl_valid_o = cpl_pending_q && behind_q == '0 && (cpl_open_q || !closing_i);
  assign open_o      = inside_q || cpl_open_q;

  always_ff @(posedge clk_i) begin
    if (take_np) begin
      cpl_hdr_o           <= np_hdr_i;
      cpl_hdr_o.completer <= cfg_bus_id_i;
      cpl_data_o          <= {{(DATA_W - 64){1'b0}}, np_data_i};
      cpl_sop_o           <= 1'b1;
      cpl_eop_o           <= 1'b1;
    end else if (take_ld) begin
      if (ld_i.sop) begin
        cpl_hdr_o           <= ld_i.hdr;
        cpl_hdr_o.completer <= cfg_bus_id_i;
      end
      cpl_data_o <= ld_data_i;
      cpl_sop_o  <= ld_i.sop;
      cpl_eop_o  <= ld_i.eop;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cpl_pending_q <= 1'b0;
      cpl_lock_q    <= 1'b0;
      cpl_open_q    <= 1'b0;
      np_last_q     <= 1'b0;
      behind_q      <= '0;
    end else begin
      if (take_np || take_ld) begin
        cpl_pending_q <= 1'b1;
        np_last_q     <= take_np;
        if (take_ld) cpl_lock_q <= !ld_i.eop;
      end else if (cpl_valid_o && cpl_ready_i) begin
        cpl_pending_q <= 1'b0;
      end
      if (cpl_valid_o && cpl_ready_i) cpl_open_q <= !cpl_eop_o;
      // Only the first beat can meet an earlier write: what is taken later may pass or be passed.
      if (take_np || (take_ld && ld_i.sop)) behind_q <= open;
      else if (write_ends && behind_q != '0) behind_q <= behind_q - 2'd1;
    end
  end

  assign cnt_req_o = req_valid_o && req_ready_i && req_sop_o;
  assign cnt_cpl_o = cpl_valid_o && cpl_ready_i && cpl_sop_o;
  assign busy_o    = out_valid || cpl_pending_q;

endmodule

`default_nettype wire
