/* SPDX-License-Identifier: Apache-2.0 */
/* Two NICs in one node, at both ends of a cable: each is a device with a number, objects and an end of its own. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>

#include "tests/kernel/tests.h"

enum { HALF = BYTES / 2 };

typedef struct nic {
  ggas_device dev;
  int domain;
  ggas_context context;
  ggas_window window;
  ggas_region region;
  unsigned char* memory;
} nic;

static void open_nic(nic* n, unsigned number) {
  char path[32];
  snprintf(path, sizeof path, "/dev/ggas%u", number);
  CHECK_IS(ggas_device_open(&n->dev, path), 0);
  CHECK_IS(n->dev.node, number);
  n->domain = ggas_domain_join(&n->dev, DOMAIN);
  CHECK(n->domain >= 0);
  CHECK_IS(ggas_context_begin(&n->context, &n->dev, n->domain, NULL), 0);
  CHECK_IS(ggas_window_begin(&n->window, &n->dev, n->domain, 0, WINDOW_BYTES), 0); /* the number is free on each */
  n->memory = pages(BYTES);
  CHECK_IS(ggas_region_begin(&n->region, &n->dev, n->domain, n->memory, BYTES, GGAS_READ | GGAS_WRITE), 0);
  WAIT(ggas_device_link(&n->dev) == 1);
}

static void close_nic(nic* n) {
  ggas_region_end(&n->region);
  ggas_window_end(&n->window);
  ggas_context_end(&n->context);
  ggas_device_close(&n->dev);
  munmap(n->memory, BYTES);
}

/* The first half of one's memory into the second of the other's. */
static void put(nic* from, nic* to, unsigned seed) {
  ggas_rma_desc d = ggas_rma_put(to->context.self, from->region.nla, to->region.nla + HALF, HALF,
                                 GGAS_RMA_NOTIFY_COMPLETER | GGAS_RMA_STRONG, seed);
  ggas_rma_note note;
  fill(from->memory, HALF, seed);
  WAIT(ggas_rma_post(&from->context.rma, &d));
  WAIT(ggas_rma_next_note(&to->context.rma, &note));
  CHECK_IS(note.kind, GGAS_RMA_NOTE_COMPLETER);
  CHECK_IS(wrong(to->memory + HALF, HALF, seed), 0);
}

static void store(nic* from, nic* to, uint64_t value) {
  *(volatile uint64_t*)(from->window.remote + to->dev.node * from->window.bytes + 64) = value;
  WAIT(*(volatile uint64_t*)(to->window.own + 64) == value);
}

static void load(const char* file, const char* parameters) {
  const int module = open(file, O_RDONLY | O_CLOEXEC);
  CHECK_IS(syscall(SYS_finit_module, module, parameters, 0), 0);
  close(module);
}

/* A NIC without a number is left alone, also if its name is the end of a longer one that has a number. */
static void names_are_whole(void) {
  nic second;
  CHECK_IS(syscall(SYS_delete_module, "ggas_verbs", O_NONBLOCK), 0);
  CHECK_IS(syscall(SYS_delete_module, "ggas", O_NONBLOCK), 0);
  load("/ggas.ko", "node=10000:01:00.0=0,0000:02:00.0=1 nodes=2 stop_ms=5000");
  load("/ggas_verbs.ko", "");
  WAIT(ggas_device_open(&second.dev, "/dev/ggas0") == 0);
  CHECK_IS(second.dev.node, 1);
  CHECK_IS(access("/dev/ggas1", F_OK), -1);
  ggas_device_close(&second.dev);
}

void two_nics_in_a_node(void) {
  static nic nics[2];
  unsigned k;
  for (k = 0; k < 2; ++k) open_nic(nics + k, k);
  for (k = 0; k < 2; ++k) {
    put(nics + k, nics + 1 - k, 3 + k);
    store(nics + k, nics + 1 - k, 17 + k);
    CHECK_IS(read_number(k ? "/sys/class/ggas/ggas1/contexts" : "/sys/class/ggas/ggas0/contexts"), 1);
  }
  CHECK_IS(access("/sys/class/infiniband/ggas_1", F_OK), 0);
  /* One is reset: its users lose it, those of the other do not. */
  CHECK_IS(write_file("/sys/class/ggas/ggas0/device/reset", "1"), 0);
  CHECK_IS(ggas_domain_join(&nics[0].dev, OTHER_DOMAIN), -ENODEV);
  CHECK(ggas_domain_join(&nics[1].dev, OTHER_DOMAIN) >= 0);
  close_nic(nics);
  open_nic(nics, 0);
  WAIT(ggas_device_link(&nics[1].dev) == 1);
  put(nics, nics + 1, 8);
  put(nics + 1, nics, 9);
  for (k = 0; k < 2; ++k) close_nic(nics + k);
  names_are_whole();
}
