// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Counters of the NIC, for people: /sys/kernel/debug/ggas/ggasN/counters. */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "ggas.h"

static struct dentry *root;

static int counters_show(struct seq_file *s, void *unused)
{
	struct ggas_device *dev = s->private;

	if (ggas_enter(dev))
		return 0;
	ggas_hw_counters(dev, s);
	ggas_leave(dev);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

void ggas_debugfs_add(struct ggas_device *dev)
{
	char name[16];

	snprintf(name, sizeof(name), "ggas%d", dev->minor);
	dev->debugfs = debugfs_create_dir(name, root);
	debugfs_create_file("counters", 0400, dev->debugfs, dev, &counters_fops);
}

/* No one reads it any more after this. */
void ggas_debugfs_remove(struct ggas_device *dev)
{
	debugfs_remove_recursive(dev->debugfs);
}

void ggas_debugfs_init(void)
{
	root = debugfs_create_dir("ggas", NULL);
}

void ggas_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
}
