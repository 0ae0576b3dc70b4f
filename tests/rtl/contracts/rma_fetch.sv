// SPDX-License-Identifier: Apache-2.0
`STREAM(rma_fetch, tx);
