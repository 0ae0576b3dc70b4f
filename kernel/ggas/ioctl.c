// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The ioctls of /dev/ggasN: an object each (include/uapi/ggas.h). */
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "ggas.h"

/* What the NIC is, but for `size`. The NIC has been entered. */
void ggas_info_get(struct ggas_device *dev, struct ggas_info *p)
{
	p->version = GGAS_ABI_VERSION;
	p->node = dev->number;
	p->nodes = dev->nodes;
	p->contexts = dev->contexts;
	p->clock_khz = dev->clock_khz;
	p->link_up = ggas_hw_link_up(dev);
	p->window_bytes = dev->window_bytes;
}

static int do_info(struct ggas_file *f, void *arg)
{
	ggas_info_get(f->dev, arg);
	return READ_ONCE(f->revoked) ? -ENODEV : 0;
}

static int do_domain(struct ggas_file *f, void *arg)
{
	struct ggas_domain_create *p = arg;
	struct ggas_domain *d;

	if (p->pad)
		return -EINVAL;
	if (!ggas_domain_granted(f->dev, p->number))
		return -EPERM;
	d = ggas_domain_new(p->number);
	return IS_ERR(d) ? PTR_ERR(d) : ggas_object_add(f, &d->object, 0, p, &p->handle);
}

static int do_context(struct ggas_file *f, void *arg)
{
	struct ggas_context_create *p = arg;
	struct ggas_context *c = ggas_context_new(f->dev, p);

	return IS_ERR(c) ? PTR_ERR(c) : ggas_object_add(f, &c->object, p->domain, p, &p->handle);
}

static int do_window(struct ggas_file *f, void *arg)
{
	struct ggas_window_create *p = arg;
	struct ggas_window *w;

	if (p->pad)
		return -EINVAL;
	w = ggas_window_new(f->dev, p);
	return IS_ERR(w) ? PTR_ERR(w) : ggas_object_add(f, &w->object, p->domain, p, &p->handle);
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
	int (*const entered[])(struct ggas_file *, void *) = {
		[_IOC_NR(GGAS_IOC_INFO)] = do_info,
		[_IOC_NR(GGAS_IOC_DOMAIN_CREATE)] = do_domain,
		[_IOC_NR(GGAS_IOC_CONTEXT_CREATE)] = do_context,
		[_IOC_NR(GGAS_IOC_WINDOW_CREATE)] = do_window,
	};
	int rc;

	if (nr == _IOC_NR(GGAS_IOC_REGION_CREATE))
		return ggas_region_add(f, &arg->region);
	if (nr == _IOC_NR(GGAS_IOC_DESTROY))
		return ggas_object_destroy(f, arg->destroy.handle);
	if (nr >= ARRAY_SIZE(entered) || !entered[nr])
		return -ENOTTY;
	rc = ggas_enter(f->dev);
	if (rc)
		return rc;
	rc = entered[nr](f, arg);
	ggas_leave(f->dev);
	return rc;
}

/* The handle of what a call has made; 0: it makes nothing. */
static u32 made(unsigned int nr, const union ggas_arg *arg)
{
	switch (nr) {
	case _IOC_NR(GGAS_IOC_DOMAIN_CREATE):
		return arg->domain.handle;
	case _IOC_NR(GGAS_IOC_CONTEXT_CREATE):
		return arg->context.handle;
	case _IOC_NR(GGAS_IOC_REGION_CREATE):
		return arg->region.handle;
	case _IOC_NR(GGAS_IOC_WINDOW_CREATE):
		return arg->window.handle;
	}
	return 0;
}

long ggas_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	static const u32 sizes[] = {
		[_IOC_NR(GGAS_IOC_INFO)] = sizeof(struct ggas_info),
		[_IOC_NR(GGAS_IOC_DOMAIN_CREATE)] = sizeof(struct ggas_domain_create),
		[_IOC_NR(GGAS_IOC_CONTEXT_CREATE)] = sizeof(struct ggas_context_create),
		[_IOC_NR(GGAS_IOC_REGION_CREATE)] = sizeof(struct ggas_region_create),
		[_IOC_NR(GGAS_IOC_WINDOW_CREATE)] = sizeof(struct ggas_window_create),
		[_IOC_NR(GGAS_IOC_DESTROY)] = sizeof(struct ggas_destroy),
	};
	/* Sizes of version 1: a caller that makes an object has room for its handle. */
	static const u32 first_sizes[] = {
		[_IOC_NR(GGAS_IOC_INFO)] = offsetofend(struct ggas_info, version),
		[_IOC_NR(GGAS_IOC_DOMAIN_CREATE)] = offsetofend(struct ggas_domain_create, handle),
		[_IOC_NR(GGAS_IOC_CONTEXT_CREATE)] = offsetofend(struct ggas_context_create, rings),
		[_IOC_NR(GGAS_IOC_REGION_CREATE)] = offsetofend(struct ggas_region_create, nla),
		[_IOC_NR(GGAS_IOC_WINDOW_CREATE)] = offsetofend(struct ggas_window_create, handle),
		[_IOC_NR(GGAS_IOC_DESTROY)] = sizeof(struct ggas_destroy),
	};
	unsigned int nr = _IOC_NR(cmd);
	void __user *from = (void __user *)user;
	struct ggas_file *f = file->private_data;
	union ggas_arg arg = {};
	u32 size;
	int rc;

	if (_IOC_TYPE(cmd) != GGAS_IOC_TYPE || _IOC_DIR(cmd) != (_IOC_READ | _IOC_WRITE) || nr >= ARRAY_SIZE(sizes))
		return -ENOTTY;
	/* The size in the structure counts: that in the command is of the version it was compiled with. */
	if (get_user(size, (u32 __user *)from))
		return -EFAULT;
	if (size < first_sizes[nr] || size > PAGE_SIZE)
		return -EINVAL;
	rc = copy_struct_from_user(&arg, sizes[nr], from, size);
	if (rc)
		return rc;
	rc = dispatch(f, nr, &arg);
	if (rc)
		return rc;
	if (!copy_to_user(from, &arg, min(size, sizes[nr])))
		return 0;
	/* No one knows what was made. */
	if (made(nr, &arg))
		ggas_object_destroy(f, made(nr, &arg));
	return -EFAULT;
}
