/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The NIC as an ib_device: what asks for it (query), protection domains, memory regions. They are the driver's domains
 * and regions (kernel/ggas), by one file of the driver for each user context.
 */
#ifndef GGAS_VERBS_DEVICE_H
#define GGAS_VERBS_DEVICE_H

#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "../ggas/verbs.h"

struct verbs_device {
	struct ib_device ib;
	struct ggas_device *nic;
};

struct verbs_context {
	struct ib_ucontext ib;
	struct ggas_file *file;
};

struct verbs_pd {
	struct ib_pd ib;
	struct ggas_file *file;
	u32 domain;		/* handle of the file's */
};

struct verbs_mr {
	struct ib_mr ib;
	struct ib_umem *umem;
	struct ggas_file *file;
	u32 region;		/* handle of the file's */
};

/* objects.c */
extern const struct ib_device_ops verbs_object_ops;

#endif
