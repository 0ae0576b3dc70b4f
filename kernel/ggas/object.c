// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * How objects are made and ended. Neither waits for the NIC, for memory or for a user's page under the device's lock,
 * so no user waits for what another one's object waits for.
 *
 * What ends is first hidden from its user under the lock, and put on a list. Its numbers stay taken until the NIC has
 * left its memory: the next owner of a number meets nothing of the former one.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "ggas.h"

#define HANDLES	XA_LIMIT(1, 65535)	/* of one file */

static const struct ggas_kind_ops *const kinds[GGAS_KINDS] = {
	[GGAS_DOMAIN] = &ggas_domain_ops,
	[GGAS_CONTEXT] = &ggas_context_ops,
	[GGAS_REGION] = &ggas_region_ops,
	[GGAS_WINDOW] = &ggas_window_ops,
};

static struct ggas_domain *domain_of(struct ggas_file *f, u32 handle)
{
	struct ggas_object *o = xa_load(&f->objects, handle);

	return o && o->kind == GGAS_DOMAIN ? container_of(o, struct ggas_domain, object) : NULL;
}

/* Domain (of a handle; 0: is one), quota and numbers. Under the lock. */
static int take(struct ggas_file *f, struct ggas_object *o, u32 domain)
{
	int rc;

	if (f->revoked)
		return -ENODEV;
	if (o->kind != GGAS_DOMAIN) {
		o->domain = domain_of(f, domain);
		if (!o->domain)
			return -ENOENT;
		kref_get(&o->domain->users);
	}
	rc = ggas_quota_take(f, o);
	return rc || !kinds[o->kind]->take ? rc : kinds[o->kind]->take(o);
}

/* The handle counts from now on, and another thread may end the object. Under the lock. */
static int publish(struct ggas_file *f, struct ggas_object *o, void *call, u32 handle)
{
	if (f->revoked)
		return -ENODEV;
	o->file = f;
	if (kinds[o->kind]->tell)
		kinds[o->kind]->tell(o, call);
	xa_store(&f->objects, handle, o, GFP_NOWAIT);	/* allocates nothing: the handle is reserved */
	return 0;
}

/* Takes the object, also when it fails. The NIC has been entered, and nothing takes it away meanwhile. */
int ggas_object_add(struct ggas_file *f, struct ggas_object *o, u32 domain, void *call, u32 *handle)
{
	struct ggas_device *dev = f->dev;
	LIST_HEAD(ended);
	u32 reserved = 0;
	int rc = xa_alloc(&f->objects, &reserved, NULL, HANDLES, GFP_KERNEL_ACCOUNT);

	if (rc)
		goto end;
	mutex_lock(&dev->lock);
	rc = take(f, o, domain);
	mutex_unlock(&dev->lock);
	if (!rc && kinds[o->kind]->start)
		rc = kinds[o->kind]->start(o);
	if (rc)
		goto erase;
	mutex_lock(&dev->lock);
	rc = publish(f, o, call, reserved);
	mutex_unlock(&dev->lock);
	if (rc)
		goto erase;
	*handle = reserved;
	return 0;

erase:
	xa_erase(&f->objects, reserved);
end:
	list_add(&o->ended, &ended);
	ggas_objects_end(dev, &ended);
	return rc;
}

/* Its user has it no more. Under the lock. */
static void hide(struct ggas_object *o, struct list_head *ended)
{
	o->file = NULL;
	ggas_quota_give(o);
	if (kinds[o->kind]->hide)
		kinds[o->kind]->hide(o);
	list_add_tail(&o->ended, ended);
}

/* All of a file. Under the lock. */
void ggas_objects_hide(struct ggas_file *f, struct list_head *ended)
{
	struct ggas_object *o;
	unsigned long handle;

	xa_for_each(&f->objects, handle, o) {
		xa_erase(&f->objects, handle);
		hide(o, ended);
	}
}

/* What is hidden, or has never been seen, ends. Without a lock. */
void ggas_objects_end(struct ggas_device *dev, struct list_head *ended)
{
	struct ggas_object *o, *next;

	list_for_each_entry(o, ended, ended)
		if (kinds[o->kind]->stop)
			kinds[o->kind]->stop(o);
	mutex_lock(&dev->lock);
	list_for_each_entry(o, ended, ended) {
		ggas_quota_give(o);
		if (kinds[o->kind]->give)
			kinds[o->kind]->give(o);
	}
	mutex_unlock(&dev->lock);
	list_for_each_entry_safe(o, next, ended, ended) {
		struct ggas_domain *d = o->domain;

		kinds[o->kind]->free(o);
		if (d)
			ggas_domain_put(d);
	}
}

int ggas_object_destroy(struct ggas_file *f, u32 handle)
{
	struct ggas_device *dev = f->dev;
	struct ggas_object *o;
	LIST_HEAD(ended);
	int rc = 0;

	mutex_lock(&dev->lock);
	o = xa_load(&f->objects, handle);
	if (!o) {
		rc = -ENOENT;
	} else if (o->kind == GGAS_DOMAIN && kref_read(&container_of(o, struct ggas_domain, object)->users) > 1) {
		rc = -EBUSY;
	} else {
		xa_erase(&f->objects, handle);
		hide(o, &ended);
		atomic_inc(&dev->busy);
	}
	mutex_unlock(&dev->lock);
	if (rc)
		return rc;
	ggas_objects_end(dev, &ended);
	ggas_leave(dev);
	return 0;
}
EXPORT_SYMBOL_GPL(ggas_object_destroy);
