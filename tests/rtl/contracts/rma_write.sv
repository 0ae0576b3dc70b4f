// SPDX-License-Identifier: Apache-2.0
`STREAM_OF(rma_write, wr, wr_data_o);
