// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Attributes of /sys/class/ggas/ggasN: what the administrator grants, and what is in use. */
#include <linux/bitmap.h>
#include <linux/device.h>
#include <linux/sysfs.h>

#include "ggas.h"

/* "NUMBER UID", and what is to be done with both. */
static ssize_t store(struct device *node, const char *text, size_t bytes,
		     int (*what)(struct ggas_device *dev, u32 number, kuid_t user))
{
	u32 number, uid;
	char word[2][12];
	int rc, read = 0;

	/* sscanf() of numbers lets high bits pass. */
	if (sscanf(text, "%11s %11s %n", word[0], word[1], &read) != 2 || text[read])
		return -EINVAL;
	rc = kstrtou32(word[0], 10, &number);
	if (!rc)
		rc = kstrtou32(word[1], 10, &uid);
	if (!rc)
		rc = what(dev_get_drvdata(node), number, make_kuid(current_user_ns(), uid));
	return rc ? rc : bytes;
}

static ssize_t grant_store(struct device *node, struct device_attribute *attr, const char *text, size_t bytes)
{
	return store(node, text, bytes, ggas_domain_grant);
}
static DEVICE_ATTR_WO(grant);

static ssize_t revoke_store(struct device *node, struct device_attribute *attr, const char *text, size_t bytes)
{
	return store(node, text, bytes, ggas_domain_revoke);
}
static DEVICE_ATTR_WO(revoke);

static ssize_t contexts_show(struct device *node, struct device_attribute *attr, char *text)
{
	struct ggas_device *dev = dev_get_drvdata(node);
	u32 used = 0, v;

	mutex_lock(&dev->lock);
	for (v = 0; v < dev->contexts; v++)
		used += !!dev->by_vpid[v];
	mutex_unlock(&dev->lock);
	return sysfs_emit(text, "%u\n", used);
}
static DEVICE_ATTR_RO(contexts);

static ssize_t windows_show(struct device *node, struct device_attribute *attr, char *text)
{
	struct ggas_device *dev = dev_get_drvdata(node);
	u32 used = 0, e;

	mutex_lock(&dev->lock);
	for (e = 0; e < GGAS_EXPORTS; e++)
		used += !!dev->by_export[e];
	mutex_unlock(&dev->lock);
	return sysfs_emit(text, "%u\n", used);
}
static DEVICE_ATTR_RO(windows);

static ssize_t regions_show(struct device *node, struct device_attribute *attr, char *text)
{
	struct ggas_device *dev = dev_get_drvdata(node);

	return sysfs_emit(text, "%d\n", atomic_read(&dev->regions));
}
static DEVICE_ATTR_RO(regions);

static ssize_t pages_show(struct device *node, struct device_attribute *attr, char *text)
{
	struct ggas_device *dev = dev_get_drvdata(node);
	u32 used;

	mutex_lock(&dev->lock);
	used = ggas_table_used(dev);
	mutex_unlock(&dev->lock);
	return sysfs_emit(text, "%u\n", used);
}
static DEVICE_ATTR_RO(pages);

/* What one user may have, in all his files together; `var` is the kind. */
static u32 *quota_of(struct device *node, struct device_attribute *attr)
{
	struct ggas_device *dev = dev_get_drvdata(node);

	return &dev->quota[(uintptr_t)container_of(attr, struct dev_ext_attribute, attr)->var];
}

static ssize_t quota_show(struct device *node, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%u\n", READ_ONCE(*quota_of(node, attr)));
}

static ssize_t quota_store(struct device *node, struct device_attribute *attr, const char *text, size_t bytes)
{
	u32 value;
	int rc = kstrtou32(text, 0, &value);

	if (rc)
		return rc;
	WRITE_ONCE(*quota_of(node, attr), value);
	return bytes;
}

#define QUOTA(name, kind) { __ATTR(name, 0644, quota_show, quota_store), (void *)(kind) }

static struct dev_ext_attribute user_contexts = QUOTA(user_contexts, GGAS_CONTEXT);
static struct dev_ext_attribute user_windows = QUOTA(user_windows, GGAS_WINDOW);
static struct dev_ext_attribute user_pages = QUOTA(user_pages, GGAS_REGION);

static struct attribute *attrs[] = {
	&dev_attr_grant.attr,
	&dev_attr_revoke.attr,
	&dev_attr_contexts.attr,
	&dev_attr_windows.attr,
	&dev_attr_regions.attr,
	&dev_attr_pages.attr,
	&user_contexts.attr.attr,
	&user_windows.attr.attr,
	&user_pages.attr.attr,
	NULL
};

static const struct attribute_group group = { .attrs = attrs };
const struct attribute_group *ggas_groups[] = { &group, NULL };
