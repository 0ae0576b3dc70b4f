// SPDX-License-Identifier: Apache-2.0
// What the collectives leave of host writes and of packets; the data is that of the input.
`STREAM_OF(coll_port, rma_page, page_data_i);
`STREAM_OF(coll_port, rma_rx, rx_data_i);
