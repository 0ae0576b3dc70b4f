// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The interface by which NVIDIA's driver gives out memory (nv-p2p.h), over memory of the test GPU: kernel/gpumap finds
 * it as it would find the vendor's. What its owner frees is taken from who has its pages, before others get the memory.
 * As there, one lock is held by every function and over the callback, and a page table is freed after the callback.
 */
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "nv-p2p.h"
#include "testgpu.h"

#define PAGE_BYTES	65536
#define IDLE_MS		10	/* the lock is held until the GPU is idle */

struct table {
	struct nvidia_p2p_page_table pt;
	struct list_head list;
	u64 address;
	void (*callback)(void *data);
	void *data;
};

static LIST_HEAD(tables);
static DEFINE_MUTEX(vendor_lock);

static void table_free(struct table *t)
{
	kfree(t->pt.pages[0]);
	kfree(t->pt.pages);
	kfree(t);
}

static struct table *table_new(phys_addr_t at, u32 entries)
{
	struct nvidia_p2p_page *page = kcalloc(entries, sizeof(*page), GFP_KERNEL);
	struct table *t = kzalloc(sizeof(*t), GFP_KERNEL);
	u32 i;

	if (t)
		t->pt.pages = kcalloc(entries, sizeof(*t->pt.pages), GFP_KERNEL);
	if (!t || !page || !t->pt.pages) {
		if (t)
			kfree(t->pt.pages);
		kfree(page);
		kfree(t);
		return NULL;
	}
	t->pt.version = NVIDIA_P2P_PAGE_TABLE_VERSION;
	t->pt.page_size = NVIDIA_P2P_PAGE_SIZE_64KB;
	t->pt.entries = entries;
	for (i = 0; i < entries; i++) {
		t->pt.pages[i] = page + i;
		page[i].physical_address = at + (u64)i * PAGE_BYTES;
	}
	return t;
}

int nvidia_p2p_get_pages(u64 token, u32 space, u64 address, u64 length, struct nvidia_p2p_page_table **pt,
			 void (*callback)(void *data), void *data)
{
	struct table *t = NULL;
	int rc = -EINVAL;
	phys_addr_t at;

	if (address % PAGE_BYTES || length % PAGE_BYTES)
		return -EINVAL;
	mutex_lock(&vendor_lock);
	at = testgpu_device_memory(address, length);	/* who frees it from now on finds the table */
	if (!at)
		goto unlock;
	rc = -ENOMEM;
	t = table_new(at, length / PAGE_BYTES);
	if (!t)
		goto unlock;
	t->address = address;
	t->callback = callback;
	t->data = data;
	list_add(&t->list, &tables);
	*pt = &t->pt;
	rc = 0;
unlock:
	mutex_unlock(&vendor_lock);
	return rc;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_get_pages);

/* If the memory has been freed, or is being freed, nothing remains to be done once the lock is held. */
int nvidia_p2p_put_pages(u64 token, u32 space, u64 address, struct nvidia_p2p_page_table *pt)
{
	struct table *t, *next;

	mutex_lock(&vendor_lock);
	list_for_each_entry_safe(t, next, &tables, list) {
		if (&t->pt != pt)
			continue;
		list_del(&t->list);
		table_free(t);
	}
	mutex_unlock(&vendor_lock);
	return 0;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_put_pages);

int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *pt)
{
	return 0;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_free_page_table);

/* No one reaches the memory after it. */
void testgpu_tell_freed(u64 address, u64 bytes)
{
	struct table *t, *next;

	mutex_lock(&vendor_lock);
	list_for_each_entry_safe(t, next, &tables, list) {
		if (t->address < address || t->address >= address + bytes)
			continue;
		list_del(&t->list);
		msleep(IDLE_MS);
		t->callback(t->data);
		table_free(t);
	}
	mutex_unlock(&vendor_lock);
}
