// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The ioctls of /dev/ggasN: an object each (include/uapi/ggas.h). */
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "ggas.h"

static struct ggas_domain *domain_of(struct ggas_file *f, u32 handle)
{
	struct ggas_object *o = idr_find(&f->objects, handle);

	return o && o->kind == GGAS_DOMAIN ? container_of(o, struct ggas_domain, object) : NULL;
}

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

	if (p->pad)
		return -EINVAL;
	if (!ggas_domain_granted(f->dev, p->number))
		return -EPERM;
	d = ggas_domain_create(f->dev, p->number);
	if (IS_ERR(d))
		return PTR_ERR(d);
	rc = ggas_file_handle(f, &d->object, &p->handle);
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
	rc = ggas_file_handle(f, &c->object, &p->handle);
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

	if (p->pad)
		return -EINVAL;
	if (!d)
		return -ENOENT;
	w = ggas_window_create(f->dev, d, p);
	if (IS_ERR(w))
		return PTR_ERR(w);
	rc = ggas_file_handle(f, &w->object, &p->handle);
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
	rc = ggas_region_create(r, d, p);
	return rc ? rc : ggas_file_handle(f, &r->object, &p->handle);
}

static int add_region(struct ggas_file *f, struct ggas_region *r, struct ggas_region_create *p)
{
	LIST_HEAD(released);
	int rc;

	ggas_dmabuf_lock(r);
	rc = ggas_dmabuf_map(r);
	mutex_lock(&f->dev->lock);
	if (!rc)
		rc = region_under_lock(f, r, p);
	if (rc)
		ggas_region_withdraw(r, &released);
	mutex_unlock(&f->dev->lock);
	ggas_dmabuf_unlock(r);
	ggas_region_release(f->dev, &released);
	return rc;
}

/* Called without the lock. A NIC that is removed waits until no region has to do with it. */
static int do_region(struct ggas_file *f, struct ggas_region_create *p)
{
	struct ggas_device *dev = f->dev;
	struct ggas_region *r;
	bool revoked;

	mutex_lock(&dev->lock);
	revoked = f->revoked;
	if (!revoked)
		atomic_inc(&dev->regions);
	mutex_unlock(&dev->lock);
	if (revoked)
		return -ENODEV;
	r = ggas_region_new(dev, p);
	if (!IS_ERR(r))
		return add_region(f, r, p);
	ggas_region_gone(dev);
	return PTR_ERR(r);
}

static int do_destroy(struct ggas_file *f, struct ggas_destroy *p)
{
	struct ggas_object *o;
	LIST_HEAD(released);
	int rc = 0;

	mutex_lock(&f->dev->lock);
	o = idr_find(&f->objects, p->handle);
	if (!o) {
		rc = -ENOENT;
	} else if (o->kind == GGAS_DOMAIN && container_of(o, struct ggas_domain, object)->users) {
		rc = -EBUSY;
	} else {
		idr_remove(&f->objects, p->handle);
		ggas_object_end(f->dev, o, &released);
	}
	mutex_unlock(&f->dev->lock);
	ggas_region_release(f->dev, &released);
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
	/* Of version 1: who makes something has room for its handle. */
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

	if (_IOC_TYPE(cmd) != 'g' || _IOC_DIR(cmd) != (_IOC_READ | _IOC_WRITE) || nr >= ARRAY_SIZE(sizes))
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
		do_destroy(f, &(struct ggas_destroy){ .handle = made(nr, &arg) });
	return -EFAULT;
}
