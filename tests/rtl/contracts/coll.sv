// SPDX-License-Identifier: Apache-2.0
`STREAM(coll, tx);
`STREAM(coll, wr);
