// SPDX-License-Identifier: Apache-2.0
`STREAM_OF(velo_mailbox, wr, wr_data_o);
