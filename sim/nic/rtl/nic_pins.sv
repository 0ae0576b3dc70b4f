// SPDX-License-Identifier: Apache-2.0
// nic_top as a simulator clocks it. The rising edge that begins a cycle samples the pins of that cycle together with
// the state that the cycle before left: so all logic is evaluated once a cycle, after that edge, and outputs are stable
// until the next one. With pins that may change at any time Verilator evaluates the logic after them at both edges.
// Cycles and outputs are those of nic_top. So are the ports, where each is described, except for requests of the NIC:
// the host's decision to accept one may depend on the NIC's offer in the same cycle, which is not known before the
// edge.
`default_nettype none

module nic_pins #(
  parameter int unsigned DATA_W = 64,
  parameter int unsigned NP_CREDITS = 32
) (
  input  wire                clk_i,
  input  wire                rst_ni,
  input  wire  [63:0]        time_i,
  output logic               busy_o,
  output logic               timer_o,
  input  wire  [12:0]        cfg_mps_i,
  input  wire  [12:0]        cfg_mrrs_i,
  input  wire  [15:0]        cfg_bus_id_i,
  input  wire                cfg_msix_enable_i,
  input  wire                cfg_msix_mask_i,
  input  wire                cfg_bus_master_i,
  input  wire                cfg_flr_i,
  output logic               flr_done_o,
  input  wire  [31:0]        cfg_clock_khz_i,
  input  wire  [63:0]        cfg_serial_i,
  input  wire                rx_req_valid_i,
  output logic               rx_req_ready_o,
  input  wire                rx_req_sop_i,
  input  wire                rx_req_eop_i,
  input  ggas_pkg::tlp_hdr_t rx_req_hdr_i,
  input  wire  [DATA_W-1:0]  rx_req_data_i,
  output logic               np_credit_o,
  input  wire                rx_cpl_valid_i,
  output logic               rx_cpl_ready_o,
  input  wire                rx_cpl_sop_i,
  input  wire                rx_cpl_eop_i,
  input  ggas_pkg::tlp_hdr_t rx_cpl_hdr_i,
  input  wire  [DATA_W-1:0]  rx_cpl_data_i,
  output logic               tx_req_valid_o,
  input  wire                tx_req_ready_i,   // the host takes any request
  input  wire                tx_read_ready_i,  // the host takes a read
  output logic               tx_req_taken_o,   // a beat was offered and is taken
  output logic               tx_req_sop_o,
  output logic               tx_req_eop_o,
  output ggas_pkg::tlp_hdr_t tx_req_hdr_o,
  output logic [DATA_W-1:0]  tx_req_data_o,
  input  wire                tx_np_ok_i,
  output logic               tx_cpl_valid_o,
  input  wire                tx_cpl_ready_i,
  output logic               tx_cpl_sop_o,
  output logic               tx_cpl_eop_o,
  output ggas_pkg::tlp_hdr_t tx_cpl_hdr_o,
  output logic [DATA_W-1:0]  tx_cpl_data_o,
  output logic [ggas_pkg::LINKS-1:0]        link_tx_valid_o,
  input  wire  [ggas_pkg::LINKS-1:0]        link_tx_ready_i,
  output logic [2*ggas_pkg::LINKS-1:0]      link_tx_kind_o,
  output logic [DATA_W*ggas_pkg::LINKS-1:0] link_tx_data_o,
  input  wire  [ggas_pkg::LINKS-1:0]        link_rx_valid_i,
  input  wire  [2*ggas_pkg::LINKS-1:0]      link_rx_kind_i,
  input  wire  [DATA_W*ggas_pkg::LINKS-1:0] link_rx_data_i,
  input  wire  [ggas_pkg::LINKS-1:0]        link_rx_up_i
);

  logic rst_nq, rx_req_valid_q, rx_req_sop_q, rx_req_eop_q, rx_cpl_valid_q, rx_cpl_sop_q, rx_cpl_eop_q,
    tx_req_ready_q, tx_read_ready_q, tx_np_ok_q, tx_cpl_ready_q, cfg_msix_enable_q,
    cfg_msix_mask_q, cfg_bus_master_q, cfg_flr_q;
  logic [63:0] time_q;
  logic [12:0] cfg_mps_q, cfg_mrrs_q;
  logic [31:0] cfg_clock_khz_q;
  logic [63:0] cfg_serial_q;
  logic [15:0] cfg_bus_id_q;
  ggas_pkg::tlp_hdr_t rx_req_hdr_q, rx_cpl_hdr_q;
  logic [DATA_W-1:0] rx_req_data_q, rx_cpl_data_q;
  logic [ggas_pkg::LINKS-1:0] link_tx_ready_q, link_rx_valid_q, link_rx_up_q;
  logic [DATA_W*ggas_pkg::LINKS-1:0] link_rx_data_q;
  logic [2*ggas_pkg::LINKS-1:0] link_rx_kind_q;

  always_ff @(posedge clk_i) begin
    rst_nq          <= rst_ni;
    time_q          <= time_i;
    cfg_mps_q       <= cfg_mps_i;
    cfg_mrrs_q      <= cfg_mrrs_i;
    cfg_bus_id_q    <= cfg_bus_id_i;
    cfg_msix_enable_q <= cfg_msix_enable_i;
    cfg_msix_mask_q <= cfg_msix_mask_i;
    cfg_bus_master_q <= cfg_bus_master_i;
    cfg_flr_q       <= cfg_flr_i;
    cfg_clock_khz_q <= cfg_clock_khz_i;
    cfg_serial_q    <= cfg_serial_i;
    rx_req_valid_q  <= rx_req_valid_i;
    rx_req_sop_q    <= rx_req_sop_i;
    rx_req_eop_q    <= rx_req_eop_i;
    rx_req_hdr_q    <= rx_req_hdr_i;
    rx_req_data_q   <= rx_req_data_i;
    rx_cpl_valid_q  <= rx_cpl_valid_i;
    rx_cpl_sop_q    <= rx_cpl_sop_i;
    rx_cpl_eop_q    <= rx_cpl_eop_i;
    rx_cpl_hdr_q    <= rx_cpl_hdr_i;
    rx_cpl_data_q   <= rx_cpl_data_i;
    tx_req_ready_q  <= tx_req_ready_i;
    tx_read_ready_q <= tx_read_ready_i;
    tx_np_ok_q      <= tx_np_ok_i;
    tx_cpl_ready_q  <= tx_cpl_ready_i;
    link_tx_ready_q <= link_tx_ready_i;
    link_rx_valid_q <= link_rx_valid_i;
    link_rx_kind_q  <= link_rx_kind_i;
    link_rx_data_q  <= link_rx_data_i;
    link_rx_up_q    <= link_rx_up_i;
  end

  wire tx_req_ready = tx_req_ready_q || (tx_read_ready_q && tx_req_hdr_o.kind == ggas_pkg::TLP_MRD);
  assign tx_req_taken_o = tx_req_valid_o && tx_req_ready;

  nic_top #(.DATA_W(DATA_W), .NP_CREDITS(NP_CREDITS)) i_nic (
    .clk_i(clk_i), .rst_ni(rst_nq), .time_i(time_q), .busy_o(busy_o), .timer_o(timer_o), .cfg_mps_i(cfg_mps_q),
    .cfg_mrrs_i(cfg_mrrs_q), .cfg_bus_id_i(cfg_bus_id_q),
    .cfg_msix_enable_i(cfg_msix_enable_q), .cfg_msix_mask_i(cfg_msix_mask_q), .cfg_bus_master_i(cfg_bus_master_q),
    .cfg_flr_i(cfg_flr_q), .flr_done_o(flr_done_o), .cfg_clock_khz_i(cfg_clock_khz_q),
    .cfg_serial_i(cfg_serial_q), .rx_req_valid_i(rx_req_valid_q),
    .rx_req_ready_o(rx_req_ready_o), .rx_req_sop_i(rx_req_sop_q), .rx_req_eop_i(rx_req_eop_q),
    .rx_req_hdr_i(rx_req_hdr_q), .rx_req_data_i(rx_req_data_q), .np_credit_o(np_credit_o),
    .rx_cpl_valid_i(rx_cpl_valid_q), .rx_cpl_ready_o(rx_cpl_ready_o), .rx_cpl_sop_i(rx_cpl_sop_q),
    .rx_cpl_eop_i(rx_cpl_eop_q), .rx_cpl_hdr_i(rx_cpl_hdr_q), .rx_cpl_data_i(rx_cpl_data_q),
    .tx_req_valid_o(tx_req_valid_o), .tx_req_ready_i(tx_req_ready), .tx_req_sop_o(tx_req_sop_o),
    .tx_req_eop_o(tx_req_eop_o), .tx_req_hdr_o(tx_req_hdr_o), .tx_req_data_o(tx_req_data_o), .tx_np_ok_i(tx_np_ok_q),
    .tx_cpl_valid_o(tx_cpl_valid_o), .tx_cpl_ready_i(tx_cpl_ready_q), .tx_cpl_sop_o(tx_cpl_sop_o),
    .tx_cpl_eop_o(tx_cpl_eop_o), .tx_cpl_hdr_o(tx_cpl_hdr_o), .tx_cpl_data_o(tx_cpl_data_o),
    .link_tx_valid_o(link_tx_valid_o), .link_tx_ready_i(link_tx_ready_q), .link_tx_kind_o(link_tx_kind_o),
    .link_tx_data_o(link_tx_data_o), .link_rx_valid_i(link_rx_valid_q), .link_rx_kind_i(link_rx_kind_q),
    .link_rx_data_i(link_rx_data_q), .link_rx_up_i(link_rx_up_q)
  );

endmodule

`default_nettype wire
