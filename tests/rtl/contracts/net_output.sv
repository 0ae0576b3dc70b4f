// SPDX-License-Identifier: Apache-2.0
// A link that is not UP takes nothing: what was offered to it is lost.
bind net_output stream_contract #(.DATA_W(DATA_W)) tx_contract (
    .clk_i, .rst_ni, .valid_i(tx_valid_o != '0), .ready_i(ready), .sop_i(tx_sop_o), .eop_i(tx_eop_o),
    .hdr_i(tx_hdr_o), .data_i(tx_data_o), .withdraw_i(!up_i)
);
