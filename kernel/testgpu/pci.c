// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The device on the bus, and /dev/testgpu. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "testgpu.h"
#include "uapi/testgpu.h"

#define VENDOR_ID	0x1af4
#define DEVICE_ID	0x1110
#define BYTES_MAX	(64 << 20)

/* One GPU is all that the tests have. */
static struct testgpu *the_gpu;
static DEFINE_MUTEX(gpu_lock);

static void gpu_free(struct kref *users)
{
	struct testgpu *gpu = container_of(users, struct testgpu, users);

	testgpu_memory_exit(gpu);
	pci_dev_put(gpu->pci);
	kfree(gpu);
}

void testgpu_put(struct testgpu *gpu)
{
	kref_put(&gpu->users, gpu_free);
}

static struct testgpu *gpu_get(void)
{
	struct testgpu *gpu;

	mutex_lock(&gpu_lock);
	gpu = the_gpu;
	if (gpu)
		kref_get(&gpu->users);
	mutex_unlock(&gpu_lock);
	return gpu;
}

static int do_alloc(struct testgpu *gpu, struct testgpu_alloc *p)
{
	struct dma_buf *buffer;
	int fd;

	if (!p->bytes || !PAGE_ALIGNED(p->bytes) || p->bytes > BYTES_MAX)
		return -EINVAL;
	buffer = testgpu_buffer_new(gpu, p->bytes);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	fd = dma_buf_fd(buffer, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(buffer);
	p->fd = fd;
	return min(fd, 0);
}

static int with_buffer(int fd, int (*act)(struct dma_buf *buffer))
{
	struct dma_buf *buffer = dma_buf_get(fd);
	int rc = -EINVAL;

	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	if (testgpu_buffer_is(buffer))
		rc = act(buffer);
	dma_buf_put(buffer);
	return rc;
}

static long testgpu_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	union { struct testgpu_alloc alloc; struct testgpu_buffer buffer; struct testgpu_device device; } arg;
	void __user *from = (void __user *)user;
	struct testgpu *gpu;
	int rc;

	if (_IOC_SIZE(cmd) > sizeof(arg))
		return -ENOTTY;
	if (copy_from_user(&arg, from, _IOC_SIZE(cmd)))
		return -EFAULT;
	switch (cmd) {
	case TESTGPU_IOC_ALLOC:
		gpu = gpu_get();
		if (!gpu)
			return -ENODEV;
		rc = do_alloc(gpu, &arg.alloc);
		testgpu_put(gpu);
		return rc ? rc : copy_to_user(from, &arg, sizeof(arg.alloc)) ? -EFAULT : 0;
	case TESTGPU_IOC_DEVICE_ALLOC:
		gpu = gpu_get();
		if (!gpu)
			return -ENODEV;
		rc = arg.device.bytes && PAGE_ALIGNED(arg.device.bytes) && arg.device.bytes <= BYTES_MAX ?
			testgpu_device_alloc(gpu, arg.device.bytes, &arg.device.address) : -EINVAL;
		testgpu_put(gpu);
		return rc ? rc : copy_to_user(from, &arg, sizeof(arg.device)) ? -EFAULT : 0;
	case TESTGPU_IOC_DEVICE_FREE:
		return testgpu_device_free(arg.device.address);
	case TESTGPU_IOC_MOVE:
		return with_buffer(arg.buffer.fd, testgpu_buffer_move);
	case TESTGPU_IOC_REVOKE:
		return with_buffer(arg.buffer.fd, testgpu_buffer_revoke);
	}
	return -ENOTTY;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = testgpu_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice node = { .minor = MISC_DYNAMIC_MINOR, .name = "testgpu", .fops = &fops };

static int testgpu_probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct testgpu *gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	int rc;

	if (!gpu)
		return -ENOMEM;
	kref_init(&gpu->users);
	mutex_init(&gpu->lock);
	gpu->pci = pci_dev_get(pci);
	gpu->phys = pci_resource_start(pci, 2);
	rc = testgpu_memory_init(gpu);
	if (!rc)
		rc = pci_enable_device_mem(pci);
	if (rc)
		goto put;
	rc = pci_request_region(pci, 2, "testgpu");
	if (rc)
		goto disable;
	rc = -ENOMEM;
	gpu->bar = pci_iomap(pci, 2, 0);
	if (!gpu->bar)
		goto release;
	pci_set_drvdata(pci, gpu);
	mutex_lock(&gpu_lock);
	rc = the_gpu ? -EBUSY : 0;
	if (!rc)
		the_gpu = gpu;
	mutex_unlock(&gpu_lock);
	if (!rc)
		return 0;
	pci_iounmap(pci, gpu->bar);
release:
	pci_release_region(pci, 2);
disable:
	pci_disable_device(pci);
put:
	testgpu_put(gpu);
	return rc;
}

static void testgpu_remove(struct pci_dev *pci)
{
	struct testgpu *gpu = pci_get_drvdata(pci);
	void __iomem *bar = gpu->bar;

	mutex_lock(&gpu_lock);
	the_gpu = NULL;
	mutex_unlock(&gpu_lock);
	mutex_lock(&gpu->lock);
	gpu->bar = NULL;
	mutex_unlock(&gpu->lock);
	pci_iounmap(pci, bar);
	pci_release_region(pci, 2);
	pci_disable_device(pci);
	testgpu_put(gpu);
}

static const struct pci_device_id testgpu_ids[] = {
	{ PCI_DEVICE(VENDOR_ID, DEVICE_ID) },
	{ }
};
MODULE_DEVICE_TABLE(pci, testgpu_ids);

static struct pci_driver testgpu_driver = {
	.name = "testgpu",
	.id_table = testgpu_ids,
	.probe = testgpu_probe,
	.remove = testgpu_remove,
};

static int __init testgpu_init(void)
{
	int rc = testgpu_shrinker_init();

	if (rc)
		return rc;
	rc = pci_register_driver(&testgpu_driver);
	if (rc)
		goto exit_shrinker;
	rc = misc_register(&node);
	if (rc)
		goto unregister;
	return 0;

unregister:
	pci_unregister_driver(&testgpu_driver);
exit_shrinker:
	testgpu_shrinker_exit();
	return rc;
}

static void __exit testgpu_exit(void)
{
	misc_deregister(&node);
	testgpu_device_free_all();
	pci_unregister_driver(&testgpu_driver);
	testgpu_shrinker_exit();
}

module_init(testgpu_init);
module_exit(testgpu_exit);
MODULE_DESCRIPTION("A GPU for tests: memory of ivshmem-plain as dma-bufs that move");
MODULE_LICENSE("Dual MIT/GPL");
