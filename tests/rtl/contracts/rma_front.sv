// SPDX-License-Identifier: Apache-2.0
// Slots of a descriptor; whose they are stands next to each.
`STREAM_AS(rma_front, desc, desc_vpid_o, {desc_vpid_o, desc_pd_o, desc_starts_o, desc_data_o});
