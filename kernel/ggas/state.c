// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * When users may have the NIC. Reset, errors, suspension, removal and a NIC that is gone all take it from them in the
 * same way: every file loses what it has, the NIC stops, and files are opened again afterwards.
 *
 * Calls that have to do with the NIC count as `busy`, so it is not taken away under them. None of them waits for a
 * user: his pages are pinned before the call is counted.
 */
#include <linux/pci.h>

#include "ggas.h"

#define LOOK	HZ	/* whether the NIC is there */
#define RETRAIN	(HZ / 10)

int ggas_enter(struct ggas_device *dev)
{
	int rc = -ENODEV;

	mutex_lock(&dev->lock);
	if (dev->live && !ggas_hw_dead(dev)) {
		atomic_inc(&dev->busy);
		rc = 0;
	}
	mutex_unlock(&dev->lock);
	return rc;
}

void ggas_leave(struct ggas_device *dev)
{
	if (atomic_dec_and_test(&dev->busy))
		wake_up(&dev->idle);
}

static void set_live(struct ggas_device *dev, bool live, struct list_head *ended)
{
	mutex_lock(&dev->lock);
	dev->live = live;
	if (!live)
		ggas_file_revoke_all(dev, ended);
	mutex_unlock(&dev->lock);
}

static int bring_up(struct ggas_device *dev)
{
	int rc;

	dev->silent = 0;
	clear_bit(0, &dev->dead);
	pci_set_master(dev->pci);
	/* What a reset of the slot takes away, ggas_slot_reset() brings back. Each restoration uses it up. */
	pci_save_state(dev->pci);
	rc = ggas_table_init(dev);
	if (rc)
		return rc;
	rc = ggas_hw_start(dev);
	if (rc) {
		ggas_table_exit(dev);
		return rc;
	}
	set_live(dev, true, NULL);
	mod_delayed_work(system_wq, &dev->look_work, 0);
	return 0;
}

/* From reset on: registers, table, link. */
int ggas_bring_up(struct ggas_device *dev)
{
	int rc;

	mutex_lock(&dev->state);
	rc = dev->live ? 0 : bring_up(dev);
	mutex_unlock(&dev->state);
	return rc;
}

static void take_down(struct ggas_device *dev)
{
	LIST_HEAD(ended);

	if (!dev->live)
		return;
	set_live(dev, false, &ended);
	ggas_objects_end(dev, &ended);
	wait_event(dev->idle, !atomic_read(&dev->busy));
	ggas_hw_stop(dev);
	ggas_irq_wait(dev);
	ggas_table_exit(dev);
}

/* Nothing of any file is left, and the NIC reaches no memory, when this returns. */
void ggas_take_down(struct ggas_device *dev)
{
	mutex_lock(&dev->state);
	take_down(dev);
	mutex_unlock(&dev->state);
}

/*
 * A link whose other side began again is dead until this side begins again, too. The link is checked until it is up.
 * A NIC that is gone informs no one, so the driver reads it each second, and informs its users.
 */
void ggas_look(struct work_struct *work)
{
	struct ggas_device *dev = container_of(to_delayed_work(work), struct ggas_device, look_work);
	unsigned long next = LOOK;

	/* Who has the state may wait for this work. */
	if (!mutex_trylock(&dev->state)) {
		mod_delayed_work(system_wq, &dev->look_work, RETRAIN);
		return;
	}
	if (dev->live && !ggas_hw_there(dev)) {
		dev_err(&dev->pci->dev, "is gone: does not answer any more\n");
		take_down(dev);
	} else if (dev->live) {
		if (dev->nodes > 1 && !ggas_hw_link_up(dev)) {
			ggas_hw_link_retrain(dev);
			next = RETRAIN;
		}
		mod_delayed_work(system_wq, &dev->look_work, next);
	}
	mutex_unlock(&dev->state);
}
