// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * /dev/ggasN: objects by ioctl, their memory by mmap. Everything a file owns ends with it, or with a reset or the
 * removal of the NIC: then the file answers -ENODEV, and its mappings fault with SIGBUS.
 */
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "ggas.h"

#define MINORS		64
#define OBJECTS		65536	/* of one file */

static dev_t first_dev;
static struct class *ggas_class;
/* Devices by minor number: an open meets one that is being removed, or none. */
static DEFINE_IDR(devices);
static DEFINE_MUTEX(devices_lock);

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

/* Takes mappings back from every process that has them. */
void ggas_unmap(struct ggas_device *dev, u64 offset, u64 bytes)
{
	if (dev->mapping)
		unmap_mapping_range(dev->mapping, offset, bytes, 1);
}

/* ------------------------------------------------------------------------------------------- objects of a file */

/* Ends an object but for the pins of a region, which are given back without the lock. */
static struct ggas_region *object_end(struct ggas_device *dev, struct ggas_object *o)
{
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
		ggas_region_withdraw(dev, container_of(o, struct ggas_region, object));
		return container_of(o, struct ggas_region, object);
	}
	return NULL;
}

/* Contexts and windows end here: what they own is the device's. Regions lose the NIC and keep their pins. */
static void file_revoke(struct ggas_file *f)
{
	struct ggas_object *o;
	int handle;

	idr_for_each_entry(&f->objects, o, handle) {
		if (o->kind == GGAS_DOMAIN)
			continue;
		if (!object_end(f->dev, o))
			idr_remove(&f->objects, handle);
	}
	f->revoked = true;
}

void ggas_file_revoke_all(struct ggas_device *dev)
{
	struct ggas_file *f;

	list_for_each_entry(f, &dev->files, list)
		file_revoke(f);
}

static int handle_new(struct ggas_file *f, struct ggas_object *o, u32 *handle)
{
	int h = idr_alloc(&f->objects, o, 1, OBJECTS, GFP_KERNEL_ACCOUNT);

	if (h < 0)
		return h;
	*handle = h;
	return 0;
}

static struct ggas_domain *domain_of(struct ggas_file *f, u32 handle)
{
	struct ggas_object *o = idr_find(&f->objects, handle);

	return o && o->kind == GGAS_DOMAIN ? container_of(o, struct ggas_domain, object) : NULL;
}

/* ------------------------------------------------------------------------------------------- ioctls */

static int do_info(struct ggas_file *f, void *arg)
{
	struct ggas_info *p = arg;

	p->version = GGAS_ABI_VERSION;
	p->node = f->dev->number;
	p->nodes = f->dev->nodes;
	p->contexts = f->dev->contexts;
	p->clock_khz = ggas_hw_clock_khz(f->dev);
	p->link_up = ggas_hw_link_up(f->dev);
	p->window_bytes = f->dev->window_bytes;
	return 0;
}

static int do_domain(struct ggas_file *f, void *arg)
{
	struct ggas_domain_create *p = arg;
	struct ggas_domain *d;
	int rc;

	if (!ggas_domain_granted(f->dev, p->number))
		return -EPERM;
	d = ggas_domain_create(f->dev, p->number);
	if (IS_ERR(d))
		return PTR_ERR(d);
	rc = handle_new(f, &d->object, &p->handle);
	if (rc)
		ggas_domain_destroy(d);
	return rc;
}

static int do_context(struct ggas_file *f, void *arg)
{
	struct ggas_context_create *p = arg;
	struct ggas_domain *d = domain_of(f, p->domain);
	struct eventfd_ctx *eventfd = NULL;
	struct ggas_context *c;
	int rc;

	if (!d)
		return -ENOENT;
	if (p->eventfd >= 0) {
		eventfd = eventfd_ctx_fdget(p->eventfd);
		if (IS_ERR(eventfd))
			return PTR_ERR(eventfd);
	}
	c = ggas_context_create(f->dev, d, p, eventfd);
	if (IS_ERR(c))
		return PTR_ERR(c);
	rc = handle_new(f, &c->object, &p->handle);
	if (rc)
		ggas_context_destroy(f->dev, c);
	return rc;
}

