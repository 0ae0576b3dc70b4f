// SPDX-License-Identifier: Apache-2.0
// Data and ready are at the ports of smfu_rob.
`STREAM_AS(smfu_rob_answer, tx_rsp, tx_rsp_hdr_o, {DATA_W{1'b0}});
