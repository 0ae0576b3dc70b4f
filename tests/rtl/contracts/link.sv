// SPDX-License-Identifier: Apache-2.0
`STREAM(link, rx);
// What net or crossbar offer: a link that is not UP takes nothing, so that may go.
bind link stream_contract #(.N(ggas_pkg::CHANNELS), .DATA_W(DATA_W)) tx_contract (
    .clk_i, .rst_ni, .valid_i(tx_valid_i), .ready_i(tx_ready_o), .sop_i(tx_sop_i), .eop_i(tx_eop_i), .hdr_i(tx_hdr_i),
    .data_i(tx_data_i), .withdraw_i({ggas_pkg::CHANNELS{!up}})
);
`HANDSHAKE(link, link_tx, link_tx_data_o);
