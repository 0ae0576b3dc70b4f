// SPDX-License-Identifier: GPL-2.0 OR MIT
/* User contexts, protection domains, memory regions. */
#include <linux/module.h>
#include <linux/slab.h>

#include "uapi/ggas_verbs.h"
#include "verbs.h"

static unsigned int domain = 1;
module_param(domain, uint, 0644);
MODULE_PARM_DESC(domain, "number of protection domains whose users name none");

static int alloc_ucontext(struct ib_ucontext *ib, struct ib_udata *udata)
{
	struct verbs_context *c = container_of(ib, struct verbs_context, ib);

	c->file = ggas_file_begin(container_of(ib->device, struct verbs_device, ib)->nic);
	return PTR_ERR_OR_ZERO(c->file);
}

static void dealloc_ucontext(struct ib_ucontext *ib)
{
	ggas_file_end(container_of(ib, struct verbs_context, ib)->file);
}

/* Nothing of ours is mapped. */
static void disassociate_ucontext(struct ib_ucontext *ib)
{
}

static int alloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct verbs_context *c = rdma_udata_to_drv_context(udata, struct verbs_context, ib);
	struct verbs_pd *pd = container_of(ib, struct verbs_pd, ib);
	struct ggas_verbs_alloc_pd p = { .domain = domain };

	if (!c)
		return -EOPNOTSUPP;	/* of the kernel */
	if (udata->inlen) {
		if (udata->inlen < sizeof(p) || ib_copy_from_udata(&p, udata, sizeof(p)) || p.pad)
			return -EINVAL;
	}
	pd->file = c->file;
	return ggas_verbs_join(c->file, p.domain, &pd->domain);
}

static int dealloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct verbs_pd *pd = container_of(ib, struct verbs_pd, ib);

	ggas_object_destroy(pd->file, pd->domain);	/* after a reset of the NIC it is gone by itself */
	return 0;
}

#ifndef GGAS_HAS_UMEM_GET_VA
#define ib_umem_get_va ib_umem_get
#endif

static struct ib_mr *register_memory(struct ib_pd *ib, u64 start, u64 bytes, int access)
{
	u32 rights = GGAS_REGION_READ | (ib_access_writable(access) ? GGAS_REGION_WRITE : 0), first = 0;
	struct verbs_pd *pd = container_of(ib, struct verbs_pd, ib);
	struct verbs_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	int rc;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->file = pd->file;
	mr->umem = ib_umem_get_va(ib->device, start, bytes, access);
	rc = PTR_ERR_OR_ZERO(mr->umem);
	if (rc)
		goto free;
	rc = ggas_verbs_lend(pd->file, pd->domain, &mr->umem->sgt_append.sgt, ib_umem_num_pages(mr->umem), rights,
			     &first, &mr->region);
	if (rc)
		goto release;
	mr->ib.lkey = first;
	mr->ib.rkey = first;
	return &mr->ib;

release:
	ib_umem_release(mr->umem);
free:
	kfree(mr);
	return ERR_PTR(rc);
}

#ifdef GGAS_HAS_DMAH
static struct ib_mr *reg_user_mr(struct ib_pd *ib, u64 start, u64 bytes, u64 virt, int access, struct ib_dmah *hints,
				 struct ib_udata *udata)
{
	return hints ? ERR_PTR(-EOPNOTSUPP) : register_memory(ib, start, bytes, access);
}
#else
static struct ib_mr *reg_user_mr(struct ib_pd *ib, u64 start, u64 bytes, u64 virt, int access, struct ib_udata *udata)
{
	return register_memory(ib, start, bytes, access);
}
#endif

static int dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct verbs_mr *mr = container_of(ib, struct verbs_mr, ib);

	ggas_object_destroy(mr->file, mr->region);	/* after a reset of the NIC it is gone by itself */
	ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}

const struct ib_device_ops verbs_object_ops = {
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.disassociate_ucontext = disassociate_ucontext,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.reg_user_mr = reg_user_mr,
	.dereg_mr = dereg_mr,
	INIT_RDMA_OBJ_SIZE(ib_ucontext, verbs_context, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, verbs_pd, ib),
};
