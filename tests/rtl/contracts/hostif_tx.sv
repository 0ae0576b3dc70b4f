// SPDX-License-Identifier: Apache-2.0
// Nothing begins while the function is closed, no request without bus master: what was offered may go.
bind hostif_tx stream_contract #(.HDR_W(ggas_pkg::TLP_HDR_W), .DATA_W(DATA_W)) req_contract (
    .clk_i, .rst_ni, .valid_i(req_valid_o), .ready_i(req_ready_i), .sop_i(req_sop_o), .eop_i(req_eop_o),
    .hdr_i(req_hdr_o), .data_i(req_data_o), .withdraw_i(closing_i || !bus_master_i)
);
bind hostif_tx stream_contract #(.HDR_W(ggas_pkg::TLP_HDR_W), .DATA_W(DATA_W)) cpl_contract (
    .clk_i, .rst_ni, .valid_i(cpl_valid_o), .ready_i(cpl_ready_i), .sop_i(cpl_sop_o), .eop_i(cpl_eop_o),
    .hdr_i(cpl_hdr_o), .data_i(cpl_data_o), .withdraw_i(closing_i)
);
