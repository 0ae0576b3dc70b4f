/* SPDX-License-Identifier: Apache-2.0 */
/* Data between nodes: stores, loads, put, get, atomics, notifications, errors. */
#define _GNU_SOURCE
#include "tests/kernel/tests.h"

void window_stores_and_loads(node* n) {
  unsigned i;
  for (i = 0; i < 32; ++i) *remote_word(n, 0x8000 + 8 * i) = (uint64_t)(n->me + 1) << 32 | i;
  for (i = 0; i < 32; ++i) CHECK_IS(*remote_word(n, 0x8000 + 8 * i), (uint64_t)(n->me + 1) << 32 | i);
  *(volatile uint16_t*)(n->window.remote + n->other * n->window.bytes + 0x9002) = 0xabcd;
  *(volatile uint8_t*)(n->window.remote + n->other * n->window.bytes + 0x9001) = 0x77;
  meet(n);
  for (i = 0; i < 32; ++i) CHECK_IS(own_word(n, 0x8000 + 8 * i), (uint64_t)(n->other + 1) << 32 | i);
  CHECK_IS(own_word(n, 0x9000), 0xabcd7700);
  /* Quiet: everything stored has arrived, without error. */
  CHECK_IS(*(const volatile uint32_t*)n->context.rma.page, 0);
}

void barriers(node* n) {
  unsigned i;
  for (i = 0; i < 50; ++i) {
    tell(n, 3, i);
    meet(n);
    CHECK_IS(reported(n, 3), i);
    meet(n);
  }
}

void put_with_notification(node* n) {
  unsigned char *const from = pages(BYTES), *const to = pages(BYTES);
  ggas_region source, target = share(n, to, BYTES, GGAS_WRITE);
  ggas_rma_note a, b;
  CHECK_IS(ggas_region_begin(&source, &n->dev, n->domain, from, BYTES, GGAS_READ), 0);
  fill(from, BYTES, n->me);
  post(n, ggas_rma_put(peer(n), source.nla + 3, reported(n, 0) + 5, BYTES - 8,
                       GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER | GGAS_RMA_NOTIFY_COMPLETER, 0x1000 + n->me));
  a = next_note(n);
  b = next_note(n);
  if (a.kind != GGAS_RMA_NOTE_COMPLETER) {
    const ggas_rma_note swap = a;
    a = b;
    b = swap;
  }
  CHECK_IS(a.kind, GGAS_RMA_NOTE_COMPLETER);
  CHECK_IS(a.cookie, 0x1000 + n->other);
  CHECK_IS(a.status, 0);
  CHECK_IS(b.kind, GGAS_RMA_NOTE_REQUESTER);
  CHECK_IS(b.cookie, 0x1000 + n->me);
  {
    size_t i, bad = 0;
    for (i = 0; i < BYTES - 8; ++i) bad += to[i + 5] != pattern(n->other, i + 3);
    CHECK_IS(bad, 0);
    CHECK_IS(to[4], 0);
    CHECK_IS(to[BYTES - 3], 0);
  }
  meet(n);
  ggas_region_end(&source);
  ggas_region_end(&target);
  munmap(from, BYTES);
  munmap(to, BYTES);
}

void get(node* n) {
  unsigned char *const from = pages(BYTES), *const to = pages(BYTES);
  ggas_region target, source;
  ggas_rma_note note;
  fill(from, BYTES, 5 + n->me);
  source = share(n, from, BYTES, GGAS_READ);
  CHECK_IS(ggas_region_begin(&target, &n->dev, n->domain, to, BYTES, GGAS_WRITE), 0);
  post(n, ggas_rma_get(peer(n), reported(n, 0), target.nla, BYTES, GGAS_RMA_NOTIFY_COMPLETER, 77));
  note = next_note(n);
  CHECK_IS(note.kind, GGAS_RMA_NOTE_COMPLETER);
  CHECK_IS(note.cookie, 77);
  CHECK_IS(wrong(to, BYTES, 5 + n->other), 0);
  meet(n);
  ggas_region_end(&source);
  ggas_region_end(&target);
  munmap(from, BYTES);
  munmap(to, BYTES);
}

/* Both add to one word of node 0. */
void atomics(node* n) {
  enum { ROUNDS = 50 };
  volatile uint64_t* const word = (volatile uint64_t*)pages(4096);
  volatile uint64_t* const result = (volatile uint64_t*)pages(4096);
  ggas_region own, old;
  ggas_rma_peer at = {0, 0};
  uint64_t sum = 0, nla;
  unsigned i;
  own = share(n, (void*)word, 4096, GGAS_READ | GGAS_WRITE);
  nla = n->me == 0 ? own.nla : reported(n, 0);
  CHECK_IS(ggas_region_begin(&old, &n->dev, n->domain, (void*)result, 4096, GGAS_WRITE), 0);
  for (i = 1; i <= ROUNDS; ++i) {
    post(n, ggas_rma_atomic(at, GGAS_RMA_ADD, nla, 8, n->me == 0 ? 1 : 1000, 0, old.nla, 0, i));
    WAIT(result[1] == i);
    CHECK(result[0] >= sum);
    sum = result[0];
  }
  meet(n);
  if (n->me == 0) CHECK_IS(*word, ROUNDS * 1001);
  meet(n);
  /* One of two compare-and-swaps finds the sum. */
  post(n, ggas_rma_atomic(at, GGAS_RMA_CAS, nla, 8, 1, ROUNDS * 1001, old.nla, 0, 0x999));
  WAIT(result[1] == 0x999);
  meet(n);
  if (n->me == 0) CHECK_IS(*word, 1);
  ggas_region_end(&own);
  ggas_region_end(&old);
}

