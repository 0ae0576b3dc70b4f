// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The nodes /dev/ggasN and their attributes in sysfs. A device outlives its node as long as a file is open.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>
#include <linux/slab.h>

#include "compat.h"
#include "ggas.h"

#define MINORS		64
#define FS_MAGIC	0x53414747

static dev_t first_dev;
static struct class *ggas_class;
/* Devices by minor number: an open meets one that is being removed, or none. */
static DEFINE_IDR(devices);
static DEFINE_MUTEX(devices_lock);

/*
 * A file system that has only inodes, one for each device. All files of a device share the address space of its
 * inode, whichever device node they were opened by, so that mappings can be revoked. The inode of the device node
 * itself would disappear with its file system. The file system has no owner, because its mount would keep the module
 * from being unloaded; the module unmounts it when no device is left.
 */
static int inodes_init(struct fs_context *fc)
{
	return init_pseudo(fc, FS_MAGIC) ? 0 : -ENOMEM;
}

static struct file_system_type inodes_fs = {
	.name = "ggas",
	.init_fs_context = inodes_init,
	.kill_sb = kill_anon_super,
};

static struct vfsmount *inodes;

int ggas_device_make_inode(struct ggas_device *dev)
{
	struct inode *inode = alloc_anon_inode(inodes->mnt_sb);

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	dev->inode = inode;
	return 0;
}

static void device_free(struct kref *users)
{
	struct ggas_device *dev = container_of(users, struct ggas_device, users);

	ggas_domain_forget_grants(dev);
	if (dev->inode)
		iput(dev->inode);
	pci_dev_put(dev->pci);
	kfree(dev);
}

void ggas_device_put(struct ggas_device *dev)
{
	kref_put(&dev->users, device_free);
}

struct ggas_device *ggas_device_get(int minor)
{
	struct ggas_device *dev;

	mutex_lock(&devices_lock);
	dev = idr_find(&devices, minor);
	if (dev)
		kref_get(&dev->users);
	mutex_unlock(&devices_lock);
	return dev;
}

static void forget(struct ggas_device *dev)
{
	mutex_lock(&devices_lock);
	idr_remove(&devices, dev->minor);
	mutex_unlock(&devices_lock);
}

int ggas_chardev_add(struct ggas_device *dev)
{
	struct device *node;
	int rc = -ENOMEM;

	mutex_lock(&devices_lock);
	dev->minor = idr_alloc(&devices, dev, 0, MINORS, GFP_KERNEL);
	mutex_unlock(&devices_lock);
	if (dev->minor < 0)
		return dev->minor;
	dev->cdev = cdev_alloc();
	if (!dev->cdev)
		goto forget;
	dev->cdev->ops = &ggas_fops;
	dev->cdev->owner = THIS_MODULE;
	rc = cdev_add(dev->cdev, first_dev + dev->minor, 1);
	if (rc)
		goto del;
	node = device_create_with_groups(ggas_class, &dev->pci->dev, first_dev + dev->minor, dev, ggas_groups, "ggas%d",
					 dev->minor);
	if (!IS_ERR(node)) {
		ggas_debugfs_add(dev);
		return 0;
	}
	rc = PTR_ERR(node);
del:
	cdev_del(dev->cdev);
forget:
	forget(dev);
	return rc;
}

void ggas_chardev_remove(struct ggas_device *dev)
{
	ggas_debugfs_remove(dev);
	device_destroy(ggas_class, first_dev + dev->minor);
	cdev_del(dev->cdev);
	forget(dev);
}

int ggas_chardev_init(void)
{
	int rc = alloc_chrdev_region(&first_dev, 0, MINORS, "ggas");

	if (rc)
		return rc;
	inodes = kern_mount(&inodes_fs);
	rc = PTR_ERR_OR_ZERO(inodes);
	if (rc)
		goto unregister;
	ggas_class = ggas_class_create("ggas");
	rc = PTR_ERR_OR_ZERO(ggas_class);
	if (rc)
		goto unmount;
	ggas_debugfs_init();
	return 0;

unmount:
	kern_unmount(inodes);
unregister:
	unregister_chrdev_region(first_dev, MINORS);
	return rc;
}

void ggas_chardev_exit(void)
{
	ggas_debugfs_exit();
	class_destroy(ggas_class);
	kern_unmount(inodes);
	unregister_chrdev_region(first_dev, MINORS);
	idr_destroy(&devices);
}
