/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* What uverbs carry beyond verbs for the NIC (module ggas_verbs). */
#ifndef _UAPI_GGAS_VERBS_H
#define _UAPI_GGAS_VERBS_H

#include <linux/types.h>

#define GGAS_VERBS_ABI_VERSION 1

/**
 * struct ggas_verbs_alloc_pd - a protection domain is a number that all nodes agree on
 * @domain: 1 to 65535, granted to the caller's user; without this structure it is the module's parameter `domain`
 */
struct ggas_verbs_alloc_pd {
	__u32 domain;
	__u32 pad;
};

/*
 * The keys of a memory region are the page of its first byte: byte n of it has the network logical address
 * (key << 12) + (address of the region & 4095) + n.
 */

#endif
