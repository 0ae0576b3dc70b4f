// SPDX-License-Identifier: Apache-2.0
`STREAM(rma_target, get);
`STREAM(rma_target, at);
