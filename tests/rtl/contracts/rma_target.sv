// SPDX-License-Identifier: Apache-2.0
`STREAM_OF(rma_target, get, get_data_o);
`STREAM_OF(rma_target, at, at_data_o);
