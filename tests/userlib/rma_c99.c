/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of the RMA on plain memory that stands in for a device, compiled as C99: what leaves a context, bit
 * by bit, and what is made of what the NIC writes. Returns the line of the first thing that is wrong. */
#include "rma_c99.h"

#include "ggas/rma.h"

#define CHECK(x)               \
  do {                         \
    if (!(x)) return __LINE__; \
  } while (0)

static uint64_t page[512 + 64], status_block[2], ring[2 * 16], mailbox[16 * 4], queue[4 * 16];

static ggas_rma_context make(const ggas_rma_io* io, int with_queue) {
  ggas_rma_context c;
  memset(page, 0, sizeof page);
  memset(status_block, 0, sizeof status_block);
  memset(ring, 0, sizeof ring);
  memset(mailbox, 0, sizeof mailbox);
  memset(&c, 0, sizeof c);
  c.io = io;
  c.page = (unsigned char*)page;
  c.descriptors = (unsigned char*)(page + 512);
  c.status = (unsigned char*)status_block;
  c.notifications = (unsigned char*)ring;
  c.mailbox = (unsigned char*)mailbox;
  c.notify_log2 = 4;
  c.mailbox_log2 = 2;
  c.queue_log2 = 4;
  if (with_queue) c.work_queue = (unsigned char*)queue;
  if (!ggas_rma_start(&c)) c.io = 0;
  return c;
}

static const ggas_rma_peer peer = {0x1234, 0x56};

static int descriptors(void) {
  const char text[64] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde";
  ggas_rma_desc d = ggas_rma_put(peer, 1, 2, 0x800000, GGAS_RMA_ACK | GGAS_RMA_STRONG | GGAS_RMA_NOTIFY_COMPLETER, 3);
  CHECK(d.w[0] == 0x80000012345601a1ull && d.w[1] == 1 && d.w[2] == 2 && d.w[3] == 3 && d.slots == 1);
  d = ggas_rma_imm(peer, 7, 8, 5, GGAS_RMA_NOTIFY_REQUESTER, 9);
  CHECK(d.w[0] == 0x0000051234560012ull && d.w[1] == 7 && d.w[2] == 8 && d.w[3] == 9 && d.slots == 1);
  d = ggas_rma_get(peer, 1, 2, 16, GGAS_RMA_NOTIFY_RESPONDER, 3);
  CHECK(d.w[0] == 0x0000101234560044ull);
  d = ggas_rma_notify(peer, 99, 0, 5);
  CHECK(d.w[0] == 0x0000001234560025ull && d.w[1] == 0 && d.w[2] == 99 && d.w[3] == 5);
  d = ggas_rma_atomic(peer, GGAS_RMA_MIN | GGAS_RMA_SIGNED, 64, 4, 11, 12, 13, 0, 14);
  CHECK(d.w[0] == 0x0000041234560006ull && d.w[1] == 11 && d.w[2] == 64 && d.w[3] == 14);
  CHECK(d.w[4] == 12 && d.w[5] == 13 && d.w[6] == 0x16 && d.w[7] == 0 && d.slots == 2);
  d = ggas_rma_inline(peer, text, 8, 33, 0, 0);
  CHECK(d.slots == 3 && (d.w[0] & 15) == GGAS_RMA_INLINE && memcmp(d.w + 4, text, 33) == 0 && d.w[9] == 0);
  CHECK(ggas_rma_inline(peer, text, 8, 65, 0, 0).slots == 0);
  d = ggas_rma_send(peer, text, 0, 0, 0);
  CHECK(d.slots == 1 && (d.w[0] & 15) == GGAS_RMA_SEND);
  CHECK(ggas_rma_send(peer, text, 64, 0, 0).slots == 3);
  return 0;
}

