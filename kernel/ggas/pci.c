// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The NIC on the bus: probe, removal, reset, errors. Whatever ends the NIC's work ends what files own first; they are
 * opened again afterwards.
 */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "ggas.h"

static char *node = "0";
module_param(node, charp, 0444);
MODULE_PARM_DESC(node, "number of this node on the network; of several NICs each: node=0000:01:00.0=0,0000:02:00.0=1");
static unsigned int nodes = 1;
module_param(nodes, uint, 0444);
MODULE_PARM_DESC(nodes, "nodes of the network: 1, or 2 as long as the NIC has one link");

/* The number in `node` for this NIC; a negative errno: none, or no number. */
static int number_of(struct pci_dev *pci)
{
	const char *name = pci_name(pci), *at = node;
	size_t length = strlen(name);
	int number;

	if (strchr(node, '=')) {
		while (strncmp(at, name, length) || at[length] != '=') {
			at = strchr(at, ',');
			if (!at++)
				return -ENOENT;
		}
		at += length + 1;
	}
	return sscanf(at, "%d", &number) == 1 ? number : -EINVAL;
}

static int map_bars(struct ggas_device *dev)
{
	static const int bars[] = { 0, 2, 4 };
	int rc, i;

	for (i = 0; i < ARRAY_SIZE(bars); i++) {
		rc = pci_request_region(dev->pci, bars[i], "ggas");
		if (rc)
			goto release;
	}
	dev->regs = pci_iomap(dev->pci, 0, 0);
	dev->window_phys = pci_resource_start(dev->pci, 2);
	dev->window_bytes = pci_resource_len(dev->pci, 2);
	dev->pages_phys = pci_resource_start(dev->pci, 4);
	dev->window_space.name = "ggas windows";
	dev->window_space.end = dev->window_bytes - 1;
	if (dev->regs)
		return 0;
	rc = -ENOMEM;
release:
	while (i--)
		pci_release_region(dev->pci, bars[i]);
	return rc;
}

/* Where BAR4 holds it depends on what the NIC says of itself. */
static int map_own_page(struct ggas_device *dev)
{
	dev->own_page = ioremap(ggas_page_phys(dev, dev->contexts, false), PAGE_SIZE);
	return dev->own_page ? 0 : -ENOMEM;
}

static void unmap_bars(struct ggas_device *dev)
{
	if (dev->own_page)
		iounmap(dev->own_page);
	pci_iounmap(dev->pci, dev->regs);
	pci_release_region(dev->pci, 4);
	pci_release_region(dev->pci, 2);
	pci_release_region(dev->pci, 0);
}

/*
 * Settings that the NIC got before this driver owns it come from a kernel that has ended (kexec, kdump) or from
 * another driver: contexts and exports point to memory that has another owner by now. So the NIC discards all of
 * them before it may reach memory.
 */
static int forget_former_owner(struct pci_dev *pci)
{
	int rc;

	pci_clear_master(pci);
	pci_save_state(pci);
	rc = __pci_reset_function_locked(pci);
	pci_restore_state(pci);
	if (rc)
		dev_err(&pci->dev, "cannot be reset (%d), and may still write to memory of a former kernel\n", rc);
	return rc;
}

static struct ggas_device *device_new(struct pci_dev *pci, u32 number)
{
	struct ggas_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return NULL;
	kref_init(&dev->users);
	mutex_init(&dev->state);
	mutex_init(&dev->lock);
	mutex_init(&dev->atu);
	/* lockdep learns that it is taken while memory is reclaimed. */
	fs_reclaim_acquire(GFP_KERNEL);
	might_lock(&dev->atu);
	fs_reclaim_release(GFP_KERNEL);
	spin_lock_init(&dev->by_vpid_lock);
	init_waitqueue_head(&dev->idle);
	INIT_LIST_HEAD(&dev->files);
	INIT_LIST_HEAD(&dev->grants);
	INIT_LIST_HEAD(&dev->users_of);
	dev->pci = pci_dev_get(pci);
	dev->number = number;
	dev->nodes = nodes;
	return dev;
}

static int ggas_probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct ggas_device *dev;
	int number = number_of(pci), rc;

	if (nodes < 1 || nodes > 2 || number < 0 || number >= nodes) {
		dev_err(&pci->dev, "node=%s nodes=%u: nodes is 1 or 2, node names this NIC and is below it\n", node,
			nodes);
		return -EINVAL;
	}
	dev = device_new(pci, number);
	if (!dev)
		return -ENOMEM;
	pci_set_drvdata(pci, dev);
	rc = ggas_device_make_inode(dev);
	if (!rc)
		rc = pci_enable_device_mem(pci);
	if (rc)
		goto put;
	rc = forget_former_owner(pci);
	if (rc)
		goto disable;
	rc = dma_set_mask_and_coherent(&pci->dev, DMA_BIT_MASK(64));
	if (!rc) {
		/* The table has an entry for each page: a segment may be as long as it likes. */
		dma_set_max_seg_size(&pci->dev, UINT_MAX);
		rc = map_bars(dev);
	}
	if (rc)
		goto disable;
	rc = ggas_hw_identify(dev);
	if (!rc)
		rc = map_own_page(dev);
	if (!rc)
		rc = ggas_irq_init(dev);
	if (rc)
		goto unmap;
	ggas_quota_init(dev);
	rc = ggas_bring_up(dev);
	if (rc)
		goto free_irqs;
	rc = ggas_chardev_add(dev);
	if (rc)
		goto stop;
	rc = ggas_verbs_add(dev);
	if (rc)
		goto remove_node;
	dev_info(&pci->dev, "ggas%d: node %u of %u\n", dev->minor, dev->number, dev->nodes);
	return 0;

