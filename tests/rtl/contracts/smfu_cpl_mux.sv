// SPDX-License-Identifier: Apache-2.0
`STREAM_OF(smfu_cpl_mux, ld_cpl, ld_cpl_data_o);
