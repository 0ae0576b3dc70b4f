/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * Interface of /dev/ggasN: objects of one NIC, made by ioctls and used by mappings.
 *
 * An object belongs to the open file that made it and ends with it. Handles are small numbers of that file; they mean
 * nothing in another. Every structure begins with its size, so that later versions may add fields at the end: unknown
 * fields must be zero, and missing ones count as zero.
 */
#ifndef _UAPI_GGAS_H
#define _UAPI_GGAS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GGAS_ABI_VERSION 1

/* Numbers of the NIC on the bus. */
#define GGAS_PCI_VENDOR 0x1209
#define GGAS_PCI_DEVICE 0x4747

/**
 * struct ggas_info - what the NIC is
 * @size: of this structure
 * @version: GGAS_ABI_VERSION of the driver
 * @node: number of this node
 * @nodes: nodes of the cluster
 * @contexts: contexts that all users share
 * @clock_khz: core clock, kHz
 * @link_up: 1: packets reach the neighbour
 * @window_bytes: bytes of BAR2
 */
struct ggas_info {
	__u32 size;
	__u32 version;
	__u32 node;
	__u32 nodes;
	__u32 contexts;
	__u32 clock_khz;
	__u32 link_up;
	__u32 pad;
	__u64 window_bytes;
};

/**
 * struct ggas_domain_create - joins a protection domain
 * @number: 1 to 65535, the same on all nodes; must have been granted to the caller's user (sysfs: grant)
 * @handle: out
 */
struct ggas_domain_create {
	__u32 size;
	__u32 number;
	__u32 handle;
	__u32 pad;
};

/**
 * struct ggas_context_create - a context: doorbells, descriptor slots, rings
 * @domain: handle
 * @notify_log2: log2 of the notification ring's records, 4 to 16
 * @mailbox_log2: log2 of the mailbox' messages, 2 to 12; 0: none
 * @queue_log2: log2 of the work queue's slots, 4 to 16; 0: descriptors go to their page
 * @eventfd: signalled when the context, armed, fires; -1: none
 * @handle: out
 * @vpid: out, number of the context on the network
 * @rings_bytes: out, length of the mapping of the rings: status block at 0, then as the next three say
 * @notify_at, @mailbox_at, @queue_at: out, offsets in it; 0: none
 * @doorbells, @slots, @rings: out, offsets for mmap; doorbells and slots are one page each
 */
struct ggas_context_create {
	__u32 size;
	__u32 domain;
	__u32 notify_log2;
	__u32 mailbox_log2;
	__u32 queue_log2;
	__s32 eventfd;
	__u32 handle;
	__u32 vpid;
	__u32 rings_bytes;
	__u32 notify_at;
	__u32 mailbox_at;
	__u32 queue_at;
	__u64 doorbells;
	__u64 slots;
	__u64 rings;
};

#define GGAS_REGION_READ	(1 << 0)
#define GGAS_REGION_WRITE	(1 << 1)

#define GGAS_REGION_DMABUF	(1 << 0)

/**
 * struct ggas_region_create - registers memory for put, get and atomics
 * @domain: handle; contexts of the same domain, of any node, may use the region
 * @rights: GGAS_REGION_READ, GGAS_REGION_WRITE
 * @address, @bytes: memory of the caller, from any address on; its pages are pinned and count as locked memory
 * @nla: out, network logical address of the first byte
 * @handle: out
 * @flags: GGAS_REGION_DMABUF: @address is an offset in a dma-buf, as of a GPU; the memory may move, and @nla
 *	stays the same
 * @fd: of the dma-buf
 */
struct ggas_region_create {
	__u32 size;
	__u32 domain;
	__u32 rights;
	__u32 handle;
	__u64 address;
	__u64 bytes;
	__u64 nla;
	__u32 flags;
	__s32 fd;
};

/**
 * struct ggas_window_create - makes a window: memory that other nodes store to and load from, and access to
 *	the same memory of other nodes
 * @domain: handle
 * @bytes: of the segment of each node, a power of two, 4 KB to 2 GB; the same on all nodes
 * @segment: out, offset for mmap of the own segment
 * @window: out, offset for mmap of the window: node n's segment at n * @bytes
 * @handle: out
 * @number: of the export, 0 to 63, the same on all nodes; -EBUSY: a window of this node has it
 * @rights: of other nodes on the own segment, GGAS_REGION_*; 0: both
 *
 * It reaches windows of the same number and domain; stores to other windows are dropped, and loads from them
 * return all ones.
 * A window of more than 4 MB is several exports, min(@bytes / 4 MB, 16) of them, with the numbers from @number on.
 * -ENOSPC: BAR2 is full, or the NIC's 64 intervals are in use (one for each export and node). -ENOMEM: blocks of
 * @bytes / 16 above 4 MB need an IOMMU, or memory set aside at boot (cma=).
 */
struct ggas_window_create {
	__u32 size;
	__u32 domain;
	__u64 bytes;
	__u64 segment;
	__u64 window;
	__u32 handle;
	__u32 number;
	__u32 rights;
	__u32 pad;
};

/**
 * struct ggas_destroy - ends an object; domains last, or with the file
 * @handle: of any kind
 */
struct ggas_destroy {
	__u32 size;
	__u32 handle;
};

/* One that no other driver of Linux has (its ioctl-number.rst). */
#define GGAS_IOC_TYPE		0xBD
#define GGAS_IOC_INFO		_IOWR(GGAS_IOC_TYPE, 0x00, struct ggas_info)
#define GGAS_IOC_DOMAIN_CREATE	_IOWR(GGAS_IOC_TYPE, 0x01, struct ggas_domain_create)
#define GGAS_IOC_CONTEXT_CREATE	_IOWR(GGAS_IOC_TYPE, 0x02, struct ggas_context_create)
#define GGAS_IOC_REGION_CREATE	_IOWR(GGAS_IOC_TYPE, 0x03, struct ggas_region_create)
#define GGAS_IOC_WINDOW_CREATE	_IOWR(GGAS_IOC_TYPE, 0x04, struct ggas_window_create)
#define GGAS_IOC_DESTROY	_IOWR(GGAS_IOC_TYPE, 0x05, struct ggas_destroy)

#endif
