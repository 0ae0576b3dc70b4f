/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Driver of the GGAS NIC. The objects (domain, context, region, window) know nothing of who asks for them: the
 * character device (chardev.c, file.c, ioctl.c, mmap.c) is one front end, and calls them under the device's lock.
 *
 * Locks: ggas_device.lock, a mutex, guards every object and all registers that are not of one interrupt. It nests
 * inside mmap_lock (mmap takes it), so nothing that may fault runs under it. by_vpid_lock is for interrupts.
 */
#ifndef GGAS_H
#define GGAS_H

#include <linux/cdev.h>
#include <linux/dma-buf.h>
#include <linux/eventfd.h>
#include <linux/idr.h>
#include <linux/ioport.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "uapi/ggas.h"

#define GGAS_CONTEXTS		256
#define GGAS_PIECES		64	/* of 256: 16 GB of registered memory */
#define GGAS_PIECE_ENTRIES	65536
#define GGAS_EVENT_LOG2		8
#define GGAS_FIRED_ENTRIES	256
#define GGAS_EXPORTS		64	/* of a NIC; the numbers mean the same on all nodes */
#define GGAS_INTERVALS		64

/* What a file may own. */
enum ggas_kind { GGAS_DOMAIN, GGAS_CONTEXT, GGAS_REGION, GGAS_WINDOW, GGAS_KINDS };

enum ggas_vector { GGAS_VECTOR_EVENTS, GGAS_VECTOR_FIRED, GGAS_VECTORS };

/* A ring of records of 16 bytes that the NIC writes. */
struct ggas_ring {
	__le64 *at;
	dma_addr_t bus;
	size_t bytes;
	u32 read;
};

struct ggas_device {
	struct kref users;		/* the PCI driver, and every open file */
	struct pci_dev *pci;
	struct cdev *cdev;		/* /dev/ggasN */
	int minor;
	struct mutex lock;		/* of everything but what interrupts use */
	bool live;			/* set up; else nothing touches the NIC */
	u32 number;			/* of this node */
	u32 nodes;

	u8 __iomem *regs;		/* BAR0 */
	u8 __iomem *own_page;		/* doorbells of the driver's context, in BAR4 */
	phys_addr_t window_phys, pages_phys;
	u64 window_bytes;
	u32 page_shift;			/* of the pages in BAR4 */
	u32 contexts;			/* for users; one more is the driver's own */

	struct ggas_ring events, fired;
	struct delayed_work look_work;	/* whether NIC and link are there */

	spinlock_t by_vpid_lock;	/* of by_vpid, which interrupts read */
	struct ggas_context *by_vpid[GGAS_CONTEXTS];

	/* Translation table of 4 KB pages. */
	__le64 *piece[GGAS_PIECES];
	dma_addr_t piece_bus[GGAS_PIECES];
	u32 pieces;
	unsigned long *entries_used;

	struct ggas_window *by_export[GGAS_EXPORTS];
	DECLARE_BITMAP(intervals_used, GGAS_INTERVALS);
	struct resource window_space;	/* offsets in BAR2 (of no type: not memory of the host), and windows in it */

	atomic_t regions;		/* asked for, or there, or not wholly released */
	wait_queue_head_t no_regions;

	struct list_head files;
	struct list_head grants;
	struct list_head users_of;	/* who have it open */
	u32 quota[GGAS_KINDS];		/* of each of them */
	struct dentry *debugfs;
	struct inode *inode;		/* of every open file: what is mapped can be taken back */
};

struct ggas_object {
	enum ggas_kind kind;
	struct ggas_file *file;		/* who has its handle; NULL: no one yet */
	struct ggas_domain *domain;	/* NULL: is one */
};

struct ggas_domain {
	struct ggas_object object;
	u16 number;
	u32 users;			/* objects */
};

struct ggas_context {
	struct ggas_object object;
	u32 vpid;
	struct eventfd_ctx *eventfd;
	void *rings;
	dma_addr_t rings_bus;
	size_t rings_bytes;
	u32 notify_at, mailbox_at, queue_at;
};

