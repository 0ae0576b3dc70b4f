// SPDX-License-Identifier: Apache-2.0
`STREAM(net_crossbar, own_rx);
