/* SPDX-License-Identifier: Apache-2.0 */
/* One-sided communication at the level of the NIC (docs/rma.md): descriptors, their way into a context, status block,
 * notifications, messages. C99, no allocation, no waiting: every call returns at once, the process that calls decides
 * how to wait. Not thread-safe: a context belongs to one thread at a time. */
#ifndef GGAS_RMA_H
#define GGAS_RMA_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How accesses reach the NIC: plain loads and stores on hardware (ggas_rma_direct), simulated ones elsewhere. */
typedef struct ggas_rma_io {
  void* self;
  /* Stores 4 or a multiple of 8 bytes to a page of the NIC or to memory it reads. Stores stay in order. */
  void (*write)(void* self, volatile void* to, const void* from, uint32_t bytes);
  /* Loads 8 bytes of memory the NIC writes. Loads stay in order. */
  uint64_t (*read)(void* self, const volatile void* from);
} ggas_rma_io;

/* ------------------------------------------------------------------------------------------------ descriptors */

enum {
  GGAS_RMA_NOP = 0,
  GGAS_RMA_PUT = 1,
  GGAS_RMA_IMM = 2,
  GGAS_RMA_INLINE = 3,
  GGAS_RMA_GET = 4,
  GGAS_RMA_NOTIFY = 5,
  GGAS_RMA_ATOMIC = 6,
  GGAS_RMA_SEND = 7
};

/* Flags of a descriptor, as they stand in its first word. */
enum {
  GGAS_RMA_NOTIFY_REQUESTER = 1 << 4,
  GGAS_RMA_NOTIFY_COMPLETER = 1 << 5,
  GGAS_RMA_NOTIFY_RESPONDER = 1 << 6,
  GGAS_RMA_ACK = 1 << 7,
  GGAS_RMA_STRONG = 1 << 8
};

enum {
  GGAS_RMA_ADD = 0,
  GGAS_RMA_SWAP = 1,
  GGAS_RMA_CAS = 2,
  GGAS_RMA_AND = 3,
  GGAS_RMA_OR = 4,
  GGAS_RMA_XOR = 5,
  GGAS_RMA_MIN = 6,
  GGAS_RMA_MAX = 7,
  GGAS_RMA_SIGNED = 16 /* next to MIN or MAX */
};

enum { GGAS_RMA_SLOT_BYTES = 32, GGAS_RMA_PAGE_SLOTS = 16, GGAS_RMA_INLINE_MAX = 64 };

/* Slots in the order they are written; slots = 0: could not be built. */
typedef struct ggas_rma_desc {
  uint64_t w[12];
  uint32_t slots;
} ggas_rma_desc;

/* The other side: a node and a context there (for notifications and messages). */
typedef struct ggas_rma_peer {
  uint16_t node;
  uint8_t vpid;
} ggas_rma_peer;

/* A descriptor field by field. `slots` of the result is 0 if it cannot be built. */
static inline ggas_rma_desc ggas_rma_make(unsigned op, unsigned flags, ggas_rma_peer to, uint32_t size, uint64_t w1,
                                          uint64_t w2, uint64_t cookie) {
  ggas_rma_desc d;
  memset(&d, 0, sizeof d);
  d.w[0] =
      (uint64_t)op | flags | (uint64_t)to.vpid << 16 | (uint64_t)to.node << 24 | (uint64_t)(size & 0xffffffu) << 40;
  d.w[1] = w1;
  d.w[2] = w2;
  d.w[3] = cookie;
  d.slots = 1;
  return d;
}

/* `source` and `destination` are network logical addresses. */
static inline ggas_rma_desc ggas_rma_put(ggas_rma_peer to, uint64_t source, uint64_t destination, uint32_t size,
                                         unsigned flags, uint64_t cookie) {
  return ggas_rma_make(GGAS_RMA_PUT, flags, to, size, source, destination, cookie);
}

/* 1 ... 8 bytes in the descriptor itself. */
static inline ggas_rma_desc ggas_rma_imm(ggas_rma_peer to, uint64_t value, uint64_t destination, uint32_t size,
                                         unsigned flags, uint64_t cookie) {
  return ggas_rma_make(GGAS_RMA_IMM, flags, to, size, value, destination, cookie);
}

/* A get of `size` bytes; both addresses are network logical addresses. */
static inline ggas_rma_desc ggas_rma_get(ggas_rma_peer from, uint64_t source, uint64_t destination, uint32_t size,
                                         unsigned flags, uint64_t cookie) {
  return ggas_rma_make(GGAS_RMA_GET, flags, from, size, source, destination, cookie);
}