/* Each wakes the other in turn, and no one polls. */
void sleep_on_an_interrupt(node* n) {
  unsigned i;
  tell(n, 1, n->context.self.vpid);
  meet(n);
  for (i = 0; i < 20; ++i) {
    ggas_rma_note note;
    if (i % 2 == n->me) {
      usleep(2000); /* the other sleeps by now, most times */
      post(n, ggas_rma_notify(peer(n), 0, 0, 0x5000 + i));
    } else {
      CHECK_IS(ggas_context_sleep(&n->context, 0, (int)timeout_ms()), 1);
      note = next_note(n);
      CHECK_IS(note.cookie, 0x5000 + i);
    }
  }
  meet(n);
  CHECK_IS(ggas_context_sleep(&n->context, 0, 50), 0); /* nothing comes */
}

void errors_are_reported(node* n) {
  unsigned char* const memory = pages(8192);
  ggas_region r = share(n, memory, 4096, GGAS_READ | GGAS_WRITE), readable;
  ggas_rma_note note;
  ggas_context intruder;
  const uint64_t theirs = reported(n, 0);
  /* After the region's end; own memory that may not be read; a context of another domain. */
  post(n, ggas_rma_imm(peer(n), 1, theirs + 4096, 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 1));
  note = next_note(n);
  CHECK_IS(note.kind, GGAS_RMA_NOTE_ERROR);
  CHECK_IS(ggas_region_begin(&readable, &n->dev, n->domain, memory + 4096, 4096, GGAS_READ), 0);
  post(n, ggas_rma_get(peer(n), theirs, readable.nla, 64, GGAS_RMA_NOTIFY_COMPLETER, 2));
  note = next_note(n);
  CHECK_IS(note.kind, GGAS_RMA_NOTE_ERROR);
  {
    const int other = ggas_domain_join(&n->dev, OTHER_DOMAIN);
    ggas_rma_desc d = ggas_rma_imm(peer(n), 1, theirs, 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 3);
    CHECK_IS(ggas_context_begin(&intruder, &n->dev, other, NULL), 0);
    WAIT(ggas_rma_post(&intruder.rma, &d));
    WAIT(ggas_rma_next_note(&intruder.rma, &note));
    CHECK_IS(note.kind, GGAS_RMA_NOTE_ERROR);
    ggas_context_end(&intruder);
  }
  meet(n);
  CHECK_IS(*(volatile uint64_t*)memory, 0);
  /* Memory that was taken back is not reached any more. */
  ggas_region_end(&r);
  meet(n);
  post(n, ggas_rma_imm(peer(n), 1, theirs, 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 4));
  note = next_note(n);
  CHECK_IS(note.kind, GGAS_RMA_NOTE_ERROR);
  meet(n);
  CHECK_IS(*(volatile uint64_t*)memory, 0);
  ggas_region_end(&readable);
  munmap(memory, 8192);
}

/* ---------------------------------------------------------------------------------------------- reading alone */

/* A region in memory that was never touched, or only read, or that belongs to a file. A first store gives its owner
 * another page than the one at the registration. The other node must see these stores. */
void read_only_follows_its_owner(node* n) {
  enum { UNTOUCHED, READ, PRIVATE_FILE, READ_ONLY_FILE, KINDS };
  unsigned char* const into = pages(BYTES);
  ggas_region own = {0};
  unsigned kind;
  for (kind = UNTOUCHED; kind < KINDS; ++kind) {
    const int file = kind >= PRIVATE_FILE ? memfd_create("memory", 0) : -1;
    const int flags = kind == READ_ONLY_FILE ? MAP_SHARED : MAP_PRIVATE | (file < 0 ? MAP_ANONYMOUS : 0);
    const int rights = kind == READ_ONLY_FILE ? PROT_READ : PROT_READ | PROT_WRITE;
    unsigned char *memory, *stores;
    ggas_region r;
    ggas_rma_note note;
    unsigned i;
    if (file >= 0) CHECK_IS(ftruncate(file, BYTES), 0);
    memory = mmap(NULL, BYTES, rights, flags, file, 0);
    stores = kind == READ_ONLY_FILE ? mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : memory;
    CHECK(memory != MAP_FAILED && stores != MAP_FAILED);
    for (i = 0; kind == READ && i < BYTES; i += 4096) CHECK_IS(*(volatile unsigned char*)(memory + i), 0);
    r = share(n, memory, BYTES, GGAS_READ);
    CHECK_IS(ggas_region_begin(&own, &n->dev, n->domain, into, BYTES, GGAS_READ | GGAS_WRITE), 0);
    fill(stores, BYTES, 40 + kind + n->me);
    meet(n);
    post(n, ggas_rma_get(peer(n), reported(n, 0), own.nla, BYTES, GGAS_RMA_NOTIFY_COMPLETER, kind));
    note = next_note(n);
    CHECK_IS(note.kind, GGAS_RMA_NOTE_COMPLETER);
    CHECK_IS(wrong(into, BYTES, 40 + kind + n->other), 0);
    meet(n);
    ggas_region_end(&own);
    ggas_region_end(&r);
    munmap(memory, BYTES);
    if (stores != memory) munmap(stores, BYTES);
    if (file >= 0) close(file);
  }
  munmap(into, BYTES);
}