static int do_window(struct ggas_file *f, void *arg)
{
	struct ggas_window_create *p = arg;
	struct ggas_domain *d = domain_of(f, p->domain);
	struct ggas_window *w;
	int rc;

	if (!d)
		return -ENOENT;
	w = ggas_window_create(f->dev, d, p);
	if (IS_ERR(w))
		return PTR_ERR(w);
	rc = handle_new(f, &w->object, &p->handle);
	if (rc)
		ggas_window_destroy(f->dev, w);
	return rc;
}

static int region_under_lock(struct ggas_file *f, struct ggas_region *r, struct ggas_region_create *p)
{
	struct ggas_domain *d = domain_of(f, p->domain);
	int rc;

	if (f->revoked)
		return -ENODEV;
	if (!d)
		return -ENOENT;
	rc = ggas_region_create(f->dev, r, d, p);
	if (rc)
		return rc;
	rc = handle_new(f, &r->object, &p->handle);
	if (rc)
		ggas_region_withdraw(f->dev, r);
	return rc;
}

static int do_region(struct ggas_file *f, struct ggas_region_create *p)
{
	struct ggas_region *r = ggas_region_pin(p);
	int rc;

	if (IS_ERR(r))
		return PTR_ERR(r);
	mutex_lock(&f->dev->lock);
	rc = region_under_lock(f, r, p);
	mutex_unlock(&f->dev->lock);
	if (rc)
		ggas_region_unpin(r);
	return rc;
}

static int do_destroy(struct ggas_file *f, struct ggas_destroy *p)
{
	struct ggas_region *unpin = NULL;
	struct ggas_object *o;
	int rc = 0;

	mutex_lock(&f->dev->lock);
	o = idr_find(&f->objects, p->handle);
	if (!o)
		rc = -ENOENT;
	else if (o->kind == GGAS_DOMAIN && container_of(o, struct ggas_domain, object)->users)
		rc = -EBUSY;
	else
		idr_remove(&f->objects, p->handle);
	if (!rc)
		unpin = object_end(f->dev, o);
	mutex_unlock(&f->dev->lock);
	if (unpin)
		ggas_region_unpin(unpin);
	return rc;
}

union ggas_arg {
	u32 size;
	struct ggas_info info;
	struct ggas_domain_create domain;
	struct ggas_context_create context;
	struct ggas_region_create region;
	struct ggas_window_create window;
	struct ggas_destroy destroy;
};

static int dispatch(struct ggas_file *f, unsigned int nr, union ggas_arg *arg)
{
	int (*const locked[])(struct ggas_file *, void *) = {
		[_IOC_NR(GGAS_IOC_INFO)] = do_info,
		[_IOC_NR(GGAS_IOC_DOMAIN_CREATE)] = do_domain,
		[_IOC_NR(GGAS_IOC_CONTEXT_CREATE)] = do_context,
		[_IOC_NR(GGAS_IOC_WINDOW_CREATE)] = do_window,
	};
	int rc;

	if (nr == _IOC_NR(GGAS_IOC_REGION_CREATE))
		return do_region(f, &arg->region);
	if (nr == _IOC_NR(GGAS_IOC_DESTROY))
		return do_destroy(f, &arg->destroy);
	if (nr >= ARRAY_SIZE(locked) || !locked[nr])
		return -ENOTTY;
	mutex_lock(&f->dev->lock);
	rc = f->revoked ? -ENODEV : locked[nr](f, arg);
	mutex_unlock(&f->dev->lock);
	return rc;
}

static long ggas_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	static const u32 sizes[] = {
		[_IOC_NR(GGAS_IOC_INFO)] = sizeof(struct ggas_info),
		[_IOC_NR(GGAS_IOC_DOMAIN_CREATE)] = sizeof(struct ggas_domain_create),
		[_IOC_NR(GGAS_IOC_CONTEXT_CREATE)] = sizeof(struct ggas_context_create),
		[_IOC_NR(GGAS_IOC_REGION_CREATE)] = sizeof(struct ggas_region_create),
		[_IOC_NR(GGAS_IOC_WINDOW_CREATE)] = sizeof(struct ggas_window_create),
		[_IOC_NR(GGAS_IOC_DESTROY)] = sizeof(struct ggas_destroy),
	};
	unsigned int nr = _IOC_NR(cmd);
	void __user *from = (void __user *)user;
	union ggas_arg arg = {};
	u32 size;
	int rc;

	if (_IOC_TYPE(cmd) != 'g' || nr >= ARRAY_SIZE(sizes))
		return -ENOTTY;
	/* The size in the structure counts: that in the command is of the version it was compiled with. */
	if (get_user(size, (u32 __user *)from))
		return -EFAULT;
	if (size < sizeof(u32) * 2 || size > PAGE_SIZE)
		return -EINVAL;
	rc = copy_struct_from_user(&arg, sizes[nr], from, size);
	if (rc)
		return rc;
	rc = dispatch(file->private_data, nr, &arg);
	if (rc)
		return rc;
	return copy_to_user(from, &arg, min(size, sizes[nr])) ? -EFAULT : 0;
}

