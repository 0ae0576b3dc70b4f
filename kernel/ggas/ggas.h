/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Driver of the GGAS NIC. The objects (domain, context, region, window) know nothing of who asks for them: the
 * character device (chardev.c, file.c, ioctl.c, mmap.c) is one front end. object.c makes and ends them.
 *
 * Locks, outermost first:
 *   state	the NIC is given to its users, or taken from all of them. No call of a user waits for it.
 *   mmap_lock of a process, or the reservation of a dma-buf
 *   lock	who has which object, and what it occupies. Neither the NIC nor a user's page is waited for under it,
 *		and nothing is allocated but page tables of a fault.
 *   atu	entries of the translation table, and the engine of the NIC that invalidates them. Nothing is allocated
 *		under it: an exporter of dma-bufs that needs memory may have to move some that the NIC uses.
 *   by_vpid_lock	for interrupts
 * `lock` and `atu` are never held together by one caller, but when the NIC is set up.
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
#include <linux/xarray.h>

#include "uapi/ggas.h"

#define GGAS_CONTEXTS		256
#define GGAS_PIECES		64	/* of 256: 16 GB of registered memory */
#define GGAS_PIECE_ENTRIES	65536
#define GGAS_ENTRY_BYTES	4096	/* of memory that an entry stands for */
#define GGAS_PAGE_ENTRIES	((u32)(PAGE_SIZE / GGAS_ENTRY_BYTES))	/* of one page of the kernel */
#define GGAS_EVENT_LOG2		8
#define GGAS_FIRED_ENTRIES	256
#define GGAS_EXPORTS		64	/* of a NIC; the numbers mean the same on all nodes */
#define GGAS_INTERVALS		64

/* What a file may own. */
enum ggas_kind { GGAS_DOMAIN, GGAS_CONTEXT, GGAS_REGION, GGAS_WINDOW, GGAS_KINDS };

/* Memory that a user asks for: his cgroup's, and what cannot be had is his error, not the machine's. */
#define GGAS_USER_MEMORY	(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

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
	struct mutex state;		/* see above, also the next two */
	struct mutex lock;		/* of what objects occupy */
	struct mutex atu;		/* of translations */
	bool live;			/* users may have objects; written under `state` and `lock` */
	u32 silent;			/* looks in a row that read all ones */
	unsigned long dead;		/* bit 0: cut off from the bus; no register is accessed or waited for */
	atomic_t busy;			/* calls that have to do with the NIC: it is not taken away under them */
	wait_queue_head_t idle;
	u32 number;			/* of this node */
	u32 nodes;

	u8 __iomem *regs;		/* BAR0 */
	u8 __iomem *own_page;		/* doorbells of the driver's context, in BAR4 */
	phys_addr_t window_phys, pages_phys;
	u64 window_bytes;
	u32 page_shift;			/* of the pages in BAR4 */
	u32 contexts;			/* for users; one more is the driver's own */
	u32 clock_khz;

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

	atomic_t regions;		/* not wholly released */

	struct list_head files;
	struct list_head grants;
	struct list_head users_of;	/* who have it open */
	u32 quota[GGAS_KINDS];		/* of each of them */
	struct dentry *debugfs;
	struct ggas_verbs *verbs;	/* for the second front end */
	struct inode *inode;		/* of every open file: what is mapped can be taken back */
};

struct ggas_object {
	enum ggas_kind kind;
	struct ggas_file *file;		/* who has its handle; NULL: no one yet, or no one any more */
	struct ggas_user *user;		/* on whose quota it counts; NULL: on no one's */
	struct ggas_domain *domain;	/* NULL: is one, or has none yet */
	struct list_head ended;		/* in a list of what ends */
	u32 amount;			/* of the quota */
};

struct ggas_domain {
	struct ggas_object object;
	u16 number;
	struct kref users;		/* its handle, and objects */
};

/* A ring of a context: one block of memory, and where it lies in the mapping of all. */
struct ggas_part {
	void *at;
	dma_addr_t bus;
	u32 bytes, offset;
};

enum ggas_ring_kind { GGAS_STATUS_BLOCK, GGAS_NOTIFY_RING, GGAS_MAILBOX, GGAS_WORK_QUEUE, GGAS_PARTS };

struct ggas_context {
	struct ggas_object object;
	struct ggas_device *dev;
	u32 vpid;			/* GGAS_CONTEXTS: none */
	u32 notify_log2, mailbox_log2, queue_log2;
	bool combined;			/* its slots have the memory type of write combining */
	bool started;
	struct eventfd_ctx *eventfd;
	struct ggas_part part[GGAS_PARTS];
	u32 rings_bytes;
};

