// SPDX-License-Identifier: Apache-2.0
`STREAM(link_rx, rx);
