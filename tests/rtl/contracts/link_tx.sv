// SPDX-License-Identifier: Apache-2.0
`HANDSHAKE(link_tx, link_tx, link_tx_data_o);