struct ggas_region {
	struct ggas_object object;
	struct ggas_device *dev;
	struct mm_struct *mm;		/* whose locked memory it is */
	unsigned long first_page, pages;	/* of the process' addresses, or of the buffer */
	u32 rights;
	u32 first;			/* entry of the table; 0: none */
	bool mapped;			/* the NIC has its entries; under `atu` */
	struct sg_table *sgt;		/* bus addresses; NULL: none, or a dma-buf on the move */
	/* Pages of a process; without any, and without a dma-buf, the memory is lent by who made the region. */
	struct page **page;
	struct sg_table sg;
	/* A dma-buf; `sgt` and `closed` under its lock. */
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attach;
	struct work_struct moved;
	bool closed;
};

/* A window's segment in as many blocks as there are exports: larger ones cannot be had in one piece. */
#define GGAS_BLOCKS	16

struct ggas_window {
	struct ggas_object object;
	struct ggas_device *dev;
	u32 export;			/* its first number, the same on all nodes */
	u32 blocks;			/* exports from there on */
	u32 rights;			/* of other nodes */
	u32 first_interval;		/* of one for each block and node; GGAS_INTERVALS: none */
	bool started;
	struct resource space;		/* in BAR2: node n's segment at n * bytes */
	void *segment[GGAS_BLOCKS];
	dma_addr_t segment_bus[GGAS_BLOCKS];
	u64 bytes;			/* of one node */
};

