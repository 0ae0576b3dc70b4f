// SPDX-License-Identifier: Apache-2.0
`STREAM_OF(smfu_rob, tx_rsp, tx_rsp_data_o);
