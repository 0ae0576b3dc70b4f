// SPDX-License-Identifier: Apache-2.0
`STREAM(hostif_cpl, tgt);
// The same for the RMA: only valid and ready are its own.
bind hostif_cpl stream_contract #(.HDR_W(ggas_pkg::TLP_HDR_W), .DATA_W(DATA_W)) rma_contract (
    .clk_i, .rst_ni, .valid_i(rma_valid_o), .ready_i(rma_ready_i), .sop_i(tgt_sop_o), .eop_i(tgt_eop_o),
    .hdr_i(tgt_hdr_o), .data_i(tgt_data_o), .withdraw_i(1'b0)
);
