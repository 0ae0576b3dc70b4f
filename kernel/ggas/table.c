// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The translation table of 4 KB pages (docs/rma.md): entries of 16 bytes in pieces of 1 MB that are allocated when they
 * are first needed. Entry n is page n of the network logical addresses. Which are in use is under the device's lock,
 * what they hold under `atu`.
 */
#include <linux/bitmap.h>
#include <linux/dma-mapping.h>
#include <linux/vmalloc.h>

#include "ggas.h"

#define ENTRY_WORDS	2
#define PIECE_BYTES	(GGAS_PIECE_ENTRIES * ENTRY_WORDS * sizeof(__le64))
#define ENTRIES		(GGAS_PIECES * GGAS_PIECE_ENTRIES)
#define ENTRY_VALID	1ULL
#define ENTRY_READ	2ULL
#define ENTRY_WRITE	4ULL

static __le64 *entry_at(struct ggas_device *dev, u32 entry)
{
	return dev->piece[entry / GGAS_PIECE_ENTRIES] + entry % GGAS_PIECE_ENTRIES * ENTRY_WORDS;
}

/* One piece more than there are, if no other caller was faster. Without a lock. */
static int grow(struct ggas_device *dev, u32 have)
{
	struct device *d = &dev->pci->dev;
	dma_addr_t bus;
	__le64 *piece = dma_alloc_coherent(d, PIECE_BYTES, &bus, GFP_KERNEL | __GFP_NOWARN);
	bool added;

	if (!piece)
		return -ENOMEM;
	mutex_lock(&dev->lock);
	added = dev->pieces == have;
	if (added) {
		dev->piece[have] = piece;
		dev->piece_bus[have] = bus;
		ggas_hw_piece(dev, have);
		dev->pieces++;
	}
	mutex_unlock(&dev->lock);
	if (!added)
		dma_free_coherent(d, PIECE_BYTES, piece, bus);
	return 0;
}

/* Returns the former bitmap, which has no reader any more. */
static unsigned long *replace_used(struct ggas_device *dev, unsigned long *used)
{
	mutex_lock(&dev->lock);
	swap(dev->entries_used, used);
	mutex_unlock(&dev->lock);
	return used;
}

int ggas_table_init(struct ggas_device *dev)
{
	unsigned long *used = vzalloc(BITS_TO_LONGS(ENTRIES) * sizeof(long));

	if (!used)
		return -ENOMEM;
	__set_bit(0, used);	/* address 0 belongs to no one */
	replace_used(dev, used);
	return 0;
}

/* Also before the NIC is set up again: no entry is in use. */
void ggas_table_exit(struct ggas_device *dev)
{
	while (dev->pieces--)
		dma_free_coherent(&dev->pci->dev, PIECE_BYTES, dev->piece[dev->pieces], dev->piece_bus[dev->pieces]);
	dev->pieces = 0;
	vfree(replace_used(dev, NULL));
}

/* The first of so many entries in a row, or -ENOSPC, -ENOMEM. Without a lock. */
int ggas_table_take(struct ggas_device *dev, u32 count)
{
	unsigned long first;
	u32 have;
	int rc;

	do {
		mutex_lock(&dev->lock);
		have = dev->pieces;
		first = bitmap_find_next_zero_area(dev->entries_used, ENTRIES, 0, count, 0);
		rc = first >= ENTRIES ? -ENOSPC : 0;
		if (!rc && first + count <= have * GGAS_PIECE_ENTRIES) {
			bitmap_set(dev->entries_used, first, count);
			rc = first;
		}
		mutex_unlock(&dev->lock);
		if (!rc)
			rc = grow(dev, have);
	} while (!rc);
	return rc;
}

/* Entries in use; 0 while the NIC is not set up. */
u32 ggas_table_used(struct ggas_device *dev)
{
	return dev->entries_used ? bitmap_weight(dev->entries_used, ENTRIES) - 1 : 0;	/* entry 0 is no one's */
}

/* After ggas_table_clear(), or when they were never set. */
void ggas_table_give(struct ggas_device *dev, u32 first, u32 count)
{
	bitmap_clear(dev->entries_used, first, count);
}

static void set(struct ggas_device *dev, u32 entry, dma_addr_t page, u32 rights, u16 domain)
{
	__le64 *at = entry_at(dev, entry);
	u64 w = page | ENTRY_VALID;

	if (rights & GGAS_REGION_READ)
		w |= ENTRY_READ;
	if (rights & GGAS_REGION_WRITE)
		w |= ENTRY_WRITE;
	at[1] = cpu_to_le64(domain);
	dma_wmb();
	WRITE_ONCE(at[0], cpu_to_le64(w));
}

static void set_entries(struct ggas_region *r)
{
	unsigned long skip = r->dmabuf ? r->first_page : 0, left = r->pages;
	struct sg_dma_page_iter it;
	u32 entry = r->first, i;

	for_each_sgtable_dma_page(r->sgt, &it, skip) {
		for (i = 0; i < GGAS_PAGE_ENTRIES; i++)
			set(r->dev, entry++, sg_page_iter_dma_address(&it) + i * GGAS_ENTRY_BYTES, r->rights,
			    r->object.domain->number);
		if (!--left)
			break;
	}
}

/* No access to these pages is under way, nor will be, when this returns. */
static void clear_entries(struct ggas_region *r)
{
	u32 i, end = r->first + r->pages * GGAS_PAGE_ENTRIES;

	for (i = r->first; i < end; i++)
		WRITE_ONCE(entry_at(r->dev, i)[0], 0);
	ggas_hw_invalidate(r->dev, r->first, end - r->first);
}

/* The NIC reaches the region's bus addresses from now on. */
void ggas_table_begin(struct ggas_region *r)
{
	mutex_lock(&r->dev->atu);
	r->mapped = true;
	set_entries(r);
	mutex_unlock(&r->dev->atu);
}

/* They end, and there will be other ones. */
void ggas_table_move_out(struct ggas_region *r)
{
	mutex_lock(&r->dev->atu);
	if (r->mapped)
		clear_entries(r);
	mutex_unlock(&r->dev->atu);
}

void ggas_table_move_in(struct ggas_region *r)
{
	mutex_lock(&r->dev->atu);
	if (r->mapped)
		set_entries(r);
	mutex_unlock(&r->dev->atu);
}

/* The NIC reaches nothing of the region any more. */
void ggas_table_end(struct ggas_region *r)
{
	mutex_lock(&r->dev->atu);
	if (r->mapped)
		clear_entries(r);
	r->mapped = false;
	mutex_unlock(&r->dev->atu);
}
