/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the second front end (kernel/verbs) uses of the driver: the same objects, by a file that no one has opened. */
#ifndef GGAS_VERBS_H
#define GGAS_VERBS_H

#include <linux/auxiliary_bus.h>

#include "ggas.h"

#define GGAS_VERBS_NAME	"verbs"

struct ggas_verbs {
	struct auxiliary_device aux;
	struct ggas_device *dev;
};

/* A domain by its number, which must have been granted to the caller's user. */
int ggas_verbs_join(struct ggas_file *f, u32 number, u32 *domain);
/* `first`: page of the network logical addresses. */
int ggas_verbs_lend(struct ggas_file *f, u32 domain, struct sg_table *sgt, unsigned long pages, u32 rights, u32 *first,
		    u32 *region);
int ggas_verbs_info(struct ggas_device *dev, struct ggas_info *info);

#endif
