// SPDX-License-Identifier: Apache-2.0
`STREAM_OF(hostif, win_p, win_p_data_o);
`STREAM_OF(hostif, page, page_data_o);
