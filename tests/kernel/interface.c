/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that the driver refuses, and what they leave: nothing. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/ioctl.h>

#include "kernel/include/uapi/ggas.h"
#include "tests/kernel/tests.h"

#define CLASS "/sys/class/ggas/ggas0/"

/* 0, or a negative errno. */
static int call(node* n, unsigned long what, void* argument) { return ioctl(n->dev.fd, what, argument) ? -errno : 0; }

/* The same with an argument that can be read alone: what is made cannot be reported. */
static int call_unreported(node* n, unsigned long what, const void* argument, size_t bytes) {
  unsigned char* const page = pages(4096);
  int rc;
  memcpy(page, argument, bytes);
  mprotect(page, 4096, PROT_READ);
  rc = call(n, what, page);
  munmap(page, 4096);
  return rc;
}

static void nothing_is_made_unreported(node* n) {
  static unsigned char memory[4096] __attribute__((aligned(4096)));
  const uint32_t domain = (uint32_t)n->domain;
  struct ggas_domain_create d = {.size = sizeof d, .number = DOMAIN};
  struct ggas_context_create c = {.size = sizeof c, .domain = domain, .notify_log2 = 4, .eventfd = -1};
  struct ggas_region_create r = {.size = sizeof r, .domain = domain, .rights = GGAS_REGION_READ, .bytes = 4096};
  struct ggas_window_create w = {.size = sizeof w, .domain = domain, .bytes = 4096, .number = 9};
  const long regions = read_number(CLASS "regions"), used = read_number(CLASS "pages");
  unsigned i;
  r.address = (uintptr_t)memory;
  for (i = 0; i < 300; ++i) { /* more than there are contexts */
    if (i < 8) CHECK_IS(call_unreported(n, GGAS_IOC_DOMAIN_CREATE, &d, sizeof d), -EFAULT);
    CHECK_IS(call_unreported(n, GGAS_IOC_CONTEXT_CREATE, &c, sizeof c), -EFAULT);
    if (i < 8) CHECK_IS(call_unreported(n, GGAS_IOC_REGION_CREATE, &r, sizeof r), -EFAULT);
    if (i < 8) CHECK_IS(call_unreported(n, GGAS_IOC_WINDOW_CREATE, &w, sizeof w), -EFAULT);
  }
  CHECK_IS(read_number(CLASS "contexts"), 1);
  CHECK_IS(read_number(CLASS "windows"), 1);
  CHECK_IS(read_number(CLASS "regions"), regions);
  CHECK_IS(read_number(CLASS "pages"), used);
}

static void arguments_are_whole(node* n) {
  struct ggas_domain_create d = {.size = 8, .number = DOMAIN};
  struct ggas_window_create w = {.size = sizeof w, .domain = (uint32_t)n->domain, .bytes = 4096, .number = 9, .pad = 1};
  CHECK_IS(call(n, GGAS_IOC_DOMAIN_CREATE, &d), -EINVAL); /* no room for the handle */
  d.size = sizeof d;
  d.pad = 1;
  CHECK_IS(call(n, GGAS_IOC_DOMAIN_CREATE, &d), -EINVAL);
  CHECK_IS(call(n, GGAS_IOC_WINDOW_CREATE, &w), -EINVAL);
  d.pad = 0;
  CHECK_IS(call(n, _IOW(GGAS_IOC_TYPE, 1, struct ggas_domain_create), &d), -ENOTTY);
  CHECK_IS(call(n, GGAS_IOC_DOMAIN_CREATE, &d), 0);
}

static void grants_are_numbers(void) {
  CHECK_IS(write_file(CLASS "grant", "4294967303 1234"), -ERANGE); /* 2^32 + 7 */
  CHECK(write_file(CLASS "grant", "18446744073709551623 1234") < 0);
  CHECK_IS(write_file(CLASS "grant", "7 4294967297"), -ERANGE);
  CHECK_IS(write_file(CLASS "grant", "7 1234 5"), -EINVAL);
  CHECK_IS(write_file(CLASS "grant", "7"), -EINVAL);
  CHECK_IS(write_file(CLASS "revoke", "7 1234"), -ENOENT); /* none of these was one */
  CHECK_IS(write_file(CLASS "grant", "7 1234\n"), 0);
  CHECK_IS(write_file(CLASS "revoke", "7 1234\n"), 0);
}

static void mappings_are_not_executed(node* n) {
  struct ggas_context_create c = {.size = sizeof c, .domain = (uint32_t)n->domain, .notify_log2 = 4, .eventfd = -1};
  struct ggas_destroy end_ = {.size = sizeof end_};
  void* at;
  CHECK_IS(call(n, GGAS_IOC_CONTEXT_CREATE, &c), 0);
  at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, n->dev.fd, (off_t)c.rings);
  CHECK_IS(at == MAP_FAILED ? -errno : 0, -EPERM);
  at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, n->dev.fd, (off_t)c.rings);
  CHECK(at != MAP_FAILED);
  CHECK_IS(mprotect(at, 4096, PROT_READ | PROT_EXEC) ? -errno : 0, -EACCES);
  munmap(at, 4096);
  end_.handle = c.handle;
  CHECK_IS(call(n, GGAS_IOC_DESTROY, &end_), 0);
}

/* By the system call of programs of 32 bits, where the kernel has them. */
static void programs_of_32_bits_are_refused(void) {
  char* const path = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  int rc;
  if (access("/proc/sys/abi/vsyscall32", F_OK)) return;
  strcpy(path, "/dev/ggas0");
  __asm__ volatile("int $0x80"
                   : "=a"(rc)
                   : "a"(5), "b"((uint32_t)(uintptr_t)path), "c"(2), "d"(0)
                   : "memory", "r8", "r9", "r10", "r11");
  CHECK_IS(rc, -EOPNOTSUPP);
  munmap(path, 4096);
}

void interface_is_strict(node* n) {
  nothing_is_made_unreported(n);
  arguments_are_whole(n);
  grants_are_numbers();
  mappings_are_not_executed(n);
  programs_of_32_bits_are_refused();
}
