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

/* A user gets at most half of each kind, unless the administrator sets another value (sysfs). So no user takes all. */
void ggas_quota_init(struct ggas_device *dev)
{
	dev->quota[GGAS_CONTEXT] = max(dev->contexts / 2, 1U);
	dev->quota[GGAS_WINDOW] = max_t(u32, GGAS_INTERVALS / dev->nodes / 2, 1);
	dev->quota[GGAS_REGION] = GGAS_PIECES * GGAS_PIECE_ENTRIES / 2;
	dev->quota[GGAS_DOMAIN] = U32_MAX;
}

/* An account, for ggas_user_get(). */
struct ggas_user *ggas_user_new(void)
{
	return kzalloc(sizeof(struct ggas_user), GFP_KERNEL_ACCOUNT);
}

/* The account of who calls: the one that there is, or a fresh one, which it takes in both cases. */
struct ggas_user *ggas_user_get(struct ggas_device *dev, struct ggas_user *fresh)
{
	struct ggas_user *u;

	list_for_each_entry(u, &dev->users_of, list) {
		if (!uid_eq(u->uid, current_euid()))
			continue;
		u->files++;
		kfree(fresh);
		return u;
	}
	fresh->uid = current_euid();
	fresh->files = 1;
	list_add(&fresh->list, &dev->users_of);
	return fresh;
}

void ggas_user_put(struct ggas_user *u)
{
	if (--u->files)
		return;
	list_del(&u->list);
	kfree(u);
}

/* -EDQUOT: it is more than the user may have. */
int ggas_quota_take(struct ggas_file *f, struct ggas_object *o)
{
	u32 *used = &f->user->used[o->kind], quota = READ_ONCE(f->dev->quota[o->kind]);

	if (!capable(CAP_SYS_RESOURCE) && (*used > quota || o->amount > quota - *used))
		return -EDQUOT;
	*used += o->amount;
	o->user = f->user;
	return 0;
}

void ggas_quota_give(struct ggas_object *o)
{
	if (o->user)
		o->user->used[o->kind] -= o->amount;
	o->user = NULL;
}
