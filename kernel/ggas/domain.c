// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Protection domains: numbers that all nodes agree on. Who may join one is said by the administrator of each node
 * (sysfs: grant), because a number is the right to the memory of every member who has it.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "ggas.h"

struct grant {
	struct list_head list;
	kuid_t user;
	u16 number;
};

int ggas_domain_grant(struct ggas_device *dev, u32 number, kuid_t user)
{
	struct grant *g;

	if (number < 1 || number > U16_MAX || !uid_valid(user))
		return -EINVAL;
	g = kzalloc(sizeof(*g), GFP_KERNEL);
	if (!g)
		return -ENOMEM;
	g->number = number;
	g->user = user;
	mutex_lock(&dev->lock);
	list_add(&g->list, &dev->grants);
	mutex_unlock(&dev->lock);
	return 0;
}

/* Who has joined stays in; no one joins any more by this grant. -ENOENT: there is none. */
int ggas_domain_revoke(struct ggas_device *dev, u32 number, kuid_t user)
{
	struct grant *g, *next;
	int rc = -ENOENT;

	mutex_lock(&dev->lock);
	list_for_each_entry_safe(g, next, &dev->grants, list) {
		if (g->number != number || !uid_eq(g->user, user))
			continue;
		list_del(&g->list);
		kfree(g);
		rc = 0;
	}
	mutex_unlock(&dev->lock);
	return rc;
}

void ggas_domain_forget_grants(struct ggas_device *dev)
{
	struct grant *g, *next;

	list_for_each_entry_safe(g, next, &dev->grants, list) {
		list_del(&g->list);
		kfree(g);
	}
}

bool ggas_domain_granted(struct ggas_device *dev, u32 number)
{
	struct grant *g;

	if (capable(CAP_SYS_ADMIN))
		return true;
	list_for_each_entry(g, &dev->grants, list)
		if (g->number == number && uid_eq(g->user, current_euid()))
			return true;
	return false;
}

struct ggas_domain *ggas_domain_create(struct ggas_device *dev, u32 number)
{
	struct ggas_domain *d;

	if (number < 1 || number > U16_MAX)
		return ERR_PTR(-EINVAL);
	d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	if (!d)
		return ERR_PTR(-ENOMEM);
	d->object.kind = GGAS_DOMAIN;
	d->number = number;
	return d;
}

void ggas_domain_destroy(struct ggas_domain *d)
{
	WARN_ON(d->users);
	kfree(d);
}
