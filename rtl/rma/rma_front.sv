// SPDX-License-Identifier: Apache-2.0
// What lies in front of the requester: pages of contexts and work queues to whole descriptors, and the status blocks.
`default_nettype none

module rma_front #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,
    input  wire logic [12:0]         cfg_mrrs_i,          // bytes
    input  wire logic                cfg_requester_i,     // RMA_CTRL.requester: descriptors may start
    input  wire logic [15:0]         cfg_timeout_i,       // RMA_TIMEOUT.host

    // writes of CONTEXT[]; is anything of a context under way?
    input  wire logic                cfg_we_i,
    input  wire logic [7:0]          cfg_vpid_i,
    input  wire logic [2:0]          cfg_word_i,
    input  wire logic [63:0]         cfg_data_i,
    input  wire logic [7:0]          look_vpid_i,
    output      logic                look_busy_o,

    // BAR4 writes
    input  wire logic                page_valid_i,
    output      logic                page_ready_o,
    input  wire logic                page_sop_i,
    input  wire logic                page_eop_i,
    input  wire ggas_pkg::tlp_hdr_t  page_hdr_i,
    input  wire logic [DATA_W-1:0]   page_data_i,

    // doorbells, to the rings of notifications and messages too
    output      logic                db_valid_o,          // pulse
    output      logic [1:0]          db_kind_o,           // 0 queue, 1 notifications, 2 messages
    output      logic [7:0]          db_vpid_o,
    output      logic [31:0]         db_count_o,

    // descriptors: a beat a slot, one of a context at a time
    output      logic                desc_valid_o,
    input  wire logic                desc_ready_i,
    output      logic                desc_sop_o,
    output      logic                desc_eop_o,
    output      logic [7:0]          desc_vpid_o,
    output      logic [15:0]         desc_pd_o,
    output      logic [255:0]        desc_data_o,
    input  wire logic                desc_done_i,         // pulse: the context's next one may come
    input  wire logic [7:0]          desc_done_vpid_i,

    // counts of the requester
    input  wire logic                st_valid_i,
    output      logic                st_ready_o,
    input  wire logic [7:0]          st_vpid_i,
    input  wire logic [0:0]          st_local_i,
    input  wire logic [7:0]          st_remote_i,
    input  wire logic                st_error_i,
    input  wire logic [3:0]          st_status_i,

    // host writes: status blocks
    output      logic                wr_valid_o,
    input  wire logic                wr_ready_i,
    output      logic                wr_sop_o,
    output      logic                wr_eop_o,
    output      ggas_pkg::tlp_hdr_t  wr_hdr_o,
    output      logic [DATA_W-1:0]   wr_data_o,

    // host reads: work queues; completions of tags TAG_QUEUE and up
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,
    input  wire logic                cpl_valid_i,
    output      logic                cpl_ready_o,
    input  wire logic                cpl_sop_i,
    input  wire logic                cpl_eop_i,
    input  wire ggas_pkg::tlp_hdr_t  cpl_hdr_i,
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    // events and counters: pulses
    output      logic                ev_page_access_o,
    output      logic [39:0]         ev_page_info_o,      // BAR4 offset
    output      logic                ev_bad_descriptor_o,
    output      logic [39:0]         ev_doorbell_info_o,  // context
    output      logic                ev_host_error_o,
    output      logic [39:0]         ev_queue_info_o,     // low bits of the address
    output      logic                ev_unexpected_o,
    output      logic [9:0]          ev_tag_o,
    output      logic                cnt_status_writes_o,
    output      logic                cnt_queue_reads_o,
    output      logic                busy_o,
    output      logic                timer_o
);
  // verilator lint_off UNUSEDSIGNAL
  wire unused = &{clk_i, rst_ni, time_i, cfg_mrrs_i, cfg_requester_i, cfg_timeout_i, cfg_we_i, cfg_vpid_i, cfg_word_i, cfg_data_i, look_vpid_i,
                  page_valid_i, page_sop_i, page_eop_i, page_hdr_i, page_data_i, desc_ready_i, desc_done_i, desc_done_vpid_i, st_valid_i, st_vpid_i,
                  st_local_i, st_remote_i, st_error_i, st_status_i, wr_ready_i, rd_ready_i, cpl_valid_i, cpl_sop_i, cpl_eop_i, cpl_hdr_i, cpl_data_i};
  // verilator lint_on UNUSEDSIGNAL
  assign {page_ready_o, st_ready_o, cpl_ready_o} = '1;
  assign {look_busy_o, db_valid_o, db_kind_o, db_vpid_o, db_count_o, desc_valid_o, desc_sop_o, desc_eop_o, desc_vpid_o, desc_pd_o, desc_data_o,
          wr_valid_o, wr_sop_o, wr_eop_o, wr_hdr_o, wr_data_o, rd_valid_o, rd_hdr_o, ev_page_access_o, ev_page_info_o, ev_bad_descriptor_o,
          ev_doorbell_info_o, ev_host_error_o, ev_queue_info_o, ev_unexpected_o, ev_tag_o, cnt_status_writes_o, cnt_queue_reads_o, busy_o, timer_o} = '0;
endmodule

`default_nettype wire
