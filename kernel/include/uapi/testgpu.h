/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* /dev/testgpu: memory of a GPU for tests. Everything is reached through the dma-buf that an allocation gives. */
#ifndef _UAPI_TESTGPU_H
#define _UAPI_TESTGPU_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * struct testgpu_alloc - allocates memory; it is freed with the last reference to the dma-buf
 * @bytes: whole pages
 * @fd: out, dma-buf; may be mapped
 */
struct testgpu_alloc {
	__u64 bytes;
	__s32 fd;
	__u32 pad;
};

/**
 * struct testgpu_buffer - names a buffer
 * @fd: dma-buf of this device
 */
struct testgpu_buffer {
	__s32 fd;
	__u32 pad;
};

/**
 * struct testgpu_device - memory by its address on the GPU, as cudaMalloc() and cudaFree() use it
 * @bytes: whole pages
 * @address: out, a multiple of 64 KB; in, when it is freed
 */
struct testgpu_device {
	__u64 bytes;
	__u64 address;
};

#define TESTGPU_IOC_ALLOC	_IOWR('t', 0x00, struct testgpu_alloc)
/* To another place of the GPU's memory, with its contents. Users are informed before, and may find it again after. */
#define TESTGPU_IOC_MOVE	_IOW('t', 0x01, struct testgpu_buffer)
/* The memory is taken away for good, and freed at once; mappings fault. */
#define TESTGPU_IOC_REVOKE	_IOW('t', 0x02, struct testgpu_buffer)

#define TESTGPU_IOC_DEVICE_ALLOC	_IOWR('t', 0x03, struct testgpu_device)
/* The one that has its pages loses them before this returns. */
#define TESTGPU_IOC_DEVICE_FREE		_IOW('t', 0x04, struct testgpu_device)

#endif
