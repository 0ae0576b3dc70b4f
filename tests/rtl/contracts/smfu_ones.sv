// SPDX-License-Identifier: Apache-2.0
// Its data is always the same.
`STREAM_AS(smfu_ones, cpl, cpl_hdr_o, {DATA_W{1'b1}});
