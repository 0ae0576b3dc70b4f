// SPDX-License-Identifier: Apache-2.0
`STREAM(links, rx);
`HANDSHAKE(links, link_tx, link_tx_data_o);
