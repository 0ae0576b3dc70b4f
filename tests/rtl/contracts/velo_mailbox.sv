// SPDX-License-Identifier: Apache-2.0
`STREAM(velo_mailbox, wr);
