// SPDX-License-Identifier: Apache-2.0
// Rows of a write have no end of their own; mask and bad follow the context, which may be switched off meanwhile.
`HANDSHAKE(rma_page, row, {row_sop_o, row_info_o, row_vpid_o, row_slot_o, row_data_o});
