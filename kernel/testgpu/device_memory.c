// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Memory as a program of the GPU has it: allocated and freed by address, as by cudaMalloc() and cudaFree(). */
#include <linux/list.h>
#include <linux/slab.h>

#include "testgpu.h"

#define BASE	0x7f0000000000ULL	/* of the GPU's addresses */
#define ALIGN_BYTES	65536

struct allocation {
	struct list_head list;
	struct testgpu *gpu;
	phys_addr_t at;
	u64 bytes;
};

static LIST_HEAD(allocations);
static DEFINE_MUTEX(lock);

static u64 address_of(const struct allocation *a)
{
	return BASE + (a->at - a->gpu->phys);
}

int testgpu_device_alloc(struct testgpu *gpu, u64 bytes, u64 *address)
{
	struct allocation *a = kzalloc(sizeof(*a), GFP_KERNEL);

	if (!a)
		return -ENOMEM;
	a->gpu = gpu;
	a->bytes = bytes;
	a->at = testgpu_take(gpu, bytes, ALIGN_BYTES);
	if (!a->at) {
		kfree(a);
		return -ENOSPC;
	}
	kref_get(&gpu->users);
	*address = address_of(a);
	mutex_lock(&lock);
	list_add(&a->list, &allocations);
	mutex_unlock(&lock);
	return 0;
}

static struct allocation *find(u64 address, u64 bytes)
{
	struct allocation *a;

	list_for_each_entry(a, &allocations, list)
		if (address >= address_of(a) && bytes <= a->bytes && address - address_of(a) <= a->bytes - bytes)
			return a;
	return NULL;
}

/* Where memory of an allocation lies; 0: there is none. */
phys_addr_t testgpu_device_memory(u64 address, u64 bytes)
{
	struct allocation *a;
	phys_addr_t at = 0;

	mutex_lock(&lock);
	a = find(address, bytes);
	if (a)
		at = a->at + (address - address_of(a));
	mutex_unlock(&lock);
	return at;
}

int testgpu_device_free(u64 address)
{
	struct allocation *a;

	mutex_lock(&lock);
	a = find(address, 1);
	if (a)
		list_del(&a->list);
	mutex_unlock(&lock);
	if (!a)
		return -EINVAL;
	testgpu_tell_freed(address_of(a), a->bytes);
	testgpu_give(a->gpu, a->at, a->bytes);
	testgpu_put(a->gpu);
	kfree(a);
	return 0;
}

/* The module ends: what programs did not free. */
void testgpu_device_free_all(void)
{
	struct allocation *a, *next;

	list_for_each_entry_safe(a, next, &allocations, list)
		testgpu_device_free(address_of(a));
}
