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

/* Under the lock. Who sleeps on a context wakes, and finds that he must open the NIC again. */
void ggas_file_revoke_all(struct ggas_device *dev, struct list_head *ended)
{
	struct ggas_object *o;
	struct ggas_file *f;

	list_for_each_entry(f, &dev->files, list) {
		ggas_objects_hide(f, ended);
		WRITE_ONCE(f->revoked, true);	/* also read without the lock */
	}
	list_for_each_entry(o, ended, ended)
		if (o->kind == GGAS_CONTEXT)
			ggas_context_wake(container_of(o, struct ggas_context, object));
}

/* Takes the account in all cases. */
static int add_file(struct ggas_file *f, struct ggas_user *fresh)
{
	struct ggas_device *dev = f->dev;
	int rc = -ENODEV;

	mutex_lock(&dev->lock);
	if (dev->live && !ggas_hw_dead(dev)) {
		f->user = ggas_user_get(dev, fresh);
		list_add(&f->list, &dev->files);
		rc = 0;
	}
	mutex_unlock(&dev->lock);
	if (rc)
		kfree(fresh);
	return rc;
}

/* What a user has of the NIC, from nothing on. */
struct ggas_file *ggas_file_begin(struct ggas_device *dev)
{
	struct ggas_file *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	struct ggas_user *fresh = ggas_user_new();
	int rc;

	if (!f || !fresh) {
		kfree(fresh);
		kfree(f);
		return ERR_PTR(-ENOMEM);
	}
	f->dev = dev;
	xa_init_flags(&f->objects, XA_FLAGS_ALLOC1);
	rc = add_file(f, fresh);
	if (rc) {
		kfree(f);
		return ERR_PTR(rc);
	}
	kref_get(&dev->users);
	return f;
}
EXPORT_SYMBOL_GPL(ggas_file_begin);

void ggas_file_end(struct ggas_file *f)
{
	struct ggas_device *dev = f->dev;
	LIST_HEAD(ended);

	mutex_lock(&dev->lock);
	list_del(&f->list);
	ggas_objects_hide(f, &ended);
	ggas_user_put(f->user);
	atomic_inc(&dev->busy);
	mutex_unlock(&dev->lock);
	ggas_objects_end(dev, &ended);
	ggas_leave(dev);
	xa_destroy(&f->objects);
	kfree(f);
	ggas_device_put(dev);
}
EXPORT_SYMBOL_GPL(ggas_file_end);

static int ggas_open(struct inode *inode, struct file *file)
{
	struct ggas_device *dev;
	struct ggas_file *f;

	/* Offsets of mappings have more bits than a program of 32 bits can say. */
	if (in_compat_syscall())
		return -EOPNOTSUPP;
	dev = ggas_device_get(iminor(inode));
	if (!dev)
		return -ENODEV;
	f = ggas_file_begin(dev);
	if (!IS_ERR(f)) {
		file->f_mapping = dev->inode->i_mapping;
		file->private_data = f;
	}
	ggas_device_put(dev);
	return PTR_ERR_OR_ZERO(f);
}

static int ggas_release(struct inode *inode, struct file *file)
{
	ggas_file_end(file->private_data);
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
