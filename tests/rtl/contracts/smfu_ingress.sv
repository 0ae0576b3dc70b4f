// SPDX-License-Identifier: Apache-2.0
`STREAM_OF(smfu_ingress, tgt_req, tgt_req_data_o);
