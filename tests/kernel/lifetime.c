/* SPDX-License-Identifier: Apache-2.0 */
/* Owners that end, resets: what was theirs is not reached any more, and everything works again. */
#include <signal.h>
#include <sys/wait.h>

#include "tests/kernel/tests.h"

/* The owner of a region and a context is killed while the other node puts there: nothing strays (the server checks
 * every access), the sender hears of it, the node goes on. */
void owners_are_killed(node* n) {
  int child_says[2];
  enum { ROUNDS = 10 };
  unsigned i;
  CHECK_IS(pipe(child_says), 0);
  for (i = 0; i < ROUNDS; ++i) {
    if (n->me == 1) {
      const pid_t child = fork();
      if (child == 0) {
        ggas_device dev;
        ggas_region r;
        ggas_context c;
        int domain;
        unsigned char* const at = pages(BYTES);
        if (ggas_device_open(&dev, "/dev/ggas0")) _exit(1);
        domain = ggas_domain_join(&dev, DOMAIN);
        if (ggas_region_begin(&r, &dev, domain, at, BYTES, GGAS_READ | GGAS_WRITE)) _exit(1);
        if (ggas_context_begin(&c, &dev, domain, NULL)) _exit(1);
        /* The window is its parent's, so the parent tells. */
        if (write(child_says[1], &r.nla, sizeof r.nla) != sizeof r.nla) _exit(1);
        for (;;) pause();
      } else {
        uint64_t nla = 0;
        CHECK_IS(read(child_says[0], &nla, sizeof nla), sizeof nla);
        tell(n, 0, nla);
        meet(n);
        usleep(i * 1500);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        tell(n, 2, i + 1);
        meet(n);
      }
    } else {
      unsigned char* const from = pages(BYTES);
      ggas_region source;
      unsigned errors = 0, sent;
      CHECK_IS(ggas_region_begin(&source, &n->dev, n->domain, from, BYTES, GGAS_READ), 0);
      meet(n);
      for (sent = 0; errors == 0 && sent < 100000; ++sent) {
        const ggas_rma_peer to = {1, 0};
        post(n, ggas_rma_put(to, source.nla, told(n, 0), 4096, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, sent));
        errors += next_note(n).kind == GGAS_RMA_NOTE_ERROR;
      }
      CHECK_IS(errors, 1);
      meet(n);
      ggas_region_end(&source);
      munmap(from, BYTES);
    }
  }
}

/* A function-level reset of node 1 while everything is mapped: its program is told, node 0 is told, both go on. */
void reset_under_use(node* n) {
  if (n->me == 1) {
    unsigned char* const memory = pages(4096);
    ggas_region r = share(n, memory, 4096, GGAS_READ | GGAS_WRITE);
    CHECK_IS(write_file("/sys/class/ggas/ggas0/device/reset", "1"), 0);
    CHECK_IS(ggas_device_link(&n->dev), -ENODEV);
    CHECK_IS(ggas_domain_join(&n->dev, DOMAIN), -ENODEV);
    CHECK_IS(fault_of(n->window.own), SIGBUS);
    CHECK_IS(fault_of(n->window.remote), SIGBUS);
    CHECK_IS(fault_of(n->context.rma.page), SIGBUS);
    CHECK_IS(fault_of(n->context.rings), SIGBUS);
    ggas_region_end(&r);
    end(n);
    begin(n);
    munmap(memory, 4096);
  } else {
    ggas_rma_note note;
    unsigned char* const memory = pages(4096);
    ggas_region r = share(n, memory, 4096, GGAS_READ | GGAS_WRITE);
    do { /* until the reset */
      post(n, ggas_rma_imm(peer(n), 1, told(n, 0), 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 9));
      note = next_note(n);
    } while (note.kind != GGAS_RMA_NOTE_ERROR);
    ggas_region_end(&r);
    munmap(memory, 4096);
  }
  greet(n, 2);
  if (n->me == 1) tell(n, 0, 0);
}
