// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Mappings of /dev/ggasN: pages and rings of own contexts, own segments and windows.
 *
 * mmap() only says what may be there; each page is put in by a fault, which looks under the device's lock whether the
 * file still owns it. So taking a mapping back (ggas_unmap(), under the same lock) races with no mmap() that has not
 * put its area into the address space yet, and what was taken back faults with SIGBUS.
 */
#include <linux/fs.h>
#include <linux/mm.h>

#include "compat.h"
#include "ggas.h"

#define LOW(offset)	((u32)(offset))

void ggas_unmap(struct ggas_device *dev, u64 offset, u64 bytes)
{
	unmap_mapping_range(dev->inode->i_mapping, offset, bytes, 1);
}

/* Memory of dma_alloc_coherent() on a platform that is coherent, as dma_mmap_coherent() finds it. */
static unsigned long pfn_of(void *at)
{
	return is_vmalloc_addr(at) ? vmalloc_to_pfn(at) : page_to_pfn(virt_to_page(at));
}

static int rings_pfn(const struct ggas_context *c, u32 at, unsigned long *pfn)
{
	const struct ggas_part *p;

	for (p = c->part; p < c->part + GGAS_PARTS; p++) {
		if (at < p->offset || at - p->offset >= p->bytes)
			continue;
		*pfn = pfn_of(p->at + (at - p->offset));
		return 0;
	}
	return -EINVAL;
}

static int context_pfn(struct ggas_file *f, u32 what, u32 vpid, u32 at, unsigned long *pfn)
{
	struct ggas_context *c = vpid < GGAS_CONTEXTS ? f->dev->by_vpid[vpid] : NULL;

	if (!c || c->object.file != f)
		return -EACCES;
	if (what == GGAS_MAP_RINGS)
		return rings_pfn(c, at, pfn);
	if (at >= PAGE_SIZE)
		return -EINVAL;
	*pfn = ggas_page_phys(f->dev, vpid, what == GGAS_MAP_SLOTS) >> PAGE_SHIFT;
	return 0;
}

static int segment_pfn(struct ggas_file *f, u32 export, u32 at, unsigned long *pfn)
{
	struct ggas_window *w = export < GGAS_EXPORTS ? f->dev->by_export[export] : NULL;

	if (!w || w->object.file != f || w->export != export)
		return -EACCES;
	if (at >= w->bytes)
		return -EINVAL;
	*pfn = pfn_of(w->segment[at / (u32)ggas_block_bytes(w)] + at % (u32)ggas_block_bytes(w));
	return 0;
}

static int window_pfn(struct ggas_file *f, u64 at, unsigned long *pfn)
{
	u32 e;

	for (e = 0; e < GGAS_EXPORTS; e++) {
		struct ggas_window *w = f->dev->by_export[e];

		if (!w || w->object.file != f || at < w->space.start || at > w->space.end)
			continue;
		*pfn = (f->dev->window_phys + at) >> PAGE_SHIFT;
		return 0;
	}
	return -EACCES;
}

/* What lies at an offset of the file, if the file may have it. Under the lock. */
static int find_pfn(struct ggas_file *f, u64 offset, unsigned long *pfn)
{
	u64 within = offset & (BIT_ULL(GGAS_MAP_SHIFT) - 1);
	u32 what = offset >> GGAS_MAP_SHIFT;

	if (f->revoked)
		return -ENODEV;
	switch (what) {
	case GGAS_MAP_DOORBELLS:
	case GGAS_MAP_SLOTS:
	case GGAS_MAP_RINGS:
		return context_pfn(f, what, within >> 32, LOW(offset), pfn);
	case GGAS_MAP_SEGMENT:
		return segment_pfn(f, within >> 32, LOW(offset), pfn);
	case GGAS_MAP_WINDOW:
		return window_pfn(f, within, pfn);
	}
	return -EINVAL;
}

static vm_fault_t on_fault(struct vm_fault *vmf)
{
	struct ggas_file *f = vmf->vma->vm_file->private_data;
	vm_fault_t result = VM_FAULT_SIGBUS;
	unsigned long pfn;

	mutex_lock(&f->dev->lock);
	if (!find_pfn(f, (u64)vmf->pgoff << PAGE_SHIFT, &pfn))
		result = vmf_insert_pfn(vmf->vma, vmf->address, pfn);
	mutex_unlock(&f->dev->lock);
	return result;
}

static const struct vm_operations_struct vm_ops = { .fault = on_fault };

int ggas_mmap(struct file *file, struct vm_area_struct *vma)
{
	u64 first = (u64)vma->vm_pgoff << PAGE_SHIFT, last = first + (vma->vm_end - vma->vm_start) - PAGE_SIZE;
	struct ggas_file *f = file->private_data;
	unsigned long pfn;
	int rc;

	/* Nothing here is to be executed. */
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	vm_flags_clear(vma, VM_MAYEXEC);
	if (!(vma->vm_flags & VM_SHARED) || first >> GGAS_MAP_SHIFT != last >> GGAS_MAP_SHIFT)
		return -EINVAL;
	mutex_lock(&f->dev->lock);
	rc = find_pfn(f, first, &pfn);
	if (!rc)
		rc = find_pfn(f, last, &pfn);
	mutex_unlock(&f->dev->lock);
	if (rc)
		return rc;
	switch (first >> GGAS_MAP_SHIFT) {
	case GGAS_MAP_SLOTS:
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
		break;
	case GGAS_MAP_DOORBELLS:
	case GGAS_MAP_WINDOW:
		vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
		break;
	}
	/* A child has no use of its parent's context. */
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &vm_ops;
	return 0;
}
