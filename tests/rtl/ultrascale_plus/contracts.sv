// SPDX-License-Identifier: Apache-2.0
// What the shim offers stands until it is taken, on each of its four outputs. Beats and headers are checked by
// nic_side.py and by the model of the block: a TLP that the block broke has fewer beats than its header says.
`define STANDS(x, valid, ready, what) \
  bind usp_shim stream_contract #(.HDR_W($bits(what)), .DATA_W(1)) x``_contract ( \
      .clk_i, .rst_ni, .valid_i(valid), .ready_i(ready), .sop_i('1), .eop_i('1), .hdr_i(what), .data_i('0), \
      .withdraw_i('0) \
  )
`STANDS(cc, cc_tvalid_o, cc_tready_i, ({cc_tlast_o, cc_tkeep_o, cc_tuser_o, cc_tdata_o}));
`STANDS(rq, rq_tvalid_o, rq_tready_i, ({rq_tlast_o, rq_tkeep_o, rq_tuser_o, rq_tdata_o}));
`STANDS(rx_req, rx_req_o.valid, rx_req_ready_i, ({rx_req_o.sop, rx_req_o.eop, rx_req_o.hdr, rx_req_data_o}));
`STANDS(rx_cpl, rx_cpl_o.valid, rx_cpl_ready_i, ({rx_cpl_o.sop, rx_cpl_o.eop, rx_cpl_o.hdr, rx_cpl_data_o}));