remove_node:
	ggas_chardev_remove(dev);
stop:
	ggas_take_down(dev);
free_irqs:
	ggas_irq_exit(dev);
unmap:
	unmap_bars(dev);
disable:
	pci_clear_master(pci);
	pci_disable_device(pci);
put:
	ggas_device_put(dev);
	return rc;
}

static void ggas_remove(struct pci_dev *pci)
{
	struct ggas_device *dev = pci_get_drvdata(pci);

	ggas_verbs_remove(dev);
	ggas_chardev_remove(dev);
	ggas_take_down(dev);
	ggas_irq_exit(dev);
	unmap_bars(dev);
	pci_clear_master(pci);
	pci_disable_device(pci);
	ggas_device_put(dev);
}

/* The next kernel's memory is not ours: nothing reaches it when this returns. Files stay open, and own nothing. */
static void ggas_shutdown(struct pci_dev *pci)
{
	ggas_take_down(pci_get_drvdata(pci));
	pci_clear_master(pci);
	pci_disable_device(pci);
}

static void ggas_reset_prepare(struct pci_dev *pci)
{
	ggas_take_down(pci_get_drvdata(pci));
}

static void ggas_reset_done(struct pci_dev *pci)
{
	if (ggas_bring_up(pci_get_drvdata(pci)))
		dev_err(&pci->dev, "cannot be set up after a reset\n");
}

/* As a function-level reset: its power may be gone meanwhile, and what it knew with it. */
static int __maybe_unused ggas_suspend(struct device *d)
{
	ggas_take_down(dev_get_drvdata(d));
	return 0;
}

static int __maybe_unused ggas_resume(struct device *d)
{
	int rc = forget_former_owner(to_pci_dev(d));

	return rc ? rc : ggas_bring_up(dev_get_drvdata(d));
}

static const struct dev_pm_ops ggas_pm = {
	SET_SYSTEM_SLEEP_PM_OPS(ggas_suspend, ggas_resume)
};

/* Without a loss of the link the NIC needs no reset to be set up again: stopped it knows no one's memory. */
static pci_ers_result_t ggas_error_detected(struct pci_dev *pci, pci_channel_state_t state)
{
	ggas_reset_prepare(pci);
	switch (state) {
	case pci_channel_io_normal:
		return PCI_ERS_RESULT_CAN_RECOVER;
	case pci_channel_io_perm_failure:
		return PCI_ERS_RESULT_DISCONNECT;
	default:
		return PCI_ERS_RESULT_NEED_RESET;
	}
}

/* One that did not stop was cut off from the bus. */
static pci_ers_result_t ggas_mmio_enabled(struct pci_dev *pci)
{
	bool stopped = pci->is_busmaster && ggas_hw_there(pci_get_drvdata(pci));

	return stopped ? PCI_ERS_RESULT_RECOVERED : PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t ggas_slot_reset(struct pci_dev *pci)
{
	pci_restore_state(pci);
	return PCI_ERS_RESULT_RECOVERED;
}

static const struct pci_error_handlers ggas_errors = {
	.error_detected = ggas_error_detected,
	.mmio_enabled = ggas_mmio_enabled,
	.slot_reset = ggas_slot_reset,
	.resume = ggas_reset_done,
	.reset_prepare = ggas_reset_prepare,
	.reset_done = ggas_reset_done,
};

static const struct pci_device_id ggas_ids[] = {
	{ PCI_DEVICE(GGAS_PCI_VENDOR, GGAS_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, ggas_ids);

static struct pci_driver ggas_driver = {
	.name = "ggas",
	.id_table = ggas_ids,
	.probe = ggas_probe,
	.remove = ggas_remove,
	.shutdown = ggas_shutdown,
	.err_handler = &ggas_errors,
	.driver.pm = &ggas_pm,
};

static int __init ggas_init(void)
{
	int rc = ggas_chardev_init();

	if (rc)
		return rc;
	rc = pci_register_driver(&ggas_driver);
	if (rc)
		ggas_chardev_exit();
	return rc;
}

static void __exit ggas_exit(void)
{
	pci_unregister_driver(&ggas_driver);
	ggas_chardev_exit();
}

module_init(ggas_init);
module_exit(ggas_exit);
MODULE_DESCRIPTION("GGAS: one global address space for the GPUs of a cluster");
MODULE_LICENSE("Dual MIT/GPL");
