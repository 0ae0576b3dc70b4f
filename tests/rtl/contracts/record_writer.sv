// SPDX-License-Identifier: Apache-2.0
`STREAM_OF(record_writer, wr, wr_data_o);