/* ------------------------------------------------------------------------------------------- mappings */

static const struct vm_operations_struct ggas_vm_ops = {};	/* no fault handler: what was taken back faults */

static int map_page(struct ggas_device *dev, struct vm_area_struct *vma, u32 vpid, bool slots)
{
	phys_addr_t at = dev->pages_phys + ((u64)(2 * vpid + slots) << dev->page_shift);

	if (vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	vma->vm_page_prot = slots ? pgprot_writecombine(vma->vm_page_prot) : pgprot_noncached(vma->vm_page_prot);
	return io_remap_pfn_range(vma, vma->vm_start, at >> PAGE_SHIFT, PAGE_SIZE, vma->vm_page_prot);
}

static int map_memory(struct ggas_device *dev, struct vm_area_struct *vma, void *at, dma_addr_t bus, size_t bytes)
{
	unsigned long pgoff = vma->vm_pgoff;
	int rc;

	if (vma->vm_end - vma->vm_start > bytes)
		return -EINVAL;
	vma->vm_pgoff = 0;	/* dma_mmap_coherent() takes it for an offset in the memory */
	rc = dma_mmap_coherent(&dev->pci->dev, vma, at, bus, bytes);
	vma->vm_pgoff = pgoff;
	return rc;
}

static int map_window(struct ggas_device *dev, struct vm_area_struct *vma)
{
	u64 bytes = vma->vm_end - vma->vm_start;

	if (bytes > dev->window->bytes * dev->nodes)
		return -EINVAL;
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	return io_remap_pfn_range(vma, vma->vm_start, dev->window_phys >> PAGE_SHIFT, bytes, vma->vm_page_prot);
}

static bool owns(struct ggas_file *f, const struct ggas_object *wanted)
{
	struct ggas_object *o;
	int handle;

	idr_for_each_entry(&f->objects, o, handle)
		if (o == wanted)
			return true;
	return false;
}

static int map_under_lock(struct ggas_file *f, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u32 what = offset >> GGAS_MAP_SHIFT, vpid = offset >> 32 & (BIT(GGAS_MAP_SHIFT - 32) - 1);
	struct ggas_device *dev = f->dev;
	struct ggas_context *c;

	if (f->revoked)
		return -ENODEV;
	if ((u32)offset || vpid >= GGAS_CONTEXTS)
		return -EINVAL;
	if (what == GGAS_MAP_SEGMENT || what == GGAS_MAP_WINDOW) {
		if (vpid || !dev->window || !owns(f, &dev->window->object))
			return -EACCES;
		return what == GGAS_MAP_WINDOW ? map_window(dev, vma) :
			map_memory(dev, vma, dev->window->segment, dev->window->segment_bus, dev->window->bytes);
	}
	c = dev->by_vpid[vpid];
	if (!c || !owns(f, &c->object))
		return -EACCES;
	switch (what) {
	case GGAS_MAP_DOORBELLS:
	case GGAS_MAP_SLOTS:
		return map_page(dev, vma, vpid, what == GGAS_MAP_SLOTS);
	case GGAS_MAP_RINGS:
		return map_memory(dev, vma, c->rings, c->rings_bus, c->rings_bytes);
	}
	return -EINVAL;
}

static int ggas_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ggas_file *f = file->private_data;
	int rc;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vma->vm_ops = &ggas_vm_ops;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags |= VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP;	/* a child has no use of its parent's context */
#else
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
#endif
	mutex_lock(&f->dev->lock);
	rc = map_under_lock(f, vma);
	mutex_unlock(&f->dev->lock);
	return rc;
}