/* A notification alone; with GGAS_RMA_STRONG after all earlier puts, of which `flush` names an address. */
static inline ggas_rma_desc ggas_rma_notify(ggas_rma_peer to, uint64_t flush, unsigned flags, uint64_t cookie) {
  return ggas_rma_make(GGAS_RMA_NOTIFY, flags | GGAS_RMA_NOTIFY_COMPLETER, to, 0, 0, flush, cookie);
}

/* The descriptor with `size` bytes of data in its slots; `slots` is 0 if they do not fit. */
static inline ggas_rma_desc ggas_rma_carry(ggas_rma_desc d, const void* data, uint32_t size) {
  d.slots = 0;
  if (size > GGAS_RMA_INLINE_MAX) return d;
  if (size) memcpy(d.w + 4, data, size);
  d.slots = 1 + (size + GGAS_RMA_SLOT_BYTES - 1) / GGAS_RMA_SLOT_BYTES;
  return d;
}

/* A put of 1 ... 64 bytes that travel in the slots. */
static inline ggas_rma_desc ggas_rma_inline(ggas_rma_peer to, const void* data, uint64_t destination, uint32_t size,
                                            unsigned flags, uint64_t cookie) {
  return ggas_rma_carry(ggas_rma_make(GGAS_RMA_INLINE, flags, to, size, 0, destination, cookie), data, size);
}

/* A message of 0 ... 64 bytes to the mailbox of a context. */
static inline ggas_rma_desc ggas_rma_send(ggas_rma_peer to, const void* data, uint32_t size, unsigned flags,
                                          uint64_t cookie) {
  return ggas_rma_carry(ggas_rma_make(GGAS_RMA_SEND, flags, to, size, 0, 0, cookie), data, size);
}

/* `what`: GGAS_RMA_ADD ...; size 4 or 8. The old value goes to the 16-byte record at `result` (0: none), `cookie`
 * after it. */
static inline ggas_rma_desc ggas_rma_atomic(ggas_rma_peer at, unsigned what, uint64_t address, uint32_t size,
                                            uint64_t operand, uint64_t compare, uint64_t result, unsigned flags,
                                            uint64_t cookie) {
  ggas_rma_desc d = ggas_rma_make(GGAS_RMA_ATOMIC, flags, at, size, operand, address, cookie);
  d.w[4] = compare;
  d.w[5] = result;
  d.w[6] = what;
  d.slots = 2;
  return d;
}

/* ------------------------------------------------------------------------------------------------ a context */

typedef struct ggas_rma_context {
  /* Set before ggas_rma_start(); nullptr where a context has no such thing. */
  const ggas_rma_io* io;
  volatile unsigned char* page;        /* doorbells */
  volatile unsigned char* descriptors; /* slots, in a page of their own, to be mapped with other caching or rights */
  const volatile unsigned char* status;
  const volatile unsigned char* notifications;
  const volatile unsigned char* mailbox;
  volatile unsigned char* work_queue; /* descriptors go there instead of their page */
  uint32_t notify_log2, mailbox_log2, queue_log2;
  /* Counts since the start, modulo 2^32. */
  uint32_t produced; /* slots written */
  uint32_t freed;    /* slots known to be consumed */
  uint32_t issued;   /* descriptors */
  uint32_t notes, notes_reported;
  uint32_t messages, messages_reported;
} ggas_rma_context;

enum {
  GGAS_RMA_AT_DOORBELL = 0x010,
  GGAS_RMA_AT_NOTES_READ = 0x018,
  GGAS_RMA_AT_MESSAGES_READ = 0x020,
  GGAS_RMA_ARM_NOTES = 0x028,
  GGAS_RMA_ARM_MESSAGES = 0x030
};

typedef struct ggas_rma_status {
  uint32_t consumed, local, remote; /* slots; descriptors locally, remotely complete */
  uint32_t errors;                  /* modulo 2^24 */
  uint8_t last_error;               /* ST_* of the last one */
} ggas_rma_status;

/* The status block that the NIC writes. */
static inline ggas_rma_status ggas_rma_read_status(const ggas_rma_context* c) {
  const uint64_t low = c->io->read(c->io->self, c->status), high = c->io->read(c->io->self, c->status + 8);
  ggas_rma_status s;
  s.consumed = (uint32_t)low;
  s.local = (uint32_t)(low >> 32);
  s.remote = (uint32_t)high;
  s.errors = (uint32_t)(high >> 32) & 0xffffffu;
  s.last_error = (uint8_t)(high >> 56);
  return s;
}

