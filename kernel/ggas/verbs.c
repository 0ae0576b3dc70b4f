// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The NIC as an auxiliary device, to which the second front end binds, and what it may call. */
#include <linux/module.h>
#include <linux/slab.h>

#include "verbs.h"

static void release(struct device *d)
{
	kfree(container_of(d, struct ggas_verbs, aux.dev));
}

int ggas_verbs_add(struct ggas_device *dev)
{
	struct ggas_verbs *v = kzalloc(sizeof(*v), GFP_KERNEL);
	int rc;

	if (!v)
		return -ENOMEM;
	v->dev = dev;
	v->aux.name = GGAS_VERBS_NAME;
	v->aux.id = dev->minor;
	v->aux.dev.parent = &dev->pci->dev;
	v->aux.dev.release = release;
	rc = auxiliary_device_init(&v->aux);
	if (rc) {
		kfree(v);
		return rc;
	}
	rc = auxiliary_device_add(&v->aux);
	if (rc) {
		auxiliary_device_uninit(&v->aux);
		return rc;
	}
	dev->verbs = v;
	return 0;
}

void ggas_verbs_remove(struct ggas_device *dev)
{
	auxiliary_device_delete(&dev->verbs->aux);
	auxiliary_device_uninit(&dev->verbs->aux);
}

int ggas_verbs_join(struct ggas_file *f, u32 number, u32 *domain)
{
	struct ggas_domain *d;
	int rc;

	if (!ggas_domain_granted(f->dev, number))
		return -EPERM;
	d = ggas_domain_new(number);
	if (IS_ERR(d))
		return PTR_ERR(d);
	rc = ggas_enter(f->dev);
	if (rc) {
		ggas_domain_put(d);
		return rc;
	}
	rc = ggas_object_add(f, &d->object, 0, NULL, domain);
	ggas_leave(f->dev);
	return rc;
}
EXPORT_SYMBOL_GPL(ggas_verbs_join);

int ggas_verbs_lend(struct ggas_file *f, u32 domain, struct sg_table *sgt, unsigned long pages, u32 rights, u32 *first,
		    u32 *region)
{
	struct ggas_region_create p = { .domain = domain, .rights = rights, .bytes = (u64)pages << PAGE_SHIFT };
	int rc = ggas_region_add_lent(f, sgt, pages, &p);

	*first = p.nla / GGAS_ENTRY_BYTES;
	*region = p.handle;
	return rc;
}
EXPORT_SYMBOL_GPL(ggas_verbs_lend);

int ggas_verbs_info(struct ggas_device *dev, struct ggas_info *info)
{
	int rc = ggas_enter(dev);

	if (rc)
		return rc;
	ggas_info_get(dev, info);
	ggas_leave(dev);
	return 0;
}
EXPORT_SYMBOL_GPL(ggas_verbs_info);