static int posting(const ggas_rma_io* io) {
  ggas_rma_context c = make(io, 0);
  ggas_rma_desc d = ggas_rma_inline(peer, "x", 8, 1, 0, 77);
  uint32_t i;
  for (i = 0; i < 8; ++i) CHECK(ggas_rma_post(&c, &d) == 1);
  CHECK(page[512 + 3] == 77 && page[512 + 4] == 'x' && page[512 + 56 + 3] == 77);
  CHECK(ggas_rma_post(&c, &d) == 0); /* 16 slots are full */
  CHECK(c.issued == 8);
  status_block[0] = 2;
  d.w[3] = 78;
  CHECK(ggas_rma_post(&c, &d) == 1 && page[512 + 3] == 78);
  CHECK(!ggas_rma_locally_done(&c) && !ggas_rma_remotely_done(&c));
  status_block[0] |= 9ull << 32;
  CHECK(ggas_rma_locally_done(&c) && !ggas_rma_remotely_done(&c));
  status_block[1] = 9ull | 0x06000003ull << 32;
  CHECK(ggas_rma_remotely_done(&c));
  CHECK(ggas_rma_read_status(&c).errors == 3 && ggas_rma_read_status(&c).last_error == 6);
  CHECK(ggas_rma_read_status(&c).consumed == 2 && ggas_rma_read_status(&c).local == 9);
  d.slots = 0;
  CHECK(ggas_rma_post(&c, &d) == 0);

  c = make(io, 1);
  d = ggas_rma_imm(peer, 1, 2, 8, 0, 55);
  for (i = 1; i <= 16; ++i) {
    CHECK(ggas_rma_post(&c, &d) == 1);
    CHECK((uint32_t)page[2] == i && queue[4 * (i - 1) + 3] == 55);
  }
  CHECK(ggas_rma_post(&c, &d) == 0 && page[512] == 0);
  c.status = 0; /* without a status block no one frees slots */
  CHECK(ggas_rma_post(&c, &d) == 0);
  return 0;
}

/* What the NIC has counted is no beginning; a context without a status block cannot know. */
static int starting(const ggas_rma_io* io) {
  ggas_rma_context c = make(io, 0);
  uint32_t i;
  CHECK(c.io == io);
  for (i = 0; i < 3; ++i) {
    status_block[0] = i == 0 ? 1 : i == 1 ? 1ull << 32 : 0;
    status_block[1] = i == 2;
    CHECK(!ggas_rma_start(&c));
  }
  c.status = 0;
  CHECK(ggas_rma_start(&c));
  return 0;
}

static int notifications(const ggas_rma_io* io) {
  ggas_rma_context c = make(io, 0);
  ggas_rma_note n;
  uint32_t i;
  CHECK(ggas_rma_next_note(&c, &n) == 0);
  for (i = 0; i < 50; ++i) {
    const uint64_t phase = ~((uint64_t)i >> 4) & 1;
    ring[2 * (i % 16)] = i;
    ring[2 * (i % 16) + 1] = phase << 63 | 3ull << 60 | 6ull << 56 | 4ull << 48 | 0x1234ull << 32 | 0x56ull << 24 | 99;
    CHECK(ggas_rma_next_note(&c, &n) == 1);
    CHECK(n.cookie == i && n.kind == GGAS_RMA_NOTE_ERROR && n.status == 6 && n.op == GGAS_RMA_GET);
    CHECK(n.peer.node == 0x1234 && n.peer.vpid == 0x56 && n.size == 99);
    CHECK(ggas_rma_next_note(&c, &n) == 0);
    CHECK((uint32_t)page[3] == (i + 1) / 8 * 8); /* informed every half turn */
  }
  ggas_rma_tell_notes(&c);
  CHECK((uint32_t)page[3] == 50);
  ggas_rma_arm_notes(&c);
  CHECK((uint32_t)page[5] == c.notes && c.notes_reported == c.notes);
  return 0;
}

static int messages(const ggas_rma_io* io) {
  ggas_rma_context c = make(io, 0);
  ggas_rma_message m;
  uint32_t i;
  CHECK(ggas_rma_next_message(&c, &m) == 0);
  for (i = 0; i < 11; ++i) {
    uint64_t* const at = mailbox + 16 * (i % 4);
    at[0] = 100 + i;
    at[1] = 5;
    at[8] = i;
    at[9] = (~((uint64_t)i >> 2) & 1) << 63 | 1ull << 60 | 7ull << 48 | 8;
    CHECK(ggas_rma_next_message(&c, &m) == 1);
    CHECK(m.note.cookie == i && m.note.size == 8 && m.data[0] == 100 + i && m.data[1] == 0);
    CHECK(ggas_rma_next_message(&c, &m) == 0);
    CHECK((uint32_t)page[4] == (i + 1) / 2 * 2);
  }
  ggas_rma_tell_messages(&c);
  CHECK((uint32_t)page[4] == 11);
  ggas_rma_arm_messages(&c);
  CHECK((uint32_t)page[6] == c.messages);
  return 0;
}

int check_rma_c99(void) {
  const ggas_rma_io io = ggas_rma_direct();
  int wrong = descriptors();
  if (!wrong) wrong = starting(&io);
  if (!wrong) wrong = posting(&io);
  if (!wrong) wrong = notifications(&io);
  if (!wrong) wrong = messages(&io);
  return wrong;
}
