// SPDX-License-Identifier: Apache-2.0
`STREAM(smfu_egress, tx_p);
