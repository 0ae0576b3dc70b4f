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
	bool found = capable(CAP_SYS_ADMIN);

	if (found)
		return true;
	mutex_lock(&dev->lock);
	list_for_each_entry(g, &dev->grants, list)
		found |= g->number == number && uid_eq(g->user, current_euid());
	mutex_unlock(&dev->lock);
	return found;
}

struct ggas_domain *ggas_domain_new(u32 number)
{
	struct ggas_domain *d;

	if (number < 1 || number > U16_MAX)
		return ERR_PTR(-EINVAL);
	d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	if (!d)
		return ERR_PTR(-ENOMEM);
	d->object.kind = GGAS_DOMAIN;
	d->object.amount = 1;
	d->number = number;
	kref_init(&d->users);
	return d;
}

static void domain_free(struct kref *users)
{
	kfree(container_of(users, struct ggas_domain, users));
}

/* Objects that are still being made may use it longer than its handle is there. */
void ggas_domain_put(struct ggas_domain *d)
{
	kref_put(&d->users, domain_free);
}

static void put(struct ggas_object *o)
{
	ggas_domain_put(container_of(o, struct ggas_domain, object));
}

const struct ggas_kind_ops ggas_domain_ops = { .free = put };
