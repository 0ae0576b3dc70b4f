// SPDX-License-Identifier: Apache-2.0
`STREAM(rma_no_atomic, rsp);
