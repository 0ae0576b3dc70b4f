// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The translation table of 4 KB pages (docs/rma.md): entries of 16 bytes in pieces of 1 MB that are allocated when they
 * are first needed. Entry n is page n of the network logical addresses. Under the device's lock.
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

static int grow(struct ggas_device *dev, u32 pieces)
{
	for (; dev->pieces < pieces; dev->pieces++) {
		u32 i = dev->pieces;

		dev->piece[i] = dma_alloc_coherent(&dev->pci->dev, PIECE_BYTES, &dev->piece_bus[i], GFP_KERNEL);
		if (!dev->piece[i])
			return -ENOMEM;
		ggas_hw_piece(dev, i);
	}
	return 0;
}

int ggas_table_init(struct ggas_device *dev)
{
	dev->entries_used = vzalloc(BITS_TO_LONGS(ENTRIES) * sizeof(long));
	if (!dev->entries_used)
		return -ENOMEM;
	__set_bit(0, dev->entries_used);	/* address 0 belongs to no one */
	return 0;
}

/* Also before the NIC is set up again: no entry is in use. */
void ggas_table_exit(struct ggas_device *dev)
{
	while (dev->pieces--)
		dma_free_coherent(&dev->pci->dev, PIECE_BYTES, dev->piece[dev->pieces], dev->piece_bus[dev->pieces]);
	dev->pieces = 0;
	vfree(dev->entries_used);
	dev->entries_used = NULL;
}

/* The first of so many entries in a row, or -ENOSPC, -ENOMEM. */
int ggas_table_take(struct ggas_device *dev, u32 count)
{
	unsigned long first = bitmap_find_next_zero_area(dev->entries_used, ENTRIES, 0, count, 0);
	int rc;

	if (first >= ENTRIES)
		return -ENOSPC;
	rc = grow(dev, DIV_ROUND_UP(first + count, GGAS_PIECE_ENTRIES));
	if (rc)
		return rc;
	bitmap_set(dev->entries_used, first, count);
	return first;
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

void ggas_table_set(struct ggas_device *dev, u32 entry, dma_addr_t page, u32 rights, u16 domain)
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

/* No access to these pages is under way, nor will be, when this returns 0. */
int ggas_table_clear(struct ggas_device *dev, u32 first, u32 count)
{
	u32 i;

	for (i = first; i < first + count; i++)
		WRITE_ONCE(entry_at(dev, i)[0], 0);
	return ggas_hw_invalidate(dev, first, count);
}
