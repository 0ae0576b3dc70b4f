/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* /dev/gpumap: memory of an NVIDIA GPU as a dma-buf, where the GPU's own driver gives none. */
#ifndef _UAPI_GPUMAP_H
#define _UAPI_GPUMAP_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * struct gpumap_export - pins device memory of the caller
 * @address: of the device, a multiple of 64 KB
 * @bytes: a multiple of 64 KB
 * @fd: out, dma-buf; may be mapped by the processor, too. The memory is unpinned with its last reference; if it is
 *	freed before (for example by cudaFree), all users of the dma-buf lose it
 */
struct gpumap_export {
	__u64 address;
	__u64 bytes;
	__s32 fd;
	__u32 pad;
};

/* -EOPNOTSUPP: no driver of NVIDIA that lets this module call it is loaded. */
#define GPUMAP_IOC_EXPORT	_IOWR('m', 0x00, struct gpumap_export)

#endif
