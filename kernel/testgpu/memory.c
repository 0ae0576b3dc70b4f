// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Memory of the BAR: free pieces, filling, copying. */
#include <linux/io.h>
#include <linux/slab.h>

#include "testgpu.h"

#define POISON	0xdd	/* of memory that was given back: who still reads it is found */

int testgpu_memory_init(struct testgpu *gpu)
{
	gpu->pool = gen_pool_create(PAGE_SHIFT, NUMA_NO_NODE);
	if (!gpu->pool)
		return -ENOMEM;
	return gen_pool_add(gpu->pool, gpu->phys, pci_resource_len(gpu->pci, 2), NUMA_NO_NODE);
}

void testgpu_memory_exit(struct testgpu *gpu)
{
	if (gpu->pool)
		gen_pool_destroy(gpu->pool);
}

static void fill(struct testgpu *gpu, phys_addr_t at, size_t bytes, int value)
{
	mutex_lock(&gpu->lock);
	if (gpu->bar)
		memset_io(gpu->bar + (at - gpu->phys), value, bytes);
	mutex_unlock(&gpu->lock);
}

phys_addr_t testgpu_take(struct testgpu *gpu, size_t bytes, int align)
{
	struct genpool_data_align want = { .align = align };
	phys_addr_t at = gen_pool_alloc_algo(gpu->pool, bytes, gen_pool_first_fit_align, &want);

	if (at)
		fill(gpu, at, bytes, 0);
	return at;
}

void testgpu_give(struct testgpu *gpu, phys_addr_t at, size_t bytes)
{
	fill(gpu, at, bytes, POISON);
	gen_pool_free(gpu->pool, at, bytes);
}

int testgpu_copy(struct testgpu *gpu, phys_addr_t to, phys_addr_t from, size_t bytes)
{
	void *page = kmalloc(PAGE_SIZE, GFP_KERNEL);
	size_t at;

	if (!page)
		return -ENOMEM;
	mutex_lock(&gpu->lock);
	for (at = 0; gpu->bar && at < bytes; at += PAGE_SIZE) {
		memcpy_fromio(page, gpu->bar + (from - gpu->phys) + at, PAGE_SIZE);
		memcpy_toio(gpu->bar + (to - gpu->phys) + at, page, PAGE_SIZE);
	}
	mutex_unlock(&gpu->lock);
	kfree(page);
	return 0;
}
