/* SPDX-License-Identifier: Apache-2.0 */
/* What belongs to others, or to nobody. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/kernel/tests.h"

void others_things(node* n) {
  const uint64_t page = 4096, doorbells = (uint64_t)1 << 44, kinds = 6;
  ggas_device stranger;
  uint64_t kind, vpid;
  pid_t child;
  int status = 0;
  CHECK_IS(ggas_device_open(&stranger, "/dev/ggas0"), 0);
  /* No page, ring or window of another file; no handle; no window that is taken. */
  for (kind = 0; kind < kinds; ++kind)
    for (vpid = 0; vpid < 300; vpid += vpid == 8 ? 240 : 1)
      CHECK(mmap(NULL, page, PROT_READ, MAP_SHARED, stranger.fd, (off_t)(kind * doorbells + (vpid << 32))) ==
            MAP_FAILED);
  CHECK(mmap(NULL, page, PROT_READ, MAP_SHARED, stranger.fd, (off_t)(doorbells + page)) == MAP_FAILED);
  {
    ggas_context c;
    ggas_window w;
    ggas_region r = {0, stranger.fd, n->context.handle};
    unsigned char* const memory = pages(4096);
    int domain;
    CHECK(ggas_context_begin(&c, &stranger, n->domain, NULL) < 0);
    ggas_region_end(&r); /* a handle of another file: no such object there */
    CHECK_IS(ggas_region_begin(&r, &stranger, n->domain, memory, 4096, GGAS_READ), -ENOENT);
    domain = ggas_domain_join(&stranger, DOMAIN);
    CHECK(domain > 0);
    CHECK_IS(ggas_window_begin(&w, &stranger, domain, 0, WINDOW_BYTES), -EBUSY);
    CHECK_IS(ggas_domain_join(&stranger, 0), -EINVAL);
    CHECK_IS(ggas_domain_join(&stranger, 65536), -EINVAL);
    CHECK_IS(ggas_region_begin(&r, &stranger, domain, (void*)page, 4096, GGAS_READ), -EFAULT);
    CHECK_IS(ggas_region_begin(&r, &stranger, domain, memory, ~(size_t)0, GGAS_READ), -EINVAL);
    CHECK_IS(ggas_region_begin(&r, &stranger, domain, memory, 0, GGAS_READ), -EINVAL);
    CHECK_IS(ggas_region_begin(&r, &stranger, domain, memory, 64, 4), -EINVAL);
    mprotect(memory, 4096, PROT_READ);
    CHECK_IS(ggas_region_begin(&r, &stranger, domain, memory, 64, GGAS_WRITE), -EFAULT);
    munmap(memory, 4096);
  }
  CHECK_IS(write_file("/sys/class/ggas/ggas0/grant", "9 1000"), 0);
  CHECK(write_file("/sys/class/ggas/ggas0/grant", "0 1000") < 0);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    const struct rlimit none = {16384, 16384};
    /* A child has no mapping of its parent's, and without the right user no domain. */
    unsigned char* const memory = pages(65536);
    ggas_region r;
    int domain, bad = fault_of(n->context.rma.page) != SIGSEGV;
    bad |= (fault_of(n->window.remote) != SIGSEGV) << 1;
    bad |= (setrlimit(RLIMIT_MEMLOCK, &none) || setuid(1000)) << 2;
    bad |= (ggas_domain_join(&stranger, DOMAIN) != -EPERM) << 3;
    domain = ggas_domain_join(&stranger, 9); /* granted above */
    bad |= (domain < 0) << 4;
    bad |= (write_file("/sys/class/ggas/ggas0/grant", "7 1000") != -EACCES) << 5;
    bad |= (ggas_region_begin(&r, &stranger, domain, memory, 65536, GGAS_READ) != -ENOMEM) << 6;
    _exit(bad);
  }
  waitpid(child, &status, 0);
  CHECK_IS(status, 0);
  ggas_device_close(&stranger);
}
