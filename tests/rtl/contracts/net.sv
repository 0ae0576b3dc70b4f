// SPDX-License-Identifier: Apache-2.0
`STREAM_OF(net, rx_p, rx_p_data_o);
`STREAM_OF(net, rx_np, rx_np_data_o);
`STREAM_OF(net, rx_rsp, rx_rsp_data_o);
`STREAM_OF(net, rx_rma, rx_rma_data_o);
`STREAM_OF(net, rx_ans, rx_ans_data_o);
// A link that is not UP takes nothing: what was offered to it may go.
bind net stream_contract #(.N(4), .DATA_W(DATA_W)) lnk_tx_contract (
    .clk_i, .rst_ni, .valid_i(lnk_tx_valid_o), .ready_i(lnk_tx_ready_i), .sop_i(lnk_tx_sop_o), .eop_i(lnk_tx_eop_o),
    .hdr_i(lnk_tx_hdr_o), .data_i(lnk_tx_data_o), .withdraw_i({4{ggas_pkg::LINKS == 1 && !link_up_o}})
);
