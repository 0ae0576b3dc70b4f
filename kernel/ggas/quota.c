// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What one user may have of the NIC, in all processes and files together: contexts, windows, pages of regions. It goes
 * by who opened the file. Under the device's lock.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/slab.h>

#include "ggas.h"

struct ggas_user {
	struct list_head list;
	kuid_t uid;
	u32 files;
	u32 used[GGAS_KINDS];
};

/* Of each kind half of what there is, until the administrator says otherwise (sysfs): no one takes it all. */
void ggas_quota_init(struct ggas_device *dev)
{
	dev->quota[GGAS_CONTEXT] = max(dev->contexts / 2, 1U);
	dev->quota[GGAS_WINDOW] = max_t(u32, GGAS_INTERVALS / dev->nodes / 2, 1);
	dev->quota[GGAS_REGION] = GGAS_PIECES * GGAS_PIECE_ENTRIES / 2;
	dev->quota[GGAS_DOMAIN] = U32_MAX;
}

/* The account of who calls; NULL: no memory. */
struct ggas_user *ggas_user_get(struct ggas_device *dev)
{
	struct ggas_user *u;

	list_for_each_entry(u, &dev->users_of, list) {
		if (!uid_eq(u->uid, current_euid()))
			continue;
		u->files++;
		return u;
	}
	u = kzalloc(sizeof(*u), GFP_KERNEL_ACCOUNT);
	if (!u)
		return NULL;
	u->uid = current_euid();
	u->files = 1;
	list_add(&u->list, &dev->users_of);
	return u;
}

void ggas_user_put(struct ggas_user *u)
{
	if (--u->files)
		return;
	list_del(&u->list);
	kfree(u);
}

/* What an object counts. */
static u32 amount(const struct ggas_object *o)
{
	return o->kind == GGAS_REGION ? container_of(o, struct ggas_region, object)->pages : 1;
}

/* -EDQUOT: it is more than the user may have. */
int ggas_quota_take(struct ggas_file *f, const struct ggas_object *o)
{
	u32 *used = &f->user->used[o->kind], quota = READ_ONCE(f->dev->quota[o->kind]), n = amount(o);

	if (!capable(CAP_SYS_RESOURCE) && (*used > quota || n > quota - *used))
		return -EDQUOT;
	*used += n;
	return 0;
}

void ggas_quota_give(const struct ggas_object *o)
{
	if (o->file)
		o->file->user->used[o->kind] -= amount(o);
}
