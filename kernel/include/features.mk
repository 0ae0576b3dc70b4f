# SPDX-License-Identifier: GPL-2.0 OR MIT
# What the kernel has that is built for, by its headers: distributions carry functions of later versions back, so the
# version alone says little (ggas/compat.h).
ggas_has = $(shell grep -qsE '$(2)' $(srctree)/include/$(1) && echo -DGGAS_HAS_$(3))
ggas_features := \
  $(call ggas_has,linux/dma-resv.h,dma_resv_wait_timeout_rcu,RESV_WAIT_RCU) \
  $(call ggas_has,linux/dma-resv.h,DMA_RESV_USAGE_KERNEL,RESV_USAGE) \
  $(call ggas_has,linux/dma-buf.h,invalidate_mappings,INVALIDATE_MAPPINGS) \
  $(call ggas_has,linux/module.h,MODULE_INFO.import_ns. ns.,NAMESPACE_STRINGS) \
  $(call ggas_has,linux/mm.h,vm_flags_set,VM_FLAGS_SET) \
  $(call ggas_has,linux/device/class.h,class_create.owner,CLASS_OWNER) \
  $(call ggas_has,linux/eventfd.h,eventfd_signal.struct eventfd_ctx .ctx.;,EVENTFD_SIGNAL_ONE) \
  $(call ggas_has,rdma/ib_verbs.h,struct ib_dmah .dmah,DMAH) \
  $(call ggas_has,rdma/ib_umem.h,ib_umem_get_va,UMEM_GET_VA) \
  $(call ggas_has,linux/eventfd.h,void eventfd_signal.struct eventfd_ctx .ctx,EVENTFD_SIGNAL_ONE)
ccflags-y += $(sort $(ggas_features))
