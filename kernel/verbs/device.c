// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The device, and what it says of itself. */
#include <linux/module.h>

#include "uapi/ggas_verbs.h"
#include "verbs.h"

#define GUID(nic)	cpu_to_be64(0x0247474153000000ULL + (nic)->number)	/* administered locally */

static struct ggas_device *nic_of(struct ib_device *ib)
{
	return container_of(ib, struct verbs_device, ib)->nic;
}

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	struct ggas_device *nic = nic_of(ib);

	attr->sys_image_guid = GUID(nic);
	attr->vendor_id = nic->pci->vendor;
	attr->vendor_part_id = nic->pci->device;
	attr->hw_ver = nic->pci->revision;
	attr->max_mr_size = (u64)GGAS_PIECES * GGAS_PIECE_ENTRIES / 2 * GGAS_ENTRY_BYTES;
	attr->page_size_cap = GGAS_ENTRY_BYTES;
	attr->max_mr = GGAS_PIECES * GGAS_PIECE_ENTRIES - 1;
	attr->max_pd = U16_MAX;
	attr->atomic_cap = IB_ATOMIC_HCA;
	return 0;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct ggas_info info = { };
	int rc = ggas_verbs_info(nic_of(ib), &info);

	if (rc && rc != -ENODEV)
		return rc;
	attr->state = info.link_up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = info.link_up ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_POLLING;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_256;
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 1;
	attr->lid = nic_of(ib)->number + 1;
	attr->max_msg_sz = U32_MAX;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_SDR;
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *p)
{
	p->gid_tbl_len = 1;
	p->pkey_tbl_len = 1;
	return 0;
}

static int query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	gid->global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL);
	gid->global.interface_id = GUID(nic_of(ib));
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return index ? -EINVAL : 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_UNSPECIFIED;
}

static const struct ib_device_ops device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = GGAS_VERBS_ABI_VERSION,
	.query_device = query_device,
	.query_port = query_port,
	.get_port_immutable = get_port_immutable,
	.get_link_layer = get_link_layer,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
};

static int probe(struct auxiliary_device *aux, const struct auxiliary_device_id *id)
{
	struct ggas_device *nic = container_of(aux, struct ggas_verbs, aux)->dev;
	struct verbs_device *v = ib_alloc_device(verbs_device, ib);
	int rc;

	if (!v)
		return -ENOMEM;
	v->nic = nic;
	v->ib.node_type = RDMA_NODE_UNSPECIFIED;
	v->ib.node_guid = GUID(nic);
	v->ib.phys_port_cnt = 1;
	v->ib.num_comp_vectors = 1;
	v->ib.dev.parent = &nic->pci->dev;
	strscpy(v->ib.node_desc, "GGAS NIC", sizeof(v->ib.node_desc));
	ib_set_device_ops(&v->ib, &device_ops);
	ib_set_device_ops(&v->ib, &verbs_object_ops);
	rc = ib_register_device(&v->ib, "ggas_%d", &nic->pci->dev);
	if (rc) {
		ib_dealloc_device(&v->ib);
		return rc;
	}
	dev_set_drvdata(&aux->dev, v);
	return 0;
}

static void remove(struct auxiliary_device *aux)
{
	struct verbs_device *v = dev_get_drvdata(&aux->dev);

	ib_unregister_device(&v->ib);
	ib_dealloc_device(&v->ib);
}

static const struct auxiliary_device_id ids[] = {
	{ .name = "ggas." GGAS_VERBS_NAME },
	{ }
};
MODULE_DEVICE_TABLE(auxiliary, ids);

static struct auxiliary_driver verbs_driver = {
	.name = "verbs",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
};
module_auxiliary_driver(verbs_driver);
MODULE_DESCRIPTION("GGAS: the NIC as a device of the RDMA subsystem");
MODULE_LICENSE("Dual MIT/GPL");
