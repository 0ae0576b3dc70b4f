// SPDX-License-Identifier: Apache-2.0
// Remote stores to writes of the exports that they name, cut every MPS bytes of payload; invalid ones are dropped with
// an event. Also contains the one register stage in front of the host that writes share with the reads of smfu_rob: a
// read enters only while the host accepts reads, so a write never waits long for one.
`default_nettype none

module smfu_ingress #(
    parameter int unsigned DATA_W = 64
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                cfg_ingress_i,
    input  wire logic [12:0]         cfg_mps_i,

    // its export, asked for by the header at the input
    output      logic                ask_o,
    input  wire logic                known_i,
    input  wire smfu_pkg::export_t   export_i,
    input  wire logic                mark_i,          // what was let in up to now is old
    output      logic                old_o,           // something old has not left
    output      logic                wrote_o,         // a store was let in, through wrote_export_o
    output      logic [5:0]          wrote_export_o,

    // stores
    input  wire ggas_pkg::net_beat_t rx_p_i,
    output      logic                rx_p_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [DATA_W-1:0]   rx_p_data_i,
    output      logic                range_error_o,   // a store of range_node_o was outside
    output      ggas_pkg::node_t     range_node_o,
    output      logic [15:0]         range_domain_o,
    input  wire logic                range_busy_i,    // the one before is still being noted

    // reads, one beat each
    input  wire logic                np_valid_i,
    output      logic                np_ready_o,
    input  wire ggas_pkg::tlp_hdr_t  np_hdr_i,

    output      ggas_pkg::tlp_beat_t tgt_req_o,
    input  wire logic                tgt_req_ready_i,
    output      logic [DATA_W-1:0]   tgt_req_data_o,
    input  wire logic                tgt_np_ok_i,

    // TARGET_RANGE, BAD_PACKET
    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o,
    output      logic                cnt_target_stores_o,
    output      logic                writes_o,        // a store that passed its checks, or a read, has not left
    output      logic                busy_o
);

  localparam int unsigned BEAT_W = $clog2(DATA_W / 32);                   // DW of a beat, as a power of two
  localparam int unsigned BEATS_W = $clog2(ggas_pkg::MTU * 8 / DATA_W);   // beats of a packet, as a power of two

  // ---------------------------------------------------------------- first cycle: check
  localparam logic [1:0] S_IDLE = 2'd0, S_PASS = 2'd1, S_DROP = 2'd2;
  logic [1:0]  state_q;
  assign ask_o = state_q == S_IDLE && rx_p_i.valid;
  wire         look    = ask_o && known_i;
  wire [10:0]  page_dw = {1'b0, rx_p_i.hdr.addr[11:2]} + rx_p_i.hdr.len_dw;
  wire         sane    = rx_p_i.hdr.op == ggas_pkg::OP_SMFU_STORE && rx_p_i.hdr.len_dw != '0
    && rx_p_i.hdr.len_dw <= ggas_pkg::MTU_DW
                         && rx_p_i.hdr.addr[1:0] == '0 && page_dw <= 11'd1024
                         && smfu_pkg::be_good(rx_p_i.hdr.addr[2], rx_p_i.hdr.len_dw, rx_p_i.hdr.first_be,
                           rx_p_i.hdr.last_be);
  // A packet crosses no page, and sizes are whole pages.
  wire         ranged  = cfg_ingress_i && export_i.valid && export_i.right && rx_p_i.hdr.domain == export_i.domain
                         && rx_p_i.hdr.addr[63:12] < export_i.size;
  wire         good    = sane && ranged;
  wire         refuse  = look && !good && !event_valid_o && !range_busy_i;
  wire         accept  = look && good;

  assign range_error_o = refuse && sane && ggas_pkg::is_node(rx_p_i.hdr.src);
  assign range_domain_o = rx_p_i.hdr.domain;
  assign range_node_o  = rx_p_i.hdr.src[ggas_pkg::NODE_W-1:0];
  assign wrote_o        = accept;
  assign wrote_export_o = rx_p_i.hdr.export_no[5:0];

  logic [63:0] addr_q;         // bus address of this piece
  logic [10:0] len_q, rest_q;  // its DW, and those after it
  logic        final_q;        // there are none
  logic [3:0]  first_be_q, last_be_q;
  logic [BEATS_W-1:0] beat_q;  // beats of this piece already passed
  wire [10:0]  passed = {{(11-BEATS_W){1'b0}}, beat_q} + 11'd1;
  wire         end_of_piece = rx_p_i.eop || (!final_q && passed == len_q >> BEAT_W);

  // The next piece is cut when the preceding one ends, or when the packet arrives, because MPS may change (it is a
  // power of two from 128 bytes on). A piece is not larger than a packet.
  wire [10:0]  most = cfg_mps_i < ggas_pkg::MTU[12:0] ? cfg_mps_i[12:2] : ggas_pkg::MTU_DW;
  wire [10:0]  left = state_q == S_IDLE ? rx_p_i.hdr.len_dw : rest_q;
  wire         fits = left <= most;

  // ---------------------------------------------------------------- register stage shared with reads
  logic turn_q;  // reads come first next time
  wire  free   = !tgt_req_o.valid || tgt_req_ready_i;
  wire  p_wait = state_q == S_PASS && rx_p_i.valid;
  // Never between the beats of one write; p_wait with beat_q = 0 stands at a border.
  wire  np_go  = np_valid_i && tgt_np_ok_i && free && (state_q != S_PASS || beat_q == '0) && (turn_q || !p_wait);
  wire  p_go   = p_wait && free && !np_go;
  assign np_ready_o   = np_go;
  assign rx_p_ready_o = state_q == S_DROP || p_go;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= S_IDLE;
      addr_q     <= '0;
      first_be_q <= '0;
      last_be_q  <= '0;
      beat_q     <= '0;
      turn_q     <= 1'b0;
    end else begin
      if (accept) begin
        state_q    <= S_PASS;
        addr_q     <= {export_i.base, 12'd0} + rx_p_i.hdr.addr;
        first_be_q <= rx_p_i.hdr.first_be;
        last_be_q  <= rx_p_i.hdr.last_be;
        beat_q     <= '0;
      end
      if (refuse) state_q <= S_DROP;
      if (state_q == S_DROP && rx_p_i.valid && rx_p_i.eop) state_q <= S_IDLE;
      if (np_go) turn_q <= 1'b0;
      if (p_go) begin
        turn_q <= 1'b1;
        beat_q <= end_of_piece ? '0 : beat_q + 1'b1;
        if (rx_p_i.eop) state_q <= S_IDLE;
        if (end_of_piece) begin
          addr_q     <= addr_q + {51'd0, len_q, 2'b00};
          // The last piece may be one DW long: its enables go into first_be.
          first_be_q <= rest_q == 11'd1 ? last_be_q : 4'hf;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == S_IDLE || (p_go && end_of_piece)) begin
      final_q <= fits;
      len_q   <= fits ? left : most;
      rest_q  <= left - most;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tgt_req_o.valid <= 1'b0;
      tgt_req_o.sop   <= 1'b0;
      tgt_req_o.eop   <= 1'b0;
      tgt_req_o.hdr   <= '0;
      tgt_req_data_o  <= '0;
    end else if (free) begin
      tgt_req_o.valid <= np_go || p_go;
      if (np_go) begin
        tgt_req_o.sop <= 1'b1;
        tgt_req_o.eop <= 1'b1;
        tgt_req_o.hdr <= np_hdr_i;
      end else if (p_go) begin
        tgt_req_o.sop  <= beat_q == '0;
        tgt_req_o.eop  <= end_of_piece;
        tgt_req_data_o <= rx_p_data_i;
        if (beat_q == '0) begin
          tgt_req_o.hdr          <= '0;
          tgt_req_o.hdr.kind     <= ggas_pkg::TLP_MWR;
          tgt_req_o.hdr.bar      <= 3'd7;
          tgt_req_o.hdr.addr     <= addr_q;
          tgt_req_o.hdr.len_dw   <= len_q;
          tgt_req_o.hdr.first_be <= first_be_q;
          tgt_req_o.hdr.last_be  <= len_q == 11'd1 ? 4'h0 : final_q ? last_be_q : 4'hf;
        end
      end
    end
  end

  assign cnt_target_stores_o = p_go && rx_p_i.eop;

  // ---------------------------------------------------------------- what was let in before the mark
  logic old_pass_q, old_reg_q;  // the packet in progress; the register stage
  wire  old_pass = old_pass_q || (mark_i && state_q == S_PASS);
  assign old_o = old_pass_q || old_reg_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      old_pass_q <= 1'b0;
      old_reg_q  <= 1'b0;
    end else begin
      old_pass_q <= old_pass && !(p_go && rx_p_i.eop);
      if (free) old_reg_q <= p_go && old_pass;
      else if (mark_i) old_reg_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      event_valid_o <= 1'b0;
      event_o       <= '0;
    end else begin
      if (event_valid_o && event_ready_i) event_valid_o <= 1'b0;
      if (refuse) begin
        event_valid_o <= 1'b1;
        event_o.code  <= sane ? ggas_regs_pkg::EV_TARGET_RANGE : ggas_regs_pkg::EV_BAD_PACKET;
        event_o.node  <= rx_p_i.hdr.src;
        event_o.info  <= sane ? {rx_p_i.hdr.export_no, rx_p_i.hdr.addr[31:0]} : {32'd0, rx_p_i.hdr.op};
      end
    end
  end

  assign writes_o = state_q == S_PASS || tgt_req_o.valid;
  assign busy_o = state_q != S_IDLE || tgt_req_o.valid || event_valid_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && look) assert (rx_p_i.sop);
`endif

endmodule

`default_nettype wire