struct ggas_region {
	struct ggas_object object;
	struct ggas_device *dev;
	struct list_head released;	/* of who has ended it: what is left to do needs the lock no more */
	struct mm_struct *mm;		/* whose locked memory it is */
	unsigned long first_page, pages;	/* of the process' addresses, or of the buffer */
	u32 rights;
	u32 first;			/* entry of the table */
	bool mapped;			/* has entries; under the device's lock */
	struct sg_table *sgt;		/* bus addresses; NULL: none, or a dma-buf on the move */
	/* Pages of a process. */
	struct page **page;
	struct sg_table sg;
	/* A dma-buf; `sgt` and `closed` under its lock. */
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attach;
	struct work_struct moved;
	bool closed;
};

struct ggas_window {
	struct ggas_object object;
	u32 export;			/* its number, the same on all nodes */
	u32 rights;			/* of other nodes */
	u32 first_interval;		/* of one for each node */
	struct resource space;		/* in BAR2: node n's segment at n * bytes */
	void *segment;
	dma_addr_t segment_bus;
	u64 bytes;			/* of one node */
};

struct ggas_file {
	struct ggas_device *dev;
	struct list_head list;
	struct idr objects;
	struct ggas_user *user;
	bool revoked;			/* by reset or removal: open it again */
};

/* Offsets for mmap: what, and of which context or export; of the window its offset in BAR2. */
enum ggas_map { GGAS_MAP_DOORBELLS = 1, GGAS_MAP_SLOTS, GGAS_MAP_RINGS, GGAS_MAP_SEGMENT, GGAS_MAP_WINDOW };
#define GGAS_MAP_SHIFT	44
#define GGAS_MAP_OFFSET(what, number) ((u64)(what) << GGAS_MAP_SHIFT | (u64)(number) << 32)
#define GGAS_MAP_WINDOW_AT(offset) ((u64)GGAS_MAP_WINDOW << GGAS_MAP_SHIFT | (offset))

/* Doorbells or slots of a context, in BAR4. */
static inline phys_addr_t ggas_page_phys(const struct ggas_device *dev, u32 vpid, bool slots)
{
	return dev->pages_phys + ((u64)(2 * vpid + slots) << dev->page_shift);
}

/* hw.c: everything that is said to registers. */
int ggas_hw_identify(struct ggas_device *dev);
int ggas_hw_start(struct ggas_device *dev);
void ggas_hw_stop(struct ggas_device *dev);
bool ggas_hw_there(struct ggas_device *dev);
bool ggas_hw_link_up(struct ggas_device *dev);
void ggas_hw_link_retrain(struct ggas_device *dev);
void ggas_hw_context_start(struct ggas_device *dev, const struct ggas_context *c, const struct ggas_context_create *p);
int ggas_hw_context_stop(struct ggas_device *dev, u32 vpid);
void ggas_hw_piece(struct ggas_device *dev, u32 piece);
int ggas_hw_invalidate(struct ggas_device *dev, u32 first, u32 count);
void ggas_hw_window_start(struct ggas_device *dev, const struct ggas_window *w);
int ggas_hw_window_stop(struct ggas_device *dev, const struct ggas_window *w);
void ggas_hw_events_read(struct ggas_device *dev, u32 count);
void ggas_hw_fired_read(struct ggas_device *dev, u32 count);
void ggas_hw_cut_off(struct ggas_device *dev);
u32 ggas_hw_clock_khz(struct ggas_device *dev);
void ggas_hw_counters(struct ggas_device *dev, struct seq_file *to);

/* pci.c */
void ggas_take_down(struct ggas_device *dev, struct list_head *released);

/* quota.c: what a user has. */
void ggas_quota_init(struct ggas_device *dev);
struct ggas_user *ggas_user_get(struct ggas_device *dev);
void ggas_user_put(struct ggas_user *user);
int ggas_quota_take(struct ggas_file *f, const struct ggas_object *o);
void ggas_quota_give(const struct ggas_object *o);