/* Starts the counts at zero, as the NIC does when a context is enabled again (and its rings and status block are
 * cleared). Returns 0 if the context was not enabled again, so that the NIC has already counted. The NIC continues its
 * counts as long as the context is enabled, and does not report how far its rings were read. So a process that uses
 * the context later must continue with the same object. */
static inline int ggas_rma_start(ggas_rma_context* c) {
  ggas_rma_status s;
  c->produced = c->freed = c->issued = 0;
  c->notes = c->notes_reported = c->messages = c->messages_reported = 0;
  if (!c->status) return 1;
  s = ggas_rma_read_status(c);
  return s.consumed == 0 && s.local == 0 && s.remote == 0;
}

/* Slots of the context's ring. */
static inline uint32_t ggas_rma_slots(const ggas_rma_context* c) {
  return c->work_queue ? 1u << c->queue_log2 : (uint32_t)GGAS_RMA_PAGE_SLOTS;
}

/* Whether so many slots may be written now. Asks the status block only if they might not. */
static inline int ggas_rma_room(ggas_rma_context* c, uint32_t slots) {
  if (c->produced - c->freed + slots <= ggas_rma_slots(c)) return 1;
  if (!c->status) return 0;
  c->freed = (uint32_t)c->io->read(c->io->self, c->status);
  return c->produced - c->freed + slots <= ggas_rma_slots(c);
}

/* Reports to the NIC how far a ring was read. */
static inline void ggas_rma_tell(const ggas_rma_context* c, uint32_t where, uint32_t count) {
  c->io->write(c->io->self, c->page + where, &count, 4);
}

/* Call it before a reader sleeps, when it has read everything. The context then fires with the next record, or at once
 * if one came meanwhile (docs/interrupts.md). */
static inline void ggas_rma_arm_notes(ggas_rma_context* c) {
  c->notes_reported = c->notes;
  ggas_rma_tell(c, GGAS_RMA_ARM_NOTES, c->notes);
}
/* ggas_rma_arm_notes() for messages. */
static inline void ggas_rma_arm_messages(ggas_rma_context* c) {
  c->messages_reported = c->messages;
  ggas_rma_tell(c, GGAS_RMA_ARM_MESSAGES, c->messages);
}

/* Writes the descriptor's slots. 0: no room, or the descriptor could not be built. It counts before it writes, so that
 * a program that is ended during a write leaves no slot that would be written twice. */
static inline int ggas_rma_post(ggas_rma_context* c, const ggas_rma_desc* d) {
  volatile unsigned char* const ring = c->work_queue ? c->work_queue : c->descriptors;
  const uint32_t first = c->produced, mask = ggas_rma_slots(c) - 1;
  uint32_t i;
  if (d->slots == 0 || !ggas_rma_room(c, d->slots)) return 0;
  c->produced += d->slots;
  ++c->issued;
  for (i = 0; i < d->slots; ++i)
    c->io->write(c->io->self, ring + ((first + i) & mask) * GGAS_RMA_SLOT_BYTES, d->w + 4 * i, GGAS_RMA_SLOT_BYTES);
  if (c->work_queue) ggas_rma_tell(c, GGAS_RMA_AT_DOORBELL, c->produced);
  return 1;
}

/* Everything posted so far: sources may be overwritten; has arrived. */
static inline int ggas_rma_locally_done(const ggas_rma_context* c) {
  return (uint32_t)(c->io->read(c->io->self, c->status) >> 32) == c->issued;
}
/* Whether all that was posted has arrived. */
static inline int ggas_rma_remotely_done(const ggas_rma_context* c) {
  return (uint32_t)c->io->read(c->io->self, c->status + 8) == c->issued;
}

/* ------------------------------------------------------------------------------------------------ notifications */

enum {
  GGAS_RMA_NOTE_REQUESTER = 0,
  GGAS_RMA_NOTE_COMPLETER = 1,
  GGAS_RMA_NOTE_RESPONDER = 2,
  GGAS_RMA_NOTE_ERROR = 3,
  GGAS_RMA_NOTE_LOST = 4
};

typedef struct ggas_rma_note {
  uint64_t cookie;
  uint32_t size;
  ggas_rma_peer peer;
  uint8_t op, status, kind;
} ggas_rma_note;

