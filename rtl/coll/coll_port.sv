// SPDX-License-Identifier: Apache-2.0
// Connects the collectives with the host interface, the RMA and the network: their page writes and packets leave the
// RMA's streams here; their packets and host writes take turns with the RMA's.
`default_nettype none

module coll_port #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic                stop_i,           // as in coll
    input  wire logic [12:0]         cfg_mps_i,
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic                route_i,          // as in coll

    // COLL registers, as in coll
    input  wire logic                ext_req_i,
    input  wire logic                ext_write_i,
    input  wire logic [8:3]          ext_addr_i,
    input  wire logic [63:0]         ext_wdata_i,
    input  wire logic [7:0]          ext_wstrb_i,
    output      logic [63:0]         ext_rdata_o,

    // page writes of the host; the data goes to the RMA as it is
    input  wire ggas_pkg::tlp_beat_t page_i,
    output      logic                page_ready_o,
    input  wire logic [DATA_W-1:0]   page_data_i,
    output      ggas_pkg::tlp_beat_t rma_page_o,
    input  wire logic                rma_page_ready_i,

    // packets of the network on the channel RMA, likewise
    input  wire ggas_pkg::rma_beat_t rx_i,
    output      logic                rx_ready_o,
    input  wire logic [DATA_W-1:0]   rx_data_i,
    output      ggas_pkg::rma_beat_t rma_rx_o,
    input  wire logic                rma_rx_ready_i,

    // packets of the RMA, and of both
    input  wire ggas_pkg::rma_beat_t rma_tx_i,
    output      logic                rma_tx_ready_o,
    input  wire logic [DATA_W-1:0]   rma_tx_data_i,
    output      ggas_pkg::rma_beat_t tx_o,
    input  wire logic                tx_ready_i,
    output      logic [DATA_W-1:0]   tx_data_o,

    // host writes of the RMA, and of both
    input  wire ggas_pkg::tlp_beat_t rma_wr_i,
    output      logic                rma_wr_ready_o,
    input  wire logic [DATA_W-1:0]   rma_wr_data_i,
    output      ggas_pkg::tlp_beat_t wr_o,
    input  wire logic                wr_ready_i,
    output      logic [DATA_W-1:0]   wr_data_o,

    // quiet of the SMFU, as in coll
    output      logic                quiet_o,
    output      logic [7:0]          quiet_page_o,
    input  wire logic                quiet_done_i,
    input  wire logic [3:0]          quiet_status_i,

    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o,
    output      ggas_regs_pkg::event_set_t ev_pulse_o,
    output      logic                writes_o,
    output      logic                busy_o
);
  // ---------------------------------------------------------------- whose it is: said by the first beat
  logic page_ours, page_ours_q, rx_ours, rx_ours_q, page_ready, rx_ready;
  assign page_ours = page_i.sop ? page_i.hdr.addr[12:11] == 2'b01 : page_ours_q;  // upper half of a page of doorbells
  assign rx_ours   = rx_i.sop ? rx_i.hdr.op[6:4] == 3'd3 : rx_ours_q;
  always_ff @(posedge clk_i) begin
    if (page_i.valid) page_ours_q <= page_ours;
    if (rx_i.valid) rx_ours_q <= rx_ours;
  end
  always_comb begin
    rma_page_o = page_i;
    rma_rx_o   = rx_i;
    if (page_ours) rma_page_o.valid = 1'b0;
    if (rx_ours) rma_rx_o.valid = 1'b0;
  end
  assign page_ready_o = page_ours ? page_ready : rma_page_ready_i;
  assign rx_ready_o   = rx_ours ? rx_ready : rma_rx_ready_i;

  logic tx_valid, tx_ready, tx_sop, tx_eop, wr_valid, wr_ready, wr_sop, wr_eop;
  ggas_pkg::net_hdr_t tx_hdr;
  ggas_pkg::tlp_hdr_t wr_hdr;
  logic [DATA_W-1:0]  tx_data, wr_data;
  coll #(.DATA_W(DATA_W)) i_coll (
      .clk_i, .rst_ni, .stop_i, .cfg_mps_i, .cfg_node_i, .route_i, .ext_req_i, .ext_write_i, .ext_addr_i, .ext_wdata_i,
      .ext_wstrb_i, .ext_rdata_o, .page_valid_i(page_i.valid && page_ours), .page_ready_o(page_ready),
      .page_eop_i(page_i.eop), .page_hdr_i(page_i.hdr), .page_data_i, .rx_valid_i(rx_i.valid && rx_ours),
      .rx_ready_o(rx_ready), .rx_eop_i(rx_i.eop), .rx_hdr_i(rx_i.hdr), .rx_data_i, .tx_valid_o(tx_valid),
      .tx_ready_i(tx_ready), .tx_sop_o(tx_sop), .tx_eop_o(tx_eop), .tx_hdr_o(tx_hdr), .tx_data_o(tx_data),
      .quiet_o, .quiet_page_o, .quiet_done_i, .quiet_status_i, .wr_valid_o(wr_valid), .wr_ready_i(wr_ready),
      .wr_sop_o(wr_sop), .wr_eop_o(wr_eop), .wr_hdr_o(wr_hdr), .wr_data_o(wr_data), .event_valid_o,
      .event_ready_i, .event_o, .ev_pulse_o, .writes_o, .busy_o);

  // ---------------------------------------------------------------- in turns
  stream_mux #(.N(2), .HDR_W(ggas_pkg::NET_HDR_W), .DATA_W(DATA_W)) i_tx (
      .clk_i, .rst_ni, .in_valid_i({tx_valid, rma_tx_i.valid}), .in_ready_o({tx_ready, rma_tx_ready_o}),
      .in_sop_i({tx_sop, rma_tx_i.sop}), .in_eop_i({tx_eop, rma_tx_i.eop}), .in_hdr_i({tx_hdr, rma_tx_i.hdr}),
      .in_data_i({tx_data, rma_tx_data_i}), .out_valid_o(tx_o.valid), .out_ready_i(tx_ready_i), .out_sop_o(tx_o.sop),
      .out_eop_o(tx_o.eop), .out_hdr_o(tx_o.hdr), .out_data_o(tx_data_o));
  stream_mux #(.N(2), .HDR_W(ggas_pkg::TLP_HDR_W), .DATA_W(DATA_W)) i_wr (
      .clk_i, .rst_ni, .in_valid_i({wr_valid, rma_wr_i.valid}), .in_ready_o({wr_ready, rma_wr_ready_o}),
      .in_sop_i({wr_sop, rma_wr_i.sop}), .in_eop_i({wr_eop, rma_wr_i.eop}), .in_hdr_i({wr_hdr, rma_wr_i.hdr}),
      .in_data_i({wr_data, rma_wr_data_i}), .out_valid_o(wr_o.valid), .out_ready_i(wr_ready_i), .out_sop_o(wr_o.sop),
      .out_eop_o(wr_o.eop), .out_hdr_o(wr_o.hdr), .out_data_o(wr_data_o));
endmodule

`default_nettype wire