/* debugfs.c */
void ggas_debugfs_init(void);
void ggas_debugfs_exit(void);
void ggas_debugfs_add(struct ggas_device *dev);
void ggas_debugfs_remove(struct ggas_device *dev);

/* irq.c */
int ggas_irq_init(struct ggas_device *dev);
void ggas_irq_exit(struct ggas_device *dev);

/* table.c: translations of 4 KB pages. */
int ggas_table_init(struct ggas_device *dev);
void ggas_table_exit(struct ggas_device *dev);
int ggas_table_take(struct ggas_device *dev, u32 count);
u32 ggas_table_used(struct ggas_device *dev);
void ggas_table_give(struct ggas_device *dev, u32 first, u32 count);
void ggas_table_set(struct ggas_device *dev, u32 entry, dma_addr_t page, u32 rights, u16 domain);
int ggas_table_clear(struct ggas_device *dev, u32 first, u32 count);

/* Objects. Made and ended under the lock. */
struct ggas_domain *ggas_domain_create(struct ggas_device *dev, u32 number);
void ggas_domain_destroy(struct ggas_domain *domain);
int ggas_domain_grant(struct ggas_device *dev, u32 number, kuid_t user);
int ggas_domain_revoke(struct ggas_device *dev, u32 number, kuid_t user);
void ggas_domain_forget_grants(struct ggas_device *dev);
bool ggas_domain_granted(struct ggas_device *dev, u32 number);

struct ggas_context *ggas_context_create(struct ggas_device *dev, struct ggas_domain *domain,
					 struct ggas_context_create *p, struct eventfd_ctx *eventfd);
void ggas_context_destroy(struct ggas_device *dev, struct ggas_context *c);

struct ggas_region *ggas_region_new(struct ggas_device *dev, const struct ggas_region_create *p);
int ggas_region_create(struct ggas_region *r, struct ggas_domain *domain, struct ggas_region_create *p);
void ggas_region_set_entries(struct ggas_region *r);
void ggas_region_withdraw(struct ggas_region *r, struct list_head *released);
void ggas_region_release(struct ggas_device *dev, struct list_head *released);	/* without the lock */
void ggas_region_gone(struct ggas_device *dev);

/* dmabuf.c */
int ggas_dmabuf_get(struct ggas_region *r, int fd);
int ggas_dmabuf_map(struct ggas_region *r);
void ggas_dmabuf_put(struct ggas_region *r);
void ggas_dmabuf_lock(struct ggas_region *r);
void ggas_dmabuf_unlock(struct ggas_region *r);

struct ggas_window *ggas_window_create(struct ggas_device *dev, struct ggas_domain *domain,
				       struct ggas_window_create *p);
void ggas_window_destroy(struct ggas_device *dev, struct ggas_window *w);

/* chardev.c */
int ggas_chardev_init(void);
void ggas_chardev_exit(void);
int ggas_device_make_inode(struct ggas_device *dev);
int ggas_chardev_add(struct ggas_device *dev);
void ggas_chardev_remove(struct ggas_device *dev);
struct ggas_device *ggas_device_get(int minor);
void ggas_device_put(struct ggas_device *dev);

/* sysfs.c */
extern const struct attribute_group *ggas_groups[];

/* file.c: what a file owns. */
extern const struct file_operations ggas_fops;
void ggas_file_revoke_all(struct ggas_device *dev, struct list_head *released);
int ggas_file_handle(struct ggas_file *f, struct ggas_object *o, u32 *handle);
void ggas_object_end(struct ggas_device *dev, struct ggas_object *o, struct list_head *released);

/* ioctl.c, mmap.c */
long ggas_ioctl(struct file *file, unsigned int cmd, unsigned long user);
int ggas_mmap(struct file *file, struct vm_area_struct *vma);
void ggas_unmap(struct ggas_device *dev, u64 offset, u64 bytes);

#endif