/* The parts of a notification record's two words. */
static inline ggas_rma_note ggas_rma_unpack(uint64_t w0, uint64_t w1) {
  ggas_rma_note n;
  n.cookie = w0;
  n.size = (uint32_t)w1 & 0xffffffu;
  n.peer.vpid = (uint8_t)(w1 >> 24);
  n.peer.node = (uint16_t)(w1 >> 32);
  n.op = (uint8_t)(w1 >> 48);
  n.status = (uint8_t)(w1 >> 56 & 15);
  n.kind = (uint8_t)(w1 >> 60 & 7);
  return n;
}

/* Whether the word of record `count` of a ring of 2^log2 was written in this turn. */
static inline int ggas_rma_fresh(uint64_t w1, uint32_t count, uint32_t log2) {
  return (uint32_t)(w1 >> 63) == (~(count >> log2) & 1u);
}

/* Informs the NIC how far the ring was read. ggas_rma_next_note does it by itself every half turn. */
static inline void ggas_rma_tell_notes(ggas_rma_context* c) {
  ggas_rma_tell(c, GGAS_RMA_AT_NOTES_READ, c->notes);
  c->notes_reported = c->notes;
}

/* Takes the next notification; 0: none yet. */
static inline int ggas_rma_next_note(ggas_rma_context* c, ggas_rma_note* note) {
  const volatile unsigned char* const at = c->notifications + 16u * (c->notes & ((1u << c->notify_log2) - 1));
  const uint64_t w1 = c->io->read(c->io->self, at + 8);
  if (!ggas_rma_fresh(w1, c->notes, c->notify_log2)) return 0;
  *note = ggas_rma_unpack(c->io->read(c->io->self, at), w1);
  ++c->notes;
  if (c->notes - c->notes_reported >= 1u << (c->notify_log2 - 1)) ggas_rma_tell_notes(c);
  return 1;
}

/* ------------------------------------------------------------------------------------------------ messages */

enum { GGAS_RMA_MESSAGE_BYTES = 128 };

typedef struct ggas_rma_message {
  ggas_rma_note note; /* peer: the sender; size: bytes of data */
  uint64_t data[8];
} ggas_rma_message;

/* As for notifications. */
static inline void ggas_rma_tell_messages(ggas_rma_context* c) {
  ggas_rma_tell(c, GGAS_RMA_AT_MESSAGES_READ, c->messages);
  c->messages_reported = c->messages;
}

/* Takes the next message; 0: none yet. */
static inline int ggas_rma_next_message(ggas_rma_context* c, ggas_rma_message* m) {
  const volatile unsigned char* const at =
      c->mailbox + (uint32_t)GGAS_RMA_MESSAGE_BYTES * (c->messages & ((1u << c->mailbox_log2) - 1));
  const uint64_t w9 = c->io->read(c->io->self, at + 72);
  uint32_t i;
  if (!ggas_rma_fresh(w9, c->messages, c->mailbox_log2)) return 0;
  m->note = ggas_rma_unpack(c->io->read(c->io->self, at + 64), w9);
  for (i = 0; i < 8; ++i) m->data[i] = i * 8 < m->note.size ? c->io->read(c->io->self, at + 8 * i) : 0;
  ++c->messages;
  if (c->messages - c->messages_reported >= 1u << (c->mailbox_log2 - 1)) ggas_rma_tell_messages(c);
  return 1;
}

/* ------------------------------------------------------------------------------------------------ hardware */

/* ggas_rma_io.write by plain stores. */
static inline void ggas_rma_direct_write(void* self, volatile void* to, const void* from, uint32_t bytes) {
  const unsigned char* const source = (const unsigned char*)from;
  uint32_t i;
  (void)self;
  __atomic_thread_fence(__ATOMIC_RELEASE);
  if (bytes == 4) {
    uint32_t v;
    memcpy(&v, source, 4);
    *(volatile uint32_t*)to = v;
  }
  for (i = 0; i + 8 <= bytes; i += 8) {
    uint64_t v;
    memcpy(&v, source + i, 8);
    ((volatile uint64_t*)to)[i / 8] = v;
  }
#if defined(__x86_64__)
  __builtin_ia32_sfence(); /* empties the write-combining buffer */
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* ggas_rma_io.read by plain loads. */
static inline uint64_t ggas_rma_direct_read(void* self, const volatile void* from) {
  (void)self;
  return __atomic_load_n((const volatile uint64_t*)from, __ATOMIC_ACQUIRE);
}

/* Plain loads and stores of this process: pages and rings mapped from the driver. */
static inline ggas_rma_io ggas_rma_direct(void) {
  ggas_rma_io io;
  io.self = 0;
  io.write = ggas_rma_direct_write;
  io.read = ggas_rma_direct_read;
  return io;
}

#ifdef __cplusplus
}
#endif

#endif