/* ------------------------------------------------------------------------------------------- files */

static struct ggas_device *device_get(int minor)
{
	struct ggas_device *dev;

	mutex_lock(&devices_lock);
	dev = idr_find(&devices, minor);
	if (dev)
		kref_get(&dev->users);
	mutex_unlock(&devices_lock);
	return dev;
}

static int ggas_open(struct inode *inode, struct file *file)
{
	struct ggas_device *dev = device_get(iminor(inode));
	struct ggas_file *f;

	if (!dev)
		return -ENODEV;
	f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	if (!f) {
		ggas_device_put(dev);
		return -ENOMEM;
	}
	f->dev = dev;
	idr_init(&f->objects);
	mutex_lock(&dev->lock);
	if (!dev->live) {
		mutex_unlock(&dev->lock);
		kfree(f);
		ggas_device_put(dev);
		return -ENODEV;
	}
	/* Whichever node in the file system it was opened by: one address space, so that mappings can be taken back. */
	if (!dev->mapping) {
		ihold(inode);
		dev->inode = inode;
		dev->mapping = inode->i_mapping;
	}
	file->f_mapping = dev->mapping;
	list_add(&f->list, &dev->files);
	mutex_unlock(&dev->lock);
	file->private_data = f;
	return 0;
}

static int ggas_release(struct inode *inode, struct file *file)
{
	struct ggas_file *f = file->private_data;
	struct ggas_device *dev = f->dev;
	struct ggas_object *o;
	int handle;

	mutex_lock(&dev->lock);
	list_del(&f->list);
	if (!f->revoked)
		file_revoke(f);
	mutex_unlock(&dev->lock);
	/* Left are pins, and domains. */
	idr_for_each_entry(&f->objects, o, handle)
		if (o->kind == GGAS_REGION)
			ggas_region_unpin(container_of(o, struct ggas_region, object));
		else
			ggas_domain_destroy(container_of(o, struct ggas_domain, object));
	idr_destroy(&f->objects);
	kfree(f);
	ggas_device_put(dev);
	return 0;
}

static const struct file_operations ggas_fops = {
	.owner = THIS_MODULE,
	.open = ggas_open,
	.release = ggas_release,
	.unlocked_ioctl = ggas_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = ggas_mmap,
	.llseek = noop_llseek,
};

static ssize_t grant_store(struct device *node, struct device_attribute *attr, const char *text, size_t bytes)
{
	struct ggas_device *dev = dev_get_drvdata(node);
	unsigned int number, uid;
	int rc;

	if (sscanf(text, "%u %u", &number, &uid) != 2)
		return -EINVAL;
	rc = ggas_domain_grant(dev, number, make_kuid(current_user_ns(), uid));
	return rc ? rc : bytes;
}
static DEVICE_ATTR_WO(grant);

static struct attribute *ggas_attrs[] = { &dev_attr_grant.attr, NULL };
ATTRIBUTE_GROUPS(ggas);

static void forget(struct ggas_device *dev)
{
	mutex_lock(&devices_lock);
	idr_remove(&devices, dev->minor);
	mutex_unlock(&devices_lock);
}

int ggas_file_add(struct ggas_device *dev)
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
	if (!IS_ERR(node))
		return 0;
	rc = PTR_ERR(node);
del:
	cdev_del(dev->cdev);
forget:
	forget(dev);
	return rc;
}

void ggas_file_remove(struct ggas_device *dev)
{
	device_destroy(ggas_class, first_dev + dev->minor);
	cdev_del(dev->cdev);
	forget(dev);
}

int ggas_file_init(void)
{
	int rc = alloc_chrdev_region(&first_dev, 0, MINORS, "ggas");

	if (rc)
		return rc;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	ggas_class = class_create(THIS_MODULE, "ggas");
#else
	ggas_class = class_create("ggas");
#endif
	if (!IS_ERR(ggas_class))
		return 0;
	unregister_chrdev_region(first_dev, MINORS);
	return PTR_ERR(ggas_class);
}

void ggas_file_exit(void)
{
	class_destroy(ggas_class);
	unregister_chrdev_region(first_dev, MINORS);
	idr_destroy(&devices);
}
