// SPDX-License-Identifier: Apache-2.0
// Shared memory functional unit: stores and loads of the host's window become packets, packets of other nodes become
// reads and writes of the exported segment. docs/rtl-structure.md has the contract of every port.
`default_nettype none

module smfu #(
    parameter int unsigned DATA_W = 64,  // 64, 256 or 512
    parameter int unsigned LOADS  = 64   // host loads that may be outstanding, a power of two
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,              // core cycles
    output      logic                busy_o,              // clock the next cycle
    output      logic                timer_o,             // clock the next tick

    // configuration, from regs
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic                cfg_egress_i,
    input  wire logic                cfg_ingress_i,
    input  wire logic                cfg_mode_i,          // SMFU_MODE_*
    input  wire logic [63:0]         cfg_mask_i,
    input  wire logic [5:0]          cfg_shift_i,
    input  wire logic [15:0]         cfg_nodes_i,
    input  wire logic [63:0]         cfg_tbase_i,
    input  wire logic [63:0]         cfg_tsize_i,
    input  wire logic [15:0]         cfg_timeout_load_i,  // ticks
    input  wire logic [15:0]         cfg_timeout_host_i,  // ticks
    input  wire logic [12:0]         cfg_mps_i,           // bytes
    input  wire logic [12:0]         cfg_mrrs_i,          // bytes

    // route
    input  wire logic [15:0]         peer_node_i,
    input  wire logic                peer_valid_i,
    input  wire logic                link_up_i,

    // INTERVAL registers (external range of regs): answer in the next cycle
    input  wire logic                ext_interval_req_i,
    input  wire logic                ext_write_i,
    input  wire logic [15:0]         ext_addr_i,
    input  wire logic [63:0]         ext_wdata_i,
    input  wire logic [7:0]          ext_wstrb_i,
    output      logic [63:0]         ext_interval_rdata_o,

    // window stores from hostif
    input  wire logic                win_p_valid_i,
    output      logic                win_p_ready_o,
    input  wire logic                win_p_sop_i,
    input  wire logic                win_p_eop_i,
    input  wire ggas_pkg::tlp_hdr_t  win_p_hdr_i,
    input  wire logic [DATA_W-1:0]   win_p_data_i,
    // window loads and quiet reads from hostif
    input  wire logic                win_np_valid_i,
    output      logic                win_np_ready_o,
    input  wire ggas_pkg::tlp_hdr_t  win_np_hdr_i,
    // their completions
    output      logic                ld_cpl_valid_o,
    input  wire logic                ld_cpl_ready_i,
    output      logic                ld_cpl_sop_o,
    output      logic                ld_cpl_eop_o,
    output      ggas_pkg::tlp_hdr_t  ld_cpl_hdr_o,
    output      logic [DATA_W-1:0]   ld_cpl_data_o,

    // reads and writes of the exported segment
    output      logic                tgt_req_valid_o,
    input  wire logic                tgt_req_ready_i,
    output      logic                tgt_req_sop_o,
    output      logic                tgt_req_eop_o,
    output      ggas_pkg::tlp_hdr_t  tgt_req_hdr_o,
    output      logic [DATA_W-1:0]   tgt_req_data_o,
    input  wire logic                tgt_np_ok_i,         // reads may be offered on tgt_req
    // completions of those reads
    input  wire logic                tgt_cpl_valid_i,
    output      logic                tgt_cpl_ready_o,
    input  wire logic                tgt_cpl_sop_i,
    input  wire logic                tgt_cpl_eop_i,
    input  wire ggas_pkg::tlp_hdr_t  tgt_cpl_hdr_i,
    input  wire logic [DATA_W-1:0]   tgt_cpl_data_i,

    // packets to the network
    output      logic                tx_p_valid_o,
    input  wire logic                tx_p_ready_i,
    output      logic                tx_p_sop_o,
    output      logic                tx_p_eop_o,
    output      ggas_pkg::net_hdr_t  tx_p_hdr_o,
    output      logic [DATA_W-1:0]   tx_p_data_o,
    output      logic                tx_np_valid_o,
    input  wire logic                tx_np_ready_i,
    output      logic                tx_np_sop_o,
    output      logic                tx_np_eop_o,
    output      ggas_pkg::net_hdr_t  tx_np_hdr_o,
    output      logic [DATA_W-1:0]   tx_np_data_o,        // always 0: requests carry no payload
    output      logic                tx_rsp_valid_o,
    input  wire logic                tx_rsp_ready_i,
    output      logic                tx_rsp_sop_o,
    output      logic                tx_rsp_eop_o,
    output      ggas_pkg::net_hdr_t  tx_rsp_hdr_o,
    output      logic [DATA_W-1:0]   tx_rsp_data_o,
    // packets from the network
    input  wire logic                rx_p_valid_i,
    output      logic                rx_p_ready_o,
    input  wire logic                rx_p_sop_i,
    input  wire logic                rx_p_eop_i,
    input  wire ggas_pkg::net_hdr_t  rx_p_hdr_i,
    input  wire logic [DATA_W-1:0]   rx_p_data_i,
    input  wire logic                rx_np_valid_i,
    output      logic                rx_np_ready_o,
    input  wire logic                rx_np_sop_i,
    input  wire logic                rx_np_eop_i,
    input  wire ggas_pkg::net_hdr_t  rx_np_hdr_i,
    input  wire logic [DATA_W-1:0]   rx_np_data_i,        // ignored: requests carry no payload
    input  wire logic                rx_rsp_valid_i,
    output      logic                rx_rsp_ready_o,
    input  wire logic                rx_rsp_sop_i,
    input  wire logic                rx_rsp_eop_i,
    input  wire ggas_pkg::net_hdr_t  rx_rsp_hdr_i,
    input  wire logic [DATA_W-1:0]   rx_rsp_data_i,

    // events; event_count_o has one bit a code, pulsed once for every event, logged or not
    output      logic                event_valid_o,
    input  wire logic                event_ready_i,
    output      ggas_pkg::event_t    event_o,
    output      logic [31:0]         event_count_o,

    // counter pulses, at the index of ggas_regs_pkg::CNT_SMFU_*
    output      logic                cnt_stores_in_o,
    output      logic                cnt_loads_in_o,
    output      logic                cnt_store_packets_o,
    output      logic                cnt_load_packets_o,
    output      logic                cnt_load_cpls_o,
    output      logic                cnt_load_errors_o,
    output      logic                cnt_quiets_o,
    output      logic                cnt_target_stores_o,
    output      logic                cnt_target_loads_o
);
endmodule

`default_nettype wire
