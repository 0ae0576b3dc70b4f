// SPDX-License-Identifier: Apache-2.0
`STREAM(net_watchdog, out);
