// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * /dev/ggasN: objects by ioctl, their memory by mmap. Everything a file owns ends with it, or with a reset or the
 * removal of the NIC: then the file answers -ENODEV, and its mappings fault with SIGBUS.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "ggas.h"

#define OBJECTS		65536	/* of one file */

/* Under the lock; regions are released after it, from the list. */
void ggas_object_end(struct ggas_device *dev, struct ggas_object *o, struct list_head *released)
{
	ggas_quota_give(o);
	switch (o->kind) {
	case GGAS_CONTEXT:
		ggas_context_destroy(dev, container_of(o, struct ggas_context, object));
		break;
	case GGAS_WINDOW:
		ggas_window_destroy(dev, container_of(o, struct ggas_window, object));
		break;
	case GGAS_DOMAIN:
		ggas_domain_destroy(container_of(o, struct ggas_domain, object));
		break;
	case GGAS_REGION:
		ggas_region_withdraw(container_of(o, struct ggas_region, object), released);
		break;
	default:
		break;
	}
}

/* Everything ends, domains last: the others use them. */
static void file_revoke(struct ggas_file *f, struct list_head *released)
{
	struct ggas_object *o;
	int handle;

	idr_for_each_entry(&f->objects, o, handle) {
		if (o->kind == GGAS_DOMAIN)
			continue;
		idr_remove(&f->objects, handle);
		ggas_object_end(f->dev, o, released);
	}
	idr_for_each_entry(&f->objects, o, handle) {
		idr_remove(&f->objects, handle);
		ggas_object_end(f->dev, o, released);
	}
	f->revoked = true;
}

void ggas_file_revoke_all(struct ggas_device *dev, struct list_head *released)
{
	struct ggas_file *f;

	list_for_each_entry(f, &dev->files, list)
		file_revoke(f, released);
}

/* -EDQUOT: the user has too many. */
int ggas_file_handle(struct ggas_file *f, struct ggas_object *o, u32 *handle)
{
	int rc = ggas_quota_take(f, o), h;

	if (rc)
		return rc;
	o->file = f;
	h = idr_alloc(&f->objects, o, 1, OBJECTS, GFP_KERNEL_ACCOUNT);
	if (h < 0) {
		ggas_quota_give(o);
		o->file = NULL;
		return h;
	}
	*handle = h;
	return 0;
}

static int ggas_open(struct inode *inode, struct file *file)
{
	struct ggas_device *dev = ggas_device_get(iminor(inode));
	struct ggas_file *f;
	int rc;

	if (!dev)
		return -ENODEV;
	/* Offsets of mappings have more bits than a program of 32 bits can say. */
	if (in_compat_syscall()) {
		ggas_device_put(dev);
		return -EOPNOTSUPP;
	}
	f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	if (!f) {
		ggas_device_put(dev);
		return -ENOMEM;
	}
	f->dev = dev;
	idr_init(&f->objects);
	mutex_lock(&dev->lock);
	f->user = dev->live ? ggas_user_get(dev) : NULL;
	if (!f->user) {
		rc = dev->live ? -ENOMEM : -ENODEV;
		mutex_unlock(&dev->lock);
		kfree(f);
		ggas_device_put(dev);
		return rc;
	}
	file->f_mapping = dev->inode->i_mapping;
	list_add(&f->list, &dev->files);
	mutex_unlock(&dev->lock);
	file->private_data = f;
	return 0;
}

static int ggas_release(struct inode *inode, struct file *file)
{
	struct ggas_file *f = file->private_data;
	struct ggas_device *dev = f->dev;
	LIST_HEAD(released);

	mutex_lock(&dev->lock);
	list_del(&f->list);
	file_revoke(f, &released);
	ggas_user_put(f->user);
	mutex_unlock(&dev->lock);
	ggas_region_release(dev, &released);
	idr_destroy(&f->objects);
	kfree(f);
	ggas_device_put(dev);
	return 0;
}

const struct file_operations ggas_fops = {
	.owner = THIS_MODULE,
	.open = ggas_open,
	.release = ggas_release,
	.unlocked_ioctl = ggas_ioctl,
	.mmap = ggas_mmap,
	.llseek = noop_llseek,
};
