// SPDX-License-Identifier: Apache-2.0
`STREAM(net_crossbar, own_rx);
// By input: what it offers to the link that it was given.
bind net_crossbar stream_contract #(.N(ggas_pkg::LINKS + 1), .DATA_W(DATA_W)) tx_contract (
    .clk_i, .rst_ni, .valid_i(cur_valid), .ready_i(taken), .sop_i(cur_sop), .eop_i(cur_eop), .hdr_i(cur_hdr),
    .data_i(cur_data), .withdraw_i(~offered)
);
