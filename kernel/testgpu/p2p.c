// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The interface by which NVIDIA's driver gives out memory (nv-p2p.h), over memory of the test GPU: kernel/gpumap finds
 * it as it would find the vendor's. What its owner frees is taken from who has its pages, before others get the memory.
 */
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "nv-p2p.h"
#include "testgpu.h"

#define PAGE_BYTES	65536

struct table {
	struct nvidia_p2p_page_table pt;
	struct kref users;		/* who asked for it, and testgpu_device_free() */
	struct list_head list;
	struct completion reported;		/* the callback has returned */
	u64 address;
	bool freed;
	void (*callback)(void *data);
	void *data;
};

static LIST_HEAD(tables);
static DEFINE_MUTEX(tables_lock);

static void table_free(struct kref *users)
{
	struct table *t = container_of(users, struct table, users);

	if (t->pt.pages)
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
	kref_init(&t->users);
	init_completion(&t->reported);
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
	phys_addr_t at = testgpu_device_memory(address, length);
	struct table *t;

	if (!at || address % PAGE_BYTES || length % PAGE_BYTES)
		return -EINVAL;
	t = table_new(at, length / PAGE_BYTES);
	if (!t)
		return -ENOMEM;
	t->address = address;
	t->callback = callback;
	t->data = data;
	mutex_lock(&tables_lock);
	list_add(&t->list, &tables);
	mutex_unlock(&tables_lock);
	*pt = &t->pt;
	return 0;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_get_pages);

int nvidia_p2p_put_pages(u64 token, u32 space, u64 address, struct nvidia_p2p_page_table *pt)
{
	struct table *t = container_of(pt, struct table, pt);
	bool freed;

	mutex_lock(&tables_lock);
	freed = t->freed;
	if (!freed)
		list_del(&t->list);
	mutex_unlock(&tables_lock);
	if (freed) {
		wait_for_completion(&t->reported);
		return -EINVAL;
	}
	kref_put(&t->users, table_free);
	return 0;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_put_pages);

int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *pt)
{
	kref_put(&container_of(pt, struct table, pt)->users, table_free);
	return 0;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_free_page_table);

static void unmap(struct pci_dev *peer, struct nvidia_p2p_dma_mapping *m)
{
	while (m->entries--)
		dma_unmap_resource(&peer->dev, m->dma_addresses[m->entries], PAGE_BYTES, DMA_BIDIRECTIONAL,
				   DMA_ATTR_SKIP_CPU_SYNC);
	kfree(m->dma_addresses);
	kfree(m);
}

int nvidia_p2p_dma_map_pages(struct pci_dev *peer, struct nvidia_p2p_page_table *pt,
			     struct nvidia_p2p_dma_mapping **mapping)
{
	struct nvidia_p2p_dma_mapping *m = kzalloc(sizeof(*m), GFP_KERNEL);
	dma_addr_t bus;

	if (m)
		m->dma_addresses = kcalloc(pt->entries, sizeof(*m->dma_addresses), GFP_KERNEL);
	if (!m || !m->dma_addresses) {
		kfree(m);
		return -ENOMEM;
	}
	m->version = NVIDIA_P2P_DMA_MAPPING_VERSION;
	m->page_size_type = NVIDIA_P2P_PAGE_SIZE_64KB;
	m->pci_dev = peer;
	for (; m->entries < pt->entries; m->entries++) {
		bus = dma_map_resource(&peer->dev, pt->pages[m->entries]->physical_address, PAGE_BYTES,
				       DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
		if (dma_mapping_error(&peer->dev, bus)) {
			unmap(peer, m);
			return -EIO;
		}
		m->dma_addresses[m->entries] = bus;
	}
	*mapping = m;
	return 0;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_dma_map_pages);

int nvidia_p2p_dma_unmap_pages(struct pci_dev *peer, struct nvidia_p2p_page_table *pt, struct nvidia_p2p_dma_mapping *m)
{
	unmap(peer, m);
	return 0;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_dma_unmap_pages);

int nvidia_p2p_free_dma_mapping(struct nvidia_p2p_dma_mapping *m)
{
	unmap(m->pci_dev, m);
	return 0;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_free_dma_mapping);

/* No one reaches the memory after it. */
void testgpu_tell_freed(u64 address, u64 bytes)
{
	struct table *t, *next;
	LIST_HEAD(freed);

	mutex_lock(&tables_lock);
	list_for_each_entry_safe(t, next, &tables, list) {
		if (t->address < address || t->address >= address + bytes)
			continue;
		t->freed = true;
		kref_get(&t->users);
		list_move(&t->list, &freed);
	}
	mutex_unlock(&tables_lock);
	list_for_each_entry_safe(t, next, &freed, list) {
		t->callback(t->data);
		complete_all(&t->reported);
		kref_put(&t->users, table_free);
	}
}