struct ggas_file {
	struct ggas_device *dev;
	struct list_head list;
	struct xarray objects;		/* by handle; a handle is reserved before its object is there */
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

static inline u64 ggas_block_bytes(const struct ggas_window *w)
{
	return w->bytes / w->blocks;
}

/* hw.c: everything that is said to registers. */
int ggas_hw_identify(struct ggas_device *dev);
int ggas_hw_start(struct ggas_device *dev);
void ggas_hw_stop(struct ggas_device *dev);
bool ggas_hw_there(struct ggas_device *dev);
bool ggas_hw_link_up(struct ggas_device *dev);
void ggas_hw_link_retrain(struct ggas_device *dev);
void ggas_hw_context_start(struct ggas_device *dev, const struct ggas_context *c);
void ggas_hw_context_stop(struct ggas_device *dev, u32 vpid);
void ggas_hw_piece(struct ggas_device *dev, u32 piece);
void ggas_hw_invalidate(struct ggas_device *dev, u32 first, u32 count);
void ggas_hw_window_start(struct ggas_device *dev, const struct ggas_window *w);
void ggas_hw_window_stop(struct ggas_device *dev, const struct ggas_window *w);
void ggas_hw_events_read(struct ggas_device *dev, u32 count);
void ggas_hw_fired_read(struct ggas_device *dev, u32 count);
void ggas_hw_counters(struct ggas_device *dev, struct seq_file *to);

static inline bool ggas_hw_dead(const struct ggas_device *dev)
{
	return READ_ONCE(dev->dead);
}

/* state.c: when users may have the NIC. */
int ggas_bring_up(struct ggas_device *dev);
void ggas_take_down(struct ggas_device *dev);
void ggas_look(struct work_struct *work);
int ggas_enter(struct ggas_device *dev);
void ggas_leave(struct ggas_device *dev);

/* quota.c: what a user has. */
void ggas_quota_init(struct ggas_device *dev);
struct ggas_user *ggas_user_new(void);
struct ggas_user *ggas_user_get(struct ggas_device *dev, struct ggas_user *fresh);
void ggas_user_put(struct ggas_user *user);
int ggas_quota_take(struct ggas_file *f, struct ggas_object *o);
void ggas_quota_give(struct ggas_object *o);

/* debugfs.c */
void ggas_debugfs_init(void);
void ggas_debugfs_exit(void);
void ggas_debugfs_add(struct ggas_device *dev);
void ggas_debugfs_remove(struct ggas_device *dev);

/* irq.c */
int ggas_irq_init(struct ggas_device *dev);
void ggas_irq_wait(struct ggas_device *dev);
void ggas_irq_exit(struct ggas_device *dev);

/* table.c: translations of 4 KB pages. */
int ggas_table_init(struct ggas_device *dev);
void ggas_table_exit(struct ggas_device *dev);
int ggas_table_take(struct ggas_device *dev, u32 count);
u32 ggas_table_used(struct ggas_device *dev);
void ggas_table_give(struct ggas_device *dev, u32 first, u32 count);
void ggas_table_begin(struct ggas_region *r);
void ggas_table_move_out(struct ggas_region *r);
void ggas_table_move_in(struct ggas_region *r);
void ggas_table_end(struct ggas_region *r);

/*
 * object.c: how all kinds are made and ended. Their own functions, in the order in which they are called:
 *   NAME_new()		memory, without a lock; a region's pages before the NIC is entered
 *   ggas_object_add()	domain, quota and numbers under the lock, then the NIC, then what the user is to know
 *   hide, stop, give, free	the way back (struct ggas_kind_ops)
 */
struct ggas_kind_ops {
	int (*take)(struct ggas_object *o);	/* numbers; under the lock */
	int (*start)(struct ggas_object *o);	/* the NIC may use it */
	void (*tell)(const struct ggas_object *o, void *call);	/* what its user is to know; under the lock */
	void (*hide)(struct ggas_object *o);	/* from its user's mappings; under the lock */
	void (*stop)(struct ggas_object *o);	/* the NIC uses it no more; waits for the NIC, without a lock */
	void (*give)(struct ggas_object *o);	/* numbers; under the lock */
	void (*free)(struct ggas_object *o);
};

extern const struct ggas_kind_ops ggas_domain_ops, ggas_context_ops, ggas_region_ops, ggas_window_ops;

int ggas_object_add(struct ggas_file *f, struct ggas_object *o, u32 domain, void *call, u32 *handle);
int ggas_object_destroy(struct ggas_file *f, u32 handle);
void ggas_objects_hide(struct ggas_file *f, struct list_head *ended);
void ggas_objects_end(struct ggas_device *dev, struct list_head *ended);

/* domain.c */
struct ggas_domain *ggas_domain_new(u32 number);
void ggas_domain_put(struct ggas_domain *domain);
int ggas_domain_grant(struct ggas_device *dev, u32 number, kuid_t user);
int ggas_domain_revoke(struct ggas_device *dev, u32 number, kuid_t user);
void ggas_domain_forget_grants(struct ggas_device *dev);
bool ggas_domain_granted(struct ggas_device *dev, u32 number);

/* context.c, window.c, region.c */
struct ggas_context *ggas_context_new(struct ggas_device *dev, const struct ggas_context_create *p);
void ggas_context_wake(struct ggas_context *c);
struct ggas_window *ggas_window_new(struct ggas_device *dev, const struct ggas_window_create *p);
int ggas_region_add(struct ggas_file *f, struct ggas_region_create *p);
int ggas_region_add_lent(struct ggas_file *f, struct sg_table *sgt, unsigned long pages,
			 struct ggas_region_create *p);

/* dmabuf.c */
int ggas_dmabuf_get(struct ggas_region *r, int fd);
int ggas_dmabuf_attach(struct ggas_region *r);
int ggas_dmabuf_map(struct ggas_region *r);
void ggas_dmabuf_put(struct ggas_region *r);
void ggas_dmabuf_lock(struct ggas_region *r);
void ggas_dmabuf_unlock(struct ggas_region *r);

/* chardev.c */
int ggas_chardev_init(void);
void ggas_chardev_exit(void);
int ggas_device_make_inode(struct ggas_device *dev);
int ggas_chardev_add(struct ggas_device *dev);
void ggas_chardev_remove(struct ggas_device *dev);
struct ggas_device *ggas_device_get(int minor);
void ggas_device_put(struct ggas_device *dev);

/* verbs.c */
#if IS_ENABLED(CONFIG_AUXILIARY_BUS)
int ggas_verbs_add(struct ggas_device *dev);
void ggas_verbs_remove(struct ggas_device *dev);
#else
static inline int ggas_verbs_add(struct ggas_device *dev)
{
	return 0;
}

static inline void ggas_verbs_remove(struct ggas_device *dev)
{
}
#endif

/* sysfs.c */
extern const struct attribute_group *ggas_groups[];

/* file.c: what a file owns. */
extern const struct file_operations ggas_fops;
struct ggas_file *ggas_file_begin(struct ggas_device *dev);
void ggas_file_end(struct ggas_file *f);
void ggas_file_revoke_all(struct ggas_device *dev, struct list_head *ended);

/* ioctl.c, mmap.c */
void ggas_info_get(struct ggas_device *dev, struct ggas_info *p);
long ggas_ioctl(struct file *file, unsigned int cmd, unsigned long user);
int ggas_mmap(struct file *file, struct vm_area_struct *vma);
void ggas_unmap(struct ggas_device *dev, u64 offset, u64 bytes);

#endif
