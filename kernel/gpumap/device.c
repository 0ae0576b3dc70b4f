// SPDX-License-Identifier: GPL-2.0 OR MIT
/* /dev/gpumap. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "gpumap.h"
#include "uapi/gpumap.h"

static long gpumap_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	void __user *from = (void __user *)user;
	struct gpumap_export p;
	struct dma_buf *buffer;

	if (cmd != GPUMAP_IOC_EXPORT)
		return -ENOTTY;
	if (copy_from_user(&p, from, sizeof(p)))
		return -EFAULT;
	if (!p.bytes || p.address % GPUMAP_ALIGN || p.bytes % GPUMAP_ALIGN || p.address + p.bytes < p.address || p.pad)
		return -EINVAL;
	buffer = gpumap_buffer_new(p.address, p.bytes);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	p.fd = get_unused_fd_flags(O_CLOEXEC);
	if (p.fd < 0 || copy_to_user(from, &p, sizeof(p))) {
		if (p.fd >= 0)
			put_unused_fd(p.fd);
		dma_buf_put(buffer);
		return p.fd < 0 ? p.fd : -EFAULT;
	}
	fd_install(p.fd, buffer->file);
	return 0;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = gpumap_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice node = { .minor = MISC_DYNAMIC_MINOR, .name = "gpumap", .fops = &fops };
module_misc_device(node);
MODULE_DESCRIPTION("GGAS: memory of NVIDIA GPUs as dma-bufs");
MODULE_LICENSE("Dual MIT/GPL");
